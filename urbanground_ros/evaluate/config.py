# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What an evaluation is asked to do: one table of parameters for command and launch file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urbanground_ros.agents import AGENTS
from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.stack import Stack
from urbanground_ros.parameters import Parameter
from urbanground_ros.scoring import check_agent_name

#: The agent name that stands for the navigation stack given by `stack_…`.
STACK = 'stack'

PARAMETERS = (
    Parameter(
        'out',
        'runs/eval',
        'folder of records, pictures, table and report; episodes that '
        'it already has are not run again',
    ),
    Parameter(
        'agents',
        f'oracle,straight,{STACK}',
        f'agents, separated by commas: {", ".join(AGENTS)}, or {STACK} for the navigation stack',
    ),
    Parameter(
        'tasks', '', 'task file or folder; by default short-range tasks are generated and verified'
    ),
    Parameter('count', 20, 'how many tasks to generate', 1, 1000),
    Parameter('region', DEFAULT_DISTRICT, 'a built-in district, an added region, a region file'),
    Parameter('seed', 0, 'seed of everything that is drawn by chance', 0, 2**31 - 1),
    Parameter('max_steps', 100, 'structured actions in an episode', 1, 100000),
    Parameter(
        'max_seconds', 200.0, 'robotics track: simulated seconds of commanded motion', 1.0, 86400.0
    ),
    Parameter(
        'retry', False, 'run again what ended by an error of the agent, or by its silence'
    ),
    Parameter('pictures', True, 'render pictures for the agents'),
    Parameter('port', 0, 'TCP port of the bridge, 0 for any free one', 0, 65535),
    Parameter(
        'domain', 0, 'DDS domain of the world, 0 for ROS_DOMAIN_ID or else a free one', 0, 232
    ),
    Parameter('stack_name', 'go_to_goal', 'label of the stack in records and table'),
    Parameter('stack_package', '', 'ROS package of the stack'),
    Parameter('stack_launch', '', 'launch file of the stack, in that package'),
    Parameter('stack_params', '', 'arguments for the launch file, such as params_file:=FILE'),
    Parameter(
        'stack_command',
        '',
        'a command that starts the stack, in place of package and '
        'launch file; by default the example stack',
    ),
    Parameter('stamped_cmd_vel', True, 'the stack publishes TwistStamped (else Twist)'),
    Parameter(
        'agent_timeout', 120.0, 'wall seconds that an agent or stack may be silent', 1.0, 86400.0
    ),
    Parameter('connect_timeout', 60.0, 'wall seconds to wait for the city', 1.0, 3600.0),
)


@dataclass(frozen=True)
class EvalConfig:
    """A checked configuration; `values` has every parameter of the table."""

    values: dict[str, Any]

    def __post_init__(self) -> None:
        """Check agents and stack at once.

        Raises:
            UrbanGroundError: one of them is unknown or incomplete.
        """
        _ = self.agents, self.stack
        check_agent_name('stack_name', self['stack_name'])

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter."""
        return self.values[name]

    @property
    def out(self) -> Path:
        """The run's folder, absolute."""
        return Path(self.values['out']).resolve()

    @property
    def records(self) -> Path:
        """The folder of its records."""
        return self.out / 'episodes'

    @property
    def stack(self) -> Stack:
        """The navigation stack."""
        v = self.values
        return Stack.from_values(
            v['stack_name'],
            v['stack_package'],
            v['stack_launch'],
            v['stack_params'],
            v['stack_command'],
        )

    @property
    def agents(self) -> list[str]:
        """The agents' names, checked.

        Raises:
            UrbanGroundError: an unknown name, or none.
        """
        names = [name.strip() for name in self.values['agents'].split(',') if name.strip()]
        for name in names:
            if name not in (*AGENTS, STACK):
                raise UrbanGroundError(
                    f'agents: {name!r} is unknown, expected some of {", ".join((*AGENTS, STACK))}'
                )
        if not names or len(set(names)) < len(names):
            raise UrbanGroundError(
                f'agents is {self.values["agents"]!r}, expected different names'
            )
        return names

    def label(self, agent: str) -> str:
        """Return an agent's name in records."""
        return str(self.values['stack_name']) if agent == STACK else agent

    def track(self, agent: str) -> str:
        """Return the track that an agent runs on."""
        return 'robotics' if agent == STACK else 'vision'
