# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The tasks of an evaluation: those it is given, or short-range ones of its region."""

from __future__ import annotations

from pathlib import Path

from urbanground_ros import __version__
from urbanground_ros.episode import RegionContext
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.folders import cache_folder
from urbanground_ros.ladder import generate
from urbanground_ros.ladder import Verifier
from urbanground_ros.progress import Progress
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import write_tasks


def generate_verified(context: RegionContext, count: int, seed: int) -> list[Task]:
    """Return short-range tasks that the oracle completes within the limits, with the proof.

    Raises:
        TaskError: the region yields too few.
    """
    progress = Progress('verifying tasks with the oracle', count)
    with Verifier() as verify:
        return generate(Kind.SHORT_RANGE, [context], count, seed, verify, progress.advance)


def prepare_tasks(config: EvalConfig, context: RegionContext) -> Path:
    """Return the file of the tasks to run; generate and verify them where none is given."""
    if config['tasks']:
        return Path(config['tasks']).resolve()
    count, seed = config['count'], config['seed']
    path = cache_folder() / 'tasks' / (
        f'short_range-{context.digest}-{count}-{seed}-{__version__}.json')
    write_tasks(path, generate_verified(context, count, seed))
    return path
