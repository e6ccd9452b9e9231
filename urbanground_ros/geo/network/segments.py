# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A spatial index of 3D line segments: exact nearest point and level-aware tolerance tests.

Segments are kept in an R-tree (STR packed) of their plan view. For the nearest point, the
distance in space to the segment nearest in plan bounds the search: every segment within that
distance in plan is then measured in space. So a footbridge is told from the street below it,
and no nearer segment can be missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray
import shapely

from urbanground_ros.geo.errors import NetworkError
from urbanground_ros.geo.frames import FloatArray

IndexArray = NDArray[np.int64]

# Points far above or below everything reach many segments each; this bounds the memory.
_CHUNK = 256
# Slack in metres that keeps rounding from losing a candidate or a touch.
_ROUNDING = 1e-9


class NearestSegment(NamedTuple):
    """Nearest segment of each of N points, and where on it (`fraction` 0 to 1)."""

    segment: IndexArray
    fraction: FloatArray
    point: FloatArray
    distance: FloatArray


def checked_points(points: ArrayLike) -> FloatArray:
    """Return points as float64 of shape (N, 3).

    Raises:
        NetworkError: wrong shape, or a coordinate that is not finite.
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 3:
        raise NetworkError(f'points have shape {array.shape}, expected (N, 3)')
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if wrong.size:
        raise NetworkError(f'point {wrong[0]} is {array[wrong[0]].tolist()}, expected finite '
                           'coordinates')
    return array


class SegmentIndex:
    """Index of the segments `starts[i]` to `ends[i]`, both (S, 3), S at least 1."""

    def __init__(self, starts: FloatArray, ends: FloatArray) -> None:
        self.starts = starts
        self.ends = ends
        plan = np.stack((starts[:, :2], ends[:, :2]), axis=1)
        # A vertical segment is a point in plan, and a line of no length is not valid there.
        shapes: Any = shapely.linestrings(plan)
        vertical = (plan[:, 0] == plan[:, 1]).all(axis=1)
        shapes[vertical] = shapely.points(plan[vertical, 0])
        self._tree = shapely.STRtree(shapes)

    def nearest(self, points: FloatArray) -> NearestSegment:
        """Find the segment nearest in space to each of (N, 3) points.

        Of equally near segments the first one counts.
        """
        results = [self._nearest(chunk) for chunk in _chunks(points)]
        return NearestSegment(*map(np.concatenate, zip(*results, strict=True)))

    def within(self, points: FloatArray, horizontal: float, vertical: float) -> NDArray[np.bool_]:
        """Tell which of (N, 3) points have a segment within both tolerances at one place of it.

        A touch counts.
        """
        return np.concatenate([
            self._within(chunk, horizontal + _ROUNDING, vertical + _ROUNDING)
            for chunk in _chunks(points)])

    def _nearest(self, points: FloatArray) -> NearestSegment:
        plan = shapely.points(points[:, :2])
        bounding = self._tree.query_nearest(plan, all_matches=False)[1]
        bound = self._project(points, bounding).distance
        point, segment = self._tree.query(
            plan, predicate='dwithin', distance=bound * (1 + _ROUNDING) + _ROUNDING)
        found = self._project(points[point], segment)
        order = np.lexsort((segment, found.distance, point))
        best = order[np.searchsorted(point[order], np.arange(len(points)))]
        return NearestSegment(*(values[best] for values in found))

    def _project(self, points: FloatArray, segment: IndexArray) -> NearestSegment:
        """Project each point to one segment."""
        start, end = self.starts[segment], self.ends[segment]
        along = end - start
        squared = _dot(along, along)
        fraction = np.divide(_dot(points - start, along), squared,
                             out=np.zeros(len(points)), where=squared > 0)
        fraction = np.clip(fraction, 0.0, 1.0)
        # Ends are met exactly, so that junctions are.
        projected = np.where((fraction == 1.0)[:, None], end, start + fraction[:, None] * along)
        offset = points - projected
        return NearestSegment(segment, fraction, projected, np.sqrt(_dot(offset, offset)))

    def _within(self, points: FloatArray, horizontal: float,
                vertical: float) -> NDArray[np.bool_]:
        plan = shapely.points(points[:, :2])
        point, segment = self._tree.query(
            plan, predicate='dwithin', distance=horizontal)
        start, along = self.starts[segment], self.ends[segment] - self.starts[segment]
        # The part of the segment inside the vertical cylinder around the point, as fractions.
        offset = start - points[point]
        a = _dot(along[:, :2], along[:, :2])
        b = _dot(offset[:, :2], along[:, :2])
        c = _dot(offset[:, :2], offset[:, :2]) - horizontal ** 2
        root = np.sqrt(np.maximum(b * b - a * c, 0.0))
        inclined = a > 0
        enter = np.divide(-b - root, a, out=np.zeros(len(a)), where=inclined)
        leave = np.divide(-b + root, a, out=np.ones(len(a)), where=inclined)
        heights = offset[:, 2, None] + along[:, 2, None] * np.clip(
            np.stack((enter, leave), axis=1), 0.0, 1.0)
        near = (heights.min(axis=1) <= vertical) & (heights.max(axis=1) >= -vertical)
        result = np.zeros(len(points), dtype=bool)
        result[point[near]] = True
        return result


def _chunks(points: FloatArray) -> Iterator[FloatArray]:
    """Cut points into chunks; none gives one empty chunk."""
    for first in range(0, max(len(points), 1), _CHUNK):
        yield points[first:first + _CHUNK]


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """Row-wise dot product, the same bytes for a row alone as among others."""
    product = a * b
    total = product[:, 0] + product[:, 1]
    return total + product[:, 2] if product.shape[1] == 3 else total
