# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Buildings of a district: lots along the streets, facades, shop fronts and signs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from urbanground_ros.districts.names import Shop
from urbanground_ros.districts.names import SHOPS
from urbanground_ros.districts.plan import BRIDGE_STREET
from urbanground_ros.districts.plan import CORRIDOR
from urbanground_ros.districts.plan import has_arm
from urbanground_ros.districts.plan import PARK
from urbanground_ros.districts.plan import PASSAGE
from urbanground_ros.districts.plan import PASSAGE_V
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import STREETS_U
from urbanground_ros.districts.plan import STREETS_V
from urbanground_ros.districts.soup import bar
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import metric_uvs
from urbanground_ros.districts.soup import palette_uv
from urbanground_ros.districts.soup import prism
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.soup import wall
from urbanground_ros.districts.textures import Color
from urbanground_ros.districts.textures import FACADES
from urbanground_ros.districts.textures import front_uv
from urbanground_ros.districts.textures import FRONTS
from urbanground_ros.districts.textures import TRIMS

_STOREY = 3.1
_BAY = 3.2
_SHOP_BAY = 4.8
_FRONT = 2.75
_SIGN_BOTTOM = 2.80
_SIGN_TOP = 3.66
_BLADE_BOTTOM = 3.74
_BLADE_TOP = 4.62
_GROUND_FLOOR = 5.0
_CANOPY = 4.72
_CANOPY_DEPTH = 2.5
_BURIED = 1.0
_SETBACK = 0.25
_SIGN_COLORS: tuple[tuple[Color, Color], ...] = (
    ((176, 28, 30), (255, 244, 196)), ((250, 214, 60), (132, 18, 22)),
    ((20, 78, 140), (255, 255, 255)), ((22, 104, 66), (255, 255, 240)),
    ((250, 248, 240), (22, 40, 92)), ((34, 34, 38), (252, 206, 84)),
    ((232, 110, 30), (255, 255, 255)), ((250, 248, 240), (168, 24, 30)),
)


@dataclass(frozen=True)
class Lot:
    """A building: its plan in (u, v), which sides face a sidewalk, and how high it is.

    Sides are 0 south, 1 east, 2 north, 3 west.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    fronts: frozenset[int]
    storeys: int
    style: int
    trim: str
    canopies: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Bay:
    """A shop bay: plan of its front from left to right seen from outside, and its floor."""

    start: FloatArray
    end: FloatArray
    floor: float
    lot: int

    @property
    def outward(self) -> FloatArray:
        """Unit vector out of the building, (2,)."""
        along = (self.end - self.start) / np.linalg.norm(self.end - self.start)
        return np.array([along[1], -along[0]])

    def front(self, outside: float) -> FloatArray:
        """Return the plan point before the middle of the bay, (2,)."""
        return (self.start + self.end) / 2 + self.outward * outside


@dataclass(frozen=True)
class Sign:
    """A named shop in its bay, and the colours of its sign."""

    shop: Shop
    bay: Bay
    ground: Color
    ink: Color


def lots(rng: np.random.Generator) -> list[Lot]:
    """Return the buildings of every block and of the strips around the district."""
    found: list[Lot] = []
    columns, rows = len(STREETS_U) - 1, len(STREETS_V) - 1
    for row in range(rows):
        for column in range(columns):
            if (column, row) != PARK:
                found += _block_lots(rng, column, row)
    edge_u, edge_v = STREETS_U[0] - CORRIDOR, STREETS_V[0] - CORRIDOR
    far_u, far_v = STREETS_U[-1] + CORRIDOR, STREETS_V[-1] + CORRIDOR
    for k in range(columns):
        low, high = STREETS_U[k] + CORRIDOR, STREETS_U[k + 1] - CORRIDOR
        found += _strip_lots(rng, low, high, (edge_v - 19, edge_v), 0, 2)
        found += _strip_lots(rng, low, high, (far_v, far_v + 19), 0, 0)
    for k in range(rows):
        low, high = STREETS_V[k] + CORRIDOR, STREETS_V[k + 1] - CORRIDOR
        found += _strip_lots(rng, low, high, (edge_u - 19, edge_u), 1, 1)
        found += _strip_lots(rng, low, high, (far_u, far_u + 19), 1, 3)
    return found


def _lot(
    rng: np.random.Generator,
    low: tuple[float, float],
    high: tuple[float, float],
    fronts: set[int],
    towers: float,
    canopy: float = 0.0,
) -> Lot:
    tall = rng.random() < towers
    storeys = int(rng.integers(11, 19)) if tall else int(rng.integers(4, 9))
    covered = frozenset(side for side in sorted(fronts) if rng.random() < canopy)
    return Lot(
        low, high, frozenset(fronts), storeys, int(rng.integers(FACADES)),
        TRIMS[rng.integers(len(TRIMS))], covered,
    )


def _block_lots(rng: np.random.Generator, column: int, row: int) -> list[Lot]:
    """Return two rows of buildings, back to back over an alley or the passage."""
    west = STREETS_U[column] + CORRIDOR + _SETBACK
    east = STREETS_U[column + 1] - CORRIDOR - _SETBACK
    south = STREETS_V[row] + CORRIDOR + _SETBACK
    north = STREETS_V[row + 1] - CORRIDOR - _SETBACK
    passage = row == len(STREETS_V) - 2 and column in (BRIDGE_STREET - 1, BRIDGE_STREET)
    if passage:
        gap = (PASSAGE_V - PASSAGE, PASSAGE_V + PASSAGE)
    else:
        middle = (south + north) / 2 + rng.uniform(-3, 3)
        gap = (middle - 1.8, middle + 1.8)
    found = []
    for street, low, high, side in ((row, south, gap[0], 0), (row + 1, gap[1], north, 2)):
        canopy = 0.9 if street == 2 else 0.15
        split = (west + east) / 2 + rng.uniform(-6, 6)
        if rng.random() < 0.35:
            third = (east - west) / 3
            cuts = [west, west + third, east - third, east]
        else:
            cuts = [west, split, east]
        for number, (left, right) in enumerate(pairwise(cuts)):
            fronts = {side}
            if number == 0 and _faces_street(column, row):
                fronts.add(3)
            if number == len(cuts) - 2 and _faces_street(column + 1, row):
                fronts.add(1)
            found.append(_lot(rng, (left, low), (right, high), fronts, 0.16, canopy))
    return found


def _faces_street(street: int, row: int) -> bool:
    return has_arm(street, row, 0, 1)


def _strip_lots(
    rng: np.random.Generator,
    low: float,
    high: float,
    depth: tuple[float, float],
    axis: int,
    side: int,
) -> list[Lot]:
    """Return one building, sometimes with trees beside it, between a street and the wall."""
    start = low + rng.uniform(1, 14)
    end = min(high - 1.0, start + rng.uniform(26, 44))
    inner = (depth[0] + _SETBACK, depth[1] - _SETBACK)
    corners = (start, inner[0]), (end, inner[1])
    if axis == 1:
        corners = (inner[0], start), (inner[1], end)
    return [_lot(rng, *corners, {side}, 0.25)]


def build_lot(
    soup: Soup, coarse: Soup, plan: StreetPlan, rng: np.random.Generator, lot: Lot, number: int
) -> list[Bay]:
    """Add one building to the fine and the coarse model, and return its shop bays."""
    (u0, v0), (u1, v1) = lot.low, lot.high
    corners_u, corners_v = np.array([u0, u1, u1, u0]), np.array([v0, v0, v1, v1])
    corners = plan.xy(corners_u, corners_v)
    samples = np.linspace(0, 1, 13)
    grades = [
        plan.point(
            corners_u[k] + (corners_u[k - 3] - corners_u[k]) * samples,
            corners_v[k] + (corners_v[k - 3] - corners_v[k]) * samples,
        )[:, 2]
        for k in range(4)
    ]
    ground = np.concatenate(grades)
    bottom = float(ground.min()) - _BURIED
    first = max(
        [float(ground.max()) + 0.6]
        + [float(grades[side].max()) + _GROUND_FLOOR for side in sorted(lot.fronts)]
    )
    roof = first + lot.storeys * _STOREY
    bays: list[Bay] = []
    for side in range(4):
        start, end = corners[side], corners[side - 3]
        length = float(np.linalg.norm(end - start))
        share = max(1, round(length / _BAY)) / 4
        upper = wall(start, end, first, roof)
        uvs = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * (share, lot.storeys / 4)
        for model in (soup, coarse):
            model.add(f'facade{lot.style}', upper, uvs)
        lower = wall(start, end, bottom, first)[None]
        coarse.add('concrete', lower, metric_uvs(lower, 4.0))
        if side not in lot.fronts:
            soup.add('concrete', lower, metric_uvs(lower, 4.0))
            continue
        count = max(1, round(length / _SHOP_BAY))
        cuts = start + (end - start) * np.linspace(0, 1, count + 1)[:, None]
        heights = np.interp(np.linspace(0, 1, 2 * count + 1), samples, grades[side])
        for k in range(count):
            bays.append(Bay(cuts[k], cuts[k + 1], float(heights[2 * k + 1]), number))
            plinth = wall(cuts[k], cuts[k + 1], bottom, bays[-1].floor)
            band = wall(cuts[k], cuts[k + 1], bays[-1].floor + _FRONT, first)[None]
            soup.paint('charcoal', plinth)
            soup.add(f'tile_{lot.trim}', band, metric_uvs(band, 1.2))
        _ledge(soup, start, end, first)
        _coolers(soup, rng, start, end, first, lot.storeys)
    _roof(soup, coarse, rng, corners, roof, lot)
    for side in sorted(lot.canopies):
        _canopy(soup, corners[side], corners[side - 3], grades[side][[0, -1]])
    return bays


def _ledge(soup: Soup, start: FloatArray, end: FloatArray, height: float) -> None:
    """Add the ledge that parts the shops from the flats over them."""
    along = (end - start) / np.linalg.norm(end - start)
    outward = np.array([along[1], -along[0]]) * 0.15
    plan = bar(start + outward, end + outward, 0.3)
    soup.paint('cream', prism(plan, height - 0.1, height + 0.2))


def _coolers(
    soup: Soup, rng: np.random.Generator, start: FloatArray, end: FloatArray, first: float,
    storeys: int,
) -> None:
    """Add air conditioners under some windows of the lower storeys."""
    length = float(np.linalg.norm(end - start))
    along = (end - start) / length
    outward = np.array([along[1], -along[0]])
    windows = max(1, round(length / _BAY))
    boxes = []
    for storey in range(min(storeys, 6)):
        for window in range(windows):
            if rng.random() < 0.16:
                middle = start + along * (window + 0.68) * length / windows + outward * 0.25
                low = first + storey * _STOREY + 0.16
                plan = bar(middle - along * 0.38, middle + along * 0.38, 0.5)
                boxes.append(prism(plan, low, low + 0.48))
    if boxes:
        soup.paint('white', np.concatenate(boxes))


def _roof(
    soup: Soup, coarse: Soup, rng: np.random.Generator, corners: FloatArray, roof: float, lot: Lot
) -> None:
    quad = np.column_stack([corners, np.full(4, roof)])[None]
    for model in (soup, coarse):
        model.add('roof', quad, metric_uvs(quad, 6.0))
    for k in range(4):
        start, end = corners[k], corners[k - 3]
        along = (end - start) / np.linalg.norm(end - start)
        inward = np.array([-along[1], along[0]]) * 0.15
        # Ends mitre at the corners of the plan closely enough to look closed.
        soup.paint(
            lot.trim, prism(bar(start + inward, end + inward, 0.34), roof - 0.35, roof + 0.95)
        )
    middle = corners.mean(axis=0)
    for _ in range(int(rng.integers(1, 4))):
        share = rng.uniform(-0.28, 0.28, 2)
        spot = middle + (corners[1] - corners[0]) * share[0] + (corners[3] - corners[0]) * share[1]
        axis = (corners[1] - corners[0]) / np.linalg.norm(corners[1] - corners[0])
        size = rng.uniform(1.8, 4.2)
        box = bar(spot - axis * size / 2, spot + axis * size / 2, float(rng.uniform(1.6, 3.4)))
        height = float(rng.uniform(1.4, 3.2))
        soup.paint(('steel', 'cream', 'white')[rng.integers(3)], prism(box, roof, roof + height))


def _canopy(soup: Soup, start: FloatArray, end: FloatArray, grades: FloatArray) -> None:
    """Add a slab over the sidewalk, parallel to it."""
    along = (end - start) / np.linalg.norm(end - start)
    outward = np.array([along[1], -along[0]]) * _CANOPY_DEPTH
    plan = np.array([start, start + outward, end + outward, end])[[1, 2, 3, 0]]
    low = grades[[0, 1, 1, 0]] + _CANOPY
    soup.paint('steel', prism(plan, low, low + 0.16))


def choose_signs(rng: np.random.Generator, bays: list[Bay]) -> list[Sign]:
    """Return every shop in a bay of its own, spread over the buildings and the district."""
    spots = np.array([bay.front(0.0) for bay in bays])
    taken: list[int] = []
    signs = []
    for shop in SHOPS:
        candidates = rng.permutation(len(bays))[:60]
        near = [
            min((float(np.hypot(*(spots[c] - spots[t]))) for t in taken), default=1e3)
            - 0.12 * float(np.hypot(*spots[c]))
            for c in candidates
        ]
        chosen = int(candidates[int(np.argmax(near))])
        taken.append(chosen)
        ground, ink = _SIGN_COLORS[rng.integers(len(_SIGN_COLORS))]
        signs.append(Sign(shop, bays[chosen], ground, ink))
    return signs


def build_fronts(
    soup: Soup, rng: np.random.Generator, bays: list[Bay], signs: list[Sign]
) -> None:
    """Add the shop fronts of all bays; the fronts of named shops show their trade."""
    named = {id(sign.bay): sign.shop.type for sign in signs}
    anonymous = ('shutter', 'shutter', 'lobby', 'blank', 'restaurant', 'clothes', 'hardware')
    for bay in bays:
        kind = named.get(id(bay)) or anonymous[rng.integers(len(anonymous))]
        quad = wall(bay.start, bay.end, bay.floor, bay.floor + _FRONT)
        soup.add('fronts', quad, front_uv(kind if kind in FRONTS else 'convenience'))


def build_sign(
    soup: Soup, material: str, sign: Sign, fascia: FloatArray, blade: FloatArray
) -> None:
    """Add the fascia over the shop front and the blade that stands out over the sidewalk."""
    bay = sign.bay
    along = bay.end - bay.start
    width = float(np.linalg.norm(along))
    along = along / width
    low, high = bay.floor + _SIGN_BOTTOM, bay.floor + _SIGN_TOP
    centre = bay.front(0.08)
    half = min(width * 0.48, 2.15)
    board = prism(bar(centre - along * half, centre + along * half, 0.2), low, high)
    # The first side of a bar is at its right: outward.
    soup.add(material, board[0], fascia)
    soup.paint('charcoal', board[1:])
    root = bay.front(0.0) - along * (width / 2 - 0.35)
    arm = prism(
        bar(root + bay.outward * 0.2, root + bay.outward * 1.4, 0.12),
        bay.floor + _BLADE_BOTTOM, bay.floor + _BLADE_TOP,
    )
    soup.add(material, arm[[0, 2]], np.stack([blade, blade]))
    edges = arm[[1, 3, 4, 5]]
    soup.add('palette', edges, np.broadcast_to(palette_uv('charcoal'), (4, 4, 2)))
