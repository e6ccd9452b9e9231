# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The body: stairs, slopes, walls, bridges, jumps, seams; on the rig."""

import math

import numpy as np
from panda3d.core import LVector3d
import pytest
import sim_rig as rig

from urbanground_ros.sim import Body
from urbanground_ros.sim import CollisionWorld
from urbanground_ros.sim import Embodiment
from urbanground_ros.sim import SimError

WALK, SPRINT = 4.0, 7.0


@pytest.fixture(scope='module')
def world():
    return CollisionWorld(rig.whole_rig())


def run(world, start, velocity, seconds, jump_at=None, embodiment=None):
    """Return the body and its track: rows of x, y, z, grounded, touched."""
    body = Body(world, embodiment or Embodiment())
    body.place(*start)
    track = []
    for tick in range(round(seconds * 50)):
        body.tick(*velocity, jump=jump_at is not None and tick == round(jump_at * 50))
        track.append((*body.feet, body.grounded, body.touched))
    return body, np.array(track)


@pytest.mark.parametrize('speed', [1.0, WALK, SPRINT])
def test_climbs_stairs_crosses_the_footbridge_and_descends(world, speed):
    length = rig.DECK_X1 + rig.STAIRS * rig.GOING + 2 - 7
    body, track = run(world, (7, 0, 0), (speed, 0), length / speed)
    assert track[:, 2].max() == pytest.approx(rig.DECK, abs=1e-3)
    assert body.feet.x == pytest.approx(7 + length, abs=0.15)
    assert body.feet.z == pytest.approx(0, abs=1e-3)
    assert track[:, 3].all()
    on_deck = (track[:, 0] > rig.DECK_X0 + 0.4) & (track[:, 0] < rig.DECK_X1 - 0.4)
    np.testing.assert_allclose(track[on_deck, 2], rig.DECK, atol=1e-3)


def test_walks_under_the_footbridge(world):
    body, track = run(world, (20, -6, 0), (0, WALK), 3)
    assert body.feet.y == pytest.approx(6, abs=1e-3)
    assert np.abs(track[:, 2]).max() < 1e-3


@pytest.mark.parametrize('distance', [0.3, 1.0, 5.0])
@pytest.mark.parametrize('side', [-1, 1])
def test_sprint_does_not_tunnel_through_a_single_triangle(distance, side):
    world = CollisionWorld()
    world.add(rig.ground())
    world.add(rig.mesh('triangle', [[0, -3, 0], [0, 3, 0], [0, 0, 4]], [[0, 1, 2]]))
    body, track = run(world, (side * distance, 0, 0), (-side * SPRINT, 0), 2)
    assert (track[:, 0] * side >= 0.29).all()
    assert body.touched
    assert body.feet.x * side == pytest.approx(0.31, abs=0.021)


def test_thin_wall_holds_from_every_angle(world):
    for angle in np.radians(np.arange(-80, 81, 20)):
        _, track = run(world, (-15, 0, 0), (-SPRINT * math.cos(angle), SPRINT * math.sin(angle)),
                       1.5)
        assert track[:, 0].min() > -19.7


def test_slides_along_a_wall_at_the_tangential_speed(world):
    body, track = run(world, (-9, -10, 0), (-3.5, 6.0), 2)
    assert body.feet.y == pytest.approx(-10 + 2 * 6.0, abs=0.2)
    assert track[:, 0].min() > -9.7


def test_corner_stops_without_shaking(world):
    world = CollisionWorld()
    for mesh in (rig.ground(), rig.box(2, 3, -5, 5, 0, 3), rig.box(-5, 5, 2, 3, 0, 3)):
        world.add(mesh)
    _, track = run(world, (0, 0, 0), (5, 4), 2)
    assert np.ptp(track[-25:, :3], axis=0).max() < 5e-3
    assert track[:, 0].max() < 1.7
    assert track[:, 1].max() < 1.7


def test_30_degrees_are_climbed(world):
    _, track = run(world, (-3.5, 18, 0), (0, WALK), 2.2)
    assert track[:, 2].max() == pytest.approx(3.0, abs=1e-3)


@pytest.mark.parametrize('speed', [1.0, WALK, SPRINT])
def test_55_degrees_are_refused(world, speed):
    body, track = run(world, (6.5, 18, 0), (0, speed), 4)
    assert track[:, 2].max() < 0.05
    assert body.touched


def test_steep_slope_is_no_place_to_stand(world):
    body, _ = run(world, (6.5, 21, 1.8), (0, 0), 3)
    assert body.feet.z < 0.1
    assert body.grounded


@pytest.mark.parametrize('speed', [1.0, WALK, SPRINT])
def test_half_a_metre_is_refused_and_a_kerb_taken(world, speed):
    body, track = run(world, (18, 22, 0), (speed, 0), 3)
    assert track[:, 2].max() < 0.01
    assert body.feet.x < 19.71
    _, track = run(world, (23, 22, 0), (speed, 0), 3 / speed)
    assert track[-1, 2] == pytest.approx(0.25, abs=1e-3)


def test_half_a_metre_is_jumped(world):
    _, track = run(world, (17, 22, 0), (WALK, 0), 1.1, jump_at=0.3)
    assert track[-1, 2] == pytest.approx(0.5, abs=1e-3)


def test_jump_reaches_one_metre_and_no_second_in_the_air(world):
    body = Body(world, Embodiment())
    body.place(0, 0, 0)
    heights = []
    for _ in range(60):
        body.tick(0, 0, jump=not heights or not body.grounded)
        heights.append(body.feet.z)
    assert max(heights) == pytest.approx(1.0, abs=0.005)
    assert body.grounded


def test_jump_is_stopped_by_a_deck(world):
    _, track = run(world, (20, 0, 0), (0, 0), 1.2, jump_at=0.1)
    assert track[:, 2].max() == pytest.approx(rig.DECK - 0.2 - 1.75, abs=0.05)
    assert track[-1, 3]


def test_falls_freely_off_a_deck(world):
    body, track = run(world, (20, 0, rig.DECK), (0, WALK), 1.5)
    air = track[track[:, 3] == 0]
    drops = np.diff(air[:, 2], n=2) / 0.02 ** 2
    np.testing.assert_allclose(drops[2:-2], -9.81, atol=0.01)
    assert body.feet.z == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize('start', [(-10, 0, 0), (-9.8, 0, 0), (-10.1, 0, 0), (21, 22, 0.4),
                                   (-9.7, 0, 0), (12, 0, 1.2)])
def test_placed_inside_something_it_gets_out_and_can_walk(world, start):
    body, _ = run(world, start, (0, 0), 1)
    assert body.grounded
    assert math.dist(body.feet, start) < 1.0
    assert not world.overlaps(body._capsule, body.feet + LVector3d(0, 0, 0.02))
    x = body.feet.x
    for _ in range(25):
        body.tick(0, WALK)
        body.tick(-WALK if x < -10 else WALK, 0)
    assert math.dist((body.feet.x, body.feet.y), start[:2]) > 0.5


def test_crosses_seams_of_the_ground_in_every_direction():
    world = CollisionWorld()
    world.add(rig.ground(half=60, cells=80))
    for angle in np.linspace(0, 2 * math.pi, 17)[:-1]:
        velocity = (SPRINT * math.cos(angle), SPRINT * math.sin(angle))
        body, track = run(world, (0, 0, 0), velocity, 3)
        assert track[:, 3].all()
        assert not track[:, 4].any()
        assert math.hypot(body.feet.x, body.feet.y) == pytest.approx(21, abs=1e-6)


def test_bumpy_ground_is_walked_at_full_speed_without_touching():
    s = np.linspace(-30, 30, 61)
    x, y = np.meshgrid(s, s, indexing='ij')
    points = np.stack([x, y, 0.3 * np.sin(x) * np.cos(y)], -1).reshape(-1, 3)
    i = np.arange(61 * 61).reshape(61, 61)
    a, b, c, d = (k.ravel() for k in (i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]))
    world = CollisionWorld()
    world.add(rig.mesh('bumps', points, np.vstack([np.stack([a, b, c], 1),
                                                   np.stack([a, c, d], 1)])))
    body, track = run(world, (-20, 0.3, 0.5), (SPRINT, 0), 5)
    assert body.feet.x == pytest.approx(15, abs=0.05)
    assert not track[5:, 4].any()


def test_thousands_of_random_steps_never_end_below_ground_or_in_a_building(world):
    rng = np.random.default_rng(5)
    block = (20.0, 22.0, 20.0, 24.0, 0.5)
    for _ in range(12):
        body = Body(world, Embodiment())
        body.place(float(rng.uniform(-8, 30)), float(rng.uniform(-12, 14)), 3.0)
        for tick in range(400):
            if tick % 35 == 0:
                angle = rng.uniform(0, 2 * math.pi)
            body.tick(SPRINT * math.cos(angle), SPRINT * math.sin(angle), jump=tick % 37 == 0)
            x, y, z = body.feet
            if max(abs(x), abs(y)) > 59:
                break
            assert z > -0.01
            inside = block[0] < x < block[1] and block[2] < y < block[3]
            assert not inside or z > block[4] - 0.01


def test_same_inputs_give_the_same_bytes():
    def track():
        world = CollisionWorld(rig.whole_rig())
        return np.concatenate([
            run(world, (7, 0, 0), (3, 0.02), 8)[1], run(world, (-9, -10, 0), (-3.5, 6), 2)[1],
            run(world, (6.5, 18, 0), (0.5, 7), 3)[1]]).tobytes()
    assert track() == track()


def test_triangles_without_area_are_left_out():
    world = CollisionWorld()
    world.add(rig.raw('thin', [[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]]))
    assert world.heights(0.5, 0, 1, -1) == []


@pytest.mark.parametrize(('values', 'words'), [
    ({'radius': 0.0}, 'radius'), ({'height': 0.5}, 'height'), ({'eye_height': 2.0}, 'eye_height'),
    ({'max_slope': 45.0}, 'max_slope'), ({'physics_rate': 60}, 'physics_rate'),
    ({'gravity': math.nan}, 'gravity')])
def test_impossible_embodiments_are_refused(values, words):
    with pytest.raises(SimError, match=words):
        Embodiment(**values)
