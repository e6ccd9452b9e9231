# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What an agent is, and the table of those that can be asked for by name."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar
from typing import TYPE_CHECKING

from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.scoring import features_cut
from urbanground_ros.scoring import to_lines
from urbanground_ros.tasks import Family

if TYPE_CHECKING:
    import numpy as np

    from urbanground_ros.city import Action
    from urbanground_ros.city import CityState
    from urbanground_ros.episode import Observation
    from urbanground_ros.episode import RegionContext
    from urbanground_ros.episode import TaskBrief
    from urbanground_ros.geo import PedestrianNetwork
    from urbanground_ros.tasks import Task


@dataclass(frozen=True)
class World:
    """What only a privileged agent knows.

    Attributes:
        task: All of it, the answer too.
        network: Its frame is the map frame.
        places: (3,) in the map frame: the goal, the stops, or all places of the category.
        closed: Numbers of the network's features that closures cut.
    """

    task: Task
    network: PedestrianNetwork
    places: tuple[np.ndarray, ...]
    closed: frozenset[int]

    @classmethod
    def of(cls, task: Task, context: RegionContext) -> World:
        """Return the world of a task."""
        points = [stop.point for stop in task.stops]
        if task.goal is not None:
            points = [task.goal]
        elif task.kind.family is Family.SEARCH:
            points = [place.entrance for place in context.places_of(task.category)]
        lines = to_lines(task.closures, context.network.frame)
        return cls(task, context.network, tuple(map(context.to_map, points)),
                   features_cut(context.network, lines))


class Agent(ABC):
    """Chooses one structured action a turn.

    A privileged agent is a yardstick, not a contestant: it is given the network, the goal and
    the city's state, which no evaluated agent ever sees.
    """

    name: ClassVar[str]
    privileged: ClassVar[bool] = False

    @abstractmethod
    def begin(self, brief: TaskBrief, seed: int, world: World | None) -> None:
        """Forget the last episode and take the next; `world` is for privileged agents only."""

    @abstractmethod
    def act(self, observation: Observation, state: CityState | None) -> Action:
        """Return the next action; `state` is for privileged agents only."""

    @abstractmethod
    def answer(self, observation: Observation) -> int:
        """Return the final answer to a question: the index of an option."""


AGENTS: dict[str, type[Agent]] = {}


def register(agent: type[Agent]) -> type[Agent]:
    """Add an agent to the table (a class decorator)."""
    AGENTS[agent.name] = agent
    return agent


def make_agent(name: str) -> Agent:
    """Return a new agent of a name.

    Raises:
        UrbanGroundError: there is none of that name.
    """
    if name not in AGENTS:
        raise UrbanGroundError(f'agent {name!r} is unknown, expected one of {", ".join(AGENTS)}')
    return AGENTS[name]()
