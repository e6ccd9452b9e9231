# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ways that climb: steps, escalators and ramps, their parapets and the roofs over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from urbanground_ros.districts.lamps import ceiling_lamp
from urbanground_ros.districts.soup import bar
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import metric_uvs
from urbanground_ros.districts.soup import prism
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.soup import wall

TREAD = 0.30
"""Depth of a step, metres."""
LANDING = 1.6
"""Least length of a landing, metres."""
PARAPET = 1.2
"""Height of a parapet, metres."""
PARAPET_WIDTH = 0.2
"""Thickness of a parapet, metres."""
ROOF = 2.7
"""Height of a roof over a way, metres."""
BURIED = 0.6
"""How far what stands on the ground goes below it, metres."""

WALL_METRES = {'concrete': 4.0, 'tile_cream': 1.2}
"""How wide the textures of walls are, metres."""

_NOSING = 0.05
_RISER = 0.17
_RAIL = 0.95
_ROOF_OVERHANG = 0.45
_LAMP_SPACING = 8.0
_TINY = 1e-6


@dataclass(frozen=True)
class Flight:
    """A climb between two levels, along a way: equal steps, or with no risers a ramp.

    From `start` to `end` metres along it, from height `low` to `high` there; the first riser
    stands at `start`, the last at `end`. A way that goes down has `low` above `high`.
    """

    start: float
    end: float
    low: float
    high: float
    risers: int

    def parts(self) -> list[tuple[float, float, float, float]]:
        """Return (start, end, height there, height there) of every tread, or of the ramp."""
        if not self.risers:
            return [(self.start, self.end, self.low, self.high)]
        run = (self.end - self.start) / (self.risers - 1)
        rise = (self.high - self.low) / self.risers
        return [
            (self.start + run * k, self.start + run * (k + 1), *(self.low + rise * (k + 1),) * 2)
            for k in range(self.risers - 1)
        ]

    def walking_line(self) -> list[tuple[float, float]]:
        """Return (distance, height) of the line through the middle of the treads."""
        half = (self.end - self.start) / (self.risers - 1) / 2 if self.risers else 0.0
        return [(self.start - half, self.low), (self.end + half, self.high)]


def climb(
    start: float, low: float, high: float, flights: int, landing: float = LANDING
) -> list[Flight]:
    """Return flights with landings between that go from one height to another."""
    total = max(flights * 2, round(abs(high - low) / _RISER))
    rise = (high - low) / total
    steps, at, height = [], start, low
    for number in range(flights):
        risers = total * (number + 1) // flights - total * number // flights
        end = at + (risers - 1) * TREAD
        top = height + rise * risers
        steps.append(Flight(at, end, height, top, risers))
        at, height = end + landing, top
    return steps


@dataclass(frozen=True)
class Way:
    """A straight way with level parts and flights.

    `right` and `left` are its edges in plan, (2, 2) from start to end; distances run from 0
    to `length` along its middle, offsets are to the left; `first` is its height at the start.
    """

    right: FloatArray
    left: FloatArray
    first: float
    flights: tuple[Flight, ...] = ()

    @property
    def length(self) -> float:
        """Metres along the middle."""
        return float(np.linalg.norm(self.at_share(1.0, 0.5) - self.at_share(0.0, 0.5)))

    @property
    def half(self) -> float:
        """Half its width, metres."""
        return float(np.linalg.norm(self.left[0] - self.right[0])) / 2

    @property
    def last(self) -> float:
        """Height at the end."""
        return self.flights[-1].high if self.flights else self.first

    def at_share(self, along: float, across: float) -> FloatArray:
        """Return the plan point at shares of length and width, (2,)."""
        right = self.right[0] + (self.right[1] - self.right[0]) * along
        left = self.left[0] + (self.left[1] - self.left[0]) * along
        return right + (left - right) * across

    def at(self, distance: float, offset: float = 0.0) -> FloatArray:
        """Return the plan point at a distance and an offset, (2,)."""
        return self.at_share(distance / self.length, 0.5 + offset / (2 * self.half))

    def parts(self) -> list[tuple[float, float, float, float]]:
        """Return (start, end, height there, height there) of every part, in order."""
        parts, at, height = [], 0.0, self.first
        for flight in self.flights:
            parts += [(at, flight.start, height, height), *flight.parts()]
            at, height = flight.end, flight.high
        parts.append((at, self.length, height, height))
        return [part for part in parts if part[1] - part[0] > _TINY]

    def slope_line(self) -> list[tuple[float, float]]:
        """Return (distance, height) along the whole way, from riser to riser."""
        line = [(0.0, self.first)]
        for flight in self.flights:
            line += [(flight.start, flight.low), (flight.end, flight.high)]
        line.append((self.length, self.last))
        return [p for k, p in enumerate(line) if k == 0 or p[0] - line[k - 1][0] > _TINY]

    def walking_line(self) -> list[tuple[float, float]]:
        """Return (distance, height) along the whole way, smooth over steps."""
        line = [(0.0, self.first)]
        for flight in self.flights:
            line += flight.walking_line()
        return [*line, (self.length, self.last)]

    def walking_points(self, offset: float = 0.0) -> list[FloatArray]:
        """Return the walking line at an offset as points in the map frame, each (3,)."""
        return [np.array([*self.at(d, offset), height]) for d, height in self.walking_line()]

    def half_of(self, side: int) -> Way:
        """Return its left (1) or right (-1) half as a way of its own."""
        middle = (self.right + self.left) / 2
        right, left = (middle, self.left) if side > 0 else (self.right, middle)
        return Way(right, left, self.first, self.flights)


def straight(
    origin: FloatArray, direction: FloatArray, half: float, length: float, first: float,
    flights: Sequence[Flight] = (),
) -> Way:
    """Return a way with square ends, from an origin (2,) along a unit vector (2,)."""
    ends = np.array([origin, origin + direction * length])
    left = np.array([-direction[1], direction[0]]) * half
    return Way(ends - left, ends + left, first, tuple(flights))


def build_way(soup: Soup, way: Way, bottom: float, material: str = 'paving') -> None:
    """Add the treads, and the faces around them down to `bottom`."""
    parts = way.parts()
    right = [way.at(d, -way.half) for d in (0.0, *(end for _, end, *_ in parts))]
    left = [way.at(d, way.half) for d in (0.0, *(end for _, end, *_ in parts))]
    tops, faces, nosings = [], [], []
    for k, (start, end, low, high) in enumerate(parts):
        # The edge above a riser is marked: at the start going up, at the end going down.
        up = k > 0 and low > parts[k - 1][3] + _TINY
        down = k + 1 < len(parts) and high > parts[k + 1][2] + _TINY
        first, last = start + _NOSING * up, end - _NOSING * down
        tops.append(_tread(way, first, last, low, high))
        if up:
            nosings.append(_tread(way, start, first, low, low))
        if down:
            nosings.append(_tread(way, last, end, high, high))
        faces += [
            wall(right[k], right[k + 1], bottom, (low, high)),
            wall(left[k + 1], left[k], bottom, (high, low)),
        ]
    ends = [bottom, *(high for *_, high in parts)], [*(low for _, _, low, _ in parts), bottom]
    for k, (before, after) in enumerate(zip(*ends, strict=True)):
        if after > before + _TINY:
            faces.append(wall(left[k], right[k], before, after))
        elif before > after + _TINY:
            faces.append(wall(right[k], left[k], after, before))
    for name, size, quads in ((material, 3.0, tops), ('concrete', 4.0, faces)):
        array = np.array(quads)
        soup.add(name, array, metric_uvs(array, size))
    if nosings:
        soup.paint('yellow', nosings)


def _tread(way: Way, start: float, end: float, low: float, high: float) -> FloatArray:
    """Return a quad over the whole width of a way, (4, 3)."""
    plan = (
        way.at(start, -way.half), way.at(end, -way.half),
        way.at(end, way.half), way.at(start, way.half),
    )
    return np.column_stack([np.array(plan), (low, high, high, low)])


def build_parapet(
    soup: Soup, way: Way, side: int, bottom: float, top: float | None = None,
    material: str = 'concrete',
) -> None:
    """Add a parapet along the left (1) or right (-1) side, built up from `bottom`.

    It stands outside the way, and follows it or is level at `top`.
    """
    offset = side * (way.half + PARAPET_WIDTH / 2)
    for (start, low), (end, high) in pairwise(way.slope_line()):
        plan = bar(way.at(start, offset), way.at(end, offset), PARAPET_WIDTH)
        ends = np.array([low, high, high, low]) + PARAPET
        quads = prism(plan, bottom, ends if top is None else top)
        soup.add(material, quads, metric_uvs(quads, WALL_METRES[material]))


def build_end(soup: Soup, way: Way, bottom: float, top: float, distance: float) -> None:
    """Add a wall across a way, just before `distance` where it is positive, else after 0."""
    at = distance - PARAPET_WIDTH / 2 if distance > 0 else PARAPET_WIDTH / 2
    reach = way.half + PARAPET_WIDTH
    quads = prism(bar(way.at(at, -reach), way.at(at, reach), PARAPET_WIDTH), bottom, top)
    soup.add('concrete', quads, metric_uvs(quads, 4.0))


def build_rail(soup: Soup, way: Way, offset: float) -> None:
    """Add a thin balustrade with a handrail along the flights of a way."""
    for flight in way.flights:
        plan = bar(way.at(flight.start, offset), way.at(flight.end, offset), 0.1)
        ends = np.array([flight.low, flight.high, flight.high, flight.low])
        soup.paint('steel', prism(plan, ends - 0.1, ends + _RAIL - 0.08))
        rail = bar(way.at(flight.start, offset), way.at(flight.end, offset), 0.16)
        soup.paint('charcoal', prism(rail, ends + _RAIL - 0.08, ends + _RAIL))


def build_roof(
    soup: Soup, way: Way, color: str = 'teal', posts: float = -0.3, spacing: float = 3.6
) -> None:
    """Add a roof that follows a way, on posts along both sides from `posts` over its line.

    Lamps hang under it.
    """
    half = way.half + PARAPET_WIDTH / 2
    distances, heights = (np.array(c) for c in zip(*way.slope_line(), strict=True))
    distances[0] -= 0.3
    distances[-1] += 0.3
    for (start, end), (low, high) in zip(pairwise(distances), pairwise(heights), strict=True):
        plan = bar(way.at(start), way.at(end), 2 * (half + _ROOF_OVERHANG))
        under = np.array([low, high, high, low]) + ROOF
        soup.paint(color, prism(plan, under, under + 0.15))
    for distance in np.linspace(0.2, way.length - 0.2, max(2, round(way.length / spacing))):
        height = float(np.interp(distance, distances, heights))
        for side in (-1, 1):
            post = bar(
                way.at(distance - 0.08, side * half), way.at(distance + 0.08, side * half), 0.16
            )
            soup.paint(color, prism(post, height + posts, height + ROOF + 0.05))
    count = max(1, round(way.length / _LAMP_SPACING))
    for distance in (np.arange(count) + 0.5) * way.length / count:
        ceiling_lamp(soup, way.at(distance, -0.6), way.at(distance, 0.6),
                     float(np.interp(distance, distances, heights)) + ROOF)
