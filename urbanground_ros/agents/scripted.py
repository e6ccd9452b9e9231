# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scripted agents: the oracle that proves a task feasible, and two that bound it from below."""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from itertools import permutations
import math
from typing import TYPE_CHECKING
import zlib

import numpy as np
import shapely

from urbanground_ros.agents.base import Agent
from urbanground_ros.agents.base import register
from urbanground_ros.city import Action
from urbanground_ros.city import MAX_ACTION_SECONDS
from urbanground_ros.city import MIN_ACTION_SECONDS
from urbanground_ros.geo import NoRouteError
from urbanground_ros.tasks import Family

if TYPE_CHECKING:
    from urbanground_ros.agents.base import World
    from urbanground_ros.city import CityState
    from urbanground_ros.episode import Observation
    from urbanground_ros.episode import TaskBrief

WALK_SPEED = 4.0
SPRINT_SPEED = 7.0


def _turn(state: CityState, target: np.ndarray) -> float:
    """Return the turn towards a point in degrees, positive to the right, in (-180, 180]."""
    body = state.body
    bearing = math.atan2(target[1] - body.y, target[0] - body.x)
    return math.degrees(math.remainder(body.yaw - bearing, math.tau))


def _rush(distance: float) -> Action:
    """Return the motion forward that covers a distance, as far as one action can."""
    name, speed = ('sprint', SPRINT_SPEED) if distance > 2.0 else ('move', WALK_SPEED)
    seconds = min(max(distance / speed, MIN_ACTION_SECONDS), MAX_ACTION_SECONDS)
    return Action(name, direction='forward', seconds=seconds)


#: A place counts as visited for a scripted agent so near to it, well within the 15 m (m).
AT_PLACE = 10.0


class _Walker(Agent):
    """Goes to one place after the other, then ends the episode and answers."""

    privileged = True

    def begin(self, brief: TaskBrief, seed: int, world: World | None) -> None:
        """Take the places of the next task."""
        if world is None:
            raise RuntimeError(f'the {self.name} needs the world')
        self._world = world
        self._places: list[np.ndarray] | None = None

    def act(self, observation: Observation, state: CityState | None) -> Action:
        """Go on to the next place."""
        assert state is not None
        if state.mode == 'map':
            return Action('close_map')
        body = state.body
        here = np.array([body.x, body.y, body.z])
        if self._places is None:
            self._places = self._order(here)
        # A place that ends the episode is walked to until it does.
        while self._places and self._is_passed(here, self._places[0]):
            self._leave(self._places.pop(0))
        if not self._places:
            return Action('terminate')
        return self._go(here, self._places[0], observation, state)

    def _is_passed(self, here: np.ndarray, place: np.ndarray) -> bool:
        return self._world.task.kind.family is not Family.GOAL \
            and math.hypot(*(place - here)[:2]) < AT_PLACE

    @abstractmethod
    def _order(self, here: np.ndarray) -> list[np.ndarray]:
        """Return the places (3,) in the order to go to them."""

    @abstractmethod
    def _go(self, here: np.ndarray, place: np.ndarray, observation: Observation,
            state: CityState) -> Action:
        """Return the next action towards a place."""

    def _leave(self, place: np.ndarray) -> None:
        """Forget what was planned to reach a place."""


@register
class OracleAgent(_Walker):
    """Follows the shortest way on the network: proof that a task can be done.

    It keeps off what it was told is closed, visits places in the best order, and knows answers.
    """

    name = 'oracle'

    #: Metres from a waypoint at which the next one is taken.
    REACHED = 0.6
    #: Metres by which the way may be cut straight; well within a sidewalk's half width.
    SIMPLIFY = 0.4
    #: Degrees off the wanted heading that are not worth a turn.
    AIM = 2.0

    def begin(self, brief: TaskBrief, seed: int, world: World | None) -> None:
        """Take the network and places of the next task."""
        super().begin(brief, seed, world)
        self._closed: frozenset[int] = frozenset()
        self._way: list[np.ndarray] = []
        self._expected: tuple[np.ndarray, float] | None = None
        self._evade = 0

    def answer(self, observation: Observation) -> int:
        """Give the right answer."""
        return self._world.task.answer or 0

    def _order(self, here: np.ndarray) -> list[np.ndarray]:
        family = self._world.task.kind.family
        places = list(self._world.places)
        if family is Family.SEARCH:
            return [min(places, key=lambda place: self._length(here, place))]
        if family is Family.VISITS:
            lengths = {(k, m): self._length(a, b) for (k, a), (m, b) in permutations(
                enumerate([here, *places]), 2) if m}
            best = min(permutations(range(1, len(places) + 1)), key=lambda order: sum(
                lengths[leg] for leg in pairwise((0, *order))))
            return [places[k - 1] for k in best]
        return places

    def _length(self, start: np.ndarray, place: np.ndarray) -> float:
        try:
            return float(self._world.network.route(start, place, self._closed).length)
        except NoRouteError:
            return math.inf

    def _go(self, here: np.ndarray, place: np.ndarray, observation: Observation,
            state: CityState) -> Action:
        if observation.notices and self._closed != self._world.closed:
            self._closed, self._way, self._expected = self._world.closed, [], None
        if self._expected is not None:
            start, length = self._expected
            self._expected = None
            if np.linalg.norm((here - start)[:2]) < 0.5 * length:
                return self._sidestep()
        if not self._way:
            self._way = self._plan(here, place)
        while len(self._way) > 1 and self._near(here, self._way[0]):
            self._way.pop(0)
        target = self._way[0]
        distance = float(np.linalg.norm((target - here)[:2]))
        if distance < self.REACHED:
            # The end of the way, and still not there: the place is off the network.
            self._way, target = [], place
            distance = float(np.linalg.norm((target - here)[:2]))
        turn = _turn(state, target)
        if abs(turn) > self.AIM:
            return Action('look', yaw=turn)
        action = _rush(distance)
        self._expected = here, min(distance, 1.0)
        return action

    def _leave(self, place: np.ndarray) -> None:
        self._way, self._expected = [], None

    def _near(self, here: np.ndarray, point: np.ndarray) -> bool:
        offset = point - here
        return bool(math.hypot(offset[0], offset[1]) < self.REACHED and abs(offset[2]) < 2.0)

    def _plan(self, here: np.ndarray, place: np.ndarray) -> list[np.ndarray]:
        points = self._world.network.route(here, place, self._closed).points
        line = shapely.simplify(shapely.LineString(points), self.SIMPLIFY)
        return list(shapely.get_coordinates(line, include_z=True))

    def _sidestep(self) -> Action:
        """Get off something that stands in the way, to alternating sides, and plan anew."""
        self._evade += 1
        self._way = []
        side = 'left' if self._evade % 2 else 'right'
        return Action('move', direction=side, seconds=min(0.15 * self._evade, MAX_ACTION_SECONDS))


@register
class StraightAgent(_Walker):
    """Walks straight at each place in turn whatever stands between, and answers blindly."""

    name = 'straight'

    def answer(self, observation: Observation) -> int:
        """Give the first answer."""
        return 0

    def _order(self, here: np.ndarray) -> list[np.ndarray]:
        places = list(self._world.places)
        if self._world.task.kind.family is Family.SEARCH:
            return [min(places, key=lambda place: math.hypot(*(place - here)[:2]))]
        return places

    def _go(self, here: np.ndarray, place: np.ndarray, observation: Observation,
            state: CityState) -> Action:
        turn = _turn(state, place)
        if abs(turn) > 2.0:
            return Action('look', yaw=turn)
        return _rush(math.hypot(*(place - here)[:2]))


@register
class RandomAgent(Agent):
    """Draws each action at random from those that the mode allows, and the answer too."""

    name = 'random'

    def begin(self, brief: TaskBrief, seed: int, world: World | None) -> None:
        """Seed the draws by the episode."""
        self._rng = np.random.default_rng([seed, zlib.crc32(brief.episode.encode())])
        self._options = max(1, len(brief.options))

    def answer(self, observation: Observation) -> int:
        """Draw an answer."""
        return int(self._rng.integers(self._options))

    def act(self, observation: Observation, state: CityState | None) -> Action:
        """Draw an action."""
        rng = self._rng
        if observation.mode == 'map':
            name = rng.choice(['map_select', 'map_pan', 'map_zoom', 'map_orbit', 'close_map'],
                              p=[0.1, 0.1, 0.1, 0.1, 0.6])
            return {
                'map_select': Action('map_select', x=rng.uniform(), y=rng.uniform()),
                'map_pan': Action('map_pan', east=rng.uniform(-100, 100),
                                  north=rng.uniform(-100, 100)),
                'map_zoom': Action('map_zoom', factor=rng.uniform(0.5, 2)),
                'map_orbit': Action('map_orbit', yaw=rng.uniform(-90, 90),
                                    pitch=rng.uniform(-30, 30)),
                'close_map': Action('close_map'),
            }[str(name)]
        name = str(rng.choice(['move', 'sprint', 'look', 'jump', 'open_map'],
                              p=[0.45, 0.25, 0.2, 0.05, 0.05]))
        if name == 'look':
            return Action('look', yaw=rng.uniform(-90, 90), pitch=rng.uniform(-10, 10))
        if name in ('jump', 'open_map'):
            return Action(name)
        return Action(name, direction=str(rng.choice(['forward', 'backward', 'left', 'right'],
                                                     p=[0.7, 0.1, 0.1, 0.1])),
                      seconds=rng.uniform(0.5, 2.0), yaw_rate=rng.uniform(-45, 45))
