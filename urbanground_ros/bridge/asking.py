# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ask across ROS and have the answer, though a response may be lost.

A server that has not yet discovered a client drops its response to it: the middleware waits for
the client's reader a tenth of a second, which a busy machine exceeds. Nothing repeats it, and
the client would wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any
from typing import TYPE_CHECKING
from uuid import uuid4

from action_msgs.msg import GoalStatus
from rclpy.action.client import ClientGoalHandle
from unique_identifier_msgs.msg import UUID

if TYPE_CHECKING:
    from rclpy.action import ActionClient
    from rclpy.client import Client

#: Wall seconds without an answer, after which is asked again; doubled each time up to the last.
_FIRST, _LAST = 1.0, 16.0


class PendingGoal:
    """One goal that was sent once; the client's node must be spun in another thread.

    When its acceptance does not come, its result is asked for by its identifier, again and
    again: so the goal is never executed twice.
    """

    #: How often a server says that it knows no such goal before that is believed: a goal may
    #: be slow to arrive. A server also forgets the goals that ended some seconds ago.
    _DOUBTS = 5

    def __init__(self, client: ActionClient, goal: Any) -> None:
        """Send a goal."""
        self._client = client
        self._id = UUID(uuid=list(uuid4().bytes))
        self._result: Any = None
        self._unknown = 0
        self._done = threading.Event()
        self._patience = _FIRST
        self._next = time.monotonic() + self._patience
        client.send_goal_async(goal, goal_uuid=self._id).add_done_callback(self._answered)

    def _answered(self, future: Any) -> None:
        handle = future.result()
        if handle.accepted:
            handle.get_result_async().add_done_callback(self._finished)
        else:
            self._done.set()

    def _ask_again(self) -> None:
        kind = self._client._action_type.Impl.SendGoalService.Response
        handle = ClientGoalHandle(self._client, self._id, kind(accepted=True))
        handle.get_result_async().add_done_callback(self._finished)

    def _finished(self, future: Any) -> None:
        response = future.result()
        if response.status == GoalStatus.STATUS_UNKNOWN:
            self._unknown += 1
            if self._unknown < self._DOUBTS:
                return
        else:
            self._result = response.result
        self._done.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait some wall seconds, or for ever, and tell whether it is over."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            now = time.monotonic()
            if now >= self._next and not self._done.is_set():
                self._ask_again()
                self._patience = min(2.0 * self._patience, _LAST)
                self._next = now + self._patience
            if self._done.wait((self._next if end is None else min(self._next, end)) - now):
                return True
            if end is not None and time.monotonic() >= end:
                return False

    @property
    def result(self) -> Any:
        """The result once it is over, None if the goal was rejected or is forgotten."""
        return self._result


def ask_until_answered(client: Client, request: Any, timeout: float,
                       given_up: Callable[[], bool] = lambda: False) -> Any:
    """Ask a service that may be asked twice until it answers; None if it never does.

    The client's node must be spun in another thread. Who has this answer has been discovered
    with all that its node had before, so that no later response is lost.
    """
    answered = threading.Event()
    futures: list[Any] = []
    deadline = time.monotonic() + timeout
    patience = _FIRST

    def take(future: Any) -> None:
        futures.append(future)
        answered.set()

    while not given_up():
        left = deadline - time.monotonic()
        if left <= 0.0:
            break
        if not client.wait_for_service(min(0.2, left)):
            continue
        future = client.call_async(request)
        future.add_done_callback(take)
        if answered.wait(min(patience, left)):
            return futures[0].result()
        client.remove_pending_request(future)
        patience = min(2.0 * patience, _LAST)
    return None
