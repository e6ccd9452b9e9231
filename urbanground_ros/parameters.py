# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""One table of parameters a program: for ROS, the command line, YAML files and the docs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any
from typing import TYPE_CHECKING

from urbanground_ros.errors import UrbanGroundError

if TYPE_CHECKING:
    from rclpy.node import Node


class ParameterError(UrbanGroundError):
    """A parameter that is unknown, of the wrong type, or out of its range."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: name, default (whose type it has), description, range or choices."""

    name: str
    default: bool | int | float | str
    description: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The name as a command-line option."""
        return '--' + self.name.replace('_', '-')

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            return 'one of ' + ', '.join(self.choices)
        if isinstance(self.default, bool):
            return 'true or false'
        if isinstance(self.default, str):
            return 'text'
        kind = 'a whole number' if isinstance(self.default, int) else 'a number'
        low = f' from {self.low:g}' if math.isfinite(self.low) else ''
        high = f' to {self.high:g}' if math.isfinite(self.high) else ''
        return kind + low + high

    def read(self, value: Any) -> Any:
        """Return a checked value; text is read as the default's type.

        Raises:
            ParameterError: naming the parameter, the value and what was expected.
        """
        kind: Any = type(self.default)
        try:
            if kind is bool:
                if isinstance(value, str):
                    value = {'true': True, 'false': False}[value.lower()]
                good = isinstance(value, bool)
            elif kind is str:
                # YAML 1.1 reads these words as booleans, the command line of ROS among others.
                if isinstance(value, bool):
                    value = {False: 'off', True: 'on'}[value]
                good = isinstance(value, str) and (not self.choices or value in self.choices)
            else:
                if isinstance(value, str) or (kind is float and type(value) is int):
                    value = kind(value)
                good = (
                    isinstance(value, kind)
                    and not isinstance(value, bool)
                    and self.low <= value <= self.high
                )
        except (KeyError, ValueError):
            good = False
        if not good:
            raise ParameterError(f'parameter {self.name} is {value!r}, expected {self.expected}')
        return value


Table = Sequence[Parameter]
Values = dict[str, Any]


def defaults(table: Table) -> Values:
    """Return the default of each parameter."""
    return {p.name: p.default for p in table}


def read_values(table: Table, given: Mapping[str, Any], where: str) -> Values:
    """Return all parameters, checked, with what was given in place of the defaults.

    Raises:
        ParameterError: an unknown name (the known ones are listed) or a bad value.
    """
    known = {p.name: p for p in table}
    values = defaults(table)
    for name, value in given.items():
        if name not in known:
            raise ParameterError(
                f'{where}: parameter {name!r} is unknown, expected one of {", ".join(known)}'
            )
        values[name] = known[name].read(value)
    return values


def add_arguments(parser: argparse.ArgumentParser, table: Table) -> None:
    """Add an option for each parameter to a command."""
    for p in table:
        kwargs: dict[str, Any] = {'choices': p.choices} if p.choices else {}
        parser.add_argument(
            p.flag,
            dest=p.name,
            default=p.default,
            metavar=None if p.choices else type(p.default).__name__.upper(),
            type=_reader(p),
            help=f'{p.description} (default: {str(p.default) or "none"})',
            **kwargs,
        )


def _reader(parameter: Parameter) -> Any:
    def read(text: str) -> Any:
        try:
            return parameter.read(text)
        except ParameterError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


def declare(node: Node, table: Table) -> Values:
    """Declare a node's parameters with descriptors and ranges, and return their values.

    Raises:
        ParameterError: a value out of range, or an override that is not declared (a misspelt
            name in a YAML file would otherwise be ignored without a word).
    """
    from rcl_interfaces.msg import ParameterDescriptor

    known = {p.name for p in table} | {'use_sim_time', 'start_type_description_service'}
    for name in node._parameter_overrides:
        if name not in known and not name.startswith('qos_overrides.'):
            raise ParameterError(
                f'node {node.get_name()}: parameter {name!r} is unknown, expected '
                f'one of {", ".join(sorted(known))}'
            )
    values = {}
    for p in table:
        descriptor = ParameterDescriptor(
            description=p.description,
            read_only=True,
            dynamic_typing=True,
            additional_constraints=p.expected,
        )
        given = node.declare_parameter(p.name, p.default, descriptor).value
        values[p.name] = p.read(given)
    return values
