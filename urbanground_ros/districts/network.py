# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The pedestrian network of a district, in the schema of the Lands Department.

Source: 3D Pedestrian Network, data dictionary 2.2 (CSDI landsd_rcd_1637222018065_52265).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from urbanground_ros.districts.buildings import Lot
from urbanground_ros.districts.names import PARK as PARK_NAMES
from urbanground_ros.districts.names import STREETS_EAST
from urbanground_ros.districts.names import STREETS_NORTH
from urbanground_ros.districts.plan import BRIDGE_STREET
from urbanground_ros.districts.plan import CARRIAGEWAY
from urbanground_ros.districts.plan import CENTRE
from urbanground_ros.districts.plan import CORRIDOR
from urbanground_ros.districts.plan import has_arm
from urbanground_ros.districts.plan import is_signalled
from urbanground_ros.districts.plan import KERB
from urbanground_ros.districts.plan import PARK
from urbanground_ros.districts.plan import PASSAGE_V
from urbanground_ros.districts.plan import RAMP
from urbanground_ros.districts.plan import STEPPED_ROW
from urbanground_ros.districts.plan import STEPPED_STREET
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import STREETS_U
from urbanground_ros.districts.plan import STREETS_V
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.steps import footbridge
from urbanground_ros.districts.steps import stepped_lane
from urbanground_ros.districts.steps import Way
from urbanground_ros.geo import CrossingFeature
from urbanground_ros.geo import Direction
from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import Location
from urbanground_ros.geo import Truth
from urbanground_ros.geo import WeatherProof
from urbanground_ros.geo import wgs84_to_hk80

NOTE = (
    'Invented data in the schema of the 3D Pedestrian Network of the Lands Department, '
    'Hong Kong. No such streets exist at these coordinates.'
)

_FIRST_ID = 990_000_001
_FIRST_STREET_CODE = 99_001
_DATE = 1_767_225_600_000  # 2026-01-01T00:00:00Z, in milliseconds
_ESTIMATED_SOURCE, _ESTIMATED_LEVEL = 11, 10
_BESIDE_STAIRS = 4.1
_PAST_STAIRS = 1.5

_Name = tuple[str, str]


@dataclass(frozen=True)
class Line:
    """One feature: its type, centre line in the map frame (N, 3), names and shelter."""

    kind: FeatureType
    points: FloatArray
    alias: _Name
    street: int | None = None
    covered: bool = False


class NetworkBuilder:
    """Collects the centre lines of everything that can be walked."""

    def __init__(self, plan: StreetPlan, lots: Sequence[Lot]) -> None:
        self._plan = plan
        self._lots = lots
        self.lines: list[Line] = []

    def build(self) -> list[Line]:
        """Return every feature of the district."""
        for i in range(len(STREETS_U)):
            for j in range(len(STREETS_V)):
                self._junction(i, j)
        for i in range(len(STREETS_U)):
            for row in range(len(STREETS_V) - 1):
                if has_arm(i, row, 0, 1):
                    self._sidewalks(1, i, row)
        for j in range(len(STREETS_V)):
            for column in range(len(STREETS_U) - 1):
                self._sidewalks(0, j, column)
        self._stepped_lane()
        self._park()
        self._footbridge()
        return self.lines

    def _add(
        self, kind: FeatureType, points: Sequence[FloatArray] | FloatArray, alias: _Name,
        street: int | None = None, covered: bool = False,
    ) -> None:
        self.lines.append(Line(kind, np.asarray(points), alias, street, covered))

    def _junction(self, i: int, j: int) -> None:
        """Add the four sides of a crossing of streets, between its corners."""
        for axis in (0, 1):
            for side in (-1, 1):
                arm = has_arm(i, j, 0, side) if axis == 0 else has_arm(i, j, side, 0)
                if arm:
                    self._crossing(i, j, axis, side)
                elif (i, axis, j + min(side, 0)) == (STEPPED_STREET, 0, STEPPED_ROW):
                    self._mouth(i, j, axis, side, -CENTRE, 0.0)
                    self._mouth(i, j, axis, side, 0.0, CENTRE)
                else:
                    self._mouth(i, j, axis, side, -CENTRE, CENTRE)

    def _corner(self, i: int, j: int, axis: int, side: int, across: float) -> tuple[float, float]:
        du, dv = (across, side * CENTRE) if axis == 0 else (side * CENTRE, across)
        return STREETS_U[i] + du, STREETS_V[j] + dv

    def _crossing(self, i: int, j: int, axis: int, side: int) -> None:
        profile = (
            (-CENTRE, KERB), (-CARRIAGEWAY - RAMP, KERB), (-CARRIAGEWAY, 0.0),
            (CARRIAGEWAY, 0.0), (CARRIAGEWAY + RAMP, KERB), (CENTRE, KERB),
        )
        points = []
        for across, raised in profile:
            points.append(self._plan.point(*self._corner(i, j, axis, side, across), raised))
        signals = is_signalled(i, j)
        kind = FeatureType.CROSSING_SIGNALIZED if signals else FeatureType.CROSSING_ZEBRA
        street = _street_number(1 - axis, i if axis == 0 else j)
        self._add(kind, points, _street_name(street), street)

    def _mouth(
        self, i: int, j: int, axis: int, side: int, start: float, end: float
    ) -> None:
        """Add the sidewalk that goes on where no street leaves a crossing."""
        points = [
            self._plan.point(*self._corner(i, j, axis, side, across)) for across in (start, end)
        ]
        street = _street_number(axis, j if axis == 0 else i)
        self._add(FeatureType.FOOTWAY, points, _street_name(street), street)

    def _sidewalks(self, axis: int, line: int, part: int) -> None:
        """Add both sidewalks of a street between two crossings, cut where ways join them."""
        along = (STREETS_U, STREETS_V)[axis]
        across = (STREETS_V, STREETS_U)[axis]
        street = _street_number(axis, line)
        for side in (-1, 1):
            ends = (along[part] + CENTRE, along[part + 1] - CENTRE)
            stops = [ends[0], *self._joins(axis, line, part, side), ends[1]]
            covered = self._is_covered(axis, line, part, side)
            for start, end in pairwise(stops):
                values = [start, *self._plan.bends(axis, start, end), end]
                offset = across[line] + side * CENTRE
                points = [
                    self._plan.point(*((value, offset) if axis == 0 else (offset, value)))
                    for value in values
                ]
                self._add(FeatureType.FOOTWAY, points, _street_name(street), street, covered)

    def _is_covered(self, axis: int, line: int, part: int, side: int) -> bool:
        """Tell whether canopies cover a sidewalk along its whole block."""
        along = (STREETS_U, STREETS_V)[axis]
        across = (STREETS_V, STREETS_U)[axis]
        edge = across[line] + side * CORRIDOR
        front = {(0, 1): 0, (0, -1): 2, (1, 1): 3, (1, -1): 1}[axis, side]
        length = 0.0
        for lot in self._lots:
            near = (lot.low, lot.high)[0 if side > 0 else 1][1 - axis]
            low, high = lot.low[axis], lot.high[axis]
            inside = along[part] < low and high < along[part + 1]
            if front in lot.canopies and abs(near - edge) < 1.0 and inside:
                length += high - low
        return length > along[part + 1] - along[part] - 2 * CORRIDOR - 2.0

    @staticmethod
    def _joins(axis: int, line: int, part: int, side: int) -> list[float]:
        column, row = PARK
        if axis == 1:
            if part == len(STREETS_V) - 2 and (line, side) in (
                (BRIDGE_STREET - 1, 1), (BRIDGE_STREET, -1), (BRIDGE_STREET, 1),
                (BRIDGE_STREET + 1, -1),
            ):
                return [PASSAGE_V]
            if part == row and (line, side) in ((column, 1), (column + 1, -1)):
                return [(STREETS_V[row] + STREETS_V[row + 1]) / 2]
        elif part == column and (line, side) in ((row, 1), (row + 1, -1)):
            return [(STREETS_U[column] + STREETS_U[column + 1]) / 2]
        return []

    def _stepped_lane(self) -> None:
        way = stepped_lane(self._plan)
        u = STREETS_U[STEPPED_STREET]
        start = self._plan.point(u, STREETS_V[STEPPED_ROW] + CENTRE)
        end = self._plan.point(u, STREETS_V[STEPPED_ROW + 1] - CENTRE)
        stairs = _walking_points(way)
        street = _street_number(1, STEPPED_STREET)
        name = _street_name(street)
        foot, top = stairs[1], stairs[-2]
        self._add(FeatureType.FOOTWAY, [start, stairs[0], foot], name, street)
        self._add(
            FeatureType.STAIRCASE, stairs[1:-1], (f'{name[0]} Staircase', f'{name[1]}樓梯'), street
        )
        self._add(FeatureType.FOOTWAY, [top, stairs[-1], end], name, street)

    def _park(self) -> None:
        column, row = PARK
        middle_u = (STREETS_U[column] + STREETS_U[column + 1]) / 2
        middle_v = (STREETS_V[row] + STREETS_V[row + 1]) / 2
        ends = (
            (STREETS_U[column] + CENTRE, middle_v), (STREETS_U[column + 1] - CENTRE, middle_v),
            (middle_u, STREETS_V[row] + CENTRE), (middle_u, STREETS_V[row + 1] - CENTRE),
        )
        centre = np.array([middle_u, middle_v])
        for end in ends:
            axis = 0 if end[1] == middle_v else 1
            values = [end[axis], *self._plan.bends(axis, end[axis], centre[axis]), centre[axis]]
            points = [
                self._plan.point(*((value, middle_v) if axis == 0 else (middle_u, value)))
                for value in values
            ]
            self._add(
                FeatureType.GENERALIZED_WALKWAY_INSIDE_PARK, points,
                (PARK_NAMES.name, PARK_NAMES.name_tc),
            )

    def _footbridge(self) -> None:
        bridge = footbridge(self._plan)
        street = _street_number(1, BRIDGE_STREET)
        name = _street_name(street)
        tops = []
        for side, way in zip((-1, 1), bridge.stairs, strict=True):
            stairs = _walking_points(way)[1:-1]
            tops.append(stairs[0])
            foot = self._passage(side, stairs[-1])
            self._add(
                FeatureType.STAIRCASE, [*stairs, foot],
                (f'{name[0]} Footbridge Staircase', f'{name[1]}行人天橋樓梯'), street,
            )
        self._add(
            FeatureType.FOOTBRIDGE, tops, (f'{name[0]} Footbridge', f'{name[1]}行人天橋'), street,
            covered=True,
        )

    def _passage(self, side: int, bottom: FloatArray) -> FloatArray:
        """Add the ways from the bottom of a stair to the sidewalks at both ends of its passage.

        Returns the point before the stair, on the ground.
        """
        plan = self._plan
        street, far = STREETS_U[BRIDGE_STREET], STREETS_U[BRIDGE_STREET + side]
        ahead = plan.xy(far, PASSAGE_V) - plan.xy(street, PASSAGE_V)
        reach = float((bottom[:2] - plan.xy(street, PASSAGE_V)) @ ahead) / float(ahead @ ahead)
        past = street + (far - street) * reach + side * _PAST_STAIRS
        gate, beside = street + side * CENTRE, PASSAGE_V - _BESIDE_STAIRS
        foot = plan.point(past, PASSAGE_V)
        alias = ('Footbridge Passage', '天橋通道')
        turns = [gate, street + side * CORRIDOR, past]
        self._add(FeatureType.FOOTWAY, [
            plan.point(gate, PASSAGE_V), *(plan.point(u, beside) for u in turns), foot,
        ], alias)
        end = far - side * CENTRE
        self._add(FeatureType.FOOTWAY, [
            plan.point(u, PASSAGE_V) for u in (past, *plan.bends(0, past, end), end)
        ], alias)
        return foot


def _walking_points(way: Way) -> list[FloatArray]:
    """Return the walking line of a way as points in the map frame, each (3,)."""
    return [np.array([*way.at(distance), height]) for distance, height in way.walking_line()]


def _street_number(axis: int, line: int) -> int:
    return line if axis == 1 else len(STREETS_NORTH) + line


def _street_name(number: int) -> _Name:
    return (STREETS_NORTH + STREETS_EAST)[number]


def network_document(
    lines: Sequence[Line], frame: LocalFrame, height_offset: float
) -> dict[str, Any]:
    """Return the network as a GeoJSON FeatureCollection: WGS84 degrees and HKPD metres."""
    return {
        'type': 'FeatureCollection',
        'note': NOTE,
        'features': [
            _feature(number, line, frame, height_offset) for number, line in enumerate(lines)
        ],
    }


def _feature(
    number: int, line: Line, frame: LocalFrame, height_offset: float
) -> dict[str, Any]:
    latitude, longitude, altitude = frame.to_geodetic(line.points)
    # 1e-9 of a degree and a tenth of a millimetre: ends that meet stay equal.
    latitude, longitude = np.round(latitude, 9), np.round(longitude, 9)
    height = np.round(altitude - height_offset, 4)
    easting, northing = wgs84_to_hk80(latitude, longitude)
    length = float(np.hypot(np.diff(easting), np.diff(northing)).sum())
    climbs = line.kind == FeatureType.STAIRCASE
    crossing = line.kind in (FeatureType.CROSSING_SIGNALIZED, FeatureType.CROSSING_ZEBRA)
    english, chinese = (None, None) if line.street is None else _street_name(line.street)
    return {
        'type': 'Feature',
        'id': number + 1,
        'geometry': {
            'type': 'LineString',
            'coordinates': np.column_stack([longitude, latitude, height]).tolist(),
        },
        'properties': {
            'OBJECTID': number + 1,
            'PedestrianRouteID': _FIRST_ID + number,
            'Location': int(Location.OUTDOOR),
            'FeatureType': int(line.kind),
            'AliasNameEN': line.alias[0],
            'AliasNameTC': line.alias[1],
            'CrossingFeature': int(CrossingFeature.ROAD) if crossing else None,
            'WeatherProof': int(
                WeatherProof.COVERED if line.covered else WeatherProof.NON_COVERED
            ),
            'WheelchairBarrier': int(Truth.TRUE if climbs else Truth.FALSE),
            'WheelchairAccess': int(Truth.FALSE),
            'ObstaclesType': None,
            'Gradient': round(abs(float(height[-1] - height[0])) / length, 8),
            'Direction': int(Direction.BOTH_WAYS),
            'PositionCertainty': 1,
            'Enabled': int(Truth.TRUE),
            'DataSource': _ESTIMATED_SOURCE,
            'LevelSource': _ESTIMATED_LEVEL,
            'StreetNameEN': english,
            'StreetNameTC': chinese,
            'ST_CODE': None if line.street is None else _FIRST_STREET_CODE + line.street,
            'FloorID': None,
            'BuildingID_1': None,
            'BuildingID_2': None,
            'SiteID': None,
            'TerminalID': None,
            'AccessTimeID': None,
            'CreationDate': _DATE,
            'ModifiedBy': 'SYNTHETIC',
            'LastAmendmentDate': _DATE,
            'Shape__Length': length,
        },
    }
