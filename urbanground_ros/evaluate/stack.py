# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A navigation stack to be tested: a ROS package and launch file, or a command."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
import shlex
import sys

from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.resources import project_file


@dataclass(frozen=True)
class Stack:
    """What starts a stack; `command` is complete."""

    name: str
    command: tuple[str, ...]

    @classmethod
    def from_values(cls, name: str, package: str, launch: str, params: str,
                    command: str) -> Stack:
        """Choose among package with launch file, a command, and the example stack.

        Raises:
            UrbanGroundError: both or half of them, or `ros2 launch` is not there.
        """
        if command and package:
            raise UrbanGroundError('stack: both stack_package and stack_command are given, '
                                   'expected one of them')
        if bool(package) != bool(launch):
            raise UrbanGroundError(f'stack: stack_package is {package!r} and stack_launch is '
                                   f'{launch!r}, expected both')
        if command:
            return cls(name, _words('stack_command', command))
        if package:
            if find_spec('ros2launch') is None:
                raise UrbanGroundError('stack: stack_package needs `ros2 launch`, which is not '
                                       'installed here; give stack_command')
            return cls(name, (sys.executable, '-c',
                              'import sys; from ros2cli.cli import main; sys.exit(main())',
                              'launch', package, launch, *_words('stack_params', params)))
        example: Path = project_file('examples/go_to_goal/go_to_goal/node.py')
        return cls(name, (sys.executable, str(example)))


def _words(what: str, text: str) -> tuple[str, ...]:
    """Split a command line as a shell does."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UrbanGroundError(f'{what} is {text!r}: {error}, expected a command line') from None
    if what == 'stack_command' and not words:
        raise UrbanGroundError(f'{what} is {text!r}, expected a command line')
    return words
