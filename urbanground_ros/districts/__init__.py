# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Built-in districts: invented cities as real 3D Tiles, with network and places.

A district is a folder with `region.yaml`, a 3D Tiles tileset, a pedestrian network in the
schema of the Lands Department and a list of places: plain files, so any city made in this form
is used in the same way. To write one with this kit, declare a `DistrictPlan` and pass it to
`write_district`.
"""

from urbanground_ros.districts.catalog import cache_folder
from urbanground_ros.districts.catalog import DEFAULT_DISTRICT
from urbanground_ros.districts.catalog import district_names
from urbanground_ros.districts.catalog import ensure_district
from urbanground_ros.districts.catalog import resolve_region
from urbanground_ros.districts.errors import DistrictError
from urbanground_ros.districts.plan import Crossover
from urbanground_ros.districts.plan import DistrictPlan
from urbanground_ros.districts.plan import Stepped
from urbanground_ros.districts.plan import Street
from urbanground_ros.districts.plan import Use
from urbanground_ros.districts.plans import PLANS
from urbanground_ros.districts.writer import write_district

__all__ = [
    'DEFAULT_DISTRICT',
    'PLANS',
    'Crossover',
    'DistrictError',
    'DistrictPlan',
    'Stepped',
    'Street',
    'Use',
    'cache_folder',
    'district_names',
    'ensure_district',
    'resolve_region',
    'write_district',
]
