# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The body on the built-in district: its network is walkable from end to end."""

import math
import socket

import pytest

from urbanground_ros.city import CityError
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.districts import resolve_region
from urbanground_ros.geo import FeatureType
from urbanground_ros.sim import draw_overview
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import open_region
from urbanground_ros.sim import SimError
from urbanground_ros.sim.parameters import PARAMETERS
from urbanground_ros.sim.serve import run_city


@pytest.fixture(scope='module')
def region():
    return open_region(DEFAULT_DISTRICT)


@pytest.fixture(scope='module')
def world(region):
    return region.solid(0.0, 0.0, math.inf)


def test_every_feature_of_the_network_can_be_walked(region, world, follow):
    features = region.network.features
    special = [f for f in features if f.feature_type in (FeatureType.STAIRCASE,
                                                         FeatureType.FOOTBRIDGE)]
    assert special
    for feature in [*special, *features[::4]]:
        for points in (feature.points, feature.points[::-1]):
            body, held = follow(world, points)
            x, y, z = body.feet
            assert math.hypot(x - points[-1][0], y - points[-1][1]) < 0.2, feature.id
            assert abs(z - points[-1][2]) < 0.5, feature.id
            assert held == 0, feature.id


def test_the_city_tells_the_surface(region):
    city = HeadlessCity(pictures=False)
    for feature in region.network.features[::20]:
        middle = feature.cut(feature.length / 2 - 0.1, feature.length / 2 + 0.1)[0]
        place = Placement(GeoPoint(*region.frame.to_geodetic(middle)))
        state = city.load(DEFAULT_DISTRICT, 0, place, Scene()).state
        assert state.on_sidewalk
        kind = feature.feature_type.name.replace('_', ' ').capitalize()
        assert state.surface.startswith(kind)
        assert state.surface.endswith(feature.street)
        assert state.body.z == pytest.approx(middle[2], abs=0.3)


def test_loading_the_same_region_again_reads_nothing(region):
    read = []

    def open_once(name):
        read.append(name)
        return region

    city = HeadlessCity(pictures=False, open_region=open_once)
    start = region.network.features[0].points[0]
    place = Placement(GeoPoint(*region.frame.to_geodetic(start)))
    first = city.load(DEFAULT_DISTRICT, 0, place, Scene()).state
    again = city.load(DEFAULT_DISTRICT, 0, place, Scene()).state
    assert read == [DEFAULT_DISTRICT]
    assert first.body[1:] == again.body[1:]


def test_an_unknown_region_is_a_city_error():
    city = HeadlessCity(pictures=False)
    with pytest.raises(CityError, match='atlantis'):
        city.load('atlantis', 0, Placement(GeoPoint(22.3, 114.17)), Scene())


def test_the_overview_has_the_extent_that_was_asked_for(region):
    picture = draw_overview(resolve_region(DEFAULT_DISTRICT), (-100.0, -50.0, 100.0, 50.0), 200)
    if picture is None:
        pytest.skip('no renderer works here')
    assert picture.shape == (100, 200, 3)
    assert picture.std() > 10


def test_the_process_loads_its_region_and_ends_without_a_bridge():
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
    values = {p.name: p.default for p in PARAMETERS}
    values.update(port=port, connect_timeout=0.1, region=DEFAULT_DISTRICT, pictures=False)
    with pytest.raises(SimError, match=f'no bridge at 127.0.0.1:{port}'):
        run_city(**values)
