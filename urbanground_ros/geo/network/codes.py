# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coded value domains of the 3D Pedestrian Network (Lands Department, data dictionary 2.2)."""

from __future__ import annotations

from enum import IntEnum
from typing import Any
from typing import TypeVar

Code = TypeVar('Code', bound=IntEnum)


class FeatureType(IntEnum):
    """What a segment is; `M_` marks those inside railway stations."""

    FOOTWAY = 1
    FOOTBRIDGE = 2
    SUBWAY = 4
    SERVICE_LANE = 5
    TRAFFIC_ISLAND = 6
    RUN_IN = 7
    ESCALATOR = 8
    TRAVELATOR = 9
    LIFT = 10
    RAMP = 11
    STAIRCASE = 12
    STAIRLIFT = 13
    OTHER = 14
    M_FOOTWAY = 15
    M_ESCALATOR = 16
    M_TRAVELATOR = 17
    M_LIFT = 18
    M_RAMP = 19
    M_STAIRCASE = 20
    M_STAIRLIFT = 21
    M_OTHERS = 22
    GENERALIZED_WALKWAY_INSIDE_PARK = 23
    FOOTPATH = 24
    VILLAGE = 25
    TRACK = 26
    CROSSING_SIGNALIZED = 30
    CROSSING_ZEBRA = 31
    CROSSING_CAUTIONARY = 32
    CROSSING_OTHERS = 33


class Location(IntEnum):
    """Whether a segment lies inside a building."""

    OUTDOOR = 1
    INDOOR = 2


class WeatherProof(IntEnum):
    """Whether a segment is sheltered from rain."""

    COVERED = 1
    NON_COVERED = 2
    UNCLASSIFIED = 3


class CrossingFeature(IntEnum):
    """What a crossing leads across."""

    ROAD = 1
    TRAMWAY = 2
    LIGHT_RAIL = 3
    BICYCLE_TRACK = 4
    PUBLIC_TRANSPORT_INTERCHANGE = 5


class Direction(IntEnum):
    """Which way along its vertices a segment may be walked."""

    ONE_WAY_BACKWARD = -1
    BOTH_WAYS = 0
    ONE_WAY_FORWARD = 1


class Truth(IntEnum):
    """Yes and no as the network codes them: 2 is no."""

    TRUE = 1
    FALSE = 2


def _fold(text: str) -> str:
    return ''.join(c for c in text.casefold() if c.isalnum())


def parse_code(domain: type[Code], value: Any) -> Code:
    """Read a coded value, given as its number or as its description.

    Descriptions match their member's name whatever the case, spaces and punctuation, as the
    publications differ in them (`Crossing-Zebra`, `Crossing - Zebra`).

    Raises:
        ValueError: the value is not in the domain.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return domain(value)
    folded = _fold(str(value))
    for member in domain:
        if _fold(member.name) == folded:
            return member
    raise ValueError(value)
