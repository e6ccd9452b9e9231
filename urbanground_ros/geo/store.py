# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Regions that the user has added: a folder each in the user's data, found by name."""

from __future__ import annotations

from pathlib import Path

from urbanground_ros.folders import data_folder
from urbanground_ros.geo.region import is_region_name

REGION_FILE = 'region.yaml'


def regions_folder() -> Path:
    """Return the folder that has a folder for each added region; it need not exist yet."""
    return data_folder() / 'regions'


def added_regions() -> dict[str, Path]:
    """Return the region files of the added regions by name, in the order of names."""
    return {path.parent.name: path for path in sorted(regions_folder().glob(f'*/{REGION_FILE}'))
            if is_region_name(path.parent.name)}
