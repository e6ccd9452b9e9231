# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the bridge alone, for a Unity project or any other city."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from urbanground_ros.bridge.nodes.bridge import PARAMETERS


def generate_launch_description() -> LaunchDescription:
    """Describe the bridge; every parameter of the node is an argument."""
    return LaunchDescription([
        *(DeclareLaunchArgument(p.name, default_value=str(p.default), description=p.description,
                                choices=p.choices or None) for p in PARAMETERS),
        Node(package='urbanground', executable='urbanground', name='bridge', arguments=['bridge'],
             output='screen', parameters=[{
                 p.name: ParameterValue(LaunchConfiguration(p.name), value_type=type(p.default))
                 for p in PARAMETERS}]),
    ])
