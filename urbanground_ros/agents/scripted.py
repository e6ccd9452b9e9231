# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scripted agents: the oracle that proves a task feasible, and two that bound it from below."""

from __future__ import annotations

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


@register
class OracleAgent(Agent):
    """Follows the shortest way on the network to the goal: proof that a task can be done."""

    name = 'oracle'
    privileged = True

    #: Metres from a waypoint at which the next one is taken.
    REACHED = 0.6
    #: Metres by which the way may be cut straight; well within a sidewalk's half width.
    SIMPLIFY = 0.4
    #: Degrees off the wanted heading that are not worth a turn.
    AIM = 2.0

    def begin(self, brief: TaskBrief, seed: int, world: World | None) -> None:
        """Take the network and goal of the next task."""
        if world is None:
            raise RuntimeError('the oracle needs the world')
        self._world = world
        self._way: list[np.ndarray] = []
        self._expected: tuple[np.ndarray, float] | None = None
        self._evade = 0

    def act(self, observation: Observation, state: CityState | None) -> Action:
        """Turn to the next waypoint, or move there."""
        assert state is not None
        body = state.body
        here = np.array([body.x, body.y, body.z])
        if state.mode == 'map':
            return Action('close_map')
        if self._expected is not None:
            start, length = self._expected
            self._expected = None
            if np.linalg.norm((here - start)[:2]) < 0.5 * length:
                return self._sidestep()
        if not self._way:
            self._way = self._plan(here)
        while len(self._way) > 1 and self._near(here, self._way[0]):
            self._way.pop(0)
        target = self._way[0]
        distance = float(np.linalg.norm((target - here)[:2]))
        if distance < self.REACHED:
            # The end of the way, and still not there: the goal is off the network.
            self._way, target = [], self._world.goal
            distance = float(np.linalg.norm((target - here)[:2]))
        turn = _turn(state, target)
        if abs(turn) > self.AIM:
            return Action('look', yaw=turn)
        action = _rush(distance)
        self._expected = here, min(distance, 1.0)
        return action

    def _near(self, here: np.ndarray, point: np.ndarray) -> bool:
        offset = point - here
        return bool(math.hypot(offset[0], offset[1]) < self.REACHED and abs(offset[2]) < 2.0)

    def _plan(self, here: np.ndarray) -> list[np.ndarray]:
        points = self._world.network.route(here, self._world.goal).points
        line = shapely.simplify(shapely.LineString(points), self.SIMPLIFY)
        return list(shapely.get_coordinates(line, include_z=True))

    def _sidestep(self) -> Action:
        """Get off something that stands in the way, to alternating sides, and plan anew."""
        self._evade += 1
        self._way = []
        side = 'left' if self._evade % 2 else 'right'
        return Action('move', direction=side, seconds=min(0.15 * self._evade, MAX_ACTION_SECONDS))


@register
class StraightAgent(Agent):
    """Walks straight at the goal whatever stands between."""

    name = 'straight'
    privileged = True

    def begin(self, brief: TaskBrief, seed: int, world: World | None) -> None:
        """Take the goal of the next task."""
        if world is None:
            raise RuntimeError('the straight walker needs the world')
        self._goal = world.goal

    def act(self, observation: Observation, state: CityState | None) -> Action:
        """Turn to the goal, or sprint at it."""
        assert state is not None
        turn = _turn(state, self._goal)
        if abs(turn) > 2.0:
            return Action('look', yaw=turn)
        distance = math.hypot(self._goal[0] - state.body.x, self._goal[1] - state.body.y)
        return _rush(distance)


@register
class RandomAgent(Agent):
    """Draws each action at random from those that the mode allows."""

    name = 'random'

    def begin(self, brief: TaskBrief, seed: int, world: World | None) -> None:
        """Seed the draws by the episode."""
        self._rng = np.random.default_rng([seed, zlib.crc32(brief.episode.encode())])

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
