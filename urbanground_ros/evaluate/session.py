# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""One evaluation's folder: which episodes are done, their pictures, and the end of it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
import fcntl
import io
from pathlib import Path
import sys
from typing import Any

from PIL import Image

from urbanground_ros.episode import RegionContext
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.evaluate.picture import EpisodePictures
from urbanground_ros.evaluate.plan import find_record
from urbanground_ros.evaluate.plan import make_plan
from urbanground_ros.evaluate.plan import Planned
from urbanground_ros.evaluate.report import write_report
from urbanground_ros.evaluate.table import render
from urbanground_ros.files import make_folder
from urbanground_ros.files import write_atomically
from urbanground_ros.folders import cache_folder
from urbanground_ros.progress import Progress
from urbanground_ros.scoring import FAILURES
from urbanground_ros.scoring import Outcome

#: So many failures one after the other are the city's or the machine's, not a task's.
MOST_FAILURES = 3


class Session:
    """Runs a plan's missing episodes one by one, each finished one kept at once."""

    def __init__(self, config: EvalConfig, context: RegionContext, tasks: Path) -> None:
        """Plan the episodes of a configuration."""
        self.config = config
        self.plan = make_plan(config, context, tasks)
        self._pictures = {context.name: EpisodePictures(context, *overview(context))
                          for context in {p.context.name: p.context
                                          for p in self.plan}.values()}

    def run(self, episode: Callable[[Planned], Mapping[str, Any]]) -> int:
        """Run what is missing by a function that returns an episode's record; return a status.

        0 when every episode has a record (however it ended), else 1. After a few failures
        in a row the rest is left for the next time.
        """
        with held(self.config.out):
            records = self._kept()
            missing = [p for p in self.plan if p.id not in records]
            progress = Progress('episodes', max(len(missing), 1))
            failures = in_a_row = 0
            for planned in missing:
                try:
                    record = episode(planned)
                except UrbanGroundError as error:
                    failures += 1
                    in_a_row += 1
                    print(f'error: {planned.agent} {planned.task.id}: {error}', file=sys.stderr,
                          flush=True)
                    if in_a_row == MOST_FAILURES:
                        break
                    continue
                in_a_row = 0
                records[planned.id] = record
                self._draw(planned, record)
                progress.advance(_summary(record))
            return self._finish([records[p.id] for p in self.plan if p.id in records], failures)

    def _kept(self) -> dict[str, Mapping[str, Any]]:
        """Return the records of earlier calls that count, and mend their pictures."""
        records: dict[str, Mapping[str, Any]] = {}
        for planned in self.plan:
            record = find_record(self.config, planned)
            if record and not (self.config['retry'] and record['outcome'] in FAILURES):
                records[planned.id] = record
                if not self._picture_path(planned).is_file():
                    self._draw(planned, record)
        if records:
            print(f'{len(records)} of {len(self.plan)} episodes are there already',
                  file=sys.stderr)
        names = {f'{p.id}.json' for p in self.plan}
        others = sum(path.name not in names for path in self.config.records.glob('*.json'))
        if others:
            print(f'{self.config.records}: {others} records of other settings, which table and '
                  'report leave out', file=sys.stderr)
        failed = sum(record['outcome'] in FAILURES for record in records.values())
        if failed:
            print(f'{failed} of them ended by an error of the agent; --retry true runs these '
                  'again', file=sys.stderr)
        return records

    def _draw(self, planned: Planned, record: Mapping[str, Any]) -> None:
        write_atomically(self._picture_path(planned),
                         self._pictures[planned.context.name].draw(record))

    def _picture_path(self, planned: Planned) -> Path:
        return self.config.out / 'pictures' / f'{planned.id}.png'

    def _finish(self, records: list[Mapping[str, Any]], failures: int) -> int:
        out = self.config.out
        if records:
            text = render(records)
            print(f'\n{text}\n', flush=True)
            write_atomically(out / 'table.txt', f'{text}\n'.encode())
            write_report(out / 'report.html', records, out / 'pictures', 'Evaluation')
            print(f'report: {out / "report.html"}', flush=True)
        if len(records) < len(self.plan):
            print(f'error: {len(records)} of {len(self.plan)} episodes are finished and kept in '
                  f'{out}; the same command goes on from there', file=sys.stderr, flush=True)
            return 1
        return 1 if failures else 0


def _summary(record: Mapping[str, Any]) -> str:
    metrics = record['metrics']
    text = f'{record["agent"]} {record["task"]["id"]} {Outcome(record["outcome"]).label}'
    if metrics:
        text += f', {metrics["steps"]:.0f} steps'
    if metrics.get('final_distance') is not None:
        text += f', {metrics["final_distance"]:.1f} m left'
    return f'{text}: {record["reason"]}' if record['outcome'] in FAILURES else text


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a run's folder for a block, so that two runs never mix.

    Raises:
        UrbanGroundError: it cannot be written, or another run holds it.
    """
    make_folder(folder)
    with (folder / '.lock').open('wb') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UrbanGroundError(
                f'{folder}: another run writes here; choose another out') from error
        yield


def overview(context: RegionContext) -> tuple[Image.Image | None,
                                              tuple[float, float, float, float] | None]:
    """Return a map of a region from above and its extent, drawn once and cached."""
    points = [p for lines in context.network.lines().values() for line in lines for p in line]
    xs, ys = [float(p[0]) for p in points], [float(p[1]) for p in points]
    extent = (min(xs) - 40.0, min(ys) - 40.0, max(xs) + 40.0, max(ys) + 40.0)
    path = cache_folder() / 'overviews' / f'{context.digest}.png'
    try:
        with Image.open(path) as image:
            return image.convert('RGB'), extent
    except (OSError, SyntaxError):  # not there yet, or damaged
        from urbanground_ros.sim import draw_overview
        picture = draw_overview(context.path, extent, 1600)
        if picture is None:
            return None, None
        out = io.BytesIO()
        Image.fromarray(picture).save(out, 'PNG')
        write_atomically(path, out.getvalue())
    return Image.fromarray(picture), extent
