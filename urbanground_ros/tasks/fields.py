# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fields of JSON objects, read strictly: each is what it must be, or is told in one line."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
import json
import math
from typing import Any

from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.errors import show
from urbanground_ros.tasks.errors import TaskError

_POINT = ('lat', 'lon', 'height', 'yaw', 'label')


class Fields:
    """A JSON object whose fields are read one by one; `where` is told with each error."""

    def __init__(self, data: Any, where: str, known: Collection[str]) -> None:
        """Take an object.

        Raises:
            TaskError: it is none, or has a field that is not known.
        """
        if not isinstance(data, Mapping):
            raise TaskError(
                f'{where} is {show(data)}, expected an object with {", ".join(known)}'
            )
        self._data = data
        self.where = where
        for name in data:
            if name not in known:
                raise TaskError(
                    f'{where}: field {show(name)} is unknown, expected {", ".join(known)}'
                )

    def __contains__(self, name: str) -> bool:
        """Tell whether a field is there."""
        return name in self._data

    def error(self, name: str, expected: str) -> TaskError:
        """Return the error of a field that is not as expected."""
        value = show(self._data[name]) if name in self._data else 'missing'
        return TaskError(f'{self.where}: {name} is {value}, expected {expected}')

    def text(self, name: str, *, needed: bool = False) -> str:
        """Return a text; '' for one that is not there, unless it is needed.

        Raises:
            TaskError: it is no text, or needed and blank.
        """
        value = self._data.get(name)
        if value is None and not needed:
            return ''
        if not isinstance(value, str) or (needed and not value.strip()):
            raise self.error(name, 'text')
        return value

    def word(self, name: str) -> str:
        """Return a text, or a whole number as text: editors write enumerations as either.

        Raises:
            TaskError: it is neither.
        """
        value = self._data.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
            return str(value)
        return self.text(name)

    def number(self, name: str, low: float, high: float, default: float | None = None) -> float:
        """Return a number from a range.

        Raises:
            TaskError: it is none, or missing and has no default.
        """
        if default is not None and name not in self._data:
            return default
        value = self._data.get(name)
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not low <= value <= high
        ):
            raise self.error(name, f'a number from {low:g} to {high:g}')
        return float(value)

    def whole(self, name: str, high: int, default: int | None = None) -> int:
        """Return a whole number from 0 to one.

        Raises:
            TaskError: it is none, or missing and has no default.
        """
        if default is not None and name not in self._data:
            return default
        value = self._data.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= high:
            raise self.error(name, f'a whole number from 0 to {high}')
        return value

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return an object as it is, {} for one that is not there.

        Raises:
            TaskError: it is none, or has what JSON has not, such as an infinite number.
        """
        value = self._data.get(name, {})
        try:
            whole = isinstance(value, Mapping) and json.dumps(value, allow_nan=False)
        except (ValueError, TypeError, RecursionError):
            whole = False
        if not whole:
            raise self.error(name, 'an object of finite values')
        return dict(value)

    def items(self, name: str, known: Collection[str], least: int = 1) -> list[Fields]:
        """Return the objects of a list.

        Raises:
            TaskError: it is none, too short, or has something else in it.
        """
        value = self._data.get(name)
        if not isinstance(value, list) or len(value) < least:
            raise self.error(name, f'a list of {least} or more objects')
        return [Fields(item, f'{self.where}: {name}[{k}]', known) for k, item in enumerate(value)]

    def numbers(self, name: str, count: int, high: float) -> tuple[float, ...]:
        """Return a list of so many numbers, each from 0 to one.

        Raises:
            TaskError: it is none.
        """
        value = self._data.get(name)
        if not isinstance(value, list) or len(value) != count:
            raise self.error(name, f'a list of {count} numbers')
        names = [f'{name}[{k}]' for k in range(count)]
        listed = Fields(dict(zip(names, value, strict=True)), self.where, names)
        return tuple(listed.number(each, 0, high) for each in names)

    def placement(self, name: str) -> Placement:
        """Return a place with a heading; without a height, on the ground.

        Raises:
            TaskError: it is none, or 0,0.
        """
        return self._fields(name).as_placement()

    def optional_point(self, name: str) -> GeoPoint | None:
        """Return a place, None for one that is not there or not set.

        Raises:
            TaskError: it is none.
        """
        placement = self._fields(name).as_placement_or_unset() if name in self._data else None
        return placement.point if placement else None

    def points(self, name: str, least: int) -> tuple[GeoPoint, ...]:
        """Return a list of so many places or more.

        Raises:
            TaskError: it is none, too short, or has something else in it.
        """
        return tuple(item.as_placement().point for item in self.items(name, _POINT, least))

    def as_placement(self) -> Placement:
        """Return the place that this object is.

        Raises:
            TaskError: it is none, or 0,0.
        """
        placement = self.as_placement_or_unset()
        if placement is None:
            raise TaskError(f'{self.where} is 0,0, the editor\'s "not set"; expected a place')
        return placement

    def as_placement_or_unset(self) -> Placement | None:
        """Return the place that this object is, None for 0,0.

        Raises:
            TaskError: it is none.
        """
        latitude = self.number('lat', -90, 90)
        longitude = self.number('lon', -180, 180)
        altitude = self.number('height', -500, 9000, math.nan)
        yaw = self.number('yaw', -360, 360, 0.0)
        point = GeoPoint(latitude, longitude, altitude, self.text('label'))
        return Placement(point, yaw) if latitude or longitude else None

    def _fields(self, name: str) -> Fields:
        if name not in self._data:
            raise self.error(name, f'an object with {", ".join(_POINT)}')
        return Fields(self._data[name], f'{self.where}: {name}', _POINT)
