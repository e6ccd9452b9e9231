# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ground of a district: one surface without gaps, with kerbs where heights differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.districts.plan import CARRIAGEWAY
from urbanground_ros.districts.plan import corner_drop
from urbanground_ros.districts.plan import SIDEWALK
from urbanground_ros.districts.plan import STEPPED_ROW
from urbanground_ros.districts.plan import STEPPED_STREET
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import STREETS_U
from urbanground_ros.districts.plan import STREETS_V
from urbanground_ros.districts.plan import surface
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import metric_uvs
from urbanground_ros.districts.soup import Soup

_TEXTURE_METRES = {'asphalt': 6.0, 'paving': 3.0, 'grass': 8.0, 'hill': 24.0, 'concrete': 4.0}
_ROAD_METRES = 8.0
# Corners of a cell, counter-clockwise.
_CORNER_U = np.array([0, 1, 1, 0])
_CORNER_V = np.array([0, 0, 1, 1])


def build_ground(soup: Soup, plan: StreetPlan, longest: float) -> None:
    """Add the ground in cells no longer than `longest` metres in plan."""
    u, v = plan.lines(0, longest), plan.lines(1, longest)
    middle_u, middle_v = (u[:-1] + u[1:]) / 2, (v[:-1] + v[1:]) / 2
    covers = [[surface(a, b) for b in middle_v] for a in middle_u]
    names = np.array([[c.material if c else '' for c in column] for column in covers], str)
    raised = np.array([[c.raised if c else 0.0 for c in column] for column in covers])

    corner_u = (np.arange(len(u) - 1)[:, None] + _CORNER_U)[:, None, :]
    corner_v = (np.arange(len(v) - 1)[:, None] + _CORNER_V)[None, :, :]
    corner_u, corner_v = np.broadcast_arrays(corner_u, corner_v)
    heights = plan.grade(u[corner_u], v[corner_v]) + raised[..., None]
    for a, b in zip(*np.nonzero(names == 'paving'), strict=True):
        for c in range(4):
            heights[a, b, c] -= corner_drop(
                u[a + _CORNER_U[c]], v[b + _CORNER_V[c]], middle_u[a], middle_v[b]
            )
    grid_u, grid_v = np.meshgrid(u, v, indexing='ij')
    xy = plan.xy(grid_u, grid_v)
    corners = np.concatenate([xy[corner_u, corner_v], heights[..., None]], axis=-1)

    for name in sorted(set(names.ravel().tolist()) - {''}):
        chosen = names == name
        material, _, axis = name.partition('_')
        quads = corners[chosen]
        if axis:
            uvs = _striped_uvs(material, axis, u[corner_u][chosen], v[corner_v][chosen])
        else:
            uvs = quads[..., :2] / _TEXTURE_METRES[name]
        soup.add(material, quads, uvs)

    floor = float(plan.grade(STREETS_U[STEPPED_STREET], STREETS_V[STEPPED_ROW])) - 0.3
    heights = np.where((names == '')[..., None], floor, heights)
    faces = np.concatenate([_steps(xy, heights, 0), _steps(xy, heights, 1)])
    soup.add('concrete', faces, metric_uvs(faces, _TEXTURE_METRES['concrete']))


def _striped_uvs(material: str, axis: str, u: FloatArray, v: FloatArray) -> FloatArray:
    """Return UVs of cells with marks: across the carriageway, and along it in metres."""
    if material == 'road':
        along, across, streets = (u, v, STREETS_V) if axis == 'u' else (v, u, STREETS_U)
    else:
        # A crossing: the carriageway that it crosses runs along the other axis.
        across, along, streets = (u, v, STREETS_U) if axis == 'u' else (v, u, STREETS_V)
    centres = np.asarray(streets)
    nearest = centres[np.argmin(np.abs(across[:, :1, None] - centres), axis=-1)]
    share = (across - nearest) / (2 * CARRIAGEWAY) + 0.5
    if material == 'road':
        return np.stack([share, along / _ROAD_METRES], axis=-1)
    lines = np.asarray(STREETS_V if axis == 'u' else STREETS_U)
    line = lines[np.argmin(np.abs(along.mean(axis=1)[:, None] - lines), axis=-1)]
    return np.stack([share, (np.abs(along - line[:, None]) - CARRIAGEWAY) / SIDEWALK], axis=-1)


def _steps(xy: FloatArray, heights: FloatArray, axis: int) -> NDArray[np.float64]:
    """Return upright quads where two neighbours along an axis differ in height, (K, 4, 3)."""
    if axis == 0:
        # A line of constant u, walked north: its right side looks east.
        near, far = heights[:-1, :, [1, 2]], heights[1:, :, [0, 3]]
        start, end = xy[1:-1, :-1], xy[1:-1, 1:]
    else:
        # A line of constant v, walked west: its right side looks north.
        near, far = heights[:, :-1, [2, 3]], heights[:, 1:, [1, 0]]
        start, end = xy[1:, 1:-1], xy[:-1, 1:-1]
    quads = np.empty((*start.shape[:2], 4, 3))
    quads[..., [0, 3], :2] = start[..., None, :]
    quads[..., [1, 2], :2] = end[..., None, :]
    quads[..., [0, 1], 2] = far
    quads[..., [3, 2], 2] = near
    # Where the far side is higher the quad is upside down, and so looks the other way.
    return quads[np.abs(near - far).max(axis=-1) > 1e-9]
