# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The error of the districts room."""

from urbanground_ros.errors import UrbanGroundError


class DistrictError(UrbanGroundError):
    """A district that is not known, or cannot be written, told in one line."""
