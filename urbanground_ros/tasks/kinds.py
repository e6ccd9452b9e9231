# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What kinds of task there are, and the conditions of weather and hour that vary them."""

from __future__ import annotations

from enum import auto
from enum import Enum


class Family(Enum):
    """What is asked of the agent: an answer, a place to reach, to find, or several to visit."""

    QUESTION = auto()
    GOAL = auto()
    SEARCH = auto()
    SCHEDULE = auto()
    VISITS = auto()


class Kind(Enum):
    """A kind of task.

    `prefix` begins the ids of its tasks, `number` is its type in files (12 stands for two
    kinds), `level` its rung of the paper's ladder, `count` how many instances the paper has,
    810 in all.
    """

    VISUAL_RECOGNITION = ('LQ', 7, 1, Family.QUESTION, 80)
    ORIENTATION = ('OQ', 8, 1, Family.QUESTION, 60)
    ACTIVE_EXPLORATION = ('SQ', 9, 1, Family.QUESTION, 80)
    SHORT_RANGE = ('SN', 0, 2, Family.GOAL, 80)
    LONG_RANGE = ('LN', 2, 2, Family.GOAL, 80)
    INSTRUCTIONAL = ('IN', 10, 2, Family.GOAL, 50)
    CONSTRAINED = ('CN', 11, 2, Family.GOAL, 30)
    PLACE_TYPE = ('PS', 3, 3, Family.SEARCH, 60)
    IMPLICIT_INTENT = ('II', 12, 3, Family.GOAL, 60)
    TIME_WINDOW = ('SF', 5, 4, Family.SCHEDULE, 60)
    MULTI_STOP = ('MP', 13, 4, Family.VISITS, 60)
    DYNAMIC_CLOSURE = ('DCR', 12, 5, Family.GOAL, 30)
    PEDESTRIANS = ('PL', 2, 5, Family.GOAL, 80)
    #: Retired: read, never made.
    SHORT_RANGE_PEDESTRIANS = ('PD', 0, 5, Family.GOAL, 0)

    def __init__(self, prefix: str, number: int, level: int, family: Family, count: int) -> None:
        self.prefix = prefix
        self.number = number
        self.level = level
        self.family = family
        self.count = count

    @property
    def label(self) -> str:
        """Its name in messages and tables."""
        return self.name.lower()

    @property
    def walks_among_pedestrians(self) -> bool:
        """Whether people walk in the streets."""
        return self in (Kind.PEDESTRIANS, Kind.SHORT_RANGE_PEDESTRIANS)

    @property
    def has_closures(self) -> bool:
        """Whether ways are closed."""
        return self in (Kind.CONSTRAINED, Kind.DYNAMIC_CLOSURE)

    @property
    def discloses_closures_later(self) -> bool:
        """Whether what is closed is told on the way, not at the start."""
        return self is Kind.DYNAMIC_CLOSURE

    @property
    def varies_by_condition(self) -> bool:
        """Whether there are variants of it by weather and hour."""
        return self.family is Family.QUESTION or self is Kind.SHORT_RANGE


_NOON = 12 * 3600.0


class Condition(Enum):
    """Weather (a word of the city's) and time of day (seconds since local midnight)."""

    CLEAR = ('', 'sunny', _NOON)
    RAINY = ('R', 'rainy', _NOON)
    THUNDERSTORM = ('TS', 'thunderstorm', _NOON)
    OVERCAST = ('OC', 'overcast', _NOON)
    CLOUDY = ('CL', 'cloudy', _NOON)
    EVENING = ('EV', 'sunny', 18.5 * 3600.0)
    NIGHT = ('NT', 'sunny', 23.5 * 3600.0)

    def __init__(self, prefix: str, weather: str, time_of_day: float) -> None:
        self.prefix = prefix
        self.weather = weather
        self.time_of_day = time_of_day

    @property
    def rains(self) -> bool:
        """Whether it rains, and time without shelter is measured."""
        return self in (Condition.RAINY, Condition.THUNDERSTORM)

    def id_prefix(self, kind: Kind) -> str:
        """Return what the ids of a kind's tasks begin with under this condition."""
        if self is Condition.CLEAR:
            return kind.prefix
        return self.prefix + ('Q' if kind.family is Family.QUESTION else 'N')


def _identities() -> dict[str, dict[int, tuple[Kind, Condition]]]:
    identities: dict[str, dict[int, tuple[Kind, Condition]]] = {}
    for condition in Condition:
        for kind in Kind:
            if condition is Condition.CLEAR or kind.varies_by_condition:
                numbers = identities.setdefault(condition.id_prefix(kind), {})
                numbers[kind.number] = kind, condition
    return identities


#: Kind and condition by what an id begins with and the type number.
IDENTITIES = _identities()
