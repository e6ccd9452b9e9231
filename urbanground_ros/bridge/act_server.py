# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The action `act`: one structured action on the city, with feedback and cancel."""

from __future__ import annotations

import threading
from typing import Any
from typing import TYPE_CHECKING

from rclpy.action import ActionServer
from rclpy.action import CancelResponse
from rclpy.action import GoalResponse
from std_srvs.srv import Trigger
from urbanground.action import Act
from urbanground.msg import Outcome as OutcomeMsg
from urbanground.msg import TrajectorySample
from urbanground.srv import CityAct

from urbanground_ros.bridge.convert import observation_to
from urbanground_ros.bridge.qos import reliable
from urbanground_ros.episode import Observation

if TYPE_CHECKING:
    from rclpy.callback_groups import CallbackGroup
    from rclpy.node import Node


class ActServer:
    """Serves `act` in the world domain by the city's own act service.

    One goal at a time; a second one is rejected while the first runs. A cancelled goal stops
    the body at the next physics tick. Outcomes: 10 executed, 20 refused by the city, 60 no
    answer from a city, 80 cancelled.
    """

    #: Samples between two feedback messages: at most five in a second of simulated time.
    FEEDBACK_EVERY = 5

    def __init__(self, node: Node, group: CallbackGroup) -> None:
        """Advertise the action."""
        self._node = node
        self._busy = threading.Lock()
        self._goal: Any = None
        self._begun_ns = 0
        self._city = node.create_client(CityAct, 'city/act', callback_group=group)
        self._cancel = node.create_client(Trigger, 'city/cancel', callback_group=group)
        node.create_subscription(TrajectorySample, 'trajectory/sample', self._feedback,
                                 reliable(100), callback_group=group)
        self._server = ActionServer(
            node, Act, 'act', self._execute, callback_group=group,
            goal_callback=self._accept, cancel_callback=self._cancelled)

    def _accept(self, request: Act.Goal) -> GoalResponse:
        if self._busy.acquire(blocking=False):
            return GoalResponse.ACCEPT
        self._node.get_logger().warning('act: a goal is running, a second one is rejected')
        return GoalResponse.REJECT

    def _cancelled(self, goal: Any) -> CancelResponse:
        # A city that runs no action takes it as done.
        self._cancel.call_async(Trigger.Request())
        return CancelResponse.ACCEPT

    def _feedback(self, sample: TrajectorySample) -> None:
        goal = self._goal
        if goal is None:
            self._begun_ns = sample.elapsed_ns
        elif sample.sequence % self.FEEDBACK_EVERY == 0 and goal.is_active:
            goal.publish_feedback(Act.Feedback(
                elapsed=max(0, sample.elapsed_ns - self._begun_ns) * 1e-9))

    async def _execute(self, goal: Any) -> Act.Result:
        try:
            self._goal = goal
            if not self._city.service_is_ready():
                goal.abort()
                return Act.Result(outcome=OutcomeMsg.CITY_ERROR, message='no city is connected')
            reply = await self._city.call_async(CityAct.Request(
                action=goal.request.action, want_image=True))
            if reply is None or not reply.state.mode:
                goal.abort()
                return Act.Result(outcome=OutcomeMsg.CITY_ERROR,
                                  message=reply.message if reply else 'no answer from the city')
            observation = observation_to(Observation(
                episode='', step=reply.state.body.actions, steps_left=0, mode=reply.state.mode,
                message=reply.message, picture=bytes(reply.image.data)))
            observation.picture.header = reply.image.header
            if goal.is_cancel_requested:
                goal.canceled()
                outcome = OutcomeMsg.CANCELLED
            elif reply.accepted:
                goal.succeed()
                outcome = OutcomeMsg.SUCCEEDED
            else:
                goal.abort()
                outcome = OutcomeMsg.FAILED
            return Act.Result(outcome=outcome, message=reply.message, observation=observation)
        finally:
            self._goal = None
            self._busy.release()
