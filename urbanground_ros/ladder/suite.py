# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The suite: candidates of each kind in each region, proved by play, counted and named.

Every task is drawn from the seed of the suite, its kind and its region alone, one after the
other: other kinds change nothing, and the first N of a kind are the same whatever the count.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from functools import cache
import hashlib
from itertools import chain
from itertools import zip_longest
from multiprocessing import get_context
import os
from pathlib import Path
import signal
import zlib

import numpy as np

from urbanground_ros.episode import RegionContext
from urbanground_ros.episode import Regions
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.folders import cache_folder
from urbanground_ros.ladder.closures import propose_constrained
from urbanground_ros.ladder.directions import propose_instructional
from urbanground_ros.ladder.errands import propose_multi_stop
from urbanground_ros.ladder.errands import propose_time_window
from urbanground_ros.ladder.goals import propose_long_range
from urbanground_ros.ladder.goals import propose_short_range
from urbanground_ros.ladder.look import Look
from urbanground_ros.ladder.questions import active_exploration
from urbanground_ros.ladder.questions import orientation
from urbanground_ros.ladder.questions import visual_recognition
from urbanground_ros.ladder.searches import propose_implicit_intent
from urbanground_ros.ladder.searches import propose_place_type
from urbanground_ros.ladder.verify import Verifier
from urbanground_ros.ladder.verify import Verify
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import TaskError
from urbanground_ros.tasks import with_dynamic_closure
from urbanground_ros.tasks import with_pedestrians
from urbanground_ros.tasks import write_tasks

#: Candidate tasks of a kind in a region, without ids: without end, or until no more are found.
Proposer = Callable[[RegionContext, np.random.Generator], Iterator[Task]]
#: Told of each task, or part, that is made.
Advance = Callable[[str], None]


def _seeing(question: Callable[[RegionContext, np.random.Generator, Look], Iterator[Task]]
            ) -> Proposer:
    """Return the proposer of questions that are made by looking."""
    return lambda context, rng: question(context, rng, _look())


@cache
def _look() -> Look:
    """Open the eyes of this process."""
    return Look()


PROPOSERS: Mapping[Kind, Proposer] = {
    Kind.VISUAL_RECOGNITION: _seeing(visual_recognition),
    Kind.ORIENTATION: _seeing(orientation),
    Kind.ACTIVE_EXPLORATION: _seeing(active_exploration),
    Kind.SHORT_RANGE: propose_short_range,
    Kind.LONG_RANGE: propose_long_range,
    Kind.INSTRUCTIONAL: propose_instructional,
    Kind.CONSTRAINED: propose_constrained,
    Kind.PLACE_TYPE: propose_place_type,
    Kind.IMPLICIT_INTENT: propose_implicit_intent,
    Kind.TIME_WINDOW: propose_time_window,
    Kind.MULTI_STOP: propose_multi_stop,
}
#: Kinds that are variants of another: a source counts only if its variant is proved too.
VARIANTS: Mapping[Kind, tuple[Kind, Callable[[Task], Task]]] = {
    Kind.LONG_RANGE: (Kind.PEDESTRIANS, with_pedestrians),
    Kind.CONSTRAINED: (Kind.DYNAMIC_CLOSURE, with_dynamic_closure),
}
#: Where each kind of task comes from.
SOURCES: Mapping[Kind, Kind] = {
    **{kind: kind for kind in PROPOSERS},
    **{variant: source for source, (variant, _) in VARIANTS.items()},
}
#: Districts of the suite, in the order in which ids go through them.
SUITE_REGIONS = ('kam_tong', 'yuen_ling', 'wah_kiu', 'kwun_lei', 'hoi_tin', 'shing_lam')
#: Candidates that are played for each task that is wanted.
MOST_CANDIDATES = 30


@dataclass(frozen=True)
class Part:
    """Tasks of a kind in a region, which is the one at `place` of so many `places`."""

    kind: Kind
    region: str
    place: int
    places: int
    count: int
    seed: int

    @property
    def label(self) -> str:
        """What it is called in progress and errors."""
        return f'{self.kind.label} in {self.region}'

    def task_id(self, number: int) -> str:
        """Return the id of one of its tasks, counted from 0."""
        return f'{self.kind.prefix}{number * self.places + self.place + 1:03d}'


def plan_parts(kind: Kind, regions: Sequence[str], count: int, seed: int) -> list[Part]:
    """Spread tasks of a kind over regions, the first ones having one more where it must be."""
    return [Part(kind, region, place, len(regions), (count - place - 1) // len(regions) + 1, seed)
            for place, region in enumerate(regions[:count])]


def make_part(part: Part, context: RegionContext, verify: Verify,
              advance: Advance = lambda _: None) -> list[Task]:
    """Return the tasks of a part in order, each before its variant, as the cache has them.

    Raises:
        TaskError: the region has too few.
        FileError: they cannot be kept.
    """
    path = _part_path(part, context)
    kept = _read_part(path, part)
    if kept is not None:
        return kept
    tasks: list[Task] = []
    candidates = PROPOSERS[part.kind](context, np.random.default_rng(
        [part.seed, zlib.crc32(f'{part.kind.prefix} {context.region.name}'.encode())]))
    made = tried = 0
    while made < part.count:
        candidate = next(candidates, None)
        if candidate is None or tried == MOST_CANDIDATES * part.count:
            raise TaskError(
                f'region {part.region}: {made} of {part.count} {part.kind.label} tasks from '
                f'{tried} candidates, expected a larger region, fewer tasks, or tiles that the '
                'network lies on (urbanground calibrate)')
        tried += 1
        proved = _prove(part.kind, replace(candidate, id=part.task_id(made)), context, verify)
        if proved:
            tasks += proved
            made += 1
            advance(f'{part.label}: {tasks[-1].id}')
    write_tasks(path, tasks)
    return tasks


def _prove(kind: Kind, task: Task, context: RegionContext, verify: Verify) -> list[Task]:
    """Return a task and its variant with their proofs, [] where one has none."""
    both = [task]
    if kind in VARIANTS:
        both.append(VARIANTS[kind][1](task))
    proved = []
    for each in both:
        proof = verify(context, each)
        if proof is None:
            return []
        proved.append(replace(each, verification=proof))
    return proved


def _part_path(part: Part, context: RegionContext) -> Path:
    return cache_folder() / 'ladder' / (
        f'{part.kind.label}-{context.region.name}-{context.digest}-{part.place}of{part.places}-'
        f'{part.seed}-{_code_hash()}.json')


@cache
def _code_hash() -> str:
    """Return a hash of the code that proposes tasks and proves them."""
    package = Path(__file__).parents[1]
    code = hashlib.sha256()
    for room in ('city', 'geo', 'sim', 'tasks', 'scoring', 'episode', 'agents', 'ladder'):
        for source in sorted((package / room).rglob('*.py')):
            code.update(source.read_bytes())
    return code.hexdigest()[:12]


def _read_part(path: Path, part: Part) -> list[Task] | None:
    """Return a part from a file that has as many tasks or more, else None."""
    try:
        tasks = read_tasks(path)
    except UrbanGroundError:  # not there yet, or damaged
        return None
    wanted = {part.task_id(number) for number in range(part.count)}
    found = [replace(task, region=part.region) for task in tasks
             if task.id in wanted or task.source in wanted]
    return found if wanted <= {task.id for task in found} else None


def generate(kind: Kind, regions: Sequence[RegionContext], count: int, seed: int, verify: Verify,
             advance: Advance = lambda _: None) -> list[Task]:
    """Return tasks of one kind, spread over regions, in the order of their ids.

    Raises:
        TaskError: a region has too few.
    """
    contexts = {context.name: context for context in regions}
    parts = plan_parts(SOURCES[kind], list(contexts), count, seed)
    return _in_order(kind, [make_part(part, contexts[part.region], verify, advance)
                            for part in parts])


def build_suite(kinds: Mapping[Kind, int], regions: Sequence[str], seed: int,
                begin: Callable[[int], Advance]) -> list[Task]:
    """Return so many tasks of each kind, made by as many processes as there are processors.

    Args:
        kinds: How many of each kind, in the order in which they are wanted.
        regions: Names or region files.
        seed: Of the suite.
        begin: Told how many parts there are; returns what is told of each that is done.

    Raises:
        UrbanGroundError: a region is unknown, or has too few tasks.
    """
    counts: dict[Kind, int] = {}
    for kind, count in kinds.items():
        counts[SOURCES[kind]] = max(count, counts.get(SOURCES[kind], 0))
    # Region by region, so that a process reads few of them.
    parts = [part for column in zip_longest(*(
        plan_parts(kind, regions, count, seed) for kind, count in counts.items()))
        for part in column if part is not None]
    advance = begin(len(parts))
    done: dict[tuple[Kind, int], list[Task]] = {}
    for part, tasks in _work(parts):
        done[part.kind, part.place] = tasks
        advance(part.label)
    return [task for kind, count in kinds.items() for task in _in_order(kind, [
        done[SOURCES[kind], place] for place in range(min(count, len(regions)))])[:count]]


def _work(parts: Collection[Part]) -> Iterator[tuple[Part, list[Task]]]:
    processes = min(os.cpu_count() or 1, len(parts))
    if processes <= 1:
        _open()
        yield from map(_make, parts)
        return
    # Spawned, for what Bullet and the tiles hold does not survive a fork.
    with get_context('spawn').Pool(processes, _open_process) as pool:
        yield from pool.imap_unordered(_make, parts)


class _Worker:
    """What a process makes parts with."""

    def __init__(self) -> None:
        self.regions = Regions()
        self.verifier = Verifier()


_worker: _Worker | None = None


def _open_process() -> None:
    # An interrupt goes to the whole group; the pool ends its processes itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _open()


def _open() -> None:
    global _worker
    _worker = _worker or _Worker()


def _make(part: Part) -> tuple[Part, list[Task]]:
    assert _worker is not None
    return part, make_part(part, _worker.regions[part.region], _worker.verifier)


def _in_order(kind: Kind, parts: Sequence[Sequence[Task]]) -> list[Task]:
    """Return the tasks of a kind, one of each part in turn."""
    rows = zip_longest(*([task for task in part if task.kind is kind] for part in parts))
    return [task for task in chain.from_iterable(rows) if task is not None]
