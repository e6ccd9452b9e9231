# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Evaluate agents and navigation stacks: the same node graph as `urbanground eval`."""

from launch.actions import DeclareLaunchArgument
from launch.actions import EmitEvent
from launch.actions import ExecuteProcess
from launch.actions import OpaqueFunction
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.evaluate.config import PARAMETERS
from urbanground_ros.evaluate.domains import Domains
from urbanground_ros.evaluate.graph import build_graph
from urbanground_ros.evaluate.plan import load_context
from urbanground_ros.evaluate.prepare import prepare_tasks
from urbanground_ros.parameters import read_values


def start(context, *, domains):
    """Build the graph from the launch arguments, and start its processes."""
    given = {p.name: LaunchConfiguration(p.name).perform(context) for p in PARAMETERS}
    config = EvalConfig(read_values(PARAMETERS, given, 'eval.launch.py'))
    tasks = prepare_tasks(config, load_context(config))
    actions = [ExecuteProcess(cmd=process.command(), name=process.name, output='screen',
                              additional_env=process.environment)
               for process in build_graph(config, str(tasks), domains)]
    for action in actions[:-1]:
        actions.append(RegisterEventHandler(OnProcessExit(
            target_action=action, on_exit=[EmitEvent(event=Shutdown(
                reason='a part of the evaluation ended'))])))
    actions.append(RegisterEventHandler(OnProcessExit(
        target_action=actions[4], on_exit=[EmitEvent(event=Shutdown(
            reason='the evaluation is finished'))])))
    return actions


def generate_launch_description():
    """Describe the evaluation; the arguments are those of `urbanground eval`."""
    domains = Domains()
    return LaunchDescription([
        *(DeclareLaunchArgument(p.name, default_value=str(p.default), description=p.description,
                                choices=p.choices or None) for p in PARAMETERS),
        OpaqueFunction(function=start, kwargs={'domains': domains}),
    ])
