# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which episodes an evaluation has, and which are still to be run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from urbanground_ros.episode import check_drivable
from urbanground_ros.episode import RegionContext
from urbanground_ros.episode import Regions
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.scoring import episode_id
from urbanground_ros.scoring import NO_RESULTS
from urbanground_ros.scoring import read_record
from urbanground_ros.scoring import RecordError
from urbanground_ros.scoring import Settings
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import Task


@dataclass(frozen=True)
class Planned:
    """One episode of a plan: `agent` as configured, `id` that of its record."""

    id: str
    agent: str
    task: Task
    context: RegionContext
    settings: Settings


def load_context(config: EvalConfig) -> RegionContext:
    """Read the evaluation's region."""
    return RegionContext.named(config['region'])


def make_plan(config: EvalConfig, context: RegionContext, tasks: Path) -> list[Planned]:
    """Return every episode, agent by agent; a task that names no region is in `context`'s.

    Raises:
        UrbanGroundError: a task is no good or cannot be run, or its region is unknown.
    """
    regions = Regions({'': context, context.name: context})
    plan = []
    for agent, task in product(config.agents, read_tasks(tasks)):
        if config.track(agent) == 'robotics':
            check_drivable(task)
        own = regions[task.region]
        settings = _make_settings(config, own)
        plan.append(Planned(
            episode_id(task, config.label(agent), config.track(agent), settings), agent, task,
            own, settings))
    return plan


def _make_settings(config: EvalConfig, context: RegionContext) -> Settings:
    return Settings(region=context.name, region_digest=context.digest, seed=config['seed'],
                    max_steps=config['max_steps'], max_seconds=config['max_seconds'])


def find_record(config: EvalConfig, planned: Planned) -> dict[str, Any] | None:
    """Return an episode's record if there is a whole one that is a result."""
    path = config.records / f'{planned.id}.json'
    try:
        record = read_record(path) if path.is_file() else None
    except RecordError:
        return None
    return record if record and record['episode'] == planned.id \
        and record['outcome'] not in NO_RESULTS else None
