# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Routes in words: turns, streets, crossings, stairs and what one passes.

A route is told as it branches: where ways part, a walker goes straight on unless told to turn,
and every turn that is told is the only way to that side, or the only one of its sort. Whoever
follows the words on the network ends at the goal; `retrace` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from itertools import pairwise
import math
from typing import NamedTuple

import numpy as np
import shapely

from urbanground_ros.episode import RegionContext
from urbanground_ros.geo import Feature
from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import Route
from urbanground_ros.ladder.ground import draw_seed
from urbanground_ros.ladder.ground import Ground
from urbanground_ros.ladder.ground import pick
from urbanground_ros.ladder.ground import Point
from urbanground_ros.ladder.ground import Site
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task

#: Metres along the network, and how many turns are told at least and at most.
ROUTE = (90.0, 330.0)
TURNS = (1, 6)
#: Degrees from which a change of direction is a turn, up to which it is straight on, and by how
#: much the way that is meant is straighter than any other.
TURN, STRAIGHT, CLEARER = 45.0, 30.0, 20.0
#: Direction is measured over so much of a way (m).
SIGHT = 4.0
#: A place is passed within so much of the way, and is told no nearer to the goal (m).
PASSED, NOT_AT_END = 9.0, 15.0
#: Draws until a region is given up.
DRAWS = 6000

_STAIRS = frozenset({FeatureType.STAIRCASE, FeatureType.M_STAIRCASE})
_ESCALATORS = frozenset({FeatureType.ESCALATOR, FeatureType.M_ESCALATOR})
_CROSSINGS = {
    FeatureType.CROSSING_SIGNALIZED: 'at the traffic lights',
    FeatureType.CROSSING_ZEBRA: 'at the zebra crossing',
    FeatureType.CROSSING_CAUTIONARY: 'at the crossing',
    FeatureType.CROSSING_OTHERS: 'at the crossing',
}
_COMPASS = ('north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west',
            'north-west')
_OPENINGS = (
    'Follow these directions. {steps}',
    'Somebody has described the way to you. {steps}',
    'Walk as follows, and stop at the end. {steps}',
)


class Leg(NamedTuple):
    """A piece of a route on one feature.

    Attributes:
        feature: Its index.
        points: (N, 3), in the direction of the walk.
        turn: Degrees from the leg before, positive to the right; 0 where one goes straight on.
    """

    feature: int
    points: Point
    turn: float

    @property
    def length(self) -> float:
        """Metres in space."""
        return float(np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum())


def propose_instructional(context: RegionContext, rng: np.random.Generator) -> Iterator[Task]:
    """Propose routes whose words lead to the goal and nowhere else."""
    ground = Ground(context)
    for _ in range(DRAWS if ground.has_starts and ground.sites else 0):
        start = ground.draw_point(rng)
        near = [site for site in ground.sites
                if 0.4 * ROUTE[0] <= math.dist(site.point[:2], start[:2]) <= ROUTE[1]]
        if not near:
            continue
        goal = near[int(rng.integers(len(near)))]
        route = ground.route(start, goal.point)
        if route is None or not ROUTE[0] <= route.length <= ROUTE[1]:
            continue
        legs = make_legs(ground, route)
        if legs is None or not TURNS[0] <= sum(leg.turn != 0 for leg in legs) <= TURNS[1] \
                or not is_plain(ground, legs):
            continue
        steps = tell(ground, legs, goal)
        yield Task(
            id='', kind=Kind.INSTRUCTIONAL,
            description=pick(rng, _OPENINGS).format(steps=' '.join(steps)),
            start=ground.placement(rng, start),
            goal=context.to_geo(goal.point, goal.place.name),
            region=context.name, seed=draw_seed(rng), route_length=round(route.length, 3),
            evidence={'turns': [round(leg.turn) for leg in legs if leg.turn],
                      'place': goal.place.id})


def make_legs(ground: Ground, route: Route) -> list[Leg] | None:
    """Part a route at the ends of its features; None where that is not plain."""
    features = [ground.network.features[k] for k in route.features]
    points = route.points
    cuts = [0]
    for before, after in pairwise(features):
        shared = _shared_end(before, after)
        if shared is None:
            return None
        at = [k for k in range(cuts[-1], len(points))
              if np.abs(points[k] - shared).max() < 1e-3]
        if not at:
            return None
        cuts.append(at[0])
    cuts.append(len(points) - 1)
    legs: list[Leg] = []
    for index, first, last in zip(route.features, cuts, cuts[1:], strict=False):
        if last <= first:
            continue
        piece = points[first:last + 1]
        turn = angle(_heading(legs[-1].points[::-1]) + 180.0, _heading(piece)) if legs else 0.0
        legs.append(Leg(index, piece, turn if abs(turn) >= TURN else 0.0))
    return legs


def is_plain(ground: Ground, legs: Sequence[Leg]) -> bool:
    """Tell whether each step of the words leaves one way to go, and that is the route's."""
    return retrace(ground, legs) == [leg.feature for leg in legs]


def retrace(ground: Ground, legs: Sequence[Leg]) -> list[int]:
    """Follow the words of some legs on the network: straight on where no turn is told.

    Returns:
        The features that are walked, up to where the words leave a choice.
    """
    walked = [legs[0].feature]
    for before, leg in pairwise(legs):
        heading = _heading(before.points[::-1]) + 180.0
        ways = {k: angle(heading, out) for k, out in _ways_on(ground, before)}
        sort = _sort(ground.network.features[leg.feature])
        if leg.turn:
            fitting = [k for k, turn in ways.items() if turn * leg.turn > 0 and TURN <= abs(turn)
                       <= 150.0 and _sort(ground.network.features[k]) == sort]
        else:
            ahead = {k: abs(turn) for k, turn in ways.items()
                     if sort == '' or _sort(ground.network.features[k]) == sort}
            least = min(ahead.values(), default=math.inf)
            fitting = [k for k, turn in ahead.items() if turn < least + CLEARER]
            if least > STRAIGHT and len(ways) > 1:
                fitting = []
        if len(fitting) != 1:
            break
        walked.append(fitting[0])
    return walked


def tell(ground: Ground, legs: Sequence[Leg], goal: Site) -> list[str]:
    """Return the sentences of a route."""
    network = ground.network
    heading = _heading(legs[0].points)
    street = network.features[legs[0].feature].street
    along = f' along {street}' if street else ''
    sentences = [f'Set out to the {_COMPASS[round(heading / 45.0) % 8]}{along}.']
    stretch: list[Leg] = []
    landmarks = _Landmarks(ground, legs, goal)
    for leg in legs:
        feature = network.features[leg.feature]
        sort = _sort(feature)
        if leg.turn or sort:
            sentences += _go_on(stretch, landmarks)
            stretch = []
        words = _enter(feature, leg, street)
        if words:
            sentences.append(words)
        if not sort:
            stretch.append(leg)
            street = feature.street or street
    sentences += _go_on(stretch, landmarks)
    side = _side(legs[-1].points, goal.point)
    sentences.append(f'Stop at {goal.place.name}{side}.')
    return sentences


class _Landmarks:
    """Places that are passed, each told once."""

    def __init__(self, ground: Ground, legs: Sequence[Leg], goal: Site) -> None:
        self._end = goal.point
        self._sites = [site for site in ground.sites if site is not goal
                       and site.place.name != goal.place.name
                       and math.dist(site.point[:2], goal.point[:2]) > NOT_AT_END]
        self._first = legs[0].points[0]

    def pass_by(self, leg: Leg) -> str:
        """Return the words for a place that is passed on a leg, '' for none."""
        if leg.length < 12.0:
            return ''
        line = shapely.LineString(leg.points[:, :2])
        for site in self._sites:
            spot = shapely.Point(site.point[:2])
            at = float(shapely.line_locate_point(line, spot))
            if shapely.distance(line, spot) <= PASSED and 5.0 <= at <= line.length - 5.0 \
                    and abs(float(site.point[2] - leg.points[0, 2])) < 6.0:
                self._sites.remove(site)
                return f'{site.place.name}{_side(leg.points, site.point)}'
        return ''


def _go_on(stretch: Sequence[Leg], landmarks: _Landmarks) -> list[str]:
    """Return how far one goes on, and what one passes."""
    length = sum(leg.length for leg in stretch)
    if length < 12.0:
        return []
    passed = next(filter(None, map(landmarks.pass_by, stretch)), '')
    past = f', past {passed}' if passed else ''
    return [f'Go straight on for about {max(10, round(length / 10.0) * 10)} metres{past}.']


def _enter(feature: Feature, leg: Leg, street: str) -> str:
    """Return the words for the beginning of a leg, '' where one just goes on."""
    side = ('right' if leg.turn > 0 else 'left') if leg.turn else ''
    kind = feature.feature_type
    up = leg.points[-1, 2] >= leg.points[0, 2]
    if kind in _CROSSINGS:
        what = f'cross {feature.street or "the road"} {_CROSSINGS[kind]}'
    elif kind in _STAIRS:
        what = f'go {"up" if up else "down"} the stairs'
    elif kind in _ESCALATORS:
        what = f'take the escalator {"up" if up else "down"}'
    elif kind is FeatureType.FOOTBRIDGE:
        what = 'cross the footbridge'
    elif kind is FeatureType.SUBWAY:
        what = 'go through the subway'
    elif kind in (FeatureType.LIFT, FeatureType.M_LIFT):
        what = f'take the lift {"up" if up else "down"}'
    elif kind is FeatureType.RAMP:
        what = f'go {"up" if up else "down"} the ramp'
    elif not side:
        return ''
    else:
        into = f' into {feature.street}' if feature.street not in ('', street) else ''
        return f'Turn {side}{into}.'
    return f'Turn {side} and {what}.' if side else f'{what[0].upper()}{what[1:]}.'


def _sort(feature: Feature) -> str:
    """Return what tells a way from others where several lead to one side, '' for a plain one."""
    kind = feature.feature_type
    if kind in _CROSSINGS:
        return 'crossing'
    if kind in _STAIRS | _ESCALATORS or kind in (
            FeatureType.FOOTBRIDGE, FeatureType.SUBWAY, FeatureType.LIFT, FeatureType.M_LIFT,
            FeatureType.RAMP):
        return kind.name
    return ''


def _ways_on(ground: Ground, leg: Leg) -> Iterator[tuple[int, float]]:
    """Yield the features that leave the end of a leg, each with its heading there."""
    network = ground.network
    for _, _, index in sorted(network.graph.out_edges(ground.node_at(leg.points[-1]), keys=True)):
        if index != leg.feature:
            points = network.features[index].points
            ahead = np.abs(points[0] - leg.points[-1]).max() < 1e-3
            yield index, _heading(points if ahead else points[::-1])


def _shared_end(before: Feature, after: Feature) -> Point | None:
    """Return the only end that two features share, None where there is none or are two."""
    shared = [a for a in before.points[[0, -1]] for b in after.points[[0, -1]]
              if np.abs(a - b).max() < 1e-3]
    return shared[0] if len(shared) == 1 else None


def _heading(points: Point) -> float:
    """Return the compass direction in which a line begins, degrees."""
    line = shapely.LineString(points[:, :2])
    ahead = shapely.line_interpolate_point(line, min(SIGHT, line.length))
    return math.degrees(math.atan2(ahead.x - points[0, 0], ahead.y - points[0, 1]))


def angle(before: float, after: float) -> float:
    """Return the turn from one compass direction to another, degrees, positive to the right."""
    return math.remainder(after - before, 360.0)


def _side(points: Point, place: Point) -> str:
    """Return on which side of a line a place is, '' where it is on the line."""
    line = shapely.LineString(points[:, :2])
    at = min(max(float(shapely.line_locate_point(line, shapely.Point(place[:2]))), 0.5),
             line.length - 0.5)
    a, b = (np.array(shapely.line_interpolate_point(line, at + step).coords[0])
            for step in (-0.5, 0.5))
    way, off = b - a, place[:2] - a
    cross = float(way[0] * off[1] - way[1] * off[0])
    if abs(cross) < 0.8 * np.linalg.norm(way):
        return ''
    return ' on your left' if cross > 0 else ' on your right'
