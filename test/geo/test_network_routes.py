# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The graph of the network and the ways over it."""

import math

import networkx
import numpy as np
import pytest

from urbanground_ros.geo import Direction
from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import JOIN_TOLERANCE
from urbanground_ros.geo import NetworkError
from urbanground_ros.geo import NoRouteError
from urbanground_ros.geo import PedestrianNetwork

FORWARD = {'direction': Direction.ONE_WAY_FORWARD, 'feature_type': FeatureType.ESCALATOR}
BACKWARD = {'direction': Direction.ONE_WAY_BACKWARD, 'feature_type': FeatureType.ESCALATOR}


@pytest.fixture(scope='module')
def square(network_of):
    """The sides of a square of 10 m, and a way out of one corner."""
    return network_of(
        [(0, 0, 0), (10, 0, 0)], [(10, 0, 0), (10, 10, 0)], [(10, 10, 0), (0, 10, 0)],
        [(0, 10, 0), (0, 0, 0)], [(10, 10, 0), (20, 10, 0)])


def grid_network(network_of, size, seed):
    """A lattice with some ways missing, some one-way, and hills."""
    random = np.random.default_rng(seed)
    height = random.uniform(0, 5, (size, size))
    lines = []
    for i in range(size):
        for j in range(size):
            for k, m in ((i + 1, j), (i, j + 1)):
                if k < size and m < size and random.random() < 0.85:
                    line = [(10 * i, 10 * j, height[i, j]), (10 * k, 10 * m, height[k, m])]
                    one_way = random.random() < 0.2
                    lines.append((line, FORWARD) if one_way else line)
    return network_of(*lines)


def walked(route):
    return np.linalg.norm(np.diff(route.points, axis=0), axis=1).sum()


def test_ends_join_in_space_and_not_in_plan(network_of):
    below, above = [(0, 0, 0), (10, 0, 0)], [(10, 0, 5), (20, 0, 5)]
    assert len(network_of(below, above).components()) == 2
    assert network_of(below, above).graph.number_of_nodes() == 4
    joined = network_of(below, above, [(10, 0, 0), (10, 0, 5)])
    assert joined.graph.number_of_nodes() == 4
    assert len(joined.components()) == 1


@pytest.mark.parametrize(('gap', 'nodes'), [
    (0.0, 3), (JOIN_TOLERANCE / 2, 3), (JOIN_TOLERANCE * 2, 4)])
@pytest.mark.parametrize('axis', range(3))
def test_ends_join_within_a_millimetre_wherever_they_lie(network_of, gap, nodes, axis):
    for corner in (0.0, 0.0005, 123.45649999):
        end = np.full(3, corner)
        start = end + gap * np.eye(3)[axis]
        network = network_of([(-9, 0, 0), end], [start, (9, 9, 9)])
        assert network.graph.number_of_nodes() == nodes


def test_lines_that_cross_between_their_ends_do_not_join(network_of):
    network = network_of([(-5, 0, 0), (5, 0, 0)], [(0, -5, 0), (0, 5, 0)])
    assert len(network.components()) == 2


def test_the_graph_has_an_edge_for_each_direction(network_of):
    network = network_of(
        [(0, 0, 0), (3, 0, 4)], ([(3, 0, 4), (3, 5, 4)], FORWARD),
        ([(3, 5, 4), (0, 5, 4)], BACKWARD))
    assert [network.graph.nodes[n]['position'].tolist() for n in network.graph] == [
        [0, 0, 0], [3, 0, 4], [3, 5, 4], [0, 5, 4]]
    edges = [(u, v, key, d['feature'], d['length'])
             for u, v, key, d in network.graph.edges(keys=True, data=True)]
    assert sorted(edges) == [
        (0, 1, 0, 0, 5.0), (1, 0, 0, 0, 5.0), (1, 2, 1, 1, 5.0), (3, 2, 2, 2, 3.0)]
    assert isinstance(network.graph, networkx.MultiDiGraph)


def test_a_route_runs_from_projection_to_projection(square):
    route = square.route((2, -1, 0), (17, 12, 1))
    assert route.points.tolist() == [
        [2, 0, 0], [10, 0, 0], [10, 10, 0], [17, 10, 0]]
    assert route.length == pytest.approx(25)
    assert route.features == (0, 1, 4)


def test_ties_are_decided_the_same_way_every_time(square):
    routes = [square.route((0, 0, 0), (10, 10, 0)) for _ in range(3)]
    assert {route.features for route in routes} == {(0, 1)}
    assert routes[0].length == pytest.approx(20)


def test_a_closure_is_walked_around(square):
    route = square.route((2, -1, 0), (17, 12, 1), closed=[1])
    assert route.features == (0, 3, 2, 4)
    assert route.length == pytest.approx(2 + 10 + 10 + 7)
    with pytest.raises(NoRouteError, match=r'from \[2, -1, 0\] \(on feature 1000\)'):
        square.route((2, -1, 0), (17, 12, 1), closed=[1, 2])


def test_a_closed_feature_is_nobodys_nearest_place(square):
    route = square.route((5, 0, 0), (20, 10, 0), closed=(0,))
    assert route.points[0].tolist() != [5, 0, 0]
    assert 0 not in route.features
    with pytest.raises(NetworkError, match='every feature of the network is closed'):
        square.route((5, 0, 0), (20, 10, 0), closed=range(5))
    for wrong in (5, -1):
        with pytest.raises(NetworkError, match=f'closed feature {wrong} does not exist'):
            square.route((5, 0, 0), (20, 10, 0), closed=[wrong])


@pytest.mark.parametrize(('start', 'goal', 'points'), [
    ((2, 0, 0), (7, 0, 0), [[2, 0, 0], [7, 0, 0]]),
    ((7, 0, 0), (2, 0, 0), [[7, 0, 0], [2, 0, 0]]),
    ((7, 0, 0), (7, 0, 0), [[7, 0, 0], [7, 0, 0]]),
])
def test_start_and_goal_on_one_edge(square, start, goal, points):
    route = square.route(start, goal)
    assert route.points.tolist() == points
    assert route.length == abs(start[0] - goal[0])
    assert route.features == (0,)


def test_the_way_round_counts_where_the_shared_edge_is_longer(network_of):
    network = network_of(
        [(0, 0, 0), (0, 50, 0), (10, 50, 0), (10, 0, 0)], [(0, 0, 0), (10, 0, 0)])
    route = network.route((0, 1, 0), (10, 1, 0))
    assert route.features == (0, 1, 0)
    assert route.length == pytest.approx(12)
    assert network.route((0, 49, 0), (10, 49, 0)).length == pytest.approx(12)
    assert network.route((0, 49, 0), (10, 49, 0)).features == (0,)


def test_an_escalator_is_ridden_one_way(network_of):
    up = ([(0, 0, 0), (10, 0, 5)], FORWARD)
    stairs = [(0, 0, 0), (0, 30, 0), (10, 30, 5), (10, 0, 5)]
    network = network_of(up, stairs, [(-10, 0, 0), (0, 0, 0)], [(10, 0, 5), (20, 0, 5)])
    assert network.route((-10, 0, 0), (20, 0, 5)).features == (2, 0, 3)
    assert network.route((20, 0, 5), (-10, 0, 0)).features == (3, 1, 2)
    # Along it and against it, from one place on it to another.
    middle, higher = (4, 0, 2), (6, 0, 3)
    assert network.route(middle, higher).features == (0,)
    back = network.route(higher, middle)
    assert back.features == (0, 1, 0)
    assert back.length == pytest.approx(network.features[0].length
                                        + network.features[1].length - math.dist(middle, higher))
    reverse = network_of(([(0, 0, 0), (10, 0, 5)], BACKWARD), stairs)
    assert reverse.route(higher, middle).features == (0,)
    assert reverse.route(middle, higher).features == (0, 1, 0)


def test_the_foot_of_an_escalator_is_left_freely(network_of):
    network = network_of(([(0, 0, 0), (10, 0, 5)], FORWARD), [(0, 0, 0), (-10, 0, 0)])
    assert network.route((0, 0, 0), (-10, 0, 0)).features == (1,)
    with pytest.raises(NoRouteError):
        network.route((1, 0, 0.5), (-10, 0, 0))
    assert len(network.components()) == 2


def test_a_ring_is_walked_the_short_way_round(network_of):
    ring = [(0, 0, 0), (20, 0, 0), (20, 20, 0), (0, 20, 0), (0, 0, 0)]
    network = network_of(ring, [(0, 0, 0), (-10, 0, 0)])
    assert network.route((0, 5, 0), (-10, 0, 0)).length == pytest.approx(15)
    assert network.route((5, 0, 0), (-10, 0, 0)).length == pytest.approx(15)
    assert network.route((-10, 0, 0), (0, 5, 0)).points.tolist() == [
        [-10, 0, 0], [0, 0, 0], [0, 5, 0]]
    assert network.route((5, 0, 0), (0, 5, 0)).length == pytest.approx(10)
    one_way = network_of((ring, FORWARD), [(0, 0, 0), (-10, 0, 0)])
    assert one_way.route((5, 0, 0), (-10, 0, 0)).length == pytest.approx(85)
    assert one_way.route((-10, 0, 0), (0, 5, 0)).length == pytest.approx(85)
    assert one_way.route((0, 5, 0), (5, 0, 0)).length == pytest.approx(10)


def test_levels_are_reached_by_their_stairs(network_of):
    network = network_of(
        [(-30, 0, 0), (0, 0, 0)], [(0, 0, 0), (30, 0, 0)], [(0, -30, 6), (0, 30, 6)],
        [(0, 0, 0), (0, 30, 6)])
    route = network.route((10, 0, 0), (0, 0, 6))
    assert route.features == (1, 3, 2)
    assert route.length == pytest.approx(10 + math.hypot(30, 6) + 30)


@pytest.mark.parametrize('seed', range(4))
def test_routes_are_as_short_as_those_of_networkx(network_of, seed):
    network = grid_network(network_of, 8, seed)
    random = np.random.default_rng(seed)
    found = 0
    for _ in range(25):
        start, goal = random.integers(0, len(network.graph), 2)
        a, b = (network.graph.nodes[int(n)]['position'] for n in (start, goal))
        try:
            expected = networkx.dijkstra_path_length(
                network.graph, int(start), int(goal), weight='length')
        except networkx.NetworkXNoPath:
            with pytest.raises(NoRouteError):
                network.route(a, b)
            continue
        route = network.route(a, b)
        found += 1
        assert route.length == pytest.approx(expected, abs=1e-9)
        assert walked(route) == pytest.approx(route.length, abs=1e-9)
        assert network.distances(a)[goal] == pytest.approx(expected, abs=1e-9)
        assert network.on_network(route.points, 1e-3, 1e-3).all()
    assert found > 10


def oracle_length(network, start, goal, closed):
    """Length of the shortest way with both places put into the graph as nodes."""
    graph = network.graph.copy()
    graph.remove_edges_from([e for e in network.graph.edges(keys=True) if e[2] in closed])
    ends = {}
    for u, v, index in network.graph.edges(keys=True):
        ahead = np.array_equal(network.graph.nodes[u]['position'],
                               network.features[index].points[0])
        ends[index] = (u, v) if ahead else (v, u)
    open_ones = network.__class__(
        [f for i, f in enumerate(network.features) if i not in closed], network.frame)
    kept = [i for i in range(len(network.features)) if i not in closed]
    places = []
    for name, point in (('start', start), ('goal', goal)):
        found = open_ones.nearest([point])
        index, along = kept[found.feature[0]], found.along[0]
        feature = network.features[index]
        places.append((name, index, along))
        for node, distance, outward, inward in (
                (ends[index][0], along, feature.backward, feature.forward),
                (ends[index][1], feature.length - along, feature.forward, feature.backward)):
            if outward or distance < JOIN_TOLERANCE:
                graph.add_edge(name, node, length=distance)
            if inward or distance < JOIN_TOLERANCE:
                graph.add_edge(node, name, length=distance)
    (_, first, a), (_, second, b) = places
    if first == second and (network.features[first].forward if a <= b
                            else network.features[first].backward):
        graph.add_edge('start', 'goal', length=abs(a - b))
    return networkx.dijkstra_path_length(graph, 'start', 'goal', weight='length')


@pytest.mark.parametrize('seed', range(4))
def test_routes_between_places_on_edges_keep_the_rules(network_of, seed):
    network = grid_network(network_of, 6, seed)
    random = np.random.default_rng(seed)
    found = 0
    for _ in range(50):
        closed = frozenset(random.choice(len(network.features), 4, replace=False).tolist())
        start, goal = random.uniform(0, 50, (2, 3)) * (1, 1, 0.1)
        try:
            expected = oracle_length(network, start, goal, closed)
        except networkx.NetworkXNoPath:
            with pytest.raises(NoRouteError):
                network.route(start, goal, closed)
            continue
        found += 1
        route = network.route(start, goal, closed)
        assert route.length == pytest.approx(expected, abs=1e-9)
        assert walked(route) == pytest.approx(expected, abs=1e-9)
        assert not closed & set(route.features)
        middles = (route.points[1:] + route.points[:-1]) / 2
        assert network.nearest(middles).distance.max() < 1e-9
    assert found > 20


def test_distances_are_infinite_where_no_way_leads(network_of):
    network = network_of([(0, 0, 0), (10, 0, 0)], [(0, 50, 0), (10, 50, 0)])
    assert network.distances((4, 1, 0)).tolist() == [4, 6, math.inf, math.inf]
    assert network.distances((4, 1, 0), closed=[0]).tolist() == [math.inf, math.inf, 4, 6]


def test_components_are_listed_from_the_largest(network_of):
    network = network_of(
        [(0, 50, 0), (10, 50, 0)], [(0, 0, 0), (10, 0, 0)], [(10, 0, 0), (20, 0, 0)])
    assert network.components() == [frozenset({2, 3, 4}), frozenset({0, 1})]


def test_lines_are_sorted_by_type(network_of):
    network = network_of(([(0, 0, 0), (1, 0, 1)], FORWARD), [(0, 0, 0), (5, 0, 0)])
    lines = network.lines()
    assert list(lines) == [FeatureType.FOOTWAY, FeatureType.ESCALATOR]
    assert [points.tolist() for points in lines[FeatureType.FOOTWAY]] == [[[0, 0, 0], [5, 0, 0]]]


def test_slope_and_length_are_those_of_the_geometry(network_of):
    network = network_of([(0, 0, 0), (3, 4, 1), (3, 4, 1), (6, 8, 0)], [(0, 0, 0), (0, 0, 8)])
    up_and_down, lift = network.features
    assert up_and_down.length == pytest.approx(2 * math.sqrt(26))
    assert up_and_down.gradient == pytest.approx(0.2)
    assert lift.length == 8
    assert lift.gradient == math.inf


def test_real_features_that_share_an_end_are_joined(samples, frame):
    network = PedestrianNetwork.load(samples, frame)
    ids = [feature.id for feature in network.features]
    tong_ming, stub = ids.index(140004627), ids.index(290023394)
    route = network.route(network.features[tong_ming].points[-1], network.features[stub].points[0])
    assert route.features == (tong_ming, stub)
    assert route.length == pytest.approx(
        network.features[tong_ming].length + network.features[stub].length, abs=1e-9)


@pytest.mark.parametrize(('start', 'text'), [
    ((0, 0), r'shape \(1, 2\)'), ((0, 0, math.nan), 'expected finite'),
    ([(0, 0, 0), (1, 1, 1)], r'shape \(1, 2, 3\)'),
])
def test_a_start_must_be_one_point(square, start, text):
    with pytest.raises(NetworkError, match=text):
        square.route(start, (0, 0, 0))
    with pytest.raises(NetworkError, match=text):
        square.distances(start)
