# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Variants: which there are, what changes, and that they are read back."""

from dataclasses import replace
from pathlib import Path

import pytest

from urbanground_ros.sim.weather import check_scene
from urbanground_ros.tasks import Condition
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import TaskError
from urbanground_ros.tasks import with_condition
from urbanground_ros.tasks import with_dynamic_closure
from urbanground_ros.tasks import with_pedestrians
from urbanground_ros.tasks import write_tasks

CONDITIONS = [condition for condition in Condition if condition is not Condition.CLEAR]


@pytest.fixture(scope='module')
def tasks():
    return {task.id: task for task in read_tasks(Path(__file__).with_name('samples'))}


@pytest.mark.parametrize(
    ('condition', 'prefix', 'weather', 'hour'),
    [
        (Condition.RAINY, 'R', 'rainy', 12.0),
        (Condition.THUNDERSTORM, 'TS', 'thunderstorm', 12.0),
        (Condition.OVERCAST, 'OC', 'overcast', 12.0),
        (Condition.CLOUDY, 'CL', 'cloudy', 12.0),
        (Condition.EVENING, 'EV', 'sunny', 18.5),
        (Condition.NIGHT, 'NT', 'sunny', 23.5),
    ],
)
def test_conditions_over_questions_and_short_range(tasks, condition, prefix, weather, hour):
    for source, letter in (('LQ001', 'Q'), ('OQ001', 'Q'), ('SQ001', 'Q'), ('SN001', 'N')):
        task = replace(tasks[source], verification={'steps': 3}, evidence={'place': 1})
        variant = with_condition(task, condition)
        assert variant.id == f'{prefix}{letter}-{source}'
        assert variant.source == source
        scene = variant.scene(0)
        assert (scene.weather, scene.time_of_day) == (weather, hour * 3600)
        check_scene(scene)
        assert replace(variant, id=source, source='', condition=Condition.CLEAR,
                       verification={'steps': 3}) == task


def test_people_and_later_closures(tasks):
    among = with_pedestrians(tasks['LN001'])
    assert (among.id, among.kind) == ('PL-LN001', Kind.PEDESTRIANS)
    assert among == tasks['PL-LN001']
    later = with_dynamic_closure(tasks['CN001'])
    assert (later.id, later.kind) == ('DCR-CN001', Kind.DYNAMIC_CLOSURE)
    assert replace(later, description='') == replace(tasks['DCR-CN001'], description='')


def test_variants_are_read_back(tasks, tmp_path):
    variants = [with_condition(tasks[source], condition)
                for source in ('LQ001', 'OQ001', 'SQ001', 'SN001') for condition in CONDITIONS]
    variants += [with_pedestrians(tasks['LN001']), with_dynamic_closure(tasks['CN001'])]
    write_tasks(tmp_path / 'variants.json', variants)
    assert read_tasks(tmp_path / 'variants.json') == variants


@pytest.mark.parametrize('source', ['LN001', 'IN001', 'CN001', 'PS001', 'II001', 'SF001', 'MP001',
                                    'DCR-CN001', 'PL-LN001', 'PD001', 'NTQ-OQ001'])
def test_no_other_task_has_conditions(tasks, source):
    with pytest.raises(TaskError, match=f'task {source}: .* has no variant R[NQ], expected one'):
        with_condition(tasks[source], Condition.RAINY)


@pytest.mark.parametrize('vary', [with_pedestrians, with_dynamic_closure])
@pytest.mark.parametrize('source', ['SN001', 'LQ001', 'PL-LN001', 'DCR-CN001', 'SF001'])
def test_no_other_task_moves(tasks, vary, source):
    with pytest.raises(TaskError, match=f'task {source}: .* has no variant (PL|DCR)'):
        vary(tasks[source])


def test_clear_is_no_variant_and_ids_have_an_end(tasks):
    with pytest.raises(TaskError, match='condition is clear, expected one of rainy'):
        with_condition(tasks['SN001'], Condition.CLEAR)
    with pytest.raises(TaskError, match='expected up to 64 letters'):
        with_condition(replace(tasks['SN001'], id='SN' + '1' * 62), Condition.NIGHT)
