# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The body in the large districts: the oracle walks a kilometre, and over every kind of way."""

import math

import numpy as np
import pytest

from urbanground_ros.agents import OracleAgent
from urbanground_ros.agents import play
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.districts import PLANS
from urbanground_ros.districts import resolve_region
from urbanground_ros.episode import RegionContext
from urbanground_ros.geo import FeatureType
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import open_region
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task

LARGE = [name for name in PLANS if name != DEFAULT_DISTRICT]
CLIMBS = (
    FeatureType.STAIRCASE, FeatureType.RAMP, FeatureType.FOOTBRIDGE, FeatureType.SUBWAY,
)


@pytest.fixture(scope='module', params=LARGE)
def city_region(request):
    return open_region(request.param)


@pytest.fixture(scope='module')
def walker(city_region):
    """Walk from one point to another as the oracle does; return the record."""
    name = city_region.name
    context = RegionContext.load(name, resolve_region(name))
    city = HeadlessCity(pictures=False, open_region=lambda _: city_region)

    def walk(start, goal):
        def geo(point):
            latitude, longitude, altitude = context.network.frame.to_geodetic(point)
            return GeoPoint(float(latitude), float(longitude), float(altitude))
        settings = Settings(context.name, context.digest, max_steps=1500, max_seconds=1500.0)
        length = context.network.route(start, goal).length
        task = Task('walk', Kind.SHORT_RANGE, 'Walk there.', Placement(geo(start), 0.0),
                    geo(goal), region=context.name, route_length=length)
        return play(city, context, task, OracleAgent(), settings), length

    walk.network = context.network
    walk.climbed = set()
    yield walk
    city.close()


def test_the_oracle_walks_a_kilometre(walker):
    network = walker.network
    nodes = np.array([network.graph.nodes[node]['position'] for node in network.graph])
    start = nodes[np.argmin(nodes[:, 0] + nodes[:, 1])]
    goal = nodes[np.argmax(nodes[:, 0] + nodes[:, 1])]
    record, length = walker(start, goal)
    assert length > 1000
    assert record['outcome'] == Outcome.SUCCEEDED
    # Nothing holds it back on the way.
    assert record['metrics']['path_length_sampled'] < 1.05 * length


def test_the_oracle_climbs_every_kind_of_way(walker):
    network = walker.network
    for kind in CLIMBS:
        of_kind = [feature for feature in network.features if feature.feature_type is kind]
        for feature in of_kind[::max(1, len(of_kind) // 3)]:
            # Stairs downwards: upwards an escalator beside them would do.
            down = kind is FeatureType.STAIRCASE and feature.points[-1][2] > feature.points[0][2]
            start, end = feature.points[[-1, 0] if down else [0, -1]]
            along = (end - start) * (1.0, 1.0, 0.0)
            # Some way beyond, so that the goal is more than its circle away.
            beyond = end + 15 * along / np.linalg.norm(along)
            goal = network.nearest(beyond[None]).point[0]
            walked = network.route(start, goal).features
            if not any(network.features[index].feature_type is kind for index in walked):
                continue
            record, length = walker(start, goal)
            where = kind, feature.id
            assert record['outcome'] == Outcome.SUCCEEDED, where
            assert record['metrics']['path_length_sampled'] < 1.1 * length + 3, where
            walker.climbed.add(kind)
        assert kind in walker.climbed or not of_kind


def test_the_body_climbs_each_of_them_both_ways(city_region, follow):
    world = city_region.solid(0.0, 0.0, math.inf)
    features = city_region.network.features
    by_kind = [
        [feature for feature in features if feature.feature_type is kind]
        for kind in (*CLIMBS, FeatureType.ESCALATOR)
    ]
    sampled = [f for of_kind in by_kind for f in of_kind[::max(1, len(of_kind) // 6)]]
    assert sampled
    for feature in sampled:
        lines = [feature.points, feature.points[::-1]] if feature.backward else [feature.points]
        for line in lines:
            body, _ = follow(world, line)
            off = np.array([*body.feet]) - line[-1]
            assert np.linalg.norm(off[:2]) < 0.15, feature
            assert abs(off[2]) < 0.1, feature
