# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Agents that come with the package: oracle, straight walker, random."""

from urbanground_ros.agents.base import Agent
from urbanground_ros.agents.base import AGENTS
from urbanground_ros.agents.base import make_agent
from urbanground_ros.agents.base import World
from urbanground_ros.agents.playing import play
from urbanground_ros.agents.scripted import OracleAgent
from urbanground_ros.agents.scripted import RandomAgent
from urbanground_ros.agents.scripted import StraightAgent

__all__ = [
    'AGENTS',
    'Agent',
    'OracleAgent',
    'RandomAgent',
    'StraightAgent',
    'World',
    'make_agent',
    'play',
]
