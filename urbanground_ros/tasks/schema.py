# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Read and write tasks in the released JSON format (one task a file, or a list of them)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from enum import Enum
import json
import math
from pathlib import Path
import re
from typing import Any

from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.files import read_json
from urbanground_ros.files import write_atomically

#: Where this project keeps what the released format has no field for.
EXTRA = 'urbanground'
_POINT_KEYS = {'lat', 'lon', 'height', 'yaw', 'label'}
_EXTRA_KEYS = {'region', 'seed', 'route_length', 'verification'}


class TaskError(UrbanGroundError):
    """A task that cannot be read or generated."""


class Kind(Enum):
    """Task families that this version runs: id prefix, type number, name."""

    SHORT_RANGE = ('SN', 0, 'short_range')
    LONG_RANGE = ('LN', 2, 'long_range')

    def __init__(self, prefix: str, number: int, label: str) -> None:
        self.prefix = prefix
        self.number = number
        self.label = label


@dataclass(frozen=True)
class Task:
    """A navigation task: from a start to one endpoint.

    `region`, `seed`, `route_length` (metres along the network) and `verification` are this
    project's additions; a reader of the released format ignores them.
    """

    id: str
    kind: Kind
    description: str
    start: Placement
    goal: GeoPoint
    region: str = ''
    seed: int = 0
    route_length: float = math.nan
    verification: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the task in the released format, with the extra block."""
        extra: dict[str, Any] = {'region': self.region, 'seed': self.seed}
        if math.isfinite(self.route_length):
            extra['route_length'] = self.route_length
        if self.verification:
            extra['verification'] = dict(self.verification)
        return {
            'id': self.id,
            'type': self.kind.number,
            'description': self.description,
            'startPoint': _point_json(self.start.point, self.start.yaw),
            'endPoint': _point_json(self.goal, 0.0),
            EXTRA: extra,
        }

    @classmethod
    def from_json(cls, data: Any, where: str) -> Task:
        """Read one task, optionally wrapped in `{"task": …}`.

        Raises:
            TaskError: naming the place, the field, its value and what was expected.
        """
        if isinstance(data, Mapping) and set(data) == {'task'}:
            data = data['task']
        if not isinstance(data, Mapping):
            raise TaskError(f'{where}: a task is {type(data).__name__}, expected an object')
        task_id = data.get('id')
        if not isinstance(task_id, str) or not re.fullmatch(
            r'[A-Za-z0-9][A-Za-z0-9_.-]{0,63}', task_id
        ):
            raise TaskError(
                f'{where}: id is {task_id!r:.80}, expected up to 64 letters, digits, "_", "." or '
                '"-"'
            )
        where = f'{where}: task {task_id}'
        prefix = re.match(r'[A-Za-z]*', task_id)
        kind = next((k for k in Kind if prefix and k.prefix == prefix.group()), None)
        number = data.get('type')
        if kind is None or isinstance(number, bool) or number != kind.number:
            known = ', '.join(f'{k.prefix}… with type {k.number}' for k in Kind)
            raise TaskError(
                f'{where}: type {number!r} with this id prefix cannot be run, '
                f'expected {known}'
            )
        description = data.get('description')
        if not isinstance(description, str) or not description.strip():
            raise TaskError(f'{where}: description is {description!r}, expected text')
        allowed = {'id', 'type', 'description', 'startPoint', 'endPoint', 'sourceTaskId', EXTRA}
        for key in data:
            if key not in allowed:
                raise TaskError(
                    f'{where}: field {key!r} is unknown, expected {", ".join(sorted(allowed))}'
                )
        start, yaw = _read_point(data.get('startPoint'), f'{where}: startPoint')
        goal, _ = _read_point(data.get('endPoint'), f'{where}: endPoint')
        extra = data.get(EXTRA, {})
        if not isinstance(extra, Mapping) or not set(extra) <= _EXTRA_KEYS:
            raise TaskError(
                f'{where}: {EXTRA} is {extra!r}, expected an object with '
                f'{", ".join(sorted(_EXTRA_KEYS))}'
            )
        seed = extra.get('seed', 0)
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
            raise TaskError(f'{where}: seed is {seed!r}, expected a whole number from 0 to 2^63-1')
        region = extra.get('region', '')
        if not isinstance(region, str):
            raise TaskError(f'{where}: region is {region!r}, expected text')
        length = extra.get('route_length', math.nan)
        if isinstance(length, bool) or not isinstance(length, (int, float)) or length < 0:
            raise TaskError(f'{where}: route_length is {length!r}, expected metres')
        verification = extra.get('verification', {})
        if not isinstance(verification, Mapping):
            raise TaskError(f'{where}: verification is {verification!r}, expected an object')
        return cls(
            task_id,
            kind,
            description,
            Placement(start, yaw),
            goal,
            region,
            seed,
            float(length),
            verification,
        )


def _point_json(point: GeoPoint, yaw: float) -> dict[str, Any]:
    height = {'height': point.altitude} if math.isfinite(point.altitude) else {}
    return {
        'lat': point.latitude,
        'lon': point.longitude,
        **height,
        'yaw': yaw,
        'label': point.label,
    }


def _read_point(data: Any, where: str) -> tuple[GeoPoint, float]:
    if not isinstance(data, Mapping):
        raise TaskError(
            f'{where} is {data!r}, expected an object with lat, lon, height, yaw, label'
        )
    for key in data:
        if key not in _POINT_KEYS:
            raise TaskError(
                f'{where}: field {key!r} is unknown, expected {", ".join(sorted(_POINT_KEYS))}'
            )
    numbers = {}
    for key, low, high in (
        ('lat', -90, 90),
        ('lon', -180, 180),
        ('height', -500, 9000),
        ('yaw', -360, 360),
    ):
        value = data.get(key, None if key in ('lat', 'lon') else 0.0)
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not low <= value <= high
        ):
            raise TaskError(f'{where}: {key} is {value!r}, expected a number from {low} to {high}')
        numbers[key] = float(value)
    if numbers['lat'] == 0 and numbers['lon'] == 0:
        raise TaskError(f'{where} is 0,0, the editor\'s "not set"; expected a place')
    altitude = numbers['height'] if 'height' in data else math.nan
    point = GeoPoint(numbers['lat'], numbers['lon'], altitude, str(data.get('label', '')))
    return point, numbers['yaw']


def read_tasks(path: Path) -> list[Task]:
    """Read tasks from a file (one task or a list of them) or a folder of such files.

    Raises:
        FileError: a file is not there or not JSON.
        TaskError: no task at all, a bad one, or an id that is used twice.
    """
    files = sorted(path.glob('*.json')) if path.is_dir() else [path]
    if not files:
        raise TaskError(f'{path}: no task files, expected *.json')
    tasks: dict[str, Task] = {}
    for file in files:
        data = read_json(file, 'a JSON task file')
        for item in data if isinstance(data, list) else [data]:
            task = Task.from_json(item, str(file))
            if task.id in tasks:
                raise TaskError(f'{file}: task {task.id} exists already, expected unique ids')
            tasks[task.id] = task
    if not tasks:
        raise TaskError(f'{path}: no tasks, expected one or more')
    return list(tasks.values())


def write_tasks(path: Path, tasks: Iterable[Task]) -> None:
    """Write a list of tasks as one JSON file, whole or not at all.

    Raises:
        FileError: it cannot be written.
    """
    items: Sequence[dict[str, Any]] = [task.to_json() for task in tasks]
    write_atomically(path, (json.dumps(items, indent=1, ensure_ascii=False) + '\n').encode())
