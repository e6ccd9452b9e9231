# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Searches: a type of place that is named, and a need that only implies it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import math

import numpy as np

from urbanground_ros.episode import RegionContext
from urbanground_ros.geo import PLACE_TYPES
from urbanground_ros.ladder.ground import clear_of
from urbanground_ros.ladder.ground import draw_seed
from urbanground_ros.ladder.ground import Ground
from urbanground_ros.ladder.ground import pick
from urbanground_ros.ladder.ground import Point
from urbanground_ros.ladder.ground import Site
from urbanground_ros.ladder.ground import with_article
from urbanground_ros.ladder.needs import ALSO_FITS
from urbanground_ros.ladder.needs import NEEDS
from urbanground_ros.tasks import Condition
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task

#: Metres along the network from the start to the nearest place that is right.
SEARCH_ROUTE = (60.0, 250.0)
#: The least number of places of a type that is looked for by its name.
LEAST_PLACES = 2
#: Draws until a region is given up.
DRAWS = 4000
#: The pace that an exploration is meant for (m/s), for the minutes that the format tells.
EXPLORING = 1.0

_SEARCHES = (
    'Find {what}. Any one will do. End the episode when you stand in front of it.',
    'Look around for {what} and walk right up to it, then end the episode. Nothing is marked '
    'on the map.',
    'You are looking for {what}. Explore the streets until you have found one, go '
    'right up to it and end the episode there.',
)


def propose_place_type(context: RegionContext, rng: np.random.Generator) -> Iterator[Task]:
    """Propose types of which there are several places, each type as likely as another."""
    ground = Ground(context)
    counts = Counter(site.place.type for site in ground.sites)
    # A place that cannot be reached from the network would be right and never be found.
    every = Counter(place.type for place in context.places)
    types = sorted(kind for kind, count in counts.items()
                   if count >= LEAST_PLACES and count == every[kind])
    for _ in range(DRAWS if types and ground.has_starts else 0):
        kind = types[int(rng.integers(len(types)))]
        start = ground.draw_point(rng)
        sites = [site for site in ground.sites if site.place.type == kind]
        found = _nearest(ground, start, sites)
        if found is None:
            continue
        words = PLACE_TYPES[kind]
        yield Task(
            id='', kind=Kind.PLACE_TYPE,
            description=pick(rng, _SEARCHES).format(what=with_article(words)),
            start=ground.placement(rng, start), category=words, region=context.name,
            seed=draw_seed(rng), route_length=round(found[1], 3),
            evidence={'type': kind, 'places': len(sites), 'nearest': found[0].place.id})


def propose_implicit_intent(context: RegionContext, rng: np.random.Generator) -> Iterator[Task]:
    """Propose needs whose nearest fitting place is open at the hour of the task."""
    ground = Ground(context)
    types = sorted({site.place.type for site in ground.sites})
    for _ in range(DRAWS if types and ground.has_starts else 0):
        kind = types[int(rng.integers(len(types)))]
        start = ground.draw_point(rng)
        fitting = [site for site in ground.sites
                   if site.place.type in (kind, *ALSO_FITS.get(kind, ()))]
        found = _nearest(ground, start, fitting)
        if found is None or found[0].place.type != kind \
                or not found[0].place.is_open(Condition.CLEAR.time_of_day):
            continue
        site, length = found
        yield Task(
            id='', kind=Kind.IMPLICIT_INTENT, description=pick(rng, NEEDS[kind]),
            start=ground.placement(rng, start),
            goal=context.to_geo(site.point, site.place.name),
            category=PLACE_TYPES[kind], minutes=math.ceil(length / EXPLORING / 60.0),
            region=context.name, seed=draw_seed(rng), route_length=round(length, 3),
            evidence={'type': kind, 'place': site.place.id})


def _nearest(ground: Ground, start: Point, sites: list[Site]) -> tuple[Site, float] | None:
    """Return the nearest by way and how far it is, if that is in the band and none too near."""
    if not clear_of(start, [site.point for site in sites]) \
            or all(math.dist(site.point, start) > SEARCH_ROUTE[1] for site in sites):
        return None
    lengths = [ground.length(start, site.point)
               if math.dist(site.point, start) <= SEARCH_ROUTE[1] else math.inf
               for site in sites]
    length = min(lengths)
    if not SEARCH_ROUTE[0] <= length <= SEARCH_ROUTE[1]:
        return None
    return sites[lengths.index(length)], length
