# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scoring: metrics from executed trajectories, and the records they are kept in."""

from urbanground_ros.scoring.arrival import ARRIVAL_RADIUS
from urbanground_ros.scoring.arrival import distances_to
from urbanground_ros.scoring.closures import crossings
from urbanground_ros.scoring.closures import features_cut
from urbanground_ros.scoring.closures import to_lines
from urbanground_ros.scoring.metrics import compute_metrics
from urbanground_ros.scoring.metrics import Definition
from urbanground_ros.scoring.metrics import DEFINITIONS
from urbanground_ros.scoring.outcome import FAILURES
from urbanground_ros.scoring.outcome import NO_RESULTS
from urbanground_ros.scoring.outcome import Outcome
from urbanground_ros.scoring.recorder import check_agent_name
from urbanground_ros.scoring.recorder import episode_id
from urbanground_ros.scoring.recorder import EpisodeRecorder
from urbanground_ros.scoring.recorder import Settings
from urbanground_ros.scoring.recorder import StepRecord
from urbanground_ros.scoring.records import read_record
from urbanground_ros.scoring.records import RecordError
from urbanground_ros.scoring.records import rescore
from urbanground_ros.scoring.records import SCHEMA
from urbanground_ros.scoring.records import write_record
from urbanground_ros.scoring.visits import Visits

__all__ = [
    'ARRIVAL_RADIUS',
    'DEFINITIONS',
    'FAILURES',
    'NO_RESULTS',
    'SCHEMA',
    'Definition',
    'EpisodeRecorder',
    'Outcome',
    'RecordError',
    'Settings',
    'StepRecord',
    'Visits',
    'check_agent_name',
    'compute_metrics',
    'crossings',
    'distances_to',
    'episode_id',
    'features_cut',
    'read_record',
    'rescore',
    'to_lines',
    'write_record',
]
