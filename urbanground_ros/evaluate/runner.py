# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The runner: drives the episode node through a plan, and starts each agent in turn."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path
import subprocess
import sys
from typing import Any

from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from urbanground.action import RunEpisode
from urbanground.srv import AbortEpisode

from urbanground_ros.bridge.asking import ask_until_answered
from urbanground_ros.bridge.asking import PendingGoal
from urbanground_ros.bridge.spin import initialized
from urbanground_ros.bridge.spin import spinning
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.evaluate.config import STACK
from urbanground_ros.evaluate.plan import find_record
from urbanground_ros.evaluate.plan import load_context
from urbanground_ros.evaluate.plan import Planned
from urbanground_ros.evaluate.session import Session
from urbanground_ros.evaluate.supervise import last_line
from urbanground_ros.evaluate.supervise import start_child
from urbanground_ros.evaluate.supervise import stop_children
from urbanground_ros.interrupts import interrupts
from urbanground_ros.scoring import Outcome


class RunnerNode(Node):
    """A client of `run_episode` that also watches the process of the agent under test."""

    def __init__(self, config: EvalConfig, agent_domain: int) -> None:
        """Make the clients; no agent runs yet."""
        super().__init__('runner')
        self._config = config
        self._agent_domain = agent_domain
        self._client = ActionClient(self, RunEpisode, 'run_episode')
        self._abort = self.create_client(AbortEpisode, 'abort_episode')
        self._agent = ''
        self._child: subprocess.Popen[bytes] | None = None

    def run(self, planned: Planned) -> Mapping[str, Any]:
        """Run one episode and return its record.

        Raises:
            UrbanGroundError: the episode has no record, with the reason.
        """
        self._ensure_agent(planned.agent)
        config = self._config
        if not self._client.wait_for_server(config['connect_timeout']):
            raise UrbanGroundError('no episode node: nobody serves run_episode after '
                                   f'{config["connect_timeout"]:g} s')
        result = self._wait(planned, RunEpisode.Goal(
            task=planned.task.id, agent=config.label(planned.agent),
            track=config.track(planned.agent), seed=config['seed'],
            max_steps=config['max_steps'], max_seconds=config['max_seconds']))
        record = find_record(config, planned)
        if record is None:
            raise UrbanGroundError(result.reason or 'the episode left no record')
        return record

    def _wait(self, planned: Planned, goal: RunEpisode.Goal) -> RunEpisode.Result:
        pending = PendingGoal(self._client, goal)
        while not pending.wait(0.05):
            if self._child is None or self._child.poll() is None:
                continue
            # An agent may end before its episode has begun: until then there is none to abort.
            ask_until_answered(self._abort, AbortEpisode.Request(
                outcome=int(Outcome.AGENT_ERROR), reason=self._obituary(planned.agent)),
                self._config['connect_timeout'])
        if self._child is not None and self._child.poll() is not None:
            self._agent = ''
        return pending.result or RunEpisode.Result(
            reason='the episode node rejected it or has lost it: it runs another episode, or this '
                   'process stood still for long')

    def _obituary(self, agent: str) -> str:
        assert self._child is not None
        return (f'the process of {self._config.label(agent)} ended with status '
                f'{self._child.returncode}: {last_line(self._log(agent))}')

    def _log(self, agent: str) -> Path:
        return self._config.out / 'logs' / f'agent-{self._config.label(agent)}.log'

    def _ensure_agent(self, agent: str) -> None:
        """Have the process of an agent running, and that of no other one."""
        if agent == self._agent:
            return
        self.stop_agent()
        log = self._log(agent)
        log.parent.mkdir(parents=True, exist_ok=True)
        if agent == STACK:
            command = list(self._config.stack.command)
        else:
            command = [sys.executable, '-m', 'urbanground_ros', 'agent', agent,
                       '--agent-domain', str(self._agent_domain),
                       '--region', self._config['region'], '--seed', str(self._config['seed'])]
        # `python` in a command is the one that this package runs in.
        own = str(Path(sys.executable).parent)
        path = os.pathsep.join(filter(None, (own, os.environ.get('PATH'))))
        self._child = start_child(command, {'PATH': path}, log)
        self._agent = agent

    def stop_agent(self) -> None:
        """Stop the agent's process."""
        if self._child is not None:
            stop_children([self._child])
            self._child = None
        self._agent = ''


def main(config: EvalConfig, agent_domain: int, interrupt_status: int = 130) -> int:
    """Run the plan of a configuration, whose tasks are a file; return the status.

    `interrupt_status` is that after SIGINT or SIGTERM.
    """
    context = load_context(config)
    session = Session(config, context, Path(config['tasks']))
    try:
        with interrupts(), initialized():
            node = RunnerNode(config, agent_domain)
            with spinning(node, SingleThreadedExecutor()):
                try:
                    return session.run(node.run)
                finally:
                    node.stop_agent()
    except KeyboardInterrupt:
        return interrupt_status
