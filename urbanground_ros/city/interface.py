# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The `City` interface: what episode rules need of a city, whichever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from urbanground_ros.city.actions import Action
from urbanground_ros.city.types import Capabilities
from urbanground_ros.city.types import GeoPoint
from urbanground_ros.city.types import Placement
from urbanground_ros.city.types import Reply
from urbanground_ros.city.types import Scene
from urbanground_ros.errors import UrbanGroundError


class CityError(UrbanGroundError):
    """The city failed, went away, or refused what it must be able to do."""


class City(Protocol):
    """A city in lock-step: its world moves only while one of these calls runs.

    Two implementations must give the same bytes for the same calls: the headless city in
    this process, and any city behind ROS.
    """

    def capabilities(self) -> Capabilities:
        """Return what the city can do."""
        ...

    def load(self, region: str, seed: int, placement: Placement, scene: Scene,
             markers: Sequence[GeoPoint] = (), *, want_image: bool = False) -> Reply:
        """Begin anew in a region with the body placed and all totals zero.

        Raises:
            CityError: the region is unknown or the place is not in it.
        """
        ...

    def act(self, action: Action, *, want_image: bool = False) -> Reply:
        """Execute one structured action; one that does not fit the mode is not accepted.

        Raises:
            CityError: the city went away.
        """
        ...

    def step(self, linear_x: float, linear_y: float, angular_z: float, seconds: float, *,
             want_image: bool = False) -> Reply:
        """Advance under a constant body velocity (m/s, rad/s, REP-103) for simulated seconds.

        Raises:
            CityError: the city went away or has no continuous motion.
        """
        ...

    def set_scene(self, scene: Scene) -> Reply:
        """Change weather, clock and people of the running world."""
        ...

    def place(self, placement: Placement) -> Reply:
        """Put the body somewhere else (operator only)."""
        ...
