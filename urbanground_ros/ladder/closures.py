# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Closures: lines from wall to wall that cut the shortest way and leave a longer one."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np
from panda3d.core import LVector3d

from urbanground_ros.city import GeoLine
from urbanground_ros.episode import RegionContext
from urbanground_ros.geo import NoRouteError
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import Route
from urbanground_ros.ladder.ground import draw_seed
from urbanground_ros.ladder.ground import Ground
from urbanground_ros.ladder.ground import name_spot
from urbanground_ros.ladder.ground import pick
from urbanground_ros.ladder.ground import Point
from urbanground_ros.scoring import features_cut
from urbanground_ros.scoring import to_lines
from urbanground_ros.sim import Body
from urbanground_ros.sim import CityRegion
from urbanground_ros.sim import CollisionWorld
from urbanground_ros.sim import Embodiment
from urbanground_ros.sim import open_region
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task

#: Metres of way from the start to the first closure at least. The notice of a dynamic closure
#: comes with the first turn after 30 s, so after 32 s at the latest: at 7 m/s that is 224 m.
AHEAD = 245.0
#: The way that is cut (m): what is left behind the closure, and a detour, fit in 100 steps.
CUT_ROUTE = (290.0, 600.0)
LONGEST_DETOUR = 800.0
#: The shortest way with the closures is longer by this share of it, and by so many metres.
DETOUR_SHARE, DETOUR = 0.15, 15.0
#: The closures of a task at most.
MOST_CLOSURES = 2
#: A closed street is at most so wide on either side of where it is walked (m).
WIDEST = 26.0
#: Nobody comes round an end of a line within this distance of it (m), and how far before and
#: behind the line that is tried (m).
ROUND, BEFORE = 3.0, 5.0
#: What is near a closure is within this distance (m).
NEAR = 60.0
#: Metres between two places of the flood.
CELL = 0.5
#: Walls are felt for at these heights, and so far before and behind the line (m): what is wider
#: than a lamp post.
_HEIGHTS, _ASIDE = (0.5, 1.2), (-0.6, 0.0, 0.6)
#: A line goes so far into the wall (m).
_INTO_WALL = 0.2
#: Draws until a region is given up, and closures tried for one way.
DRAWS, _TRIES = 3000, 6

#: What is closed is told by a notice: at the start, or, of the variant, on the way.
_TEXTS = (
    'Walk to {goal}, which is marked on the map. Heed what you are told on the way: a closed line '
    'must not be crossed.',
    'Get within 15 metres of {goal}, marked on the map. Should a way be closed to you, take '
    'another.',
    'Your destination is {goal}, which the map shows. Crossing a line that is closed ends the '
    'task.',
)


class Cut(NamedTuple):
    """What closures do to the way between two points: lengths of both ways, features closed."""

    open_length: float
    closed_length: float
    closed: frozenset[int]

    @property
    def matters(self) -> bool:
        """Whether there is a way left, and it is long enough to be a detour."""
        more = self.closed_length - self.open_length
        return math.isfinite(more) and more >= max(DETOUR, DETOUR_SHARE * self.open_length)


def propose_constrained(context: RegionContext, rng: np.random.Generator) -> Iterator[Task]:
    """Propose goals behind closures that are far enough away to be told of on the way."""
    ground = Ground(context)
    if not ground.has_starts:
        return
    city = open_region(str(context.path))
    try:
        for _ in range(DRAWS):
            task = _draw(ground, city, rng)
            if task is not None:
                yield task
    finally:
        city.tiles.close()


def _draw(ground: Ground, city: CityRegion, rng: np.random.Generator) -> Task | None:
    start = ground.draw_point(rng)
    goal = ground.draw_near(rng, start, 0.6 * CUT_ROUTE[0], CUT_ROUTE[1])
    if goal is None:
        return None
    route = ground.route(start, goal)
    if route is None or not CUT_ROUTE[0] <= route.length <= CUT_ROUTE[1]:
        return None
    closures: list[GeoLine] = []
    for _ in range(MOST_CLOSURES):
        found = _close(ground, city, rng, start, goal, route, closures)
        if found is None:
            return None
        closures.append(found)
        cut = measure_cut(ground.network, start, goal, closures)
        if cut.matters:
            break
        again = ground.route(start, goal, cut.closed)
        if again is None:
            return None
        route = again
    else:
        return None
    if cut.closed_length > LONGEST_DETOUR \
            or len({line.label for line in closures}) < len(closures):
        return None
    name, label = name_spot(ground, goal)
    return Task(
        id='', kind=Kind.CONSTRAINED, description=pick(rng, _TEXTS).format(goal=name),
        start=ground.placement(rng, start), closures=tuple(closures),
        goal=ground.context.to_geo(goal, label), region=ground.context.name,
        seed=draw_seed(rng), route_length=round(cut.closed_length, 3),
        evidence={'open_length': round(cut.open_length, 3)})


def measure_cut(network: PedestrianNetwork, start: Point, goal: Point,
                closures: Sequence[GeoLine]) -> Cut:
    """Measure the ways without and with closures, infinite where none is left.

    Start and goal on a feature that is closed leave none: the way would begin elsewhere.
    """
    lines = to_lines(closures, network.frame)
    closed = features_cut(network, lines)
    on = network.nearest(np.array([start, goal])).feature

    def measure(shut: frozenset[int]) -> float:
        try:
            return math.inf if shut.intersection(on.tolist()) \
                else float(network.route(start, goal, shut).length)
        except NoRouteError:
            return math.inf
    return Cut(measure(frozenset()), measure(closed), closed)


def _close(ground: Ground, city: CityRegion, rng: np.random.Generator, start: Point,
           goal: Point, route: Route, closures: Sequence[GeoLine]) -> GeoLine | None:
    """Return a line across a way, far from its start, that leaves another way and is new."""
    steps = np.linalg.norm(np.diff(route.points, axis=0), axis=1)
    offsets = np.concatenate([[0.0], np.cumsum(steps)])
    if offsets[-1] - 25.0 <= AHEAD:
        return None
    for at in rng.uniform(AHEAD, offsets[-1] - 25.0, _TRIES):
        k = int(np.searchsorted(offsets, at)) - 1
        if steps[k] < 4.0:
            continue
        point = route.points[k] + (at - offsets[k]) / steps[k] * np.diff(
            route.points[k:k + 2], axis=0)[0]
        way = (route.points[k + 1] - route.points[k])[:2]
        line = _span(ground, city, point, way / np.linalg.norm(way), _label(ground, point))
        if line is None:
            continue
        cut = measure_cut(ground.network, start, goal, [*closures, line])
        if cut.open_length < cut.closed_length < math.inf:
            return line
    return None


def _label(ground: Ground, point: Point) -> str:
    """Return what a closed street is called, and what is near there."""
    street = ground.street_at(point)
    sites = sorted((math.dist(site.point, point), site.place.name) for site in ground.sites)
    near = f' near {sites[0][1]}' if sites and sites[0][0] <= NEAR else ''
    return f'{street or "the passage"}{near}'


def _span(ground: Ground, city: CityRegion, point: Point, way: np.ndarray,
          label: str) -> GeoLine | None:
    """Return the line across a street at a point where it is walked, from wall to wall."""
    across = np.array([-way[1], way[0]])
    world = city.solid(point[0], point[1], WIDEST + 4.0)
    ends = []
    for side in (1.0, -1.0):
        reach = max(_clear(world, point, way, side * across, aside, height)
                    for aside in _ASIDE for height in _HEIGHTS)
        if reach >= WIDEST:
            return None
        ends.append(point[:2] + side * across * (reach + _INTO_WALL))
    length = math.dist(*ends)
    xys = np.linspace(ends[0], ends[1], max(2, round(length / 4.0) + 1))
    heights = [_ground_height(world, xy, point[2]) for xy in xys]
    if any(height is None for height in heights[1:-1]):
        return None
    # An end is in a wall, on no ground: it lies as high as its neighbour.
    known = [heights[1], *heights[1:-1], heights[-2]] if len(heights) > 2 \
        else [float(point[2])] * 2
    return GeoLine(label, tuple(
        ground.context.to_geo(np.array([*xy, height]))
        for xy, height in zip(xys, known, strict=True)))


def _clear(world: CollisionWorld, point: Point, way: np.ndarray, direction: np.ndarray,
           aside: float, height: float) -> float:
    """Return how far one looks from a point to a side before a wall (m), at most the widest."""
    begin = LVector3d(*(point[:2] + way * aside), point[2] + height)
    hit = world.ray(begin, begin + LVector3d(*(direction * WIDEST), 0.0))
    return WIDEST if hit is None else float(hit.fraction) * WIDEST


def _ground_height(world: CollisionWorld, xy: np.ndarray, near: float) -> float | None:
    """Return the height of the ground at a place, None where there is none at that level."""
    heights = world.heights(xy[0], xy[1], near + 1.5, near - 1.5)
    return min(heights, key=lambda height: abs(height - near)) if heights else None


def is_tight(city: CityRegion, closure: GeoLine) -> bool:
    """Tell whether nobody gets past a line without crossing it, within 3 m of its ends.

    The ground on one side of it is flooded by a walking body, which may not cross the line; the
    flood must not come to the other side.
    """
    (line,) = to_lines([closure], city.frame)
    start, end = line[0, :2], line[-1, :2]
    length = math.dist(start, end)
    along = (end - start) / length
    across = np.array([-along[1], along[0]])
    middle = (start + end) / 2
    body = Body(city.solid(float(middle[0]), float(middle[1]), length / 2 + ROUND + BEFORE),
                Embodiment())
    gap = CELL * body.embodiment.physics_rate
    todo: list[LVector3d] = []
    for share in (0.2, 0.5, 0.8):
        x, y = start + share * (end - start) + 2.0 * across
        body.place(float(x), float(y), 0.1 + float(np.interp(
            share * length, np.linalg.norm(line[:, :2] - start, axis=1), line[:, 2])))
        if body.grounded:
            todo.append(LVector3d(body.feet))
    if not todo:
        return False
    seen: set[tuple[int, int]] = set()
    while todo:
        feet = todo.pop()
        for turn in range(4):
            body.feet, body.fall_speed, body.grounded = LVector3d(feet), 0.0, True
            body.tick(*(gap * value for value in (
                math.cos(turn * math.pi / 2), math.sin(turn * math.pi / 2))))
            if not body.grounded or (body.feet - feet).length() < CELL / 4:
                continue
            new = np.array([body.feet.x, body.feet.y]) - start
            u, v = float(new @ along), float(new @ across)
            if not -ROUND <= u <= length + ROUND or abs(v) > BEFORE:
                continue
            before = np.array([feet.x, feet.y]) - start
            if v <= 0:
                old_u, old_v = float(before @ along), float(before @ across)
                crossed = old_u + (u - old_u) * old_v / (old_v - v)
                if 0.0 <= crossed <= length:
                    continue
                return False
            cell = round(u / CELL), round(v / CELL)
            if cell not in seen:
                seen.add(cell)
                todo.append(LVector3d(body.feet))
    return True
