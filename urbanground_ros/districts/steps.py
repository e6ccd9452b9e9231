# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Level and stepped ways of the district: the stepped lane and the footbridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from urbanground_ros.districts.plan import BRIDGE_STREET
from urbanground_ros.districts.plan import CORRIDOR
from urbanground_ros.districts.plan import KERB
from urbanground_ros.districts.plan import LANE
from urbanground_ros.districts.plan import PASSAGE_V
from urbanground_ros.districts.plan import STEPPED_ROW
from urbanground_ros.districts.plan import STEPPED_STREET
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import STREETS_U
from urbanground_ros.districts.plan import STREETS_V
from urbanground_ros.districts.soup import bar
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import metric_uvs
from urbanground_ros.districts.soup import prism
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.soup import wall

_TREAD = 0.30
_NOSING = 0.05
_RISER = 0.17
_LANDING = 1.6
_PARAPET = 1.2
_PARAPET_WIDTH = 0.2
_CLEARANCE = 5.0
_DECK = 0.35
_BRIDGE_HALF = 1.6
_RETAINING_WIDTH = 0.3
_ROOF = 2.7
_BURIED = 0.6
_TINY = 1e-6


@dataclass(frozen=True)
class Flight:
    """Steps between two levels, along a way.

    From `start` to `end` metres along it, from height `low` to `high` there, `risers` equal
    steps; the first riser stands at `start`, the last at `end`. A way that goes down has
    `low` above `high`.
    """

    start: float
    end: float
    low: float
    high: float
    risers: int

    def treads(self) -> list[tuple[float, float, float]]:
        """Return (start, end, height) of every tread."""
        run = (self.end - self.start) / (self.risers - 1)
        rise = (self.high - self.low) / self.risers
        return [
            (self.start + run * k, self.start + run * (k + 1), self.low + rise * (k + 1))
            for k in range(self.risers - 1)
        ]

    def walking_line(self) -> list[tuple[float, float]]:
        """Return (distance, height) of the line through the middle of the treads."""
        half = (self.end - self.start) / (self.risers - 1) / 2
        return [(self.start - half, self.low), (self.end + half, self.high)]


def climb(start: float, low: float, high: float, flights: int) -> list[Flight]:
    """Return flights with landings between that go from one height to another."""
    total = max(flights * 2, round(abs(high - low) / _RISER))
    rise = (high - low) / total
    steps, at, height = [], start, low
    for number in range(flights):
        risers = total * (number + 1) // flights - total * number // flights
        end = at + (risers - 1) * _TREAD
        top = height + rise * risers
        steps.append(Flight(at, end, height, top, risers))
        at, height = end + _LANDING, top
    return steps


@dataclass(frozen=True)
class Way:
    """A straight way with level parts and flights of steps.

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

    def levels(self) -> list[tuple[float, float, float]]:
        """Return (start, end, height) of every level part and tread, in order."""
        parts, at, height = [], 0.0, self.first
        for flight in self.flights:
            parts += [(at, flight.start, height), *flight.treads()]
            at, height = flight.end, flight.high
        return [part for part in [*parts, (at, self.length, height)] if part[1] - part[0] > _TINY]

    def walking_line(self) -> list[tuple[float, float]]:
        """Return (distance, height) along the whole way, smooth over steps."""
        line = [(0.0, self.first)]
        for flight in self.flights:
            line += flight.walking_line()
        return [*line, (self.length, self.last)]


def straight(
    origin: FloatArray, direction: FloatArray, half: float, length: float, first: float,
    flights: Sequence[Flight] = (),
) -> Way:
    """Return a way with square ends, from an origin (2,) along a unit vector (2,)."""
    ends = np.array([origin, origin + direction * length])
    left = np.array([-direction[1], direction[0]]) * half
    return Way(ends - left, ends + left, first, tuple(flights))


def build_way(soup: Soup, way: Way, bottom: float) -> None:
    """Add the treads, and the faces around them down to `bottom`."""
    levels = way.levels()
    edges = [0.0, *(end for _, end, _ in levels)]
    right = [way.at(distance, -way.half) for distance in edges]
    left = [way.at(distance, way.half) for distance in edges]
    heights = [bottom, *(height for _, _, height in levels), bottom]
    tops, faces, nosings = [], [], []
    for k, (start, end, height) in enumerate(levels):
        # The edge above a riser is marked: at the start going up, at the end going down.
        up = k > 0 and height > levels[k - 1][2]
        down = k + 1 < len(levels) and height > levels[k + 1][2]
        low, high = start + _NOSING * up, end - _NOSING * down
        tops.append(_level(way, low, high, height))
        if up:
            nosings.append(_level(way, start, low, height))
        if down:
            nosings.append(_level(way, high, end, height))
        faces += [
            wall(right[k], right[k + 1], bottom, height),
            wall(left[k + 1], left[k], bottom, height),
        ]
    for k, (before, after) in enumerate(pairwise(heights)):
        if after > before:
            faces.append(wall(left[k], right[k], before, after))
        else:
            faces.append(wall(right[k], left[k], after, before))
    for material, size, quads in (('paving', 3.0, tops), ('concrete', 4.0, faces)):
        array = np.array(quads)
        soup.add(material, array, metric_uvs(array, size))
    if nosings:
        soup.paint('yellow', nosings)


def _level(way: Way, start: float, end: float, height: float) -> FloatArray:
    """Return a level quad over the whole width of a way, (4, 3)."""
    plan = (
        way.at(start, -way.half), way.at(end, -way.half),
        way.at(end, way.half), way.at(start, way.half),
    )
    return np.array([[*point, height] for point in plan])


def _parapets(soup: Soup, way: Way, bottom: float) -> None:
    """Add parapets along both sides, built up from `bottom`."""
    nosings = [(0.0, way.first)]
    for flight in way.flights:
        nosings += [(flight.start, flight.low), (flight.end, flight.high)]
    nosings.append((way.length, way.last))
    for side in (-1, 1):
        offset = side * (way.half + _PARAPET_WIDTH / 2)
        for (start, low), (end, high) in pairwise(nosings):
            if end - start > _TINY:
                plan = bar(way.at(start, offset), way.at(end, offset), _PARAPET_WIDTH)
                top = np.array([low, high, high, low]) + _PARAPET
                quads = prism(plan, bottom, top)
                soup.add('concrete', quads, metric_uvs(quads, 4.0))


def stepped_lane(plan: StreetPlan) -> Way:
    """Return the stepped lane between two streets, walked uphill."""
    u = STREETS_U[STEPPED_STREET]
    south = STREETS_V[STEPPED_ROW] + CORRIDOR
    north = STREETS_V[STEPPED_ROW + 1] - CORRIDOR
    low, high = plan.grade(u, south) + KERB, plan.grade(u, north) + KERB
    right, left = (
        np.stack([plan.xy(u + side * LANE, south), plan.xy(u + side * LANE, north)])
        for side in (1, -1)
    )
    length = Way(right, left, float(low)).length
    steps = climb(0.0, float(low), float(high), 2)
    start = (length - steps[-1].end) / 2
    return Way(right, left, float(low), tuple(climb(start, float(low), float(high), 2)))


def build_stepped_lane(soup: Soup, plan: StreetPlan) -> None:
    """Add the stepped lane with its retaining walls."""
    way = stepped_lane(plan)
    bottom = way.first - _BURIED
    build_way(soup, way, bottom)
    distances, heights = zip(*way.walking_line(), strict=True)
    v = np.linspace(
        STREETS_V[STEPPED_ROW] + CORRIDOR, STREETS_V[STEPPED_ROW + 1] - CORRIDOR, 25
    )
    for side in (-1, 1):
        edge = plan.point(STREETS_U[STEPPED_STREET] + side * LANE, v)
        walked = np.interp(np.linspace(0.0, way.length, len(v)), distances, heights)
        top = np.maximum(walked, edge[:, 2]) + _PARAPET
        for k in range(len(v) - 1):
            quads = prism(
                bar(edge[k, :2], edge[k + 1, :2], _RETAINING_WIDTH), bottom,
                (top[k], top[k + 1], top[k + 1], top[k]),
            )
            soup.add('stone', quads, metric_uvs(quads, 4.0))


@dataclass(frozen=True)
class Footbridge:
    """A level deck over a street and the stairs at both ends, each walked downwards."""

    deck: Way
    stairs: tuple[Way, Way]


def footbridge(plan: StreetPlan) -> Footbridge:
    """Return the footbridge over `BRIDGE_STREET`, west stairs first."""
    u = STREETS_U[BRIDGE_STREET]
    west = plan.xy(u - CORRIDOR, PASSAGE_V)
    east = plan.xy(u + CORRIDOR, PASSAGE_V)
    direction = (east - west) / np.linalg.norm(east - west)
    start, end = west - direction * 1.2, east + direction * 1.2
    spread = np.array([-CORRIDOR, 0.0, CORRIDOR])
    road = float(np.max(plan.grade(u + spread, PASSAGE_V))) + KERB
    height = road + _CLEARANCE + _DECK
    length = float(np.linalg.norm(end - start))
    deck = straight(start, direction, _BRIDGE_HALF, length, height)
    stairs = []
    for side, origin in ((-1, start), (1, end)):
        foot = float(plan.grade(u + side * (CORRIDOR + 12.0), PASSAGE_V)) + KERB
        flights = climb(0.3, height, foot, 2)
        stairs.append(straight(
            origin, side * direction, _BRIDGE_HALF, flights[-1].end, height, flights
        ))
    return Footbridge(deck, (stairs[0], stairs[1]))


def build_footbridge(soup: Soup, plan: StreetPlan) -> None:
    """Add the footbridge, with a roof over its deck."""
    bridge = footbridge(plan)
    deck = bridge.deck
    under = deck.first - _DECK
    build_way(soup, deck, under)
    slab = prism(bar(deck.at(0), deck.at(deck.length), 2 * deck.half), under, deck.first)
    soup.add('concrete', slab[5:], metric_uvs(slab[5:], 4.0))
    _parapets(soup, deck, under - 0.1)
    for way in bridge.stairs:
        bottom = way.last - _BURIED
        build_way(soup, way, bottom)
        _parapets(soup, way, bottom)
    _roof(soup, deck)


def _roof(soup: Soup, deck: Way) -> None:
    half = deck.half + _PARAPET_WIDTH
    plan = bar(deck.at(-0.3), deck.at(deck.length + 0.3), 2 * half + 0.5)
    soup.paint('teal', prism(plan, deck.first + _ROOF, deck.first + _ROOF + 0.15))
    posts = max(2, round(deck.length / 3.6))
    for distance in np.linspace(0.2, deck.length - 0.2, posts):
        for side in (-1, 1):
            offset = side * (deck.half + _PARAPET_WIDTH / 2)
            post = bar(
                deck.at(distance - 0.08, offset), deck.at(distance + 0.08, offset), 0.16
            )
            top = deck.first + _ROOF + 0.02
            soup.paint('teal', prism(post, deck.first + _PARAPET - 0.02, top))
