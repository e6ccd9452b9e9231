# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service of the endpoint's publishers and subscriptions.

The wire protocol says a queue size and a latch flag of a publisher and nothing of a subscriber,
so the endpoint finds out what the other side offers.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
import json
from typing import Any

from rclpy.qos import DurabilityPolicy
from rclpy.qos import HistoryPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy

from urbanground_ros.bridge.protocol import CommandError

DEFAULT_DEPTH = 10
# One reader keeps the latched messages of all publishers of a topic (`/tf_static`) together.
_LATCHED_DEPTH = 100
_MAX_DEPTH = 10_000

# With the ten of rmw's default, more calls at once would lose some without a word.
SERVICE_PROFILE = QoSProfile(depth=1000)

_POLICIES: dict[str, type[IntEnum]] = {
    'reliability': ReliabilityPolicy,
    'durability': DurabilityPolicy,
    'history': HistoryPolicy,
}


def publisher_profile(queue_size: int, latch: bool) -> QoSProfile:
    """Reliable, the newest `queue_size`; `latch` keeps them for late subscribers."""
    return QoSProfile(
        depth=clamp_depth(queue_size),
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latch else DurabilityPolicy.VOLATILE,
    )


def clamp_depth(queue_size: int) -> int:
    """A history depth between 1 and 10000; a peer may ask for anything."""
    return max(1, min(queue_size, _MAX_DEPTH))


def as_profile(qos: QoSProfile | int) -> QoSProfile:
    """`qos`, where a bare number is the depth of a reliable, volatile profile."""
    return publisher_profile(qos, latch=False) if isinstance(qos, int) else qos


def is_latched(profile: QoSProfile) -> bool:
    """Whether a subscription of this profile is sent what was published before it."""
    return bool(profile.durability == DurabilityPolicy.TRANSIENT_LOCAL)


def matching_profile(publishers: Iterable[QoSProfile], depth: int) -> QoSProfile:
    """The most demanding subscription profile that every one of `publishers` satisfies.

    With none known it is reliable and volatile: a sensor's first best-effort pictures may be
    missed until the match is renewed, an event must not be.
    """
    offered = list(publishers)
    reliable = all(each.reliability != ReliabilityPolicy.BEST_EFFORT for each in offered)
    latched = bool(offered) and all(is_latched(each) for each in offered)
    return QoSProfile(
        depth=max(depth, _LATCHED_DEPTH) if latched else depth,
        reliability=(ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT),
        durability=(DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE),
    )


def profile_key(profile: QoSProfile) -> tuple[int, ...]:
    """What tells two profiles of this endpoint apart."""
    return (
        int(profile.history),
        int(profile.depth),
        int(profile.reliability),
        int(profile.durability),
    )


def parse_profile(text: str) -> QoSProfile:
    """The profile in the JSON of `__publish_qos` and `__subscribe_qos`.

    Policies are the names or the numbers of rmw; deadline, lifespan and liveliness are accepted
    and left at their defaults.

    Raises:
        CommandError: no JSON object, or a value that is no such policy.
    """
    try:
        members = json.loads(text)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        raise CommandError(f'qos is {text[:60]!r}, expected a JSON object in a string')
    depth = members.get('depth', DEFAULT_DEPTH)
    if type(depth) is not int:
        raise CommandError(f'qos: depth is {depth!r}, expected an int')
    profile = QoSProfile(depth=clamp_depth(depth))
    for name, kind in _POLICIES.items():
        if name in members:
            setattr(profile, name, _policy(name, kind, members[name]))
    return profile


def _policy(name: str, kind: type[IntEnum], value: Any) -> IntEnum:
    try:
        return kind(value) if type(value) is int else kind[str(value).upper()]
    except (KeyError, ValueError):
        names = ', '.join(policy.name.lower() for policy in kind)
        raise CommandError(f'qos: {name} is {value!r}, expected one of {names}') from None
