# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reads a tileset through, to tell what is in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from dataclasses import field
import json
import struct
from typing import Any

import numpy as np

from urbanground_ros.geo import ecef_to_geodetic
from urbanground_ros.geo import GeoError
from urbanground_ros.tiles.b3dm import split_cmpt
from urbanground_ros.tiles.b3dm import unwrap_b3dm
from urbanground_ros.tiles.content import open_tile
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.glb import split_glb
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.tileset import read_tileset
from urbanground_ros.tiles.tileset import Tile
from urbanground_ros.tiles.volumes import OrientedBox

_MAGICS = {
    b'glTF': 'glb', b'b3dm': 'b3dm', b'i3dm': 'i3dm', b'pnts': 'pnts', b'cmpt': 'cmpt',
    b'subt': 'subtree', b'\xabKTX': 'KTX 2', b'\x89PNG': 'PNG', b'RIFF': 'WebP',
}


@dataclass
class Survey:
    """What is in a tileset.

    `files` counts by type what was read, `bytes` its length as it was unpacked; `extent` is
    south, west, north, east in degrees, low and high in metres above the ellipsoid, None
    where the root is not on the Earth; `complete` tells whether all tiles were seen.
    """

    version: str = ''
    tiles: int = 0
    depth: int = 0
    bytes: int = 0
    meshes: int = 0
    triangles: int = 0
    files: Counter[str] = field(default_factory=Counter)
    extensions: set[str] = field(default_factory=set)
    extent: tuple[float, ...] | None = None
    warnings: list[str] = field(default_factory=list)
    complete: bool = True


def survey(source: Source, limit: int | None = None) -> Survey:
    """Open the tiles of a tileset, all or the first `limit` from the root down, level by level.

    Raises:
        TilesError: its root is not a tileset.
    """
    found = Survey()
    meter = _Meter(source, found)
    root = read_tileset(meter, warn=found.warnings.append)
    found.extent = _extent(root.bounds)
    level = [root]
    while level:
        found.depth += 1
        below: list[Tile] = []
        for tile in level:
            if found.tiles == limit:
                found.complete = False
                return found
            found.tiles += 1
            opened = open_tile(meter, tile, np.eye(4))
            found.warnings += opened.warnings
            found.meshes += len(opened.meshes)
            found.triangles += sum(len(mesh.faces) for mesh in opened.meshes)
            below += tile.children + opened.tiles
        level = below
    return found


class _Meter(Source):
    """A source that counts what is read from another."""

    def __init__(self, source: Source, found: Survey) -> None:
        self.root = source.root
        self._source = source
        self._found = found

    def resolve(self, base: str, uri: str) -> str:
        return self._source.resolve(base, uri)

    def label(self, address: str) -> str:
        return self._source.label(address)

    def short(self, address: str) -> str:
        return self._source.short(address)

    def identity(self, address: str) -> str:
        return self._source.identity(address)

    def forget(self, address: str) -> None:
        self._source.forget(address)

    def read(self, address: str) -> bytes:
        data = self._source.read(address)
        self._found.bytes += len(data)
        self._note(data)
        return data

    def _note(self, data: bytes) -> None:
        kind = _MAGICS.get(data[:4], 'JPEG' if data[:2] == b'\xff\xd8' else 'other')
        document: dict[str, Any] = {}
        try:
            if kind == 'cmpt':
                for part in split_cmpt(data):
                    self._note(part)
            elif kind == 'b3dm':
                document, _ = split_glb(unwrap_b3dm(data).gltf, kind)
            elif kind == 'glb':
                document, _ = split_glb(data, kind)
            elif data.lstrip()[:1] == b'{':
                document = json.loads(data)
                kind = 'tileset' if 'root' in document else 'JSON'
                self._found.version = self._found.version or document['asset']['version']
            self._found.extensions.update(
                name for name in document.get('extensionsUsed', []) if isinstance(name, str)
            )
        except (TilesError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
                struct.error):
            # Whoever opens it tells what is wrong.
            pass
        self._found.files[kind] += 1


def _extent(bounds: OrientedBox) -> tuple[float, ...] | None:
    signs = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
    try:
        places = np.array(ecef_to_geodetic(bounds.center + signs @ bounds.axes))
    except GeoError:
        return None
    low, high = places.min(axis=1), places.max(axis=1)
    if abs(low[2]) > 1e5 or abs(high[2]) > 1e5:
        return None
    return low[0], low[1], high[0], high[1], low[2], high[2]
