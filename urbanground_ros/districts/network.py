# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The pedestrian network of a district, in the schema of the Lands Department.

Source: 3D Pedestrian Network, data dictionary 2.2 (CSDI landsd_rcd_1637222018065_52265).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from urbanground_ros.districts.buildings import Lot
from urbanground_ros.districts.plan import Crossover
from urbanground_ros.districts.plan import KERB
from urbanground_ros.districts.plan import RAMP
from urbanground_ros.districts.plan import Segment
from urbanground_ros.districts.plan import Stepped
from urbanground_ros.districts.plan import Street
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import Use
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.steps import Way
from urbanground_ros.districts.structures import BRIDGE_AT
from urbanground_ros.districts.structures import bridge_v
from urbanground_ros.districts.structures import crossover_link
from urbanground_ros.districts.structures import path_arms
from urbanground_ros.districts.structures import Podium
from urbanground_ros.districts.structures import podium
from urbanground_ros.districts.structures import podium_bridges
from urbanground_ros.districts.structures import RING
from urbanground_ros.districts.structures import stepped_way
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
_BEFORE_STAIRS = 1.5
_CROSSINGS = (FeatureType.CROSSING_SIGNALIZED, FeatureType.CROSSING_ZEBRA)

Name = tuple[str, str]


@dataclass(frozen=True)
class Line:
    """One feature: its type, centre line in the map frame (N, 3), names and shelter.

    `street` is the number of the street that it belongs to. One that is not `enabled` is
    closed to walkers; one that is `one_way` is walked in the order of its points.
    """

    kind: FeatureType
    points: FloatArray
    alias: Name
    street: int | None = None
    covered: bool = False
    one_way: bool = False
    enabled: bool = True


class NetworkBuilder:
    """Collects the centre lines of everything that can be walked."""

    def __init__(self, plan: StreetPlan, lots: Sequence[Lot]) -> None:
        self._plan = plan
        self._lots = lots
        self._joins: dict[tuple[int, int, int, int], set[float]] = defaultdict(set)
        self.lines: list[Line] = []

    def build(self) -> list[Line]:
        """Return every feature of the district."""
        plan = self._plan
        for stepped in plan.district.stepped:
            self._stepped(stepped)
        for crossover in plan.district.crossovers:
            self._crossover(crossover)
        for block in plan.blocks:
            if plan.use(*block) is Use.PODIUM:
                self._podium(*block)
            elif plan.use(*block) is not Use.BUILDINGS:
                self._paths(*block)
        for i in range(len(plan.district.north)):
            for j in range(len(plan.district.east)):
                self._junction(i, j)
        for axis in (0, 1):
            for line in range(len(plan.streets[1 - axis])):
                for part in range(len(plan.streets[axis]) - 1):
                    if plan.segment(axis, line, part) is Segment.LEVEL:
                        self._sidewalks(axis, line, part)
        return self.lines

    def _add(
        self, kind: FeatureType, points: Sequence[FloatArray] | FloatArray, alias: Name,
        street: int | None = None, covered: bool = False, one_way: bool = False,
        enabled: bool = True,
    ) -> None:
        array = np.asarray(points)
        moved = np.r_[True, np.abs(np.diff(array, axis=0)).max(axis=1) > 1e-6]
        self.lines.append(
            Line(kind, array[moved], alias, street, covered, one_way, enabled)
        )

    def _street(self, axis: int, line: int) -> tuple[int, Street, Name]:
        """Return the number, the street and its names."""
        street = self._plan.streets[1 - axis][line]
        number = line if axis == 1 else len(self._plan.district.north) + line
        return number, street, (street.name, street.name_tc)

    def _gate(self, axis: int, line: int, part: int, side: int, at: float) -> FloatArray:
        """Return the point of a sidewalk (or lane) at a value, where something joins it."""
        _, street, _ = self._street(axis, line)
        self._joins[axis, line, part, side if street.centre else 0].add(at)
        offset = street.at + side * street.centre
        return self._plan.point(*((at, offset) if axis == 0 else (offset, at)))

    # -- streets ------------------------------------------------------------------------------

    def _junction(self, i: int, j: int) -> None:
        """Add the four sides of a crossing of streets, between its corners."""
        plan = self._plan
        ends = (plan.district.east[j], plan.district.north[i])
        meets = plan.is_junction(i, j)
        for axis in (0, 1):
            # Axis 0 are the north and south sides, which cross the street that runs north.
            own, other = ends[1 - axis], ends[axis]
            through = any(
                plan.arm(i, j, 1 - axis, side) is not Segment.NONE for side in (-1, 1)
            )
            ends_here = any(plan.arm(i, j, axis, side) is not Segment.NONE for side in (-1, 1))
            if not own.centre or (not meets and (through or not ends_here)):
                continue
            for side in (-1, 1) if other.centre else (1,):
                if plan.crossed(i, j, 1 - axis, side):
                    self._crossing(i, j, axis, side)
                elif plan.arm(i, j, 1 - axis, side) is Segment.STEPPED:
                    self._mouth(i, j, axis, side, -own.centre, 0.0)
                    self._mouth(i, j, axis, side, 0.0, own.centre)
                else:
                    self._mouth(i, j, axis, side, -own.centre, own.centre)

    def _corner(self, i: int, j: int, axis: int, side: int, across: float) -> tuple[float, float]:
        north, east = self._plan.district.north[i], self._plan.district.east[j]
        if axis == 0:
            return north.at + across, east.at + side * east.centre
        return north.at + side * north.centre, east.at + across

    def _crossing(self, i: int, j: int, axis: int, side: int) -> None:
        number, street, name = self._street(1 - axis, i if axis == 0 else j)
        edge, centre = street.carriageway, street.centre
        profile = (
            (-centre, KERB), (-edge - RAMP, KERB), (-edge, 0.0),
            (edge, 0.0), (edge + RAMP, KERB), (centre, KERB),
        )
        points = [
            self._plan.point(*self._corner(i, j, axis, side, across), raised)
            for across, raised in profile
        ]
        kind = _CROSSINGS[0 if self._plan.is_signalled(i, j) else 1]
        self._add(kind, points, name, number)

    def _mouth(
        self, i: int, j: int, axis: int, side: int, start: float, end: float
    ) -> None:
        """Add the sidewalk that goes on where no street leaves a crossing."""
        points = [
            self._plan.point(*self._corner(i, j, axis, side, across)) for across in (start, end)
        ]
        number, _, name = self._street(axis, j if axis == 0 else i)
        self._add(FeatureType.FOOTWAY, points, name, number)

    def _sidewalks(self, axis: int, line: int, part: int) -> None:
        """Add both sidewalks of a street between two crossings, cut where ways join them."""
        plan = self._plan
        number, street, name = self._street(axis, line)
        near, far = plan.streets[axis][part:part + 2]
        for side in (-1, 1) if street.centre else (0,):
            joins = self._joins[axis, line, part, side]
            stops = [near.at + near.centre, *sorted(joins), far.at - far.centre]
            covered = side != 0 and self._is_covered(axis, line, part, side)
            offset = street.at + side * street.centre
            for start, end in pairwise(stops):
                values = [start, *plan.bends(axis, start, end), end]
                points = [
                    plan.point(*((value, offset) if axis == 0 else (offset, value)))
                    for value in values
                ]
                self._add(FeatureType.FOOTWAY, points, name, number, covered)

    def _is_covered(self, axis: int, line: int, part: int, side: int) -> bool:
        """Tell whether canopies cover a sidewalk along its whole block."""
        _, street, _ = self._street(axis, line)
        before, after = self._plan.streets[axis][part:part + 2]
        edge = street.at + side * street.corridor
        front = {(0, 1): 0, (0, -1): 2, (1, 1): 3, (1, -1): 1}[axis, side]
        length = 0.0
        for lot in self._lots:
            near = (lot.low, lot.high)[0 if side > 0 else 1][1 - axis]
            low, high = lot.low[axis], lot.high[axis]
            inside = before.at < low and high < after.at
            if front in lot.canopies and abs(near - edge) < 1.0 and inside:
                length += high - low
        return length > after.at - before.at - before.corridor - after.corridor - 2.0

    # -- what joins them ----------------------------------------------------------------------

    def _climbs(
        self, way: Way, foot: FloatArray, top: FloatArray, name: Name, street: int | None,
        escalator: bool, covered: bool,
    ) -> None:
        """Add stairs, and the escalator beside them, between two points on the level."""
        if not escalator:
            self._add(
                FeatureType.STAIRCASE, [foot, *way.walking_points()[1:-1], top],
                (f'{name[0]} Staircase', f'{name[1]}樓梯'), street, covered,
            )
            return
        for half, kind, alias in (
            (-1, FeatureType.STAIRCASE, (f'{name[0]} Staircase', f'{name[1]}樓梯')),
            (1, FeatureType.ESCALATOR, (f'{name[0]} Escalator', f'{name[1]}扶手電梯')),
        ):
            points = way.half_of(half).walking_points()[1:-1]
            self._add(
                kind, [foot, *points, top], alias, street, covered,
                one_way=kind is FeatureType.ESCALATOR,
            )

    def _stepped(self, stepped: Stepped) -> None:
        plan = self._plan
        way = stepped_way(plan, stepped)
        number, street, name = self._street(1, stepped.street)
        below, above = plan.district.east[stepped.row:stepped.row + 2]
        start = plan.point(street.at, below.at + below.centre)
        end = plan.point(street.at, above.at - above.centre)
        line = way.walking_points()
        share = way.flights[0].start / 3
        foot = np.array([*way.at(share), way.first])
        top = np.array([*way.at(way.length - share), way.last])
        self._add(FeatureType.FOOTWAY, [start, line[0], foot], name, number)
        self._climbs(way, foot, top, name, number, stepped.escalator, stepped.escalator)
        self._add(FeatureType.FOOTWAY, [top, line[-1], end], name, number)

    def _paths(self, column: int, row: int) -> None:
        plan = self._plan
        estate = plan.use(column, row) is Use.ESTATE
        kind = FeatureType.FOOTWAY if estate else FeatureType.GENERALIZED_WALKWAY_INSIDE_PARK
        alias = ('Covered Walkway', '有蓋行人通道') if estate else ('Garden Path', '花園小徑')
        for arm in path_arms(plan, column, row):
            start = arm.gate
            if arm.segment is Segment.LEVEL:
                line = (column, row)[arm.axis] + (arm.side > 0)
                self._gate(1 - arm.axis, line, (column, row)[1 - arm.axis], -arm.side, arm.across)
                start = arm.edge
                self._add(FeatureType.FOOTWAY, arm.points(plan, arm.gate, arm.edge), alias)
            self._add(kind, arm.points(plan, start, arm.middle), alias, covered=estate)

    def _crossover(self, crossover: Crossover) -> None:
        link = crossover_link(self._plan, crossover)
        number, _, name = self._street(1, crossover.street)
        subway = crossover.subway
        what = ('Subway', '行人隧道') if subway else ('Footbridge', '行人天橋')
        alias = f'{name[0]} {what[0]}', f'{name[1]}{what[1]}'
        ends = []
        for side, way in zip((-1, 1), link.stairs, strict=True):
            stairs = way.walking_points()
            ends.append(stairs[0] if subway else stairs[1])
            foot = self._passage(crossover, side, stairs[-1])
            line = stairs[:-1] if subway else stairs[1:-1]
            self._add(
                FeatureType.STAIRCASE, [*line, foot],
                (f'{alias[0]} Staircase', f'{alias[1]}樓梯'), number,
            )
        kind = FeatureType.SUBWAY if subway else FeatureType.FOOTBRIDGE
        self._add(kind, ends, alias, number, covered=True)

    def _passage(self, crossover: Crossover, side: int, bottom: FloatArray) -> FloatArray:
        """Add the ways from the end of a stair to the sidewalks at both ends of its passage.

        Returns the point before the stair, on the ground.
        """
        plan = self._plan
        line, row = crossover.street, crossover.row
        street, next_street = (plan.district.north[k] for k in (line, line + side))
        v = plan.middle(1, row)
        ahead = plan.xy(next_street.at, v) - plan.xy(street.at, v)
        reach = float((bottom[:2] - plan.xy(street.at, v)) @ ahead) / float(ahead @ ahead)
        past = street.at + (next_street.at - street.at) * reach + side * _PAST_STAIRS
        beside = v - _BESIDE_STAIRS
        foot = plan.point(past, v)
        alias = ('Passage', '通道')
        turns = [street.at + side * offset for offset in (street.centre, street.corridor)]
        self._add(FeatureType.FOOTWAY, [
            self._gate(1, line, row, side, v),
            *(plan.point(u, beside) for u in (*turns, past)), foot,
        ], alias)
        gate = self._gate(1, line + side, row, -side, v)
        end = next_street.at - side * next_street.centre
        self._add(FeatureType.FOOTWAY, [
            *(plan.point(u, v) for u in (past, *plan.bends(0, past, end))), gate,
        ], alias)
        return foot

    # -- podiums ------------------------------------------------------------------------------

    def _podium(self, column: int, row: int) -> None:
        plan = self._plan
        own = podium(plan, column, row)
        (u0, v0), (u1, v1) = own.low, own.high
        sides: dict[int, set[float]] = {0: set(), 1: set(), 2: set(), 3: set()}
        for side, block in ((0, (column, row - 1)), (1, (column + 1, row)),
                            (2, (column, row + 1)), (3, (column - 1, row))):
            if block in plan.blocks and plan.use(*block) is Use.PODIUM:
                sides[side].add(bridge_v(own) if side in (1, 3) else u0 + BRIDGE_AT)
        sides[0].add(own.landing(own.stairs))
        sides[2].add(own.landing(own.ramp))
        fixed = {0: v0 + RING, 1: u1 - RING, 2: v1 - RING, 3: u0 + RING}
        alias = ('Podium Deck', '平台')
        for side, joins in sides.items():
            axis = side % 2
            ends = (u0 + RING, u1 - RING) if axis == 0 else (v0 + RING, v1 - RING)
            for start, end in pairwise([ends[0], *sorted(joins), ends[1]]):
                line = [(start, fixed[side]), (end, fixed[side])]
                self._add(FeatureType.FOOTWAY, [
                    self._on_deck(own, *(at if axis == 0 else at[::-1])) for at in line
                ], alias)
        self._podium_stairs(own, column, row)
        self._podium_ramp(own, column, row)
        self._podium_bridges(own, column, row)

    def _on_deck(self, own: Podium, u: float, v: float) -> FloatArray:
        return np.array([*self._plan.xy(u, v), own.deck])

    def _podium_stairs(self, own: Podium, column: int, row: int) -> None:
        plan = self._plan
        _, _, name = self._street(0, row)
        way, middle = own.stairs, own.low[1] - 1.95
        at = own.stairs_span[0] - _BEFORE_STAIRS
        foot = plan.point(at, middle)
        alias = (f'{name[0]} Podium', f'{name[1]}平台')
        self._add(FeatureType.FOOTWAY, [self._gate(0, row, column, 1, at), foot], alias)
        landing = own.landing(way)
        top = self._on_deck(own, landing, middle)
        self._climbs(way, foot, top, alias, None, escalator=True, covered=False)
        self._add(
            FeatureType.FOOTWAY, [top, self._on_deck(own, landing, own.low[1] + RING)], alias
        )
        # The cabin can be entered at both levels; nothing carries a body up, so it is closed.
        u, v = own.lift
        lower, upper = plan.point(u, v), self._on_deck(own, u, v)
        lift = (f'{name[0]} Podium Lift', f'{name[1]}平台升降機')
        self._add(FeatureType.FOOTWAY, [self._gate(0, row, column, 1, u), lower], lift)
        self._add(FeatureType.FOOTWAY, [top, self._on_deck(own, landing, v), upper], lift)
        self._add(FeatureType.LIFT, [lower, upper], lift, covered=True, enabled=False)

    def _podium_ramp(self, own: Podium, column: int, row: int) -> None:
        plan = self._plan
        _, _, name = self._street(0, row + 1)
        way, middle = own.ramp, own.high[1] + 1.4
        at = own.ramp_span[0] - _BEFORE_STAIRS
        foot = plan.point(at, middle)
        alias = (f'{name[0]} Podium Ramp', f'{name[1]}平台斜道')
        self._add(FeatureType.FOOTWAY, [self._gate(0, row + 1, column, -1, at), foot], alias)
        landing = own.landing(way)
        top = self._on_deck(own, landing, middle)
        self._add(FeatureType.RAMP, [foot, *way.walking_points()[1:-1], top], alias)
        self._add(
            FeatureType.FOOTWAY, [top, self._on_deck(own, landing, own.high[1] - RING)], alias
        )

    def _podium_bridges(self, own: Podium, column: int, row: int) -> None:
        for axis, way in podium_bridges(self._plan, column, row):
            other = (column + 1, row) if axis == 0 else (column, row + 1)
            far = podium(self._plan, *other)
            number, _, name = self._street(1 - axis, (column if axis == 0 else row) + 1)
            if axis == 0:
                ends = (own.high[0] - RING, bridge_v(own)), (far.low[0] + RING, bridge_v(own))
            else:
                at = own.low[0] + BRIDGE_AT
                ends = (at, own.high[1] - RING), (at, far.low[1] + RING)
            deck = [np.array([*way.at(d), way.first]) for d in (0.0, way.length)]
            alias = (f'{name[0]} Footbridge', f'{name[1]}行人天橋')
            self._add(FeatureType.FOOTWAY, [self._on_deck(own, *ends[0]), deck[0]], alias)
            self._add(FeatureType.FOOTBRIDGE, deck, alias, number, covered=True)
            self._add(FeatureType.FOOTWAY, [deck[1], self._on_deck(far, *ends[1])], alias)


def network_document(
    lines: Sequence[Line], streets: Sequence[Street], frame: LocalFrame, height_offset: float
) -> dict[str, Any]:
    """Return the network as a GeoJSON FeatureCollection: WGS84 degrees and HKPD metres."""
    return {
        'type': 'FeatureCollection',
        'note': NOTE,
        'features': [
            _feature(number, line, streets, frame, height_offset)
            for number, line in enumerate(lines)
        ],
    }


def _feature(
    number: int, line: Line, streets: Sequence[Street], frame: LocalFrame, height_offset: float
) -> dict[str, Any]:
    latitude, longitude, altitude = frame.to_geodetic(line.points)
    # 1e-9 of a degree and a tenth of a millimetre: ends that meet stay equal.
    latitude, longitude = np.round(latitude, 9), np.round(longitude, 9)
    height = np.round(altitude - height_offset, 4)
    easting, northing = wgs84_to_hk80(latitude, longitude)
    length = float(np.hypot(np.diff(easting), np.diff(northing)).sum())
    gradient = round(abs(float(height[-1] - height[0])) / length, 8) if length else None
    climbs = line.kind in (FeatureType.STAIRCASE, FeatureType.ESCALATOR)
    crossing = line.kind in _CROSSINGS
    street = None if line.street is None else streets[line.street]
    direction = Direction.ONE_WAY_FORWARD if line.one_way else Direction.BOTH_WAYS
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
            'Gradient': gradient,
            'Direction': int(direction),
            'PositionCertainty': 1,
            'Enabled': int(Truth.TRUE if line.enabled else Truth.FALSE),
            'DataSource': _ESTIMATED_SOURCE,
            'LevelSource': _ESTIMATED_LEVEL,
            'StreetNameEN': street.name if street else None,
            'StreetNameTC': street.name_tc if street else None,
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
