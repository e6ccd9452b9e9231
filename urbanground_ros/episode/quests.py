# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What each family of tasks asks for: when it is met, and what the agent is told of it."""

from __future__ import annotations

from typing import NamedTuple

from urbanground_ros.city import CityState
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Reply
from urbanground_ros.episode.context import RegionContext
from urbanground_ros.scoring import ARRIVAL_RADIUS
from urbanground_ros.scoring import distances_to
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Visits
from urbanground_ros.tasks import Family
from urbanground_ros.tasks import Task


class Ending(NamedTuple):
    """How an episode ends, and why."""

    outcome: Outcome
    reason: str


class Quest:
    """A task in progress. This one is met by nothing that the body does: a question."""

    def __init__(self, task: Task, context: RegionContext) -> None:
        """Begin."""
        self._task = task
        self._context = context

    @property
    def progress(self) -> str:
        """What the agent is told of its progress, '' for nothing."""
        return ''

    def follow(self, reply: Reply) -> Ending | None:
        """Take what an action did; return how the episode ends by it."""
        return None

    def settle(self, state: CityState) -> Ending | None:
        """Judge where the body is as the agent stops; return how that counts, None as failed."""
        return None

    def _near(self, state: CityState, place: GeoPoint) -> bool:
        body = state.body
        return bool(distances_to(self._context.network.frame, [place],
                                 (body.x, body.y, body.z)) <= ARRIVAL_RADIUS)


class _Goal(Quest):
    def follow(self, reply: Reply) -> Ending | None:
        if self._near(reply.state, self._task.destination):
            return Ending(Outcome.SUCCEEDED, 'arrived')
        return None


class _Search(Quest):
    """Ends only when the agent says so, or at the limit: the agent must know what it has found."""

    def __init__(self, task: Task, context: RegionContext) -> None:
        super().__init__(task, context)
        self._places = context.places_of(task.category)

    def settle(self, state: CityState) -> Ending | None:
        for place in self._places:
            if self._near(state, place.entrance):
                return Ending(Outcome.SUCCEEDED, f'at {place.name}')
        return None


class _Stops(Quest):
    def __init__(self, task: Task, context: RegionContext) -> None:
        super().__init__(task, context)
        self._visits = Visits(task, context.network.frame)

    @property
    def progress(self) -> str:
        return f'{len(self._visits.times)} of {len(self._task.stops)} places visited'

    def follow(self, reply: Reply) -> Ending | None:
        self._visits.take([(s.x, s.y, s.z) for s in reply.samples],
                          [s.elapsed_ns * 1e-9 for s in reply.samples])
        if not self._visits.complete:
            return None
        late = sum(by > 0 for by in self._visits.lateness())
        if late:
            return Ending(Outcome.FAILED, f'all places visited, {late} of them late')
        return Ending(Outcome.SUCCEEDED, 'all places visited')


_QUESTS = {Family.QUESTION: Quest, Family.GOAL: _Goal, Family.SEARCH: _Search,
           Family.SCHEDULE: _Stops, Family.VISITS: _Stops}


def make_quest(task: Task, context: RegionContext) -> Quest:
    """Return what a task asks for.

    Raises:
        TaskError: the region has no place of the category that is looked for.
    """
    return _QUESTS[task.kind.family](task, context)
