# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Trees, lamps, benches, vehicles, and the wall around a district."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from urbanground_ros.districts.lamps import glow
from urbanground_ros.districts.lamps import path_lamp
from urbanground_ros.districts.lamps import street_lamp
from urbanground_ros.districts.plan import KERB
from urbanground_ros.districts.plan import PASSAGE
from urbanground_ros.districts.plan import PATH
from urbanground_ros.districts.plan import Segment
from urbanground_ros.districts.plan import Street
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import Use
from urbanground_ros.districts.soup import bar
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import metric_uvs
from urbanground_ros.districts.soup import Model
from urbanground_ros.districts.soup import oriented_box
from urbanground_ros.districts.soup import prism
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.soup import square
from urbanground_ros.districts.textures import plate_uv
from urbanground_ros.tiles import Instance

_WALL = 3.0
_RAILING = 1.4
_GATE = 4.5
_DOOR = 3.5
_LANE_LAMPS = 14.0
_PARK_LAMPS = 14.0
_SHIFTS = (0.0, 2.0, -2.0, 4.0, -4.0)
_CARS = ('white', 'red', 'steel', 'charcoal', 'navy', 'green')
_AWNINGS = ('red', 'green', 'teal', 'orange', 'navy')


def build_furniture(
    soup: Soup, plan: StreetPlan, rng: np.random.Generator, doors: FloatArray
) -> None:
    """Add what stands in the streets and parks.

    It keeps clear of the sidewalks' centre lines, and of `doors`, plan points (N, 2).
    """
    for axis in (1, 0):
        for line, street in enumerate(plan.streets[1 - axis]):
            for part, (near, far) in enumerate(pairwise(plan.streets[axis])):
                if plan.segment(axis, line, part) is not Segment.LEVEL:
                    continue
                span = near.at + near.corridor, far.at - far.corridor
                if street.carriageway:
                    bridge = axis == 1 and any(
                        (c.street, c.row) == (line, part) for c in plan.district.crossovers
                    )
                    passage = plan.middle(1, part) if bridge else None
                    _street(soup, plan, rng, axis, street, span, passage)
                else:
                    stalls = _stalls(soup, plan, rng, axis, street, span, doors) \
                        if plan.district.stalls else []
                    _lane_lamps(soup, plan, axis, street, span, np.array(
                        [*doors, *stalls]).reshape(-1, 2))
    for i in range(len(plan.district.north)):
        for j in range(len(plan.district.east)):
            if plan.is_junction(i, j):
                for side in (1, -1):
                    _name_post(soup, plan, i, j, side)
                if plan.is_signalled(i, j):
                    _signal_post(soup, plan, i, j, 1, -1)
                    _signal_post(soup, plan, i, j, -1, 1)
    for block in plan.blocks:
        if plan.use(*block) in (Use.PARK, Use.ESTATE):
            _park(soup, plan, rng, *block)
    for crossover in plan.district.crossovers:
        for column in (crossover.street - 1, crossover.street):
            west, _, east, _ = plan.block_bounds(column, crossover.row)
            beside = plan.middle(1, crossover.row) + PASSAGE - 1.0
            for u in np.arange(west + 3.0, east - 2.0, _LANE_LAMPS).tolist():
                path_lamp(soup, plan.point(u, beside))
    if plan.district.sea:
        _quay(soup, plan, rng)
    _slopes(soup, plan, rng)


def _kerb_line(street: Street) -> float:
    """Return from the centre of a street to what stands along its kerb."""
    return street.carriageway + 0.4 if street.carriageway else street.corridor - 0.3


def _street(
    soup: Soup,
    plan: StreetPlan,
    rng: np.random.Generator,
    axis: int,
    street: Street,
    span: tuple[float, float],
    passage: float | None,
) -> None:
    line, kerb = street.at, _kerb_line(street)
    for side in (-1, 1):
        at = span[0] + 6.0 + rng.uniform(0, 3)
        lamp = side > 0
        while at < span[1] - 5.0:
            if passage is None or abs(at - passage) >= PASSAGE:
                if lamp:
                    street_lamp(soup, _place(plan, axis, line, side * (kerb - 0.1), at),
                                _across(plan, axis, line, -side, at))
                elif rng.random() < 0.6:
                    _tree(soup, rng, _place(plan, axis, line, side * kerb, at), 3.0)
            at += rng.uniform(9, 12)
            lamp = not lamp
        if rng.random() < 0.55 and passage is None:
            at = rng.uniform(span[0] + 8, span[1] - 8)
            offset = side * (street.carriageway - 1.25)
            ahead = _place(plan, axis, line, offset, at + 1) - _place(
                plan, axis, line, offset, at - 1
            )
            _vehicle(soup, rng, _place(plan, axis, line, offset, at, 0.0), ahead / 2)


def _stalls(
    soup: Soup, plan: StreetPlan, rng: np.random.Generator, axis: int, street: Street,
    span: tuple[float, float], doors: FloatArray,
) -> list[FloatArray]:
    """Add market stalls along one side of a lane, clear of its middle and of doors.

    Return where they stand, (2,) each.
    """
    found = []
    side = 1 if rng.random() < 0.5 else -1
    at = span[0] + 3.0
    while at < span[1] - 3.0:
        foot = _place(plan, axis, street.at, side * (street.corridor - 0.45), at)
        joined = abs(at - (span[0] + span[1]) / 2) < _GATE
        door = np.hypot(*(doors - foot[:2]).T).min(initial=np.inf) < _DOOR
        if rng.random() < 0.55 and not joined and not door:
            found.append(foot[:2])
            along = plan.direction(*((at, street.at) if axis == 0 else (street.at, at)), axis)
            table = oriented_box(foot[:2], along, 1.9, 0.7)
            soup.paint('timber', prism(table, foot[2] - 0.2, foot[2] + 0.8))
            goods = oriented_box(foot[:2], along, 1.7, 0.55)
            soup.paint(('orange', 'green', 'red', 'yellow')[rng.integers(4)],
                       prism(goods, foot[2] + 0.8, foot[2] + 0.98))
            awning = oriented_box(foot[:2], along, 2.2, 1.3)
            soup.paint(_AWNINGS[rng.integers(len(_AWNINGS))],
                       prism(awning, foot[2] + 2.25, foot[2] + 2.33))
            for end in (-0.95, 0.95):
                pole = square(np.array([*(foot[:2] + along * end), foot[2]]), 0.03)
                soup.paint('steel', prism(pole, foot[2] - 0.2, foot[2] + 2.26))
        at += rng.uniform(2.6, 4.5)
    return found


def _lane_lamps(
    soup: Soup, plan: StreetPlan, axis: int, street: Street, span: tuple[float, float],
    others: FloatArray,
) -> None:
    """Add lamps along a lane, left and right in turn, clear of its middle and of `others`.

    `others` (N, 2) are doors and stalls.
    """
    count = max(1, round((span[1] - span[0]) / _LANE_LAMPS))
    for number in range(count):
        side = 1 if number % 2 else -1
        for shift in _SHIFTS:
            at = span[0] + (number + 0.5) * (span[1] - span[0]) / count + shift
            foot = _place(plan, axis, street.at, side * _kerb_line(street), at)
            joined = abs(at - (span[0] + span[1]) / 2) < _GATE
            inside = span[0] + 2.0 < at < span[1] - 2.0
            near = np.hypot(*(others - foot[:2]).T).min(initial=np.inf) < _DOOR
            if inside and not joined and not near:
                path_lamp(soup, foot)
                break


def _place(
    plan: StreetPlan, axis: int, line: float, offset: float, at: float, raised: float = KERB
) -> FloatArray:
    u, v = (at, line + offset) if axis == 0 else (line + offset, at)
    return plan.point(u, v, raised)


def _across(plan: StreetPlan, axis: int, line: float, side: float, at: float) -> FloatArray:
    step = (_place(plan, axis, line, side, at) - _place(plan, axis, line, 0.0, at))[:2]
    return step / np.linalg.norm(step)


def _tree(soup: Soup, rng: np.random.Generator, foot: FloatArray, clear: float) -> None:
    """Add a tree whose crown starts `clear` metres over its foot."""
    radius = float(rng.uniform(1.1, 1.5))
    height = clear + radius * 0.9
    soup.paint('timber', prism(square(foot, 0.11), foot[2] - 0.4, foot[2] + height)[:4])
    for lift, share in ((0.0, 1.0), (0.75, 0.72)):
        sway = rng.uniform(-0.25, 0.25, 2) * radius
        centre = foot + np.array([*sway, height + lift * radius])
        _crown(soup, centre, radius * share, radius * share * 0.85, rng)


def _crown(
    soup: Soup, centre: FloatArray, radius: float, half_height: float, rng: np.random.Generator
) -> None:
    """Add a rounded mass of leaves of 7 by 4 quads."""
    turn = np.linspace(0, 2 * np.pi, 8) + rng.uniform(0, 1)
    tilt = np.linspace(-np.pi / 2, np.pi / 2, 5)
    lumps = 1 + rng.uniform(-0.2, 0.12, (5, 7))
    lumps = np.column_stack([lumps, lumps[:, 0]])
    rim = np.cos(tilt)[:, None] * radius * lumps
    height = np.sin(tilt)[:, None] * half_height
    points = np.stack([
        centre[0] + rim * np.cos(turn), centre[1] + rim * np.sin(turn),
        centre[2] + np.broadcast_to(height, rim.shape),
    ], axis=-1)
    quads = np.stack(
        [points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]], axis=2
    ).reshape(-1, 4, 3)
    share = np.arange(8) / 7
    uvs = np.stack(np.meshgrid(np.linspace(0, 1, 5), share * 3, indexing='ij')[::-1], axis=-1)
    soup.add('foliage', quads, np.stack(
        [uvs[:-1, :-1], uvs[:-1, 1:], uvs[1:, 1:], uvs[1:, :-1]], axis=2
    ))


def _name_post(soup: Soup, plan: StreetPlan, i: int, j: int, side: int) -> None:
    """Add a lamp post with the names of both streets, readable from both sides.

    It stands at the corner in the north-east or the south-west, by its side 1 or -1.
    """
    north, east = plan.district.north[i], plan.district.east[j]
    u, v = north.at + side * _kerb_line(north), east.at + side * _kerb_line(east)
    foot = plan.point(u, v)
    inward = plan.xy(north.at, east.at) - foot[:2]
    street_lamp(soup, foot, inward / np.linalg.norm(inward))
    names = len(plan.district.north) + len(plan.district.east)
    for row, street, low, ahead in (
        (len(plan.district.north) + j, east, 2.55, plan.xy(u + side, v)),
        (i, north, 2.95, plan.xy(u, v + side)),
    ):
        along = ahead - foot[:2]
        along = along / np.linalg.norm(along)
        board = bar(foot[:2] + along * 0.07, foot[:2] + along * 1.75, 0.06)
        quads = prism(board, foot[2] + low, foot[2] + low + 0.36)
        soup.add('plates', quads[[0, 2]], np.stack([plate_uv(row, names)] * 2),
                 Instance('plate', street.name))
        soup.paint('charcoal', quads[[1, 3, 4, 5]])


def _signal_post(
    soup: Soup, plan: StreetPlan, i: int, j: int, side_u: int, side_v: int
) -> None:
    """Add traffic lights at a corner, heads towards both streets."""
    north, east = plan.district.north[i], plan.district.east[j]
    foot = plan.point(
        north.at + side_u * _kerb_line(north), east.at + side_v * _kerb_line(east)
    )
    soup.paint('steel', prism(square(foot, 0.07), foot[2] - 0.4, foot[2] + 3.3))
    head = square(foot, 0.17)
    soup.paint('charcoal', prism(head, foot[2] + 2.4, foot[2] + 3.4))
    lamps = square(foot, 0.175)
    for number, color in enumerate(('green', 'yellow', 'red')):
        low = foot[2] + 2.48 + 0.3 * number
        sides = prism(lamps, low, low + 0.22)[:4]
        centre, half = sides.mean(axis=1, keepdims=True), np.array([0.65, 0.65, 1.0])
        paint = glow if color == ('green' if side_u > 0 else 'red') else Soup.paint
        paint(soup, color, centre + (sides - centre) * half)


def _bench(soup: Soup, foot: FloatArray, along: FloatArray) -> None:
    soup.paint('timber', prism(oriented_box(foot[:2], along, 1.6, 0.45),
                               foot[2] + 0.36, foot[2] + 0.44))
    for end in (-0.6, 0.6):
        leg = oriented_box(foot[:2] + along * end, along, 0.1, 0.4)
        soup.paint('charcoal', prism(leg, foot[2] - 0.2, foot[2] + 0.37))


def _vehicle(
    soup: Soup, rng: np.random.Generator, foot: FloatArray, ahead: FloatArray
) -> None:
    """Add a parked car or van, tilted as the street is."""
    length = float(np.hypot(*ahead[:2]))
    along = ahead[:2] / length
    slope = ahead[2] / length
    van = bool(rng.random() < 0.3)
    color = _CARS[rng.integers(len(_CARS))]
    size, height = ((4.9, 2.0) if van else (4.3, 1.42))

    def part(at: float, long: float, wide: float, low: float, high: float, paint: str) -> None:
        plan = oriented_box(foot[:2] + along * at, along, long, wide)
        lift = foot[2] + slope * (at + np.array([-1, 1, 1, -1]) * long / 2)
        soup.paint(paint, prism(plan, lift + low, lift + high))

    part(0.0, size, 1.74, 0.28, 0.86, color)
    cabin = size * (0.92 if van else 0.52)
    part(-0.1, cabin, 1.6, 0.86, height - 0.08, 'charcoal')
    part(-0.1, cabin * 0.96, 1.66, height - 0.08, height, color)
    for end in (-0.32, 0.32):
        part(size * end, 0.62, 1.78, 0.02, 0.6, 'charcoal')


def _park(
    soup: Soup, plan: StreetPlan, rng: np.random.Generator, column: int, row: int
) -> None:
    """Add trees, benches and lamps along the paths of a park; an estate has lamped roofs."""
    west, south, east, north = plan.block_bounds(column, row)
    middle_u, middle_v = plan.middle(0, column), plan.middle(1, row)
    estate = plan.use(column, row) is Use.ESTATE
    for _ in range(round((east - west) * (north - south) / (260 if estate else 130))):
        u, v = rng.uniform(west + 2, east - 2), rng.uniform(south + 2, north - 2)
        off = min(abs(u - middle_u), abs(v - middle_v))
        rim = min(u - west, east - u, v - south, north - v)
        if off > PATH + 1.8 and (not estate or off < 4.2 or rim < 3.0):
            _tree(soup, rng, plan.point(u, v), rng.uniform(2.7, 3.6))
    along = plan.direction(middle_u, middle_v, 0)
    for offset in (-16.0, -8.0, 8.0, 16.0):
        _bench(soup, plan.point(middle_u + offset, middle_v + PATH + 0.7), along)
    if not estate:
        beside = -(PATH + 0.5)
        for u in np.arange(middle_u - 4.0, west + 4.0, -_PARK_LAMPS).tolist() + np.arange(
                middle_u + 10.0, east - 4.0, _PARK_LAMPS).tolist():
            path_lamp(soup, plan.point(u, middle_v + beside))
        for v in np.arange(middle_v - 10.0, south + 4.0, -_PARK_LAMPS).tolist() + np.arange(
                middle_v + 10.0, north - 4.0, _PARK_LAMPS).tolist():
            path_lamp(soup, plan.point(middle_u + beside, v))


def _quay(soup: Soup, plan: StreetPlan, rng: np.random.Generator) -> None:
    """Add rows of trees, benches, lamps and shelters along the quay."""
    edge_u, edge_v = plan.edges
    start = float(plan.centres[0][-1]) + plan.district.north[-1].corridor
    for number, v in enumerate(np.arange(-edge_v + 10, edge_v - 10, 12.0).tolist()):
        along = plan.direction(edge_u - 8, v, 1)
        across = np.array([-along[1], along[0]])
        if number % 2:
            street_lamp(soup, plan.point(edge_u - 3, v), across)
        if number % 6 == 3:
            _shelter(soup, plan.point(edge_u - 16, v), along)
            continue
        for u in (start + 5, start + 14):
            foot = plan.point(u, v + rng.uniform(-1, 1))
            soup.paint('cream', prism(square(foot, 1.0), foot[2] - 0.2, foot[2] + 0.45))
            _tree(soup, rng, foot, 3.2)
        _bench(soup, plan.point(edge_u - 8, v + 4), along)


def _shelter(soup: Soup, foot: FloatArray, along: FloatArray) -> None:
    """Add a roof on posts with a bench under it."""
    soup.paint('teal', prism(oriented_box(foot[:2], along, 12.0, 6.0), foot[2] + 2.9,
                             foot[2] + 3.1))
    side = np.array([-along[1], along[0]])
    for end in (-5.5, 5.5):
        for across in (-2.5, 2.5):
            post = oriented_box(foot[:2] + along * end + side * across, along, 0.2, 0.2)
            soup.paint('steel', prism(post, foot[2] - 0.2, foot[2] + 2.95))
    _bench(soup, foot, along)


def _slopes(soup: Soup, plan: StreetPlan, rng: np.random.Generator) -> None:
    """Add trees behind the outer buildings and outside the wall."""
    for _ in range(round(0.19 * sum(2 * edge for edge in plan.edges))):
        side = int(rng.integers(4))
        axis = side // 2
        along = rng.uniform(-plan.edges[1 - axis], plan.edges[1 - axis])
        inside = rng.random() < 0.5
        out = plan.edges[axis] + (rng.uniform(-14, -4) if inside else rng.uniform(5, 60))
        out = out if side % 2 else -out
        u, v = (out, along) if axis == 0 else (along, out)
        if not (plan.district.sea and u > plan.edges[0] - 20):
            _tree(soup, rng, plan.point(u, v), rng.uniform(2.0, 3.5))


def build_boundary(model: Model, plan: StreetPlan) -> None:
    """Add the wall that nobody climbs, all around the district, or the railing at the sea."""
    edge_u, edge_v = plan.edges
    across, along = (
        np.linspace(-edge, edge, round(edge / 5) + 1) for edge in (edge_u, edge_v)
    )
    sides = (
        (across, np.full_like(across, -edge_v)), (np.full_like(along, edge_u), along),
        (-across, np.full_like(across, edge_v)), (np.full_like(along, -edge_u), -along),
    )
    for number, (u, v) in enumerate(sides):
        railing = plan.district.sea and number == 1
        foot = plan.point(u, v)
        for low, high in pairwise(foot):
            bottom = min(low[2], high[2]) - 1.0
            for soup in (model.fine, model.coarse):
                if railing:
                    _railing(soup, low, high)
                    continue
                top = np.array([low[2], high[2], high[2], low[2]]) + _WALL
                quads = prism(bar(low[:2], high[:2], 0.4), bottom, top)
                soup.add('stone', quads, metric_uvs(quads, 4.0))


def _railing(soup: Soup, start: FloatArray, end: FloatArray) -> None:
    """Add a piece of a closed railing on the edge of the quay."""
    for width, low, high, color in ((0.1, -0.3, 0.25, 'cream'), (0.04, 0.25, 1.3, 'slate'),
                                    (0.12, 1.3, _RAILING, 'steel')):
        soup.paint(color, prism(bar(start[:2], end[:2], width), start[2] + low, start[2] + high))
    soup.paint('steel', prism(square(start, 0.07), start[2] - 0.3, start[2] + _RAILING + 0.05))
