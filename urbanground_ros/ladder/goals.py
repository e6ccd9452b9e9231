# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Short-range and long-range goals: a place that is marked on the map."""

from __future__ import annotations

from collections.abc import Iterator
import math

import numpy as np

from urbanground_ros.episode import RegionContext
from urbanground_ros.ladder.ground import draw_seed
from urbanground_ros.ladder.ground import Ground
from urbanground_ros.ladder.ground import name_spot
from urbanground_ros.ladder.ground import pick
from urbanground_ros.ladder.ground import Point
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task

#: Short range, metres along the network: from well outside the 15 m circle to a few blocks,
#: about a minute at 4 m/s.
SHORT_ROUTE = (60.0, 220.0)
#: A shorter straight line would let chance arrivals count (m).
LEAST_STRAIGHT = 45.0
#: Long range, metres straight: from several blocks, where no goal can be seen from the start,
#: to what the budget allows. 100 sprints of 2 s are 1,400 m; each turn costs one of them.
LONG_STRAIGHT = (400.0, 1000.0)
#: The longest way (m) to a long-range goal: some 20 turns are left.
LONGEST_ROUTE = 1120.0
#: Share of goals that are named places.
NAMED = 0.5
#: Draws until a region is given up.
DRAWS = 4000

_SHORT = (
    'Walk to {goal}. It is marked on the map, as is your own position. You have arrived within '
    '15 metres of it.',
    'Go to {goal}, which the map marks. Being within 15 metres of it counts as arrived.',
    'Your destination is {goal}, not far from here. Find it on the map and walk there; 15 metres '
    'are near enough.',
)
_LONG = (
    'Travel across the district to {goal}. It is marked on the map, as is your own position. You '
    'have arrived within 15 metres of it.',
    'Your destination is {goal}, some blocks away and marked on the map. Get within 15 metres of '
    'it.',
    'Make your way to {goal}. It is far: plan with the map, where it is marked, and keep to '
    'walkable ways. Within 15 metres you have arrived.',
)


def propose_short_range(context: RegionContext, rng: np.random.Generator) -> Iterator[Task]:
    """Propose goals whose ways have lengths all over the band."""
    ground = Ground(context)
    for _ in range(DRAWS if ground.has_starts else 0):
        start = ground.draw_point(rng)
        wanted = rng.uniform(*SHORT_ROUTE)
        drawn = _draw_goal(ground, rng, start, LEAST_STRAIGHT, wanted)
        if drawn is None:
            continue
        length = ground.length(start, drawn[0])
        if SHORT_ROUTE[0] <= length <= SHORT_ROUTE[1] and abs(length - wanted) <= 30.0:
            yield _goal_task(ground, rng, Kind.SHORT_RANGE, start, *drawn, length, _SHORT)


def propose_long_range(context: RegionContext, rng: np.random.Generator) -> Iterator[Task]:
    """Propose goals that are far, as evenly over the band as the region is large."""
    ground = Ground(context)
    low, high = LONG_STRAIGHT
    for _ in range(DRAWS if ground.has_starts else 0):
        start = ground.draw_point(rng)
        wanted = rng.uniform(low, high)
        drawn = _draw_goal(ground, rng, start, max(low, wanted - 40.0), wanted + 40.0)
        if drawn is None:
            continue
        length = ground.length(start, drawn[0])
        if length <= LONGEST_ROUTE:
            yield _goal_task(ground, rng, Kind.LONG_RANGE, start, *drawn, length, _LONG)


def _draw_goal(ground: Ground, rng: np.random.Generator, start: Point, low: float,
               high: float) -> tuple[Point, str, str] | None:
    """Return a goal in a ring around the start, and what it is called in text and on the map."""
    sites = [site for site in ground.sites
             if low <= math.dist(site.point[:2], start[:2]) <= high]
    if sites and rng.uniform() < NAMED:
        site = sites[int(rng.integers(len(sites)))]
        return site.point, site.words, site.place.name
    point = ground.draw_near(rng, start, low, high)
    if point is None:
        return None
    return point, *name_spot(ground, point)


def _goal_task(ground: Ground, rng: np.random.Generator, kind: Kind, start: Point, goal: Point,
               name: str, label: str, length: float, texts: tuple[str, ...]) -> Task:
    return Task(
        id='', kind=kind, description=pick(rng, texts).format(goal=name),
        start=ground.placement(rng, start), goal=ground.context.to_geo(goal, label),
        region=ground.context.name, seed=draw_seed(rng), route_length=round(length, 3))
