# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Depth images and laser scans, against geometry that is known."""

import math

import numpy as np
import pytest
import sim_rig as rig

from urbanground_ros.sim import CollisionWorld
from urbanground_ros.sim.people import People
from urbanground_ros.sim.renderer import open_renderer
from urbanground_ros.sim.scan import BEAMS
from urbanground_ros.sim.scan import FARTHEST
from urbanground_ros.sim.scan import FIRST
from urbanground_ros.sim.scan import measure
from urbanground_ros.sim.scan import STEP

WIDTH, HEIGHT = 160, 120


def standing(*places):
    count = len(places)
    return People(np.arange(count, dtype=np.uint32), np.array(places, float),
                  np.zeros((count, 3)), np.full(count, 1.7), np.zeros(count), np.zeros(count))


def beam(ranges, degrees):
    return ranges[round((math.radians(degrees) - FIRST) / STEP) % BEAMS]


@pytest.fixture
def world():
    world = CollisionWorld()
    world.add(rig.box(10.0, 10.2, -30.0, 30.0, 0.0, 2.0))
    world.add(rig.box(-30.0, 30.0, 5.0, 5.2, 0.5, 2.0))
    return world


def test_a_scan_measures_walls_at_its_height(world):
    ranges = measure(world, np.zeros(3), 0.0, None)
    assert (ranges.shape, ranges.dtype) == ((BEAMS,), np.float32)
    assert beam(ranges, 0) == pytest.approx(10.0, abs=1e-3)
    assert beam(ranges, 45) == pytest.approx(10.0 * math.sqrt(2), abs=1e-3)
    assert math.isinf(beam(ranges, 90)), 'a wall that begins above the scanner'
    assert math.isinf(beam(ranges, 180))
    turned = measure(world, np.zeros(3), math.pi / 2, None)
    assert beam(turned, -90) == pytest.approx(10.0, abs=1e-3)
    high = measure(world, np.array([0.0, 0.0, 0.3]), 0.0, None)
    assert beam(high, 90) == pytest.approx(5.0, abs=1e-3)


def test_a_scan_measures_people_as_cylinders(world):
    people = standing((4.0, 0.0, 0.0), (0.0, -3.0, 0.0), (-2.0, 0.0, 3.0),
                      (0.0, FARTHEST + 1, 0.0), (20.0, 0.0, 0.0))
    ranges = measure(world, np.zeros(3), 0.0, people)
    assert beam(ranges, 0) == pytest.approx(3.75, abs=1e-3)
    assert beam(ranges, -90) == pytest.approx(2.75, abs=1e-3)
    assert math.isinf(beam(ranges, 180)), 'somebody on another storey'
    edge = math.degrees(math.asin(0.25 / 4.0))
    assert beam(ranges, math.floor(edge)) < 4.0
    assert beam(ranges, math.ceil(edge)) > 9.0


def test_depth_is_measured_along_the_optical_axis():
    renderer = open_renderer(WIDTH, HEIGHT, math.radians(75))
    if renderer is None or not renderer.has_depth:
        pytest.skip('no renderer with depth works here')
    renderer.show([rig.ground(), rig.box(10.0, 10.2, -30.0, 30.0, 0.0, 3.0)])
    image = renderer.depth((0.0, 0.0, 1.6), 0.0, 0.0)
    assert (image.shape, image.dtype) == ((HEIGHT, WIDTH), np.float32)
    middle = image[HEIGHT // 2 + 2]
    np.testing.assert_allclose(middle, 10.0, atol=0.01)
    assert np.isnan(image[0]).all(), 'the sky'
    focal = WIDTH / 2 / math.tan(math.radians(75) / 2)
    row = HEIGHT - 1
    np.testing.assert_allclose(image[row], 1.6 * focal / (row + 0.5 - HEIGHT / 2), rtol=0.01)
    person = renderer.depth((0.0, 0.0, 1.6), 0.0, 0.0, standing((5.0, 0.0, 0.0)))
    assert person[HEIGHT // 2 + 8, WIDTH // 2] == pytest.approx(4.9, abs=0.2)
    colour = renderer.first_person((0.0, 0.0, 1.6), 0.0, 0.0, rig.light())
    assert colour[0].mean() > 100
    renderer.close()
