# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Avatars: how they stand and walk, how a folder of them is read, and how they are drawn."""

import math
import os

import numpy as np
import pytest
import sim_rig as rig
from walker import FOOT
from walker import HIP
from walker import walker

from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.parameters import defaults
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import open_region
from urbanground_ros.sim import SimError
from urbanground_ros.sim.avatars import Avatar
from urbanground_ros.sim.avatars import HEIGHT
from urbanground_ros.sim.avatars import load_avatars
from urbanground_ros.sim.avatars import place
from urbanground_ros.sim.avatars import POSES
from urbanground_ros.sim.avatars import STANDING
from urbanground_ros.sim.parameters import PARAMETERS
from urbanground_ros.sim.people import People
from urbanground_ros.sim.renderer import Renderer
from urbanground_ros.sim.serve import run_city
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import TilesError

WIDTH, HEIGHT_PIXELS = 160, 120
SCALE = HEIGHT / 1.8


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'more').mkdir()
    (tmp_path / 'b.glb').write_bytes(walker().encode())
    (tmp_path / 'more' / 'a.glb').write_bytes(walker(color=(30, 30, 200)).encode())
    return tmp_path


def avatar(tmp_path, **values):
    return Avatar(walker(**values).encode(), 'walker', tmp_path)


def points(meshes):
    return np.concatenate([mesh.positions for mesh in meshes])


def somebody(*ids, walked=0.0, speed=1.3, height=1.7, heading=0.0):
    count = len(ids)
    return People(np.array(ids, np.uint32), np.array([[6.0, -7.0 + 2 * k, 0.0] for k in
                                                      range(count)]),
                  np.tile([speed, 0.0, 0.0], (count, 1)), np.full(count, height),
                  np.full(count, walked), np.full(count, heading))


def test_it_stands_on_the_ground_facing_ahead(tmp_path):
    stands = points(avatar(tmp_path, clips=()).pose(STANDING))
    np.testing.assert_allclose(stands.min(axis=0), (-0.12 * SCALE, -0.2 * SCALE, 0.0), atol=1e-6)
    np.testing.assert_allclose(stands.max(axis=0), (0.12 * SCALE, 0.2 * SCALE, HEIGHT), atol=1e-6)


def test_it_walks_on_the_spot_and_a_cycle_is_two_steps(tmp_path):
    walks = avatar(tmp_path)
    step = 2 * HIP * math.sin(0.4)
    assert walks.cycle == pytest.approx(2 * step * SCALE, rel=0.15)
    spreads = []
    for number in range(POSES):
        pose = points(walks.pose(number))
        assert pose[:, 2].min() == pytest.approx(0.0, abs=1e-6)
        np.testing.assert_allclose(pose[:, :2].mean(axis=0), 0.0, atol=1e-5)
        spreads.append(np.ptp(pose[:, 0]))
    assert max(spreads) > min(spreads) + 0.5
    still = points(walks.pose(STANDING))
    assert np.ptp(still[:, 0]) < (FOOT + 0.1) * 1.2
    assert walks.pose(3) is walks.pose(3)


def test_what_is_called_idle_is_how_it_stands(tmp_path):
    idle = avatar(tmp_path, clips=('Walk', 'IDLE_long'))
    np.testing.assert_array_equal(points(idle.pose(STANDING)), points(idle.pose(0)))


def test_large_pictures_are_made_small(tmp_path):
    (mesh,) = avatar(tmp_path).pose(0)
    assert mesh.texture.shape == (8, 512, 3)
    assert avatar(tmp_path).pose(0)[0].texture is not mesh.texture
    (other,) = avatar(tmp_path).pose(1)
    assert np.array_equal(other.texture, mesh.texture)


def test_the_same_people_look_the_same_and_walk_by_the_way_they_have_come(tmp_path):
    avatars = tuple(avatar(tmp_path, swing=swing) for swing in (0.3, 0.4, 0.5))
    first = place(avatars, somebody(*range(60)))
    assert first == place(avatars, somebody(*range(60)))
    assert {each.avatar for each in first} == {0, 1, 2}
    for each in first:
        way = avatars[each.avatar].cycle * each.scale
        numbers = [place(avatars, somebody(*range(60), walked=share * way))[first.index(each)].pose
                   for share in (0.0, 0.26, 0.51, 1.01)]
        assert numbers == [0, 5, 10, 0]
    assert place(avatars, somebody(1, speed=0.0))[0].pose == STANDING
    tall = place(avatars, somebody(1, height=1.87, heading=0.5))[0]
    assert tall.scale == pytest.approx(1.1)
    assert tall.heading == 0.5


def test_a_bad_file_costs_a_line_and_the_rest_goes_on(folder, caplog):
    (folder / 'cut.glb').write_bytes(walker().encode()[:900])
    (folder / 'loose.glb').write_bytes(walker(joint=7).encode())
    bent = walker()
    bent.json['nodes'][0]['rotation'] = [0.0, 0.0, 1.0]
    (folder / 'bent.glb').write_bytes(bent.encode())
    os.mkfifo(folder / 'pipe.glb')
    (folder / 'notes.txt').write_text('not one of them')
    found = load_avatars(folder)
    assert [each.name for each in found] == ['b.glb', 'more/a.glb']
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 4
    assert 'bent.glb' in lines[0]
    assert 'cut.glb' in lines[1]
    assert 'loose.glb' in lines[2]
    assert 'expected some of 3 joints' in lines[2]
    assert 'pipe.glb: cannot be read: not a regular file' in lines[3]
    assert not any('\n' in line for line in lines)


def test_a_folder_without_avatars_is_an_error(tmp_path):
    with pytest.raises(SimError, match='is no folder'):
        load_avatars(tmp_path / 'gone')
    with pytest.raises(SimError, match='has 0 glTF files'):
        load_avatars(tmp_path)
    (tmp_path / 'a.glb').write_bytes(b'nothing')
    with pytest.raises(SimError, match='has 1 glTF files and none can be used'):
        run_city(**{**defaults(PARAMETERS), 'avatars': str(tmp_path)})


def test_what_has_no_bones_is_no_avatar(tmp_path):
    with pytest.raises(TilesError, match='box: has neither a skin nor an animation, expected a'):
        Avatar(encode_glb([rig.ground()]), 'box', tmp_path)


def test_files_beside_it_are_read_and_none_elsewhere(tmp_path):
    glb = walker()
    glb.json['images'] = [{'uri': '../secret.png'}]
    (tmp_path / 'in').mkdir()
    (tmp_path / 'secret.png').write_bytes(b'')
    found = Avatar(glb.encode(), 'walker', tmp_path / 'in')
    assert found.pose(0)[0].texture is None
    assert "names '../secret.png'" in found.warnings[0]
    glb.json['buffers'] = []
    with pytest.raises(TilesError, match='walker'):
        Avatar(glb.encode().replace(b'"buffer": 0', b'"buffer": 9'), 'walker', tmp_path)


@pytest.fixture(params=['p3headlessgl', 'p3tinydisplay'])
def renderer(request, tmp_path):
    try:
        found = Renderer(WIDTH, HEIGHT_PIXELS, math.radians(75), request.param,
                         (avatar(tmp_path),))
    except SimError:
        pytest.skip(f'{request.param} does not work here')
    found.show([rig.ground()])
    yield found
    found.close()


def test_a_person_is_drawn_where_and_as_tall_as_he_stands(renderer):
    eye = (0.0, -7.0, 1.6)

    def look(people=None, light=None):
        return renderer.first_person(eye, 0.0, 0.0, light or rig.light(), people).astype(int)
    empty = look()
    person = look(somebody(3, speed=0.0))
    rows, columns = np.nonzero(np.any(empty != person, axis=2))
    focal = WIDTH / 2 / math.tan(math.radians(75) / 2)
    assert np.mean(columns) == pytest.approx(WIDTH / 2, abs=1.5)
    assert rows.min() == pytest.approx(HEIGHT_PIXELS / 2 - focal * 0.1 / 6, abs=2)
    assert rows.max() == pytest.approx(HEIGHT_PIXELS / 2 + focal * 1.6 / 6, abs=2)
    body = person[HEIGHT_PIXELS // 2 + 5, WIDTH // 2]
    assert body[0] > 2 * body[2], 'the colour of its picture'
    strides = [look(somebody(3, walked=walked, heading=math.pi / 2)) for walked in (0.0, 0.4)]
    assert np.any(strides[0] != strides[1])
    assert np.array_equal(look(), empty)
    assert look(somebody(3), rig.light(hour=23.0)).mean() < person.mean()


def test_whatever_people_look_like_they_walk_and_bump_the_same(tmp_path):
    region = open_region(DEFAULT_DISTRICT)
    feature = max(region.network.features, key=lambda f: f.length)
    start = Placement(GeoPoint(*region.frame.to_geodetic(feature.points[0])))
    seen = []
    for avatars in ((), (avatar(tmp_path),)):
        city = HeadlessCity(open_region=lambda _: region, image_width=64, image_height=48,
                            avatars=avatars)
        if not city.capabilities().image_width:
            pytest.skip('no renderer works here')
        city.load('x', 0, start, Scene(pedestrians=60))
        city.step(1.0, 0.0, 0.0, 1.0)
        seen.append((city.state_hash(), city.scan().tobytes(), city.picture()))
        city.close()
    assert seen[0][:2] == seen[1][:2]
    assert seen[0][2] != seen[1][2]
