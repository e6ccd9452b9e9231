# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tasks: the released JSON format, and generators over a region's network."""

from urbanground_ros.tasks.generate import generate_short_range
from urbanground_ros.tasks.schema import Kind
from urbanground_ros.tasks.schema import read_tasks
from urbanground_ros.tasks.schema import Task
from urbanground_ros.tasks.schema import TaskError
from urbanground_ros.tasks.schema import write_tasks

__all__ = ['Kind', 'Task', 'TaskError', 'generate_short_range', 'read_tasks', 'write_tasks']
