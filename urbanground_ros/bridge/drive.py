# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Drive the body by `cmd_vel` in real time, where no episode paces the world."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from rosgraph_msgs.msg import Clock
from urbanground.srv import CityStep

from urbanground_ros.bridge.commands import CommandSource
from urbanground_ros.bridge.convert import to_nanoseconds
from urbanground_ros.bridge.qos import reliable

if TYPE_CHECKING:
    from rclpy.callback_groups import CallbackGroup
    from rclpy.node import Node


class RealtimeDrive:
    """Advances the city by one period of simulated time each period of wall time.

    The wall clock only paces; which command holds is decided by simulated time.
    """

    PERIOD = 0.1

    def __init__(self, node: Node, group: CallbackGroup, *, stamped: bool, silence: float) -> None:
        """Subscribe to `cmd_vel` and begin."""
        self._commands = CommandSource(node, stamped=stamped, silence=silence)
        self._now_ns = 0
        self._idle = threading.Event()
        self._idle.set()
        self._city = node.create_client(CityStep, 'city/step', callback_group=group)
        node.create_subscription(Clock, '/clock', self._tick, reliable(10), callback_group=group)
        # A steady clock: `use_sim_time` would wait for the time that this very timer makes.
        from rclpy.clock import Clock as RosClock
        from rclpy.clock import ClockType
        node.create_timer(self.PERIOD, self._step, callback_group=group,
                          clock=RosClock(clock_type=ClockType.STEADY_TIME))

    def _tick(self, msg: Clock) -> None:
        self._now_ns = to_nanoseconds(msg.clock)

    async def _step(self) -> None:
        if not self._idle.is_set() or not self._city.service_is_ready():
            return
        self._idle.clear()
        try:
            command = self._commands.at(self._now_ns)
            await self._city.call_async(CityStep.Request(
                linear_x=command.linear_x, linear_y=command.linear_y,
                angular_z=command.angular_z, seconds=self.PERIOD))
        finally:
            self._idle.set()
