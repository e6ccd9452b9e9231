# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quadrilaterals with a material: what the parts of a district are built of."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from dataclasses import field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray

from urbanground_ros.tiles.mesh import Instance
from urbanground_ros.tiles.mesh import Lamp
from urbanground_ros.tiles.mesh import unit

FloatArray = NDArray[np.float64]

PALETTE = (
    'white', 'cream', 'sand', 'brick', 'rust', 'olive', 'slate', 'charcoal',
    'steel', 'teal', 'navy', 'red', 'orange', 'yellow', 'green', 'timber',
)
"""Plain colours, by name: the cells of the palette texture from left to right, 4 in a row."""


class Quads(NamedTuple):
    """Corners (K, 4, 3) metres, UVs (K, 4, 2) with v up, and which instance each is of (K,).

    The instance is a number in its soup, -1 for none.
    """

    corners: FloatArray
    uvs: FloatArray
    of: NDArray[np.int64]


class Soup:
    """Quads by material, corners counter-clockwise seen from outside; and the lamps there."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Quads]] = defaultdict(list)
        self._instances: dict[Instance, int] = {}
        self.lamps: list[Lamp] = []

    def add(
        self, material: str, corners: ArrayLike, uvs: ArrayLike, of: Instance | None = None
    ) -> None:
        """Add quads of an instance: corners (..., 4, 3) metres, UVs (..., 4, 2) with v up."""
        corners = np.asarray(corners, np.float64).reshape(-1, 4, 3)
        number = -1 if of is None else self._instances.setdefault(of, len(self._instances))
        self._parts[material].append(Quads(
            corners, np.asarray(uvs, np.float64).reshape(-1, 4, 2),
            np.full(len(corners), number)))

    def paint(self, color: str, corners: ArrayLike) -> None:
        """Add quads of one plain colour of `PALETTE`."""
        corners = np.asarray(corners, np.float64).reshape(-1, 4, 3)
        self.add('palette', corners, np.broadcast_to(palette_uv(color), (len(corners), 4, 2)))

    def shine(self, lamp: Lamp, position: ArrayLike) -> None:
        """Add light like that of `lamp` from a position (3,)."""
        x, y, z = (round(float(part), 3) for part in np.asarray(position))
        self.lamps.append(lamp._replace(position=(x, y, z)))

    def materials(self) -> dict[str, Quads]:
        """Return the quads by material, in order of name."""
        return {
            name: Quads(*map(np.concatenate, zip(*parts, strict=True)))
            for name, parts in sorted(self._parts.items())
        }

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The instances that there are quads of, by their numbers."""
        return tuple(self._instances)


@dataclass(frozen=True)
class Model:
    """A district at its levels of detail: everything, blocks of it, and its outline."""

    fine: Soup = field(default_factory=Soup)
    coarse: Soup = field(default_factory=Soup)
    far: Soup = field(default_factory=Soup)


def palette_uv(color: str) -> tuple[float, float]:
    """Return where the palette texture has a colour."""
    row, column = divmod(PALETTE.index(color), 4)
    return (column + 0.5) / 4, 1 - (row + 0.5) / 4


def wall(start: ArrayLike, end: ArrayLike, bottom: ArrayLike, top: ArrayLike) -> FloatArray:
    """Return an upright quad over a plan line, seen from its right, (4, 3).

    `start` and `end` are (2,) plan points; `bottom` and `top` are heights, one or one an end.
    """
    low, high = np.broadcast_to(bottom, 2), np.broadcast_to(top, 2)
    return np.array([
        [*np.asarray(start), low[0]], [*np.asarray(end), low[1]],
        [*np.asarray(end), high[1]], [*np.asarray(start), high[0]],
    ])


def prism(footprint: ArrayLike, bottom: ArrayLike, top: ArrayLike) -> FloatArray:
    """Return the sides, top and bottom of an upright prism, (6, 4, 3).

    `footprint` is (4, 2), counter-clockwise; `bottom` and `top` one height or one a corner.
    """
    plan = np.asarray(footprint, np.float64)
    low, high = np.broadcast_to(bottom, 4), np.broadcast_to(top, 4)
    quads = [
        wall(plan[k], plan[k - 3], (low[k], low[k - 3]), (high[k], high[k - 3]))
        for k in range(4)
    ]
    quads.append(np.column_stack([plan, high]))
    quads.append(np.column_stack([plan, low])[::-1])
    return np.array(quads)


def oriented_box(
    center: ArrayLike, along: ArrayLike, length: float, width: float
) -> FloatArray:
    """Return the plan of a rectangle, (4, 2) counter-clockwise; `along` is its unit axis."""
    unit_axis = np.asarray(along, np.float64)
    axis = unit_axis * length / 2
    side = np.array([-unit_axis[1], unit_axis[0]]) * width / 2
    middle = np.asarray(center, np.float64)
    return np.array([
        middle - axis - side, middle + axis - side, middle + axis + side, middle - axis + side,
    ])


def square(center: ArrayLike, half: float) -> FloatArray:
    """Return the plan of a square with sides of twice `half`, (4, 2) counter-clockwise."""
    return oriented_box(np.asarray(center)[:2], (1.0, 0.0), 2 * half, 2 * half)


def bar(start: ArrayLike, end: ArrayLike, width: float) -> FloatArray:
    """Return the plan of a line made `width` metres wide, (4, 2) counter-clockwise."""
    p, q = np.asarray(start, np.float64), np.asarray(end, np.float64)
    length = float(np.linalg.norm(q - p))
    return oriented_box((p + q) / 2, (q - p) / length, length, width)


def metric_uvs(quads: FloatArray, size: float) -> FloatArray:
    """Return UVs of quads (K, 4, 3) for a texture `size` metres wide, laid from corner 0."""
    along = unit(quads[:, 1] - quads[:, 0])
    normal = unit(np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1]))
    across = np.cross(normal, along)
    offset = quads - quads[:, :1]
    return np.stack(
        [np.einsum('kcd,kd->kc', offset, along), np.einsum('kcd,kd->kc', offset, across)], -1
    ) / size
