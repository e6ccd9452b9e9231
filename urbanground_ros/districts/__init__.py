# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Built-in districts: invented cities as real 3D Tiles, with network and places."""

from urbanground_ros.districts.catalog import DEFAULT_DISTRICT
from urbanground_ros.districts.catalog import district_names
from urbanground_ros.districts.catalog import ensure_district
from urbanground_ros.districts.catalog import resolve_region
from urbanground_ros.districts.errors import DistrictError
from urbanground_ros.districts.writer import write_district

__all__ = [
    'DEFAULT_DISTRICT',
    'DistrictError',
    'district_names',
    'ensure_district',
    'resolve_region',
    'write_district',
]
