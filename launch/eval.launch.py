# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Evaluate agents and navigation stacks: the same node graph as `urbanground eval`."""

from dataclasses import replace
from typing import Any

from launch import LaunchDescription
from launch.actions import EmitEvent
from launch.actions import ExecuteProcess
from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext

from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.evaluate.config import PARAMETERS
from urbanground_ros.evaluate.domains import Domains
from urbanground_ros.evaluate.graph import build_graph
from urbanground_ros.evaluate.plan import load_context
from urbanground_ros.evaluate.prepare import prepare_tasks
from urbanground_ros.evaluate.supervise import GRACE
from urbanground_ros.launching import lost
from urbanground_ros.launching import with_arguments

# Held until the launch has ended.
domains = Domains()


def ended(event: ProcessExited, context: LaunchContext) -> EmitEvent | None:
    """Handle the end of the runner, which is the end of the evaluation."""
    if event.returncode:
        return lost(event, context)
    return EmitEvent(event=Shutdown(reason='the evaluation is finished'))


def describe(values: dict[str, Any]) -> list[ExecuteProcess]:
    """Return the processes of an evaluation, whose tasks are generated if there are none."""
    config = EvalConfig(values)
    tasks = prepare_tasks(config, load_context(config))
    *parts, runner = build_graph(config, str(tasks), domains)
    # Launch calls any other status a death, also of what it has interrupted itself.
    runner = replace(runner, options=(*runner.options, '--interrupt-status', '0'))
    return [ExecuteProcess(cmd=process.command(), additional_env=process.environment,
                           name=process.name, output='screen',
                           on_exit=ended if process is runner else lost,
                           # The runner in turn gives an agent that long to end.
                           sigterm_timeout=str(GRACE + 5.0 if process is runner else 5.0))
            for process in (*parts, runner)]


def generate_launch_description() -> LaunchDescription:
    """Describe the evaluation; the arguments are those of `urbanground eval`."""
    return LaunchDescription(with_arguments(PARAMETERS, __file__, describe))
