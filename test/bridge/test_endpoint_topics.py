# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topics through the endpoint, both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from connector import Connector
from connector import eventually
from geometry_msgs.msg import PoseStamped
import pytest
from rclpy.executors import MultiThreadedExecutor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from std_msgs.msg import Empty
from std_msgs.msg import Int32
from std_msgs.msg import String

from urbanground_ros.bridge.endpoint import Endpoint

BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)

Connect = Callable[[Endpoint], Connector]


def text(data: str) -> bytes:
    return serialize_message(String(data=data))


class Inbox:
    """Raw messages that a ROS subscription has received."""

    def __init__(self, node: Node, kind: type, topic: str, qos: QoSProfile | int = 10) -> None:
        self.kind = kind
        self.raw: list[bytes] = []
        self.subscription = node.create_subscription(kind, topic, self.raw.append, qos, raw=True)

    def matched(self) -> None:
        eventually(lambda: self.subscription.get_publisher_count(), 'the publisher was found')

    def take(self, count: int) -> list[bytes]:
        eventually(lambda: len(self.raw) >= count, f'{count} messages arrived')
        return self.raw

    def messages(self, count: int) -> list[Any]:
        return [deserialize_message(each, self.kind) for each in self.take(count)]


def publisher(node: Node, kind: type, topic: str, qos: QoSProfile | int = 10) -> Any:
    made = node.create_publisher(kind, topic, qos)
    eventually(made.get_subscription_count, 'the subscription was found')
    return made


@pytest.mark.parametrize('executor_class', [SingleThreadedExecutor, MultiThreadedExecutor])
def test_messages_pass_both_ways_unchanged(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node, executor_class: type
) -> None:
    endpoint = serve(executor_class)
    unity = connect(endpoint)
    inbox = Inbox(ros, String, '/up')
    unity.register('/up', 'std_msgs/String')
    unity.subscribe('/down', 'std_msgs/String')
    inbox.matched()
    for number in range(5):
        unity.message('/up', text(f'café {number}'))
    assert inbox.take(5) == [text(f'café {number}') for number in range(5)]
    down = publisher(ros, String, '/down')
    for number in range(5):
        down.publish(String(data=f'{number}'))
    assert [unity.expect('/down') for _ in range(5)] == [text(f'{n}') for n in range(5)]
