# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which stops of a task were visited, when, and in what order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from urbanground_ros.geo import LocalFrame
from urbanground_ros.scoring.arrival import ARRIVAL_RADIUS
from urbanground_ros.scoring.arrival import distances_to
from urbanground_ros.tasks import Family
from urbanground_ros.tasks import Task

#: A stop is on time until so many seconds after the full minute of its deadline (paper).
GRACE = 60.0


class Visits:
    """Follows a body among a task's stops: the running episode does, and who scores it.

    A stop is visited within 15 m of it. In a schedule only the next one can be: coming to a
    later one is an order violation, once each time it is entered, and does not count.

    Attributes:
        times: elapsed seconds at which each stop was visited, by its number.
        order_violations: how often a stop was entered before its turn.
    """

    def __init__(self, task: Task, frame: LocalFrame) -> None:
        """Begin with nothing visited."""
        self.times: dict[int, float] = {}
        self.order_violations = 0
        self._task = task
        self._frame = frame
        self._points = [stop.point for stop in task.stops]
        self._in_order = task.kind.family is Family.SCHEDULE
        self._inside: set[int] = set()

    @property
    def complete(self) -> bool:
        """Whether every stop was visited."""
        return len(self.times) == len(self._points)

    def take(self, points: ArrayLike, seconds: Sequence[float]) -> None:
        """Follow the body along points (N, 3) in the map frame at elapsed seconds."""
        near = distances_to(self._frame, self._points, points) <= ARRIVAL_RADIUS
        for row, now in zip(near, seconds, strict=True):
            if row.any() or self._inside:
                self._be(set(np.flatnonzero(row).tolist()), now)

    def lateness(self) -> list[float]:
        """Return the seconds by which each visited stop with a deadline was late, 0 on time."""
        found = []
        for stop, now in self.times.items():
            deadline = self._task.stops[stop].deadline
            if deadline is not None:
                late = (self._task.clock or 0.0) + now - deadline
                found.append(late if late > GRACE else 0.0)
        return found

    def _be(self, inside: set[int], now: float) -> None:
        entered = inside - self._inside
        self._inside = inside
        for stop in sorted(inside - self.times.keys()):
            if not self._in_order or stop == len(self.times):
                self.times[stop] = now
            elif stop in entered:
                self.order_violations += 1
