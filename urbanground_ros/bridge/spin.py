# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Run nodes until they are told to stop, and end with status 0 then."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import sys
from typing import TYPE_CHECKING

import rclpy
from rclpy.executors import ExternalShutdownException

from urbanground_ros.errors import UrbanGroundError

if TYPE_CHECKING:
    from rclpy.executors import Executor
    from rclpy.node import Node


def run(make_node: Callable[[], Node], make_executor: Callable[[], Executor],
        ros_args: Sequence[str] = ()) -> int:
    """Spin a node until SIGINT, SIGTERM or shutdown; bad input is one line and status 1."""
    try:
        with rclpy.init(args=['--ros-args', *ros_args] if ros_args else []):
            node = make_node()
            executor = make_executor()
            executor.add_node(node)
            try:
                executor.spin()
            finally:
                executor.shutdown(timeout_sec=2.0)
                node.destroy_node()
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    except UrbanGroundError as error:
        print(f'error: {error}', file=sys.stderr, flush=True)
        return 1
    return 0
