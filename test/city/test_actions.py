# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The action space: what is in it, and one line for what is not."""

import math

import pytest

from urbanground_ros.city import Action
from urbanground_ros.city import ActionError

GOOD = [
    {'name': 'move', 'direction': 'forward', 'seconds': 0.05},
    {
        'name': 'sprint',
        'direction': 'left',
        'seconds': 2,
        'yaw_rate': -180,
        'pitch_rate': 180.0,
        'jump': True,
        'jump_at': 2.0,
    },
    {'name': 'look', 'yaw': -180, 'pitch': 10},
    {'name': 'look'},
    {'name': 'jump'},
    {'name': 'open_map'},
    {'name': 'map_select', 'x': 0, 'y': 1},
    {'name': 'map_pan', 'east': -2000, 'north': 2000},
    {'name': 'map_zoom', 'factor': 0.25},
    {'name': 'map_orbit', 'yaw': 90, 'pitch': -10},
    {'name': 'close_map'},
    {'name': 'terminate'},
]
BAD = [
    ({}, 'action None is unknown'),
    ({'name': 'fly'}, "action 'fly' is unknown, expected one of move"),
    ({'name': 'jump', 'height': 2}, "field 'height' is unknown, it takes no fields"),
    ({'name': 'move', 'seconds': 1}, "field 'direction' is missing"),
    ({'name': 'move', 'direction': 'up', 'seconds': 1}, "direction is 'up', expected one of"),
    (
        {'name': 'move', 'direction': 'forward', 'seconds': 2.01},
        'expected a number from 0.05 to 2',
    ),
    ({'name': 'move', 'direction': 'forward', 'seconds': 0}, 'expected a number from 0.05 to 2'),
    (
        {'name': 'move', 'direction': 'forward', 'seconds': '1'},
        "seconds is '1', expected a number",
    ),
    ({'name': 'move', 'direction': 'forward', 'seconds': math.nan}, 'seconds is nan'),
    ({'name': 'move', 'direction': 'forward', 'seconds': True}, 'seconds is True'),
    ({'name': 'move', 'direction': 'forward', 'seconds': 1, 'jump': 1}, 'expected true or false'),
    (
        {'name': 'move', 'direction': 'forward', 'seconds': 1, 'jump': True, 'jump_at': 1.5},
        'jump_at is 1.5, expected at most its seconds 1',
    ),
    ({'name': 'look', 'yaw': 181}, 'yaw is 181, expected a number from -180 to 180'),
    ({'name': 'map_select', 'x': 0.5}, "field 'y' is missing"),
    ({'name': 'map_zoom', 'factor': 5}, 'factor is 5, expected a number from 0.25 to 4'),
    ({'name': 'map_pan', 'east': math.inf}, 'east is inf'),
]


@pytest.mark.parametrize('data', GOOD, ids=lambda d: '-'.join(map(str, d.values())))
def test_accepted_and_written_back(data):
    action = Action.from_dict(data)
    written = action.to_dict()
    assert {k: written[k] for k in data} == data
    assert Action.from_dict(written) == action


@pytest.mark.parametrize(('data', 'message'), BAD)
def test_refused_in_one_line(data, message):
    with pytest.raises(ActionError) as error:
        Action.from_dict(data)
    assert message in str(error.value)
    assert '\n' not in str(error.value)
