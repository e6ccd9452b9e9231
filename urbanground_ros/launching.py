# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the launch files share: arguments from parameter tables, and failures that are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import sys
from typing import Any

from launch.actions import DeclareLaunchArgument
from launch.actions import OpaqueFunction
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration

from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.parameters import read_values
from urbanground_ros.parameters import Table
from urbanground_ros.parameters import Values

#: Arguments that the actions of launch itself look for.
_OF_LAUNCH = (
    'emulate_tty',
    'launch-prefix',
    'launch-prefix-filter',
    'sigkill_timeout',
    'sigterm_timeout',
)


def with_arguments(
    table: Table, file: str, describe: Callable[[Values], list[Any]]
) -> list[LaunchDescriptionEntity]:
    """Declare a table's parameters as launch arguments, and describe the rest by their values.

    Bad values, and arguments of `ros2 launch` that the launch file does not have, end the launch
    in one line.
    """

    def start(context: LaunchContext) -> list[Any]:
        given = {p.name: LaunchConfiguration(p.name).perform(context) for p in table}
        # A launch file that includes this one may have arguments of its own.
        if Path(file).name in (Path(word).name for word in sys.argv):
            words = (word.partition(':=') for word in context.argv)
            given |= {name: value for name, _, value in words if name not in _OF_LAUNCH}
        return describe(read_values(table, given, Path(file).name))

    return [
        *(
            DeclareLaunchArgument(
                p.name,
                description=f'{p.description}: {p.expected}',
                default_value=str(p.default).lower()
                if isinstance(p.default, bool)
                else str(p.default),
            )
            for p in table
        ),
        OpaqueFunction(function=start),
    ]


def lost(event: ProcessExited, context: LaunchContext) -> None:
    """Handle the end of a process that should have run on: everything ends, with status 1.

    Raises:
        UrbanGroundError: unless the launch is shutting down anyway.
    """
    if not context.is_shutdown:
        raise UrbanGroundError(f'{event.process_name} ended with status {event.returncode}')
