# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The released task format: what is read, what is refused, what is written."""

import json
import math
from pathlib import Path

from hypothesis import event
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from urbanground_ros.city import GeoPoint
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.files import FileError
from urbanground_ros.tasks import Condition
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import TaskError
from urbanground_ros.tasks import write_task_files
from urbanground_ros.tasks import write_tasks

SAMPLES = Path(__file__).with_name('samples')
START = GeoPoint(22.3012, 114.1702, 6.5, 'Start')
GOAL = GeoPoint(22.3031, 114.1725, 6.5, 'Library')


def sample(name):
    """The JSON values of a sample."""
    data = json.loads((SAMPLES / f'{name}.json').read_text())
    return data.get('task', data)


TASK = sample('SN001')
POINT = TASK['startPoint']


def write(path, data):
    path.write_text(data if isinstance(data, str) else json.dumps(data), 'utf-8')
    return path


@pytest.fixture(scope='module')
def tasks():
    return {task.id: task for task in read_tasks(SAMPLES)}


def test_there_is_a_sample_of_every_kind(tasks):
    assert {task.kind for task in tasks.values()} == set(Kind)
    for task in tasks.values():
        assert task.start.point == START
        assert task.start.yaw == 87.5
        assert task.description == sample(task.id)['description']


def test_counts_of_the_paper():
    levels = {level: sum(k.count for k in Kind if k.level == level) for level in range(1, 6)}
    assert levels == {1: 220, 2: 240, 3: 120, 4: 120, 5: 110}
    assert Kind.SHORT_RANGE_PEDESTRIANS.count == 0


def test_questions(tasks):
    assert tasks['LQ001'].options == ('A bakery', 'A bank', 'A pharmacy', 'A bookshop')
    assert tasks['LQ001'].answer == 2
    assert tasks['LQ001'].goal is None
    assert tasks['OQ001'].goal is None
    assert tasks['SQ001'].goal.label == 'Bus stop'
    assert all(tasks[name].markers == () for name in ('LQ001', 'OQ001', 'SQ001'))
    with pytest.raises(TaskError, match='task LQ001: a visual_recognition task has no goal'):
        _ = tasks['LQ001'].destination


@pytest.mark.parametrize('name', ['SN001', 'LN001', 'IN001', 'CN001', 'PL-LN001', 'PD001'])
def test_goals(tasks, name):
    assert tasks[name].destination == GOAL
    assert tasks[name].markers == (GOAL,)
    assert tasks[name].clock is None


def test_closures_are_disclosed_from_the_start_or_later(tasks):
    first, second = tasks['CN001'].closures
    assert (first.label, len(first.points), len(second.points)) == ('Works', 3, 2)
    assert tasks['DCR-CN001'].closures == (first, second)
    assert tasks['CN001'].scene(30).closures == (first, second)
    assert tasks['DCR-CN001'].scene(30).closures == ()


def test_number_12_stands_for_two_kinds(tasks):
    assert tasks['DCR-CN001'].kind is Kind.DYNAMIC_CLOSURE
    assert tasks['II001'].kind is Kind.IMPLICIT_INTENT
    assert tasks['II001'].minutes == 10.0
    assert tasks['II001'].category == 'Pharmacy'
    assert tasks['II001'].goal == GOAL
    assert tasks['II001'].markers == ()


def test_a_search_has_a_category_and_no_goal(tasks):
    assert tasks['PS001'].category == 'Pharmacy'
    assert tasks['PS001'].goal is None
    assert tasks['PS001'].markers == ()


def test_a_schedule_has_deadlines_and_a_running_clock(tasks):
    task = tasks['SF001']
    assert [stop.deadline / 60 for stop in task.stops] == [570, 605, 840]
    assert [point.label for point in task.markers] == ['Bank', 'Cinema', 'Library']
    scene = task.scene(0)
    assert task.clock == scene.time_of_day == 33_000
    assert scene.time_scale == 1.0


def test_stops_in_any_order(tasks):
    stops = tasks['MP001'].stops
    assert [(s.kind, s.category, s.note) for s in stops] == [
        ('poi', 'Bank', ''), ('0', 'Cinema', 'Majestic'), ('place', '', 'Library')]
    assert tasks['MP001'].markers == tuple(stop.point for stop in stops)
    assert all(stop.deadline is None for stop in stops)
    assert tasks['MP001'].scene(0).time_scale == 0.0


def test_scene_of_conditions_and_people(tasks):
    scene = tasks['SN001'].scene(30)
    assert (scene.weather, scene.time_of_day, scene.pedestrians) == ('sunny', 12 * 3600, 0)
    assert tasks['PL-LN001'].scene(30).pedestrians == 30
    assert tasks['PD001'].scene(30).pedestrians == 30
    night = tasks['NTQ-OQ001']
    assert (night.kind, night.condition) == (Kind.ORIENTATION, Condition.NIGHT)
    assert night.scene(30).time_of_day == 23.5 * 3600


@pytest.mark.parametrize('name', sorted(path.stem for path in SAMPLES.glob('*.json')))
def test_released_fields_are_written_as_they_were_read(tasks, name):
    written = tasks[name].to_json()
    del written['urbanground']
    told = sample(name)
    for unused in ('closureDelayMinutes', 'restrictedZones', 'schedule', 'startPoint', 'endPoint',
                   'exploreDurationMinutes', 'poiCategory', 'sourceTaskId'):
        # Of the editor's one shape only what the kind uses is written.
        if unused not in written or unused == 'closureDelayMinutes':
            told.pop(unused, None)
            written.pop(unused, None)
    if name == 'MP001':
        told['multiRouteTargets'][1]['kind'] = '0'
    assert written == told


def test_what_is_written_is_read_back_the_same(tasks, tmp_path):
    write_tasks(tmp_path / 'all.json', tasks.values())
    first = (tmp_path / 'all.json').read_bytes()
    again = read_tasks(tmp_path / 'all.json')
    assert again == list(tasks.values())
    write_tasks(tmp_path / 'all.json', again)
    assert (tmp_path / 'all.json').read_bytes() == first
    write_task_files(tmp_path / 'each', again)
    assert {path.stem for path in (tmp_path / 'each').iterdir()} == set(tasks)
    assert read_tasks(tmp_path / 'each') == sorted(again, key=lambda task: f'{task.id}.json')


def test_additions_are_kept(tmp_path):
    extra = {'region': 'x', 'seed': 4, 'route_length': 80.0, 'evidence': {'place': [1, 'a']},
             'verification': {'steps': 9}}
    (task,) = read_tasks(write(tmp_path / 'a.json', {**TASK, 'urbanground': extra}))
    assert task.evidence == {'place': [1, 'a']}
    assert task.to_json()['urbanground'] == extra
    assert Task.from_json(task.to_json(), 'again') == task


def test_wrapped_listed_and_marked_files(tmp_path):
    for data in ({'task': TASK}, [TASK], [{'task': TASK}], '\ufeff' + json.dumps(TASK)):
        (task,) = read_tasks(write(tmp_path / 'task.json', data))
        assert task.id == 'SN001'


def test_height_is_optional(tmp_path):
    point = {'lat': 22.3, 'lon': 114.17}
    (task,) = read_tasks(write(tmp_path / 't.json', {**TASK, 'endPoint': point}))
    assert math.isnan(task.goal.altitude)
    again = Task.from_json(json.loads(json.dumps(task.to_json(), allow_nan=False)), 'again')
    assert again.to_json() == task.to_json()


@pytest.mark.parametrize('words', ['Soon.', 'At 10:00 and 11:00.'])
def test_a_schedule_without_a_time_for_each_stop_has_an_order_alone(tmp_path, words):
    data = {**sample('SF001'), 'description': words}
    data.pop('urbanground', None)
    (task,) = read_tasks(write(tmp_path / 't.json', data))
    assert [stop.deadline for stop in task.stops] == [None] * 3
    assert Task.from_json(task.to_json(), 'again') == task


def test_own_deadlines_and_clock_go_before_the_words(tmp_path):
    extra = {'deadlines': [36_000, 36_000.5, 40_000], 'clock': 0}
    (task,) = read_tasks(
        write(tmp_path / 't.json', {**sample('SF001'), 'description': 'Soon.',
                                    'urbanground': extra}))
    assert [stop.deadline for stop in task.stops] == [36_000.0, 36_000.5, 40_000.0]
    assert task.clock == 0.0


def changed(name, **fields):
    return {**sample(name), **fields}


def without(name, field):
    return {key: value for key, value in sample(name).items() if key != field}


@pytest.mark.parametrize(
    ('data', 'message'),
    [
        ('', 'is empty, expected a JSON task file'),
        (' \n', 'is empty'),
        ('{', 'expected a JSON task file'),
        ('[]]', 'expected a JSON task file'),
        ('[]', 'no tasks, expected one or more'),
        ('[' * 100_000, 'nested too deeply'),
        ('{"id": 1, "type": 0, "id": "SN001"}', "key 'id' is there twice"),
        (json.dumps(TASK).replace('22.3031', 'NaN'), 'NaN is no JSON number'),
        (json.dumps(TASK).replace('22.3031', '-Infinity'), '-Infinity is no JSON number'),
        (json.dumps(TASK).replace('22.3031', '1e999'), 'lat is inf, expected a number'),
        (json.dumps(TASK).replace('22.3031', '9' * 5000), 'limit (4300 digits)'),
        (changed('SN001', description='\ud800'), 'surrogates not allowed'),
        # What a task is.
        ([3], 'a task is int, expected an object'),
        ([[TASK]], 'a task is list, expected an object'),
        ({'task': [TASK]}, 'a task is list, expected an object'),
        ({'task': {'task': TASK}}, 'id is None, expected up to 64 letters'),
        ([TASK, TASK], 'task SN001 exists already'),
        # Which task it is.
        (without('SN001', 'id'), 'id is None, expected up to 64 letters'),
        (changed('SN001', id='SN' + '1' * 300), 'expected up to 64 letters'),
        (changed('SN001', id='../x'), "id is '../x', expected up to 64 letters"),
        (changed('SN001', id='SN 1'), "id is 'SN 1', expected up to 64 letters"),
        (changed('SN001', id='sn001'), "id begins with 'sn', expected one of LQ, OQ"),
        (changed('SN001', id='XX1'), "id begins with 'XX', expected one of LQ, OQ"),
        (changed('SN001', id='001'), "id begins with '', expected one of LQ, OQ"),
        (without('SN001', 'type'), 'type is None, expected 0 with an id that begins with SN'),
        (changed('SN001', type=False), 'type is False, expected 0'),
        (changed('SN001', type=0.0), 'type is 0.0, expected 0'),
        (changed('SN001', type='0'), "type is '0', expected 0"),
        (changed('SN001', type=9), 'type is 9, expected 0 with an id that begins with SN'),
        (changed('CN001', type=12), 'type is 12, expected 11'),
        (changed('SN001', id='RN-LN001', type=2), 'type is 2, expected 0'),
        (changed('LQ001', id='RQ-SN001', type=0), 'type is 0, expected 7 or 8 or 9'),
        # Fields of all kinds.
        (changed('SN001', description=' '), "description is ' ', expected text"),
        (without('SN001', 'description'), 'description is missing, expected text'),
        (changed('SN001', goal=1), "field 'goal' is unknown"),
        (changed('SN001', sourceTaskId=7), 'sourceTaskId is 7, expected text'),
        (without('SN001', 'startPoint'), 'startPoint is missing, expected an object with lat'),
        (changed('SN001', endPoint=None), 'endPoint is None, expected an object with lat'),
        (changed('SN001', endPoint=[POINT]), 'expected an object with lat'),
        (changed('SN001', endPoint={**POINT, 'lat': 0, 'lon': 0}), 'endPoint is 0,0'),
        (changed('SN001', endPoint={**POINT, 'lat': '22'}),
         "endPoint: lat is '22', expected a number from -90 to 90"),
        (changed('SN001', endPoint={**POINT, 'lat': True}), 'lat is True'),
        (changed('SN001', endPoint={**POINT, 'lon': 181}), 'lon is 181'),
        (changed('SN001', endPoint={**POINT, 'height': None}), 'height is None'),
        (changed('SN001', endPoint={**POINT, 'label': 3}), 'label is 3, expected text'),
        (changed('SN001', endPoint={**POINT, 'alt': 1}), "endPoint: field 'alt' is unknown"),
        (changed('SN001', endPoint={'lat': 22.3}), 'endPoint: lon is missing'),
        # Additions.
        (changed('SN001', urbanground=1), 'urbanground is 1, expected an object'),
        (changed('SN001', urbanground={'sede': 1}), "urbanground: field 'sede' is unknown"),
        (changed('SN001', urbanground={'seed': -1}), 'seed is -1'),
        (changed('SN001', urbanground={'seed': 2**70}), 'whole number from 0 to 922337203685477'),
        (changed('SN001', urbanground={'region': 5}), 'region is 5'),
        (changed('SN001', urbanground={'route_length': 'abc'}), "route_length is 'abc'"),
        (changed('SN001', urbanground={'route_length': None}), 'route_length is None'),
        (changed('SN001', urbanground={'verification': [1]}), 'verification is [1]'),
        (json.dumps(changed('SN001', urbanground={'evidence': {'x': 'y'}})).replace(
            '"y"', '1e999'), 'expected an object of finite values'),
        # Questions.
        (without('LQ001', 'qaOptions'), 'qaOptions is missing, expected a list'),
        (changed('LQ001', qaOptions=[{'text': t} for t in 'abc']), 'a list of 4 or more objects'),
        (changed('LQ001', qaOptions=[{'text': t} for t in 'abcde']), 'expected 4 different texts'),
        (changed('LQ001', qaOptions=[{'text': t} for t in ('a', 'b', 'c', 'a ')]),
         'expected 4 different texts'),
        (changed('LQ001', qaOptions=[{'text': t} for t in ('a', 'b', 'c', ' ')]),
         "qaOptions[3]: text is ' ', expected text"),
        (changed('LQ001', qaOptions=list('abcd')), "qaOptions[0] is 'a', expected an object"),
        (changed('LQ001', qaAnswerIndex=4), 'qaAnswerIndex is 4, expected a whole number from 0'),
        (changed('LQ001', qaAnswerIndex=-1), 'qaAnswerIndex is -1'),
        (changed('LQ001', qaAnswerIndex=True), 'qaAnswerIndex is True'),
        (without('LQ001', 'qaAnswerIndex'), 'qaAnswerIndex is missing'),
        (changed('LQ001', endPoint={'lat': False, 'lon': 0}), 'endPoint: lat is False'),
        # Closures.
        (changed('CN001', restrictedZones=[]), 'restrictedZones is [], expected a list of 1'),
        (without('DCR-CN001', 'restrictedZones'), 'restrictedZones is missing'),
        (changed('CN001', restrictedZones=[{'label': '', 'vertices': [POINT]}]),
         'restrictedZones[0]: vertices is'),
        (changed('CN001', restrictedZones=[{'label': '', 'vertices': [POINT, {**POINT, 'lat': 0,
                                                                             'lon': 0}]}]),
         'restrictedZones[0]: vertices[1] is 0,0'),
        # Search, exploration, schedule, visits.
        (changed('PS001', poiCategory=''), "poiCategory is '', expected text"),
        (without('PS001', 'searchOrigin'), 'searchOrigin is missing'),
        (without('II001', 'exploreDurationMinutes'), 'exploreDurationMinutes is missing'),
        (changed('II001', exploreDurationMinutes='5'), "exploreDurationMinutes is '5'"),
        (changed('SF001', schedule=[]), 'schedule is [], expected a list of 1 or more objects'),
        (changed('SF001', schedule={}), 'schedule is {}'),
        (changed('SF001', schedule=[{}]), 'schedule[0]: target is missing'),
        (changed('SF001', description='At 10:00, 12:00 and 11:00.'),
         'times of the schedule are 10:00, 12:00, 11:00, expected them in order, in the descript'),
        (changed('SF001', urbanground={'deadlines': [1, 2]}),
         'urbanground: deadlines is [1, 2], expected a list of 3 numbers'),
        (changed('SF001', urbanground={'deadlines': [1, 2, '3']}), "deadlines[2] is '3'"),
        (changed('SF001', urbanground={'clock': 86_400}), 'clock is 86400'),
        (changed('MP001', multiRouteTargets=[]), 'multiRouteTargets is []'),
        (changed('MP001', multiRouteTargets=[{'kind': 1.5, 'point': POINT}]), 'kind is 1.5'),
        (changed('MP001', multiRouteTargets=[{'kind': 'x'}]), 'point is missing'),
    ],
)
def test_bad_tasks_are_told_in_one_line(tmp_path, data, message):
    with pytest.raises(UrbanGroundError) as error:
        read_tasks(write(tmp_path / 'bad.json', data))
    assert message in str(error.value)
    assert 'bad.json' in str(error.value)
    assert '\n' not in str(error.value)
    assert len(str(error.value)) < 700


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (json.dumps(TASK).encode('utf-16'), 'byte 0 is not UTF-8'),
        ('{"id": "\xe9"}'.encode('latin-1'), 'byte 8 is not UTF-8'),
        (b'', 'is empty'),
        (b'\xef\xbb\xbf', 'is empty'),
    ],
)
def test_other_encodings_are_told(tmp_path, content, message):
    (tmp_path / 'x.json').write_bytes(content)
    with pytest.raises(FileError, match=rf'x\.json: {message}.*, expected a JSON task file'):
        read_tasks(tmp_path)


def test_what_is_no_task_file(tmp_path):
    with pytest.raises(FileError, match='No such file'):
        read_tasks(tmp_path / 'none.json')
    with pytest.raises(TaskError, match='no task files'):
        read_tasks(tmp_path)
    (tmp_path / 'folder.json').mkdir()
    with pytest.raises(FileError, match='Is a directory'):
        read_tasks(tmp_path)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    with (tmp_path / 'large.json').open('wb') as file:
        file.truncate(2**40)
    with pytest.raises(FileError, match=r'large\.json: is larger than 67108864 bytes'):
        read_tasks(tmp_path)


def test_no_two_tasks_of_an_id_are_written(tasks, tmp_path):
    twice = [tasks['SN001'], Task.from_json(TASK, 'copy')]
    for write_to in (write_tasks, write_task_files):
        with pytest.raises(TaskError, match='task SN001 is to be written twice'):
            write_to(tmp_path / 'x', twice)
    assert not list(tmp_path.iterdir())


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner,
                                                                max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=60) | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_refused_in_one_line(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / 'any.json'
    path.write_bytes(content)
    with pytest.raises(UrbanGroundError) as error:
        read_tasks(path)
    assert isinstance(error.value, (TaskError, FileError))
    assert '\n' not in str(error.value)


def places(value, path=()):
    """Return the way to every value within a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) \
        if isinstance(value, list) else ()
    return [path, *(way for key, each in inner for way in places(each, (*path, key)))]


@settings(max_examples=400)
@given(st.data())
def test_one_wrong_value_anywhere_is_read_or_told(data):
    name = data.draw(st.sampled_from(sorted(path.stem for path in SAMPLES.glob('*.json'))))
    values = [sample(name)]
    *way, last = data.draw(st.sampled_from(places(values)[1:]))
    spoiled = values
    for key in way:
        spoiled = spoiled[key]
    spoiled[last] = data.draw(JSON_VALUES)
    try:
        task = Task.from_json(values[0], 'here')
    except TaskError as error:
        told = str(error)
        event('told')
    else:
        told = ''
        event('read')
        written = json.dumps(task.to_json(), allow_nan=False)
        assert Task.from_json(json.loads(written), 'again').to_json() == task.to_json()
    assert '\n' not in told
