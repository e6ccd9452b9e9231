# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The subcommand `tasks`: generates the suite, verifies, shows and exports tasks."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from collections.abc import Sequence
import json
from pathlib import Path
import sys

from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.episode import Regions
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.interrupts import interrupts
from urbanground_ros.ladder.suite import build_suite
from urbanground_ros.ladder.suite import SOURCES
from urbanground_ros.ladder.suite import SUITE_REGIONS
from urbanground_ros.ladder.verify import Verifier
from urbanground_ros.parameters import add_arguments as add_parameters
from urbanground_ros.parameters import Parameter
from urbanground_ros.progress import Progress
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import TaskError
from urbanground_ros.tasks import write_task_files
from urbanground_ros.tasks import write_tasks

#: Exit status after SIGINT or SIGTERM.
INTERRUPTED = 130
#: What stands for the whole suite where a file of tasks is wanted.
SUITE = 'suite'
#: The kinds that can be generated, by the letters that their ids begin with, up the ladder.
KINDS: Mapping[str, Kind] = {kind.prefix: kind for kind in Kind if kind in SOURCES}

_PARAMETERS = (
    Parameter('kinds', ','.join(KINDS), 'kinds by their letters, separated by commas'),
    Parameter('count', 0, 'how many of each kind, 0 for as many as the paper has', 0, 990),
    Parameter('region', '', 'a name or a region file, in place of the six large districts'),
    Parameter('seed', 0, 'seed of everything that is drawn by chance', 0, 2**31 - 1),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands `generate`, `verify`, `show` and `export` with their options."""
    commands = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    generate = commands.add_parser('generate', help='generate tasks, each proved by the oracle')
    add_parameters(generate, _PARAMETERS)
    generate.add_argument('--out', type=Path, required=True, metavar='FILE',
                          help='task file to write')
    verify = commands.add_parser('verify', help='have the oracle do tasks again')
    show = commands.add_parser('show', help='count tasks by kind and region, or print one')
    export = commands.add_parser('export', help='write each task to a file of its own')
    for command in (verify, show, export):
        command.add_argument('file', metavar='FILE',
                             help=f'file or folder of tasks, or {SUITE} for all that is generated')
    show.add_argument('id', nargs='?', metavar='ID', help='the task to print')
    export.add_argument('folder', type=Path, metavar='DIR', help='where the files go')


def run(options: argparse.Namespace) -> int:
    """Do what the options say, and return the exit status.

    Raises:
        UrbanGroundError: what is asked for cannot be done.
    """
    try:
        with interrupts():
            return _run(options)
    except KeyboardInterrupt:
        print('interrupted; what is done is kept, and the same command goes on from there',
              file=sys.stderr)
        return INTERRUPTED


def _run(options: argparse.Namespace) -> int:
    if options.action == 'generate':
        tasks = _generate(parse_kinds(options.kinds), options.count, options.region, options.seed)
        write_tasks(options.out, tasks)
        print(f'{len(tasks)} tasks written to {options.out}')
        return 0
    tasks = _generate(list(KINDS.values()), 0, '', 0) if options.file == SUITE \
        else read_tasks(Path(options.file))
    if options.action == 'verify':
        return _verify(tasks)
    if options.action == 'export':
        write_task_files(options.folder, tasks)
        print(f'{len(tasks)} files written to {options.folder}')
    elif options.id:
        print(json.dumps(_find(tasks, options.id).to_json(), indent=1, ensure_ascii=False))
    else:
        print(render(tasks))
    return 0


def parse_kinds(text: str) -> list[Kind]:
    """Read letters of kinds, separated by commas.

    Raises:
        UrbanGroundError: some are unknown, or there are none.
    """
    names = [name.strip() for name in text.split(',') if name.strip()]
    for name in names:
        if name not in KINDS:
            raise UrbanGroundError(f'kinds: {name!r} is unknown, expected some of '
                                   f'{", ".join(KINDS)}')
    if not names or len(set(names)) < len(names):
        raise UrbanGroundError(f'kinds is {text!r}, expected different kinds')
    return [KINDS[name] for name in names]


def _generate(kinds: Sequence[Kind], count: int, region: str, seed: int) -> list[Task]:
    return build_suite({kind: count or kind.count for kind in kinds},
                       [region] if region else SUITE_REGIONS, seed,
                       lambda parts: Progress('generating tasks', parts).advance)


def _verify(tasks: Sequence[Task]) -> int:
    regions = Regions()
    progress = Progress('verifying tasks', len(tasks))
    failed = []
    with Verifier() as verify:
        for task in tasks:
            proof = verify(regions[task.region or DEFAULT_DISTRICT], task)
            if proof is None:
                failed.append(task.id)
            progress.advance(f'{task.id} {"failed" if proof is None else "proved"}')
    print(f'{len(tasks) - len(failed)} of {len(tasks)} tasks are proved')
    if failed:
        print(f'error: no proof of {", ".join(failed)}', file=sys.stderr)
    return 1 if failed else 0


def _find(tasks: Sequence[Task], task_id: str) -> Task:
    for task in tasks:
        if task.id == task_id:
            return task
    raise TaskError(f'task {task_id!r} is not there, expected one of {len(tasks)} such as '
                    f'{tasks[0].id}')


def render(tasks: Sequence[Task]) -> str:
    """Return a table of how many tasks there are, by kind and region."""
    counts = Counter((task.kind, task.region) for task in tasks)
    regions = list(dict.fromkeys(region for _, region in counts))
    table = [['kind', *(region or '-' for region in regions), 'all']]
    for kind in dict.fromkeys(kind for kind, _ in counts):
        row = [counts[kind, region] for region in regions]
        table.append([f'{kind.prefix} {kind.label}', *map(str, row), str(sum(row))])
    table.append(['all', *(str(sum(n for (_, region), n in counts.items() if region == each))
                           for each in regions), str(len(tasks))])
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return '\n'.join('  '.join(
        cell.rjust(width) if k else cell.ljust(width)
        for k, (cell, width) in enumerate(zip(row, widths, strict=True))) for row in table)
