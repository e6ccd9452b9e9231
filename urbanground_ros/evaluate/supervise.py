# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Run the processes of a graph until its last one ends, and leave none behind."""

from __future__ import annotations

from collections.abc import Sequence
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import time

from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate import leash
from urbanground_ros.evaluate.graph import Process
from urbanground_ros.files import make_folder
from urbanground_ros.interrupts import interrupts

#: Wall seconds from SIGINT to SIGKILL.
GRACE = 10.0


def start_child(command: Sequence[str], environment: dict[str, str],
                log: Path | None) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, its output in a log if one is given.

    It is interrupted when the thread that started it ends, even by SIGKILL.

    Raises:
        UrbanGroundError: there is no such program.
    """
    environment = {**os.environ, **environment}
    if shutil.which(command[0], path=environment.get('PATH')) is None:
        raise UrbanGroundError(f'{command[0]}: cannot be started: no such program')
    out = log.open('ab') if log is not None else None
    try:
        return subprocess.Popen(
            [sys.executable, '-I', '-S', leash.__file__, str(os.getpid()), *command],
            env=environment, stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT if out else None, start_new_session=True)
    finally:
        if out is not None:
            out.close()


def stop_children(children: Sequence[subprocess.Popen[bytes]]) -> None:
    """Interrupt processes and all that they started; kill what is left after `GRACE`."""
    for child in children:
        if child.poll() is None:
            _signal(child, signal.SIGINT)
    deadline = time.monotonic() + GRACE
    for child in children:
        try:
            child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        # Also what it started and left behind.
        _signal(child, signal.SIGKILL)
        child.wait()


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass


def last_line(log: Path) -> str:
    """Return the last line of a log that says something."""
    lines = [line for line in log.read_text(errors='replace').splitlines() if line.strip()]
    return lines[-1] if lines else 'no output'


def supervise(graph: Sequence[Process], logs: Path) -> int:
    """Run a graph until its last process ends; return that one's status.

    Another process that ends before is told in one line, and everything is stopped: what is
    finished stays, and the same command goes on from there.
    """
    make_folder(logs)
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        with interrupts():
            try:
                return _watch(graph, logs, children)
            finally:
                stop_children(list(children.values())[::-1])
    except KeyboardInterrupt:
        print('interrupted: finished episodes are kept, the same command goes on from there',
              file=sys.stderr, flush=True)
        return 130


def _watch(graph: Sequence[Process], logs: Path,
           children: dict[str, subprocess.Popen[bytes]]) -> int:
    for process in graph[:-1]:
        log = logs / f'{process.name}.log'
        log.unlink(missing_ok=True)
        children[process.name] = start_child(process.command(), process.environment, log)
    main = start_child(graph[-1].command(), graph[-1].environment, None)
    children[graph[-1].name] = main
    while main.poll() is None:
        for name, child in children.items():
            if child is not main and child.poll() is not None:
                log = logs / f'{name}.log'
                print(f'error: {name} ended with status {child.returncode} before the '
                      f'evaluation did: {last_line(log)} (all of it: {log})',
                      file=sys.stderr, flush=True)
                return 1
        time.sleep(0.1)
    if main.returncode < 0:
        print(f'error: {graph[-1].name} was killed by signal {-main.returncode}: finished '
              'episodes are kept, the same command goes on from there',
              file=sys.stderr, flush=True)
        return 1
    return main.returncode
