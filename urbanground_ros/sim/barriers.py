# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Barriers that show a closure in the street: seen, not felt, for crossing it is a violation."""

from __future__ import annotations

from collections.abc import Iterable
import itertools
from typing import TYPE_CHECKING

import numpy as np

from urbanground_ros.tiles import Instance
from urbanground_ros.tiles import TileMesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: What all barriers are an instance of.
BARRIER = Instance('barrier', '')
#: A barrier's length, height, thickness and foot, and the gap to the next one (m).
LENGTH, HEIGHT, THICKNESS, FOOT = 1.4, 1.05, 0.12, 0.18
GAP = 0.25
#: Red and white stripes across the boards.
_STRIPES = 4
_RED, _WHITE = (206, 38, 32), (242, 242, 238)
#: Lower and upper edges of the two boards, in heights of the barrier.
_BOARDS = ((0.30, 0.56), (0.72, 1.0))


def barriers(lines: Iterable[FloatArray]) -> TileMesh | None:
    """Return barriers along lines (N, 3) on the ground, map frame; None for no line."""
    corners, uvs = [], []
    for line in lines:
        for start, end in itertools.pairwise(line):
            for middle, along in _stands(start, end):
                for box, stripes in _boxes():
                    corners.append(middle + box[..., :1] * along[0] + box[..., 1:2] * along[1]
                                   + box[..., 2:] * (0.0, 0.0, 1.0))
                    uvs.append(stripes)
    if not corners:
        return None
    quads = np.concatenate(corners)
    normals = np.cross(quads[:, 1] - quads[:, 0], quads[:, 2] - quads[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    faces = np.add.outer(4 * np.arange(len(quads)), [[0, 1, 2], [0, 2, 3]])
    return TileMesh('closures', quads.reshape(-1, 3).astype(np.float32),
                    np.repeat(normals, 4, axis=0).astype(np.float32),
                    np.concatenate(uvs).reshape(-1, 2).astype(np.float32),
                    faces.reshape(-1, 3).astype(np.uint32), _stripes())


def _stands(start: FloatArray, end: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return where barriers stand between two points, and their axes along and across (2, 3)."""
    way = (end - start)[:2]
    length = float(np.hypot(*way))
    if length < 1e-6:
        return []
    along = np.array([*(way / length), 0.0])
    axes = np.array([along, [-along[1], along[0], 0.0]])
    count = max(1, round(length / (LENGTH + GAP)))
    return [(start + (end - start) * (k + 0.5) / count, axes) for k in range(count)]


def _boxes() -> list[tuple[FloatArray, FloatArray]]:
    """Return the quads (6, 4, 3) of one barrier's boards and posts, and their uvs (6, 4, 2)."""
    half, thin = LENGTH / 2, THICKNESS / 2
    boxes = [_box((-half, half), (-thin, thin), (low * HEIGHT, high * HEIGHT), None)
             for low, high in _BOARDS]
    for side in (-0.8 * half, 0.8 * half):
        boxes.append(_box((side - 0.04, side + 0.04), (-thin, thin), (0.0, HEIGHT), 0.75))
        boxes.append(_box((side - 0.05, side + 0.05), (-2 * FOOT, 2 * FOOT), (0.0, 0.06), 0.25))
    return boxes


def _box(xs: tuple[float, float], ys: tuple[float, float], zs: tuple[float, float],
         u: float | None) -> tuple[FloatArray, FloatArray]:
    """Return a box; striped along x if `u` is None, else of the colour at `u`."""
    points = np.array([[x, y, z] for z in zs for y in ys for x in xs])
    quads = points[[[0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6], [4, 5, 7, 6],
                    [2, 3, 1, 0]]]
    uvs = np.full((*quads.shape[:2], 2), 0.5)
    uvs[..., 0] = (quads[..., 0] - xs[0]) / (xs[1] - xs[0]) * _STRIPES if u is None else u
    return quads, uvs


def _stripes() -> NDArray[np.uint8]:
    return np.array([[_RED] * 8 + [_WHITE] * 8] * 2, np.uint8)
