# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node graph of an evaluation, described once for the command and the launch file."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import json
import os
import socket
import sys
from typing import Any

from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.evaluate.config import PARAMETERS
from urbanground_ros.evaluate.domains import Domains


@dataclass(frozen=True)
class Process:
    """One process: a subcommand of `urbanground` with options, and for nodes ROS parameters."""

    name: str
    options: tuple[str, ...] = ()
    parameters: dict[str, Any] | None = None
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def is_node(self) -> bool:
        """Whether it is a ROS node that takes `--ros-args`."""
        return self.parameters is not None

    def command(self) -> list[str]:
        """Return the complete command line."""
        command = [sys.executable, '-m', 'urbanground_ros', self.name, *self.options]
        if self.parameters is not None:
            command.append('--ros-args')
            for name, value in self.parameters.items():
                command += ['-p', f'{name}:={json.dumps(value, ensure_ascii=False)}']
        return command


def free_port() -> int:
    """Return a TCP port of the loopback interface that is free now."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return int(probe.getsockname()[1])


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _given_domain() -> int:
    """Return what ROS_DOMAIN_ID says, 0 if nothing."""
    given = os.environ.get('ROS_DOMAIN_ID') or '0'
    if not given.isascii() or not given.isdigit() or int(given) > 232:
        raise UrbanGroundError(f'ROS_DOMAIN_ID is {given!r}, expected a number from 0 to 232')
    return int(given)


def build_graph(config: EvalConfig, tasks: str, domains: Domains) -> list[Process]:
    """Return the processes of an evaluation; the last one is the runner, which ends it."""
    world = domains.take(config['domain'] or _given_domain())
    inside = domains.take()
    port = config['port'] or free_port()
    environment = {
        'ROS_DOMAIN_ID': str(world),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': os.environ.get(
            'ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST'),
    }
    values = {**config.values, 'tasks': tasks}
    options = (option for p in PARAMETERS if values[p.name] != p.default
               for option in (p.flag, _text(values[p.name])))
    return [
        Process('bridge', parameters={'port': port, 'drive': 'off'}, environment=environment),
        Process('city', ('--port', str(port), '--pictures', _text(config['pictures'])),
                environment=environment),
        Process('scoring', parameters={'records': str(config.records)}, environment=environment),
        Process('episode', parameters={
            'tasks': tasks, 'region': config['region'], 'agent_domain': inside,
            'want_image': config['pictures'], 'connect_timeout': config['connect_timeout'],
            'agent_timeout': config['agent_timeout'],
            'stamped_cmd_vel': config['stamped_cmd_vel']}, environment=environment),
        Process('runner', (*options, '--agent-domain', str(inside)),
                environment=environment),
    ]
