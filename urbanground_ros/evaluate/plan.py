# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which episodes an evaluation has, and which are still to be run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urbanground_ros.districts import resolve_region
from urbanground_ros.episode import RegionContext
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.scoring import episode_id
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


def load_context(config: EvalConfig) -> RegionContext:
    """Read the evaluation's region."""
    return RegionContext.load(config['region'], resolve_region(config['region']))


def make_plan(config: EvalConfig, context: RegionContext, tasks: Path) -> list[Planned]:
    """Return every episode, agent by agent."""
    plan = []
    for agent in config.agents:
        for task in read_tasks(tasks):
            plan.append(Planned(
                episode_id(task, config.label(agent), config.track(agent),
                           make_settings(config, context)), agent, task))
    return plan


def make_settings(config: EvalConfig, context: RegionContext) -> Settings:
    """Return what every episode's result depends on."""
    return Settings(region=context.name, region_digest=context.digest, seed=config['seed'],
                    max_steps=config['max_steps'], max_seconds=config['max_seconds'])


def find_record(config: EvalConfig, planned: Planned) -> dict[str, Any] | None:
    """Return an episode's record if there is a whole one."""
    path = config.records / f'{planned.id}.json'
    try:
        return read_record(path) if path.is_file() else None
    except RecordError:
        return None
