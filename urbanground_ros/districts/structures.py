# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What joins levels and blocks: stepped streets, footbridges, subways, podium decks, walkways.

For each there is a function that lays it out, which the drawing and the network share.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from urbanground_ros.districts.lamps import glow
from urbanground_ros.districts.lamps import path_lamp
from urbanground_ros.districts.plan import Crossover
from urbanground_ros.districts.plan import HALF_WAY
from urbanground_ros.districts.plan import KERB
from urbanground_ros.districts.plan import MOUTH
from urbanground_ros.districts.plan import PATH
from urbanground_ros.districts.plan import Segment
from urbanground_ros.districts.plan import Stepped
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import Use
from urbanground_ros.districts.soup import bar
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import metric_uvs
from urbanground_ros.districts.soup import Model
from urbanground_ros.districts.soup import oriented_box
from urbanground_ros.districts.soup import prism
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.steps import build_end
from urbanground_ros.districts.steps import build_parapet
from urbanground_ros.districts.steps import build_rail
from urbanground_ros.districts.steps import build_roof
from urbanground_ros.districts.steps import build_way
from urbanground_ros.districts.steps import BURIED
from urbanground_ros.districts.steps import climb
from urbanground_ros.districts.steps import Flight
from urbanground_ros.districts.steps import LANDING
from urbanground_ros.districts.steps import PARAPET
from urbanground_ros.districts.steps import PARAPET_WIDTH
from urbanground_ros.districts.steps import ROOF
from urbanground_ros.districts.steps import straight
from urbanground_ros.districts.steps import TREAD
from urbanground_ros.districts.steps import Way

_CLEARANCE = 5.0
_SLAB = 0.35
_DEPTH = 3.9
_HEADROOM = 2.7
_RETAINING_WIDTH = 0.3
_FLIGHT_RISE = 2.2
_APPROACH = 3.0

RING = 3.5
"""From the edge of a podium deck to the way around it, metres in plan."""
TOWER_INSET = 7.5
"""From the edge of a podium deck to the towers on it, metres in plan."""
STAIR_STRIP = 3.9
"""Width of the stairs and escalator of a podium, metres in plan."""
BRIDGE_AT = 14.0
"""From the west edge of a podium to its bridges over streets that run east, metres."""
_RAMP_STRIP = 2.8
_RAMP_SLOPE = 1 / 8
_LIFT = 2.4
_LIFT_DOOR = 2.3
_LIFT_TOP = 2.8
_DECK_LAMPS = 12.0


def build_structures(model: Model, plan: StreetPlan) -> None:
    """Add everything of this module that the plan asks for."""
    district = plan.district
    for stepped in district.stepped:
        _build_stepped(model.fine, plan, stepped)
        _build_stepped(model.coarse, plan, stepped)
    for crossover in district.crossovers:
        for soup in (model.fine, model.coarse):
            if crossover.subway:
                _build_subway(soup, plan, crossover)
            else:
                _build_footbridge(soup, plan, crossover)
    for block in plan.blocks:
        if plan.use(*block) is Use.PODIUM:
            for soup in (model.fine, model.coarse):
                _build_podium(soup, plan, *block)
        elif plan.use(*block) is Use.ESTATE:
            for soup in (model.fine, model.coarse):
                _build_walkways(soup, plan, *block)


# -- stepped streets --------------------------------------------------------------------------

def stepped_way(plan: StreetPlan, stepped: Stepped) -> Way:
    """Return the steps between two streets, walked north."""
    street = plan.district.north[stepped.street]
    below, above = plan.district.east[stepped.row:stepped.row + 2]
    south, north = below.at + below.corridor, above.at - above.corridor
    low, high = (float(plan.grade(street.at, v)) + KERB for v in (south, north))
    right, left = (
        plan.xy([street.at + side * stepped.half] * 2, [south, north]) for side in (1, -1)
    )
    length = Way(right, left, low).length
    flights = max(2, int(np.ceil(abs(high - low) / _FLIGHT_RISE)))
    tight = climb(0.0, low, high, flights)
    spare = length - tight[-1].end - 2 * _APPROACH
    landing = LANDING + max(0.0, spare) / (flights - 1)
    steps = climb(0.0, low, high, flights, landing)
    start = (length - steps[-1].end) / 2
    return Way(right, left, low, tuple(climb(start, low, high, flights, landing)))


def _build_stepped(soup: Soup, plan: StreetPlan, stepped: Stepped) -> None:
    """Add the steps with their retaining walls, and the roof over an escalator."""
    way = stepped_way(plan, stepped)
    bottom = min(way.first, way.last) - BURIED
    if stepped.escalator:
        _build_escalator_pair(soup, way, bottom)
        build_roof(soup, way, 'steel', spacing=5.0)
    else:
        build_way(soup, way, bottom)
    distances, heights = zip(*way.walking_line(), strict=True)
    street = plan.district.north[stepped.street]
    below, above = plan.district.east[stepped.row:stepped.row + 2]
    v = np.linspace(below.at + below.corridor, above.at - above.corridor, 25)
    for side in (-1, 1):
        edge = plan.point(street.at + side * stepped.half, v)
        walked = np.interp(np.linspace(0.0, way.length, len(v)), distances, heights)
        top = np.maximum(walked, edge[:, 2]) + PARAPET
        for k in range(len(v) - 1):
            quads = prism(
                bar(edge[k, :2], edge[k + 1, :2], _RETAINING_WIDTH), bottom,
                (top[k], top[k + 1], top[k + 1], top[k]),
            )
            soup.add('stone', quads, metric_uvs(quads, 4.0))
        if not stepped.escalator:
            for k in range(3 + 2 * side, len(v) - 1, 8):
                path_lamp(soup, np.array([*edge[k, :2], top[k] - 0.1]))


def _build_escalator_pair(soup: Soup, way: Way, bottom: float) -> None:
    """Add stairs (right) beside an escalator (left), with balustrades."""
    build_way(soup, way.half_of(-1), bottom)
    build_way(soup, way.half_of(1), bottom, 'metal')
    build_rail(soup, way, 0.0)
    build_rail(soup, way, way.half - 0.25)


# -- footbridges and subways ------------------------------------------------------------------

@dataclass(frozen=True)
class Link:
    """A level way over or under a street, and the stairs at its ends, walked outwards."""

    deck: Way
    stairs: tuple[Way, Way]


def crossover_link(plan: StreetPlan, crossover: Crossover) -> Link:
    """Return a footbridge or subway, west stairs first."""
    street = plan.district.north[crossover.street]
    v = plan.middle(1, crossover.row)
    reach = street.corridor + MOUTH
    west, east = plan.xy(street.at - reach, v), plan.xy(street.at + reach, v)
    length = float(np.linalg.norm(east - west))
    direction = (east - west) / length
    grades = plan.grade(street.at + street.corridor * np.array([-1.0, 0.0, 1.0]), v)
    if crossover.subway:
        height = float(grades.min()) - _DEPTH
    else:
        height = float(grades.max()) + KERB + _CLEARANCE + _SLAB
    deck = straight(west, direction, HALF_WAY, length, height)
    stairs = []
    for side, origin in ((-1, west), (1, east)):
        if crossover.subway:
            start, end = plan.stairs_span(crossover, side)
            right, left = (
                plan.xy([start, end], [v + turn * HALF_WAY] * 2) for turn in (-side, side)
            )
            ground = float(plan.grade(end, v)) + KERB
            flights = climb(0.0, height, ground, 2)
            first = Way(right, left, height).length - flights[-1].end - TREAD
            stairs.append(Way(right, left, height, tuple(climb(first, height, ground, 2))))
        else:
            foot = float(plan.grade(street.at + side * (street.corridor + 12.0), v)) + KERB
            flights = climb(0.3, height, foot, 2)
            stairs.append(straight(
                origin, side * direction, HALF_WAY, flights[-1].end, height, flights
            ))
    return Link(deck, (stairs[0], stairs[1]))


def _build_footbridge(soup: Soup, plan: StreetPlan, crossover: Crossover) -> None:
    link = crossover_link(plan, crossover)
    _build_deck(soup, link.deck)
    for way in link.stairs:
        bottom = way.last - BURIED
        build_way(soup, way, bottom)
        for side in (-1, 1):
            build_parapet(soup, way, side, bottom)


def _build_deck(soup: Soup, deck: Way) -> None:
    """Add a roofed bridge deck with parapets."""
    under = deck.first - _SLAB
    build_way(soup, deck, under)
    slab = prism(bar(deck.at(0), deck.at(deck.length), 2 * deck.half), under, deck.first)
    soup.add('concrete', slab[5:], metric_uvs(slab[5:], 4.0))
    for side in (-1, 1):
        build_parapet(soup, deck, side, under - 0.1)
    build_roof(soup, deck, posts=PARAPET - 0.02)


def _build_subway(soup: Soup, plan: StreetPlan, crossover: Crossover) -> None:
    link = crossover_link(plan, crossover)
    floor = link.deck.first
    ceiling = floor + _HEADROOM
    build_way(soup, link.deck, floor - 0.3)
    for side in (-1, 1):
        build_parapet(soup, link.deck, side, floor - 0.3, ceiling + 0.1, 'tile_cream')
    width = 2 * (link.deck.half + PARAPET_WIDTH)
    slab = prism(bar(link.deck.at(0), link.deck.at(link.deck.length), width), ceiling,
                 ceiling + 0.2)
    soup.add('concrete', slab, metric_uvs(slab, 4.0))
    for distance in np.arange(2.0, link.deck.length - 1.0, 3.0).tolist():
        tube = bar(link.deck.at(distance), link.deck.at(distance + 1.2), 0.24)
        glow(soup, 'white', prism(tube, ceiling - 0.06, ceiling + 0.02))
    for way in link.stairs:
        top = way.last + PARAPET
        build_way(soup, way, floor - 0.3)
        for side in (-1, 1):
            build_parapet(soup, way, side, floor - 0.3, top, 'tile_cream')
        build_end(soup, way, ceiling, top, 0.0)
        build_roof(soup, Way(way.right, way.left, way.last), 'navy', PARAPET - 0.02)


# -- podiums ----------------------------------------------------------------------------------

@dataclass(frozen=True)
class Podium:
    """A deck over a block, and the ways up to it.

    `low` and `high` are corners of the deck in plan, `deck` and `ground` heights; `stairs`
    (with an escalator as their left half) and `ramp` are walked up and end in landings that
    begin at the distances `stairs_top` and `ramp_top`; the lift stands beyond the stairs, its
    middle at `lift` in plan.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    deck: float
    ground: float
    stairs: Way
    stairs_span: tuple[float, float]
    stairs_top: float
    ramp: Way
    ramp_span: tuple[float, float]
    ramp_top: float
    lift: tuple[float, float]

    def landing(self, way: Way) -> float:
        """Return where, along u, the middle of the landing of `stairs` or `ramp` is."""
        span, top = (
            (self.stairs_span, self.stairs_top) if way is self.stairs
            else (self.ramp_span, self.ramp_top)
        )
        share = (top + way.length) / 2 / way.length
        return span[0] + (span[1] - span[0]) * share


def podium(plan: StreetPlan, column: int, row: int) -> Podium:
    """Return the podium of a block."""
    west, south, east, north = plan.block_bounds(column, row)
    low, high = (west, south + STAIR_STRIP + 0.7), (east, north - _RAMP_STRIP - 0.6)
    ground = float(plan.grade((west + east) / 2, (south + north) / 2)) + KERB
    deck = plan.district.deck
    span = east - 28.0, east - 10.5
    flights = climb(1.2, ground, deck, 2)
    stairs = _along_u(plan, *span, low[1] - STAIR_STRIP, low[1], ground, tuple(flights))
    run = (deck - ground) / _RAMP_SLOPE
    ramp_span = west + 5.0, west + 5.0 + run + 4.6
    slope = Flight(1.0, 1.0 + run, ground, deck, 0)
    ramp = _along_u(plan, *ramp_span, high[1], high[1] + _RAMP_STRIP, ground, (slope,))
    return Podium(
        low, high, deck, ground, stairs, span, flights[-1].end, ramp, ramp_span, slope.end,
        (span[1] + _LIFT / 2, low[1] - _LIFT / 2),
    )


def podium_bridges(plan: StreetPlan, column: int, row: int) -> list[tuple[int, Way]]:
    """Return the bridges from a podium to its neighbours in the east and the north.

    Each is (axis along which it leads, way from edge to edge of the decks).
    """
    own = podium(plan, column, row)
    bridges = []
    for axis, other in ((0, (column + 1, row)), (1, (column, row + 1))):
        if other in plan.blocks and plan.use(*other) is Use.PODIUM:
            far = podium(plan, *other)
            if axis == 0:
                ends = [own.high[0], far.low[0]], [bridge_v(own)] * 2
            else:
                ends = [own.low[0] + BRIDGE_AT] * 2, [own.high[1], far.low[1]]
            start, end = plan.xy(*ends)
            length = float(np.linalg.norm(end - start))
            bridges.append(
                (axis, straight(start, (end - start) / length, HALF_WAY, length, own.deck))
            )
    return bridges


def bridge_v(own: Podium) -> float:
    """Return where, along v, the bridges over streets that run north are."""
    return (own.low[1] + own.high[1]) / 2


def _along_u(
    plan: StreetPlan, start: float, end: float, right: float, left: float, first: float,
    flights: tuple[Flight, ...],
) -> Way:
    """Return a way that leads east in the plan, between two lines of constant v."""
    return Way(
        plan.xy([start, end], [right, right]), plan.xy([start, end], [left, left]), first, flights
    )


def _build_podium(soup: Soup, plan: StreetPlan, column: int, row: int) -> None:
    own = podium(plan, column, row)
    (u0, v0), (u1, v1) = own.low, own.high
    corners = plan.xy([u0, u1, u1, u0], [v0, v0, v1, v1])
    quad = np.column_stack([corners, np.full(4, own.deck)])[None]
    soup.add('paving', quad, metric_uvs(quad, 3.0))
    gaps: dict[int, list[tuple[float, float]]] = {
        0: [(own.landing(own.stairs) - 1.9, own.stairs_span[1])],
        2: [(own.landing(own.ramp) - 1.7, own.ramp_span[1])],
        1: [], 3: [],
    }
    for side, block in ((0, (column, row - 1)), (1, (column + 1, row)),
                        (2, (column, row + 1)), (3, (column - 1, row))):
        if block in plan.blocks and plan.use(*block) is Use.PODIUM:
            at = bridge_v(own) if side in (1, 3) else u0 + BRIDGE_AT
            gaps[side].append((at - HALF_WAY, at + HALF_WAY))
    for side, fixed in ((0, v0), (1, u1), (2, v1), (3, u0)):
        axis = side % 2
        stops = [own.low[axis], *(g for gap in sorted(gaps[side]) for g in gap), own.high[axis]]
        for start, end in zip(stops[::2], stops[1::2], strict=True):
            inset = PARAPET_WIDTH / 2 * (1 if side in (0, 3) else -1)
            line = np.array([[start, fixed + inset], [end, fixed + inset]])
            p, q = plan.xy(*(line.T if axis == 0 else line.T[::-1]))
            quads = prism(bar(p, q, PARAPET_WIDTH), own.deck, own.deck + PARAPET)
            soup.add('concrete', quads, metric_uvs(quads, 4.0))
            count = int(np.linalg.norm(q - p) / _DECK_LAMPS)
            for share in (np.arange(count) + 0.5) / max(count, 1):
                path_lamp(soup, np.array([*(p + (q - p) * share), own.deck + 0.3]))
    bottom = own.ground - BURIED
    _build_escalator_pair(soup, own.stairs, bottom)
    build_parapet(soup, own.stairs, -1, bottom)
    build_way(soup, own.ramp, bottom)
    build_parapet(soup, own.ramp, 1, bottom)
    build_end(soup, own.ramp, bottom, own.deck + PARAPET, own.ramp.length)
    _build_lift(soup, plan, own)
    for axis, way in podium_bridges(plan, column, row):
        _build_deck(soup, way)
        street = plan.streets[axis][column + 1 if axis == 0 else row + 1]
        for share in (-1, 1):
            at = way.length / 2 + share * (street.carriageway + 0.5)
            foot = float(plan.grade(*_plan_middle(plan, axis, column, row))) - 0.2
            plan_square = bar(way.at(at - 0.22), way.at(at + 0.22), 0.5)
            soup.paint('cream', prism(plan_square, foot, way.first - _SLAB))


def _plan_middle(plan: StreetPlan, axis: int, column: int, row: int) -> tuple[float, float]:
    """Return the plan point of the street that a podium's bridge leads over."""
    if axis == 0:
        return plan.district.north[column + 1].at, plan.middle(1, row)
    return plan.middle(0, column), plan.district.east[row + 1].at


def _build_lift(soup: Soup, plan: StreetPlan, own: Podium) -> None:
    """Add the shaft: a doorway in the south at the ground, and in the west at the deck."""
    u0, u1 = own.stairs_span[1], own.stairs_span[1] + _LIFT
    v0, v1 = own.low[1] - _LIFT, own.low[1]
    top = own.deck + _LIFT_TOP
    corners = {name: plan.xy(*at) for name, at in {
        'sw': (u0, v0), 'se': (u1, v0), 'ne': (u1, v1), 'nw': (u0, v1),
    }.items()}
    for start, end, low, high in (
        ('sw', 'se', own.ground + _LIFT_DOOR, top),
        ('se', 'ne', own.ground - BURIED, top),
        ('ne', 'nw', own.ground - BURIED, top),
        ('nw', 'sw', own.ground - BURIED, own.deck - 0.02),
        ('nw', 'sw', own.deck + _LIFT_DOOR, top),
    ):
        p, q = corners[start], corners[end]
        soup.paint('teal' if high > own.deck else 'steel', prism(bar(p, q, 0.12), low, high))
    plan_square = np.array([corners[name] for name in ('sw', 'se', 'ne', 'nw')])
    soup.paint('steel', prism(plan_square, own.deck - 0.1, own.deck))
    soup.paint('charcoal', prism(plan_square, top, top + 0.2))
    # What is left of the end of the landing, beside the doorway.
    p, q = plan.xy([u0 - 0.1] * 2, [v0, own.low[1] - STAIR_STRIP - PARAPET_WIDTH])
    quads = prism(bar(p, q, PARAPET_WIDTH), own.ground - BURIED, own.deck + PARAPET)
    soup.add('concrete', quads, metric_uvs(quads, 4.0))


# -- paths through parks and estates ----------------------------------------------------------

@dataclass(frozen=True)
class PathArm:
    """One of the paths that meet in the middle of a block.

    It leads along `axis` from `gate`, in the middle of a sidewalk or at the path of the next
    block, by `edge`, where the block begins, to the middle; values are those of the axis.
    """

    axis: int
    side: int
    gate: float
    edge: float
    middle: float
    across: float
    segment: Segment

    def points(self, plan: StreetPlan, start: float, end: float) -> FloatArray:
        """Return its line between two values, (N, 3), with every bend of the ground."""
        values = [start, *plan.bends(self.axis, start, end), end]
        pairs = [(v, self.across) if self.axis == 0 else (self.across, v) for v in values]
        return np.array([plan.point(*pair) for pair in pairs])


def path_arms(plan: StreetPlan, column: int, row: int) -> list[PathArm]:
    """Return the paths of a park or an estate; none leads to a stepped street."""
    arms = []
    block = (column, row)
    for axis in (0, 1):
        for side in (-1, 1):
            line = block[axis] + (side > 0)
            street = plan.streets[axis][line]
            segment = plan.segment(1 - axis, line, block[1 - axis])
            if segment is Segment.STEPPED:
                continue
            level = segment is Segment.LEVEL
            gate = street.at - side * street.centre if level else street.at
            edge = street.at - side * street.corridor if level else street.at
            arms.append(PathArm(
                axis, side, gate, edge, plan.middle(axis, block[axis]),
                plan.middle(1 - axis, block[1 - axis]), segment,
            ))
    return arms


def _build_walkways(soup: Soup, plan: StreetPlan, column: int, row: int) -> None:
    """Add roofs over the paths of an estate; none has a post where they meet."""
    half = PATH + 0.2
    for arm in path_arms(plan, column, row):
        points = arm.points(plan, arm.edge, arm.middle + arm.side * (half + 0.8))
        for start, end in pairwise(points):
            length = float(np.linalg.norm((end - start)[:2]))
            direction = (end - start)[:2] / length
            slope = Flight(0.0, length, start[2], end[2], 0)
            way = straight(start[:2], direction, half, length, start[2], [slope])
            build_roof(soup, way, 'rust', spacing=4.5)
    middle = plan.point(plan.middle(0, column), plan.middle(1, row))
    along = plan.direction(plan.middle(0, column), plan.middle(1, row), 0)
    centre = oriented_box(middle[:2], along, 2 * half + 2.4, 2 * half + 2.4)
    soup.paint('rust', prism(centre, middle[2] + ROOF + 0.12, middle[2] + ROOF + 0.3))
