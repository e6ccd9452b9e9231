# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The evaluation under the real launch: it ends by itself, and all its processes with it."""

from contextlib import closing
from pathlib import Path
import tempfile
import unittest

import pytest

pytest.importorskip(
    'launch_testing', reason='launch_testing is not installed here: a ROS 2 installation has it'
)

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing import post_shutdown_test
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import assertExitCodes

from urbanground_ros.evaluate.domains import Domains

LAUNCH = Path(__file__).resolve().parents[1] / 'launch' / 'eval.launch.py'


@pytest.mark.launch_test
def generate_test_description():
    """Describe an evaluation of the oracle on one task, in a domain of its own."""
    out = tempfile.TemporaryDirectory()
    with closing(Domains()) as domains:
        domain = domains.take()
    evaluation = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH)),
        launch_arguments={
            'agents': 'oracle',
            'count': '1',
            'pictures': 'false',
            'domain': str(domain),
            'out': out.name,
        }.items(),
    )
    return LaunchDescription([evaluation, ReadyToTest()]), {'out': out}


class TestWhileItRuns(unittest.TestCase):
    def test_the_runner_ends_by_itself(self, proc_info):
        proc_info.assertWaitForShutdown(process='runner', timeout=120)


@post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_the_table_shows_one_of_one(self, out):
        oracle = (Path(out.name) / 'table.txt').read_text().splitlines()[-1].split()
        assert oracle[:3] == ['oracle', 'vision', '1/1']

    def test_every_process_ends_with_status_0(self, proc_info):
        assert len(proc_info.process_names()) == 5
        assertExitCodes(proc_info)
