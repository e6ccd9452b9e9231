# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the headless city and the bridge, to drive about by cmd_vel or act; RViz if wanted."""

from typing import Any

from launch import LaunchDescription
from launch.actions import ExecuteProcess
from launch_ros.actions import Node
from launch_ros.substitutions import ExecutableInPackage

from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.launching import lost
from urbanground_ros.launching import with_arguments
from urbanground_ros.parameters import Parameter
from urbanground_ros.resources import project_file

PARAMETERS = (
    Parameter('port', 10000, 'TCP port of the bridge', 1, 65535),
    Parameter('region', DEFAULT_DISTRICT, 'a built-in district, an added region, a region file'),
    Parameter('pictures', True, 'render pictures'),
    Parameter('rviz', False, 'start RViz'),
)


def describe(values: dict[str, Any]) -> list[ExecuteProcess]:
    """Return bridge, city and RViz."""
    actions = [
        Node(package='urbanground', executable='urbanground', arguments=['bridge'], name='bridge',
             exec_name='bridge', output='screen', parameters=[{'port': values['port']}],
             on_exit=lost),
        # No Node: the city is no part of ROS, and takes no ROS arguments.
        ExecuteProcess(cmd=[ExecutableInPackage('urbanground', 'urbanground'), 'city',
                            '--port', str(values['port']), '--region', values['region'],
                            '--pictures', str(values['pictures'])],
                       name='city', output='screen', on_exit=lost),
    ]
    if values['rviz']:
        # First: where it is not installed, nothing else has been started.
        actions.insert(0, Node(
            package='rviz2', executable='rviz2', name='rviz', output='log',
            parameters=[{'use_sim_time': True}],
            arguments=['-d', str(project_file('rviz/urbanground.rviz'))]))
    return actions


def generate_launch_description() -> LaunchDescription:
    """Describe bridge, city and RViz."""
    return LaunchDescription(with_arguments(PARAMETERS, __file__, describe))
