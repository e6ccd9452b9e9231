# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""One evaluation's folder: which episodes are done, their pictures, and the end of it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import fcntl
import io
import os
from pathlib import Path
import sys
from typing import Any

from PIL import Image

from urbanground_ros.districts import cache_folder
from urbanground_ros.episode import RegionContext
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.config import EvalConfig
from urbanground_ros.evaluate.picture import EpisodePictures
from urbanground_ros.evaluate.plan import find_record
from urbanground_ros.evaluate.plan import make_plan
from urbanground_ros.evaluate.plan import Planned
from urbanground_ros.evaluate.progress import Progress
from urbanground_ros.evaluate.report import write_report
from urbanground_ros.evaluate.table import render
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import write_atomically


class Session:
    """Runs a plan's missing episodes one by one, each finished one kept at once."""

    def __init__(self, config: EvalConfig, context: RegionContext, tasks: Path) -> None:
        """Plan the episodes of a configuration."""
        self.config = config
        self.plan = make_plan(config, context, tasks)
        self._pictures = EpisodePictures(context, *overview(context))

    def run(self, episode: Callable[[Planned], Mapping[str, Any]]) -> int:
        """Run what is missing by a function that returns an episode's record; return a status.

        0 when every episode has a record (however it ended), else 1.
        """
        with _held(self.config.out):
            missing = [p for p in self.plan if find_record(self.config, p) is None]
            kept = len(self.plan) - len(missing)
            if kept:
                print(f'{kept} of {len(self.plan)} episodes are there already', file=sys.stderr)
            progress = Progress('episodes', max(len(missing), 1))
            failures = 0
            for planned in missing:
                try:
                    record = episode(planned)
                except UrbanGroundError as error:
                    failures += 1
                    print(f'error: {planned.agent} {planned.task.id}: {error}', file=sys.stderr,
                          flush=True)
                    break
                write_atomically(self._picture_path(planned), self._pictures.draw(record))
                progress.advance(_summary(record))
            return self._finish(failures)

    def _picture_path(self, planned: Planned) -> Path:
        return self.config.out / 'pictures' / f'{planned.id}.png'

    def _finish(self, failures: int) -> int:
        records = [r for r in (find_record(self.config, p) for p in self.plan) if r is not None]
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
        text += f', {metrics["steps"]:.0f} steps, {metrics["final_distance"]:.1f} m left'
    return text


class _held:  # noqa: N801 - a context manager, used as a function
    """Hold a run's folder, so that two runs never mix."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = -1

    def __enter__(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._folder / '.lock', os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise UrbanGroundError(
                f'{self._folder}: cannot be written: {error.strerror}') from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise UrbanGroundError(
                f'{self._folder}: another run writes here; choose another out') from error

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)


def overview(context: RegionContext) -> tuple[Image.Image | None,
                                              tuple[float, float, float, float] | None]:
    """Return a map of a region from above and its extent, drawn once and cached."""
    points = [p for lines in context.network.lines().values() for line in lines for p in line]
    xs, ys = [float(p[0]) for p in points], [float(p[1]) for p in points]
    extent = (min(xs) - 40.0, min(ys) - 40.0, max(xs) + 40.0, max(ys) + 40.0)
    path = cache_folder() / 'overviews' / f'{context.digest}.png'
    if not path.is_file():
        from urbanground_ros.sim import draw_overview
        picture = draw_overview(context.path, extent, 1600)
        if picture is None:
            return None, None
        out = io.BytesIO()
        Image.fromarray(picture).save(out, 'PNG')
        write_atomically(path, out.getvalue())
    return Image.open(path).convert('RGB'), extent
