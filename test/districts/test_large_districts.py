# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The six large districts: what is drawn, what can be walked and what is listed agree."""

from collections import Counter
from dataclasses import replace
import hashlib
import json

import numpy as np
import pytest

from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.districts import DistrictError
from urbanground_ros.districts import ensure_district
from urbanground_ros.districts import PLANS
from urbanground_ros.districts.buildings import lots
from urbanground_ros.districts.plan import Crossover
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import PLACE_TYPES
from urbanground_ros.geo import Region
from urbanground_ros.tiles import load_tileset

UP = np.array([0.0, 0.0, 1.0])
LARGE = [name for name in PLANS if name != DEFAULT_DISTRICT]
# What each has beside sidewalks and crossings.
KINDS = {
    'kam_tong': {FeatureType.FOOTBRIDGE, FeatureType.STAIRCASE},
    'yuen_ling': {FeatureType.ESCALATOR, FeatureType.STAIRCASE, FeatureType.FOOTBRIDGE},
    'wah_kiu': {
        FeatureType.LIFT, FeatureType.RAMP, FeatureType.ESCALATOR, FeatureType.FOOTBRIDGE,
    },
    'kwun_lei': {FeatureType.FOOTBRIDGE, FeatureType.GENERALIZED_WALKWAY_INSIDE_PARK},
    'hoi_tin': {FeatureType.SUBWAY, FeatureType.FOOTBRIDGE},
    'shing_lam': {FeatureType.FOOTBRIDGE, FeatureType.GENERALIZED_WALKWAY_INSIDE_PARK},
}


@pytest.fixture(scope='module', params=LARGE)
def name(request):
    return request.param


@pytest.fixture(scope='module')
def large(name):
    return Region.load(ensure_district(name))


@pytest.fixture(scope='module')
def ways(large):
    return large.load_network()


@pytest.fixture(scope='module')
def walls(large, make_surfaces):
    warnings = []
    tiles = load_tileset(large.directory / large.tilesets[0], large.frame, warnings)
    surfaces = make_surfaces(list(tiles))
    assert not warnings
    return surfaces


def entrance_of(region, place):
    at = place.entrance
    return region.frame.from_geodetic(at.latitude, at.longitude, at.altitude)


def test_it_is_invented_and_a_kilometre_across(large, ways, name):
    assert large.synthetic
    assert 'invented' in large.title
    points = np.concatenate([feature.points for feature in ways.features])
    across = np.ptp(points[:, :2], axis=0)
    assert (across > 650).all()
    assert (across < 1200).all()
    assert PLANS[name].origin == large.origin


def test_the_network_is_one_piece_of_many_kinds(ways, name):
    assert len(ways.components()) == 1
    kinds = Counter(feature.feature_type for feature in ways.features)
    assert kinds.keys() >= KINDS[name] | {
        FeatureType.FOOTWAY, FeatureType.CROSSING_SIGNALIZED, FeatureType.CROSSING_ZEBRA,
    }
    streets = {feature.street for feature in ways.features if feature.street}
    assert len(streets) >= 14
    assert all(feature.street_tc for feature in ways.features if feature.street)


def test_a_walk_of_a_kilometre_exists(ways):
    corners = np.concatenate([feature.points for feature in ways.features])
    start = corners[np.argmin(corners[:, 0] + corners[:, 1])]
    assert ways.distances(start).max() > 1000


def test_what_goes_one_way_up_has_stairs_beside_it(ways):
    for feature in ways.features:
        if feature.feature_type is FeatureType.ESCALATOR:
            assert feature.points[-1][2] > feature.points[0][2]
            assert feature.forward
            assert not feature.backward
            ends = {tuple(np.round(feature.points[k], 3)) for k in (0, -1)}
            assert any(
                other.feature_type is FeatureType.STAIRCASE
                and {tuple(np.round(other.points[k], 3)) for k in (0, -1)} == ends
                for other in ways.features
            ), feature.id


def test_lifts_are_closed_and_can_be_walked_around(ways):
    for feature in ways.features:
        if feature.feature_type is FeatureType.LIFT:
            assert not feature.enabled
            np.testing.assert_allclose(feature.points[0][:2], feature.points[-1][:2], atol=1e-3)
            assert ways.route(feature.points[0], feature.points[-1]).length < 120


def test_every_vertex_lies_on_a_surface(ways, walls):
    # A ray on the very edge of two triangles may pass between them.
    nudges = [(0, 0, 0), (0.004, 0.003, 0), (-0.004, 0.003, 0), (0.003, -0.004, 0)]
    for feature in ways.features:
        for point in feature.points if feature.enabled else ():
            heights = [walls.below(point + UP * 1.2 + nudge) for nudge in nudges]
            off = [abs(height - point[2]) for height in heights if height is not None]
            assert min(off, default=9.0) < 0.05, (feature.feature_type, feature.id, point)


def test_steps_are_of_one_height(ways, walls):
    kinds = (FeatureType.STAIRCASE, FeatureType.ESCALATOR)
    stairs = [feature for feature in ways.features if feature.feature_type in kinds]
    for feature in stairs[::max(1, len(stairs) // 8)]:
        for start, end in zip(feature.points[:-1], feature.points[1:], strict=True):
            if abs(end[2] - start[2]) < 0.1:
                continue
            along = np.linspace(start, end, int(np.linalg.norm(end - start) / 0.03))
            heights = np.array([walls.below(point + UP) for point in along])
            risers = np.abs(np.diff(heights))
            risers = risers[risers > 0.02]
            assert len(risers) >= 4
            assert ((risers > 0.15) & (risers < 0.2)).all(), feature.id


def test_covered_ways_have_a_roof_and_others_have_none(ways, walls):
    share = {}
    for covered in (True, False):
        over = []
        for feature in ways.features:
            if feature.covered is covered and feature.enabled and feature.length > 14:
                # Canopies end at the corners of blocks.
                along = np.linspace(5.0, feature.length - 5.0, 6)
                points = [
                    [np.interp(at, feature.offsets, axis) for axis in feature.points.T]
                    for at in along
                ]
                over += [walls.above(np.array(point) + UP * 1.9) for point in points]
        share[covered] = np.mean(over)
    assert share[True] > 0.97
    assert share[False] < 0.35


def test_buildings_are_as_many_as_a_city_has(name):
    plan = PLANS[name]
    rng = np.random.default_rng([plan.seed, 1])
    assert 100 <= len(lots(StreetPlan(plan), rng)) <= 330


def test_places_are_many_and_have_doors_on_the_network(large, ways, walls):
    places = large.load_places()
    assert 40 <= len(places) <= 125
    assert len({place.type for place in places}) >= 25
    assert len({place.name for place in places}) == len(places)
    for place in places:
        assert place.name_tc
        entrance = entrance_of(large, place)
        assert ways.nearest(entrance[None]).distance[0] < 7.0, place
        assert walls.below(entrance + UP) == pytest.approx(entrance[2], abs=0.15), place


def test_together_they_have_every_type_of_place():
    found = {
        place.type for name in PLANS for place in Region.load(ensure_district(name)).load_places()
    }
    assert found == set(PLACE_TYPES)


def test_the_same_plan_gives_the_same_bytes(tmp_path):
    def digests(folder):
        return {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()
        }
    once, again = (ensure_district('wah_kiu', cache) for cache in (None, tmp_path))
    assert digests(once.parent) == digests(again.parent)


def test_the_seed_makes_a_difference(tmp_path):
    counts = [
        [lot.storeys for lot in lots(StreetPlan(PLANS['kam_tong']), np.random.default_rng(seed))]
        for seed in (1, 1, 2)
    ]
    assert counts[0] == counts[1] != counts[2]


def test_tiles_share_their_textures(large):
    files = {file.name for file in large.directory.glob('*.jpg')}
    tiles = list(large.directory.glob('fine_*.glb'))
    assert len(tiles) >= 20
    named = set()
    for tile in tiles:
        data = tile.read_bytes()
        size = int.from_bytes(data[12:16], 'little')
        named |= {image['uri'] for image in json.loads(data[20:20 + size])['images']}
    assert 'paving_1.jpg' in named
    assert named <= files


def test_a_plan_without_room_is_told():
    plan = PLANS['yuen_ling']
    with pytest.raises(DistrictError, match='cannot land'):
        StreetPlan(replace(plan, crossovers=(Crossover(5, 1),)))
    with pytest.raises(DistrictError, match='room for a block'):
        StreetPlan(replace(plan, north=(plan.north[0], replace(plan.north[1], at=-410.0))))
