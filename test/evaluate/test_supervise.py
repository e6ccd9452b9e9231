# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""No process outlives the run that started it, and no two runs share a DDS domain."""

from __future__ import annotations

from contextlib import closing
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest

from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.domains import Domains
from urbanground_ros.evaluate.supervise import start_child
from urbanground_ros.evaluate.supervise import stop_children

PARENT = """
import time
from urbanground_ros.evaluate.supervise import start_child
print(start_child(['sleep', '100'], {}, None).pid, flush=True)
time.sleep(100)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_parent_leaves_no_child(number: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, '-c', PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert alive(child)
    parent.send_signal(number)
    parent.wait(10)
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(child)


def test_a_child_gets_its_environment_and_log_and_its_status_is_seen(tmp_path: Path) -> None:
    log = tmp_path / 'log'
    code = 'import os; print(os.environ["ANSWER"], os.getsid(0) == os.getpid()); exit(7)'
    child = start_child([sys.executable, '-c', code], {'ANSWER': '42'}, log)
    assert child.wait(20) == 7
    assert log.read_text() == '42 True\n'


def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(UrbanGroundError, match='no_such_program: cannot be started'):
        start_child(['no_such_program'], {}, None)


def test_what_ignores_an_interrupt_is_killed_with_all_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr('urbanground_ros.evaluate.supervise.GRACE', 1.0)
    log = tmp_path / 'log'
    command = "trap '' INT; sleep 100 & echo $!; wait"
    child = start_child(['sh', '-c', command], {}, log)
    while not log.read_text():
        time.sleep(0.05)
    grandchild = int(log.read_text())
    assert alive(grandchild)
    stop_children([child])
    assert child.returncode == -signal.SIGKILL
    assert not alive(grandchild)


def test_free_domains_are_distinct_and_a_wanted_one_is_held_once() -> None:
    with closing(Domains()) as first, closing(Domains()) as second:
        assert len({first.take(), first.take(), second.take()}) == 3
        wanted = first.take()
        with pytest.raises(UrbanGroundError, match=f'DDS domain {wanted}: another run'):
            second.take(wanted)
        first.close()
        assert second.take(wanted) == wanted


def test_two_runs_in_one_wanted_domain_are_refused(tmp_path: Path) -> None:
    with closing(Domains()) as domains:
        wanted = domains.take()
        result = subprocess.run(
            [sys.executable, '-m', 'urbanground_ros', 'eval', '--out', str(tmp_path)],
            env={**os.environ, 'ROS_DOMAIN_ID': str(wanted)},
            capture_output=True, text=True, timeout=120, check=False,
        )
    assert result.returncode == 1
    assert f'DDS domain {wanted}: another run on this machine uses it' in result.stderr
    assert 'Traceback' not in result.stderr
