# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tasks: kinds, the released JSON format, and variants."""

from urbanground_ros.tasks.clock import show_time
from urbanground_ros.tasks.errors import TaskError
from urbanground_ros.tasks.kinds import Condition
from urbanground_ros.tasks.kinds import Family
from urbanground_ros.tasks.kinds import Kind
from urbanground_ros.tasks.storage import read_tasks
from urbanground_ros.tasks.storage import write_task_files
from urbanground_ros.tasks.storage import write_tasks
from urbanground_ros.tasks.task import Stop
from urbanground_ros.tasks.task import Task
from urbanground_ros.tasks.variants import with_condition
from urbanground_ros.tasks.variants import with_dynamic_closure
from urbanground_ros.tasks.variants import with_pedestrians

__all__ = [
    'Condition',
    'Family',
    'Kind',
    'Stop',
    'Task',
    'TaskError',
    'read_tasks',
    'show_time',
    'with_condition',
    'with_dynamic_closure',
    'with_pedestrians',
    'write_task_files',
    'write_tasks',
]
