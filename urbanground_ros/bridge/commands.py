# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Velocity commands by simulated time: `cmd_vel` in, the twist that holds now out."""

from __future__ import annotations

from collections import deque
import math
import threading
from typing import NamedTuple
from typing import TYPE_CHECKING

from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped

from urbanground_ros.bridge.convert import to_nanoseconds
from urbanground_ros.bridge.qos import reliable
from urbanground_ros.parameters import Parameter

if TYPE_CHECKING:
    from rclpy.node import Node

#: Parameters of every node that takes velocity commands.
PARAMETERS = (
    Parameter('stamped_cmd_vel', True, 'cmd_vel is TwistStamped (else Twist)'),
    Parameter('cmd_vel_silence', 0.5, 'simulated seconds without a command until the body stops',
              0.02, 10.0),
)


class Command(NamedTuple):
    """A body velocity (m/s, rad/s, REP-103) that holds from a simulated instant on."""

    stamp_ns: int
    linear_x: float
    linear_y: float
    angular_z: float


STOP = Command(0, 0.0, 0.0, 0.0)


class CommandSource:
    """Subscribes to `cmd_vel` and tells which command holds at a simulated instant.

    A command holds from its stamp on, until the next one or until `silence` simulated seconds
    have passed: how fast messages travel changes nothing. One without a stamp (Twist, or a
    TwistStamped of time 0) is taken to be given at the instant that `at` asks about next. What is
    not finite, or stamped well in the future (a stack on wall time), is dropped with a warning.
    """

    #: Simulated time moves on a little before this node hears of it.
    FUTURE_NS = 2_000_000_000
    #: The most commands that wait for their time.
    MOST = 1000

    def __init__(self, node: Node, *, stamped: bool, silence: float) -> None:
        """Subscribe; `stamped` chooses TwistStamped over Twist."""
        self._silence_ns = round(silence * 1e9)
        self._node = node
        kind = TwistStamped if stamped else Twist
        self._type_name = f'geometry_msgs/msg/{kind.__name__}'
        self._queue: deque[Command] = deque(maxlen=self.MOST)
        self._unstamped: Command | None = None
        self._now = 0
        self._closed = False
        self._changed = threading.Condition()
        if stamped:
            node.create_subscription(
                TwistStamped, 'cmd_vel',
                lambda m: self._add(to_nanoseconds(m.header.stamp), m.twist), reliable(10))
        else:
            node.create_subscription(Twist, 'cmd_vel', lambda m: self._add(0, m), reliable(10))

    def _add(self, stamp_ns: int, twist: Twist) -> None:
        with self._changed:
            command = Command(stamp_ns, twist.linear.x, twist.linear.y, twist.angular.z)
            if not all(map(math.isfinite, command)):
                self._warn(f'velocity is ({command.linear_x}, {command.linear_y}, '
                           f'{command.angular_z}), expected finite numbers')
            elif stamp_ns == 0:
                self._unstamped = command
                self._changed.notify_all()
            elif command.stamp_ns - self._now > self.FUTURE_NS:
                self._warn(f'stamp is {(command.stamp_ns - self._now) * 1e-9:.1f} s ahead of '
                           'simulated time, expected the stamp of the odometry it answers '
                           '(use_sim_time?)')
            else:
                self._queue.append(command)
                self._changed.notify_all()

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(f'cmd_vel dropped: {text}', throttle_duration_sec=5.0)

    def reset(self, now_ns: int) -> None:
        """Forget every command that is not from about a simulated instant on."""
        with self._changed:
            self._now = now_ns
            self._unstamped = None
            self._queue = deque(
                (c for c in self._queue if 0 <= c.stamp_ns - now_ns <= self.FUTURE_NS),
                maxlen=self.MOST)

    def at(self, now_ns: int) -> Command:
        """Return the command that holds at a simulated instant, STOP after silence."""
        with self._changed:
            self._now = now_ns
            if self._unstamped is not None:
                self._queue.append(self._unstamped._replace(stamp_ns=now_ns))
                self._unstamped = None
            while len(self._queue) > 1 and self._queue[1].stamp_ns <= now_ns:
                self._queue.popleft()
            if not self._queue or not 0 <= now_ns - self._queue[0].stamp_ns < self._silence_ns:
                return STOP
            return self._queue[0]

    def wait(self, now_ns: int, timeout: float) -> bool:
        """Wait for a command given at or after a simulated instant, for some wall seconds."""
        with self._changed:
            self._now = now_ns
            self._changed.wait_for(lambda: self._closed or self._given_since(now_ns), timeout)
            return self._given_since(now_ns)

    def _given_since(self, now_ns: int) -> bool:
        return self._unstamped is not None or any(c.stamp_ns >= now_ns for c in self._queue)

    def other_types(self) -> str:
        """Return what is wrong with the publishers found, '' if nothing."""
        found = {each.topic_type for each in self._node.get_publishers_info_by_topic('cmd_vel')}
        others = ', '.join(sorted(found - {self._type_name}))
        return f'cmd_vel is published as {others}, expected {self._type_name}' if others else ''

    def close(self) -> None:
        """Wait no more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
