# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the example stack."""

from launch import LaunchDescription
from launch_ros.actions import Node


def generate_launch_description() -> LaunchDescription:
    """Describe the stack's one node."""
    return LaunchDescription([Node(package='go_to_goal', executable='go_to_goal', output='log')])
