# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the headless city and the bridge, to drive about by cmd_vel or act; with RViz if wanted."""

from launch.actions import DeclareLaunchArgument
from launch.actions import ExecuteProcess
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription
from urbanground_ros.resources import project_file


def generate_launch_description() -> LaunchDescription:
    """Describe city, bridge and RViz."""
    port = LaunchConfiguration('port')
    return LaunchDescription([
        DeclareLaunchArgument('port', default_value='10000', description='TCP port of the bridge'),
        DeclareLaunchArgument('region', default_value='', description='district or region file to '
                              'load at once, the default district if empty'),
        DeclareLaunchArgument('rviz', default_value='false', description='start RViz'),
        Node(package='urbanground', executable='urbanground', name='bridge', arguments=['bridge'],
             output='screen', parameters=[{'port': port}]),
        ExecuteProcess(cmd=['urbanground', 'city', '--port', port, '--region',
                            LaunchConfiguration('region')], name='city', output='screen'),
        Node(package='rviz2', executable='rviz2', condition=IfCondition(LaunchConfiguration('rviz')),
             arguments=['-d', str(project_file('rviz/urbanground.rviz'))]),
    ])
