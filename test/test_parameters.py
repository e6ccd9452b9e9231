# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameter tables: strict values, unknown names, command-line options."""

import argparse

import pytest
import yaml

from urbanground_ros.parameters import add_arguments
from urbanground_ros.parameters import defaults
from urbanground_ros.parameters import Parameter
from urbanground_ros.parameters import ParameterError
from urbanground_ros.parameters import read_values
from urbanground_ros.resources import project_file

TABLE = (
    Parameter('port', 10000, 'a port', 0, 65535),
    Parameter('rate', 1.5, 'a rate', 0.0, 10.0),
    Parameter('pictures', True, 'a switch'),
    Parameter('track', 'vision', 'a choice', choices=('vision', 'robotics')),
    Parameter('out', 'runs', 'a folder'),
)


def test_defaults_and_given_values():
    values = read_values(TABLE, {'port': '8', 'rate': 3, 'pictures': 'false'}, 'here')
    assert values == {'port': 8, 'rate': 3.0, 'pictures': False, 'track': 'vision', 'out': 'runs'}


@pytest.mark.parametrize(('given', 'message'), [
    ({'prot': 1}, "here: parameter 'prot' is unknown, expected one of port, rate"),
    ({'port': 65536}, 'parameter port is 65536, expected a whole number from 0 to 65535'),
    ({'port': 1.5}, 'parameter port is 1.5, expected a whole number'),
    ({'port': True}, 'parameter port is True, expected a whole number'),
    ({'port': 'x'}, "parameter port is 'x', expected a whole number"),
    ({'rate': float('nan')}, 'parameter rate is nan, expected a number from 0 to 10'),
    ({'pictures': 'yes'}, "parameter pictures is 'yes', expected true or false"),
    ({'pictures': 1}, 'parameter pictures is 1, expected true or false'),
    ({'track': 'air'}, "parameter track is 'air', expected one of vision, robotics"),
    ({'out': 3}, 'parameter out is 3, expected text'),
])
def test_bad_values_are_told_in_one_line(given, message):
    with pytest.raises(ParameterError, match='parameter') as error:
        read_values(TABLE, given, 'here')
    assert message in str(error.value)


def test_options_read_as_the_table_says(capsys):
    parser = argparse.ArgumentParser()
    add_arguments(parser, TABLE)
    assert parser.parse_args(['--pictures', 'false', '--rate', '2']).rate == 2.0
    with pytest.raises(SystemExit):
        parser.parse_args(['--port', '70000'])
    assert 'expected a whole number from 0 to 65535' in capsys.readouterr().err


def test_the_shipped_file_has_every_parameter_of_the_bridge_at_its_default():
    from urbanground_ros.bridge.nodes.bridge import PARAMETERS
    file = yaml.safe_load(project_file('config/bridge.yaml').read_text())
    assert file == {'bridge': {'ros__parameters': defaults(PARAMETERS)}}
