# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What tests of several rooms share: the built-in district and its tasks, each made once."""

from __future__ import annotations

import os

# Before rclpy is imported anywhere: nothing is heard beyond this machine.
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'

import pytest

from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.districts import resolve_region
from urbanground_ros.episode import RegionContext


@pytest.fixture(scope='session')
def region() -> RegionContext:
    """The built-in district."""
    return RegionContext.load(DEFAULT_DISTRICT, resolve_region(DEFAULT_DISTRICT))
