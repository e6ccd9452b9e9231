# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What tests of several rooms share: the built-in district and its tasks, each made once."""

from __future__ import annotations

import os

# Before rclpy is imported anywhere: nothing is heard beyond this machine.
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'

import numpy as np
import pytest

from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.districts import resolve_region
from urbanground_ros.episode import RegionContext
from urbanground_ros.sim import Body
from urbanground_ros.sim import Embodiment


@pytest.fixture(scope='session')
def region() -> RegionContext:
    """The built-in district."""
    return RegionContext.load(DEFAULT_DISTRICT, resolve_region(DEFAULT_DISTRICT))


@pytest.fixture(scope='session')
def follow():
    """Walks a body along a line (N, 3); returns it and how many ticks something held it back."""

    def walk(world, points, speed=4.0):
        body = Body(world, Embodiment())
        body.place(*map(float, points[0]))
        held = 0
        for goal in points[1:]:
            for _ in range(50 + round(80 * float(np.linalg.norm(goal - points[0])))):
                way = goal[:2] - [body.feet.x, body.feet.y]
                left = float(np.linalg.norm(way))
                if left < 0.1:
                    break
                velocity = way / left * min(speed, left * 50)
                body.tick(float(velocity[0]), float(velocity[1]))
                held += body.touched
        return body, held

    return walk
