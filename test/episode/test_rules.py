# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Episode rules on the real headless city: limits, endings, what an agent is told."""

from dataclasses import fields
from dataclasses import replace

import numpy as np
import pytest

from urbanground_ros.city import Action
from urbanground_ros.city import CityError
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.episode import check_drivable
from urbanground_ros.episode import Episode
from urbanground_ros.episode import Observation
from urbanground_ros.episode import RecorderSink
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.tasks import Condition
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import TaskError
from urbanground_ros.tasks import with_condition


@pytest.fixture(scope='module')
def city():
    city = HeadlessCity(pictures=False)
    yield city
    city.close()


def place(region, point):
    return GeoPoint(*(float(v) for v in region.network.frame.to_geodetic(np.asarray(point))))


@pytest.fixture
def task(region):
    """A goal 40 m along a straight footway, the start looking at it."""
    feature = max(region.network.features, key=lambda f: np.linalg.norm(f.points[1] - f.points[0]))
    a, b = feature.points[:2]
    towards = (b - a) / np.linalg.norm(b - a)
    yaw = float(np.degrees(np.arctan2(towards[0], towards[1])))
    length = min(40.0, float(np.linalg.norm(b - a)))
    return Task('SN9', Kind.SHORT_RANGE, 'Walk.', Placement(place(region, a), yaw),
                place(region, a + towards * length))


def begin(city, region, task, **limits):
    sink = RecorderSink(region)
    settings = Settings(region=region.name, region_digest=region.digest, **limits)
    episode = Episode(city, region, task, 'tester', 'vision', settings, sink, want_image=False)
    return episode, sink, episode.begin()


def test_arrival_ends_the_episode(city, region, task):
    episode, sink, observation = begin(city, region, task)
    assert (observation.step, observation.steps_left, observation.finished) == (0, 100, False)
    while not observation.finished:
        observation = episode.act(Action('sprint', direction='forward', seconds=1.0))
    assert episode.outcome is sink.outcome is Outcome.SUCCEEDED
    assert sink.recorder.metrics(sink.outcome)['arrived'] == 1.0
    with pytest.raises(RuntimeError):
        episode.act(Action('jump'))


def test_terminate_before_arrival_fails(city, region, task):
    episode, sink, _ = begin(city, region, task)
    observation = episode.act(Action('terminate'))
    assert observation.finished
    assert episode.outcome is Outcome.FAILED
    assert len(sink.recorder.steps) == 1
    assert sink.recorder.steps[0].seconds == 0.0


def test_step_limit_truncates(city, region, task):
    episode, _, _ = begin(city, region, task, max_steps=3)
    for left in (2, 1, 0):
        observation = episode.act(Action('look', yaw=90.0))
        assert observation.steps_left == left
    assert observation.finished
    assert episode.outcome is Outcome.TRUNCATED


@pytest.mark.parametrize('action', [
    Action('fly'), Action('move', direction='up', seconds=1.0),
    Action('move', direction='forward', seconds=9.0), Action('map_zoom', factor=2.0),
    Action('look', yaw=float('nan'))])
def test_refused_actions_cost_a_step_and_no_time(city, region, task, action):
    episode, sink, _ = begin(city, region, task)
    before = episode.state
    observation = episode.act(action)
    assert observation.step == 1
    assert observation.message
    assert episode.state.body == before.body
    assert sink.recorder.steps[0].seconds == 0.0


def test_modes(city, region, task):
    episode, _, _ = begin(city, region, task)
    assert episode.act(Action('open_map')).mode == 'map'
    assert episode.act(Action('move', direction='forward', seconds=1.0)).mode == 'map'
    assert episode.act(Action('close_map')).mode == 'first_person'


@pytest.mark.parametrize('meddle', [
    lambda city, region, task: city.place(Placement(task.goal, 0.0)),
    lambda city, region, task: city.act(Action('sprint', direction='forward', seconds=2.0)),
    lambda city, region, task: city.step(4.0, 0.0, 0.0, 5.0),
    lambda city, region, task: city.load(region.name, 0, Placement(task.goal), Scene()),
], ids=['place', 'act', 'step', 'load'])
@pytest.mark.parametrize('steps', [0, 3])
def test_who_moves_the_body_past_the_rules_has_violated_them(city, region, task, meddle, steps):
    episode, sink, _ = begin(city, region, task)
    for _ in range(steps):
        episode.act(Action('look', yaw=5.0))
    meddle(city, region, task)
    episode.act(Action('look', yaw=1.0))
    assert episode.outcome is sink.outcome is Outcome.VIOLATED
    assert 'moved by another' in episode.reason


def test_driving_is_limited_in_simulated_time(city, region, task):
    episode, sink, _ = begin(city, region, task, max_seconds=0.5)
    while not episode.finished:
        episode.drive(0.0, 0.0, 1.0, 0.1)
    assert episode.outcome is Outcome.TRUNCATED
    assert sink.recorder.metrics()['duration'] == pytest.approx(0.5)


def test_a_city_that_fails_ends_the_episode_as_such(city, region, task):
    episode, sink, _ = begin(city, region, task)

    def fail(*_, **__):
        raise CityError('it went away')
    city.act, act = fail, city.act
    try:
        with pytest.raises(CityError):
            episode.act(Action('jump'))
    finally:
        city.act = act
    assert episode.outcome is sink.outcome is Outcome.CITY_ERROR


@pytest.mark.parametrize('kind', Kind)
def test_a_stack_is_given_only_tasks_that_lead_to_a_known_place(task, kind):
    if kind.prefix in {'SN', 'LN', 'IN', 'CN', 'DCR', 'PL', 'PD'}:
        check_drivable(replace(task, kind=kind))
        return
    with pytest.raises(TaskError, match=f'task SN9: kind is {kind.label}, expected one that '
                       'gives a navigation stack a place to go to'):
        check_drivable(replace(task, kind=kind))


def test_the_world_is_in_the_condition_of_the_task(city, region, task):
    state = begin(city, region, with_condition(task, Condition.NIGHT))[0].state
    assert state.time_of_day == 23.5 * 3600
    assert begin(city, region, with_condition(task, Condition.RAINY))[0].state.is_raining


def test_an_agent_is_told_no_pose_distance_or_route():
    names = {f.name for f in fields(Observation)}
    assert names == {'episode', 'step', 'steps_left', 'mode', 'message', 'notices', 'clock',
                     'progress', 'asking', 'finished', 'picture'}


def test_no_message_of_the_city_tells_where_the_body_is(city, region, task):
    episode, _, _ = begin(city, region, task)
    messages = [episode.act(action).message for action in (
        Action('move', direction='forward', seconds=0.5), Action('look', yaw=10.0),
        Action('jump'), Action('open_map'), Action('map_pan', east=10.0),
        Action('map_select', x=0.5, y=0.5), Action('map_zoom', factor=0.5),
        Action('map_orbit', yaw=5.0, pitch=5.0), Action('close_map'))]
    body = episode.state.body
    for number in (body.x, body.y, body.z, episode.state.latitude, episode.state.longitude):
        assert not any(f'{number:.1f}' in message for message in messages), messages
