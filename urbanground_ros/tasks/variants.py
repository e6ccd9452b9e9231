# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Variants: the same place and words under another condition, or in a city that moves."""

from __future__ import annotations

from dataclasses import replace

from urbanground_ros.tasks.errors import TaskError
from urbanground_ros.tasks.kinds import Condition
from urbanground_ros.tasks.kinds import Kind
from urbanground_ros.tasks.task import check_id
from urbanground_ros.tasks.task import Task


def with_condition(task: Task, condition: Condition) -> Task:
    """Return a task under another weather or at another hour.

    Raises:
        TaskError: there is no such variant of its kind, or it is one already.
    """
    allowed = [kind for kind in Kind if kind.varies_by_condition]
    if condition is Condition.CLEAR:
        raise TaskError(f'task {task.id}: condition is clear, expected one of '
                        f'{", ".join(c.name.lower() for c in Condition if c is not condition)}')
    return _vary(task, allowed, task.kind, condition)


def with_pedestrians(task: Task) -> Task:
    """Return a long-range task among people.

    Raises:
        TaskError: it is none, or a variant already.
    """
    return _vary(task, [Kind.LONG_RANGE], Kind.PEDESTRIANS, task.condition)


def with_dynamic_closure(task: Task) -> Task:
    """Return a constrained task whose closures are disclosed on the way.

    Raises:
        TaskError: it is none, or a variant already.
    """
    return _vary(task, [Kind.CONSTRAINED], Kind.DYNAMIC_CLOSURE, task.condition)


def _vary(task: Task, allowed: list[Kind], kind: Kind, condition: Condition) -> Task:
    """Return a variant; a proof belongs to the source, for the world is another one."""
    prefix = condition.id_prefix(kind)
    if task.kind not in allowed or task.source or task.condition is not Condition.CLEAR:
        raise TaskError(
            f'task {task.id}: a {task.kind.label} task has no variant {prefix}, expected one of '
            f'{", ".join(k.label for k in allowed)} that is no variant itself'
        )
    variant_id = check_id(f'{prefix}-{task.id}', f'variant of task {task.id}')
    return replace(task, id=variant_id, kind=kind, condition=condition, source=task.id,
                   verification={})
