# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Cuts quads along lines of the plan, so that neighbouring tiles meet without gaps."""

from __future__ import annotations

import numpy as np

from urbanground_ros.districts.soup import Quads

# Nearer than this to a line a corner is on it (m).
_TOUCH = 1e-6


def cut(quads: Quads, axis: int, line: float) -> Quads:
    """Return quads of which none crosses a line.

    The line is where the coordinate `axis` is `line`. What is cut becomes triangles and quads
    of the two triangles that a quad is drawn as; a triangle has its last corner twice.
    """
    corners, uvs, of = quads
    side = corners[..., axis] - line
    crosses = (side.min(axis=1) < -_TOUCH) & (side.max(axis=1) > _TOUCH)
    if not crosses.any():
        return quads
    # A corner with its texture coordinates: everything is linear along an edge.
    whole = np.concatenate([corners, uvs], axis=-1)
    halves = whole[crosses][:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3, 5)
    of_halves = np.repeat(of[crosses], 2)
    parts = [whole[~crosses]]
    side = halves[..., axis] - line
    split = (side.min(axis=1) < -_TOUCH) & (side.max(axis=1) > _TOUCH)
    parts.append(halves[~split][:, [0, 1, 2, 2]])
    # Turned so that the corner which is alone on its side comes first.
    halves, above = halves[split], side[split] > 0
    alone = np.argmax(above == (above.sum(axis=1) == 1)[:, None], axis=1)
    order = (alone[:, None] + np.arange(3)) % 3
    tip, right, left = np.moveaxis(np.take_along_axis(halves, order[..., None], axis=1), 1, 0)
    to_right, to_left = (
        tip + (end - tip) * ((line - tip[:, axis]) / (end - tip)[:, axis])[:, None]
        for end in (right, left)
    )
    for point in (to_right, to_left):
        point[:, axis] = line
    parts.append(np.stack([tip, to_right, to_left, to_left], axis=1))
    parts.append(np.stack([to_right, right, left, to_left], axis=1))
    result = np.concatenate(parts)
    of_parts = [of[~crosses], of_halves[~split], *[of_halves[split]] * 2]
    return Quads(result[..., :3], result[..., 3:], np.concatenate(of_parts))
