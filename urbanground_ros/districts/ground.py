# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ground of a district: one surface without gaps, with kerbs where heights differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import VOID
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import metric_uvs
from urbanground_ros.districts.soup import Soup

_TEXTURE_METRES = {
    'asphalt': 6.0, 'paving': 3.0, 'grass': 8.0, 'hill': 24.0, 'concrete': 4.0, 'water': 30.0,
}
_ROAD_METRES = 8.0
# Corners of a cell, counter-clockwise.
_CORNER_U = np.array([0, 1, 1, 0])
_CORNER_V = np.array([0, 0, 1, 1])


def build_ground(soup: Soup, plan: StreetPlan, longest: float, kerbs: bool = True) -> None:
    """Add the ground in cells no longer than `longest` metres in plan.

    Without kerbs the cells are those of streets and blocks only, meet at one height, and cover
    the holes of stairs.
    """
    u, v = plan.lines(0, longest, kerbs), plan.lines(1, longest, kerbs)
    middle_u, middle_v = (u[:-1] + u[1:]) / 2, (v[:-1] + v[1:]) / 2
    covers = [[plan.surface(a, b) for b in middle_v] for a in middle_u]
    names = np.array([[c.material for c in column] for column in covers], str)
    raised = np.array([[c.raised for c in column] for column in covers])
    if not kerbs:
        raised = np.minimum(raised, 0.0)
        # What leads down is not part of an outline: nobody must see through it.
        names[names == VOID] = 'paving'

    corner_u = (np.arange(len(u) - 1)[:, None] + _CORNER_U)[:, None, :]
    corner_v = (np.arange(len(v) - 1)[:, None] + _CORNER_V)[None, :, :]
    corner_u, corner_v = np.broadcast_arrays(corner_u, corner_v)
    heights = plan.grade(u[corner_u], v[corner_v]) + raised[..., None]
    if kerbs:
        _drop_kerbs(heights, plan, u, v, names)
    grid_u, grid_v = np.meshgrid(u, v, indexing='ij')
    xy = plan.xy(grid_u, grid_v)
    corners = np.concatenate([xy[corner_u, corner_v], heights[..., None]], axis=-1)

    for name in sorted(set(names.ravel().tolist()) - {VOID}):
        chosen = names == name
        material, _, axis = name.partition('_')
        quads = corners[chosen]
        if axis:
            uvs = _striped_uvs(plan, material, axis, u[corner_u][chosen], v[corner_v][chosen])
        else:
            uvs = quads[..., :2] / _TEXTURE_METRES[name]
        soup.add(material, quads, uvs)

    solid = names != VOID
    faces = np.concatenate([_steps(xy, heights, solid, 0), _steps(xy, heights, solid, 1)])
    if len(faces):
        soup.add('concrete', faces, metric_uvs(faces, _TEXTURE_METRES['concrete']))


def _drop_kerbs(
    heights: FloatArray, plan: StreetPlan, u: FloatArray, v: FloatArray, names: NDArray
) -> None:
    """Lower the corners of pavings to the carriageways that crossings lead over."""
    near_u, near_v = (
        np.abs(values[:-1, None] + values[1:, None] - 2 * plan.centres[axis]).min(axis=1) / 2
        < max(street.corridor for street in plan.streets[axis])
        for axis, values in ((0, u), (1, v))
    )
    for a, b in zip(*np.nonzero((names == 'paving') & near_u[:, None] & near_v), strict=True):
        cell = (u[a] + u[a + 1]) / 2, (v[b] + v[b + 1]) / 2
        for c in range(4):
            heights[a, b, c] -= plan.corner_drop(u[a + _CORNER_U[c]], v[b + _CORNER_V[c]], *cell)


def _striped_uvs(
    plan: StreetPlan, material: str, axis: str, u: FloatArray, v: FloatArray
) -> FloatArray:
    """Return UVs of cells with marks: across the carriageway, and along it in metres."""
    # On a road the carriageway runs along the axis; a crossing leads along it, over another's.
    own = (1 if axis == 'u' else 0) if material == 'road' else (0 if axis == 'u' else 1)
    across, along = (u, v) if own == 0 else (v, u)
    street = _nearest(plan, own, across)
    half = np.array([s.carriageway for s in plan.streets[own]])[street][:, None]
    share = (across - plan.centres[own][street][:, None]) / (2 * half) + 0.5
    if material == 'road':
        return np.stack([share, along / _ROAD_METRES], axis=-1)
    other = _nearest(plan, 1 - own, along)
    start, width = (
        np.array([getattr(s, name) for s in plan.streets[1 - own]])[other][:, None]
        for name in ('carriageway', 'sidewalk')
    )
    distance = np.abs(along - plan.centres[1 - own][other][:, None])
    return np.stack([share, (distance - start) / width], axis=-1)


def _nearest(plan: StreetPlan, axis: int, values: FloatArray) -> NDArray[np.int64]:
    """Return the street nearest to the middle of each cell (K, 4)."""
    return np.argmin(np.abs(values.mean(axis=1)[:, None] - plan.centres[axis]), axis=1)


def _steps(xy: FloatArray, heights: FloatArray, solid: NDArray, axis: int) -> FloatArray:
    """Return upright quads where two solid neighbours along an axis differ in height."""
    if axis == 0:
        # A line of constant u, walked north: its right side looks east.
        near, far = heights[:-1, :, [1, 2]], heights[1:, :, [0, 3]]
        both = solid[:-1] & solid[1:]
        start, end = xy[1:-1, :-1], xy[1:-1, 1:]
    else:
        # A line of constant v, walked west: its right side looks north.
        near, far = heights[:, :-1, [2, 3]], heights[:, 1:, [1, 0]]
        both = solid[:, :-1] & solid[:, 1:]
        start, end = xy[1:, 1:-1], xy[:-1, 1:-1]
    quads = np.empty((*start.shape[:2], 4, 3))
    quads[..., [0, 3], :2] = start[..., None, :]
    quads[..., [1, 2], :2] = end[..., None, :]
    quads[..., [0, 1], 2] = far
    quads[..., [3, 2], 2] = near
    # Where the far side is higher the quad is upside down, and so looks the other way.
    return quads[both & (np.abs(near - far).max(axis=-1) > 1e-9)]
