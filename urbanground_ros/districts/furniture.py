# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Trees, lamp posts, benches, vehicles, and the wall around a district."""

from __future__ import annotations

import numpy as np

from urbanground_ros.districts.names import STREETS_EAST
from urbanground_ros.districts.names import STREETS_NORTH
from urbanground_ros.districts.plan import BRIDGE_STREET
from urbanground_ros.districts.plan import CARRIAGEWAY
from urbanground_ros.districts.plan import CORRIDOR
from urbanground_ros.districts.plan import EDGE
from urbanground_ros.districts.plan import is_signalled
from urbanground_ros.districts.plan import KERB
from urbanground_ros.districts.plan import PARK
from urbanground_ros.districts.plan import PARK_PATH
from urbanground_ros.districts.plan import PASSAGE
from urbanground_ros.districts.plan import PASSAGE_V
from urbanground_ros.districts.plan import STEPPED_ROW
from urbanground_ros.districts.plan import STEPPED_STREET
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import STREETS_U
from urbanground_ros.districts.plan import STREETS_V
from urbanground_ros.districts.soup import bar
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import metric_uvs
from urbanground_ros.districts.soup import oriented_box
from urbanground_ros.districts.soup import prism
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.textures import plate_uv

_KERB_LINE = CARRIAGEWAY + 0.4
_WALL = 3.0
_CARS = ('white', 'red', 'steel', 'charcoal', 'navy', 'green')


def build_furniture(soup: Soup, plan: StreetPlan, rng: np.random.Generator) -> None:
    """Add what stands in the streets and the park, clear of the sidewalks' centre lines."""
    for i, u in enumerate(STREETS_U):
        for row in range(len(STREETS_V) - 1):
            if (i, row) != (STEPPED_STREET, STEPPED_ROW):
                span = STREETS_V[row] + CORRIDOR, STREETS_V[row + 1] - CORRIDOR
                bridge = i == BRIDGE_STREET and row == len(STREETS_V) - 2
                _street(soup, plan, rng, 1, u, span, bridge)
    for v in STREETS_V:
        for column in range(len(STREETS_U) - 1):
            span = STREETS_U[column] + CORRIDOR, STREETS_U[column + 1] - CORRIDOR
            _street(soup, plan, rng, 0, v, span, False)
    for i in range(len(STREETS_U)):
        for j in range(len(STREETS_V)):
            _name_post(soup, plan, i, j, 1, 1)
            _name_post(soup, plan, i, j, -1, -1)
            if is_signalled(i, j):
                _signal_post(soup, plan, i, j, 1, -1)
                _signal_post(soup, plan, i, j, -1, 1)
    _park(soup, plan, rng)
    _slopes(soup, plan, rng)


def _street(
    soup: Soup,
    plan: StreetPlan,
    rng: np.random.Generator,
    axis: int,
    line: float,
    span: tuple[float, float],
    bridge: bool,
) -> None:
    for side in (-1, 1):
        at = span[0] + 6.0 + rng.uniform(0, 3)
        lamp = bool(side > 0)
        while at < span[1] - 5.0:
            if not (bridge and abs(at - PASSAGE_V) < PASSAGE):
                if lamp:
                    _lamp(soup, _place(plan, axis, line, side * (_KERB_LINE - 0.1), at),
                          _across(plan, axis, line, -side, at))
                elif rng.random() < 0.6:
                    _tree(soup, rng, _place(plan, axis, line, side * _KERB_LINE, at), 3.0)
            at += rng.uniform(9, 12)
            lamp = not lamp
        if rng.random() < 0.55 and not bridge:
            at = rng.uniform(span[0] + 8, span[1] - 8)
            offset = side * (CARRIAGEWAY - 1.25)
            ahead = _place(plan, axis, line, offset, at + 1) - _place(
                plan, axis, line, offset, at - 1
            )
            _vehicle(soup, rng, _place(plan, axis, line, offset, at, 0.0), ahead / 2)


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
    soup.paint('timber', prism(_square(foot, 0.11), foot[2] - 0.4, foot[2] + height)[:4])
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


def _square(foot: FloatArray, half: float) -> FloatArray:
    return oriented_box(foot[:2], (1.0, 0.0), 2 * half, 2 * half)


def _lamp(soup: Soup, foot: FloatArray, over: FloatArray) -> None:
    """Add a lamp post whose arm reaches over the street."""
    top = foot[2] + 7.5
    soup.paint('steel', prism(_square(foot, 0.08), foot[2] - 0.3, top))
    arm = bar(foot[:2], foot[:2] + over * 1.8, 0.1)
    soup.paint('steel', prism(arm, top - 0.1, top))
    head = bar(foot[:2] + over * 1.3, foot[:2] + over * 2.1, 0.3)
    soup.paint('white', prism(head, top - 0.22, top - 0.08))


def _name_post(
    soup: Soup, plan: StreetPlan, i: int, j: int, side_u: int, side_v: int
) -> None:
    """Add a post with the names of both streets at a corner, readable from both sides."""
    u, v = STREETS_U[i] + side_u * _KERB_LINE, STREETS_V[j] + side_v * _KERB_LINE
    foot = plan.point(u, v)
    soup.paint('steel', prism(_square(foot, 0.05), foot[2] - 0.4, foot[2] + 3.35))
    names = len(STREETS_NORTH) + len(STREETS_EAST)
    for row, low, ahead in (
        (len(STREETS_NORTH) + j, 2.55, plan.xy(u + side_u, v)),
        (i, 2.95, plan.xy(u, v + side_v)),
    ):
        along = ahead - foot[:2]
        along = along / np.linalg.norm(along)
        board = bar(foot[:2] + along * 0.07, foot[:2] + along * 1.75, 0.06)
        quads = prism(board, foot[2] + low, foot[2] + low + 0.36)
        soup.add('plates', quads[[0, 2]], np.stack([plate_uv(row, names)] * 2))
        soup.paint('charcoal', quads[[1, 3, 4, 5]])


def _signal_post(
    soup: Soup, plan: StreetPlan, i: int, j: int, side_u: int, side_v: int
) -> None:
    """Add traffic lights at a corner, heads towards both streets."""
    foot = plan.point(
        STREETS_U[i] + side_u * _KERB_LINE, STREETS_V[j] + side_v * _KERB_LINE
    )
    soup.paint('steel', prism(_square(foot, 0.07), foot[2] - 0.4, foot[2] + 3.3))
    head = _square(foot, 0.17)
    soup.paint('charcoal', prism(head, foot[2] + 2.4, foot[2] + 3.4))
    lamps = _square(foot, 0.175)
    for number, color in enumerate(('green', 'yellow', 'red')):
        low = foot[2] + 2.48 + 0.3 * number
        sides = prism(lamps, low, low + 0.22)[:4]
        centre, half = sides.mean(axis=1, keepdims=True), np.array([0.65, 0.65, 1.0])
        soup.paint(color, centre + (sides - centre) * half)


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


def _park(soup: Soup, plan: StreetPlan, rng: np.random.Generator) -> None:
    west, east = STREETS_U[PARK[0]] + CORRIDOR, STREETS_U[PARK[0] + 1] - CORRIDOR
    south, north = STREETS_V[PARK[1]] + CORRIDOR, STREETS_V[PARK[1] + 1] - CORRIDOR
    middle_u, middle_v = (west + east) / 2, (south + north) / 2
    placed = 0
    while placed < 26:
        u, v = rng.uniform(west + 2, east - 2), rng.uniform(south + 2, north - 2)
        if min(abs(u - middle_u), abs(v - middle_v)) > PARK_PATH + 1.8:
            _tree(soup, rng, plan.point(u, v), rng.uniform(2.7, 3.6))
            placed += 1
    for offset in (-16.0, -8.0, 8.0, 16.0):
        spot = plan.point(middle_u + offset, middle_v + PARK_PATH + 0.6)
        ahead = plan.xy(middle_u + offset + 1, middle_v) - plan.xy(middle_u + offset, middle_v)
        _bench(soup, spot, ahead / np.linalg.norm(ahead))


def _slopes(soup: Soup, plan: StreetPlan, rng: np.random.Generator) -> None:
    """Add trees behind the outer buildings and outside the wall."""
    for _ in range(150):
        side, along = rng.integers(4), rng.uniform(-EDGE, EDGE)
        out = rng.uniform(EDGE - 14, EDGE - 4) if rng.random() < 0.5 else rng.uniform(205, 260)
        u, v = ((along, out), (along, -out), (out, along), (-out, along))[side]
        _tree(soup, rng, plan.point(u, v), rng.uniform(2.0, 3.5))


def build_boundary(soup: Soup, plan: StreetPlan) -> None:
    """Add the wall that nobody climbs, all around the district."""
    along = np.linspace(-EDGE, EDGE, 41)
    edge = np.full(41, EDGE)
    for u, v in ((along, -edge), (edge, along), (-along, edge), (-edge, -along)):
        foot = plan.point(u, v)
        for k in range(40):
            low, high = foot[k], foot[k + 1]
            top = np.array([low[2], high[2], high[2], low[2]]) + _WALL
            bottom = min(low[2], high[2]) - 1.0
            quads = prism(bar(low[:2], high[:2], 0.4), bottom, top)
            soup.add('stone', quads, metric_uvs(quads, 4.0))
