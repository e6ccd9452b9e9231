# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Episodes: the rules of one attempt at one task, on any city."""

from urbanground_ros.episode.context import RegionContext
from urbanground_ros.episode.context import Regions
from urbanground_ros.episode.observation import Observation
from urbanground_ros.episode.observation import TaskBrief
from urbanground_ros.episode.rules import check_drivable
from urbanground_ros.episode.rules import Episode
from urbanground_ros.episode.rules import EpisodeSink
from urbanground_ros.episode.rules import RecorderSink

__all__ = [
    'Episode',
    'EpisodeSink',
    'Observation',
    'RecorderSink',
    'RegionContext',
    'Regions',
    'TaskBrief',
    'check_drivable',
]
