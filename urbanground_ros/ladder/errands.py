# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errands: several named places, by appointments or in any order."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from itertools import pairwise
from itertools import permutations
import math

import numpy as np
import shapely

from urbanground_ros.episode import RegionContext
from urbanground_ros.ladder.ground import clear_of
from urbanground_ros.ladder.ground import draw_seed
from urbanground_ros.ladder.ground import Ground
from urbanground_ros.ladder.ground import pick
from urbanground_ros.ladder.ground import Point
from urbanground_ros.ladder.ground import Site
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import show_time
from urbanground_ros.tasks import Stop
from urbanground_ros.tasks import Task

#: How many stops there are.
APPOINTMENTS = (2, 4)
VISITS = (3, 5)
#: Metres straight from one stop to the next at most, and apart at least.
LEG = 260.0
APART = 40.0
#: The longest way (m) through all stops: at most three fifths of what 100 sprints reach.
LONGEST_ERRAND = 850.0
#: Appointments allow for this pace (m/s): a walk of 4 m/s with looks around.
UNHURRIED = 2.5
#: A leg keeps so far from the stops that come later, in plan (m): beyond their 15 m circles.
KEEP_OFF = 20.0
#: The listed order is at least so much longer than the best one.
WORSE = 1.1
#: First and last hour in which a schedule begins.
HOURS = (8, 20)
#: Draws until a region is given up.
DRAWS = 4000

_ORDINALS = ('first', 'then', 'after that', 'finally')
_AGENDAS = (
    'It is now {now}. You have {count} appointments: {stops}. Keep them in this order, and be '
    'at each place by its time.',
    'The time is now {now}. Be {stops}. The order matters: a later place does not count before '
    'its turn.',
    'Today you are expected at {count} places. It is now {now}. Be {stops}. Go in this order and '
    'do not be late.',
)
_LISTS = (
    'Visit all of these places, in whatever order is best: {stops}.',
    'You have {count} errands: {stops}. They may be done in any order; come within 15 metres of '
    'each place. All are marked on the map.',
    'Pass by {stops}. The order is up to you, so choose one that saves steps.',
)
_NUMBERS = {2: 'two', 3: 'three', 4: 'four', 5: 'five'}


def propose_time_window(context: RegionContext, rng: np.random.Generator) -> Iterator[Task]:
    """Propose schedules of places that are open, whose order the ways between them keep."""
    ground = Ground(context)
    for start, sites in _draw_stops(ground, rng, APPOINTMENTS):
        routes = [ground.route(a, b) for a, b in pairwise([start, *(s.point for s in sites)])]
        if any(route is None for route in routes):
            continue
        lengths = [route.length for route in routes if route is not None]
        later = [shapely.MultiPoint([site.point[:2] for site in sites[k + 1:]])
                 for k in range(len(sites) - 1)]
        keeps_off = all(
            shapely.distance(shapely.LineString(route.points[:, :2]), others) > KEEP_OFF
            for route, others in zip(routes, later, strict=False) if route is not None)
        if sum(lengths) > LONGEST_ERRAND or not keeps_off:
            continue
        clock = 60.0 * int(rng.integers(HOURS[0] * 60, HOURS[1] * 60))
        deadlines: list[float] = []
        for walked in np.cumsum(lengths):
            due = clock + 60.0 * math.ceil((walked / UNHURRIED + 30.0) / 60.0)
            deadlines.append(max(due, deadlines[-1] + 60.0) if deadlines else due)
        # Whenever one comes within the limits, the place is open.
        if not all(site.place.is_open(at) for site, deadline in zip(sites, deadlines, strict=True)
                   for at in (clock, deadline, deadline + 60.0)):
            continue
        words = [f'{_ordinal(k, len(sites))} at {site.words} by {show_time(deadline)}'
                 for k, (site, deadline) in enumerate(zip(sites, deadlines, strict=True))]
        yield Task(
            id='', kind=Kind.TIME_WINDOW,
            description=pick(rng, _AGENDAS).format(
                now=show_time(clock), count=_NUMBERS[len(sites)], stops=', '.join(words)),
            start=ground.placement(rng, start), clock=clock,
            stops=tuple(Stop(context.to_geo(site.point, site.place.name), deadline=deadline)
                        for site, deadline in zip(sites, deadlines, strict=True)),
            region=context.name, seed=draw_seed(rng), route_length=round(sum(lengths), 3),
            evidence={'places': [site.place.id for site in sites]})


def propose_multi_stop(context: RegionContext, rng: np.random.Generator) -> Iterator[Task]:
    """Propose stops whose listed order is not the best one."""
    ground = Ground(context)
    for start, sites in _draw_stops(ground, rng, VISITS):
        best, listed = measure_orders(ground, start, [site.point for site in sites])
        if not (best * WORSE <= listed < math.inf and best <= LONGEST_ERRAND):
            continue
        names = [site.words for site in sites]
        yield Task(
            id='', kind=Kind.MULTI_STOP,
            description=pick(rng, _LISTS).format(
                count=_NUMBERS[len(sites)], stops=f'{", ".join(names[:-1])} and {names[-1]}'),
            start=ground.placement(rng, start),
            stops=tuple(Stop(context.to_geo(site.point, site.place.name), kind='place',
                             category=site.place.type, note=site.place.name) for site in sites),
            region=context.name, seed=draw_seed(rng), route_length=round(best, 3),
            evidence={'places': [site.place.id for site in sites],
                      'listed_length': round(listed, 3)})


def measure_orders(ground: Ground, start: Point,
                   points: Sequence[Point]) -> tuple[float, float]:
    """Return the lengths of the best order of some places and of the given one (m)."""
    places = [start, *points]
    lengths = {(a, b): ground.length(places[a], places[b])
               for a, b in permutations(range(len(places)), 2) if b}
    totals = [sum(lengths[leg] for leg in pairwise((0, *order)))
              for order in permutations(range(1, len(places)))]
    return min(totals), totals[0]


def _draw_stops(ground: Ground, rng: np.random.Generator,
                counts: tuple[int, int]) -> Iterator[tuple[Point, list[Site]]]:
    """Yield a start and places, each not far from the one before."""
    for _ in range(DRAWS if ground.sites and ground.has_starts else 0):
        start = here = ground.draw_point(rng)
        sites: list[Site] = []
        for _ in range(int(rng.integers(counts[0], counts[1] + 1))):
            near = [site for site in ground.sites
                    if APART <= math.dist(site.point[:2], here[:2]) <= LEG
                    and all(math.dist(site.point[:2], other.point[:2]) >= APART
                            and site.place.name != other.place.name for other in sites)]
            if not near:
                break
            sites.append(near[int(rng.integers(len(near)))])
            here = sites[-1].point
        else:
            if clear_of(start, [site.point for site in sites]):
                yield start, sites


def _ordinal(number: int, count: int) -> str:
    return _ORDINALS[-1] if number == count - 1 and number > 1 else _ORDINALS[number]
