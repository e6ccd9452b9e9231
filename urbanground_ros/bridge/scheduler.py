# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""One thread that runs short functions at their time, on the monotonic clock."""

from __future__ import annotations

from collections.abc import Callable
import heapq
import itertools
import threading
import time
from typing import Any


class Alarm:
    """A function to run later, until it is cancelled."""

    def __init__(self, function: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._work: tuple[Callable[..., object], tuple[Any, ...]] | None = (function, args)

    def cancel(self) -> None:
        """Do not run it any more, and forget what it holds."""
        self._work = None

    def run(self) -> None:
        """Run it, unless cancelled."""
        work, self._work = self._work, None
        if work is not None:
            function, args = work
            function(*args)


class Scheduler:
    """Deadlines of the endpoint: timeouts, retries and lingering entities.

    Deadlines belong to a wire and its peers, so they run on wall time: neither simulated time
    nor a busy executor may hold them up.

    Args:
        on_error: told of an exception that a function let out; the thread goes on.
    """

    def __init__(self, on_error: Callable[[Exception], object]) -> None:
        self._on_error = on_error
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name='endpoint-timer', daemon=True)
        self._thread.start()

    def call_later(self, delay: float, function: Callable[..., object], *args: Any) -> Alarm:
        """Run `function(*args)` on the scheduler's thread after `delay` seconds."""
        alarm = Alarm(function, args)
        with self._changed:
            heapq.heappush(self._alarms, (time.monotonic() + delay, next(self._order), alarm))
            self._changed.notify()
        return alarm

    def close(self) -> None:
        """Drop what is left and end the thread."""
        with self._changed:
            self._closed = True
            self._alarms.clear()
            self._changed.notify()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while (alarm := self._next()) is not None:
            try:
                alarm.run()
            except Exception as error:
                self._on_error(error)

    def _next(self) -> Alarm | None:
        with self._changed:
            while not self._closed:
                wait = self._alarms[0][0] - time.monotonic() if self._alarms else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._alarms)[2]
                self._changed.wait(wait)
        return None
