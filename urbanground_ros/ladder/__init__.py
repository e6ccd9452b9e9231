# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ladder: a suite of tasks of every kind, generated over regions, each proved by play."""

from urbanground_ros.ladder.suite import build_suite
from urbanground_ros.ladder.suite import generate
from urbanground_ros.ladder.suite import Proposer
from urbanground_ros.ladder.suite import PROPOSERS
from urbanground_ros.ladder.suite import SUITE_REGIONS
from urbanground_ros.ladder.suite import VARIANTS
from urbanground_ros.ladder.verify import Proof
from urbanground_ros.ladder.verify import Verifier
from urbanground_ros.ladder.verify import Verify

__all__ = [
    'PROPOSERS',
    'SUITE_REGIONS',
    'VARIANTS',
    'Proof',
    'Proposer',
    'Verifier',
    'Verify',
    'build_suite',
    'generate',
]
