# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where Hong Kong lies, and squares of it in the Hong Kong 1980 Grid."""

from __future__ import annotations

from typing import NamedTuple

from urbanground_ros.geo.errors import GeoError
from urbanground_ros.geo.frames import wgs84_to_hk80

# The area of use that EPSG registers for the grid, and its bounding box in the grid.
#: WGS84 degrees.
LONGITUDES = (113.76, 114.51)
LATITUDES = (22.13, 22.58)
#: Metres of the Hong Kong 1980 Grid.
EASTINGS = (793_000.0, 871_500.0)
NORTHINGS = (798_500.0, 849_500.0)


def check_in_hong_kong(what: str, latitude: float, longitude: float) -> None:
    """Check that a place, in WGS84 degrees, is where the grid is used.

    Raises:
        GeoError: it is not; the message begins with `what`.
    """
    if not (LATITUDES[0] <= latitude <= LATITUDES[1]
            and LONGITUDES[0] <= longitude <= LONGITUDES[1]):
        raise GeoError(
            f'{what} is {latitude:g}, {longitude:g}, outside Hong Kong, expected latitude '
            f'{LATITUDES[0]:g} to {LATITUDES[1]:g}, longitude {LONGITUDES[0]:g} to '
            f'{LONGITUDES[1]:g}')


class Envelope(NamedTuple):
    """A rectangle along the axes of the Hong Kong 1980 Grid (EPSG:2326), metres."""

    west: float
    south: float
    east: float
    north: float

    @classmethod
    def around(cls, latitude: float, longitude: float, radius: float) -> Envelope:
        """Return the square whose sides are `radius` metres from a place in WGS84 degrees.

        Raises:
            GeoError: the place is not in Hong Kong.
        """
        check_in_hong_kong('the place', latitude, longitude)
        easting, northing = wgs84_to_hk80(latitude, longitude)
        return cls(easting - radius, northing - radius, easting + radius, northing + radius)
