#!/usr/bin/env python3
# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Print how many simulated seconds an evaluation runs in a wall second, by way and by picture."""

from __future__ import annotations

import json
from pathlib import Path
import subprocess
import sys
import tempfile
import time

COUNT = 5


def measure(*options: str) -> tuple[float, float, int]:
    """Run one evaluation; return simulated seconds, wall seconds and structured actions."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, '-m', 'urbanground_ros', 'eval', '--count', str(COUNT), '--out',
             folder, *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall = time.perf_counter() - start
        records = [json.loads(p.read_text()) for p in Path(folder, 'episodes').glob('*.json')]
    metrics = [record['metrics'] for record in records]
    return sum(m['duration'] for m in metrics), wall, round(sum(m['steps'] for m in metrics))


def main() -> None:
    """Print the table; start-up and shut-down of all processes are in the wall time."""
    print(f'{COUNT} tasks each, start-up included')
    print(f'{"way":<34}{"sim s":>8}{"wall s":>8}{"sim/wall":>9}{"actions/s":>10}')
    for way, options in (
            ('in process', ('--in-process', '--agents', 'oracle,straight')),
            ('through ROS', ('--agents', 'oracle,straight')),
            ('through ROS, robotics track', ('--agents', 'stack', '--max-seconds', '30'))):
        for pictures in ('false', 'true'):
            if 'robotics' in way and pictures == 'true':
                continue
            simulated, wall, actions = measure(*options, '--pictures', pictures)
            name = way + (', a picture an action' if pictures == 'true' else '')
            print(f'{name:<34}{simulated:>8.0f}{wall:>8.1f}{simulated / wall:>9.1f}'
                  f'{actions / wall:>10.1f}', flush=True)


if __name__ == '__main__':
    main()
