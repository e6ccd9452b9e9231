# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Figures for people: clothed, walking, each a little different, as one mesh for a whole crowd."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
import math
from typing import TYPE_CHECKING

import numpy as np

from urbanground_ros.tiles import Features
from urbanground_ros.tiles import Instance
from urbanground_ros.tiles import TileMesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from urbanground_ros.sim.people import People

    FloatArray = NDArray[np.float64]

#: Corners around a limb.
_SIDES = 7
#: Columns of the palette, and how many outfits there are to wear.
_SKIN, _HAIR, _TOP, _SLEEVE, _BOTTOM, _SHIN, _SHOE, _BAG = range(8)
OUTFITS = 64
#: A cycle of two steps in heights of the body, and the speed (m/s) of a full swing.
_CYCLE = 0.85
_BRISK = 1.2
#: Swing of hips, knees, shoulders and the bend of the elbows (rad).
_HIP, _KNEE, _SHOULDER, _ELBOW = 0.48, 0.75, 0.42, 0.35


@dataclass(frozen=True)
class _Part:
    """A rigid part: vertices (V, 3) with normals in heights of the body, and what moves it.

    `joints` are the pivots (x, z) from the trunk outwards, each with the row of the swing table
    that turns it about the lateral axis.
    """

    positions: FloatArray
    normals: FloatArray
    faces: NDArray[np.uint32]
    column: int
    joints: tuple[tuple[float, float, int], ...] = ()


def animate(people: People) -> TileMesh:
    """Return the mesh of a crowd of one or more, in the map frame, its uvs into `palette()`."""
    swings = _swings(people)
    cos_h, sin_h = np.cos(people.headings)[:, None], np.sin(people.headings)[:, None]
    positions, normals, uvs, faces, whose = [], [], [], [], []
    count = 0
    everybody = np.arange(len(people.ids), dtype=np.uint32)
    rows = (mixed(people.ids) % OUTFITS + 0.5) / OUTFITS
    for part in _figure():
        x, y, z, nx, ny, nz = (
            np.broadcast_to(axis, (len(people.ids), len(part.positions)))
            for axis in (*part.positions.T, *part.normals.T))
        for pivot_x, pivot_z, row in reversed(part.joints):
            c, s = np.cos(swings[row])[:, None], np.sin(swings[row])[:, None]
            dx, dz = x - pivot_x, z - pivot_z
            x, z = pivot_x + c * dx - s * dz, pivot_z + s * dx + c * dz
            nx, nz = c * nx - s * nz, s * nx + c * nz
        scale = people.heights[:, None]
        positions.append(np.stack((
            people.positions[:, :1] + scale * (cos_h * x - sin_h * y),
            people.positions[:, 1:2] + scale * (sin_h * x + cos_h * y),
            people.positions[:, 2:] + scale * z), axis=-1).reshape(-1, 3))
        normals.append(np.stack(
            (cos_h * nx - sin_h * ny, sin_h * nx + cos_h * ny, nz), axis=-1).reshape(-1, 3))
        uvs.append(np.column_stack((
            np.full(x.size, (part.column + 0.5) / 8), np.repeat(rows, x.shape[1]))))
        whose.append(np.repeat(everybody, x.shape[1]))
        starts = count + everybody * len(part.positions)
        faces.append((starts[:, None, None] + part.faces).reshape(-1, 3))
        count += x.size
    return TileMesh('people', np.concatenate(positions).astype(np.float32),
                    np.concatenate(normals).astype(np.float32),
                    np.concatenate(uvs).astype(np.float32),
                    np.concatenate(faces).astype(np.uint32),
                    features=Features(np.concatenate(whose), names(people)))


def names(people: People) -> tuple[Instance, ...]:
    """Return everybody as an instance, called by his number."""
    return tuple(Instance('person', str(number)) for number in people.ids.tolist())


@cache
def palette() -> NDArray[np.uint8]:
    """Return the colours of all outfits, RGB (OUTFITS, 8, 3), one row an outfit."""
    random = np.random.default_rng(1842)
    skins = np.array([[236, 200, 168], [224, 184, 150], [205, 160, 125], [150, 105, 75]])
    hairs = np.array([[24, 20, 20], [38, 28, 24], [60, 42, 32], [120, 118, 116], [26, 24, 30]])
    tops = np.array([[240, 240, 236], [36, 48, 84], [176, 44, 44], [52, 110, 84], [226, 186, 70],
                     [44, 44, 48], [120, 160, 206], [200, 120, 150], [128, 96, 150],
                     [222, 132, 66]])
    bottoms = np.array([[34, 40, 62], [52, 52, 54], [28, 28, 30], [150, 136, 110], [88, 100, 120],
                        [110, 40, 50]])
    rows = np.zeros((OUTFITS, 8, 3), np.uint8)
    for row in rows:
        skin, hair, top, bottom = (table[random.integers(len(table))]
                                   for table in (skins, hairs, tops, bottoms))
        row[[_SKIN, _HAIR, _TOP, _BOTTOM]] = skin, hair, top, bottom
        row[_SLEEVE] = skin if random.random() < 0.5 else top
        row[_SHIN] = skin if random.random() < 0.3 else bottom
        row[_SHOE] = (235, 235, 235) if random.random() < 0.3 else (40, 34, 32)
        # Without a bag there is one in the colour of the back.
        row[_BAG] = tops[random.integers(len(tops))] // 2 if random.random() < 0.4 else top
    return rows


def mixed(ids: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Spread neighbouring numbers over what people look like (Knuth's multiplicative hash)."""
    return (ids * np.uint32(2654435761)) >> np.uint32(16)


def _swings(people: People) -> FloatArray:
    """Return the angles (8, N): hips, knees, shoulders and elbows, left and right."""
    phase = 2 * math.pi * people.walked / (_CYCLE * people.heights)
    share = np.minimum(1.0, np.hypot(*people.velocities[:, :2].T) / _BRISK)
    rows = []
    for side in (0.0, math.pi):
        swing = np.sin(phase + side) * share
        # The knee bends while its leg comes forward.
        bend = np.maximum(0.0, np.cos(phase + side)) * share
        rows += [_HIP * swing, -_KNEE * bend, -_SHOULDER * swing,
                 np.full_like(swing, _ELBOW) * (0.4 + 0.6 * share)]
    return np.array(rows)


@cache
def _figure() -> tuple[_Part, ...]:
    """Return the parts of a figure one metre high that faces along x, feet at the origin."""
    trunk = [(0.0, 0.0, 0.46, 0.055, 0.085), (0.0, 0.0, 0.50, 0.062, 0.092)]
    chest = [(0.0, 0.0, 0.50, 0.063, 0.090), (0.0, 0.0, 0.62, 0.058, 0.082),
             (0.0, 0.0, 0.76, 0.066, 0.108), (-0.005, 0.0, 0.815, 0.05, 0.10),
             (-0.005, 0.0, 0.835, 0.03, 0.045)]
    neck = [(-0.005, 0.0, 0.82, 0.028, 0.03), (0.0, 0.0, 0.875, 0.027, 0.028)]
    head = [(0.012, 0.0, 0.868, 0.028, 0.026), (0.01, 0.0, 0.89, 0.048, 0.04),
            (0.006, 0.0, 0.93, 0.057, 0.046), (0.0, 0.0, 0.97, 0.05, 0.042),
            (-0.004, 0.0, 0.992, 0.024, 0.02)]
    hair = [(-0.026, 0.0, 0.885, 0.034, 0.04), (-0.016, 0.0, 0.93, 0.05, 0.05),
            (-0.006, 0.0, 0.972, 0.055, 0.047), (-0.004, 0.0, 1.0, 0.026, 0.022)]
    bag = [(-0.085, 0.0, 0.60, 0.022, 0.055), (-0.09, 0.0, 0.62, 0.034, 0.065),
           (-0.09, 0.0, 0.76, 0.03, 0.062), (-0.082, 0.0, 0.785, 0.012, 0.04)]
    parts = [_tube(trunk, _BOTTOM), _tube(chest, _TOP), _tube(neck, _SKIN), _tube(head, _SKIN),
             _tube(hair, _HAIR), _tube(bag, _BAG)]
    for side, row in ((1.0, 0), (-1.0, 4)):
        hip, knee = (0.0, 0.49, row), (0.0, 0.27, row + 1)
        shoulder, elbow = (-0.005, 0.80, row + 2), (0.0, 0.635, row + 3)
        y = side * 0.047
        thigh = [(0.0, y, 0.255, 0.036, 0.036), (0.0, y, 0.38, 0.047, 0.044),
                 (0.0, y, 0.49, 0.056, 0.048)]
        shin = [(-0.004, y, 0.035, 0.021, 0.02), (-0.008, y, 0.17, 0.034, 0.032),
                (0.0, y, 0.27, 0.036, 0.034)]
        shoe = [(0.022, y, 0.0, 0.068, 0.027), (0.022, y, 0.02, 0.066, 0.028),
                (-0.002, y, 0.05, 0.03, 0.025)]
        arm = side * 0.122
        upper = [(0.0, arm * 1.06, 0.625, 0.023, 0.022), (-0.003, arm * 1.02, 0.72, 0.028, 0.027),
                 (-0.005, arm * 0.93, 0.80, 0.032, 0.03), (-0.005, arm * 0.85, 0.82, 0.02, 0.02)]
        lower = [(0.0, arm * 1.08, 0.44, 0.012, 0.014), (0.0, arm * 1.08, 0.475, 0.022, 0.014),
                 (0.0, arm * 1.08, 0.50, 0.017, 0.016), (0.0, arm * 1.06, 0.635, 0.022, 0.021)]
        parts += [_tube(thigh, _BOTTOM, hip), _tube(shin, _SHIN, hip, knee),
                  _tube(shoe, _SHOE, hip, knee), _tube(upper, _TOP, shoulder),
                  _tube(lower, _SLEEVE, shoulder, elbow)]
    return tuple(parts)


def _tube(rings: list[tuple[float, float, float, float, float]], column: int,
          *joints: tuple[float, float, int]) -> _Part:
    """Make a part around rings, lowest first: centre x, y, z and radii along x and y."""
    turns = np.arange(_SIDES) * 2 * math.pi / _SIDES
    circle = np.column_stack((np.cos(turns), np.sin(turns)))
    positions, normals = [], []
    for x, y, z, rx, ry in rings:
        positions.append(np.column_stack((circle * (rx, ry) + (x, y), np.full(_SIDES, z))))
        out = circle * (ry, rx)
        normals.append(np.column_stack((out / np.linalg.norm(out, axis=1, keepdims=True),
                                        np.zeros(_SIDES))))
    k = np.arange(_SIDES)
    on = (k + 1) % _SIDES
    faces = []
    for ring in range(len(rings) - 1):
        low, high = ring * _SIDES, (ring + 1) * _SIDES
        faces += [np.column_stack((low + k, low + on, high + on)),
                  np.column_stack((low + k, high + on, high + k))]
    for end, up in ((0, -1.0), (len(rings) - 1, 1.0)):
        centre = sum(map(len, positions))
        x, y, z, *_ = rings[end]
        positions.append(np.array([[x, y, z + up * 0.004]]))
        normals.append(np.array([[0.0, 0.0, up]]))
        faces.append(np.column_stack((np.full(_SIDES, centre), end * _SIDES + k,
                                      end * _SIDES + on)))
    return _Part(np.concatenate(positions), np.concatenate(normals),
                 np.concatenate(faces).astype(np.uint32), column, joints)
