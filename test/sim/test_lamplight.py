# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lights after dark: the map of lamp light, and what shines in pictures."""

from dataclasses import replace
import math

import numpy as np
import pytest
import sim_rig as rig

from urbanground_ros.sim import MapView
from urbanground_ros.sim import SimError
from urbanground_ros.sim.city import MAP_LIGHT
from urbanground_ros.sim.lamplight import CELL
from urbanground_ros.sim.lamplight import LampField
from urbanground_ros.sim.lamplight import LUX
from urbanground_ros.sim.lamplight import REACH
from urbanground_ros.sim.lamplight import SIZE
from urbanground_ros.sim.lamplight import STEP
from urbanground_ros.sim.renderer import open_renderer
from urbanground_ros.sim.renderer import Renderer
from urbanground_ros.tiles import Emission
from urbanground_ros.tiles import Lamp

WIDTH, HEIGHT = 160, 120
STREET = Lamp((8.5, 0.5, 7.5), (1.0, 0.8, 0.5), 1200.0, 24.0)
DARK = rig.light(hour=23.0)


@pytest.fixture(scope='module')
def renderer():
    renderer = open_renderer(WIDTH, HEIGHT, math.radians(75))
    if renderer is None:
        pytest.skip('no renderer works here')
    yield renderer
    renderer.close()


def read(field, x, y):
    """Return offset, height and light in the cell of a place."""
    found = field.map(field.middle(x, y))
    half = SIZE * CELL / 2
    row, column = int(y - found.middle[1] + half), int(x - found.middle[0] + half)
    cell = found.cells[row, column] / 255.0
    return ((cell[:2] - 0.5) * 2 * REACH, found.low + cell[2] * found.span,
            cell[3] ** 2 * found.strength)


def test_a_lamp_lights_most_below_itself_and_nothing_beyond_its_reach():
    field = LampField([STREET])
    offset, height, light = read(field, 8.5, 0.5)
    np.testing.assert_allclose(offset, 0.0, atol=0.2)
    assert height == pytest.approx(7.5, abs=0.1)
    assert light == pytest.approx(LUX, rel=0.02)
    offset, _, aside = read(field, 14.5, 0.5)
    np.testing.assert_allclose(offset, (-6.0, 0.0), atol=0.2)
    assert 0 < aside < light / 1.5
    assert read(field, 33.5, 0.5)[2] == 0


def test_the_map_of_a_place_depends_on_nothing_else():
    lamps = [STREET._replace(position=(x * 7.3, x * x % 19.0, 5.0 + x)) for x in range(12)]
    one, other = LampField(lamps), LampField(reversed(lamps))
    middle = one.middle(30.0, -3.0)
    assert middle == one.middle(30.0 + STEP / 4, -3.0)
    np.testing.assert_array_equal(one.map(middle).cells, other.map(middle).cells)
    assert one.map(middle).color == (1.0, 0.8, 0.5)


def test_lamps_far_away_change_no_map():
    far = STREET._replace(position=(SIZE * CELL + 60.0, 0.0, 7.5))
    some, more = LampField([STREET]), LampField([STREET, far])
    assert some.near((0.0, 0.0)) == more.near((0.0, 0.0)) != LampField().near((0.0, 0.0))
    np.testing.assert_array_equal(some.map((0.0, 0.0)).cells, more.map((0.0, 0.0)).cells)


def test_a_city_without_lamps_has_an_empty_map():
    found = LampField([STREET._replace(intensity=0.0)]).map((0.0, 0.0))
    assert not found.cells[..., 3].any()


def look(renderer, light, *meshes, yaw=0.0, pitch=0.0):
    renderer.show(meshes)
    return renderer.first_person((0.0, 0.0, 1.6), yaw, pitch, light).astype(int)


def test_lamps_throw_light_on_the_ground_by_night_only(renderer):
    lamped = replace(rig.ground(), lamps=(STREET,))
    by_night = look(renderer, DARK, lamped) - look(renderer, DARK, rig.ground())
    row = HEIGHT // 2 + 12
    assert by_night[row, WIDTH // 2].min() > 20
    assert by_night[row, WIDTH // 2, 0] > by_night[row, WIDTH // 2, 2], 'it is warm'
    assert by_night[row, WIDTH // 2].sum() > by_night[HEIGHT - 2, WIDTH // 2].sum()
    assert not by_night[:HEIGHT // 2 - 2].any(), 'the sky'
    noon = rig.light()
    np.testing.assert_array_equal(look(renderer, noon, lamped), look(renderer, noon, rig.ground()))
    dusk = look(renderer, rig.light(hour=18.7), lamped) - look(
        renderer, rig.light(hour=18.7), rig.ground())
    assert 0 < dusk.max() < by_night.max()


def test_lamps_light_walls_that_face_them_and_nothing_above_them(renderer):
    wall = rig.quad([14, 20, 0], [14, -20, 0], [14, -20, 20], [14, 20, 20])
    lamp = STREET._replace(position=(10.0, 0.0, 6.0))
    lit, dark = (look(renderer, DARK, replace(wall, lamps=lamps), pitch=0.3)
                 for lamps in ((lamp,), ()))
    gain = (lit - dark).sum(axis=2)[:, WIDTH // 2]
    focal = WIDTH / 2 / math.tan(math.radians(75) / 2)

    def row(height):
        return round(HEIGHT / 2 - focal * math.tan(math.atan((height - 1.6) / 14) - 0.3))
    assert gain[row(3.0)] > 30
    assert not gain[:row(7.0)].any()
    renderer.show([replace(wall, lamps=(lamp._replace(position=(18.0, 0.0, 6.0)),))])
    behind = renderer.first_person((0.0, 0.0, 1.6), 0.0, 0.3, DARK).astype(int)
    assert (behind - dark).sum(axis=2)[row(3.0), WIDTH // 2] < 0.7 * gain[row(3.0)]


def panel(**values):
    return rig.raw('panel', [[5, 2, 0], [5, -2, 0], [5, -2, 4], [5, 2, 4]],
                   [[0, 1, 2], [0, 2, 3]], normals=np.tile(np.array([-1, 0, 0], 'f4'), (4, 1)),
                   uvs=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], 'f4'), **values)


def test_what_glows_is_seen_by_night_and_unchanged_by_day(renderer):
    texture = np.full((8, 8, 3), 90, np.uint8)
    lit = np.zeros((8, 8, 3), np.uint8)
    lit[:, 4:] = (255, 200, 100)
    other = panel().uvs[:, ::-1].copy()
    emissions = {
        'window': Emission((0.8, 0.8, 0.8), lit), 'own': Emission((0.8, 0.8, 0.8), lit, other),
        'same': Emission((0.8, 0.8, 0.8), texture), 'plain': Emission((0.0, 0.5, 0.0))}
    noon = look(renderer, rig.light(), panel(texture=texture))
    night = look(renderer, DARK, panel(texture=texture))
    seen = {}
    for name, emission in emissions.items():
        glowing = panel(texture=texture, emission=emission)
        np.testing.assert_array_equal(look(renderer, rig.light(), glowing), noon, name)
        seen[name] = look(renderer, DARK, glowing) - night
    left, right = ((HEIGHT // 2, WIDTH // 2 + side * 15) for side in (-1, 1))
    assert not seen['window'][left].any()
    assert seen['window'][right].min() > 20
    up, down = ((HEIGHT // 2 - 20, WIDTH // 2), (HEIGHT // 2 + 15, WIDTH // 2))
    assert seen['own'][up].min() > 20
    assert not seen['own'][down].any()
    assert seen['same'][left].min() > 20
    assert seen['plain'][left][1] > 50
    assert seen['plain'][left][0] == 0


def test_a_map_is_drawn_without_lamps(renderer):
    def draw(*meshes):
        renderer.show(meshes)
        return renderer.overhead(MapView((0.0, 0.0, 0.0), span=60.0), MAP_LIGHT)
    look(renderer, DARK, rig.ground())
    np.testing.assert_array_equal(draw(replace(rig.ground(), lamps=(STREET,))),
                                  draw(rig.ground()))


def test_the_renderer_without_shaders_shows_the_night_too():
    try:
        plain = Renderer(WIDTH, HEIGHT, 1.3, 'p3tinydisplay')
    except SimError:
        pytest.skip('p3tinydisplay does not work here')
    glowing = panel(texture=np.full((8, 8, 3), 90, np.uint8), emission=Emission((1.0, 1.0, 1.0)),
                    lamps=(STREET,))
    assert look(plain, rig.light(), glowing).mean() > look(plain, DARK, glowing).mean() > 5
    plain.close()
