# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a district's tiles call the things in them, and how that agrees with its other files."""

from collections import defaultdict

import numpy as np
import pytest

from urbanground_ros.districts import ensure_district
from urbanground_ros.districts import PLANS
from urbanground_ros.geo import Region
from urbanground_ros.tiles import decode_glb
from urbanground_ros.tiles import load_tileset


def corners_of(meshes):
    """Return the triangles (K, 3, 3) of every instance."""
    found = defaultdict(list)
    for mesh in meshes:
        if mesh.features is None:
            continue
        rows = mesh.features.ids[mesh.faces]
        assert (rows == rows[:, :1]).all(), 'a triangle belongs to one thing'
        for row, thing in enumerate(mesh.features.table):
            found[thing].append(mesh.positions[mesh.faces[rows[:, 0] == row]])
    return {instance: np.concatenate(parts) for instance, parts in found.items()}


@pytest.mark.parametrize('name', PLANS)
def test_every_place_has_a_sign_of_its_name_before_its_door(name):
    region = Region.load(ensure_district(name))
    things = corners_of(load_tileset(region.directory / 'tileset.json', region.frame))
    places = region.load_places()
    signs = {thing.name: corners for thing, corners in things.items() if thing.kind == 'sign'}
    assert len({place.name for place in places}) == len(places)
    assert signs.keys() == {place.name for place in places}
    for place in places:
        door = region.frame.from_geodetic(
            place.entrance.latitude, place.entrance.longitude, place.entrance.altitude)
        offsets = signs[place.name].reshape(-1, 3) - door
        assert np.hypot(*offsets[:, :2].T).max() < 6.0, place.name
        assert offsets[:, 2].min() > 1.0
        assert offsets[:, 2].max() < 6.0
    plan = PLANS[name]
    plates = {thing.name for thing in things if thing.kind == 'plate'}
    assert plates
    assert plates <= {street.name for street in (*plan.north, *plan.east)}
    assert {thing.kind for thing in things} == {'sign', 'plate', 'building'}


def test_signs_are_cut_with_nothing_lost(meshes):
    # A fascia of 0.86 m, both sides of a blade or of a board of half a metre.
    for thing, corners in corners_of(meshes).items():
        if thing.kind == 'sign':
            sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            area = np.linalg.norm(sides, axis=1).sum() / 2
            assert 2.2 < area < 6.5, thing


def test_a_building_is_in_every_level_and_a_sign_in_the_fine_one(region):
    names = {level: {
        thing for file in sorted(region.directory.glob(f'{level}*.glb'))
        for part in decode_glb(file.read_bytes(), resolve=lambda uri: (
            region.directory / uri).read_bytes()) if part.features
        for thing in part.features.table} for level in ('root', 'coarse', 'fine')}
    assert names['root'] == names['coarse']
    assert {thing.kind for thing in names['coarse']} == {'building'}
    assert names['coarse'] == {thing for thing in names['fine'] if thing.kind == 'building'}
    assert len(names['coarse']) > 50
