# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The evaluation: the same bytes in process and through ROS, resumed, isolated, honest."""

from __future__ import annotations

from contextlib import closing
import io
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time

import numpy as np
from PIL import Image
import pytest
from rclpy.context import Context
from rclpy.node import Node

from urbanground_ros.evaluate.domains import Domains
from urbanground_ros.evaluate.picture import EpisodePictures
from urbanground_ros.evaluate.prepare import generate_verified
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import read_record
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import write_tasks

PROGRAM = (sys.executable, '-m', 'urbanground_ros')


@pytest.fixture(scope='module')
def tasks(region, tmp_path_factory) -> Path:
    """Three verified tasks."""
    path = tmp_path_factory.mktemp('tasks') / 'tasks.json'
    write_tasks(path, generate_verified(region, 3, 7))
    return path


def evaluate(*arguments, timeout=300, **options):
    return subprocess.run(
        [*PROGRAM, 'eval', *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **options,
    )


def records(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / 'episodes').glob('*.json'))}


@pytest.fixture(scope='module')
def in_process(tasks, tmp_path_factory):
    """Records of the scripted agents in one process."""
    out = tmp_path_factory.mktemp('in_process')
    result = evaluate(
        '--in-process',
        '--agents',
        'oracle,straight,random',
        '--tasks',
        str(tasks),
        '--out',
        str(out),
        '--pictures',
        'false',
        '--max-steps',
        '40',
    )
    assert result.returncode == 0, result.stderr
    return out, result.stdout


def test_generated_tasks_are_reproducible_and_proved(region, tasks):
    again = generate_verified(region, 3, 7)
    assert again == read_tasks(tasks)
    assert all(task.verification['steps'] <= 100 for task in again)
    assert generate_verified(region, 2, 8) != again[:2]


def test_table_and_report_are_made_from_the_records(in_process):
    out, table = in_process
    assert len(records(out)) == 9
    oracle = next(line for line in table.splitlines() if line.startswith('oracle'))
    assert '3/3' in oracle
    assert '100%' in oracle
    page = (out / 'report.html').read_text()
    assert page.count('<figure>') == 9
    assert page.count('data:image/png;base64,iVBOR') == 9
    assert 'http://' not in page
    assert 'https://' not in page


def test_a_goal_without_a_height_is_drawn_where_it_is(in_process, region):
    record = read_record(next((in_process[0] / 'episodes').glob('*.json')))
    pictures = EpisodePictures(region)
    drawn = pictures.draw(record)
    del record['task']['endPoint']['height']
    # The level that it is taken to be on moves it by parts of a millimetre.
    with Image.open(io.BytesIO(drawn)) as one, Image.open(
            io.BytesIO(pictures.draw(record))) as other:
        assert np.abs(np.asarray(one, float) - np.asarray(other, float)).mean() < 0.1


def test_through_ros_the_bytes_are_the_same(in_process, tasks, tmp_path):
    result = evaluate(
        '--agents',
        'oracle,straight,random',
        '--tasks',
        str(tasks),
        '--out',
        str(tmp_path),
        '--pictures',
        'false',
        '--max-steps',
        '40',
    )
    assert result.returncode == 0, result.stderr
    assert records(tmp_path) == records(in_process[0])
    assert result.stdout.split('report:')[0] == in_process[1].split('report:')[0]


def test_a_second_call_runs_nothing_again_and_a_cut_record_is_mended(in_process, tasks):
    out, _ = in_process
    whole = records(out)
    victim = out / 'episodes' / next(iter(whole))
    victim.write_bytes(victim.read_bytes()[:-100])
    times = {p.name: p.stat().st_mtime_ns for p in (out / 'episodes').iterdir()}
    result = evaluate(
        '--in-process',
        '--agents',
        'oracle,straight,random',
        '--tasks',
        str(tasks),
        '--out',
        str(out),
        '--pictures',
        'false',
        '--max-steps',
        '40',
    )
    assert result.returncode == 0
    assert '8 of 9 episodes are there already' in result.stderr
    assert records(out) == whole
    after = {p.name: p.stat().st_mtime_ns for p in (out / 'episodes').iterdir()}
    assert [name for name in times if times[name] != after[name]] == [victim.name]


def test_records_score_again_to_the_same_digits(in_process):
    out, _ = in_process
    result = subprocess.run(
        [*PROGRAM, 'score', str(out / 'episodes')], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert '9 records, 0 with other digits' in result.stdout


def test_a_record_that_cannot_be_scored_is_told_and_the_rest_goes_on(in_process, tmp_path):
    out, _ = in_process
    for path in (out / 'episodes').glob('*.json'):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / 'damaged.json').write_text('{')
    records = len(list(tmp_path.glob('*.json'))) - 1
    result = subprocess.run(
        [*PROGRAM, 'score', str(tmp_path)], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert 'damaged.json' in line
    assert f'{records} records, 0 with other digits; 1 could not be scored' in result.stdout


def test_a_stack_is_scored_by_the_same_rules_and_repeats(tasks, tmp_path):
    one = tmp_path / 'one.json'
    write_tasks(one, read_tasks(tasks)[:1])
    for name in ('a', 'b'):
        result = evaluate(
            '--agents',
            'stack',
            '--tasks',
            str(one),
            '--out',
            str(tmp_path / name),
            '--pictures',
            'false',
            '--max-seconds',
            '20',
        )
        assert result.returncode == 0, result.stderr
    first, second = records(tmp_path / 'a'), records(tmp_path / 'b')
    assert first == second
    (record,) = map(json.loads, first.values())
    assert record['track'] == 'robotics'
    assert record['outcome'] in (Outcome.SUCCEEDED, Outcome.TRUNCATED)
    assert record['metrics']['path_length_sampled'] > 5.0


@pytest.mark.parametrize(
    'command', ['false', f'{sys.executable} -c "raise SystemExit(\'no map\')"']
)
def test_a_stack_that_dies_is_an_agent_error(tasks, tmp_path, command):
    one = tmp_path / 'one.json'
    write_tasks(one, read_tasks(tasks)[:1])
    result = evaluate(
        '--agents',
        'stack',
        '--stack-command',
        command,
        '--tasks',
        str(one),
        '--out',
        str(tmp_path / 'out'),
        '--pictures',
        'false',
    )
    assert result.returncode == 0, result.stderr
    (record,) = map(json.loads, records(tmp_path / 'out').values())
    assert record['outcome'] == Outcome.AGENT_ERROR
    assert 'ended with status 1' in record['reason']


def test_a_failure_of_the_agent_is_run_again_when_asked_to(tasks, tmp_path):
    one = tmp_path / 'one.json'
    write_tasks(one, read_tasks(tasks)[:1])
    script = tmp_path / 'stack.py'
    script.write_text('raise SystemExit("no map")')

    def run(*options):
        return evaluate('--agents', 'stack', '--stack-command', f'python {script}', '--tasks',
                        str(one), '--out', str(tmp_path / 'out'), '--pictures', 'false',
                        '--max-seconds', '1', *options)
    assert 'agent error' in run().stdout
    first = records(tmp_path / 'out')
    # `python` is the interpreter of this environment, in which the stack finds rclpy.
    script.write_text('import rclpy, time; time.sleep(100)')
    result = run()
    assert '--retry true runs these again' in result.stderr
    assert records(tmp_path / 'out') == first
    result = run('--retry', 'true', '--agent-timeout', '3')
    assert result.returncode == 0
    assert 'no word of the agent for 3 s' in result.stderr


def test_agent_domain_shows_the_door_alone(tasks, tmp_path):
    """While an episode runs, the agent's domain has task, observation, act and answer."""
    slow = f'{sys.executable} -c "import time; time.sleep(60)"'
    with closing(Domains()) as domains:
        world = domains.take()
    process = subprocess.Popen(
        [
            *PROGRAM,
            'eval',
            '--agents',
            'stack',
            '--stack-command',
            slow,
            '--tasks',
            str(tasks),
            '--out',
            str(tmp_path / 'out'),
            '--pictures',
            'false',
            '--domain',
            str(world),
        ],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        inside = agent_domain(process)
        topics, services = look_into(inside, 'door')
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(30)
    assert topics == {'/task', '/observation', '/act/_action/feedback', '/act/_action/status'}
    assert services == {
        '/answer',
        '/act/_action/send_goal',
        '/act/_action/cancel_goal',
        '/act/_action/get_result',
    }


def agent_domain(process):
    """Read the door's domain from the command line of the evaluation's episode node."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        children = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
        for child in children:
            words = Path(f'/proc/{child}/cmdline').read_bytes().decode().split('\0')
            for word in words:
                if word.startswith('agent_domain:='):
                    return int(word.partition(':=')[2])
        time.sleep(0.1)
    raise AssertionError('no episode node')


def look_into(domain, name):
    """Return topics and services of a domain once a node of a name is there."""
    context = Context()
    context.init(domain_id=domain)
    node = Node('spy', context=context, enable_rosout=False, start_parameter_services=False)
    try:
        deadline = time.monotonic() + 60
        while name not in node.get_node_names():
            assert time.monotonic() < deadline, f'no node {name}'
            time.sleep(0.1)
        time.sleep(2.0)
        own = {'/spy/get_type_description'}
        topics = {t for t, _ in node.get_topic_names_and_types()}
        services = {s for s, _ in node.get_service_names_and_types()} - own
        return topics - {'/parameter_events'}, services
    finally:
        node.destroy_node()
        context.try_shutdown()


def test_a_city_that_dies_is_told_and_nothing_is_lost(tasks, tmp_path):
    process = subprocess.Popen(
        [
            *PROGRAM,
            'eval',
            '--agents',
            'random',
            '--tasks',
            str(tasks),
            '--out',
            str(tmp_path),
            '--pictures',
            'false',
        ],
        start_new_session=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True)
    reader.start()
    deadline = time.monotonic() + 120
    while not list((tmp_path / 'episodes').glob('*.json')) and time.monotonic() < deadline:
        time.sleep(0.05)
    for child in Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split():
        if b'\0city\0' in Path(f'/proc/{child}/cmdline').read_bytes():
            os.kill(int(child), signal.SIGKILL)
    assert process.wait(90) == 1
    reader.join(5)
    errors = [line for line in lines if line.startswith('error')]
    assert any('city ended with status -9' in line for line in errors), lines
    assert not any('Traceback' in line for line in lines)
    kept = list((tmp_path / 'episodes').glob('*.json'))
    assert kept
    assert all(read_record(path)['outcome'] != Outcome.CITY_ERROR for path in kept)


def test_two_runs_never_share_a_folder(in_process, tasks):
    out, _ = in_process
    import fcntl

    with (out / '.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = evaluate(
            '--in-process',
            '--agents',
            'oracle',
            '--tasks',
            str(tasks),
            '--out',
            str(out),
            '--pictures',
            'false',
        )
    assert result.returncode == 1
    assert 'another run writes here' in result.stderr


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (('--stack-name', '../../evil'), "stack_name is '../../evil'"),
        (('--stack-command', 'foo "bar'), 'stack_command is'),
        (('--out', '/proc/x'), '/proc/x: cannot be written'),
        (('--out', __file__), 'cannot be written'),
    ],
)
def test_bad_options_are_one_line(tasks, options, message):
    result = evaluate('--agents', 'stack', '--tasks', str(tasks), *options)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert message in line


def test_a_task_of_an_unknown_region_is_told_in_process_too(tasks, tmp_path):
    values = read_tasks(tasks)[0].to_json()
    values['urbanground']['region'] = 'atlantis'
    (tmp_path / 'one.json').write_text(json.dumps(values))
    result = evaluate('--in-process', '--agents', 'straight', '--tasks',
                      str(tmp_path / 'one.json'), '--out', str(tmp_path / 'out'))
    assert result.returncode == 1
    assert "region 'atlantis' is neither" in result.stderr


def test_a_stack_is_not_given_what_it_cannot_be_told(tmp_path):
    samples = Path(__file__).parents[1] / 'tasks' / 'samples'
    result = evaluate('--agents', 'stack', '--tasks', str(samples), '--out', str(tmp_path))
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert 'task II001: kind is implicit_intent, expected one that gives' in line


def test_what_is_no_result_is_run_again_and_pictures_are_mended(tasks, tmp_path):
    def run():
        return evaluate('--in-process', '--agents', 'straight', '--tasks', str(tasks), '--out',
                        str(tmp_path), '--pictures', 'false', '--max-steps', '5')
    assert run().returncode == 0
    whole = records(tmp_path)
    first, second, third = sorted((tmp_path / 'episodes').glob('*.json'))
    record = json.loads(first.read_text())
    first.write_text(json.dumps({**record, 'outcome': int(Outcome.CITY_ERROR)}))
    second.write_text(json.dumps({'schema': record['schema']}))
    picture = tmp_path / 'pictures' / f'{third.stem}.png'
    drawn = picture.read_bytes()
    picture.unlink()
    result = run()
    assert result.returncode == 0, result.stderr
    assert '1 of 3 episodes are there already' in result.stderr
    assert records(tmp_path) == whole
    assert picture.read_bytes() == drawn
