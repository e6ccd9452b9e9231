# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Generate the tasks of an evaluation, each one proved feasible by the oracle."""

from __future__ import annotations

from pathlib import Path

from urbanground_ros import __version__
from urbanground_ros.agents import make_agent
from urbanground_ros.agents import OracleAgent
from urbanground_ros.agents import play
from urbanground_ros.episode import RegionContext
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.folders import cache_folder
from urbanground_ros.progress import Progress
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.tasks import generate_short_range
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import write_tasks


def generate_verified(context: RegionContext, count: int, seed: int) -> list[Task]:
    """Return short-range tasks that the oracle completes within the limits, with the proof.

    Raises:
        TaskError: the region yields too few.
    """
    progress = Progress('verifying tasks with the oracle', count)
    city = HeadlessCity(pictures=False)
    settings = Settings(region=context.name, region_digest=context.digest)

    def verify(task: Task) -> dict[str, object] | None:
        record = play(city, context, task, make_agent(OracleAgent.name), settings)
        if record['outcome'] != Outcome.SUCCEEDED:
            return None
        progress.advance(task.id)
        metrics = record['metrics']
        return {'agent': OracleAgent.name, 'steps': int(metrics['steps']),
                'path_length': round(metrics['path_length_sampled'], 2),
                'duration': round(metrics['duration'], 2)}
    try:
        return generate_short_range(context.network, context.name, count, seed, verify)
    finally:
        city.close()


def prepare_tasks(config: EvalConfig, context: RegionContext) -> Path:
    """Return the file of the tasks to run; generate and verify them where none is given."""
    if config['tasks']:
        return Path(config['tasks']).resolve()
    count, seed = config['count'], config['seed']
    path = cache_folder() / 'tasks' / (
        f'short_range-{context.digest}-{count}-{seed}-{__version__}.json')
    try:
        read_tasks(path)
    except UrbanGroundError:  # not there yet, or damaged
        write_tasks(path, generate_verified(context, count, seed))
    return path
