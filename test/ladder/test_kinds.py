# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What each kind of generated task promises, on tasks of a small and of a large district."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from itertools import permutations
import math

import numpy as np
import pytest
import shapely

from urbanground_ros.agents import make_agent
from urbanground_ros.agents import OracleAgent
from urbanground_ros.agents import play
from urbanground_ros.city import GeoLine
from urbanground_ros.geo import FeatureType
from urbanground_ros.ladder.closures import is_tight
from urbanground_ros.ladder.closures import measure_cut
from urbanground_ros.ladder.goals import LONG_STRAIGHT
from urbanground_ros.ladder.goals import SHORT_ROUTE
from urbanground_ros.ladder.searches import SEARCH_ROUTE
from urbanground_ros.scoring import crossings
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.scoring import to_lines
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import open_region
from urbanground_ros.tasks import Condition
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks.clock import find_times


def of(tasks, *kinds):
    found = [task for task in tasks if task.kind in kinds]
    assert found
    return found


def route(context, task, *points):
    places = [context.to_map(point) for point in (task.start.point, *points)]
    return [context.network.route(a, b) for a, b in pairwise(places)]


def test_there_is_every_kind_but_questions_each_with_its_proof(tasks):
    counts = Counter(task.kind for task in tasks)
    assert counts == {
        kind: 2 if kind.has_closures or kind in (Kind.LONG_RANGE, Kind.PEDESTRIANS) else 4
        for kind in Kind if kind.count and kind.prefix not in ('LQ', 'OQ', 'SQ')}
    assert all(task.verification['agent'] == 'oracle' and task.verification['steps'] <= 100
               for task in tasks)


def test_the_proofs_hold(tasks, contexts, verify):
    sample = tasks[::7]
    assert [verify(contexts[task.region], task) for task in sample] == [
        task.verification for task in sample]


def test_starts_are_on_level_ground_and_free(tasks, contexts):
    for task in tasks:
        context = contexts[task.region]
        start = context.to_map(task.start.point)
        near = context.network.nearest(start[None])
        feature = context.network.features[int(near.feature[0])]
        assert near.distance[0] < 0.01
        assert feature.outdoor
        assert feature.gradient <= 0.1
        assert feature.feature_type not in (FeatureType.STAIRCASE, FeatureType.CROSSING_ZEBRA,
                                            FeatureType.CROSSING_SIGNALIZED)
        for point in (task.goal, *(stop.point for stop in task.stops)):
            assert point is None or math.dist(context.to_map(point)[:2], start[:2]) >= 30.0
    assert len({task.start.yaw for task in of(tasks, Kind.SHORT_RANGE)}) == 4


def test_words_tell_no_coordinates(tasks):
    for task in tasks:
        assert not any(character in task.description for character in '{}°')
        assert f'{task.start.point.latitude:.3f}' not in task.description


def test_ranges_are_kept(tasks, contexts):
    for task in of(tasks, Kind.SHORT_RANGE):
        (way,) = route(contexts[task.region], task, task.goal)
        assert way.length == pytest.approx(task.route_length, abs=0.01)
        assert SHORT_ROUTE[0] <= way.length <= SHORT_ROUTE[1]
    for task in of(tasks, Kind.LONG_RANGE, Kind.PEDESTRIANS):
        context = contexts[task.region]
        straight = math.dist(context.to_map(task.start.point)[:2], context.to_map(task.goal)[:2])
        assert LONG_STRAIGHT[0] <= straight <= LONG_STRAIGHT[1]
        assert task.goal.label


def test_a_search_starts_some_way_from_the_nearest_place(tasks, contexts):
    for task in of(tasks, Kind.PLACE_TYPE):
        context = contexts[task.region]
        places = context.places_of(task.category)
        assert len(places) >= 2
        lengths = [route(context, task, place.entrance)[0].length for place in places]
        assert SEARCH_ROUTE[0] <= min(lengths) <= SEARCH_ROUTE[1]
        assert task.category in task.description
        assert not any(place.name in task.description for place in places)


def test_the_place_that_a_need_means_is_the_nearest_and_open(tasks, contexts):
    for task in of(tasks, Kind.IMPLICIT_INTENT):
        context = contexts[task.region]
        (mine,) = route(context, task, task.goal)
        places = context.places_of(task.category)
        lengths = {place.name: route(context, task, place.entrance)[0].length for place in places}
        assert task.goal.label in lengths
        assert min(lengths.values()) == pytest.approx(mine.length, abs=0.1)
        (place,) = (place for place in places if place.name == task.goal.label)
        assert place.is_open(Condition.CLEAR.time_of_day)


def test_appointments_are_in_order_and_can_be_kept(tasks, contexts):
    for task in of(tasks, Kind.TIME_WINDOW):
        context = contexts[task.region]
        deadlines = [stop.deadline for stop in task.stops]
        told = find_times(task.description)
        assert list(told.appointments) == deadlines == sorted(set(deadlines))
        assert told.now == task.clock < deadlines[0]
        labels = [stop.point.label for stop in task.stops]
        at = [task.description.index(label) for label in labels]
        assert at == sorted(at)
        assert task.verification['slack'] >= 30.0
        points = np.array([context.to_map(stop.point)[:2] for stop in task.stops])
        for k, way in enumerate(route(context, task, *(stop.point for stop in task.stops))):
            line = shapely.LineString(way.points[:, :2])
            assert all(shapely.distance(line, shapely.Point(point)) > 15.0
                       for point in points[k + 1:])
        places = {place.name: place for place in context.region.load_places()}
        for label, deadline in zip(labels, deadlines, strict=True):
            assert all(places[label].is_open(at) for at in np.arange(task.clock, deadline, 60.0))


def test_stops_are_listed_in_an_order_that_is_not_the_best(tasks, contexts):
    for task in of(tasks, Kind.MULTI_STOP):
        context = contexts[task.region]
        points = [stop.point for stop in task.stops]
        listed, *others = (sum(way.length for way in route(context, task, *order))
                           for order in permutations(points))
        assert min(others) * 1.1 <= listed
        assert all(stop.note in task.description for stop in task.stops)


def test_closures_cut_the_way_and_nobody_gets_round_them(tasks, contexts):
    for task in of(tasks, Kind.CONSTRAINED):
        context = contexts[task.region]
        cut = measure_cut(context.network, context.to_map(task.start.point),
                          context.to_map(task.goal), task.closures)
        assert cut.closed_length >= 1.15 * cut.open_length
        assert cut.closed_length >= cut.open_length + 15.0
        (way,) = route(context, task, task.goal)
        lines = to_lines(task.closures, context.network.frame)
        assert crossings(way.points, lines).any()
        city = open_region(context.name)
        for closure in task.closures:
            assert is_tight(city, closure)
            # Two thirds of it leave a gap.
            ends = closure.points[0], closure.points[-1]
            middle = context.to_map(ends[0]) / 3 + context.to_map(ends[1]) * 2 / 3
            latitude, longitude, _ = context.network.frame.to_geodetic(middle)
            part = GeoLine('', (ends[0], replace(
                ends[0], latitude=float(latitude), longitude=float(longitude))))
            assert not is_tight(city, part)
        city.tiles.close()


def test_a_later_closure_is_still_ahead_when_it_is_told(tasks):
    for task in of(tasks, Kind.DYNAMIC_CLOSURE):
        assert task.id == f'DCR-{task.source}'
        assert task.verification['ahead'] >= 10.0
        assert task.verification['duration'] > 30.0


class Heedless(OracleAgent):
    """Takes the shortest way, whatever is closed."""

    name = 'heedless'

    def begin(self, brief, seed, world):
        super().begin(brief, seed, replace(world, closed=frozenset()))


def test_who_does_not_heed_closures_violates_them(tasks, large):
    city = HeadlessCity(pictures=False)
    settings = Settings(large.name, large.digest)
    for task in of(tasks, Kind.CONSTRAINED, Kind.DYNAMIC_CLOSURE):
        record = play(city, large, task, Heedless(), settings)
        assert record['outcome'] == Outcome.VIOLATED, task.id
    city.close()


def test_the_straight_walker_does_less_than_the_oracle(tasks, large):
    city = HeadlessCity(pictures=False)
    settings = Settings(large.name, large.digest)
    sample = [task for task in of(tasks, Kind.CONSTRAINED, Kind.INSTRUCTIONAL, Kind.TIME_WINDOW)
              if task.region == large.name]
    outcomes = [play(city, large, task, make_agent('straight'), settings)['outcome']
                for task in sample]
    city.close()
    # The oracle succeeds at all of them.
    assert outcomes.count(Outcome.SUCCEEDED) < len(sample)
