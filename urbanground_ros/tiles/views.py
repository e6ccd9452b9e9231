# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is asked of a tileset: a picture from a camera, or the ground around a point."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
import math
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray

from urbanground_ros.tiles.volumes import OrientedBox


class View(Protocol):
    """Decides what of a tileset counts, and how fine it must be."""

    def interest(
        self, bounds: OrientedBox, geometric_error: float, viewer: OrientedBox | None
    ) -> float:
        """Return how many times the error of a tile is too large; 0 where it does not count.

        Everything is in the map frame. Above 1 a tile is to be refined.
        """


@dataclass(frozen=True, eq=False)
class AnyCamera(ABC):
    """Whatever sees, in the map frame.

    Attributes:
        position: (3,) metres.
        forward: (3,) where it looks, of any length.
    """

    position: ArrayLike
    forward: ArrayLike

    @cached_property
    def eye(self) -> NDArray[np.float64]:
        """The position as an array."""
        return np.asarray(self.position, np.float64)

    @abstractmethod
    def scale(self, bounds: OrientedBox, max_distance: float) -> float:
        """Return the pixels that a metre of what is nearest in a box takes; 0 out of sight."""


@dataclass(frozen=True, eq=False)
class Camera(AnyCamera):
    """A pinhole camera.

    Attributes:
        vertical_fov: Radians.
        width: Pixels.
        height: Pixels.
        up: (3,) what is up in the picture; any direction where it is along `forward`.
        around: Metres within which everything counts, in sight or not: it may throw its
            shadow into the picture.
    """

    vertical_fov: float = math.radians(60.0)
    width: int = 640
    height: int = 480
    up: ArrayLike = (0.0, 0.0, 1.0)
    around: float = 0.0

    @cached_property
    def planes(self) -> NDArray[np.float64]:
        """The four sides of the frustum and the plane of the eye (5, 4), normals inside."""
        right, above, forward = _axes(self.forward, self.up)
        tall = math.tan(self.vertical_fov / 2)
        wide = tall * self.width / self.height
        normals = np.stack([
            _unit(forward * wide + right), _unit(forward * wide - right),
            _unit(forward * tall + above), _unit(forward * tall - above), forward,
        ])
        return np.column_stack([normals, -normals @ self.eye])

    @cached_property
    def pixels_per_radian(self) -> float:
        """Size in pixels of what is one unit large one unit ahead."""
        return self.height / (2 * math.tan(self.vertical_fov / 2))

    def scale(self, bounds: OrientedBox, max_distance: float) -> float:
        """Return the pixels that a metre of what is nearest in a box takes; 0 out of sight.

        Source: OGC 22-025r4, 3D Tiles Specification 1.1, Geometric error.
        """
        distance = bounds.distance(self.eye)
        if distance > max_distance or (distance > self.around and bounds.outside(self.planes)):
            return 0.0
        return self.pixels_per_radian / max(distance, 1e-3)


@dataclass(frozen=True, eq=False)
class OrthographicCamera(AnyCamera):
    """A camera that sees everything at one scale.

    Attributes:
        span: Metres across the picture.
        width: Pixels.
        height: Pixels.
        up: (3,) what is up in the picture; any direction where it is along `forward`.
    """

    span: float
    width: int = 640
    height: int = 480
    up: ArrayLike = (0.0, 0.0, 1.0)

    @cached_property
    def planes(self) -> NDArray[np.float64]:
        """The four sides of what it sees and the plane of the eye (5, 4), normals inside."""
        right, above, forward = _axes(self.forward, self.up)
        wide, tall = self.span / 2, self.span / 2 * self.height / self.width
        normals = np.stack([right, -right, above, -above, forward])
        return np.column_stack([normals, [wide, wide, tall, tall, 0.0] - normals @ self.eye])

    def scale(self, bounds: OrientedBox, max_distance: float) -> float:
        """Return the pixels that a metre takes; 0 out of sight, however far it is."""
        return 0.0 if bounds.outside(self.planes) else self.width / self.span


@dataclass(frozen=True, eq=False)
class CameraView:
    """What a camera sees, up to a distance, with an error of so many pixels on the screen."""

    camera: AnyCamera
    pixel_error: float
    max_distance: float

    def interest(
        self, bounds: OrientedBox, geometric_error: float, viewer: OrientedBox | None
    ) -> float:
        """Return the screen-space error over the allowed one; 0 out of sight."""
        if viewer is not None and viewer.distance(self.camera.eye) > 0:
            return 0.0
        scale = self.camera.scale(bounds, self.max_distance)
        return scale and max(geometric_error * scale / self.pixel_error, 1e-9)


@dataclass(frozen=True, eq=False)
class NearbyView:
    """Everything within a radius of a point, above and below it too, as fine as it comes."""

    point: NDArray[np.float64]
    radius: float

    def interest(
        self, bounds: OrientedBox, geometric_error: float, viewer: OrientedBox | None
    ) -> float:
        """Return infinity within the radius, 0 beyond."""
        low, high = bounds.span
        beyond = np.maximum(np.maximum(low - self.point, self.point - high), 0.0)
        return math.inf if math.hypot(beyond[0], beyond[1]) <= self.radius else 0.0


def _axes(forward: ArrayLike, up: ArrayLike) -> tuple[NDArray[np.float64], ...]:
    """Return the unit vectors right, above and forward of a camera."""
    ahead = _unit(np.asarray(forward, np.float64))
    right = np.cross(ahead, np.asarray(up, np.float64))
    if np.linalg.norm(right) < 1e-6:
        right = np.cross(ahead, np.eye(3)[np.argmin(np.abs(ahead))])
    right = _unit(right)
    return right, np.asarray(np.cross(right, ahead), np.float64), ahead


def _unit(vector: NDArray) -> NDArray[np.float64]:
    return np.asarray(vector / np.linalg.norm(vector), np.float64)
