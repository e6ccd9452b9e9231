# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The error of the simulator."""

from urbanground_ros.city import CityError


class SimError(CityError):
    """A parameter, a mesh or a connection that the headless city cannot work with."""
