# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Features of the pedestrian network: attributes read from a file, geometry in the map frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
import math
from typing import Any
from typing import NoReturn

import numpy as np

from urbanground_ros.geo.errors import NetworkError
from urbanground_ros.geo.frames import FloatArray
from urbanground_ros.geo.network.codes import Code
from urbanground_ros.geo.network.codes import CrossingFeature
from urbanground_ros.geo.network.codes import Direction
from urbanground_ros.geo.network.codes import FeatureType
from urbanground_ros.geo.network.codes import Location
from urbanground_ros.geo.network.codes import parse_code
from urbanground_ros.geo.network.codes import Truth
from urbanground_ros.geo.network.codes import WeatherProof
from urbanground_ros.geo.network.readers import ID_FIELD
from urbanground_ros.geo.network.readers import SourceLine

_REQUIRED = (ID_FIELD, 'FeatureType', 'Location', 'WeatherProof', 'Direction')


@dataclass(frozen=True, eq=False)
class Feature:
    """One polyline of the network.

    Attributes:
        id: PedestrianRouteID, stable between publications.
        part: Number of the part, from 0, where a feature has several.
        feature_type: What it is.
        location: Outdoor or indoor.
        weather_proof: Shelter as published; see `covered`.
        direction: Which way it may be walked, along `points`.
        enabled: False where the publisher has switched it off.
        wheelchair_barrier: Whether a wheelchair is hindered, None where not stated.
        wheelchair_access: Whether it is an accessible entrance, None where not stated.
        crossing: What a crossing leads across, None elsewhere.
        name: English alias name (`Kent Road Crossing`), '' where there is none.
        name_tc: The same in traditional Chinese.
        street: English street name, '' where there is none.
        street_tc: The same in traditional Chinese.
        floor_id: Joins the published floor polygons; None outside buildings.
        building_ids: The buildings it lies in or joins, up to two.
        site_id: Joins the published site polygons.
        terminal_id: Joins the published terminal polygons.
        access_time_id: Joins the published opening times.
        points: Vertices in the map frame, ENU metres, shape (N, 3), read-only.
    """

    id: int
    part: int
    feature_type: FeatureType
    location: Location
    weather_proof: WeatherProof
    direction: Direction
    enabled: bool
    wheelchair_barrier: bool | None
    wheelchair_access: bool | None
    crossing: CrossingFeature | None
    name: str
    name_tc: str
    street: str
    street_tc: str
    floor_id: int | None
    building_ids: tuple[int, ...]
    site_id: int | None
    terminal_id: int | None
    access_time_id: int | None
    points: FloatArray

    @property
    def covered(self) -> bool | None:
        """Whether it is sheltered from rain; None where that is unclassified."""
        if self.weather_proof is WeatherProof.UNCLASSIFIED:
            return None
        return self.weather_proof is WeatherProof.COVERED

    @property
    def outdoor(self) -> bool:
        """Whether it lies outside of buildings."""
        return self.location is Location.OUTDOOR

    @cached_property
    def offsets(self) -> FloatArray:
        """Distance of each vertex from the first along the line, 3D metres, shape (N,)."""
        steps = np.sqrt((np.diff(self.points, axis=0) ** 2).sum(axis=1))
        offsets = np.concatenate(([0.0], np.cumsum(steps)))
        offsets.setflags(write=False)
        return offsets

    @property
    def length(self) -> float:
        """Length in space, metres; the published Shape_Length is that of the plan."""
        return float(self.offsets[-1])

    @cached_property
    def gradient(self) -> float:
        """Climb and fall over length in plan, unsigned; infinite for a vertical lift.

        Measured on the geometry: the published value cannot be recomputed for every feature.
        """
        steps = np.diff(self.points, axis=0)
        run = float(np.sqrt((steps[:, :2] ** 2).sum(axis=1)).sum())
        return float(np.abs(steps[:, 2]).sum()) / run if run else math.inf

    @property
    def forward(self) -> bool:
        """Whether it may be walked from its first vertex to its last."""
        return self.direction is not Direction.ONE_WAY_BACKWARD

    @property
    def backward(self) -> bool:
        """Whether it may be walked from its last vertex to its first."""
        return self.direction is not Direction.ONE_WAY_FORWARD

    def cut(self, start: float, end: float) -> FloatArray:
        """Return the piece between two distances along the line, in that order, (M, 3)."""
        low, high = min(start, end), max(start, end)
        inner = self.points[(self.offsets > low) & (self.offsets < high)]
        piece = np.vstack((self._at(low), inner, self._at(high)))
        return piece if start <= end else piece[::-1]

    def _at(self, offset: float) -> FloatArray:
        return np.array([np.interp(offset, self.offsets, axis) for axis in self.points.T])


def feature_from_line(line: SourceLine, points: FloatArray) -> Feature:
    """Check the attributes of a line and join them with its geometry in the map frame.

    An attribute that is there but null says nothing: unclassified shelter, both ways, enabled.

    Raises:
        NetworkError: an attribute is missing, of the wrong type, or not in its domain.
    """
    record = _Record(line.where, line.attributes)
    for field in _REQUIRED:
        if field not in line.attributes:
            raise NetworkError(f'{line.where}: attribute {field} is missing')
    points.setflags(write=False)
    return Feature(
        id=record.required(ID_FIELD, record.integer(ID_FIELD)),
        part=line.part,
        feature_type=record.required('FeatureType', record.code('FeatureType', FeatureType)),
        location=record.required('Location', record.code('Location', Location)),
        weather_proof=record.code('WeatherProof', WeatherProof) or WeatherProof.UNCLASSIFIED,
        direction=record.code('Direction', Direction) or Direction.BOTH_WAYS,
        enabled=record.code('Enabled', Truth) is not Truth.FALSE,
        wheelchair_barrier=record.truth('WheelchairBarrier'),
        wheelchair_access=record.truth('WheelchairAccess'),
        crossing=record.code('CrossingFeature', CrossingFeature),
        name=record.text('AliasNameEN'),
        name_tc=record.text('AliasNameTC'),
        street=record.text('StreetNameEN'),
        street_tc=record.text('StreetNameTC'),
        floor_id=record.integer('FloorID'),
        building_ids=tuple(
            value for value in (record.integer('BuildingID_1'), record.integer('BuildingID_2'))
            if value is not None),
        site_id=record.integer('SiteID'),
        terminal_id=record.integer('TerminalID'),
        access_time_id=record.integer('AccessTimeID'),
        points=points,
    )


class _Record:
    """Typed access to the attributes of one feature; absent, null and empty are None."""

    def __init__(self, where: str, attributes: Mapping[str, Any]) -> None:
        self._where = where
        self._attributes = attributes

    def required(self, field: str, value: Any) -> Any:
        if value is None:
            self._fail(field, 'a value')
        return value

    def code(self, field: str, domain: type[Code]) -> Code | None:
        value = self._value(field)
        if value is None:
            return None
        try:
            return parse_code(domain, value)
        except ValueError:
            self._fail(field, 'one of ' + ', '.join(f'{m.value} {m.name}' for m in domain))

    def truth(self, field: str) -> bool | None:
        value = self.code(field, Truth)
        return None if value is None else value is Truth.TRUE

    def integer(self, field: str) -> int | None:
        value = self._value(field)
        if value is None:
            return None
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            self._fail(field, 'an integer')
        if isinstance(value, bool) or (isinstance(value, float) and value != number):
            self._fail(field, 'an integer')
        return number

    def text(self, field: str) -> str:
        value = self._value(field)
        if not isinstance(value, (str, type(None))):
            self._fail(field, 'text')
        return value or ''

    def _value(self, field: str) -> Any:
        value = self._attributes.get(field)
        if isinstance(value, str):
            value = value.strip()
        return None if value == '' else value

    def _fail(self, field: str, expected: str) -> NoReturn:
        raise NetworkError(f'{self._where}: attribute {field} is '
                           f'{self._attributes.get(field)!r}, expected {expected}')
