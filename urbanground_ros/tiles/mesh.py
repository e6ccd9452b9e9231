# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The textured triangle mesh that every tile content becomes."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The base color that changes nothing, linear RGBA.
WHITE = (1.0, 1.0, 1.0, 1.0)


class Lamp(NamedTuple):
    """A point or spot light of KHR_lights_punctual; a spot's cone is not kept.

    `position` in metres, `color` linear RGB, `intensity` in candela, `reach` the distance in
    metres beyond which it lights nothing.
    """

    position: tuple[float, float, float]
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    intensity: float = 1.0
    reach: float = math.inf


class Instance(NamedTuple):
    """A thing that can be asked about: what kind of thing, and which of them."""

    kind: str
    name: str


@dataclass(frozen=True, eq=False)
class Features:
    """Which thing each vertex belongs to: `ids` (N,) uint32 are rows of `table`.

    The number of rows stands for none.
    """

    ids: NDArray[np.uint32]
    table: tuple[Instance, ...]


@dataclass(frozen=True, eq=False)
class Emission:
    """Light that a surface gives off: a factor, linear RGB, times a texture (H, W, 3) uint8.

    `uvs` (N, 2) place the texture; None stands for those of the mesh.
    """

    factor: tuple[float, float, float]
    texture: NDArray[np.uint8] | None = None
    uvs: NDArray | None = None


@dataclass(frozen=True, eq=False)
class TileMesh:
    """One drawable part of a tile, one material.

    Meshes are compared by identity, so they may be keys.

    `positions` and `normals` are (N, 3) float32 in metres, in the map frame (ENU) when read
    by `load_tileset`. `uvs` are (N, 2) float32 with v up (origin at the bottom left), and
    textures repeat outside 0..1. `faces` are (M, 3) uint32, counter-clockwise seen from
    outside. `texture` is (H, W, 3) uint8 with row 0 at the top; `color` multiplies it,
    linear RGBA. `unlit` asks for no shading (KHR_materials_unlit). `emission` is what it gives
    off after dark. `lamps` are those of its content, which go with its first mesh. `features`
    are what its vertices belong to, where the content tells.
    """

    name: str
    positions: NDArray[np.float32]
    normals: NDArray[np.float32]
    uvs: NDArray[np.float32] | None
    faces: NDArray[np.uint32]
    texture: NDArray[np.uint8] | None = None
    color: tuple[float, float, float, float] = WHITE
    unlit: bool = False
    emission: Emission | None = None
    lamps: tuple[Lamp, ...] = ()
    features: Features | None = None

    @property
    def textures(self) -> tuple[NDArray[np.uint8], ...]:
        """All its textures, each once."""
        found = [self.texture, self.emission.texture if self.emission else None]
        return tuple({id(each): each for each in found if each is not None}.values())

    @property
    def nbytes(self) -> int:
        """Bytes of all its arrays; a texture that meshes share counts in each."""
        arrays = [self.positions, self.normals, self.uvs, self.faces, *self.textures]
        if self.emission is not None:
            arrays.append(self.emission.uvs)
        if self.features is not None:
            arrays.append(self.features.ids)
        return sum(array.nbytes for array in arrays if array is not None)


def flip_v(uvs: NDArray) -> NDArray[np.float32]:
    """Return UVs (N, 2) with v up where it was down, and down where it was up."""
    return np.stack([uvs[:, 0], 1 - uvs[:, 1]], axis=1).astype(np.float32)


def vertex_normals(positions: NDArray, faces: NDArray) -> NDArray[np.float64]:
    """Return area-weighted vertex normals, (N, 3), of unit length; up where undefined."""
    corners = np.asarray(positions, np.float64)[faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.stack(
        [
            np.bincount(faces.ravel(), np.repeat(area[:, axis], 3), minlength=len(positions))
            for axis in range(3)
        ],
        axis=1,
    )
    return unit(normals)


def unit(vectors: NDArray) -> NDArray[np.float64]:
    """Return (N, 3) vectors scaled to length one; zero vectors become +z."""
    vectors = np.array(vectors, np.float64)
    length = np.linalg.norm(vectors, axis=1)
    vectors[length < 1e-12] = (0.0, 0.0, 1.0)
    length[length < 1e-12] = 1.0
    return vectors / length[:, None]
