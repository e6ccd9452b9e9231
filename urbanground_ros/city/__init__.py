# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The contract between any city and what runs on it: actions, states, the `City` interface."""

from urbanground_ros.city.actions import Action
from urbanground_ros.city.actions import ActionError
from urbanground_ros.city.actions import DIRECTIONS
from urbanground_ros.city.actions import FIRST_PERSON_ACTIONS
from urbanground_ros.city.actions import MAP_ACTIONS
from urbanground_ros.city.actions import MAX_ACTION_SECONDS
from urbanground_ros.city.actions import MIN_ACTION_SECONDS
from urbanground_ros.city.interface import City
from urbanground_ros.city.interface import CityError
from urbanground_ros.city.types import Capabilities
from urbanground_ros.city.types import CityState
from urbanground_ros.city.types import Event
from urbanground_ros.city.types import EventKind
from urbanground_ros.city.types import GeoLine
from urbanground_ros.city.types import GeoPoint
from urbanground_ros.city.types import Placement
from urbanground_ros.city.types import Reply
from urbanground_ros.city.types import Sample
from urbanground_ros.city.types import SCAN_HEIGHT
from urbanground_ros.city.types import Scene

__all__ = [
    'DIRECTIONS',
    'FIRST_PERSON_ACTIONS',
    'MAP_ACTIONS',
    'MAX_ACTION_SECONDS',
    'MIN_ACTION_SECONDS',
    'SCAN_HEIGHT',
    'Action',
    'ActionError',
    'Capabilities',
    'City',
    'CityError',
    'CityState',
    'Event',
    'EventKind',
    'GeoLine',
    'GeoPoint',
    'Placement',
    'Reply',
    'Sample',
    'Scene',
]
