# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A planar laser scanner: rays against the city, circles against people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from panda3d.core import LVector3d

from urbanground_ros.city import SCAN_HEIGHT
from urbanground_ros.sim.people import RADIUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from urbanground_ros.sim.collision import CollisionWorld
    from urbanground_ros.sim.people import People

    FloatArray = NDArray[np.float64]

#: Beams of a whole turn, counter-clockwise from straight behind (-pi).
BEAMS = 360
#: Nearest and farthest that the scanner measures (m).
NEAREST, FARTHEST = 0.05, 30.0
#: Angle of the first beam and between two of them (rad).
FIRST, STEP = -math.pi, 2 * math.pi / BEAMS


def measure(world: CollisionWorld, feet: FloatArray, yaw: float,
            people: People | None) -> NDArray[np.float32]:
    """Return the ranges (BEAMS,) of a scan in metres, infinite where nothing is hit (REP-117).

    `feet` (3,) in the map frame, `yaw` in radians; the beams lie in a horizontal plane.
    """
    angles = yaw + FIRST + STEP * np.arange(BEAMS)
    ways = np.column_stack((np.cos(angles), np.sin(angles)))
    start = LVector3d(feet[0], feet[1], feet[2] + SCAN_HEIGHT)
    ranges = np.full(BEAMS, np.inf)
    for beam, (x, y) in enumerate((ways * FARTHEST).tolist()):
        hit = world.ray(start, start + LVector3d(x, y, 0.0))
        if hit is not None:
            ranges[beam] = hit.fraction * FARTHEST
    if people is not None and len(people.ids):
        ranges = np.minimum(ranges, _to_people(people, feet, ways))
    ranges[(ranges < NEAREST) | (ranges > FARTHEST)] = np.inf
    return ranges.astype(np.float32)


def _to_people(people: People, feet: FloatArray, ways: FloatArray) -> FloatArray:
    """Return the distance (B,) along each way to the first person, a standing cylinder."""
    gap = people.positions - feet
    level = (gap[:, 2] < SCAN_HEIGHT) & (gap[:, 2] + people.heights > SCAN_HEIGHT)
    near = gap[level & (np.hypot(gap[:, 0], gap[:, 1]) < FARTHEST + RADIUS), :2]
    along = ways @ near.T
    across = ways[:, :1] * near[:, 1] - ways[:, 1:] * near[:, 0]
    inside = RADIUS ** 2 - across ** 2
    met = (inside >= 0.0) & (along > 0.0)
    distance = np.where(met, along - np.sqrt(np.maximum(inside, 0.0)), np.inf)
    return distance.min(axis=1, initial=np.inf)
