# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is asked of a tileset: a picture from a camera, or the ground around a point."""

from __future__ import annotations

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
class Camera:
    """A pinhole camera in the map frame.

    Attributes:
        position: (3,) metres.
        forward: (3,) where it looks, of any length.
        vertical_fov: Radians.
        width: Pixels.
        height: Pixels.
        up: (3,) what is up in the picture; any direction where it is along `forward`.
    """

    position: ArrayLike
    forward: ArrayLike
    vertical_fov: float = math.radians(60.0)
    width: int = 640
    height: int = 480
    up: ArrayLike = (0.0, 0.0, 1.0)

    @cached_property
    def eye(self) -> NDArray[np.float64]:
        """The position as an array."""
        return np.asarray(self.position, np.float64)

    @cached_property
    def planes(self) -> NDArray[np.float64]:
        """The four sides of the frustum and the plane of the eye (5, 4), normals inside."""
        forward = _unit(np.asarray(self.forward, np.float64))
        right = np.cross(forward, np.asarray(self.up, np.float64))
        if np.linalg.norm(right) < 1e-6:
            right = np.cross(forward, np.eye(3)[np.argmin(np.abs(forward))])
        right = _unit(right)
        above = np.cross(right, forward)
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


@dataclass(frozen=True, eq=False)
class CameraView:
    """What a camera sees, up to a distance, with an error of so many pixels on the screen.

    Source: OGC 22-025r4, 3D Tiles Specification 1.1, Geometric error.
    """

    camera: Camera
    pixel_error: float
    max_distance: float

    def interest(
        self, bounds: OrientedBox, geometric_error: float, viewer: OrientedBox | None
    ) -> float:
        """Return the screen-space error over the allowed one; 0 out of sight."""
        eye = self.camera.eye
        distance = bounds.distance(eye)
        if distance > self.max_distance or (viewer is not None and viewer.distance(eye) > 0):
            return 0.0
        if distance > 0 and bounds.outside(self.camera.planes):
            return 0.0
        error = geometric_error * self.camera.pixels_per_radian / max(distance, 1e-3)
        return max(error / self.pixel_error, 1e-9)


@dataclass(frozen=True, eq=False)
class NearbyView:
    """Everything within a radius of a point, as fine as it comes."""

    point: NDArray[np.float64]
    radius: float

    def interest(
        self, bounds: OrientedBox, geometric_error: float, viewer: OrientedBox | None
    ) -> float:
        """Return infinity within the radius, 0 beyond."""
        within = bounds.distance(self.point) <= self.radius
        return math.inf if within else 0.0


def _unit(vector: NDArray) -> NDArray[np.float64]:
    return np.asarray(vector / np.linalg.norm(vector), np.float64)
