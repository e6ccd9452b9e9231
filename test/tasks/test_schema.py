# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The released task format: what is read, what is refused, what is written."""

import json
import math

import pytest

from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.files import FileError
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import TaskError
from urbanground_ros.tasks import write_tasks

POINT = {'lat': 22.3, 'lon': 114.17, 'height': 12.5, 'yaw': 90.0, 'label': 'Here'}
TASK = {
    'id': 'SN001',
    'type': 0,
    'description': 'Walk there.',
    'startPoint': POINT,
    'endPoint': {**POINT, 'lat': 22.301},
}


def write(path, data):
    path.write_text(data if isinstance(data, str) else json.dumps(data), 'utf-8')
    return path


def test_released_task_is_read(tmp_path):
    for data in (TASK, {'task': TASK}, [TASK]):
        (task,) = read_tasks(write(tmp_path / 'task.json', data))
        assert task.id == 'SN001'
        assert task.kind is Kind.SHORT_RANGE
        assert task.start.yaw == 90.0
        assert task.start.point.altitude == 12.5
        assert task.goal.latitude == 22.301


def test_height_is_optional(tmp_path):
    point = {'lat': 22.3, 'lon': 114.17}
    (task,) = read_tasks(write(tmp_path / 't.json', {**TASK, 'endPoint': point}))
    assert math.isnan(task.goal.altitude)
    again = Task.from_json(json.loads(json.dumps(task.to_json(), allow_nan=False)), 'again')
    assert again.to_json() == task.to_json()


def test_written_tasks_are_read_back_the_same(tmp_path):
    extra = {'region': 'x', 'seed': 4, 'route_length': 80.0, 'verification': {'steps': 9}}
    tasks = read_tasks(write(tmp_path / 'a.json', {**TASK, 'urbanground': extra}))
    write_tasks(tmp_path / 'b.json', tasks)
    assert read_tasks(tmp_path / 'b.json') == tasks
    first = (tmp_path / 'b.json').read_bytes()
    write_tasks(tmp_path / 'b.json', tasks)
    assert (tmp_path / 'b.json').read_bytes() == first


@pytest.mark.parametrize(
    ('data', 'message'),
    [
        ('{', 'expected a JSON task file'),
        ('[]]', 'expected a JSON task file'),
        ('[]', 'no tasks, expected one or more'),
        ('[' * 100_000, 'nested too deeply'),
        ({**TASK, 'description': '\ud800'}, 'surrogates not allowed'),
        ({**TASK, 'id': 'SN' + '1' * 300}, 'expected up to 64 letters'),
        ({**TASK, 'type': False}, 'type False'),
        ({**TASK, 'urbanground': {'region': 5}}, 'region is 5'),
        ({**TASK, 'urbanground': {'seed': 2**70}}, 'expected a whole number from 0 to 2^63-1'),
        ({**TASK, 'urbanground': {'route_length': 'abc'}}, "route_length is 'abc'"),
        ({**TASK, 'urbanground': {'route_length': None}}, 'route_length is None'),
        ({**TASK, 'urbanground': {'verification': [1]}}, 'verification is [1]'),
        ([3], 'a task is int, expected an object'),
        ({**TASK, 'id': '../x'}, "id is '../x', expected up to 64 letters"),
        ({**TASK, 'id': 'SN 1'}, "id is 'SN 1', expected up to 64 letters"),
        ({**TASK, 'type': 9}, 'type 9 with this id prefix cannot be run'),
        ({**TASK, 'id': 'XX1'}, 'cannot be run, expected SN… with type 0'),
        ({**TASK, 'description': ' '}, "description is ' ', expected text"),
        ({**TASK, 'goal': 1}, "field 'goal' is unknown"),
        ({**TASK, 'endPoint': None}, 'endPoint is None, expected an object'),
        ({**TASK, 'endPoint': {**POINT, 'lat': 0, 'lon': 0}}, 'endPoint is 0,0'),
        (
            {**TASK, 'endPoint': {**POINT, 'lat': '22'}},
            "lat is '22', expected a number from -90 to 90",
        ),
        ({**TASK, 'endPoint': {**POINT, 'lat': True}}, 'lat is True'),
        ({**TASK, 'endPoint': {**POINT, 'alt': 1}}, "field 'alt' is unknown"),
        (json.dumps(TASK).replace('22.301', 'NaN'), 'NaN is no JSON number'),
        ({**TASK, 'urbanground': {'sede': 1}}, 'expected an object with region, route_length'),
        ({**TASK, 'urbanground': {'seed': -1}}, 'seed is -1'),
        ([TASK, TASK], 'task SN001 exists already'),
    ],
)
def test_bad_tasks_are_told_in_one_line(tmp_path, data, message):
    with pytest.raises(UrbanGroundError) as error:
        read_tasks(write(tmp_path / 'bad.json', data))
    assert message in str(error.value)
    assert 'bad.json' in str(error.value)
    assert '\n' not in str(error.value)


def test_missing_and_empty(tmp_path):
    with pytest.raises(FileError, match='No such file'):
        read_tasks(tmp_path / 'none.json')
    with pytest.raises(TaskError, match='no task files'):
        read_tasks(tmp_path)
    (tmp_path / 'latin.json').write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(FileError, match=r'latin\.json'):
        read_tasks(tmp_path)
