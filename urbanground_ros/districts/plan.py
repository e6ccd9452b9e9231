# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The street plan of a district: a warped grid on its terrain, and what covers each cell.

A plan is drawn in (u, v), where every street is straight and parallel to an axis. Between
crossings of street centre lines the map to the ENU plane is bilinear, so a line of constant u
or v stays straight there, and everything that is drawn from one line meets without a gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from enum import auto
from enum import Enum
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray

from urbanground_ros.city import GeoPoint
from urbanground_ros.districts.errors import DistrictError

FloatArray = NDArray[np.float64]

KERB = 0.13
"""Height of a kerb, metres."""
RAMP = 1.0
"""Length of a dropped kerb, metres."""
MARGIN = 53.0
"""From the centre of the outermost street to the wall around the district, metres in plan."""
PASSAGE = 6.5
"""Half the width of the level passage that a footbridge or subway lands in, metres in plan."""
PATH = 1.6
"""Half the width of a path in a park or an estate, metres in plan."""
SETBACK = 0.25
"""Of the buildings from the sidewalk, metres in plan."""
MOUTH = 1.2
"""From the sidewalk to where the stairs of a footbridge or subway begin, metres in plan."""
HALF_WAY = 1.6
"""Half the width of a footbridge or subway, metres in plan."""
DESCENT = 15.0
"""Length of the stairs of a subway, metres in plan."""
SEA_LEVEL = -2.2
"""Of the water under the street grade at the waterfront, metres."""

_RINGS = (0.0, 40.0, 100.0)
_SEA_RINGS = (0.0, 60.0, 260.0)
_FAR_CELL = 15.0


@dataclass(frozen=True)
class Street:
    """A street: where its centre line is in the plan, its names and its cross-section.

    `carriageway` is half the width of the carriageway and `sidewalk` the width of each
    sidewalk, metres in plan; with no carriageway it is a lane for walkers, paved all across.
    `canopied` is the share of buildings along it with a canopy over the sidewalk.
    """

    at: float
    name: str
    name_tc: str
    carriageway: float = 3.6
    sidewalk: float = 3.2
    canopied: float = 0.15
    signals: bool = False

    @property
    def corridor(self) -> float:
        """From its centre to the buildings."""
        return self.carriageway + self.sidewalk

    @property
    def centre(self) -> float:
        """From its centre to the middle of a sidewalk; a lane is walked in its middle."""
        return self.carriageway + self.sidewalk / 2 if self.carriageway else 0.0


class Use(Enum):
    """What a block is for."""

    BUILDINGS = auto()
    PARK = auto()
    ESTATE = auto()
    PODIUM = auto()


class Segment(Enum):
    """What a street is between two crossings."""

    NONE = auto()
    LEVEL = auto()
    STEPPED = auto()


@dataclass(frozen=True)
class Stepped:
    """A part of a street that runs north, given over to steps, perhaps with an escalator."""

    street: int
    row: int
    half: float = 2.2
    escalator: bool = False


@dataclass(frozen=True)
class Crossover:
    """A footbridge over, or a subway under, a street that runs north, halfway along a row."""

    street: int
    row: int
    subway: bool = False


@dataclass(frozen=True)
class DistrictPlan:
    """A district as declared: everything else follows from it and the seed.

    Attributes:
        name: What it is called in task files and on the command line.
        title: What it is called in text for people; says that it is invented.
        origin: Of the map frame, altitude above the ellipsoid.
        seed: Of everything that is drawn by lot.
        north: Streets that run north, from west to east.
        east: Streets that run east, from south to north.
        climb: Heights along v, as (v, metres over the origin), v increasing.
        swell: Height of the folds of the terrain, relative to Ching Lam's.
        warp: Bend of the streets, relative to Ching Lam's.
        gaps: Parts of streets that do not exist, as (axis, line, part); axis 0 runs east.
        uses: Blocks that are not plain rows of buildings, by (column, row).
        stepped: Parts of streets with steps.
        crossovers: Footbridges and subways between blocks.
        sea: Whether the east side is water.
        deck: Height of the podium decks over the origin, metres.
        storeys: Least and most storeys of low buildings, and of tall ones.
        tall: Share of tall buildings.
        pieces: Least and most buildings in one row of a block.
        thinning: Share of buildings left out, as yards with trees.
        shops: How many named shops there are.
        stalls: Whether lanes have market stalls.
    """

    name: str
    title: str
    origin: GeoPoint
    seed: int
    north: tuple[Street, ...]
    east: tuple[Street, ...]
    climb: tuple[tuple[float, float], ...] = ((0.0, 0.0),)
    swell: float = 0.0
    warp: float = 0.0
    gaps: frozenset[tuple[int, int, int]] = frozenset()
    uses: Mapping[tuple[int, int], Use] = field(default_factory=dict)
    stepped: tuple[Stepped, ...] = ()
    crossovers: tuple[Crossover, ...] = ()
    sea: bool = False
    deck: float = 6.2
    storeys: tuple[tuple[int, int], tuple[int, int]] = ((4, 9), (11, 19))
    tall: float = 0.16
    pieces: tuple[int, int] = (2, 3)
    thinning: float = 0.0
    shops: int = 80
    stalls: bool = False


@dataclass(frozen=True)
class Surface:
    """What covers a cell: a material, and the height of its corners over the street grade.

    `VOID` is the material of a hole.
    """

    material: str
    raised: float


VOID = 'void'


class StreetPlan:
    """Positions, heights and surfaces of a plan; every method takes arrays of any shape.

    Raises:
        DistrictError: streets are too close together or out of order, or a footbridge or subway
            has no room to land.
    """

    def __init__(self, district: DistrictPlan) -> None:
        self.district = district
        self.streets = (district.north, district.east)
        for streets in self.streets:
            for a, b in pairwise(streets):
                if b.at - a.at < a.corridor + b.corridor + 10:
                    raise DistrictError(
                        f'district {district.name}: {a.name} and {b.name} are '
                        f'{b.at - a.at:g} m apart, expected room for a block between them'
                    )
        self.centres = tuple(np.array([s.at for s in streets]) for streets in self.streets)
        self.edges = tuple(
            float(max(-centres[0], centres[-1])) + MARGIN for centres in self.centres
        )
        self._stepped = {(s.street, s.row): s for s in district.stepped}
        for crossover in district.crossovers:
            self._check_landings(crossover)
        self.passages = sorted({self.middle(1, c.row) for c in district.crossovers})
        rings = [tuple(edge + ring for ring in _RINGS) for edge in self.edges]
        east = tuple(self.edges[0] + r for r in _SEA_RINGS) if district.sea else rings[0]
        self._outside = (
            (*(-r for r in rings[0]), *east), (*(-r for r in rings[1]), *rings[1]),
        )
        self._lines_u, self._lines_v = (
            np.array(sorted([*self._outside[axis], *self.centres[axis]])) for axis in (0, 1)
        )
        u, v = np.meshgrid(self._lines_u, self._lines_v, indexing='ij')
        warp = district.warp
        self._x = u + warp * (8.0 * np.sin(v / 68.0 + 0.6) + 2.5 * np.sin(u / 47.0))
        self._y = v + warp * (7.0 * np.sin(u / 62.0 + 2.1) + 2.5 * np.sin(v / 53.0 + 1.0))
        self._z = self._node_heights(u, v)
        first = len(_RINGS)
        self._knots_u = _knots(self._lines_u, first, district.north)
        self._knots_v = _knots(self._lines_v, first, district.east)
        # A passage is level across, as a street is.
        level = [
            (v + side * PASSAGE, float(np.interp(v, *self._knots_v.T)))
            for v in self.passages for side in (-1, 1)
        ]
        self._knots_v = np.array(sorted([*map(tuple, self._knots_v), *level]))

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """Every block, by (column, row)."""
        return [
            (column, row)
            for row in range(len(self.district.east) - 1)
            for column in range(len(self.district.north) - 1)
        ]

    def use(self, column: int, row: int) -> Use:
        """Return what a block is for."""
        return self.district.uses.get((column, row), Use.BUILDINGS)

    def middle(self, axis: int, part: int) -> float:
        """Return the coordinate halfway between two streets."""
        return float(self.centres[axis][part] + self.centres[axis][part + 1]) / 2

    def segment(self, axis: int, line: int, part: int) -> Segment:
        """Return what street `line` is between its crossings `part` and `part + 1`.

        Axis 0 are the streets that run east, axis 1 those that run north.
        """
        lines, parts = len(self.streets[1 - axis]), len(self.streets[axis])
        if not (0 <= line < lines and 0 <= part < parts - 1):
            return Segment.NONE
        if (axis, line, part) in self.district.gaps:
            return Segment.NONE
        if axis == 1 and (line, part) in self._stepped:
            return Segment.STEPPED
        return Segment.LEVEL

    def arm(self, i: int, j: int, axis: int, side: int) -> Segment:
        """Return what leaves crossing (i, j) along an axis, to the side 1 or -1."""
        at, line = (i, j) if axis == 0 else (j, i)
        return self.segment(axis, line, at if side > 0 else at - 1)

    def is_junction(self, i: int, j: int) -> bool:
        """Tell whether both streets come to crossing (i, j)."""
        return all(
            any(self.arm(i, j, axis, side) is not Segment.NONE for side in (-1, 1))
            for axis in (0, 1)
        )

    def crossed(self, i: int, j: int, axis: int, side: int) -> bool:
        """Tell whether a carriageway along an axis is crossed beside (i, j), on one side.

        A lane has one crossing for both sides.
        """
        sides = (side,) if self.streets[axis][(i, j)[axis]].carriageway else (-1, 1)
        return any(self.arm(i, j, axis, s) is Segment.LEVEL for s in sides)

    def is_signalled(self, i: int, j: int) -> bool:
        """Tell whether the crossing has signals; the others are zebras."""
        return self.district.north[i].signals or self.district.east[j].signals

    def block_edge(self, axis: int, line: int, part: int, side: int) -> float:
        """Return where the buildings beside a part of a street begin, on one side of it."""
        street = self.streets[1 - axis][line]
        exists = self.segment(axis, line, part) is not Segment.NONE
        return street.at + side * (street.corridor + SETBACK if exists else 3.0)

    def block_bounds(self, column: int, row: int) -> tuple[float, float, float, float]:
        """Return west, south, east and north of what may be built on in a block."""
        return (
            self.block_edge(1, column, row, 1), self.block_edge(0, row, column, 1),
            self.block_edge(1, column + 1, row, -1), self.block_edge(0, row + 1, column, -1),
        )

    def xy(self, u: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return ENU positions, (..., 2) metres."""
        i, s = _locate(self._lines_u, np.asarray(u, np.float64))
        j, t = _locate(self._lines_v, np.asarray(v, np.float64))
        return np.stack([_bilinear(self._x, i, j, s, t), _bilinear(self._y, i, j, s, t)], -1)

    def grade(self, u: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return the height of the street grade, metres over the origin."""
        s = np.interp(np.asarray(u, np.float64), self._knots_u[:, 0], self._knots_u[:, 1])
        t = np.interp(np.asarray(v, np.float64), self._knots_v[:, 0], self._knots_v[:, 1])
        i = np.clip(s.astype(int), 0, len(self._lines_u) - 2)
        j = np.clip(t.astype(int), 0, len(self._lines_v) - 2)
        return _bilinear(self._z, i, j, s - i, t - j)

    def point(self, u: ArrayLike, v: ArrayLike, raised: ArrayLike = KERB) -> FloatArray:
        """Return ENU positions `raised` metres over the street grade, (..., 3)."""
        z = self.grade(u, v) + np.asarray(raised, np.float64)
        return np.concatenate([self.xy(u, v), z[..., None]], axis=-1)

    def direction(self, u: float, v: float, axis: int) -> FloatArray:
        """Return the unit vector in the ENU plane along an axis of the plan, (2,)."""
        step = (0.5, 0.0) if axis == 0 else (0.0, 0.5)
        along = self.xy(u + step[0], v + step[1]) - self.xy(u - step[0], v - step[1])
        return along / np.linalg.norm(along)

    def bends(self, axis: int, start: float, end: float) -> list[float]:
        """Return where the grade along u (axis 0) or v (axis 1) changes, between two values."""
        knots = (self._knots_u, self._knots_v)[axis][:, 0]
        lines = (self._lines_u, self._lines_v)[axis]
        low, high = sorted((start, end))
        inside = sorted({float(k) for k in (*knots, *lines) if low < k < high})
        return inside if start < end else inside[::-1]

    def lines(self, axis: int, longest: float, kerbs: bool = True) -> FloatArray:
        """Return the grid lines along u (axis 0) or v (axis 1), no gap above `longest`.

        Without kerbs there are only those that the outlines of streets need.
        """
        values = set(self._outside[axis])
        for street in self.streets[axis]:
            values |= {street.at - street.corridor, street.at + street.corridor}
            if kerbs:
                values.add(street.at)
                for offset in (street.carriageway + RAMP, street.carriageway):
                    values |= {street.at - offset, street.at + offset}
        if kerbs:
            values |= self._path_lines(axis)
        values |= self._hole_lines(axis)
        fixed = _apart(sorted(values))
        lines = [fixed[0]]
        for low, high in pairwise(fixed):
            within = longest
            if max(abs(low), abs(high)) > self.edges[axis]:
                within = max(longest, _FAR_CELL, (high - low) / 6)
            parts = max(1, int(np.ceil((high - low) / within)))
            lines += [low + (high - low) * k / parts for k in range(1, parts)] + [high]
        return np.array(lines)

    def surface(self, u: float, v: float) -> Surface:
        """Return what covers the plan at a place."""
        i, du = _street(self.district.north, u)
        j, dv = _street(self.district.east, v)
        if self.district.sea and u > self.edges[0]:
            return Surface('water', SEA_LEVEL)
        if abs(u) > self.edges[0] or abs(v) > self.edges[1]:
            return Surface('hill', KERB)
        if i is not None and j is not None:
            cover = self._crossing(i, j, du, dv)
            if cover is not None:
                return cover
        if i is not None:
            row = int(np.searchsorted(self.centres[1], v)) - 1
            kind = self.segment(1, i, row)
            if kind is Segment.STEPPED:
                stepped = self._stepped[i, row]
                return Surface(VOID if abs(du) < stepped.half else 'grass', KERB)
            if kind is Segment.LEVEL:
                road = abs(du) < self.district.north[i].carriageway
                return Surface('road_v', 0.0) if road else Surface('paving', KERB)
        if j is not None:
            column = int(np.searchsorted(self.centres[0], u)) - 1
            if self.segment(0, j, column) is Segment.LEVEL:
                road = abs(dv) < self.district.east[j].carriageway
                return Surface('road_u', 0.0) if road else Surface('paving', KERB)
        return self._block(u, v)

    def corner_drop(self, u: float, v: float, cell_u: float, cell_v: float) -> float:
        """Return how far a vertex of the cell at (cell_u, cell_v) is dropped for a crossing."""
        i, du = _street(self.district.north, cell_u)
        j, dv = _street(self.district.east, cell_v)
        if i is None or j is None or not self.is_junction(i, j):
            return 0.0
        north, east = self.district.north[i], self.district.east[j]
        if abs(du) < north.carriageway or abs(dv) < east.carriageway:
            return 0.0
        height = 1.0
        if north.carriageway and self.crossed(i, j, 1, int(np.sign(dv))):
            height = min(height, (abs(u - north.at) - north.carriageway) / RAMP)
        if east.carriageway and self.crossed(i, j, 0, int(np.sign(du))):
            height = min(height, (abs(v - east.at) - east.carriageway) / RAMP)
        return KERB * (1.0 - max(height, 0.0))

    def _check_landings(self, crossover: Crossover) -> None:
        street, row = crossover.street, crossover.row
        lines = all(
            self.segment(1, line, row) is Segment.LEVEL for line in range(street - 1, street + 2)
        )
        if not lines or any(
            self.use(column, row) is not Use.BUILDINGS for column in (street - 1, street)
        ):
            raise DistrictError(
                f'district {self.district.name}: the crossover of street {street} in row {row} '
                'cannot land, expected rows of buildings and level streets on both sides'
            )

    def _node_heights(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return heights of the crossings: the climb, with folds in it and hills around."""
        knots = np.array(self.district.climb)
        z = np.interp(v, knots[:, 0], knots[:, 1])
        z = z + self.district.swell * (1.3 * np.sin(u / 60.0 + 0.8) + 0.6 * np.sin(v / 40.0))
        beyond = np.maximum(np.abs(u) - self.edges[0], 0.0)
        if self.district.sea:
            beyond = np.where(u > 0, 0.0, beyond)
        return z + 0.30 * beyond + 7.0 * np.sin(v / 90.0 + u / 70.0) * np.minimum(beyond / 60, 1)

    def _path_lines(self, axis: int) -> set[float]:
        middles = {
            self.middle(axis, block[axis]) for block, use in self.district.uses.items()
            if use in (Use.PARK, Use.ESTATE)
        }
        return {middle + side * PATH for middle in middles for side in (-1, 1)}

    def _hole_lines(self, axis: int) -> set[float]:
        values: set[float] = set()
        if axis == 1:
            values |= {v + side * PASSAGE for v in self.passages for side in (-1, 1)}
        else:
            for s in self.district.stepped:
                at = self.district.north[s.street].at
                values |= {at - s.half, at + s.half}
        for c in self.district.crossovers:
            if c.subway:
                if axis == 1:
                    middle = self.middle(1, c.row)
                    values |= {middle - HALF_WAY, middle + HALF_WAY}
                else:
                    start, end = self.stairs_span(c, 1)
                    at = self.district.north[c.street].at
                    values |= {start, end, 2 * at - start, 2 * at - end}
        return values

    def stairs_span(self, crossover: Crossover, side: int) -> tuple[float, float]:
        """Return where, along u, the stairs of a subway begin near the street and end."""
        street = self.district.north[crossover.street]
        start = street.corridor + MOUTH
        return street.at + side * start, street.at + side * (start + DESCENT)

    def _crossing(self, i: int, j: int, du: float, dv: float) -> Surface | None:
        """Return what covers the square where two streets meet; None where neither does."""
        on_u = abs(du) < self.district.north[i].carriageway
        on_v = abs(dv) < self.district.east[j].carriageway
        if not self.is_junction(i, j):
            for axis, on, name in ((1, on_u, 'road_v'), (0, on_v, 'road_u')):
                kinds = {self.arm(i, j, axis, side) for side in (-1, 1)}
                if kinds != {Segment.NONE}:
                    return Surface(name, 0.0) if on else Surface('paving', KERB)
            return None
        if on_u and on_v:
            return Surface('asphalt', 0.0)
        if not on_u and not on_v:
            return Surface('paving', KERB)
        axis, sign = (1, np.sign(dv)) if on_u else (0, np.sign(du))
        if not self.crossed(i, j, axis, int(sign)):
            return Surface('paving', KERB)
        kind = 'signals' if self.is_signalled(i, j) else 'zebra'
        return Surface(f'{kind}_{"u" if on_u else "v"}', 0.0)

    def _block(self, u: float, v: float) -> Surface:
        column = int(np.searchsorted(self.centres[0], u)) - 1
        row = int(np.searchsorted(self.centres[1], v)) - 1
        if (column, row) not in self.blocks:
            quay = self.district.sea and u > self.centres[0][-1]
            return Surface('paving' if quay else 'grass', KERB)
        for c in self.district.crossovers:
            if c.subway and row == c.row and abs(v - self.middle(1, row)) < HALF_WAY:
                for side in (-1, 1):
                    low, high = sorted(self.stairs_span(c, side))
                    if low < u < high:
                        return Surface(VOID, KERB)
        if self.use(column, row) in (Use.PARK, Use.ESTATE):
            off = min(abs(u - self.middle(0, column)), abs(v - self.middle(1, row)))
            return Surface('paving' if off < PATH else 'grass', KERB)
        return Surface('paving', KERB)


def _apart(values: list[float]) -> list[float]:
    """Return ascending values without those that repeat the one before."""
    return [v for k, v in enumerate(values) if k == 0 or v - values[k - 1] > 1e-6]


def _street(streets: tuple[Street, ...], value: float) -> tuple[int | None, float]:
    """Return the street whose corridor holds a value, and the offset from its centre."""
    offsets = [value - street.at for street in streets]
    nearest = int(np.argmin(np.abs(offsets)))
    if abs(offsets[nearest]) < streets[nearest].corridor:
        return nearest, offsets[nearest]
    return None, 0.0


def _knots(lines: FloatArray, first: int, streets: tuple[Street, ...]) -> FloatArray:
    """Return (value, line number) pairs: level across a street, straight in between."""
    half = np.zeros(len(lines))
    half[first:first + len(streets)] = [street.corridor for street in streets]
    knots = []
    for number, (line, reach) in enumerate(zip(lines, half, strict=True)):
        knots += [(line - reach, number), (line + reach, number)] if reach else [(line, number)]
    return np.array(knots, np.float64)


def _locate(lines: FloatArray, values: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    index = np.clip(np.searchsorted(lines, values, side='right') - 1, 0, len(lines) - 2)
    return index, (values - lines[index]) / (lines[index + 1] - lines[index])


def _bilinear(
    nodes: FloatArray, i: NDArray, j: NDArray, s: FloatArray, t: FloatArray
) -> FloatArray:
    south = nodes[i, j] * (1 - s) + nodes[i + 1, j] * s
    north = nodes[i, j + 1] * (1 - s) + nodes[i + 1, j + 1] * s
    return south * (1 - t) + north * t
