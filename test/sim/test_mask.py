# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The instance mask agrees with the picture, pixel for pixel, and leaves no trace in it."""

from dataclasses import replace
import math
from pathlib import Path
import re

import numpy as np
import pytest
import sim_rig as rig
from walker import walker

import urbanground_ros
from urbanground_ros.city import GeoLine
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import open_region
from urbanground_ros.sim.avatars import Avatar
from urbanground_ros.sim.mask import label
from urbanground_ros.sim.people import People
from urbanground_ros.sim.rain import Rain
from urbanground_ros.sim.renderer import open_renderer
from urbanground_ros.tiles import Emission
from urbanground_ros.tiles import Features
from urbanground_ros.tiles import Instance

WIDTH, HEIGHT = 160, 120
FOCAL = WIDTH / 2 / math.tan(math.radians(75) / 2)
EYE = (0.0, -8.0, 1.6)
WOK, BAR = Instance('sign', 'Lucky Wok'), Instance('sign', 'Red Bar')
RED, GREEN = (0.9, 0.1, 0.1, 1.0), (0.1, 0.8, 0.1, 1.0)
WEATHERS = [('sunny', 12.0), ('thunderstorm', 15.0), ('sunny', 22.0), ('rainy', 23.0)]


def boards(color=RED, tilt=0.0):
    """Two signs in one mesh, and a board that is none, side by side across the view."""
    parts = []
    for y in (-11.0, -8.5, -6.0):
        parts.append(rig.box(9.0, 9.1 + tilt, y, y + 2.0, 1.0, 2.2, 'boards'))
    rows = np.repeat(np.uint32([1, 2, 0]), len(parts[0].positions))
    faces = [part.faces + np.uint32(k * len(part.positions)) for k, part in enumerate(parts)]
    return replace(
        parts[0], positions=np.concatenate([part.positions for part in parts]),
        normals=np.concatenate([part.normals for part in parts]), faces=np.concatenate(faces),
        color=color, emission=Emission((0.3, 0.3, 0.3)), features=Features(rows, (BAR, WOK)))


def somebody(*places):
    count = len(places)
    return People(np.arange(count, dtype=np.uint32) + 7, np.array(places, float),
                  np.zeros((count, 3)), np.full(count, 1.7), np.zeros(count), np.zeros(count))


def changed(one, other):
    return np.any(one != other, axis=2)


@pytest.fixture(scope='module')
def renderer():
    renderer = open_renderer(WIDTH, HEIGHT, math.radians(75))
    if renderer is None or not renderer.has_depth:
        pytest.skip('no renderer with shaders works here')
    yield renderer
    renderer.close()


@pytest.fixture(scope='module')
def district():
    return open_region(DEFAULT_DISTRICT)


def test_rows_that_name_a_thing_twice_are_one():
    rows = np.array([[0, 1, 2], [3, 4, 0]], np.int32)
    mask = label(rows, [None, WOK, None, BAR, WOK, Instance('sign', 'Unseen')])
    assert mask.instances == (WOK, BAR)
    np.testing.assert_array_equal(mask.ids, [[0, 1, 0], [2, 1, 0]])
    assert mask.ids.dtype == np.int32
    assert mask.pixels(*WOK) == 2
    assert mask.pixels('sign', 'Unseen') == 0
    assert not mask.where('plate', 'Lucky Wok').any()


@pytest.mark.parametrize(('weather', 'hour'), WEATHERS)
def test_it_covers_what_changes_with_the_colour_of_a_thing(renderer, weather, hour):
    light = rig.light(weather, hour)
    streaks = Rain(3).streaks(rig.region(rig.whole_rig()).solid(0.0, 0.0), np.array(EYE), 3.0, 1.0)
    # Behind a wall with a gap, a post and two people; in part in the plane of another wall.
    scene = [rig.ground(), rig.wall(6.0, -20.0, -9.7), rig.wall(6.0, -7.0, 4.0, 1.5),
             rig.box(7.0, 7.1, -8.1, -8.0, 0.0, 4.0), rig.wall(9.0, -20.0, 8.0, 1.6)]
    people = somebody((7.5, -9.0, 0.0), (4.0, -6.0, 0.0))
    for yaw, pitch in ((0.0, 0.0), (0.3, 0.1), (-0.25, -0.2)):
        pictures = []
        for color in (RED, GREEN):
            renderer.show([*scene, boards(color)])
            pictures.append(renderer.first_person(EYE, yaw, pitch, light, people))
        mask = renderer.instance_mask(EYE, yaw, pitch, people)
        both = changed(*pictures)
        assert np.count_nonzero(both) > 100
        signs = mask.where(*WOK) | mask.where(*BAR)
        assert signs.any()
        assert not (signs & ~both).any()
        # Now it is the board which was no sign that is one.
        ids = np.where(boards().features.ids == 2, 0, 2).astype(np.uint32)
        renderer.show([*scene, replace(boards(), features=Features(ids, (WOK, BAR)))])
        third = renderer.instance_mask(EYE, yaw, pitch, people).where(*WOK)
        np.testing.assert_array_equal(signs | third, both)
        wet = renderer.first_person(EYE, yaw, pitch, light, people, streaks)
        np.testing.assert_array_equal(
            renderer.instance_mask(EYE, yaw, pitch, people).where(*WOK), third)
        assert wet.shape == (HEIGHT, WIDTH, 3)


def test_it_agrees_with_depth_where_people_stand(renderer):
    renderer.show([rig.ground(), rig.wall(9.0, -20.0, 8.0)])
    people = somebody((5.0, -9.0, 0.0), (5.0, -8.0, 0.0), (12.0, -8.0, 0.0))
    mask = renderer.instance_mask(EYE, 0.0, 0.0, people)
    assert mask.instances == (Instance('person', '7'), Instance('person', '8'))
    nearer = renderer.depth(EYE, 0.0, 0.0, people) < renderer.depth(EYE, 0.0, 0.0)
    np.testing.assert_array_equal(mask.ids > 0, nearer)
    left, right = (np.nonzero(mask.where('person', name))[1].mean() for name in '87')
    assert left == pytest.approx(WIDTH / 2, abs=2)
    assert right == pytest.approx(WIDTH / 2 + FOCAL / 5, abs=2)


def test_avatars_are_people_too(tmp_path):
    avatar = Avatar(walker().encode(), 'walker', tmp_path)
    renderer = open_renderer(WIDTH, HEIGHT, math.radians(75), (avatar,))
    if renderer is None or not renderer.has_depth:
        pytest.skip('no renderer with shaders works here')
    renderer.show([rig.ground(), rig.wall(9.0, -20.0, 8.0)])
    people = somebody((5.0, -9.0, 0.0), (5.0, -7.0, 0.0))
    mask = renderer.instance_mask(EYE, 0.0, 0.0, people)
    nearer = renderer.depth(EYE, 0.0, 0.0, people) < renderer.depth(EYE, 0.0, 0.0)
    seen = mask.where('person', '7'), mask.where('person', '8')
    np.testing.assert_array_equal(seen[0] | seen[1], nearer)
    assert np.nonzero(seen[0])[1].min() > np.nonzero(seen[1])[1].max()
    renderer.close()


@pytest.mark.parametrize(('weather', 'hour'), WEATHERS)
def test_pictures_are_the_same_after_it_as_without_it(weather, hour):
    def pictures(masked):
        city = rig.new_city(pictures=True, image_width=WIDTH, image_height=HEIGHT,
                            scene=Scene(weather, time_of_day=hour * 3600.0))
        found = []
        for _ in range(3):
            if masked:
                assert city.instance_mask() is not None
            found.append(city.render())
            city.step(1.0, 0.0, 0.3, 0.2)
        digest = city.state_hash()
        city.close()
        return found, digest
    (plain, before), (after, then) = pictures(False), pictures(True)
    np.testing.assert_array_equal(plain, after)
    assert before == then


def test_signs_look_the_same_after_it(renderer):
    renderer.show([rig.ground(), boards(), rig.box(4.0, 4.1, -9.0, -8.6, 0.0, 3.0)])
    for weather, hour in WEATHERS:
        light = rig.light(weather, hour)
        people = somebody((5.0, -9.0, 0.0))
        before = renderer.first_person(EYE, 0.0, 0.0, light, people)
        depth = renderer.depth(EYE, 0.0, 0.0, people)
        mask = renderer.instance_mask(EYE, 0.0, 0.0, people)
        np.testing.assert_array_equal(renderer.first_person(EYE, 0.0, 0.0, light, people), before)
        np.testing.assert_array_equal(renderer.depth(EYE, 0.0, 0.0, people), depth)
        np.testing.assert_array_equal(renderer.instance_mask(EYE, 0.0, 0.0, people).ids, mask.ids)


def test_barriers_of_a_closure_are_told_from_the_street():
    city = rig.new_city(pictures=True, image_width=WIDTH, image_height=HEIGHT)
    assert city.instance_mask().instances == ()
    before = city.render()
    city.set_scene(Scene(closures=(GeoLine('Closed', (rig.geo(5.0, -12.0), rig.geo(5.0, -4.0))),)))
    mask = city.instance_mask()
    assert mask.instances == (Instance('barrier', ''),)
    seen = mask.where('barrier', '')
    # A barrier throws a shadow on top of what it covers.
    assert seen.sum() > 300
    assert not (seen & ~changed(city.render(), before)).any()
    city.set_scene(Scene())
    assert city.instance_mask().instances == ()
    city.close()


def test_a_city_without_shaders_has_none(monkeypatch):
    monkeypatch.setattr('urbanground_ros.sim.renderer.LIBRARIES', ('p3tinydisplay',))
    city = rig.new_city(pictures=True, image_width=WIDTH, image_height=HEIGHT)
    assert city.instance_mask() is None
    city.close()
    assert rig.new_city().instance_mask() is None


def fascia(region, thing):
    """Return the middle of the fascia of a shop's sign, its outward normal and its area."""
    for mesh in region.tiles.nearby((0.0, 0.0, 0.0), math.inf).meshes:
        if mesh.features is None or thing not in mesh.features.table:
            continue
        corners = np.flatnonzero(mesh.features.ids == mesh.features.table.index(thing))[:4]
        if not len(corners):
            continue
        a, b, c, d = mesh.positions[corners].astype(float)
        return (a + c) / 2, mesh.normals[corners[0]].astype(float), float(
            np.linalg.norm(np.cross(c - a, d - b)) / 2)
    raise AssertionError(thing)


def test_the_sign_of_a_shop_is_seen_from_before_it(district):
    middle, outward, area = fascia(district, WOK)
    city = HeadlessCity(open_region=lambda _: district, image_width=WIDTH, image_height=HEIGHT)
    way = math.degrees(math.atan2(-outward[0], -outward[1]))
    place = Placement(GeoPoint(*district.frame.to_geodetic(middle + 8 * outward)), way)
    city.load(DEFAULT_DISTRICT, 0, place, Scene())
    mask = city.instance_mask()
    if mask is None:
        pytest.skip('no renderer with shaders works here')
    # The blade beside it adds a little.
    assert 0.95 < mask.pixels(*WOK) / (area * (FOCAL / 8) ** 2) < 1.3
    rows, columns = np.nonzero(mask.where(*WOK))
    assert columns.mean() == pytest.approx(WIDTH / 2, abs=6)
    assert rows.max() < HEIGHT / 2
    walls = [thing for thing in mask.instances if thing.kind == 'building']
    assert walls
    assert mask.pixels(*walls[0]) > 10 * mask.pixels(*WOK)
    turned = Placement(place.point, way + 180.0)
    city.load(DEFAULT_DISTRICT, 0, turned, Scene())
    assert city.instance_mask().pixels(*WOK) == 0
    city.close()


def test_a_sign_is_not_seen_through_a_wall(district, renderer):
    middle, outward, _ = fascia(district, WOK)
    behind = tuple(middle - 8 * outward)
    yaw = math.atan2(outward[1], outward[0])
    meshes = district.tiles.nearby((0.0, 0.0, 0.0), math.inf).meshes
    renderer.show([mesh for mesh in meshes if mesh.features and WOK in mesh.features.table
                   and mesh.features.table.index(WOK) in mesh.features.ids])
    assert renderer.instance_mask(behind, yaw, 0.0).pixels(*WOK) > 500
    renderer.show(meshes)
    assert renderer.instance_mask(behind, yaw, 0.0).pixels(*WOK) == 0


def test_agents_and_messages_know_nothing_of_it():
    package = Path(urbanground_ros.__file__).parent
    files = [file for room in ('bridge', 'episode', 'agents', 'city')
             for file in (package / room).rglob('*.py')]
    files += [package / 'sim' / 'rostcp.py', package / 'sim' / 'wire.py']
    assert len(files) > 30
    word = re.compile(r'instance_?mask|sim\.mask|import (mask|Instance)\b', re.IGNORECASE)
    assert word.search('city.instance_mask()')
    assert not [file.name for file in files if word.search(file.read_text())]
