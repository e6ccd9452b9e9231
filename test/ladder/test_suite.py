# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The frame of the suite: ids, what does not change, what is kept, and bad input."""

import json
import os
import signal
import subprocess
import sys

import pytest

from urbanground_ros.cli import main
from urbanground_ros.ladder import generate
from urbanground_ros.ladder import PROPOSERS
from urbanground_ros.ladder.command import KINDS
from urbanground_ros.ladder.suite import build_suite
from urbanground_ros.tasks import Family
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import TaskError


def believe(context, task):
    """Take each candidate as proved: what is tried here is the frame."""
    return {'agent': 'none'}


def test_ids_go_through_the_regions(region, large, own_cache):
    tasks = generate(Kind.SHORT_RANGE, [region, large], 5, 0, believe)
    assert [(task.id, task.region) for task in tasks] == [
        ('SN001', 'ching_lam'), ('SN002', 'hoi_tin'), ('SN003', 'ching_lam'),
        ('SN004', 'hoi_tin'), ('SN005', 'ching_lam')]


@pytest.mark.parametrize('kind', [kind for kind in PROPOSERS if kind is not Kind.CONSTRAINED])
def test_fewer_are_the_first_of_more(large, own_cache, monkeypatch, request, kind):
    if kind.family is Family.QUESTION:
        request.getfixturevalue('eyes')
    few = generate(kind, [large], 2, 0, believe)
    many = generate(kind, [large], 5, 0, believe)
    assert many[:2] == few
    # From what is kept, and anew.
    assert generate(kind, [large], 2, 0, believe) == few
    monkeypatch.setattr('urbanground_ros.ladder.suite.cache_folder', lambda: own_cache / 'other')
    assert generate(kind, [large], 5, 0, believe) == many
    assert generate(kind, [large], 2, 1, believe) != few


def test_variants_are_those_of_their_sources(large, own_cache):
    sources = generate(Kind.LONG_RANGE, [large], 2, 0, believe)
    variants = generate(Kind.PEDESTRIANS, [large], 2, 0, believe)
    assert [task.id for task in variants] == ['PL-LN001', 'PL-LN002']
    assert [task.start for task in variants] == [task.start for task in sources]


def test_a_candidate_without_a_proof_is_replaced(large, own_cache):
    first, second = generate(Kind.SHORT_RANGE, [large], 2, 0, believe)

    def doubt(context, task):
        return None if task.start == first.start else {'agent': 'none'}
    (own_cache / 'ladder').rename(own_cache / 'away')
    (other,) = generate(Kind.SHORT_RANGE, [large], 1, 0, doubt)
    assert (other.id, other.start) == ('SN001', second.start)


def test_without_any_proof_there_is_one_clear_error(region, own_cache):
    tried = []
    with pytest.raises(TaskError, match='region ching_lam: 0 of 2 short_range tasks from 60 cand'):
        generate(Kind.SHORT_RANGE, [region], 2, 0, lambda _, task: tried.append(task))
    assert len(tried) == 60


def test_a_damaged_part_is_made_again(region, own_cache):
    tasks = generate(Kind.MULTI_STOP, [region], 2, 0, believe)
    (part,) = (own_cache / 'ladder').iterdir()
    part.write_bytes(part.read_bytes()[:-100])
    assert generate(Kind.MULTI_STOP, [region], 2, 0, believe) == tasks
    assert len(read_tasks(part)) == 2


def test_other_kinds_change_nothing_and_processes_neither(region, verify, own_cache, monkeypatch):
    alone = build_suite({Kind.SHORT_RANGE: 2}, ['ching_lam'], 0, lambda _: print)
    parts = []
    both = build_suite({Kind.PLACE_TYPE: 1, Kind.SHORT_RANGE: 2}, ['ching_lam'], 0,
                       lambda count: parts.append(count) or print)
    assert both[1:] == alone
    assert both[0].kind is Kind.PLACE_TYPE
    assert parts == [2]
    monkeypatch.setattr('urbanground_ros.ladder.suite.cache_folder', lambda: own_cache / 'other')
    assert generate(Kind.SHORT_RANGE, [region], 2, 0, verify) == alone


def test_the_command_generates_shows_verifies_and_exports(own_cache, tmp_path, capsys):
    file, again = tmp_path / 'tasks.json', tmp_path / 'again.json'
    words = ['tasks', 'generate', '--kinds', 'SN', '--count', '2', '--region', 'ching_lam']
    assert main([*words, '--out', str(file)]) == 0
    (own_cache / 'ladder').rename(own_cache / 'away')
    assert main([*words, '--out', str(again)]) == 0
    assert file.read_bytes() == again.read_bytes()
    capsys.readouterr()
    assert main(['tasks', 'show', str(file)]) == 0
    assert 'SN short_range          2    2' in capsys.readouterr().out
    assert main(['tasks', 'show', str(file), 'SN002']) == 0
    assert json.loads(capsys.readouterr().out)['id'] == 'SN002'
    assert main(['tasks', 'export', str(file), str(tmp_path / 'files')]) == 0
    assert read_tasks(tmp_path / 'files') == read_tasks(file)
    assert main(['tasks', 'verify', str(tmp_path / 'files')]) == 0
    assert '2 of 2 tasks are proved' in capsys.readouterr().out
    # Where the start is the goal's roof, or the goal is out of reach, there is no proof.
    data = json.loads((tmp_path / 'files' / 'SN001.json').read_text())
    data['endPoint']['height'] += 500.0
    data['endPoint']['lat'] += 0.1
    (tmp_path / 'files' / 'SN001.json').write_text(json.dumps(data))
    assert main(['tasks', 'verify', str(tmp_path / 'files')]) == 1
    captured = capsys.readouterr()
    assert '1 of 2 tasks are proved' in captured.out
    assert captured.err.endswith('error: no proof of SN001\n')


@pytest.mark.parametrize('kind', [
    Kind.VISUAL_RECOGNITION, Kind.ORIENTATION, Kind.ACTIVE_EXPLORATION])
def test_questions_are_part_of_it(kind, region, verify, own_cache, eyes):
    found = generate(kind, [region], 2, 5, verify)
    assert [task.id for task in found] == [f'{kind.prefix}001', f'{kind.prefix}002']
    for task in found:
        assert task.evidence['kind']
        assert task.verification['agent'] == 'oracle'
        assert task.verification['steps'] < 50


@pytest.mark.parametrize(('words', 'message'), [
    (['generate', '--kinds', 'SN,XY', '--out', 'f'], "kinds: 'XY' is unknown, expected some of "
     f'{", ".join(KINDS)}'),
    (['generate', '--kinds', 'SN,SN', '--out', 'f'], "kinds is 'SN,SN', expected different kinds"),
    (['generate', '--kinds', '', '--out', 'f'], "kinds is '', expected different kinds"),
    (['generate', '--region', 'nowhere', '--count', '1', '--kinds', 'SN', '--out', 'f'],
     "region 'nowhere' is neither"),
    (['show', 'nothing.json'], 'nothing.json: cannot be read: No such file'),
    (['show', 'test/tasks/samples/SN001.json', 'SN9'], "task 'SN9' is not there, expected one of"),
])
def test_bad_input_is_one_line(words, message, capsys):
    assert main(['tasks', *words]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f'error: {message}'), captured.err
    assert captured.err.count('\n') == 1


def test_after_an_interrupt_the_same_command_goes_on(tmp_path, region):
    file, cache = tmp_path / 'tasks.json', tmp_path / 'cache'
    # A cache of its own that has the district.
    cache.mkdir()
    (cache / 'districts').symlink_to(region.path.parents[1])
    command = [sys.executable, '-m', 'urbanground_ros', 'tasks', 'generate', '--kinds', 'PS,SN,MP',
               '--count', '4', '--region', 'ching_lam', '--out', str(file)]
    options = {'stderr': subprocess.PIPE, 'text': True,
               'env': {**os.environ, 'URBANGROUND_CACHE': str(cache)}}
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        first = process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert '1/3' in first
    assert rest.splitlines()[-1].startswith('interrupted; what is done is kept')
    assert 'Traceback' not in rest
    assert not file.exists()
    kept = {path: path.stat().st_mtime_ns for path in (cache / 'ladder').iterdir()}
    assert kept
    assert subprocess.run(command, check=False, **options).returncode == 0
    assert len(read_tasks(file)) == 12
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
