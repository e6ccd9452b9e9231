# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The error of the tiles room."""

from urbanground_ros.errors import UrbanGroundError


class TilesError(UrbanGroundError):
    """A tileset or a tile content that cannot be used, told in one line."""
