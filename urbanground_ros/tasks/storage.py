# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files and folders of tasks."""

from __future__ import annotations

from collections.abc import Iterable
import json
from pathlib import Path
from typing import Any

from urbanground_ros.files import read_json
from urbanground_ros.files import write_atomically
from urbanground_ros.tasks.errors import TaskError
from urbanground_ros.tasks.task import Task

#: Bytes of a task file that is read; all tasks of the paper are less than a hundredth of it.
MOST_BYTES = 64 * 2**20


def read_tasks(path: Path) -> list[Task]:
    """Read tasks from a file (one task or a list of them) or a folder of such files.

    Raises:
        FileError: a file is not there, too large or not JSON.
        TaskError: no task at all, a bad one, or an id that is used twice.
    """
    files = sorted(path.glob('*.json')) if path.is_dir() else [path]
    if not files:
        raise TaskError(f'{path}: no task files, expected *.json')
    tasks: dict[str, Task] = {}
    for file in files:
        data = read_json(file, 'a JSON task file', MOST_BYTES)
        for item in data if isinstance(data, list) else [data]:
            task = Task.from_json(item, str(file))
            if task.id in tasks:
                raise TaskError(f'{file}: task {task.id} exists already, expected unique ids')
            tasks[task.id] = task
    if not tasks:
        raise TaskError(f'{path}: no tasks, expected one or more')
    return list(tasks.values())


def write_tasks(path: Path, tasks: Iterable[Task]) -> None:
    """Write a list of tasks as one JSON file, whole or not at all.

    Raises:
        TaskError: an id is used twice.
        FileError: it cannot be written.
    """
    _write(path, [task.to_json() for task in _unique(path, tasks)])


def write_task_files(folder: Path, tasks: Iterable[Task]) -> None:
    """Write each task as `ID.json` into a folder, as the released set is.

    Raises:
        TaskError: an id is used twice.
        FileError: one cannot be written.
    """
    for task in _unique(folder, tasks):
        _write(folder / f'{task.id}.json', task.to_json())


def _unique(path: Path, tasks: Iterable[Task]) -> list[Task]:
    unique: dict[str, Task] = {}
    for task in tasks:
        if unique.setdefault(task.id, task) is not task:
            raise TaskError(f'{path}: task {task.id} is to be written twice, expected unique ids')
    return list(unique.values())


def _write(path: Path, values: Any) -> None:
    write_atomically(path, (json.dumps(values, indent=1, ensure_ascii=False) + '\n').encode())
