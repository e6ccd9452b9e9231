# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Run episodes in this process: for verification and big sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from urbanground_ros.agents import make_agent
from urbanground_ros.agents import play
from urbanground_ros.episode import RegionContext
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.evaluate.config import STACK
from urbanground_ros.evaluate.plan import Planned
from urbanground_ros.evaluate.session import Session
from urbanground_ros.scoring import NO_RESULTS
from urbanground_ros.scoring import write_record
from urbanground_ros.sim import HeadlessCity


def evaluate(config: EvalConfig, context: RegionContext, tasks: Path) -> int:
    """Run a configuration's scripted agents in this process; return the status."""
    if STACK in config.agents:
        raise UrbanGroundError(f'agents: {STACK} needs ROS, expected only scripted agents '
                               'with --in-process')
    city = HeadlessCity(pictures=config['pictures'])

    def run(planned: Planned) -> Mapping[str, Any]:
        record = play(city, planned.context, planned.task, make_agent(planned.agent),
                      planned.settings, want_image=config['pictures'])
        if record['outcome'] in NO_RESULTS:
            raise UrbanGroundError(record['reason'])
        write_record(config.records, record)
        return record
    return Session(config, context, tasks).run(run)
