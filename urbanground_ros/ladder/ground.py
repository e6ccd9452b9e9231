# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A region as tasks are drawn from it: where one can start, and what there is to go to."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.city import Placement
from urbanground_ros.episode import RegionContext
from urbanground_ros.geo import enu_to_compass
from urbanground_ros.geo import Feature
from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import NoRouteError
from urbanground_ros.geo import Place
from urbanground_ros.geo import Route

Point = NDArray[np.float64]

#: A start is no nearer than this to a place that is to be reached, in plan (m).
CLEAR_OF_GOAL = 30.0
#: Ground that is steeper than this is not level.
MOST_GRADIENT = 0.1
#: An entrance so far from the network, in plan and in height, is still reached from it (m).
ENTRANCE_REACH = (8.0, 1.0)
#: Where one stands at ease: no crossing, no stairs, nothing indoors.
_STANDING = frozenset({
    FeatureType.FOOTWAY, FeatureType.FOOTPATH, FeatureType.SERVICE_LANE, FeatureType.VILLAGE,
    FeatureType.GENERALIZED_WALKWAY_INSIDE_PARK, FeatureType.TRACK})


@dataclass(frozen=True, eq=False)
class Site:
    """A named place that can be reached: its entrance (3,) in the map frame and its street."""

    place: Place
    point: Point
    street: str

    @property
    def words(self) -> str:
        """Its name, and the street where that is known and not in the name."""
        if not self.street or self.street in self.place.name:
            return self.place.name
        return f'{self.place.name} on {self.street}'


class Ground:
    """Draws starts and goals, and measures ways; what it draws comes from the given generator."""

    def __init__(self, context: RegionContext) -> None:
        """Look for the level ground and the places of a region."""
        self.context = context
        self.network = context.network
        self._standing = [k for k, feature in enumerate(self.network.features)
                          if _is_standing(feature)]
        lengths = np.array([self.network.features[k].length for k in self._standing])
        self._shares = lengths / lengths.sum() if len(lengths) else lengths
        self._nodes = np.array([place for _, place in self.network.graph.nodes(data='position')])
        self.sites = self._find_sites(context.places)

    def _find_sites(self, places: Sequence[Place]) -> tuple[Site, ...]:
        if not places:
            return ()
        points = np.array([self.context.to_map(place.entrance) for place in places])
        near = self.network.nearest(points)
        reach = (near.horizontal <= ENTRANCE_REACH[0]) & (abs(near.vertical) <= ENTRANCE_REACH[1])
        return tuple(
            Site(place, point, self.network.features[int(feature)].street)
            for place, point, feature, reached in zip(
                places, points, near.feature, reach, strict=True)
            if reached)

    def draw_point(self, rng: np.random.Generator) -> Point:
        """Return a point (3,) on level outdoor ground, all of it equally likely."""
        feature = self.network.features[int(rng.choice(self._standing, p=self._shares))]
        at = rng.uniform(0.0, feature.length)
        return np.array(feature.cut(at, at)[0])

    def draw_near(self, rng: np.random.Generator, centre: Point, low: float, high: float,
                  tries: int = 60) -> Point | None:
        """Return such a point in a ring around another, metres in plan; None if none is found."""
        for _ in range(tries):
            point = self.draw_point(rng)
            if low <= math.dist(point[:2], centre[:2]) <= high:
                return point
        return None

    @property
    def has_starts(self) -> bool:
        """Whether there is level ground at all."""
        return bool(self._standing)

    def route(self, start: Point, goal: Point, closed: Collection[int] = ()) -> Route | None:
        """Return the shortest way, None where there is none."""
        try:
            return self.network.route(start, goal, closed)
        except NoRouteError:
            return None

    def length(self, start: Point, goal: Point) -> float:
        """Return the length of the shortest way (m), infinite where there is none."""
        route = self.route(start, goal)
        return math.inf if route is None else float(route.length)

    def street_at(self, point: Point) -> str:
        """Return the name of the street at a point, '' where it has none."""
        return self.network.features[int(self.network.nearest(point[None]).feature[0])].street

    def node_at(self, point: Point) -> int:
        """Return the node of the network's graph that is nearest to a point (3,)."""
        return int(np.argmin(np.linalg.norm(self._nodes - point, axis=1)))

    def placement(self, rng: np.random.Generator, point: Point) -> Placement:
        """Return a start at a point, with a heading by chance."""
        heading = float(enu_to_compass(rng.uniform(-np.pi, np.pi)))
        return Placement(self.context.to_geo(point), round(heading, 1))


def _is_standing(feature: Feature) -> bool:
    return (feature.enabled and feature.outdoor and feature.feature_type in _STANDING
            and feature.gradient <= MOST_GRADIENT)


def draw_seed(rng: np.random.Generator) -> int:
    """Return the seed of a task's world."""
    return int(rng.integers(2**31))


def with_article(words: str) -> str:
    """Return what something is called with `a` or `an`."""
    return f'{"an" if words[0] in "aeiou" else "a"} {words}'


def pick(rng: np.random.Generator, texts: Sequence[str]) -> str:
    """Return one of several phrasings."""
    return texts[int(rng.integers(len(texts)))]


def clear_of(start: Point, points: Sequence[Point]) -> bool:
    """Tell whether a start is far enough from all that is to be reached."""
    return all(math.dist(start[:2], point[:2]) >= CLEAR_OF_GOAL for point in points)


def name_spot(ground: Ground, point: Point) -> tuple[str, str]:
    """Return what a point that is no place is called, in a sentence and on the map."""
    street = ground.street_at(point)
    return (f'a spot on {street}', f'Destination, {street}') if street \
        else ('a spot off the streets', 'Destination')
