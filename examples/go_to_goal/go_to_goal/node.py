# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The least navigation stack: fix and odometry in, a goal in, a velocity out.

It heads straight for the goal and knows no map: where a wall is in the way it backs off and
tries another side. Replace it by your own; the topics are all that it shares with the city.
"""

import math

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import NavSatFix
from tf2_msgs.msg import TFMessage

EARTH_RADIUS = 6371000.0


class GoToGoal(Node):
    """Answers each odometry message by one command with the same stamp."""

    SPEED = 4.0  # m/s
    TURN_RATE = 2.0  # rad/s
    LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

    def __init__(self) -> None:
        super().__init__('go_to_goal')
        self.goal = self.fix = self.odometry = self.map_to_odom = self.best = None
        self.detour_until = self.side = 0
        self.command = self.create_publisher(TwistStamped, 'cmd_vel', 10)
        self.create_subscription(NavSatFix, 'goal/fix', self.take_goal, self.LATCHED)
        self.create_subscription(NavSatFix, 'fix', self.take_fix, 10)
        self.create_subscription(Odometry, 'odom', self.take_odometry, 10)
        self.create_subscription(TFMessage, '/tf', self.take_transforms, 100)

    def take_goal(self, goal: NavSatFix) -> None:
        self.goal, self.best, self.detour_until, self.side = goal, None, 0, 0

    def take_fix(self, fix: NavSatFix) -> None:
        self.fix = fix
        self.answer()

    def take_odometry(self, odometry: Odometry) -> None:
        self.odometry = odometry
        self.answer()

    def take_transforms(self, message: TFMessage) -> None:
        for transform in message.transforms:
            if transform.child_frame_id == 'odom':
                self.map_to_odom = transform
                self.answer()

    def answer(self) -> None:
        """Publish a command once fix, odometry and map -> odom of one instant are there."""
        inputs = (self.fix, self.odometry, self.map_to_odom)
        if self.goal is None or None in inputs \
                or any(m.header.stamp != self.fix.header.stamp for m in inputs):
            return
        latitude = math.radians(self.fix.latitude)
        east = math.radians(self.goal.longitude - self.fix.longitude) * math.cos(latitude)
        north = math.radians(self.goal.latitude - self.fix.latitude)
        distance = EARTH_RADIUS * math.hypot(east, north)
        heading = sum(2.0 * math.atan2(q.z, q.w) for q in (
            self.odometry.pose.pose.orientation, self.map_to_odom.transform.rotation))
        now = self.odometry.header.stamp.sec + self.odometry.header.stamp.nanosec * 1e-9
        # No nearer for three seconds: something stands in the way, walk along it for a while.
        if self.best is None or distance < self.best[0] - 0.5:
            self.best = (distance, now)
        elif now - self.best[1] > 3.0 and now > self.detour_until:
            self.side += 1
            self.detour_until = now + 2.0 + self.side
            self.best = (distance, self.detour_until)
        bearing = math.atan2(north, east)
        if now < self.detour_until:
            bearing += math.pi / 2 * (1 if self.side % 2 else -1)
        error = math.remainder(bearing - heading, math.tau)
        message = TwistStamped()
        message.header = self.odometry.header
        message.header.frame_id = 'base_link'
        message.twist.linear.x = self.SPEED * max(0.0, math.cos(error))
        message.twist.angular.z = max(-self.TURN_RATE, min(self.TURN_RATE, 3.0 * error))
        self.command.publish(message)


def main() -> None:
    """Run until interrupted."""
    rclpy.init()
    try:
        rclpy.spin(GoToGoal())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
