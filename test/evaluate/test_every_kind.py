# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A task of every kind, played by every scripted agent, in process and through ROS."""

from collections.abc import Iterator
from dataclasses import replace
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from urbanground_ros.agents import AGENTS
from urbanground_ros.agents import make_agent
from urbanground_ros.agents import play
from urbanground_ros.city import EventKind
from urbanground_ros.city import GeoLine
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.scoring import features_cut
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import read_record
from urbanground_ros.scoring import rescore
from urbanground_ros.scoring import Settings
from urbanground_ros.scoring import to_lines
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.tasks import Condition
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Stop
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import with_condition
from urbanground_ros.tasks import with_dynamic_closure
from urbanground_ros.tasks import with_pedestrians
from urbanground_ros.tasks import write_tasks

OPTIONS = ('north', 'east', 'south', 'west')


def geo(region, point) -> GeoPoint:
    return GeoPoint(*(round(float(v), 9) for v in region.network.frame.to_geodetic(point)))


def detour(region):
    """Two nodes, and a line across the way between them that leaves another way."""
    network = region.network
    nodes = np.array([place for _, place in network.graph.nodes(data='position')])
    rng = np.random.default_rng(5)
    while True:
        start, goal = nodes[rng.choice(len(nodes), 2, replace=False)]
        bakery = region.to_map(region.places_of('bakery')[0].entrance)
        if not 90.0 < np.linalg.norm(goal - start) < 130.0 \
                or min(np.linalg.norm(bakery - end) for end in (start, goal)) < 50.0:
            continue
        route = network.route(start, goal)
        middle = len(route.points) // 2
        a, b = route.points[middle - 1:middle + 1]
        across = np.array([a[1] - b[1], b[0] - a[0], 0.0])
        if np.linalg.norm(across) < 4.0 or route.length > 200.0:
            continue
        across *= 2.0 / np.linalg.norm(across)
        ends = [geo(region, (a + b) / 2 + side * across) for side in (-1.0, 1.0)]
        gate = GeoLine('Gate', tuple(ends))
        shut = features_cut(network, to_lines([gate], network.frame))
        if 15.0 < network.route(start, goal, shut).length - route.length < 150.0:
            yield start, goal, gate


def every_kind(region) -> Iterator[Task]:
    """Yield a task of each kind, the variants after their sources."""
    ways = detour(region)
    start, goal, gate = next(ways)
    begin, end = Placement(geo(region, start), 40.0), geo(region, goal)
    for kind in (Kind.VISUAL_RECOGNITION, Kind.ORIENTATION, Kind.ACTIVE_EXPLORATION):
        yield Task(f'{kind.prefix}1', kind, 'Which?', begin, options=OPTIONS, answer=3)
    short = Task('SN1', Kind.SHORT_RANGE, 'Go there.', begin, end)
    yield short
    yield with_condition(short, Condition.RAINY)
    yield with_condition(short, Condition.NIGHT)
    yield replace(short, id='LN1', kind=Kind.LONG_RANGE)
    yield with_pedestrians(replace(short, id='LN1', kind=Kind.LONG_RANGE))
    yield replace(short, id='IN1', kind=Kind.INSTRUCTIONAL)
    closed = replace(short, id='CN1', kind=Kind.CONSTRAINED, closures=(gate,))
    yield closed
    yield with_dynamic_closure(closed)
    bakery = region.places_of('bakery')[0]
    yield Task('PS1', Kind.PLACE_TYPE, 'Find a bakery.', begin, category='bakery')
    yield Task('II1', Kind.IMPLICIT_INTENT, 'You want bread.', begin, bakery.entrance,
               category='bakery', minutes=3.0)
    other = geo(region, next(point for _, point, _ in ways
                            if min(np.linalg.norm(point - end) for end in (start, goal)) > 50.0))
    yield Task('MP1', Kind.MULTI_STOP, 'Visit both.', begin, stops=(Stop(other), Stop(end)))
    ten = 10 * 3600.0
    yield Task('SF1', Kind.TIME_WINDOW, 'Be there in time.', begin, clock=ten, stops=(
        Stop(end, deadline=ten + 60.0), Stop(other, deadline=ten + 240.0)))


@pytest.fixture(scope='module')
def tasks(region):
    return list(every_kind(region))


@pytest.fixture(scope='module')
def records(region, tasks):
    city = HeadlessCity(pictures=False)
    settings = Settings(region.name, region.digest, pedestrians=20, closure_delay=3.0)
    found = {(agent, task.id): play(city, region, task, make_agent(agent), settings)
             for agent in AGENTS for task in tasks}
    city.close()
    return found


def test_the_oracle_does_them_all(records, tasks):
    assert {task.kind for task in tasks} == {kind for kind in Kind if kind.count}
    failed = {task.id: records['oracle', task.id]['reason'] for task in tasks
              if records['oracle', task.id]['outcome'] != Outcome.SUCCEEDED}
    assert failed == {}
    for task in tasks:
        metrics = records['oracle', task.id]['metrics']
        assert metrics['success'] == 1.0
        assert (metrics['arrived'] == 1.0) == (task.goal is not None)
        assert (metrics['stops_visited'] == 1.0) == bool(task.stops)
        assert (metrics['correct'] == 1.0) == bool(task.options)
        assert (metrics['closure_violation_sampled'] == 0.0) == bool(task.closures)


def test_a_closure_makes_the_oracle_go_round(records):
    free, closed = (records['oracle', task]['metrics']['path_length_sampled']
                    for task in ('SN1', 'CN1'))
    assert closed > free + 5.0
    later = records['oracle', 'DCR-CN1']
    assert later['metrics']['path_length_sampled'] > closed
    assert [event['kind'] for event in later['events']] == [EventKind.CLOSURE_DISCLOSED]


def test_metrics_apply_where_they_mean_something(records, tasks):
    for task in tasks:
        metrics = records['straight', task.id]['metrics']
        assert (metrics['rain_exposure'] is not None) == (task.condition is Condition.RAINY)
        assert (metrics['pedestrian_collision'] is not None) == (task.kind is Kind.PEDESTRIANS)
        assert (metrics['order_violations'] is not None) == (task.kind is Kind.TIME_WINDOW)


def test_scored_again_the_digits_are_the_same(records, region):
    for record in records.values():
        assert rescore(json.loads(json.dumps(record)), region.network) == record['metrics']


def test_through_ros_they_are_the_same(tasks, tmp_path):
    file = tmp_path / 'tasks.json'
    write_tasks(file, tasks)
    found = []
    for name, where in (('process', ['--in-process']), ('ros', [])):
        result = subprocess.run(
            [sys.executable, '-m', 'urbanground_ros', 'eval', *where, '--tasks', str(file),
             '--agents', ','.join(AGENTS), '--pictures', 'false', '--max-steps', '40',
             '--out', str(tmp_path / name)], capture_output=True, text=True, timeout=500,
            check=False, env={**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'})
        assert result.returncode == 0, result.stderr[-2000:]
        episodes = sorted((tmp_path / name / 'episodes').glob('*.json'))
        found.append({path.name: path.read_bytes() for path in episodes})
        assert all(read_record(path) for path in episodes)
    assert len(found[0]) == len(tasks) * len(AGENTS)
    assert found[0] == found[1]
