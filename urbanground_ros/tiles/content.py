# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What opening a tile gives: meshes in the map frame, and the tiles it leads to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.tiles.b3dm import split_cmpt
from urbanground_ros.tiles.b3dm import unwrap_b3dm
from urbanground_ros.tiles.errors import telling_damage
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.features import batch_table
from urbanground_ros.tiles.gltf import decode_gltf
from urbanground_ros.tiles.gltf import Primitive
from urbanground_ros.tiles.gltf import Resolver
from urbanground_ros.tiles.implicit import read_subtree
from urbanground_ros.tiles.limits import MAX_DEPTH
from urbanground_ros.tiles.mesh import flip_v
from urbanground_ros.tiles.mesh import Lamp
from urbanground_ros.tiles.mesh import TileMesh
from urbanground_ros.tiles.mesh import unit
from urbanground_ros.tiles.mesh import vertex_normals
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.tileset import parse_document
from urbanground_ros.tiles.tileset import read_tileset
from urbanground_ros.tiles.tileset import Tile
from urbanground_ros.tiles.tileset import Warn

# From the axes of the content to Z up, by the tileset's `asset.gltfUpAxis`.
_UP_AXIS = {
    'X': np.array([[0.0, 0, -1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]),
    'Y': np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
    'Z': np.eye(4),
}
_REFUSED = {
    b'i3dm': 'instanced models (i3dm)', b'pnts': 'points (pnts)', b'vctr': 'vectors (vctr)',
    b'geom': 'primitives (geom)',
}


@dataclass(frozen=True, eq=False)
class Opened:
    """What a tile holds.

    `meshes` are in the map frame; `tiles` are the roots of external tilesets and subtrees,
    which count as further children; `warnings` has a line for each part that cannot be used,
    and `failed` tells whether a whole content is among these.
    """

    meshes: tuple[TileMesh, ...]
    tiles: tuple[Tile, ...]
    warnings: tuple[str, ...]
    failed: bool


def open_tile(source: Source, tile: Tile, to_map: NDArray) -> Opened:
    """Fetch and decode the contents of a tile.

    A content that cannot be used costs that content only.

    Args:
        source: Where the tile was read from.
        tile: The tile.
        to_map: (4, 4), takes ECEF to the map frame.
    """
    meshes: list[TileMesh] = []
    tiles: list[Tile] = []
    warnings: list[str] = []
    failed = False
    for uri in (None,) if tile.subtree is not None else tile.contents:
        try:
            with telling_damage(f'{source.label(tile.base)}: {tile.name}', 'a tile'):
                if uri is None:
                    tiles.append(read_subtree(source, tile.subtree))  # type: ignore[arg-type]
                else:
                    _open_content(source, tile, uri, to_map, meshes, tiles, warnings.append)
        except TilesError as error:
            warnings.append(str(error))
            failed = True
    return Opened(tuple(meshes), tuple(tiles), tuple(warnings), failed)


def _open_content(
    source: Source,
    tile: Tile,
    uri: str,
    to_map: NDArray,
    meshes: list[TileMesh],
    tiles: list[Tile],
    warn: Warn,
) -> None:
    inline = uri.startswith('data:')
    address = tile.base if inline else source.resolve(tile.base, uri)
    label = f'{source.label(tile.base)}: {tile.name}' if inline else source.label(address)
    data = source.fetch(tile.base, uri)
    def resolve(further: str) -> bytes:
        return source.fetch(address, further)

    pictures = _Pictures(source, address)
    decoder = _Decoder(resolve, pictures, to_map @ tile.transform, tile.up_axis, warn)
    name = tile.name if inline else source.short(address)
    try:
        if not inline and data.lstrip()[:1] == b'{' and 'root' in parse_document(data, label):
            tiles.append(read_tileset(source, address, tile, warn))
            return
        with telling_damage(label, 'a tile content'):
            meshes.extend(decoder.meshes(data, name, label))
    except TilesError:
        source.forget(address)
        raise


class _Pictures:
    """The pictures and other files of a source, as the document at an address names them."""

    def __init__(self, source: Source, address: str) -> None:
        self._source = source
        self._address = address

    def get(self, uri: str, /) -> NDArray[np.uint8] | None:
        return self._source.pictures.get(self._source.resolve(self._address, uri))

    def setdefault(self, uri: str, picture: NDArray[np.uint8], /) -> NDArray[np.uint8]:
        return self._source.share(self._source.resolve(self._address, uri), picture)

    def forget(self, uri: str) -> None:
        """Let go of a copy of a file that the document names."""
        if not uri.startswith('data:'):
            self._source.forget(self._source.resolve(self._address, uri))


class _Decoder:
    """Decodes one content; `to_map` (4, 4) takes tile coordinates to the map frame."""

    def __init__(
        self, resolve: Resolver, pictures: _Pictures, to_map: NDArray, up_axis: str, warn: Warn
    ) -> None:
        self._resolve = resolve
        self._pictures = pictures
        self._to_map = to_map
        self._up_axis = up_axis
        self._warn = warn

    def meshes(
        self, data: bytes, name: str, label: str, depth: int = 0
    ) -> Iterator[TileMesh]:
        magic = data[:4]
        if magic == b'cmpt':
            if depth > MAX_DEPTH:
                raise TilesError(f'{label}: more than {MAX_DEPTH} composites inside each other')
            for index, part in enumerate(split_cmpt(data, label)):
                try:
                    yield from self.meshes(
                        part, f'{name}#{index}', f'{label}#{index}', depth + 1
                    )
                except TilesError as error:
                    self._warn(str(error))
            return
        if magic in _REFUSED:
            raise TilesError(f'{label}: {_REFUSED[magic]} are not supported, expected glTF, '
                             'b3dm or cmpt')
        center: NDArray[np.float64] = np.zeros(3)
        batches = None
        if magic == b'b3dm':
            data, center, table = unwrap_b3dm(data, label)
            try:
                batches = batch_table(table, label)
            except TilesError as error:
                self._warn(str(error))
        elif magic != b'glTF' and data.lstrip()[:1] != b'{':
            raise TilesError(f'{label}: content starts with {magic!r}, expected glTF or b3dm')
        scene = decode_gltf(data, label, self._resolve, self._pictures, batches)
        for line in scene.warnings:
            self._warn(line)
        for uri in scene.damaged:
            self._pictures.forget(uri)
        offset = np.eye(4)
        offset[:3, 3] = center + scene.center
        matrix = self._to_map @ offset @ _UP_AXIS[self._up_axis]
        lamps = tuple(_placed_lamp(lamp, matrix) for lamp in scene.lamps)
        for index, primitive in enumerate(scene.primitives):
            yield _to_mesh(primitive, f'{name}:{index}', matrix, () if index else lamps)


def _placed_lamp(lamp: Lamp, matrix: NDArray) -> Lamp:
    x, y, z = (float(part) for part in matrix[:3, :3] @ lamp.position + matrix[:3, 3])
    return lamp._replace(position=(x, y, z))


def _to_mesh(
    primitive: Primitive, name: str, matrix: NDArray, lamps: tuple[Lamp, ...]
) -> TileMesh:
    linear = matrix[:3, :3]
    positions = primitive.positions @ linear.T + matrix[:3, 3]
    faces = primitive.faces if np.linalg.det(linear) > 0 else primitive.faces[:, ::-1]
    if primitive.normals is None:
        normals = vertex_normals(positions, faces)
    else:
        normals = unit(primitive.normals @ np.linalg.inv(linear))
    emission = primitive.emission
    if emission is not None and emission.uvs is not None:
        shared = primitive.uvs is not None and np.array_equal(emission.uvs, primitive.uvs)
        emission = replace(emission, uvs=None if shared else flip_v(emission.uvs))
    return TileMesh(
        name=name,
        positions=positions.astype(np.float32),
        normals=normals.astype(np.float32),
        uvs=None if primitive.uvs is None else flip_v(primitive.uvs),
        faces=np.ascontiguousarray(faces),
        texture=primitive.texture,
        color=primitive.color,
        unlit=primitive.unlit,
        emission=emission,
        lamps=lamps,
        features=primitive.features,
    )
