# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Velocity commands by simulated time: what holds when, and what never does."""

from __future__ import annotations

import math
from typing import Any

from geometry_msgs.msg import TwistStamped
import pytest
from rclpy.node import Node

from urbanground_ros.bridge.commands import CommandSource
from urbanground_ros.bridge.commands import STOP
from urbanground_ros.bridge.convert import to_time

SECOND = 1_000_000_000
NOW = 500 * SECOND


@pytest.fixture
def source(ros: Node) -> CommandSource:
    source = CommandSource(ros, stamped=True, silence=0.5)
    source.reset(NOW)
    return source


def give(source: CommandSource, stamp_ns: int, speed: float) -> None:
    message: Any = TwistStamped()
    message.header.stamp = to_time(stamp_ns)
    message.twist.linear.x = speed
    source._add(stamp_ns, message.twist)


def test_a_command_holds_from_its_stamp_until_silence(source: CommandSource) -> None:
    give(source, NOW + SECOND // 10, 1.0)
    assert source.at(NOW) == STOP
    assert source.at(NOW + SECOND // 10).linear_x == 1.0
    assert source.at(NOW + SECOND // 2).linear_x == 1.0
    assert source.at(NOW + SECOND) == STOP


@pytest.mark.parametrize('ahead', [10, 1_700_000_000])
def test_commands_from_the_future_are_dropped_and_stop_nobody(
    source: CommandSource, ahead: int
) -> None:
    for k in range(3):
        give(source, NOW + ahead * SECOND + k, 9.0)
    assert not source.wait(NOW, 0.01)
    give(source, NOW, 1.0)
    assert source.wait(NOW, 0.01)
    assert source.at(NOW).linear_x == 1.0


@pytest.mark.parametrize('speed', [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_are_dropped(source: CommandSource, speed: float) -> None:
    give(source, NOW, 1.0)
    give(source, NOW + 1, speed)
    assert source.at(NOW + 2).linear_x == 1.0


def test_a_command_without_a_stamp_is_given_when_it_is_asked_for(source: CommandSource) -> None:
    give(source, 0, 1.0)
    later = NOW + 3 * SECOND
    assert source.wait(later, 0.01)
    assert source.at(later).linear_x == 1.0
    assert source.at(later + SECOND // 4).linear_x == 1.0
    assert source.at(later + SECOND) == STOP
    assert not source.wait(later + SECOND, 0.01)
    give(source, 0, 1.0)
    source.reset(later + 2 * SECOND)
    assert not source.wait(later + 2 * SECOND, 0.01)


def test_a_new_episode_forgets_what_was_given_before_and_what_lies_ahead(
    source: CommandSource,
) -> None:
    give(source, NOW, 1.0)
    give(source, NOW + 2 * SECOND, 2.0)
    source.reset(NOW + SECOND)
    assert source.wait(NOW + SECOND, 0.01)
    source.reset(NOW - 10 * SECOND)
    assert not source.wait(NOW - 10 * SECOND, 0.01)


def test_a_flood_is_bounded(source: CommandSource) -> None:
    for k in range(5 * CommandSource.MOST):
        give(source, NOW + k, float(k))
    assert len(source._queue) == CommandSource.MOST
    assert source.at(NOW + SECOND // 10).linear_x == 5 * CommandSource.MOST - 1
