# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The light of lamps as a map of the ground around the eye: one look-up lights a fragment.

A map has, for each cell, how much light comes down there from lamps, and where their common
middle is: what is drawn is lit as if one lamp hung there. A lamp is taken to hang as high as it
has to for `LUX` below it, and lights all that is lower than itself, through walls too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from urbanground_ros.tiles import Lamp

    FloatArray = NDArray[np.float64]

#: Cells along a side of a map, their size (m), and how far from its edge it fades (m).
SIZE = 256
CELL = 1.0
FADE = 24.0
#: Middles of maps lie on a grid of this width (m), so that a place always has the same map.
STEP = 32.0
#: Light straight below a lamp (lx), as of a street in a town.
LUX = 20.0
#: Lamps of unlimited reach light nothing beyond this distance (m), nor do any others.
REACH = 30.0


class LampMap(NamedTuple):
    """Lamp light around a `middle` (2,): cells (SIZE, SIZE, 4) uint8, rows northwards.

    A cell has the offset east and north to the middle of its lamps, from -REACH to REACH; their
    height, from `low` over `span` (m); and the root of their light, from 0 to that of
    `strength` (lx). `color` is linear RGB.
    """

    middle: tuple[float, float]
    cells: NDArray[np.uint8]
    low: float
    span: float
    strength: float
    color: tuple[float, float, float]


class LampField:
    """The lamps of a city."""

    def __init__(self, lamps: Iterable[Lamp] = ()) -> None:
        rows = [(*lamp.position, *lamp.color, lamp.intensity, min(lamp.reach, REACH))
                for lamp in lamps if lamp.intensity > 0.0]
        # Sorted, for sums that do not depend on the order in which tiles came.
        self._lamps = np.array(sorted(rows), np.float64).reshape(-1, 8)

    def middle(self, x: float, y: float) -> tuple[float, float]:
        """Return the middle of the map for an eye there."""
        return round(x / STEP) * STEP, round(y / STEP) * STEP

    def near(self, middle: tuple[float, float]) -> bytes:
        """Return what the map around a middle depends on."""
        return self._near(middle).tobytes()

    def _near(self, middle: tuple[float, float]) -> FloatArray:
        away = np.abs(self._lamps[:, :2] - middle).max(axis=1)
        return self._lamps[away <= SIZE * CELL / 2 + self._lamps[:, 7]]

    def map(self, middle: tuple[float, float]) -> LampMap:
        """Return the map around a middle."""
        half = SIZE * CELL / 2
        centres = (np.arange(SIZE) + 0.5) * CELL - half
        sums = np.zeros((SIZE, SIZE, 4))
        tint = np.zeros(3)
        for x, y, z, *color, intensity, reach in self._near(middle).tolist():
            dx, dy = x - middle[0], y - middle[1]
            columns, rows = (slice(*np.searchsorted(centres, (d - reach, d + reach)))
                             for d in (dx, dy))
            east, north = dx - centres[None, columns], dy - centres[rows, None]
            square = east ** 2 + north ** 2
            window = np.maximum(0.0, 1.0 - square / reach ** 2) ** 2
            shine = LUX * window / (1.0 + LUX * square / intensity)
            sums[rows, columns] += shine[..., None] * np.stack(np.broadcast_arrays(
                east, north, z, 1.0), axis=-1)
            tint += np.array(color) * intensity
        strength = sums[..., 3]
        lit = strength > 0.0
        sums[lit, :3] /= strength[lit, None]
        heights = sums[lit, 2]
        low, high = (float(heights.min()), float(heights.max())) if heights.size else (0.0, 0.0)
        span = max(high - low, 1.0)
        rim = np.clip((half - np.abs(centres)) / FADE, 0.0, 1.0)
        strength *= np.minimum(rim[:, None], rim)
        most = max(float(strength.max()), 1e-9)
        cells = np.concatenate((
            sums[..., :2] / (2 * REACH) + 0.5, (sums[..., 2:3] - low) / span,
            np.sqrt(strength / most)[..., None]), axis=-1)
        cells[~lit] = (0.5, 0.5, 0.0, 0.0)
        red, green, blue = tint / max(float(tint.max()), 1e-9)
        return LampMap(middle, np.round(cells * 255.0).astype(np.uint8), low, span, most,
                       (red, green, blue))
