# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""People on the network: apart from each other and the body, counted, the same twice."""

import numpy as np
import pytest

from urbanground_ros.city import Action
from urbanground_ros.city import EventKind
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim.people import AREA_RADIUS
from urbanground_ros.sim.people import Crowd
from urbanground_ros.sim.people import MOST_ASIDE
from urbanground_ros.sim.people import RADIUS
from urbanground_ros.sim.people import Ways
from urbanground_ros.sim.weather import MOST_PEDESTRIANS

PERIOD = 0.02
BODY_RADIUS = 0.3


def node(network, number):
    return np.array(network.graph.nodes[number]['position'])


def gaps(people):
    """Horizontal distances between people of one storey, (N, N)."""
    apart = people.positions[:, None] - people.positions[None]
    distance = np.hypot(apart[..., 0], apart[..., 1])
    distance[np.abs(apart[..., 2]) > 1.5] = np.inf
    np.fill_diagonal(distance, np.inf)
    return distance


def crowd_around(network, body, count=100, seed=3):
    return Crowd(Ways(network), count, seed, body, BODY_RADIUS, PERIOD)


@pytest.mark.parametrize('count', [1, 20, 100])
def test_nobody_walks_through_anybody_or_stands_about(region, count):
    network = region.network
    body = node(network, 0)
    crowd = crowd_around(network, body, count)
    begun = crowd.now()
    assert len(begun.ids) == count
    walking = []
    for _ in range(1500):
        before = crowd.now()
        crowd.tick(body)
        people = crowd.now()
        assert gaps(people).min() >= 2 * RADIUS
        assert not crowd.touching(body, 1.75)
        moved = np.hypot(*(people.positions - before.positions)[:, :2].T)
        assert np.all((moved <= 1.7 * PERIOD + 1e-9) | (moved > 10.0))
        walking.append(np.mean(np.hypot(*people.velocities[:, :2].T) > 0.3))
    assert np.mean(walking) > 0.9
    assert np.all(people.walked > 10.0)


def test_people_stay_on_the_ways_and_near_the_body(region):
    network = region.network
    body = node(network, 0)
    crowd = crowd_around(network, body)
    for step in range(2000):
        body[0] += 0.05 if step < 1000 else -0.05
        crowd.tick(body)
        if step % 50 == 0:
            people = crowd.now()
            found = network.nearest(people.positions)
            assert np.all(found.horizontal < MOST_ASIDE + 0.5)
            assert np.all(found.vertical < 0.5)
            far = np.hypot(*(people.positions - body)[:, :2].T)
            assert far.max() < 1.2 * AREA_RADIUS
    assert crowd.count == 100


def test_the_same_seed_walks_the_same_way(region):
    body = node(region.network, 0)
    one, two, other = (crowd_around(region.network, body, seed=seed) for seed in (3, 3, 4))
    for _ in range(500):
        one.tick(body)
        two.tick(body)
        other.tick(body)
    assert one.digest() == two.digest()
    assert one.digest() != other.digest()


@pytest.fixture(scope='module')
def city():
    return HeadlessCity(pictures=False)


def load(city, region, number=0, seed=5, **scene):
    latitude, longitude, altitude = region.network.frame.to_geodetic(node(region.network, number))
    return city.load(DEFAULT_DISTRICT, seed, Placement(GeoPoint(latitude, longitude, altitude)),
                     Scene(**scene))


def test_a_body_that_runs_into_people_is_held_and_counted_once_an_approach(city, region):
    state = load(city, region, pedestrians=300).state
    assert state.pedestrians_active
    assert state.pedestrian_count > 150
    contacts = []
    for _ in range(40):
        nearest = min(city._crowd.now().positions.tolist(),
                      key=lambda p: np.hypot(p[0] - state.body.x, p[1] - state.body.y))
        bearing = np.degrees(np.arctan2(nearest[0] - state.body.x, nearest[1] - state.body.y))
        city.act(Action('look', yaw=float((bearing - state.yaw + 180) % 360 - 180)))
        reply = city.act(Action('move', direction='forward', seconds=0.5))
        state = reply.state
        contacts += [e for e in reply.events if e.kind == EventKind.CONTACT_PEDESTRIAN]
        overlap = city._crowd.touching(
            np.array([state.body.x, state.body.y, state.body.z]), 1.75)
        # A wall may hold the body where somebody comes from the other side.
        assert set(overlap) <= city._met
    assert contacts
    assert state.pedestrian_collisions == len(contacts)


def test_people_are_gone_when_the_scene_has_none(city, region):
    load(city, region, pedestrians=30)
    reply = city.set_scene(Scene(pedestrians=0))
    assert (reply.state.pedestrian_count, reply.state.pedestrians_active) == (0, False)


def test_too_many_people_are_refused(city, region):
    with pytest.raises(Exception, match=f'pedestrians is 501, expected 0 to {MOST_PEDESTRIANS}'):
        load(city, region, pedestrians=MOST_PEDESTRIANS + 1)


def test_the_state_repeats_with_people_and_rain(region):
    hashes = []
    for _ in range(2):
        city = HeadlessCity(pictures=False)
        load(city, region, weather='rainy', pedestrians=40)
        for turn in range(20):
            city.act(Action('look', yaw=37.0 * turn % 360 - 180))
            city.act(Action('move', direction='forward', seconds=1.0))
        hashes.append(city.state_hash())
    assert hashes[0] == hashes[1]
    load(city, region, weather='rainy', pedestrians=41)
    assert city.state_hash() not in hashes
