# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Regions of the real Hong Kong: set up from open data, looked at, removed."""

from urbanground_ros.regions.adding import add_region
from urbanground_ros.regions.adding import ATTRIBUTION
from urbanground_ros.regions.adding import LANDS_DEPARTMENT_TILES
from urbanground_ros.regions.adding import MAX_RADIUS
from urbanground_ros.regions.adding import NewRegion
from urbanground_ros.regions.adding import remove_region
from urbanground_ros.regions.summary import summarize

__all__ = [
    'ATTRIBUTION',
    'LANDS_DEPARTMENT_TILES',
    'MAX_RADIUS',
    'NewRegion',
    'add_region',
    'remove_region',
    'summarize',
]
