# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Nearest places and tolerance tests: levels kept apart, exact against brute force."""

from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import ThreadPoolExecutor
import multiprocessing
import pickle

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
import pytest

from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import NetworkError
from urbanground_ros.geo import PedestrianNetwork

BRIDGE_HEIGHT = 6.0


@pytest.fixture(scope='module')
def crossing_levels(network_of):
    """A street along x, a footbridge over it along y, stairs and a lift that join them."""
    return network_of(
        [(-50, 0, 0), (50, 0, 0)],
        ([(0, -20, BRIDGE_HEIGHT), (0, 20, BRIDGE_HEIGHT)],
         {'feature_type': FeatureType.FOOTBRIDGE}),
        ([(12, 20, 0), (0, 20, BRIDGE_HEIGHT)], {'feature_type': FeatureType.STAIRCASE}),
        ([(0, -20, 0), (0, -20, BRIDGE_HEIGHT)], {'feature_type': FeatureType.LIFT}),
    )


def segment_distances(network, point):
    """Distance in space from a point to every segment, written the plain way."""
    distances = []
    for start, end in zip(network.segment_starts, network.segment_ends, strict=True):
        along = end - start
        t = np.dot(point - start, along) / max(np.dot(along, along), 1e-300)
        distances.append(np.linalg.norm(start + min(max(t, 0), 1) * along - point))
    return np.array(distances)


def sampled_on_network(network, point, horizontal, vertical):
    """Whether some sample of some segment is within both tolerances."""
    t = np.linspace(0, 1, 2001)[:, None, None]
    places = network.segment_starts + t * (network.segment_ends - network.segment_starts)
    offset = np.abs(places - point)
    return bool(((np.hypot(offset[..., 0], offset[..., 1]) <= horizontal)
                 & (offset[..., 2] <= vertical)).any())


def random_lines(seed, count=120):
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        steps = random.normal(0, 15, (random.integers(2, 6), 3)) * (1, 1, 0.2)
        lines.append(random.uniform(-100, 100, 3) * (1, 1, 0.1) + np.cumsum(steps, axis=0))
    return lines


def test_a_bridge_is_not_the_street_below_it(crossing_levels):
    found = crossing_levels.nearest([(0.5, 0, 0.2), (0.5, 0, 5.5), (0.5, 0, 2.9), (0.5, 0, 3.2)])
    assert found.feature.tolist() == [0, 1, 0, 1]
    assert found.point.tolist() == [[0.5, 0, 0], [0, 0, 6], [0.5, 0, 0], [0, 0, 6]]
    assert found.horizontal == pytest.approx([0, 0.5, 0, 0.5])
    assert found.vertical == pytest.approx([0.2, -0.5, 2.9, -2.8])
    assert found.distance == pytest.approx(np.hypot(found.horizontal, found.vertical))
    assert found.along == pytest.approx([50.5, 20, 50.5, 20])


@pytest.mark.parametrize(('point', 'expected'), [
    ((0, 0, 0), True),
    ((0, 0, BRIDGE_HEIGHT), True),
    ((0, 0, 3), False),
    ((0, 0, 2), True),
    ((0, 0, 4), True),
    ((0, 10, 0), False),
    ((0, 10, BRIDGE_HEIGHT), True),
    ((20, 3, 0), True),
    ((20, 3.01, 0), False),
    ((20, 0, -2), True),
    ((20, 0, -2.01), False),
    ((53, 0, 0), True),
    ((53.01, 0, 0), False),
    # Half-way up the stairs, and too high above them though 3 m on they are high enough.
    ((6, 20, 3), True),
    ((6, 20, 3 + 2 + 3 * 0.5), True),
    ((6, 20, 3 + 2 + 3 * 0.5 + 0.01), False),
    # In the lift shaft between the levels, and beside it.
    ((0, -20, 3), True),
    ((3, -20, 3), True),
    ((3.01, -20, 3), False),
    ((0, -20, -2.01), False),
])
def test_both_tolerances_must_hold_at_one_place(crossing_levels, point, expected):
    assert crossing_levels.on_network([point]).tolist() == [expected]


def test_tolerances_are_parameters(crossing_levels):
    point = [(20, 5, 4)]
    assert not crossing_levels.on_network(point)
    assert crossing_levels.on_network(point, horizontal_tolerance=5, vertical_tolerance=4)
    assert crossing_levels.on_network([(20, 0, 0)], 0, 0)
    assert not crossing_levels.on_network([(20, 1e-6, 0)], 0, 0)
    for wrong in ((-1, 1), (1, float('nan'))):
        with pytest.raises(NetworkError, match='expected metres, zero or more'):
            crossing_levels.on_network(point, *wrong)


@pytest.mark.parametrize('seed', range(3))
def test_nearest_is_that_of_brute_force(network_of, seed):
    network = network_of(*random_lines(seed))
    points = np.random.default_rng(seed + 100).uniform(-150, 150, (700, 3)) * (1, 1, 0.5)
    found = network.nearest(points)
    for i, point in enumerate(points):
        distances = segment_distances(network, point)
        assert found.distance[i] == pytest.approx(distances.min(), abs=1e-9)
        assert found.feature[i] == network.segment_features[distances.argmin()]
    offset = points - found.point
    assert np.allclose(np.linalg.norm(offset, axis=1), found.distance, atol=1e-9)
    assert np.array_equal(offset[:, 2], found.vertical)
    for feature, along, point in zip(found.feature, found.along, found.point, strict=True):
        line = network.features[feature]
        assert line.cut(along, along)[0] == pytest.approx(point, abs=1e-9)


@settings(deadline=None)
@given(st.lists(
    st.lists(st.tuples(*[st.integers(-6, 6)] * 3), min_size=2, max_size=4, unique=True),
    min_size=1, max_size=8), st.tuples(*[st.floats(-8, 8)] * 3))
def test_nearest_holds_on_small_lattices(network_of, lines, point):
    network = network_of(*lines)
    found = network.nearest([point])
    distances = segment_distances(network, np.array(point))
    assert found.distance[0] == pytest.approx(distances.min(), abs=1e-9)
    ties = network.segment_features[distances <= distances.min() + 1e-9]
    assert found.feature[0] in ties


@pytest.mark.parametrize('seed', range(2))
def test_tolerances_are_those_of_dense_sampling(network_of, seed):
    network = network_of(*random_lines(seed, 25))
    points = np.random.default_rng(seed).uniform(-120, 120, (300, 3)) * (1, 1, 0.15)
    found = network.on_network(points, 6.0, 3.0)
    assert 0 < found.sum() < len(points)
    for point, on in zip(points, found, strict=True):
        # The samples lie up to a few centimetres apart.
        if on:
            assert sampled_on_network(network, point, 6.05, 3.05)
        else:
            assert not sampled_on_network(network, point, 6.0, 3.0)


def test_far_and_high_points_find_the_network_too(crossing_levels):
    found = crossing_levels.nearest([(1e5, 0, 0), (0, 0, 1e4), (-20, 0, -1e4)])
    assert found.feature.tolist() == [0, 1, 0]
    assert found.distance == pytest.approx([1e5 - 50, 1e4 - 6, 1e4])


def test_of_equally_near_features_the_first_counts(network_of):
    network = network_of([(0, 0, 0), (10, 0, 0)], [(0, 0, 0), (0, 10, 0)], [(10, 0, 0), (0, 0, 0)])
    assert network.nearest([(-1, -1, 0), (3, 3, 0), (5, 0, 0)]).feature.tolist() == [0, 0, 0]


def test_no_points_are_no_error(crossing_levels):
    found = crossing_levels.nearest(np.empty((0, 3)))
    assert [len(column) for column in found] == [0] * 6
    assert crossing_levels.on_network(np.empty((0, 3))).shape == (0,)


@pytest.mark.parametrize(('points', 'text'), [
    ((1, 2, 3), r'shape \(3,\), expected \(N, 3\)'),
    ([(1, 2)], r'shape \(1, 2\), expected \(N, 3\)'),
    ([(1, 2, 3), (1, 2, float('nan'))], r'point 1 is \[1.0, 2.0, nan\]'),
    ([(float('inf'), 2, 3)], r'point 0 is \[inf'),
])
def test_points_must_be_points(crossing_levels, points, text):
    for query in (crossing_levels.nearest, crossing_levels.on_network):
        with pytest.raises(NetworkError, match=text):
            query(points)


def _answers(network, points):
    return b''.join(column.tobytes() for column in network.nearest(points)) + (
        network.on_network(points).tobytes())


def test_threads_forks_batches_and_copies_answer_alike(network_of):
    network = network_of(*random_lines(9))
    points = np.random.default_rng(9).uniform(-150, 150, (1000, 3)) * (1, 1, 0.2)
    expected = _answers(network, points)
    assert _answers(pickle.loads(pickle.dumps(network)), points) == expected
    alone = [network.nearest(point[None]) for point in points]
    assert np.concatenate([a.point for a in alone]).tobytes() == (
        network.nearest(points).point.tobytes())
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(_answers, [network] * 8, [points] * 8)) == {expected}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('fork')) as pool:
        assert set(pool.map(_answers, [network] * 2, [points] * 2)) == {expected}


def test_every_real_vertex_is_on_its_own_network(samples, frame):
    network = PedestrianNetwork.load(samples, frame)
    vertices = np.concatenate([feature.points for feature in network.features])
    assert network.nearest(vertices).distance.max() < 1e-9
    assert network.on_network(vertices + np.array([0, 0, 1.9])).all()
    assert not network.on_network(vertices + np.array([0, 0, 60])).any()
