# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Buildings of a district: lots along the streets, facades, shop fronts and signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from itertools import pairwise

import numpy as np

from urbanground_ros.districts.names import Shop
from urbanground_ros.districts.plan import Crossover
from urbanground_ros.districts.plan import PASSAGE
from urbanground_ros.districts.plan import Segment
from urbanground_ros.districts.plan import SETBACK
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import Use
from urbanground_ros.districts.soup import bar
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import metric_uvs
from urbanground_ros.districts.soup import Model
from urbanground_ros.districts.soup import palette_uv
from urbanground_ros.districts.soup import prism
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.soup import wall
from urbanground_ros.districts.structures import podium
from urbanground_ros.districts.structures import TOWER_INSET
from urbanground_ros.districts.textures import Color
from urbanground_ros.districts.textures import FACADES
from urbanground_ros.districts.textures import front_uv
from urbanground_ros.districts.textures import FRONTS
from urbanground_ros.districts.textures import panel_uv
from urbanground_ros.districts.textures import PANELS
from urbanground_ros.districts.textures import TRIMS
from urbanground_ros.tiles import Instance

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
_TOWER_LOBBY = 4.2
_HOUSE = 16.0
_ONE_HOUSE = 12
_PANEL_SHARE = 0.3
_PANEL_SIZE = (0.95, 2.85)
_PANEL_BOTTOM = 5.5
_STRIP_DEPTH = 19.0
_SIGN_COLORS: tuple[tuple[Color, Color], ...] = (
    ((176, 28, 30), (255, 244, 196)), ((250, 214, 60), (132, 18, 22)),
    ((20, 78, 140), (255, 255, 255)), ((22, 104, 66), (255, 255, 240)),
    ((250, 248, 240), (22, 40, 92)), ((34, 34, 38), (252, 206, 84)),
    ((232, 110, 30), (255, 255, 255)), ((250, 248, 240), (168, 24, 30)),
)

_FRONT_OF = {
    'bar': 'cafe', 'fast_food': 'restaurant', 'supermarket': 'convenience', 'atm': 'bank',
    'stationery': 'books', 'library': 'books', 'electronics': 'optician', 'dentist': 'clinic',
    'veterinary': 'clinic', 'marketplace': 'florist', 'mall': 'clothes', 'laundry': 'hardware',
}


@dataclass(frozen=True)
class Lot:
    """A building: its plan in (u, v), which sides face a sidewalk, and how high it is.

    Sides are 0 south, 1 east, 2 north, 3 west. One that stands on a deck has its height as
    `base`; one that is a deck has its height as `deck`. One that is `residential` has lobbies
    where others have shops. `blocked` are the parts of sides, as
    (side, low, high) in plan, that have no shops.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    fronts: frozenset[int]
    storeys: int
    style: int
    trim: str
    canopies: frozenset[int] = frozenset()
    base: float | None = None
    deck: float | None = None
    blocked: tuple[tuple[int, float, float], ...] = ()
    residential: bool = False
    name: str = ''

    @property
    def instance(self) -> Instance:
        """What its walls, shop fronts and roof are of."""
        return Instance('building', self.name)


@dataclass(frozen=True)
class Bay:
    """A shop bay: plan of its front from left to right seen from outside, and its floor.

    It is a part of `building`. One that is `residential` has no shop; one that is `panelled`
    may have a panel over it.
    """

    start: FloatArray
    end: FloatArray
    floor: float
    residential: bool
    panelled: bool
    building: Instance

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


def lots(plan: StreetPlan, rng: np.random.Generator) -> list[Lot]:
    """Return the buildings of every block and of the strips around the district."""
    found: list[Lot] = []
    for column, row in plan.blocks:
        use = plan.use(column, row)
        if use is Use.BUILDINGS:
            found += _rows(plan, rng, column, row)
        elif use is Use.ESTATE:
            found += _estate(plan, rng, column, row)
        elif use is Use.PODIUM:
            found += _podium(plan, rng, column, row)
    found += _strips(plan, rng)
    return [replace(lot, name=f'Building {number}') for number, lot in enumerate(found, 1)]


def _lot(
    plan: StreetPlan,
    rng: np.random.Generator,
    low: tuple[float, float],
    high: tuple[float, float],
    fronts: set[int],
    tall: float | None = None,
    canopy: float = 0.0,
) -> Lot:
    district = plan.district
    high_rise = rng.random() < (district.tall if tall is None else tall)
    least, most = district.storeys[1 if high_rise else 0]
    storeys = int(rng.integers(least, most))
    covered = frozenset(side for side in sorted(fronts) if rng.random() < canopy)
    return Lot(
        low, high, frozenset(fronts), storeys, int(rng.integers(FACADES)),
        TRIMS[rng.integers(len(TRIMS))], covered,
    )


def _rows(plan: StreetPlan, rng: np.random.Generator, column: int, row: int) -> list[Lot]:
    """Return two rows of buildings, back to back over an alley or a passage."""
    west, south, east, north = plan.block_bounds(column, row)
    if any(_lands_in(crossover, column, row) for crossover in plan.district.crossovers):
        middle = plan.middle(1, row)
        gap = (middle - PASSAGE, middle + PASSAGE)
    else:
        middle = (south + north) / 2 + rng.uniform(-3, 3)
        gap = (middle - 1.8, middle + 1.8)
    fewest, most = plan.district.pieces
    found = []
    for line, low, high, side in ((row, south, gap[0], 0), (row + 1, gap[1], north, 2)):
        canopy = plan.district.east[line].canopied
        count = fewest if rng.random() >= 0.35 else most
        even = np.linspace(west, east, count + 1)
        shift = rng.uniform(-0.16, 0.16, count + 1) * (east - west) / count
        cuts = even + np.where((even > west) & (even < east), shift, 0.0)
        for number, (left, right) in enumerate(pairwise(cuts.tolist())):
            fronts = {side} if _level(plan, 0, line, column) else set()
            if number == 0 and _level(plan, 1, column, row):
                fronts.add(3)
            if number == count - 1 and _level(plan, 1, column + 1, row):
                fronts.add(1)
            lot = _lot(plan, rng, (left, low), (right, high), fronts, canopy=canopy)
            if rng.random() >= plan.district.thinning:
                found.append(lot)
    return found


def _level(plan: StreetPlan, axis: int, line: int, part: int) -> bool:
    return plan.segment(axis, line, part) is Segment.LEVEL


def _lands_in(crossover: Crossover, column: int, row: int) -> bool:
    return row == crossover.row and column in (crossover.street - 1, crossover.street)


def _estate(plan: StreetPlan, rng: np.random.Generator, column: int, row: int) -> list[Lot]:
    """Return a tower in each quarter of a block, clear of the paths between them."""
    west, south, east, north = plan.block_bounds(column, row)
    middle = plan.middle(0, column), plan.middle(1, row)
    style, trim = int(rng.integers(FACADES)), TRIMS[rng.integers(len(TRIMS))]
    found = []
    for left, right in ((west + 3, middle[0] - 5.5), (middle[0] + 5.5, east - 3)):
        for low, high in ((south + 3, middle[1] - 5.5), (middle[1] + 5.5, north - 3)):
            across, along = rng.uniform(0.62, 0.95), rng.uniform(0.5, 0.8)
            size = (right - left) * across / 2, (high - low) * along / 2
            at = (left + right) / 2, (low + high) / 2
            lot = _lot(plan, rng, (at[0] - size[0], at[1] - size[1]),
                       (at[0] + size[0], at[1] + size[1]), {0 if low > middle[1] else 2}, 1.0)
            found.append(replace(lot, style=style, trim=trim, residential=True))
    return found


def _podium(plan: StreetPlan, rng: np.random.Generator, column: int, row: int) -> list[Lot]:
    """Return a podium full of shops, and two towers on it."""
    own = podium(plan, column, row)
    (u0, v0), (u1, v1) = own.low, own.high
    base = _lot(plan, rng, own.low, own.high, {0, 1, 2, 3})
    blocked = (
        (0, own.stairs_span[0] - 1, u1), (2, own.ramp_span[0] - 1, own.ramp_span[1] + 1),
    )
    found = [replace(base, deck=own.deck, blocked=blocked)]
    middle = (u0 + u1) / 2
    for left, right in ((u0 + TOWER_INSET, middle - 5.0), (middle + 5.0, u1 - TOWER_INSET)):
        lot = _lot(
            plan, rng, (left, v0 + TOWER_INSET), (right, v1 - TOWER_INSET), set(), 1.0
        )
        found.append(replace(lot, base=own.deck))
    return found


def _strips(plan: StreetPlan, rng: np.random.Generator) -> list[Lot]:
    """Return the buildings between the outermost streets and the wall around the district."""
    found = []
    for axis in (0, 1):
        streets, parts = plan.streets[1 - axis], plan.streets[axis]
        for line, side in ((0, -1), (len(streets) - 1, 1)):
            if plan.district.sea and axis == 1 and side > 0:
                continue
            edge = streets[line].at + side * (streets[line].corridor + SETBACK)
            depth = sorted((edge, edge + side * _STRIP_DEPTH))
            for part, (near, far) in enumerate(pairwise(parts)):
                if not _level(plan, axis, line, part):
                    continue
                low, high = near.at + near.corridor, far.at - far.corridor
                start = low + rng.uniform(1, 0.15 * (high - low))
                end = min(high - 1.0, start + rng.uniform(0.5, 0.8) * (high - low))
                corners = (start, depth[0]), (end, depth[1])
                if axis == 1:
                    corners = (depth[0], start), (depth[1], end)
                front = {(0, -1): 2, (0, 1): 0, (1, -1): 1, (1, 1): 3}[axis, side]
                found.append(_lot(plan, rng, *corners, {front}))
    return found


def build_lot(
    model: Model, plan: StreetPlan, rng: np.random.Generator, lot: Lot
) -> list[Bay]:
    """Add one building to every level of detail, and return its shop bays."""
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
    if lot.base is None:
        ground = np.concatenate(grades)
        bottom = float(ground.min()) - _BURIED
        first = max(
            [float(ground.max()) + 0.6]
            + [float(grades[side].max()) + _GROUND_FLOOR for side in sorted(lot.fronts)]
        )
    else:
        bottom, first = lot.base - 0.3, lot.base + _TOWER_LOBBY
    if lot.deck is not None:
        first = lot.deck
    roof = first if lot.deck is not None else first + lot.storeys * _STOREY
    bays: list[Bay] = []
    for side in range(4):
        start, end = corners[side], corners[side - 3]
        if roof > first:
            _facades(model, rng, lot, (start, end), first, roof, side in lot.fronts)
        lower = wall(start, end, bottom, first)[None]
        for soup in (model.coarse, model.far):
            soup.add('concrete', lower, metric_uvs(lower, 4.0), lot.instance)
        if side in lot.fronts:
            heights = grades[side]
            bays += _fronts(model.fine, lot, side, (start, end), heights, bottom, first)
        else:
            model.fine.add('concrete', lower, metric_uvs(lower, 4.0), lot.instance)
        if roof > first:
            _ledge(model.fine, start, end, first)
            _coolers(model.fine, rng, start, end, first, lot.storeys)
    if lot.deck is None:
        _roof(model, rng, corners, roof, lot)
    for side in sorted(lot.canopies):
        for soup in (model.fine, model.coarse):
            _canopy(soup, corners[side], corners[side - 3], grades[side][[0, -1]])
    return bays


def _facades(
    model: Model, rng: np.random.Generator, lot: Lot, ends: tuple[FloatArray, FloatArray],
    first: float, roof: float, street: bool,
) -> None:
    """Add the storeys of one side; a long low front on a street looks like several houses."""
    start, end = ends
    length = float(np.linalg.norm(end - start))
    low = street and not lot.residential and lot.storeys < _ONE_HOUSE
    count = max(1, round(length / _HOUSE)) if low else 1
    cuts = start + (end - start) * np.linspace(0, 1, count + 1)[:, None]
    styles = [lot.style, *rng.integers(FACADES, size=count - 1).tolist()]
    for (left, right), style in zip(pairwise(cuts), styles, strict=True):
        share = max(1, round(length / count / _BAY)) / 4
        uvs = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * (share, lot.storeys / 4)
        for soup in (model.fine, model.coarse, model.far):
            soup.add(f'facade{style}', wall(left, right, first, roof), uvs, lot.instance)


def _fronts(
    soup: Soup, lot: Lot, side: int, ends: tuple[FloatArray, FloatArray],
    grades: FloatArray, bottom: float, first: float,
) -> list[Bay]:
    """Add plinths and the band over the shops of one side, and return its bays."""
    start, end = ends
    count = max(1, round(float(np.linalg.norm(end - start)) / _SHOP_BAY))
    cuts = start + (end - start) * np.linspace(0, 1, count + 1)[:, None]
    middles = (np.arange(count) + 0.5) / count
    floors = np.interp(middles, np.linspace(0, 1, len(grades)), grades)
    axis = side % 2
    span = (lot.low[axis], lot.high[axis]) if side < 2 else (lot.high[axis], lot.low[axis])
    # Panels would hang over the bridges of a deck.
    panelled = lot.deck is None and not lot.residential
    bays = []
    for k in range(count):
        at = span[0] + (span[1] - span[0]) * middles[k]
        if any(part == side and low < at < high for part, low, high in lot.blocked):
            band = wall(cuts[k], cuts[k + 1], bottom, first)[None]
        else:
            bays.append(Bay(
                cuts[k], cuts[k + 1], float(floors[k]), lot.residential, panelled,
                lot.instance,
            ))
            soup.paint('charcoal', wall(cuts[k], cuts[k + 1], bottom, bays[-1].floor))
            band = wall(cuts[k], cuts[k + 1], bays[-1].floor + _FRONT, first)[None]
        soup.add(f'tile_{lot.trim}', band, metric_uvs(band, 1.2), lot.instance)
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
    model: Model, rng: np.random.Generator, corners: FloatArray, roof: float, lot: Lot
) -> None:
    quad = np.column_stack([corners, np.full(4, roof)])[None]
    for soup in (model.fine, model.coarse, model.far):
        soup.add('roof', quad, metric_uvs(quad, 6.0), lot.instance)
    soup = model.fine
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


def random_colors(rng: np.random.Generator) -> tuple[Color, Color]:
    """Return the ground and the ink of a sign."""
    ground, ink = _SIGN_COLORS[rng.integers(len(_SIGN_COLORS))]
    return ground, ink


def choose_signs(
    rng: np.random.Generator, bays: Sequence[Bay], shops: Sequence[Shop]
) -> list[Sign]:
    """Return every shop in a bay of its own, spread over the buildings and the district.

    Named shops keep clear of each other, and of the rim of a large district.
    """
    bays = [bay for bay in bays if not bay.residential]
    spots = np.array([bay.front(0.0) for bay in bays])
    taken: list[int] = []
    signs = []
    for shop in shops:
        candidates = rng.permutation(len(bays))[:60]
        near = -0.12 * np.hypot(*spots[candidates].T)
        if taken:
            offsets = spots[candidates][:, None] - spots[taken]
            near += np.hypot(offsets[..., 0], offsets[..., 1]).min(axis=1)
        chosen = int(candidates[int(np.argmax(near))])
        taken.append(chosen)
        signs.append(Sign(shop, bays[chosen], *random_colors(rng)))
    return signs


def build_fronts(
    soup: Soup, rng: np.random.Generator, bays: list[Bay], signs: list[Sign]
) -> None:
    """Add the shop fronts of all bays; the fronts of named shops show their trade."""
    named = {id(sign.bay): sign.shop.type for sign in signs}
    anonymous = ('shutter', 'shutter', 'lobby', 'blank', 'restaurant', 'clothes', 'hardware')
    for bay in bays:
        kind = named.get(id(bay)) or anonymous[rng.integers(len(anonymous))]
        kind = kind if kind in FRONTS else _FRONT_OF.get(kind, 'lobby')
        if bay.residential:
            kind = 'lobby' if kind == 'shutter' else 'blank'
        quad = wall(bay.start, bay.end, bay.floor, bay.floor + _FRONT)
        if bay.panelled and rng.random() < _PANEL_SHARE:
            _panel(soup, bay, int(rng.integers(PANELS)))
        soup.add('fronts', quad, front_uv(kind), bay.building)


def _panel(soup: Soup, bay: Bay, number: int) -> None:
    """Add an upright panel over the sidewalk, above signs and canopies."""
    root = bay.front(0.0)
    low = bay.floor + _PANEL_BOTTOM
    arm = prism(
        bar(root + bay.outward * 0.25, root + bay.outward * (0.25 + _PANEL_SIZE[0]), 0.14),
        low, low + _PANEL_SIZE[1],
    )
    soup.add('panels', arm[[0, 2]], np.stack([panel_uv(number)] * 2))
    soup.paint('charcoal', arm[[1, 3, 4, 5]])
    stay = bar(root - bay.outward * 0.05, root + bay.outward * 0.3, 0.06)
    for height in (0.4, _PANEL_SIZE[1] - 0.4):
        soup.paint('steel', prism(stay, low + height, low + height + 0.06))


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
    soup.add(material, board[0], fascia, sign.shop.sign)
    soup.paint('charcoal', board[1:])
    root = bay.front(0.0) - along * (width / 2 - 0.35)
    arm = prism(
        bar(root + bay.outward * 0.2, root + bay.outward * 1.4, 0.12),
        bay.floor + _BLADE_BOTTOM, bay.floor + _BLADE_TOP,
    )
    soup.add(material, arm[[0, 2]], np.stack([blade, blade]), sign.shop.sign)
    edges = arm[[1, 3, 4, 5]]
    soup.add('palette', edges, np.broadcast_to(palette_uv('charcoal'), (4, 4, 2)))
