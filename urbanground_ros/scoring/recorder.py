# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Collect one episode, and turn it into a record; the same code in process and on ROS."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
import hashlib
import json
import math
import re
from typing import Any

from urbanground_ros import __version__
from urbanground_ros.city import Event
from urbanground_ros.city import Sample
from urbanground_ros.geo import DEFAULT_HORIZONTAL_TOLERANCE
from urbanground_ros.geo import DEFAULT_VERTICAL_TOLERANCE
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.scoring.metrics import compute_metrics
from urbanground_ros.scoring.outcome import Outcome
from urbanground_ros.scoring.records import make_record
from urbanground_ros.scoring.records import RecordError
from urbanground_ros.tasks import Task


def check_agent_name(what: str, name: str) -> None:
    """Check what an agent is called, for it becomes part of the names of files.

    Raises:
        RecordError: it cannot be.
    """
    if not re.fullmatch(r'[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}', name):
        raise RecordError(f'{what} is {name!r}, expected up to 64 letters, digits, "_", "." or '
                          '"-", the first no dot')


@dataclass(frozen=True)
class Settings:
    """What an episode's result depends on beside its task and agent."""

    region: str
    region_digest: str
    seed: int = 0
    max_steps: int = 100
    max_seconds: float = 200.0
    horizontal_tolerance: float = DEFAULT_HORIZONTAL_TOLERANCE
    vertical_tolerance: float = DEFAULT_VERTICAL_TOLERANCE
    #: People around the body, where a task has any.
    pedestrians: int = 60
    #: Simulated seconds until a closure is disclosed that is not from the start (paper).
    closure_delay: float = 30.0

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            RecordError: one is not positive and finite.
        """
        for name in ('max_steps', 'max_seconds', 'horizontal_tolerance', 'vertical_tolerance',
                     'pedestrians', 'closure_delay'):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise RecordError(f'settings: {name} is {value!r}, expected a positive number')


@dataclass(frozen=True)
class StepRecord:
    """One executed action: its fields, the city's words, the mode after it.

    `seconds` is its simulated duration, `sequence` the last trajectory sample it made.
    """

    action: Mapping[str, Any]
    message: str
    mode: str
    seconds: float
    sequence: int


def episode_id(task: Task, agent: str, track: str, settings: Settings) -> str:
    """Name an episode by the hash of task, configuration and code version.

    Raises:
        RecordError: the agent's name cannot be part of a file's.
    """
    check_agent_name('agent', agent)
    key = json.dumps([task.to_json(), agent, track, asdict(settings), __version__],
                     sort_keys=True, ensure_ascii=False)
    return f'{agent}-{task.id}-{hashlib.sha256(key.encode()).hexdigest()[:12]}'


class EpisodeRecorder:
    """One episode, from its first sample to its record."""

    def __init__(self, task: Task, agent: str, track: str, settings: Settings,
                 network: PedestrianNetwork) -> None:
        """Begin an empty recording."""
        self.id = episode_id(task, agent, track, settings)
        self.task = task
        self.agent = agent
        self.track = track
        self.settings = settings
        self.network = network
        self.samples: list[Sample] = []
        self.events: list[Event] = []
        self.steps: list[StepRecord] = []

    def add(self, samples: Sequence[Sample], events: Sequence[Event] = ()) -> None:
        """Append what the city reported, in order."""
        self.samples.extend(samples)
        self.events.extend(events)

    def metrics(self, outcome: Outcome = Outcome.UNDEFINED) -> dict[str, float]:
        """Return the metrics of what was recorded so far, {} before the first sample."""
        if not self.samples:
            return {}
        last = self.samples[-1].sequence
        steps = [s for s in self.steps if self.samples[0].sequence <= s.sequence <= last]
        return compute_metrics(
            self.task, self.network, self.samples, steps, self.events, outcome,
            horizontal_tolerance=self.settings.horizontal_tolerance,
            vertical_tolerance=self.settings.vertical_tolerance)

    def record(self, outcome: Outcome, reason: str) -> dict[str, Any]:
        """Return the record of the finished episode."""
        return make_record(self, outcome, reason, self.metrics(outcome))
