# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The structured action space `A = A_fp | A_map | {terminate}` with its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import dataclass
import math
from typing import Any

from urbanground_ros.errors import UrbanGroundError

FIRST_PERSON_ACTIONS = ('move', 'sprint', 'look', 'jump', 'open_map')
MAP_ACTIONS = ('map_select', 'map_pan', 'map_zoom', 'map_orbit', 'close_map')
DIRECTIONS = ('forward', 'backward', 'left', 'right')
MIN_ACTION_SECONDS = 0.05
MAX_ACTION_SECONDS = 2.0

_MOTION = ('direction', 'seconds', 'yaw_rate', 'pitch_rate', 'jump', 'jump_at')
#: Fields that each action takes; every other field of an action is an error.
FIELDS: Mapping[str, tuple[str, ...]] = {
    'move': _MOTION,
    'sprint': _MOTION,
    'look': ('yaw', 'pitch'),
    'jump': (),
    'open_map': (),
    'map_select': ('x', 'y'),
    'map_pan': ('east', 'north'),
    'map_zoom': ('factor',),
    'map_orbit': ('yaw', 'pitch'),
    'close_map': (),
    'terminate': (),
}
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    'move': ('direction', 'seconds'),
    'sprint': ('direction', 'seconds'),
    'map_select': ('x', 'y'),
    'map_zoom': ('factor',),
}
#: Least and greatest value of each number (units as in `urbanground/msg/AgentAction`).
LIMITS: Mapping[str, tuple[float, float]] = {
    'seconds': (MIN_ACTION_SECONDS, MAX_ACTION_SECONDS),
    'yaw_rate': (-180.0, 180.0),
    'pitch_rate': (-180.0, 180.0),
    'jump_at': (0.0, MAX_ACTION_SECONDS),
    'yaw': (-180.0, 180.0),
    'pitch': (-180.0, 180.0),
    'x': (0.0, 1.0),
    'y': (0.0, 1.0),
    'east': (-2000.0, 2000.0),
    'north': (-2000.0, 2000.0),
    'factor': (0.25, 4.0),
}


class ActionError(UrbanGroundError):
    """An action that is not in the action space."""


@dataclass(frozen=True)
class Action:
    """One structured action; units as in `urbanground/msg/AgentAction`.

    Build one from an agent's words by `from_dict`, which checks it.
    """

    name: str
    direction: str = ''
    seconds: float = 0.0
    yaw_rate: float = 0.0
    pitch_rate: float = 0.0
    jump: bool = False
    jump_at: float = 0.0
    yaw: float = 0.0
    pitch: float = 0.0
    x: float = 0.0
    y: float = 0.0
    east: float = 0.0
    north: float = 0.0
    factor: float = 0.0

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Action:
        """Read an action strictly: `{'name': 'move', 'direction': 'forward', 'seconds': 1}`.

        Raises:
            ActionError: unknown name or field, a field missing, of the wrong type, not finite
                or out of its limits.
        """
        values = dict(data)
        name = values.pop('name', None)
        if name not in FIELDS:
            raise ActionError(f'action {name!r} is unknown, expected one of {", ".join(FIELDS)}')
        for key in values:
            if key not in FIELDS[name]:
                takes = ', '.join(FIELDS[name]) or 'no fields'
                raise ActionError(f'action {name}: field {key!r} is unknown, it takes {takes}')
        for key in _REQUIRED.get(name, ()):
            if key not in values:
                raise ActionError(f'action {name}: field {key!r} is missing')
        action = cls(name=name, **values)
        action.validate()
        return action

    def validate(self) -> None:
        """Check types and limits of the fields that the action uses.

        Raises:
            ActionError: naming the field, its value and what was expected.
        """
        if self.name not in FIELDS:
            raise ActionError(
                f'action {self.name!r} is unknown, expected one of {", ".join(FIELDS)}')
        for key in FIELDS[self.name]:
            value = getattr(self, key)
            where = f'action {self.name}: {key} is {value!r}, expected'
            if key == 'direction':
                if value not in DIRECTIONS:
                    raise ActionError(f'{where} one of {", ".join(DIRECTIONS)}')
            elif key == 'jump':
                if not isinstance(value, bool):
                    raise ActionError(f'{where} true or false')
            else:
                low, high = LIMITS[key]
                number = isinstance(value, (int, float)) and not isinstance(value, bool)
                if not number or not math.isfinite(value) or not low <= value <= high:
                    raise ActionError(f'{where} a number from {low:g} to {high:g}')
        if self.jump and self.jump_at > self.seconds:
            raise ActionError(f'action {self.name}: jump_at is {self.jump_at:g}, '
                              f'expected at most its seconds {self.seconds:g}')

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the fields that the action uses, for JSON."""
        values = asdict(self)
        return {'name': self.name, **{key: values[key] for key in FIELDS.get(self.name, ())}}

    @property
    def is_map(self) -> bool:
        """Whether the action belongs to the map mode."""
        return self.name in MAP_ACTIONS
