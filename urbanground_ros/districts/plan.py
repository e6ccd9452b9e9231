# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The street plan of a district: a warped grid on a hillside, and what covers each cell.

The plan is drawn in (u, v), where every street is straight and parallel to an axis. Between
crossings of street centre lines the map to the ENU plane is bilinear, so a line of constant u
or v stays straight there, and everything that is drawn from one line meets without a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

CARRIAGEWAY = 3.6
"""Half the width of the carriageway, metres in plan."""
SIDEWALK = 3.2
"""Width of a sidewalk, metres in plan."""
CORRIDOR = CARRIAGEWAY + SIDEWALK
"""From the centre of a street to the buildings, metres in plan."""
KERB = 0.13
"""Height of a kerb, metres."""
RAMP = 1.0
"""Length of a dropped kerb, metres."""
CENTRE = CARRIAGEWAY + SIDEWALK / 2
"""From the centre of a street to the centre line of its sidewalk, metres in plan."""
EDGE = 200.0
"""From the origin to the wall around the district, metres in plan."""
PASSAGE = 6.5
"""Half the width of the level passage that the footbridge lands in, metres in plan."""
LANE = 2.2
"""Half the width of the stepped lane, metres in plan."""

STREETS_U = (-148.0, -74.0, 0.0, 72.0, 146.0)
STREETS_V = (-147.0, -73.0, 1.0, 74.0, 147.0)
_RINGS = (EDGE, 240.0, 300.0)
_FAR_CELL = 15.0
PASSAGE_V = (STREETS_V[3] + STREETS_V[4]) / 2
BRIDGE_STREET = 2
STEPPED_STREET = 3
STEPPED_ROW = 1
PARK = (2, 1)
PARK_PATH = 1.6
"""Half the width of a park path, metres in plan."""


@dataclass(frozen=True)
class Surface:
    """What covers a cell: a material, and the height of its corners over the street grade."""

    material: str
    raised: float


class StreetPlan:
    """Positions, heights and surfaces of the plan; every method takes arrays of any shape."""

    def __init__(self) -> None:
        outside = tuple(-r for r in reversed(_RINGS))
        self._lines_u = np.array(outside + STREETS_U + _RINGS)
        self._lines_v = np.array(outside + STREETS_V + _RINGS)
        u, v = np.meshgrid(self._lines_u, self._lines_v, indexing='ij')
        self._x = u + 8.0 * np.sin(v / 68.0 + 0.6) + 2.5 * np.sin(u / 47.0)
        self._y = v + 7.0 * np.sin(u / 62.0 + 2.1) + 2.5 * np.sin(v / 53.0 + 1.0)
        self._z = _node_heights(u, v)
        first = len(_RINGS)
        self._knots_u = _knots(self._lines_u, range(first, first + len(STREETS_U)))
        self._knots_v = _knots(self._lines_v, range(first, first + len(STREETS_V)))
        # The passage of the footbridge is level across, as a street is.
        middle = first + 3.5
        self._knots_v = np.array(sorted([
            *map(tuple, self._knots_v),
            (PASSAGE_V - PASSAGE, middle),
            (PASSAGE_V + PASSAGE, middle),
        ]))

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

    def bends(self, axis: int, start: float, end: float) -> list[float]:
        """Return where the grade along u (axis 0) or v (axis 1) changes, between two values."""
        knots = (self._knots_u, self._knots_v)[axis][:, 0]
        lines = (self._lines_u, self._lines_v)[axis]
        low, high = sorted((start, end))
        inside = sorted({float(k) for k in (*knots, *lines) if low < k < high})
        return inside if start < end else inside[::-1]

    def lines(self, axis: int, longest: float) -> FloatArray:
        """Return the grid lines along u (axis 0) or v (axis 1), no gap above `longest`."""
        streets = (STREETS_U, STREETS_V)[axis]
        values = {float(ring) * sign for ring in _RINGS for sign in (-1, 1)}
        for street in streets:
            for offset in (CORRIDOR, CARRIAGEWAY + RAMP, CARRIAGEWAY):
                values |= {street - offset, street + offset}
            values.add(street)
        park = (streets[PARK[axis]] + streets[PARK[axis] + 1]) / 2
        values |= {park - PARK_PATH, park + PARK_PATH}
        if axis == 1:
            values |= {PASSAGE_V - PASSAGE, PASSAGE_V + PASSAGE}
        else:
            values |= {STREETS_U[STEPPED_STREET] + side * LANE for side in (-1, 1)}
        fixed = sorted(values)
        lines = [fixed[0]]
        for low, high in pairwise(fixed):
            within = longest if max(abs(low), abs(high)) <= EDGE else max(longest, _FAR_CELL)
            parts = max(1, int(np.ceil((high - low) / within)))
            lines += [low + (high - low) * k / parts for k in range(1, parts)] + [high]
        return np.array(lines)


def has_arm(i: int, j: int, du: int, dv: int) -> bool:
    """Tell whether a carriageway leaves crossing (i, j) in a direction of the plan."""
    if not (0 <= i + du < len(STREETS_U) and 0 <= j + dv < len(STREETS_V)):
        return False
    row = j if dv > 0 else j - 1
    return not (dv and i == STEPPED_STREET and row == STEPPED_ROW)


def is_signalled(i: int, j: int) -> bool:
    """Tell whether the crossing has signals; the others are zebras."""
    return BRIDGE_STREET in (i, j)


def surface(u: float, v: float) -> Surface | None:
    """Return what covers the plan at a place, None where the stepped lane is."""
    i, du = _street(STREETS_U, u)
    j, dv = _street(STREETS_V, v)
    if i is not None and j is not None:
        return _junction(i, j, du, dv)
    if max(abs(u), abs(v)) > EDGE:
        return Surface('hill', KERB)
    if i is not None and STREETS_V[0] < v < STREETS_V[-1]:
        row = int(np.searchsorted(STREETS_V, v)) - 1
        if (i, row) == (STEPPED_STREET, STEPPED_ROW):
            return None if abs(du) < LANE else Surface('grass', KERB)
        return Surface('road_v', 0.0) if abs(du) < CARRIAGEWAY else Surface('paving', KERB)
    if j is not None and STREETS_U[0] < u < STREETS_U[-1]:
        return Surface('road_u', 0.0) if abs(dv) < CARRIAGEWAY else Surface('paving', KERB)
    return _block(u, v)


def _junction(i: int, j: int, du: float, dv: float) -> Surface:
    on_u, on_v = abs(du) < CARRIAGEWAY, abs(dv) < CARRIAGEWAY
    if on_u and on_v:
        return Surface('asphalt', 0.0)
    if not on_u and not on_v:
        return Surface('paving', KERB)
    arm = has_arm(i, j, 0 if on_u else int(np.sign(du)), 0 if on_v else int(np.sign(dv)))
    if not arm:
        return Surface('paving', KERB)
    kind = 'signals' if is_signalled(i, j) else 'zebra'
    return Surface(f'{kind}_{"u" if on_u else "v"}', 0.0)


def _block(u: float, v: float) -> Surface:
    column = int(np.searchsorted(STREETS_U, u)) - 1
    row = int(np.searchsorted(STREETS_V, v)) - 1
    inside = 0 <= column < len(STREETS_U) - 1 and 0 <= row < len(STREETS_V) - 1
    if not inside:
        return Surface('grass', KERB)
    if (column, row) == PARK:
        middle_u = (STREETS_U[column] + STREETS_U[column + 1]) / 2
        middle_v = (STREETS_V[row] + STREETS_V[row + 1]) / 2
        path = min(abs(u - middle_u), abs(v - middle_v)) < PARK_PATH
        return Surface('paving' if path else 'grass', KERB)
    return Surface('paving', KERB)


def corner_drop(u: float, v: float, cell_u: float, cell_v: float) -> float:
    """Return how far a vertex of the cell at (cell_u, cell_v) is dropped for a crossing."""
    i, du = _street(STREETS_U, cell_u)
    j, dv = _street(STREETS_V, cell_v)
    if i is None or j is None or min(abs(du), abs(dv)) < CARRIAGEWAY:
        return 0.0
    height = 1.0
    if has_arm(i, j, 0, int(np.sign(dv))):
        height = min(height, (abs(u - STREETS_U[i]) - CARRIAGEWAY) / RAMP)
    if has_arm(i, j, int(np.sign(du)), 0):
        height = min(height, (abs(v - STREETS_V[j]) - CARRIAGEWAY) / RAMP)
    return KERB * (1.0 - max(height, 0.0))


def _street(streets: tuple[float, ...], value: float) -> tuple[int | None, float]:
    """Return the street whose corridor holds a value, and the offset from its centre."""
    offsets = [value - street for street in streets]
    nearest = int(np.argmin(np.abs(offsets)))
    if abs(offsets[nearest]) < CORRIDOR:
        return nearest, offsets[nearest]
    return None, 0.0


def _node_heights(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return heights of the crossings: a hillside that climbs north, with folds in it."""
    rows = np.array([-300.0, -240, -EDGE, *STREETS_V, EDGE, 240, 300])
    climb = np.array([-22.0, -9, -1.5, 1.5, 7.0, 13.5, 19.0, 24.0, 28.5, 43, 76])
    z = np.interp(v, rows, climb) + 1.3 * np.sin(u / 60.0 + 0.8) + 0.6 * np.sin(v / 40.0)
    beyond = np.maximum(np.abs(u) - EDGE, 0.0)
    return z + 0.30 * beyond + 7.0 * np.sin(v / 90.0 + u / 70.0) * np.minimum(beyond / 60, 1)


def _knots(lines: FloatArray, streets: range) -> FloatArray:
    """Return (value, line number) pairs: level across a street, straight in between."""
    knots = []
    for number, line in enumerate(lines):
        half = CORRIDOR if number in streets else 0.0
        knots += [(line - half, number), (line + half, number)] if half else [(line, number)]
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
