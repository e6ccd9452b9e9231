# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the bridge alone, for a Unity project or any other city."""

from typing import Any

from launch import LaunchDescription
from launch_ros.actions import Node

from urbanground_ros.bridge.nodes.bridge import PARAMETERS
from urbanground_ros.launching import lost
from urbanground_ros.launching import with_arguments


def describe(values: dict[str, Any]) -> list[Node]:
    """Return the bridge."""
    return [Node(package='urbanground', executable='urbanground', arguments=['bridge'],
                 name='bridge', exec_name='bridge', output='screen', parameters=[values],
                 on_exit=lost)]


def generate_launch_description() -> LaunchDescription:
    """Describe the bridge; every parameter of the node is an argument."""
    return LaunchDescription(with_arguments(PARAMETERS, __file__, describe))
