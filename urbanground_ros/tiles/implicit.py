# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Implicit tiling: subtree files, binary or JSON, as tiles.

Source: OGC 22-025r4, 3D Tiles Specification 1.1, Implicit tiling; and the extension
3DTILES_implicit_tiling, whose subtrees name `bufferView` what 1.1 names `bitstream`.
"""

from __future__ import annotations

from dataclasses import replace
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.http import MAX_BYTES
from urbanground_ros.tiles.errors import telling_damage
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.limits import Budget
from urbanground_ros.tiles.limits import MAX_BITS
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.tileset import lead_to
from urbanground_ros.tiles.tileset import parse_document
from urbanground_ros.tiles.tileset import Subtree
from urbanground_ros.tiles.tileset import Tile
from urbanground_ros.tiles.volumes import bounding_box


def read_subtree(source: Source, subtree: Subtree) -> Tile:
    """Return the root tile of a subtree, with the tiles that the subtree has.

    Tiles that lead to further subtrees are empty until they are opened.

    Raises:
        TilesError: the file is missing or damaged, or says that its root does not exist.
    """
    uri = _expand(subtree.tiling.subtrees, subtree.at)
    address = source.resolve(subtree.root.base, uri)
    name = source.label(address)
    try:
        with telling_damage(name, 'a subtree of 3D Tiles 1.1'):
            return _Subtree(source, subtree, address, name).tile(0, 0)
    except TilesError:
        source.forget(address)
        raise


class _Subtree:
    """One subtree file and the tiles it says exist."""

    def __init__(self, source: Source, subtree: Subtree, address: str, name: str) -> None:
        self._subtree = subtree
        self._tiling = subtree.tiling
        self._dimensions = 2 if subtree.tiling.branches == 4 else 3
        self._name = name
        self._source = source
        self._address = address
        self._document, self._binary = _parse(source.read(address), name)
        self._buffers: dict[int, bytes] = {}
        self._bytes = Budget(name, 'bytes in buffers', MAX_BYTES)
        self._bits_left = Budget(name, 'availability bits', MAX_BITS)
        document = self._document
        levels, branches = self._tiling.subtree_levels, self._tiling.branches
        self._starts = [(branches ** k - 1) // (branches - 1) for k in range(levels + 1)]
        count = self._starts[levels]
        self._tiles = self._bits(document['tileAvailability'], count)
        contents = document.get('contentAvailability', [])
        # The extension has one object for the only content.
        contents = [contents] if isinstance(contents, dict) else contents
        if len(contents) > max(len(self._tiling.contents), 1):
            raise TilesError(f'{name}: {len(contents)} contentAvailability, expected one for each '
                             f'of {len(self._tiling.contents)} contents')
        self._contents = [self._bits(entry, count) for entry in contents]
        self._subtrees = self._bits(document['childSubtreeAvailability'], branches ** levels)
        if not self._tiles[0]:
            raise TilesError(f'{name}: its root tile is not available, expected it to be')

    def tile(self, level: int, index: int) -> Tile:
        """Return a tile by its level in the subtree and its Morton index in the level."""
        number = self._starts[level] + index
        tile = self._place(level, index)
        contents = tuple(
            _expand(template, self._at(level, index))
            for template, bits in zip(self._tiling.contents, self._contents, strict=False)
            if bits[number]
        )
        children = []
        if self._subtree.at[0] + level + 1 < self._tiling.levels:
            first = index * self._tiling.branches
            for child in range(first, first + self._tiling.branches):
                if level + 1 < self._tiling.subtree_levels:
                    if self._tiles[self._starts[level + 1] + child]:
                        children.append(self.tile(level + 1, child))
                elif self._subtrees[child]:
                    further = replace(self._subtree, at=self._at(level + 1, child))
                    children.append(lead_to(self._place(level + 1, child), further))
        return replace(tile, contents=contents, children=tuple(children))

    def _at(self, level: int, index: int) -> tuple[int, int, int, int]:
        """Return level, x, y and z in the whole tree; the bits of an index are interleaved."""
        start_level, *starts = self._subtree.at
        x, y, z = (
            (start << level) + sum(
                (index >> (self._dimensions * bit + axis) & 1) << bit for bit in range(level)
            ) if axis < self._dimensions else 0
            for axis, start in enumerate(starts)
        )
        return start_level + level, x, y, z

    def _place(self, level: int, index: int) -> Tile:
        """Return an empty tile where the tiling has it."""
        root, at = self._subtree.root, self._at(level, index)
        name = f'{root.name}({", ".join(map(str, at))})'
        volume = _subdivide(root.volume, at, self._dimensions)
        return replace(
            root,
            name=name,
            volume=volume,
            bounds=bounding_box(volume, root.transform, f'{self._name}: {name}'),
            geometric_error=root.geometric_error / 2 ** at[0],
            depth=root.depth + at[0],
            viewer=None,
        )


    def _bits(self, entry: dict[str, Any], count: int) -> NDArray[np.uint8]:
        """Return an availability, one bit an element."""
        self._bits_left.spend(count)
        if 'constant' in entry:
            return np.full(count, int(entry['constant']), np.uint8)
        index = entry['bitstream'] if 'bitstream' in entry else entry['bufferView']
        view = self._document['bufferViews'][index]
        data = self._buffer(view['buffer'])
        start, length = view.get('byteOffset', 0), view['byteLength']
        if start < 0 or length < 0 or start + length > len(data):
            raise TilesError(
                f'{self._name}: a buffer view is bytes {start} to {start + length}, expected '
                f'within the {len(data)} of its buffer'
            )
        if length * 8 < count:
            raise TilesError(
                f'{self._name}: {length * 8} availability bits, expected {count}')
        packed = np.frombuffer(data, np.uint8, (count + 7) // 8, start)
        return np.unpackbits(packed, count=count, bitorder='little')

    def _buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            buffer = self._document['buffers'][index]
            uri = buffer.get('uri')
            data = self._binary if uri is None else self._source.fetch(
                self._address, uri, least=buffer.get('byteLength', 0))
            self._bytes.spend(len(data))
            self._buffers[index] = data
        return self._buffers[index]


def _parse(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    if data[:4] != b'subt':
        return parse_document(data, name), b''
    _, version, json_length, binary_length = struct.unpack_from('<IIQQ', data)
    if version != 1:
        raise TilesError(f'{name}: subtree version {version}, expected 1')
    if 24 + json_length + binary_length > len(data):
        raise TilesError(
            f'{name}: {len(data)} bytes, expected {24 + json_length + binary_length} as its '
            'header says'
        )
    start = 24 + json_length
    return parse_document(data[24:start], name), data[start:start + binary_length]


def _expand(template: str, at: tuple[int, int, int, int]) -> str:
    for key, value in zip(('{level}', '{x}', '{y}', '{z}'), at, strict=True):
        template = template.replace(key, str(value))
    return template


def _subdivide(
    volume: dict[str, Any], at: tuple[int, int, int, int], dimensions: int
) -> dict[str, Any]:
    level, *place = at
    scale = 1 / 2 ** level
    if 'box' in volume:
        box = np.asarray(volume['box'], np.float64).reshape(4, 3)
        center, axes = box[0].copy(), box[1:].copy()
        for axis in range(dimensions):
            center += axes[axis] * ((2 * place[axis] + 1) * scale - 1)
            axes[axis] *= scale
        return {'box': [*center.tolist(), *axes.ravel().tolist()]}
    region = [float(value) for value in volume['region']]
    west, south, east, north, low, high = region
    if east < west:
        east += 2 * np.pi
    spans = [(west, east), (south, north), (low, high)]
    for axis in range(dimensions):
        start, end = spans[axis]
        step = (end - start) * scale
        spans[axis] = (start + place[axis] * step, start + (place[axis] + 1) * step)
    (west, east), (south, north), (low, high) = spans
    return {'region': [west, south, east, north, low, high]}
