# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service of the package's own topics."""

from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy


def reliable(depth: int) -> QoSProfile:
    """Reliable and volatile, keeping the last `depth` messages."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE)


def latched(depth: int = 1) -> QoSProfile:
    """Reliable, and late subscribers are sent the last `depth` messages (transient local)."""
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )


# What a city publishes through the endpoint, by topic name relative to the bridge.
CITY_TOPICS = {
    'camera/image_raw/compressed': reliable(2),
    'camera/depth/image_raw': reliable(2),
    'scan': reliable(10),
    'city/state': reliable(100),
    'pedestrians': reliable(5),
    'trajectory/sample': reliable(1000),
    'events': reliable(100),
    '/clock': reliable(10),
}
