# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bounding volumes: boxes, spheres and regions, all as oriented boxes.

Source: OGC 22-025r4, 3D Tiles Specification 1.1, Bounding volumes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.geo import geodetic_to_ecef
from urbanground_ros.geo import GeoError
from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles.errors import TilesError

# Numbers in each kind of volume.
_SIZES = {'box': 12, 'region': 6, 'sphere': 4}
# Samples along each side of a region.
_STEPS = 9
_EARTH_RADIUS = 6_378_137.0

#: Metres from the centre of the Earth: nothing reaches beyond.
REACH = 1e9


@dataclass(frozen=True, eq=False)
class OrientedBox:
    """A box in any pose: `center` (3,), and `axes` (3, 3), its half axes in rows, metres."""

    center: NDArray[np.float64]
    axes: NDArray[np.float64]

    def transformed(self, matrix: NDArray) -> OrientedBox:
        """Return the box that a homogeneous transform (4, 4) makes of this one."""
        return OrientedBox(
            matrix[:3, :3] @ self.center + matrix[:3, 3], self.axes @ matrix[:3, :3].T
        )

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        return np.linalg.norm(self.axes, axis=1)

    @cached_property
    def _directions(self) -> NDArray[np.float64]:
        """Unit vectors along the axes, in rows; flat boxes have all three as well."""
        flat = self._lengths < 1e-9
        directions = self.axes / np.where(flat, 1.0, self._lengths)[:, None]
        if flat.any():
            _, _, basis = np.linalg.svd(np.where(flat[:, None], 0.0, directions))
            directions[flat] = basis[3 - int(flat.sum()):]
        return directions

    @cached_property
    def span(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest coordinates (3,) of the box."""
        reach = np.abs(self.axes).sum(axis=0)
        return self.center - reach, self.center + reach

    def distance(self, point: NDArray[np.float64]) -> float:
        """Return the distance from a point (3,) to the box in metres, 0 inside."""
        beyond = np.abs(self._directions @ (point - self.center)) - self._lengths
        return math.sqrt(float(np.sum(np.maximum(beyond, 0.0) ** 2)))

    def outside(self, planes: NDArray[np.float64]) -> bool:
        """Tell whether it is wholly behind one of planes (N, 4), normals pointing inside."""
        reach = np.abs(planes[:, :3] @ self.axes.T).sum(axis=1)
        return bool((planes[:, :3] @ self.center + planes[:, 3] < -reach).any())

    def contains(self, points: NDArray) -> NDArray[np.bool_]:
        """Tell for points (N, 3) which are inside."""
        return self.touches(points[:, None], 0.0)

    def touches(self, shapes: NDArray, margin: float) -> NDArray[np.bool_]:
        """Tell which shapes (N, K, 3), K points each, may reach within a margin of the box.

        True for some that only pass by a corner.
        """
        along = (shapes - self.center) @ self._directions.T
        reach = self._lengths + margin
        over = (along.min(axis=1) <= reach) & (along.max(axis=1) >= -reach)
        return np.asarray(over.all(axis=1))


def bounding_box(
    volume: Mapping[str, Any], transform: NDArray[np.float64], name: str
) -> OrientedBox:
    """Return a bounding volume of a tileset as a box in ECEF.

    `transform` (4, 4) takes the tile's coordinates to ECEF; a region is geographic already.
    `name` is what errors call the volume.

    Raises:
        TilesError: none of box, region and sphere, damaged, or beyond `REACH`.
    """
    with np.errstate(over='ignore', invalid='ignore'):
        box = _box(volume, transform, name)
        low, high = box.span
    if not max(np.abs(low).max(), np.abs(high).max()) <= REACH:
        raise TilesError(f'{name} reaches beyond {REACH:g} m, expected one around the Earth')
    return box


def _box(
    volume: Mapping[str, Any], transform: NDArray[np.float64], name: str
) -> OrientedBox:
    kind = next((kind for kind in _SIZES if kind in volume), None)
    if kind is None:
        kinds = ', '.join(sorted(volume)) or 'nothing'
        raise TilesError(f'{name} has {kinds}, expected box, region or sphere')
    size = _SIZES[kind]
    try:
        values = np.asarray(volume[kind], np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (size,) or not np.isfinite(values).all():
        raise TilesError(f'{name} is {kind} {volume[kind]!r}, expected {size} numbers')
    if kind == 'region':
        return _region(values, name)
    axes = np.eye(3) * values[-1] if kind == 'sphere' else values[3:].reshape(3, 3)
    return OrientedBox(values[:3], axes).transformed(transform)


def _region(region: NDArray[np.float64], name: str) -> OrientedBox:
    """Return the box, level at its centre, of west, south, east, north, low, high."""
    west, south, east, north = np.degrees(region[:4])
    if east < west:
        east += 360.0
    try:
        frame = LocalFrame((south + north) / 2, ((west + east) / 2 + 180) % 360 - 180, 0.0)
        latitude, longitude, height = np.meshgrid(
            np.linspace(south, north, _STEPS), np.linspace(west, east, _STEPS), region[4:]
        )
        points = frame.from_ecef(geodetic_to_ecef(latitude, longitude, height)).reshape(-1, 3)
    except GeoError as error:
        raise TilesError(f'{name} is region {region.tolist()}, expected radians') from error
    # Between the samples the surface bulges by less than this.
    step = math.radians(max(north - south, east - west)) / (_STEPS - 1)
    bulge = (_EARTH_RADIUS + float(np.abs(region[4:]).max())) * step * step / 8
    low, high = points.min(axis=0) - bulge, points.max(axis=0) + bulge
    return OrientedBox((low + high) / 2, np.diag((high - low) / 2)).transformed(frame.matrix)
