# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Questions of the first level: what is seen, where it is from here, what a short search finds.

Each is made around something that is seen, mostly read, and proved by what an agent gets to see:
the evidence shows where the question says so and not before, and one option fits. Words alone do
not tell which: a right option is drawn as wrong ones are, and its letter is dealt.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import math
from typing import Any

import cv2
import numpy as np
import shapely

from urbanground_ros.city import Action
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.episode import RegionContext
from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import NoRouteError
from urbanground_ros.geo import Place
from urbanground_ros.geo import PLACE_TYPES
from urbanground_ros.geo import Route
from urbanground_ros.ladder.ground import with_article
from urbanground_ros.ladder.look import Look
from urbanground_ros.ladder.look import Sight
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task
from urbanground_ros.tasks.task import OPTIONS
from urbanground_ros.tiles import Instance

COMPASS = ('north', 'east', 'south', 'west')
SIDES = ('ahead of you', 'to your right', 'behind you', 'to your left')
QUARTERS = ('ahead and to the right', 'behind and to the right', 'behind and to the left',
            'ahead and to the left')
TURNS = ('not at all', 'to the right', 'around', 'to the left')
_SET_OUT = ('Walk straight on', 'Walk off to your right', 'Turn round and walk back',
            'Walk off to your left')
#: Degrees either way from the middle of a direction that still count as it: 20 are left to the
#: border with the next one.
SURE = 25.0
#: Pixels that anything else of its kind shows at most where the nearest is asked for.
LESSER = 450
#: Of a thing that must be looked for: pixels that may show in the first picture, and when
#: turned towards it from the start. Letters are then less than 2 pixels and 3 pixels high.
UNSEEN = 100
UNREAD = 400
#: Metres of the way to where the answer is seen.
SEARCH_BAND = (8.0, 40.0)
#: No other place of a type that is asked for is nearer (m).
ALONE = 70.0
#: Metres from a sign's door, and from a plate, at which to look at it.
_BEFORE = (4.5, 13.5)
_BELOW = (3.0, 9.0)
#: Kinds of way that can be told by their look.
WAYS = {
    FeatureType.CROSSING_ZEBRA: 'a zebra crossing',
    FeatureType.CROSSING_SIGNALIZED: 'a crossing with traffic lights',
    FeatureType.STAIRCASE: 'a flight of steps',
    FeatureType.GENERALIZED_WALKWAY_INSIDE_PARK: 'a path through a park',
}
#: Metres of a way of which most must show, and from its beginning at which to look at it;
#: metres and degrees off the heading within which no other kind may be.
_SHOWN, _MOSTLY = 7.0, 0.9
_FACED = (1.0, 5.0)
_APART = (16.0, 25.0)
_STANDING = {FeatureType.FOOTWAY, FeatureType.FOOTPATH, FeatureType.VILLAGE,
             FeatureType.GENERALIZED_WALKWAY_INSIDE_PARK}
_CROSSINGS = {FeatureType.CROSSING_SIGNALIZED, FeatureType.CROSSING_ZEBRA}
#: How often each place is tried, and a form until others have their turn.
_ROUNDS = 4
_TRIES = 100
#: Wrong names are chosen from so many of the next shorter and the next longer ones.
_WINDOW = 6
#: What is called after a street, and has its sign on a post.
_BY_STREET = {'park', 'playground', 'residential', 'bus_stop', 'taxi'}
#: Types that one sign may fit: of each group, one is among the options.
_ALIKE = (
    ('bakery', 'restaurant', 'cafe', 'fast_food', 'bar'),
    ('clinic', 'dentist', 'veterinary', 'pharmacy', 'hospital', 'optician'),
    ('convenience', 'supermarket', 'marketplace', 'mall', 'clothes'),
    ('books', 'stationery', 'library', 'post_office'),
    ('school', 'kindergarten', 'college', 'university', 'community_centre', 'residential'),
    ('office', 'government', 'bank', 'atm'),
    ('theatre', 'cinema', 'arts_centre', 'museum'),
    ('electronics', 'hardware'), ('sports_centre', 'fitness_centre'), ('park', 'playground'),
    ('bus_stop', 'taxi', 'station', 'parking'),
)
#: Hues of boards, degrees.
_HUES = {'red': (-15, 9), 'orange': (16, 34), 'yellow': (42, 60), 'green': (130, 170),
         'blue': (198, 228)}
COLOURS = (*_HUES, 'white', 'black')

_Form = Callable[[np.random.Generator], Iterator[Task | None]]


def visual_recognition(context: RegionContext, rng: np.random.Generator,
                       look: Look) -> Iterator[Task]:
    """Yield questions about what the first picture shows, until the region has no more."""
    maker = _Maker(context, rng, look, Kind.VISUAL_RECOGNITION)
    return maker.take_turns(maker.name_of_sign, maker.kind_of_place, maker.colour_of_sign,
                            maker.name_of_street, maker.kind_of_way)


def orientation(context: RegionContext, rng: np.random.Generator, look: Look) -> Iterator[Task]:
    """Yield questions about directions, from the heading at the start, until there are no more."""
    maker = _Maker(context, rng, look, Kind.ORIENTATION)
    return maker.take_turns(maker.heading, maker.side_of_sign, maker.turn_to_compass,
                            maker.quarter_of_sign, maker.compass_of_sign)


def active_exploration(context: RegionContext, rng: np.random.Generator,
                       look: Look) -> Iterator[Task]:
    """Yield questions whose answer is a short walk away, until the region has no more."""
    maker = _Maker(context, rng, look, Kind.ACTIVE_EXPLORATION)
    return maker.take_turns(maker.search_name, maker.search_colour, maker.search_street)


class _Deal:
    """Gives whole numbers below `count` in random order, each as often as any other."""

    def __init__(self, rng: np.random.Generator, count: int) -> None:
        self._rng, self._count = rng, count
        self._left: list[int] = []

    @property
    def next(self) -> int:
        """The number to use now."""
        if not self._left:
            self._left = self._rng.permutation(self._count).tolist()
        return self._left[-1]

    def used(self) -> None:
        """Go on to another."""
        self._left.pop()


@dataclass(frozen=True)
class _Search:
    """A walk from a start to where something is seen."""

    start: Placement
    goal: GeoPoint
    words: str
    sight: Sight
    route: Route


class _Maker:
    """Makes and verifies the questions of one kind in one region."""

    def __init__(self, context: RegionContext, rng: np.random.Generator, look: Look,
                 kind: Kind) -> None:
        self._context, self._rng, self._look, self._kind = context, rng, look, kind
        self._letters = _Deal(rng, OPTIONS)
        network = context.network
        self._spots = np.concatenate([np.empty((0, 3)), *(
            _along(feature.points, np.arange(1.0, feature.length - 1.0, 1.5))
            for feature in network.features
            if feature.outdoor and feature.enabled and feature.feature_type in _STANDING)])
        self._corners = np.array([
            feature.points[end] for feature in network.features
            if feature.feature_type in _CROSSINGS for end in (0, -1)])
        self._streets = sorted({f.street for f in network.features if f.street})
        self._places = context.places
        self._shops = [place for place in self._places if place.type not in _BY_STREET]
        self._doors = {place.id: context.to_map(place.entrance) for place in self._places}

    def take_turns(self, *forms: _Form) -> Iterator[Task]:
        """Yield a task of each form in turn."""
        return _take_turns([form(rng) for form, rng in zip(
            forms, self._rng.spawn(len(forms)), strict=True)])

    # -- what is seen ------------------------------------------------------------------------

    def name_of_sign(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask for the name on the nearest sign."""
        def attempt(place: Place) -> Task | None:
            start = self._before(place, rng)
            sight = self._plain_sight(start, Instance('sign', place.name))
            if start is None or sight is None:
                return None
            wrong = _like(place.name, self._namesakes(place), rng)
            return self._task('Which English name is on the nearest sign above a door?',
                              start, place.name, wrong, sight)
        return self._over(self._shops, attempt, rng)

    def kind_of_place(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask what sort of place the nearest sign belongs to."""
        def attempt(place: Place) -> Task | None:
            start = self._before(place, rng)
            sight = self._plain_sight(start, Instance('sign', place.name))
            if start is None or sight is None:
                return None
            wrong = _other_types(place, self._shops, rng)
            return self._task('Look at the nearest sign above a door that has an English name on '
                              'it. What kind of place is it?',
                              start, PLACE_TYPES[place.type], wrong, sight)
        return self._over(self._shops, attempt, rng)

    def colour_of_sign(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask for the colour of the nearest sign."""
        def attempt(place: Place) -> Task | None:
            start = self._before(place, rng)
            sight = self._plain_sight(start, Instance('sign', place.name))
            colour = self._colour(sight, rng)
            if start is None or sight is None or not colour:
                return None
            wrong = rng.permutation([c for c in COLOURS if c != colour])[:3].tolist()
            return self._task('Look at the nearest sign above a door that has an English name on '
                              'it. What colour is the board behind the letters?',
                              start, colour, wrong, sight)
        return self._over(self._shops, attempt, rng)

    def name_of_street(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask for the street on the plate in view."""
        def attempt(corner: np.ndarray) -> Task | None:
            aim = self._under_plate(corner, rng)
            start = aim and self._facing(*aim[1:], float(rng.uniform(-15, 15)))
            if not aim or not start:
                return None
            sight = self._plain_sight(start, Instance('plate', aim[0]))
            if sight is None:
                return None
            wrong = _like(aim[0], self._other_streets(aim[0], self._shown('plate')), rng)
            return self._task('Read the street name plate nearest to you. '
                              'Which street does it name?', start, aim[0], wrong, sight)
        return self._over(list(self._corners), attempt, rng)

    def kind_of_way(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask what sort of way leads on ahead, each sort in turn."""
        ways: dict[FeatureType, list[np.ndarray]] = {}
        for feature in self._context.network.features:
            if feature.feature_type in WAYS and feature.enabled and feature.length > _SHOWN:
                ways.setdefault(feature.feature_type, []).append(feature.points)
        return _take_turns([self._ways_of(FeatureType(kind), ways, rng)
                            for kind in rng.permutation(sorted(ways)).tolist()])

    def _ways_of(self, kind: FeatureType, ways: dict[FeatureType, list[np.ndarray]],
                 rng: np.random.Generator) -> Iterator[Task | None]:
        points = {each: np.concatenate([_along(line, np.arange(0.0, 200.0, 2.0))
                                        for line in lines]) for each, lines in ways.items()}

        def attempt(line: np.ndarray) -> Task | None:
            shown = _along(line, np.arange(0.5, _SHOWN, 0.5))
            target = shown[len(shown) // 2]
            spots = [spot for spot in self._near(line[0], *_FACED) if abs(math.remainder(
                _compass(target - spot) - _compass(shown[-1] - shown[0]), 360.0)) < SURE]
            if not spots:
                return None
            spot = spots[int(rng.integers(len(spots)))]
            start = self._facing(spot, target, 0.0)
            wrong = [WAYS[each] for each in ways if each is not kind
                     and not _is_ahead(points[each], spot, start.yaw)]
            if len(wrong) < OPTIONS - 1 or not self._look.stand(self._context, start):
                return None
            visible = self._look.shows(shown)
            if visible < _MOSTLY:
                return None
            return self._task('What leads on straight ahead from where you stand?', start,
                              WAYS[kind], rng.permutation(wrong)[:OPTIONS - 1].tolist(),
                              {'kind': 'way', 'name': kind.name.lower(), 'visible': visible,
                               'distance': round(float(np.linalg.norm(target - spot)), 2)})
        return self._over([line for each in ways[kind] for line in (each, each[::-1])],
                          attempt, rng)

    # -- where it is -------------------------------------------------------------------------

    def heading(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask which way the body faces."""
        wanted = _Deal(rng, OPTIONS)
        for spot in rng.permutation(self._spots):
            start = self._at(spot, 90.0 * wanted.next + rng.uniform(-1, 1) * 20.0)
            yield self._read_map('Which compass direction do you face? The map shows north, '
                                 'and you as an arrow.', start, COMPASS, wanted)

    def turn_to_compass(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask how to turn to face a compass direction."""
        wanted = _Deal(rng, OPTIONS)
        for spot in rng.permutation(self._spots):
            to = int(rng.integers(OPTIONS))
            start = self._at(spot, 90.0 * (to - wanted.next) + rng.uniform(-1, 1) * 20.0)
            yield self._read_map(f'You want to walk {COMPASS[to]}. How must you turn from the way '
                                 'you face now? The map shows north, and you as an arrow.',
                                 start, TURNS, wanted)

    def side_of_sign(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask on which side a sign is."""
        return self._turned(rng, SIDES, 0.0, lambda name: (
            f'Look around for the sign of {name}. As you face at the start, where is it?'))

    def quarter_of_sign(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask in which quarter a sign is."""
        return self._turned(rng, QUARTERS, 45.0, lambda name: (
            f'Without leaving this place, find the sign of {name}. From the way you face at the '
            'start, where is it?'))

    def compass_of_sign(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask in which compass direction a sign is."""
        wanted = _Deal(rng, OPTIONS)

        def attempt(place: Place) -> Task | None:
            spots = self._near(self._doors[place.id], *_BEFORE)
            away = [s for s in spots if abs(math.remainder(_compass(
                self._doors[place.id] - s) - 90.0 * wanted.next, 360.0)) <= SURE]
            if not away:
                return None
            start = self._at(away[int(rng.integers(len(away)))], float(rng.uniform(-180, 180)))
            sight = self._turn_to(start, place)
            if sight is None or abs(math.remainder(
                    start.yaw + sight.bearing - 90.0 * wanted.next, 360.0)) > SURE:
                return None
            right = COMPASS[wanted.next]
            wanted.used()
            return self._task(
                f'Find the sign of {place.name} by looking around. In which compass direction is '
                'it from you? The map shows north.', start, right, _others(right, COMPASS), sight)
        return self._over(self._places, attempt, rng)

    def _turned(self, rng: np.random.Generator, options: Sequence[str], offset: float,
                words: Callable[[str], str]) -> Iterator[Task | None]:
        wanted = _Deal(rng, OPTIONS)

        def attempt(place: Place) -> Task | None:
            door = self._doors[place.id]
            spots = self._near(door, *_BEFORE)
            if not len(spots):
                return None
            angle = 90.0 * wanted.next + offset
            start = self._facing(spots[int(rng.integers(len(spots)))], door,
                                 angle + float(rng.uniform(-1, 1)) * 20.0)
            sight = self._turn_to(start, place)
            if sight is None or abs(math.remainder(sight.bearing - angle, 360.0)) > SURE:
                return None
            right = options[wanted.next]
            wanted.used()
            return self._task(words(place.name), start, right, _others(right, options), sight)
        return self._over(self._places, attempt, rng)

    def _turn_to(self, start: Placement, place: Place) -> Sight | None:
        """Return how a sign is read when turned to it, its bearing as from the start."""
        sign = Instance('sign', place.name)
        way = self._doors[place.id] - self._context.to_map(start.point)
        if not self._promises(start, _compass(way), sign) \
                or not self._look.stand(self._context, start):
            return None
        turned = self._look.bearing(self._doors[place.id])
        self._look.turn(turned)
        sight = self._look.sight(sign)
        if sight is None or not sight.legible:
            return None
        bearing = math.remainder(sight.bearing + turned, 360.0)
        return replace(sight, bearing=bearing)

    def _read_map(self, description: str, start: Placement, options: Sequence[str],
                  wanted: _Deal) -> Task | None:
        if not self._look.stand(self._context, start):
            return None
        if not self._look.act(Action('open_map')).accepted:
            return None
        right = options[wanted.next]
        wanted.used()
        return self._task(description, start, right, _others(right, options),
                          {'kind': 'map', 'name': 'north'})

    # -- what a search finds -----------------------------------------------------------------

    def search_name(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask for the name of the only place of a type around."""
        first = _Deal(rng, OPTIONS)
        alike = [p for p in self._shops if self._count(p.type) >= OPTIONS]

        def attempt(place: Place) -> Task | None:
            door = self._doors[place.id]
            if any(np.linalg.norm(self._doors[other.id] - door) < ALONE for other in self._places
                   if other.type == place.type and other is not place):
                return None
            found = self._search(Instance('sign', place.name), self._near(door, *_BEFORE), door,
                                 first, rng)
            if found is None:
                return None
            kind = with_article(PLACE_TYPES[place.type])
            wrong = _like(place.name, self._namesakes(place), rng)
            return self._found(f'{found.words} you come to {kind}. What is its name?',
                               found, place.name, wrong)
        return self._over(alike, attempt, rng)

    def search_colour(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask for the colour of a sign that is told by its name."""
        first = _Deal(rng, OPTIONS)

        def attempt(place: Place) -> Task | None:
            door = self._doors[place.id]
            found = self._search(Instance('sign', place.name), self._near(door, *_BEFORE), door,
                                 first, rng)
            colour = self._colour(found.sight if found else None, rng)
            if found is None or not colour:
                return None
            wrong = rng.permutation([c for c in COLOURS if c != colour])[:3].tolist()
            return self._found(f'{found.words} you come to the sign of {place.name}. What '
                               'colour is the board behind the letters?', found, colour, wrong)
        return self._over(self._places, attempt, rng)

    def search_street(self, rng: np.random.Generator) -> Iterator[Task | None]:
        """Ask which street the plates of a corner name."""
        first = _Deal(rng, OPTIONS)

        def attempt(corner: np.ndarray) -> Task | None:
            aim = self._under_plate(corner, rng)
            if aim is None:
                return None
            name, spot, plate = aim
            found = self._search(Instance('plate', name), spot[None], plate, first, rng)
            if found is None:
                return None
            here = self._look.things(self._context, 'plate', spot, SEARCH_BAND[1])
            wrong = _like(name, self._other_streets(name, here), rng)
            return self._found(f'{found.words} you come to a street corner. Which of these '
                               'streets is on a name plate there?', found, name, wrong)
        return self._over(list(self._corners), attempt, rng)

    def _search(self, thing: Instance, ends: np.ndarray, target: np.ndarray, first: _Deal,
                rng: np.random.Generator) -> _Search | None:
        """Walk from somewhere near to one of the `ends` (N, 3), and read a thing there only."""
        if not len(ends):
            return None
        end = ends[int(rng.integers(len(ends)))]
        if not self._look.promises(self._context, end, _compass(target - end), thing):
            return None
        starts = self._near(end, *SEARCH_BAND)
        if not len(starts):
            return None
        begin = starts[int(rng.integers(len(starts)))]
        try:
            route = self._context.network.route(begin, end)
        except NoRouteError:
            return None
        if not SEARCH_BAND[0] <= route.length <= SEARCH_BAND[1]:
            return None
        line = shapely.LineString(route.points)
        ahead = np.array(line.interpolate(6.0).coords[0])
        last = np.array(line.interpolate(line.length - 3.0).coords[0])
        start = self._facing(begin, ahead, 90.0 * first.next + float(rng.uniform(-1, 1)) * 20.0)
        look = self._look
        # Most fail here: it can be read from the start.
        for placement, most in ((self._facing(begin, target, 0.0), UNREAD), (start, UNSEEN)):
            if not look.stand(self._context, placement) or look.mask().pixels(*thing) > most:
                return None
        if not look.walk(shapely.get_coordinates(line.simplify(0.4), include_z=True)[1:]):
            return None
        look.turn(look.bearing(target))
        sight = look.sight(thing)
        if sight is None or not sight.legible:
            return None
        turned = math.remainder(_compass(route.points[-1] - last) - _compass(ahead - begin), 360)
        way = _SET_OUT[first.next] + (', go around a corner' if abs(turned) > 60.0 else '')
        first.used()
        return _Search(start, self._context.to_geo(end), f'{way}, and after some '
                       f'{round(route.length, -1):.0f} metres', sight, route)

    def _found(self, description: str, search: _Search, right: str,
               wrong: Sequence[str]) -> Task | None:
        return self._task(description, search.start, right, wrong, search.sight,
                          goal=search.goal, route_length=round(search.route.length, 3))

    # -- of all ------------------------------------------------------------------------------

    def _task(self, description: str, start: Placement, right: str, wrong: Sequence[str],
              evidence: Sight | dict[str, Any], **fields: Any) -> Task | None:
        """Return a task of what the look has just proved; None without enough wrong options."""
        if len(set(wrong)) < OPTIONS - 1 or right in wrong:
            return None
        answer = self._letters.next
        self._letters.used()
        options = self._rng.permutation(list(wrong)).tolist()
        options.insert(answer, right)
        if isinstance(evidence, Sight):
            evidence = {
                'kind': evidence.thing.kind, 'name': evidence.thing.name,
                'pixels': evidence.pixels, 'visible': round(evidence.visible, 3),
                'distance': round(evidence.distance, 2), 'bearing': round(evidence.bearing, 1)}
        look = self._look
        return Task(
            id='', kind=self._kind, description=description, start=start, options=tuple(options),
            answer=answer, region=self._context.name, seed=int(self._rng.integers(2**31)),
            evidence=evidence, verification={
                'steps': look.steps, 'distance': round(look.walked, 2),
                'seconds': round(look.seconds, 2)}, **fields)

    def _over(self, items: Sequence[Any], attempt: Callable[[Any], Task | None],
              rng: np.random.Generator) -> Iterator[Task | None]:
        """Yield what attempts at items give, in random order; one that gave a task is done."""
        left = list(items)
        for _ in range(_ROUNDS):
            done = []
            for k in rng.permutation(len(left)).tolist():
                task = attempt(left[k])
                if task is not None:
                    done.append(k)
                yield task
            left = [item for k, item in enumerate(left) if k not in done]

    def _plain_sight(self, start: Placement | None, thing: Instance) -> Sight | None:
        """Return how a thing is read from a start, if nothing else of its kind comes near it."""
        if start is None or not self._promises(start, start.yaw, thing) \
                or not self._look.stand(self._context, start):
            return None
        sight = self._look.sight(thing)
        if sight is None or not sight.legible:
            return None
        mask = self._look.mask()
        others = [mask.pixels(*each) for each in mask.instances
                  if each.kind == thing.kind and each != thing]
        return sight if max(others, default=0) <= LESSER else None

    def _promises(self, start: Placement, yaw: float, thing: Instance) -> bool:
        return self._look.promises(self._context, self._context.to_map(start.point), yaw, thing)

    def _shown(self, kind: str) -> set[str]:
        return {each.name for each in self._look.mask().instances if each.kind == kind}

    def _namesakes(self, place: Place) -> list[str]:
        """Return names that may stand for a place's, of places that are not in view."""
        shown = self._shown('sign')
        others = [p for p in self._shops if p.name not in shown and p is not place]
        if self._count(place.type) >= OPTIONS:
            return [p.name for p in others if p.type == place.type]
        # A rare one among common ones would stand out.
        return [p.name for p in others if self._count(p.type) < OPTIONS]

    def _count(self, kind: str) -> int:
        return sum(place.type == kind for place in self._places)

    def _other_streets(self, name: str, seen: Container[str]) -> list[str]:
        """Return the streets that are not seen whose names end as one's does."""
        return [street for street in self._streets
                if street not in seen and street.split()[-1] == name.split()[-1]]

    def _colour(self, sight: Sight | None, rng: np.random.Generator) -> str:
        """Return the colour of the board in view; '' where it cannot be told, or by chance."""
        if sight is None:
            return ''
        shown = self._look.mask().where(*sight.thing)
        colour = _colour_of(np.median(self._look.picture()[shown], axis=0))
        # As many boards are white as of two other colours.
        return '' if colour == 'white' and rng.random() < 0.5 else colour

    def _near(self, place: np.ndarray, low: float, high: float) -> np.ndarray:
        """Return the spots (N, 3) in a band of distances from a place, on its level."""
        offsets = self._spots - place
        distances = np.linalg.norm(offsets, axis=1)
        return self._spots[(distances >= low) & (distances <= high)
                           & (np.abs(offsets[:, 2]) < 2.5)]

    def _before(self, place: Place, rng: np.random.Generator) -> Placement | None:
        """Return a start from which a sign may be in view."""
        spots = self._near(self._doors[place.id], *_BEFORE)
        if not len(spots):
            return None
        return self._facing(spots[int(rng.integers(len(spots)))], self._doors[place.id],
                            float(rng.uniform(-15, 15)))

    def _under_plate(self, corner: np.ndarray, rng: np.random.Generator
                     ) -> tuple[str, np.ndarray, np.ndarray] | None:
        """Return the name of a plate near a corner, a spot (3,) to read it from, its middle."""
        plates = self._look.things(self._context, 'plate', corner, 8.0)
        if not plates:
            return None
        name = sorted(plates)[int(rng.integers(len(plates)))]
        spots = self._near(plates[name] - [0.0, 0.0, 2.8], *_BELOW)
        if not len(spots):
            return None
        return name, spots[int(rng.integers(len(spots)))], plates[name]

    def _facing(self, spot: np.ndarray, target: np.ndarray, beside: float) -> Placement:
        """Return a placement from which a target is so many degrees to the right."""
        return self._at(spot, _compass(target - spot) - beside)

    def _at(self, spot: np.ndarray, yaw: float) -> Placement:
        return Placement(self._context.to_geo(spot), round(yaw % 360.0, 1))


def _take_turns(forms: Iterable[Iterator[Task | None]]) -> Iterator[Task]:
    """Yield a task of each form in turn; one that tries for long in vain is passed over."""
    waiting = deque(forms)
    while waiting:
        form = waiting.popleft()
        for tries, task in enumerate(form, 1):
            if task is not None:
                yield task
            if task is not None or tries == _TRIES:
                waiting.append(form)
                break


def _compass(way: np.ndarray) -> float:
    return math.degrees(math.atan2(way[0], way[1]))


def _along(line: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the points (N, 3) at distances along a line (M, 3)."""
    return shapely.get_coordinates(
        shapely.line_interpolate_point(shapely.LineString(line), offsets), include_z=True)


def _is_ahead(points: np.ndarray, spot: np.ndarray, yaw: float) -> bool:
    """Tell whether one of some points (N, 3) is near and about ahead."""
    offsets = points - spot
    turns = np.degrees(np.arctan2(offsets[:, 0], offsets[:, 1])) - yaw
    return bool(((np.linalg.norm(offsets, axis=1) < _APART[0])
                 & (np.abs((turns + 180.0) % 360.0 - 180.0) < _APART[1])).any())


def _others(right: str, options: Sequence[str]) -> list[str]:
    return [option for option in options if option != right]


def _like(name: str, pool: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Return three names of a pool of a similar length, it at any place of their order.

    None where the pool is too small.
    """
    ranked = sorted({*pool, name}, key=lambda each: (len(each), each))
    if len(ranked) < OPTIONS:
        return []
    at = ranked.index(name)
    shorter, longer = ranked[max(0, at - _WINDOW):at], ranked[at + 1:at + 1 + _WINDOW]
    below = int(np.clip(rng.integers(OPTIONS), OPTIONS - 1 - len(longer), len(shorter)))
    return [*rng.permutation(shorter)[:below].tolist(),
            *rng.permutation(longer)[:OPTIONS - 1 - below].tolist()]


def _other_types(place: Place, places: Sequence[Place], rng: np.random.Generator) -> list[str]:
    """Return three types that a sign cannot be taken for, as frequent as their places are."""
    taken = {_group(place.type)}
    found: list[str] = []
    for k in rng.permutation(len(places)).tolist():
        kind = places[k].type
        if _group(kind) not in taken and len(found) < OPTIONS - 1:
            taken.add(_group(kind))
            found.append(PLACE_TYPES[kind])
    return found


def _group(kind: str) -> str:
    return next((group[0] for group in _ALIKE if kind in group), kind)


def _colour_of(rgb: np.ndarray) -> str:
    """Return the word for a colour (3,), '' for one that two words may fit."""
    hue, saturation, value = cv2.cvtColor(
        np.float32(rgb / 255.0).reshape(1, 1, 3), cv2.COLOR_RGB2HSV)[0, 0].tolist()
    if saturation < 0.25:
        return 'white' if value > 0.55 else 'black' if value < 0.25 else ''
    if saturation < 0.5:
        return ''
    return next((colour for colour, (low, high) in _HUES.items()
                 if low <= hue <= high or low <= hue - 360.0 <= high), '')
