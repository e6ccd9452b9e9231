# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""When a body has arrived: within 15 m of a place, horizontally (paper)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray

from urbanground_ros.city import GeoPoint
from urbanground_ros.geo import great_circle_distance
from urbanground_ros.geo import LocalFrame

#: Metres, horizontal, great circle (paper).
ARRIVAL_RADIUS = 15.0


def distances_to(
    frame: LocalFrame, places: Sequence[GeoPoint], points: ArrayLike
) -> NDArray[np.float64]:
    """Return great-circle distances (N, M) in metres from points (N, 3) in the map frame."""
    latitudes, longitudes, _ = frame.to_geodetic(np.reshape(points, (-1, 3)))
    return np.stack([great_circle_distance(latitudes, longitudes, place.latitude,
                                           place.longitude) for place in places], axis=1)
