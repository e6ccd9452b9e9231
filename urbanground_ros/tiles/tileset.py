# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""3D Tiles 1.0 and 1.1: reads the tree of a tileset and the meshes of its finest level.

Source: OGC 22-025r4, 3D Tiles Specification 1.1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
import json
import logging
from pathlib import Path
import struct
from typing import Any
from urllib.parse import unquote
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.geo.frames import LocalFrame
from urbanground_ros.tiles.b3dm import unwrap_b3dm
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.gltf import data_uri
from urbanground_ros.tiles.gltf import decode_glb
from urbanground_ros.tiles.gltf import Primitive
from urbanground_ros.tiles.mesh import TileMesh
from urbanground_ros.tiles.mesh import unit
from urbanground_ros.tiles.mesh import vertex_normals

_LOG = logging.getLogger(__name__)
_DEEPEST_TILE = 128
# From the axes of the content to Z up, by the tileset's `asset.gltfUpAxis`.
_UP_AXIS = {
    'X': np.array([[0.0, 0, -1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]),
    'Y': np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
    'Z': np.eye(4),
}


@dataclass(frozen=True)
class Tile:
    """One tile of an explicit tree, in Earth-centred coordinates.

    `transform` (4, 4) float64 takes the content (Z up) to ECEF, the parents' transforms
    included; `volume` is the bounding volume as the file has it, in the coordinates that
    `transform` takes to ECEF (a region is geographic). `contents` are URIs relative to
    `base`, the file of the tileset it belongs to. `geometric_error` in metres.
    """

    name: str
    base: Path
    transform: NDArray[np.float64]
    volume: dict[str, Any]
    geometric_error: float
    refine: str
    contents: tuple[str, ...]
    children: tuple[Tile, ...]
    up_axis: str


def read_tileset(
    source: Path, transform: NDArray | None = None, refine: str = 'REPLACE'
) -> Tile:
    """Return the root tile of a tileset file, with its explicit children.

    External tilesets stay contents until they are asked for. `transform` and `refine` come
    from the tile that refers to this file, where one does.

    Raises:
        TilesError: the file is missing, or is not a tileset.
    """
    try:
        document = json.loads(source.read_bytes())
    except OSError as error:
        raise TilesError(f'{source}: {error.strerror}, expected a tileset.json') from error
    except ValueError as error:
        raise TilesError(f'{source}: not JSON, expected a tileset.json') from error
    if not isinstance(document, dict) or not {'asset', 'root'} <= document.keys():
        raise TilesError(f'{source}: not a tileset, expected an object with asset and root')
    try:
        asset = document['asset']
        if asset['version'] not in ('0.0', '1.0', '1.1'):
            raise TilesError(
                f'{source}: asset.version {asset["version"]!r}, expected 1.0 or 1.1'
            )
        required = set(document.get('extensionsRequired', [])) - {'3DTILES_content_gltf'}
        if required:
            raise TilesError(
                f'{source}: requires {", ".join(sorted(required))}, expected explicit tiles'
            )
        up_axis = str(asset.get('gltfUpAxis', 'Y')).upper()
        if up_axis not in _UP_AXIS:
            raise TilesError(f'{source}: gltfUpAxis {up_axis!r}, expected X, Y or Z')
        start = np.eye(4) if transform is None else transform
        return _tile(document['root'], source, start, refine, up_axis, 'root', 0)
    except TilesError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TilesError(
            f'{source}: {type(error).__name__} {error}, expected the schema of 3D Tiles 1.1'
        ) from error


def _tile(
    entry: dict[str, Any],
    source: Path,
    parent: NDArray,
    refine: str,
    up_axis: str,
    name: str,
    depth: int,
) -> Tile:
    if depth > _DEEPEST_TILE:
        raise TilesError(f'{source}: {name} is nested deeper than {_DEEPEST_TILE} tiles')
    if 'implicitTiling' in entry:
        raise TilesError(f'{source}: {name} has implicitTiling, expected explicit children')
    transform = parent
    if 'transform' in entry:
        transform = parent @ np.asarray(entry['transform'], np.float64).reshape(4, 4).T
    # Lower case is what tilesets made before 1.0 have.
    refine = str(entry.get('refine', refine)).upper()
    if refine not in ('ADD', 'REPLACE'):
        raise TilesError(f'{source}: {name} has refine {refine!r}, expected ADD or REPLACE')
    contents = entry.get('contents') or ([entry['content']] if 'content' in entry else [])
    return Tile(
        name=name,
        base=source,
        transform=transform,
        volume=entry.get('boundingVolume', {}),
        geometric_error=float(entry.get('geometricError', 0.0)),
        refine=refine,
        # `url` is the name that 3D Tiles had for `uri` before 1.0.
        contents=tuple(c['uri'] if 'uri' in c else c['url'] for c in contents),
        children=tuple(
            _tile(child, source, transform, refine, up_axis, f'{name}/{index}', depth + 1)
            for index, child in enumerate(entry.get('children', []))
        ),
        up_axis=up_axis,
    )


def load_tileset(
    source: Path, frame: LocalFrame, warnings: list[str] | None = None
) -> Iterator[TileMesh]:
    """Yield the meshes of the finest level of a tileset, in the map frame.

    A tile that cannot be used costs that tile only: one line about it goes to the log, and
    to `warnings` where a list is given.

    Raises:
        TilesError: `source` itself is not a tileset.
    """
    to_map = np.linalg.inv(frame.matrix)

    def warn(error: TilesError) -> None:
        _LOG.warning('%s', error)
        if warnings is not None:
            warnings.append(str(error))

    def walk(tile: Tile, ancestors: tuple[Path, ...]) -> Iterator[TileMesh]:
        if tile.refine == 'ADD' or not tile.children:
            for uri in tile.contents:
                try:
                    yield from content(tile, uri, ancestors)
                except TilesError as error:
                    warn(error)
        for child in tile.children:
            yield from walk(child, ancestors)

    def content(tile: Tile, uri: str, ancestors: tuple[Path, ...]) -> Iterator[TileMesh]:
        path = _path(tile.base, uri)
        data = data_uri(uri) if path is None else _read(path)
        if path is not None and data.lstrip()[:1] == b'{':
            resolved = path.resolve()
            if resolved in ancestors:
                raise TilesError(f'{tile.base}: {uri} leads back to itself, expected a tree')
            yield from walk(
                read_tileset(path, tile.transform, tile.refine), (*ancestors, resolved)
            )
            return
        name = tile.name if path is None else _short(path, source)
        base = tile.base if path is None else path
        yield from _meshes(
            data, name, base, to_map @ tile.transform, tile.up_axis, pictures[base.parent]
        )

    # Contents of one folder that name the same picture share it.
    pictures: dict[Path, dict[str, NDArray[np.uint8]]] = defaultdict(dict)
    root = read_tileset(source)
    yield from walk(root, (source.resolve(),))


def _path(base: Path, uri: str) -> Path | None:
    """Return the file a URI of a tileset means, None where it holds the data itself."""
    parts = urlsplit(uri)
    if parts.scheme == 'data':
        return None
    if parts.scheme or parts.netloc:
        raise TilesError(f'{base}: content {uri!r} is remote, expected a file beside it')
    return base.parent / unquote(parts.path)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TilesError(f'{path}: {error.strerror}, expected a tile content') from error


def _short(path: Path, source: Path) -> str:
    try:
        return path.resolve().relative_to(source.resolve().parent).as_posix()
    except ValueError:
        return path.name


def _meshes(
    data: bytes, name: str, base: Path, to_map: NDArray, up_axis: str,
    pictures: dict[str, NDArray[np.uint8]],
) -> Iterator[TileMesh]:
    """Decode one content; `to_map` (4, 4) takes tile coordinates to the map frame."""
    magic = data[:4]
    if magic == b'cmpt':
        for index, part in enumerate(_composite(data, name)):
            yield from _meshes(part, f'{name}#{index}', base, to_map, up_axis, pictures)
        return
    center: NDArray[np.float64] = np.zeros(3)
    if magic == b'b3dm':
        data, center = unwrap_b3dm(data, name)
    elif magic != b'glTF':
        raise TilesError(f'{name}: content starts with {magic!r}, expected glTF or b3dm')
    offset = np.eye(4)
    offset[:3, 3] = center
    matrix = to_map @ offset @ _UP_AXIS[up_axis]
    primitives = decode_glb(data, name, lambda uri: _beside(base, uri), pictures)
    for index, primitive in enumerate(primitives):
        yield _to_mesh(primitive, f'{name}:{index}', matrix)


def _beside(base: Path, uri: str) -> bytes:
    """Return what a URI inside a content means, relative to that content's file."""
    path = _path(base, uri)
    return data_uri(uri) if path is None else _read(path)


def _composite(data: bytes, name: str) -> list[bytes]:
    """Return the tiles inside a composite (3D Tiles 1.0, cmpt)."""
    if len(data) < 16:
        raise TilesError(f'{name}: {len(data)} bytes, expected a cmpt of 16 or more')
    count = struct.unpack_from('<I', data, 12)[0]
    parts, start = [], 16
    for index in range(count):
        size = struct.unpack_from('<I', data, start + 8)[0] if start + 12 <= len(data) else 0
        if size < 12 or start + size > len(data):
            raise TilesError(f'{name}: damaged cmpt at its tile {index}, expected {count} tiles')
        parts.append(data[start:start + size])
        start += size
    return parts


def _to_mesh(primitive: Primitive, name: str, matrix: NDArray) -> TileMesh:
    linear = matrix[:3, :3]
    positions = primitive.positions @ linear.T + matrix[:3, 3]
    faces = primitive.faces if np.linalg.det(linear) > 0 else primitive.faces[:, ::-1]
    if primitive.normals is None:
        normals = vertex_normals(positions, faces)
    else:
        normals = unit(primitive.normals @ np.linalg.inv(linear))
    uvs = None
    if primitive.uvs is not None:
        uvs = np.stack([primitive.uvs[:, 0], 1 - primitive.uvs[:, 1]], 1).astype(np.float32)
    return TileMesh(
        name=name,
        positions=positions.astype(np.float32),
        normals=normals.astype(np.float32),
        uvs=uvs,
        faces=np.ascontiguousarray(faces),
        texture=primitive.texture,
        color=primitive.color,
        unlit=primitive.unlit,
    )
