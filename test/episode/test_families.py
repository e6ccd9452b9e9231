# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The rules of each family of tasks, on the real headless city."""

from dataclasses import replace
import math

import numpy as np
import pytest

from urbanground_ros.city import Action
from urbanground_ros.city import ActionError
from urbanground_ros.city import EventKind
from urbanground_ros.city import GeoLine
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.episode import Episode
from urbanground_ros.episode import RecorderSink
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.tasks import Condition
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Stop
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import TaskError
from urbanground_ros.tasks import with_condition
from urbanground_ros.tasks import with_dynamic_closure

OPTIONS = ('a bakery', 'a bank', 'a bar', 'a clinic')
FORWARD = Action('move', direction='forward', seconds=2.0)


@pytest.fixture(scope='module')
def city():
    city = HeadlessCity(pictures=False)
    yield city
    city.close()


class Way:
    """The longest straight piece of footway, by metres from its start."""

    def __init__(self, region):
        feature = max(region.network.features,
                      key=lambda f: np.linalg.norm(f.points[1] - f.points[0]))
        self.begin, end = feature.points[:2]
        self.length = float(np.linalg.norm(end - self.begin))
        self.ahead = (end - self.begin) / self.length
        self._frame = region.network.frame

    def at(self, metres, left=0.0):
        side = np.array([-self.ahead[1], self.ahead[0], 0.0])
        return GeoPoint(*map(float, self._frame.to_geodetic(
            self.begin + metres * self.ahead + left * side)))

    def start(self, metres=0.0, turn=0.0):
        return Placement(self.at(metres),
                         math.degrees(math.atan2(self.ahead[0], self.ahead[1])) + turn)

    def gate(self, metres):
        """A line across the way."""
        return GeoLine('the gate', (self.at(metres, -3.0), self.at(metres, 3.0)))


@pytest.fixture(scope='module')
def way(region):
    way = Way(region)
    assert way.length > 45.0
    return way


def begin(city, region, task, **settings):
    sink = RecorderSink(region)
    episode = Episode(city, region, task, 'tester', 'vision', Settings(
        region=region.name, region_digest=region.digest, **settings), sink, want_image=False)
    return episode, sink, episode.begin()


def run(episode, action=FORWARD):
    while not episode.finished:
        observation = episode.act(action)
    return observation


# -- questions ------------------------------------------------------------------------------


@pytest.fixture
def question(way):
    return Task('LQ1', Kind.VISUAL_RECOGNITION, 'What is ahead?', way.start(), options=OPTIONS,
                answer=2)


@pytest.mark.parametrize(('option', 'outcome'), [(2, Outcome.SUCCEEDED), (0, Outcome.FAILED)])
def test_a_question_ends_with_its_answer(city, region, question, option, outcome):
    episode, sink, observation = begin(city, region, question)
    assert episode.brief.options == OPTIONS
    episode.act(Action('look', yaw=30.0))
    observation = episode.act(Action('terminate'))
    assert (observation.asking, observation.finished, observation.step) == (True, False, 2)
    assert episode.act(FORWARD).message == 'the question awaits its answer'
    assert episode.steps == 2
    last = episode.answer(option)
    assert (last.asking, last.finished) == (False, True)
    # Whoever answers is not told whether that was right.
    assert last.message == 'answered'
    assert episode.outcome is sink.outcome is outcome
    metrics = sink.recorder.metrics(outcome)
    assert metrics['correct'] == float(option == 2)
    assert metrics['steps'] == 2.0
    assert math.isnan(metrics['arrived'])
    with pytest.raises(RuntimeError):
        episode.answer(option)


def test_a_question_may_be_answered_at_once_and_has_to_be_at_the_limit(city, region, question):
    episode, _, _ = begin(city, region, question)
    assert episode.answer(2).finished
    episode, _, _ = begin(city, region, question, max_steps=2)
    assert not episode.act(FORWARD).asking
    assert episode.act(FORWARD).asking
    assert not episode.finished


@pytest.mark.parametrize('option', [-1, 4])
def test_an_answer_that_is_none_changes_nothing(city, region, question, option):
    episode, _, _ = begin(city, region, question)
    with pytest.raises(ActionError, match=f'option is {option}, expected 0 to 3'):
        episode.answer(option)
    assert not episode.finished


def test_a_task_without_a_question_takes_no_answer(city, region, way):
    episode, _, _ = begin(city, region, Task('SN1', Kind.SHORT_RANGE, 'Go.', way.start(),
                                             way.at(44.0)))
    with pytest.raises(ActionError, match='a short_range task asks no question'):
        episode.answer(0)


def test_an_unanswered_question_counts_as_wrong(city, region, question):
    _, sink, _ = begin(city, region, question)
    assert sink.recorder.metrics(Outcome.TIMED_OUT)['correct'] == 0.0


# -- search ---------------------------------------------------------------------------------


def test_a_search_ends_by_the_agent_s_word_alone(city, region):
    place = region.places_of('bakery')[0]
    task = Task('PS1', Kind.PLACE_TYPE, 'Find a bakery.', Placement(place.entrance),
                category='bakery')
    episode, sink, _ = begin(city, region, task)
    assert not episode.act(Action('look', yaw=10.0)).finished
    assert episode.act(Action('terminate')).finished
    assert episode.outcome is Outcome.SUCCEEDED
    assert episode.reason == f'at {place.name}'
    assert sink.recorder.metrics(episode.outcome)['success'] == 1.0


def test_a_search_that_ends_elsewhere_has_failed(city, region, way):
    task = Task('PS1', Kind.PLACE_TYPE, 'Find a bakery.', way.start(), category='Bakery')
    near = any(np.linalg.norm(region.to_map(place.entrance) - region.to_map(way.at(0))) < 20
               for place in region.places_of('bakery'))
    assert not near
    episode, _, _ = begin(city, region, task)
    episode.act(Action('terminate'))
    assert episode.outcome is Outcome.FAILED
    episode, _, _ = begin(city, region, task, max_steps=1)
    episode.act(Action('look', yaw=10.0))
    assert episode.outcome is Outcome.TRUNCATED


def test_a_search_for_what_is_not_there_is_told(city, region, way):
    task = Task('PS1', Kind.PLACE_TYPE, 'Find a moon.', way.start(), category='moon')
    with pytest.raises(TaskError, match="no place of type 'moon'"):
        begin(city, region, task)


# -- several places -------------------------------------------------------------------------


def stops(way, *metres, deadlines=()):
    deadlines = deadlines or [None] * len(metres)
    return tuple(Stop(way.at(at), deadline=by) for at, by in zip(metres, deadlines, strict=True))


def test_places_are_visited_in_any_order(city, region, way):
    task = Task('MP1', Kind.MULTI_STOP, 'Visit.', way.start(), stops=stops(way, 44.0, 24.0))
    episode, sink, observation = begin(city, region, task)
    assert observation.progress == '0 of 2 places visited'
    seen = {observation.progress}
    while not episode.finished:
        seen.add(episode.act(FORWARD).progress)
    assert seen == {f'{n} of 2 places visited' for n in range(3)}
    assert episode.outcome is Outcome.SUCCEEDED
    metrics = sink.recorder.metrics(episode.outcome)
    assert metrics['stops_visited'] == metrics['stops_visited_states'] == 1.0
    assert metrics['route_efficiency'] == 1.0  # the places lie ahead of where it ended
    assert math.isnan(metrics['order_violations'])


def schedule(way, *metres, minutes):
    nine = 9 * 3600.0
    return Task('SF1', Kind.TIME_WINDOW, 'Be there.', way.start(), clock=nine, stops=stops(
        way, *metres, deadlines=[nine + 60.0 * by for by in minutes]))


def test_a_schedule_is_kept_in_its_order(city, region, way):
    task = schedule(way, 20.0, 44.0, minutes=(0, 1))
    episode, sink, observation = begin(city, region, task)
    assert observation.clock == '09:00:00'
    clocks = []
    while not episode.finished:
        clocks.append(episode.act(FORWARD).clock)
    assert clocks[1] == '09:00:04'
    assert episode.outcome is Outcome.SUCCEEDED
    metrics = sink.recorder.metrics(episode.outcome)
    assert metrics['stops_on_time'] == 1.0
    assert metrics['lateness'] == metrics['order_violations'] == 0.0


def test_a_later_place_does_not_count_before_its_turn(city, region, way):
    task = schedule(way, 44.0, 8.0, minutes=(1, 1))
    episode, sink, _ = begin(city, region, task)
    for _ in range(4):
        observation = episode.act(FORWARD)
    assert observation.progress == '1 of 2 places visited'
    assert not episode.finished
    assert sink.recorder.metrics()['order_violations'] == 1.0
    episode.act(Action('look', yaw=180.0))
    run(episode)
    assert episode.outcome is Outcome.SUCCEEDED
    assert sink.recorder.metrics()['order_violations'] == 1.0


def test_a_schedule_that_is_late_has_failed(city, region, way):
    task = schedule(way, 20.0, minutes=(0,))
    episode, sink, _ = begin(city, region, replace(task, clock=task.clock + 70.0))
    run(episode)
    assert episode.outcome is Outcome.FAILED
    assert episode.reason == 'all places visited, 1 of them late'
    metrics = sink.recorder.metrics(episode.outcome)
    assert metrics['stops_visited'] == 1.0
    assert metrics['stops_on_time'] == 0.0
    assert 70.0 < metrics['lateness'] < 80.0


# -- closures -------------------------------------------------------------------------------


@pytest.fixture
def constrained(way):
    return Task('CN1', Kind.CONSTRAINED, 'Go.', way.start(), way.at(way.length - 1.0),
                closures=(way.gate(20.0),))


def test_going_through_a_closure_ends_the_episode(city, region, constrained):
    episode, sink, observation = begin(city, region, constrained)
    assert observation.notices == (
        'Closed: the gate. It is marked on the map and must not be crossed.',)
    assert episode.act(FORWARD).notices == ()
    run(episode)
    assert (episode.outcome, episode.reason) == (Outcome.VIOLATED, 'went through a closure')
    metrics = sink.recorder.metrics(episode.outcome)
    assert metrics['closure_violation'] == metrics['closure_violation_sampled'] == 1.0
    assert metrics['safe_progress'] == 0.0


def test_before_a_closure_nothing_is_violated(city, region, constrained):
    episode, sink, _ = begin(city, region, constrained)
    episode.act(FORWARD)
    episode.act(FORWARD)
    episode.act(Action('terminate'))
    assert episode.outcome is Outcome.FAILED
    metrics = sink.recorder.metrics(episode.outcome)
    assert metrics['closure_violation'] == metrics['closure_violation_sampled'] == 0.0
    assert metrics['safe_progress'] == 1.0


def test_a_later_closure_is_told_once_and_holds_from_then_on(city, region, constrained):
    task = with_dynamic_closure(constrained)
    # Through the gate and back before it is closed.
    episode, sink, observation = begin(city, region, task, closure_delay=14.0)
    assert observation.notices == ()
    for _ in range(3):
        assert not episode.act(FORWARD).notices
    back = replace(FORWARD, direction='backward')
    for _ in range(3):
        assert not episode.act(back).notices
    assert episode.elapsed == pytest.approx(12.0)
    wait = Action('move', direction='backward', seconds=2.0)
    told = episode.act(wait).notices
    assert len(told) == 1
    assert 'the gate' in told[0]
    assert not episode.act(FORWARD).notices
    events = [event.kind for event in sink.recorder.events]
    assert events.count(EventKind.CLOSURE_DISCLOSED) == 1
    assert sink.recorder.metrics()['closure_violation'] == 0.0
    run(episode)
    assert episode.outcome is Outcome.VIOLATED
    assert sink.recorder.metrics()['closure_violation_sampled'] == 1.0


# -- rain and people ------------------------------------------------------------------------


def test_rain_is_told_and_measured(city, region, way):
    task = Task('SN1', Kind.SHORT_RANGE, 'Go.', way.start(), way.at(44.0))
    episode, sink, observation = begin(city, region, with_condition(task, Condition.RAINY))
    assert 'without shelter is measured' in observation.notices[0]
    run(episode)
    metrics = sink.recorder.metrics(episode.outcome)
    exposed = episode.state.rain_exposure_seconds
    # Samples are 40 ms apart; the city counts ticks of 20 ms.
    changes = sum(e.kind in (EventKind.RAIN_IN, EventKind.RAIN_OUT) for e in sink.recorder.events)
    assert metrics['rain_exposure'] == pytest.approx(exposed, abs=0.04 * (changes + 1))
    assert 0.0 <= metrics['rain_exposure_actions'] <= 1.0
    _, sink, observation = begin(city, region, task)
    assert observation.notices == ()
    assert math.isnan(sink.recorder.metrics()['rain_exposure'])


def test_people_walk_only_where_the_task_has_them(city, region, way):
    task = Task('LN1', Kind.LONG_RANGE, 'Go.', way.start(), way.at(44.0))
    episode, _, _ = begin(city, region, task)
    assert episode.state.pedestrian_count == 0
    episode, sink, _ = begin(city, region, replace(task, id='PL-LN1', kind=Kind.PEDESTRIANS),
                             pedestrians=25)
    assert episode.state.pedestrian_count == 25
    assert sink.recorder.metrics()['pedestrian_collision'] == 0.0
