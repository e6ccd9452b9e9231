# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Send one goal of an action and wait for its result, from a thread that may block."""

from __future__ import annotations

import threading
from typing import Any
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rclpy.action import ActionClient


class PendingGoal:
    """A goal that was sent; the client's node must be spun in another thread."""

    def __init__(self, client: ActionClient, goal: Any) -> None:
        """Send a goal."""
        self._result: Any = None
        self._done = threading.Event()
        client.send_goal_async(goal).add_done_callback(self._answered)

    def _answered(self, future: Any) -> None:
        handle = future.result()
        if handle.accepted:
            handle.get_result_async().add_done_callback(self._finished)
        else:
            self._done.set()

    def _finished(self, future: Any) -> None:
        self._result = future.result().result
        self._done.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait some wall seconds, or for ever, and tell whether it is over."""
        return self._done.wait(timeout)

    @property
    def result(self) -> Any:
        """The result once it is over, None if the goal was rejected."""
        return self._result
