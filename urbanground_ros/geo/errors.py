# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with coordinates, networks and regions."""

from urbanground_ros.errors import UrbanGroundError


class GeoError(UrbanGroundError):
    """Bad geographic input; every error of this room is one."""


class NetworkError(GeoError):
    """A pedestrian network, or a question put to it, that cannot be used."""


class NoRouteError(NetworkError):
    """Two places of the network are not joined by an open way."""


class RegionError(GeoError):
    """A region file or a places file that cannot be used."""
