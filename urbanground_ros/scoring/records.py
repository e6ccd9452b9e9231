# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Records: one JSON file an episode, written whole or not at all, scored again to the digit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
import json
import math
from pathlib import Path
from typing import Any
from typing import TYPE_CHECKING

from urbanground_ros import __version__
from urbanground_ros.city import Event
from urbanground_ros.city import EventKind
from urbanground_ros.city import Sample
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.files import FileError
from urbanground_ros.files import read_json
from urbanground_ros.files import write_atomically
from urbanground_ros.scoring.metrics import compute_metrics
from urbanground_ros.scoring.metrics import DEFINITIONS
from urbanground_ros.scoring.outcome import Outcome
from urbanground_ros.tasks import Task

if TYPE_CHECKING:
    from urbanground_ros.geo import PedestrianNetwork
    from urbanground_ros.scoring.recorder import EpisodeRecorder

#: Name and version of the record's format.
SCHEMA = 'urbanground.episode/2'
# Stamps count from the start of a city, which no result may depend on.
_COLUMNS = [name for name in Sample._fields if name != 'stamp_ns']


class RecordError(UrbanGroundError):
    """A record that cannot be read or written."""


def make_record(recorder: EpisodeRecorder, outcome: Outcome, reason: str,
                metrics: Mapping[str, float]) -> dict[str, Any]:
    """Return a record as JSON values; nothing in it depends on the wall clock or the machine."""
    start = recorder.samples[0].stamp_ns if recorder.samples else 0
    return {
        'schema': SCHEMA,
        'version': __version__,
        'episode': recorder.id,
        'agent': recorder.agent,
        'track': recorder.track,
        'task': recorder.task.to_json(),
        'settings': asdict(recorder.settings),
        'outcome': int(outcome),
        'reason': reason,
        'metrics': {name: _number(value) for name, value in metrics.items()},
        'steps': [asdict(step) for step in recorder.steps],
        'events': [{**asdict(e), 'kind': int(e.kind), 'stamp_ns': e.stamp_ns - start}
                   for e in recorder.events],
        'trajectory': {
            'frame': 'map: ENU tangent plane at the region\'s origin, metres, radians',
            'columns': _COLUMNS,
            'rows': [list(s[1:]) for s in recorder.samples],
        },
    }


def _number(value: float) -> float | None:
    """Return a value that JSON has: null for NaN."""
    return value if math.isfinite(value) else None


def write_record(folder: Path, record: Mapping[str, Any]) -> Path:
    """Write a record as `EPISODE.json` into a folder, atomically, the same bytes each time.

    Raises:
        RecordError: it has a number that JSON has not.
        FileError: the disk is full or the folder not writable.
    """
    path = folder / f'{record["episode"]}.json'
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(',', ':'))
    except ValueError as error:
        raise RecordError(f'{path}: {error}, expected finite numbers') from error
    write_atomically(path, text.encode() + b'\n')
    return path


def read_record(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises:
        RecordError: not there, cut short, of another schema, or with a part that is none.
    """
    try:
        record = read_json(path, 'an episode record')
    except FileError as error:
        raise RecordError(str(error)) from error
    if not isinstance(record, dict) or record.get('schema') != SCHEMA:
        schema = record.get('schema') if isinstance(record, dict) else None
        raise RecordError(f'{path}: schema is {schema!r}, expected {SCHEMA!r}')
    try:
        _check(record)
    except (KeyError, TypeError, ValueError, UrbanGroundError) as error:
        raise RecordError(f'{path}: {type(error).__name__} {error}, expected a whole episode '
                          'record') from error
    return record


def _check(record: Mapping[str, Any]) -> None:
    """Build everything of a record that can be built, and compare its name with its content.

    Raises:
        KeyError, TypeError, ValueError, UrbanGroundError: what cannot be built.
    """
    from urbanground_ros.scoring.recorder import episode_id
    from urbanground_ros.scoring.recorder import Settings
    from urbanground_ros.scoring.recorder import StepRecord
    task = Task.from_json(record['task'], 'task')
    settings = Settings(**record['settings'])
    if record['version'] == __version__:
        known = episode_id(task, record['agent'], record['track'], settings)
        if record['episode'] != known:
            raise ValueError(f'episode is {record["episode"]!r}, its content has the id {known}')
    Outcome(record['outcome'])
    for name in ('episode', 'agent', 'track', 'reason'):
        if not isinstance(record[name], str):
            raise TypeError(f'{name} is {record[name]!r}')
    for name, value in record['metrics'].items():
        if name not in DEFINITIONS or not (value is None or isinstance(value, (int, float))):
            raise ValueError(f'metric {name} is {value!r}')
    for step in record['steps']:
        StepRecord(**step)
    for event in record['events']:
        EventKind(event['kind'])
        Event(**event)
    rows = record['trajectory']['rows']
    if record['trajectory']['columns'] != _COLUMNS or not rows \
            or any(len(row) != len(_COLUMNS) for row in rows):
        raise ValueError('trajectory has other columns or no rows')


def rescore(record: Mapping[str, Any], network: PedestrianNetwork) -> dict[str, float | None]:
    """Compute a record's metrics again from its trajectory, to the same digits."""
    from urbanground_ros.scoring.recorder import StepRecord
    samples = [Sample(row[1], *row) for row in record['trajectory']['rows']]
    if not samples:
        return {}
    steps = [StepRecord(**step) for step in record['steps']]
    events = [Event(**{**event, 'kind': EventKind(event['kind'])}) for event in record['events']]
    settings = record['settings']
    metrics = compute_metrics(
        Task.from_json(record['task'], record['episode']), network, samples, steps, events,
        Outcome(record['outcome']), horizontal_tolerance=settings['horizontal_tolerance'],
        vertical_tolerance=settings['vertical_tolerance'])
    return {name: _number(metrics[name]) for name in DEFINITIONS}
