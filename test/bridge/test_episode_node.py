# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The episode and scoring nodes among real processes: what is refused, and what survives it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
import math
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import Any

import pytest
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from urbanground.action import RunEpisode
from urbanground.srv import AbortEpisode
from urbanground.srv import LoadTask

from urbanground_ros.bridge.asking import ask_until_answered
from urbanground_ros.bridge.asking import PendingGoal
from urbanground_ros.bridge.spin import initialized
from urbanground_ros.bridge.spin import spinning
from urbanground_ros.evaluate.domains import Domains
from urbanground_ros.evaluate.graph import free_port
from urbanground_ros.evaluate.prepare import generate_verified
from urbanground_ros.evaluate.supervise import stop_children
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import read_record
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import write_tasks

LIMITS = {'track': 'vision', 'seed': 0, 'max_steps': 5, 'max_seconds': 20.0}


class Graph:
    """City, bridge, scoring and episode node, and a client of them; no agent."""

    def __init__(self, domains: Domains, tasks: Path, records: Path, stack: ExitStack) -> None:
        world, port = domains.take(), str(free_port())
        self.records = records
        self.processes: list[subprocess.Popen[bytes]] = []
        stack.callback(lambda: stop_children(self.processes))
        for command in (
            ['bridge', '--ros-args', '-p', f'port:={port}', '-p', 'drive:=off'],
            ['city', '--port', port, '--pictures', 'false'],
            ['scoring', '--ros-args', '-p', f'records:={records}'],
            ['episode', '--ros-args', '-p', f'tasks:={tasks}', '-p', 'region:=ching_lam',
             '-p', f'agent_domain:={domains.take()}', '-p', 'want_image:=false'],
        ):
            self.processes.append(subprocess.Popen(
                [sys.executable, '-m', 'urbanground_ros', *command],
                start_new_session=True, env={**os.environ, 'ROS_DOMAIN_ID': str(world)}))
        context = Context()
        stack.enter_context(initialized(context, domain_id=world))
        node = Node('client', context=context)
        self.run = ActionClient(node, RunEpisode, 'run_episode')
        self.abort = node.create_client(AbortEpisode, 'abort_episode')
        self.load = node.create_client(LoadTask, 'load_task')
        stack.enter_context(spinning(node, SingleThreadedExecutor(context=context)))
        assert self.run.wait_for_server(60.0)

    def start(self, **values: Any) -> PendingGoal:
        return PendingGoal(self.run, RunEpisode.Goal(
            **{'task': 'SN001', 'agent': 'nobody', **LIMITS, **values}))

    def end(self, outcome: int, reason: str = '') -> Any:
        return ask_until_answered(
            self.abort, AbortEpisode.Request(outcome=outcome, reason=reason), 30.0)


@pytest.fixture(scope='module')
def graph(region: Any, tmp_path_factory: Any) -> Iterator[Graph]:
    folder = tmp_path_factory.mktemp('graph')
    search = Path(__file__).parents[1] / 'tasks' / 'samples' / 'PS001.json'
    write_tasks(folder / 'tasks.json', [*generate_verified(region, 2, 7), *read_tasks(search)])
    domains = Domains()
    with ExitStack() as stack:
        yield Graph(domains, folder / 'tasks.json', folder / 'episodes', stack)
    domains.close()


def result_of(goal: PendingGoal) -> Any:
    assert goal.wait(90.0)
    return goal.result


@pytest.mark.parametrize(
    ('values', 'reason'),
    [
        ({'max_seconds': math.nan}, 'max_seconds is nan, expected a positive number'),
        ({'max_seconds': -1.0}, 'max_seconds is -1.0, expected a positive number'),
        ({'agent': '../../evil'}, "agent is '../../evil'"),
        ({'agent': ''}, "agent is ''"),
        ({'task': 'PS001', 'track': 'robotics'}, 'task PS001: kind is place_type, expected one'),
        ({'task': 'SN999'}, "task 'SN999' is unknown"),
        ({'track': 'sideways'}, "track is 'sideways', expected vision or robotics"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused_in_words(
    graph: Graph, values: dict[str, Any], reason: str
) -> None:
    assert reason in result_of(graph.start(**values)).reason
    assert all(process.poll() is None for process in graph.processes)


def test_an_episode_is_ended_from_outside_only_as_what_it_then_is(graph: Graph) -> None:
    goal = graph.start()
    for outcome in (0, 7, 10, 20, 40, 255):
        answer = graph.end(outcome, 'won')
        assert not answer.accepted
        assert f'outcome is {outcome}, expected one of 50 (agent error)' in answer.message
    loaded = ask_until_answered(graph.load, LoadTask.Request(task='SN002'), 30.0)
    assert (loaded.accepted, loaded.message) == (False, 'an episode is running')
    deadline = time.monotonic() + 60.0
    while not (answer := graph.end(int(Outcome.AGENT_ERROR), 'it fell asleep')).accepted:
        assert answer.message == 'no episode is running', 'yet'
        assert time.monotonic() < deadline
        time.sleep(0.1)
    result = result_of(goal)
    assert (result.outcome, result.reason) == (Outcome.AGENT_ERROR, 'it fell asleep')
    (path,) = graph.records.glob('*.json')
    assert read_record(path)['outcome'] == Outcome.AGENT_ERROR
    assert graph.end(int(Outcome.AGENT_ERROR)).message == 'no episode is running'


def test_what_is_no_result_leaves_no_record(graph: Graph) -> None:
    before = {path: path.read_bytes() for path in graph.records.glob('*.json')}
    goal = graph.start(task='SN002')
    while not graph.end(int(Outcome.CITY_ERROR), 'it rained frogs').accepted:
        time.sleep(0.1)
    result = result_of(goal)
    assert (result.outcome, result.reason) == (Outcome.CITY_ERROR, 'it rained frogs')
    assert {path: path.read_bytes() for path in graph.records.glob('*.json')} == before
    loaded = ask_until_answered(graph.load, LoadTask.Request(task='SN002'), 30.0)
    assert loaded.accepted, loaded.message
