# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The buffers of one glTF: buffer views, packed or not, and accessors as arrays.

Source: Khronos glTF 2.0 (ISO/IEC 12113:2022), EXT_meshopt_compression, KHR_mesh_quantization.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import meshopt
import numpy as np
from numpy.typing import NDArray

from urbanground_ros.http import MAX_BYTES
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.limits import Budget
from urbanground_ros.tiles.limits import MAX_ELEMENTS

# Those that indices may have (glTF 2.0, 3.7.2.1).
_UNSIGNED = (5121, 5123, 5125)

#: Component types of glTF as dtypes.
COMPONENTS = {5120: 'i1', 5121: 'u1', 5122: '<i2', 5123: '<u2', 5125: '<u4', 5126: '<f4'}

_WIDTHS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT2': 4, 'MAT3': 9, 'MAT4': 16}
_MESHOPT = ('EXT_meshopt_compression', 'KHR_meshopt_compression')


class Buffers:
    """What the accessors, buffer views and buffers of a glTF hold.

    `binary` is the chunk of a binary glTF; `fetch` gets what a URI points to, of so many bytes
    or more. All raise TilesError, or what `telling_damage` turns into one.
    """

    def __init__(
        self, document: dict[str, Any], binary: bytes, name: str,
        fetch: Callable[[str, int], bytes],
    ) -> None:
        self._json = document
        self._binary = binary
        self._name = name
        self._fetch = fetch
        self._buffers: dict[int, bytes] = {}
        self._views: dict[int, memoryview] = {}
        self._elements = Budget(name, 'vertices and indices', MAX_ELEMENTS)
        self._bytes = Budget(name, 'bytes in packed buffer views', MAX_BYTES)
        self._fetched = Budget(name, 'bytes in buffers of their own', MAX_BYTES)

    def view(self, index: int) -> bytes:
        """Return a copy of the bytes of a buffer view, unpacked."""
        return bytes(self._view(index))

    def _view(self, index: int) -> memoryview:
        if index not in self._views:
            view = self._json['bufferViews'][index]
            extensions = view.get('extensions', {})
            packed = next((extensions[key] for key in _MESHOPT if key in extensions), None)
            if packed is None:
                self._views[index] = self._slice(view, index)
            else:
                count, stride = packed['count'], packed['byteStride']
                self._bytes.spend(count * stride)
                self._views[index] = memoryview(meshopt.decode_gltf_buffer(
                    bytes(self._slice(packed, index)), count, stride, packed['mode'],
                    packed.get('filter', 'NONE'),
                ).tobytes())
        return self._views[index]

    def accessor(self, index: int) -> NDArray[np.float64]:
        """Return an accessor's values, (count, components), normalised where it says so."""
        accessor = self._json['accessors'][index]
        return self.scaled(self._values(accessor), accessor)

    def indices(self, index: int) -> NDArray:
        """Return an accessor's values (count,) as indices.

        Raises:
            TilesError: they are of a type that indices may not have.
        """
        accessor = self._json['accessors'][index]
        self._expect_indices(accessor)
        if accessor['type'] != 'SCALAR' or accessor.get('normalized'):
            raise TilesError(f'{self._name}: indices of type {accessor["type"]}, expected SCALAR '
                             'that is not normalized')
        return self._values(accessor)[:, 0]

    def _expect_indices(self, where: dict[str, Any]) -> None:
        kind = where['componentType']
        if kind not in _UNSIGNED:
            raise TilesError(f'{self._name}: indices of componentType {kind}, expected one of '
                             f'{", ".join(map(str, _UNSIGNED))}')

    def _values(self, accessor: dict[str, Any]) -> NDArray:
        count, width = accessor['count'], _WIDTHS[accessor['type']]
        self._elements.spend(count)
        dtype = np.dtype(COMPONENTS[accessor['componentType']])
        if 'bufferView' in accessor:
            view = self._json['bufferViews'][accessor['bufferView']]
            stride = view.get('byteStride') or width * dtype.itemsize
            values = self._array(accessor, count, width, dtype, stride)
        else:
            values = np.zeros((count, width), dtype)
        if 'sparse' in accessor:
            values = self._sparse(values, accessor['sparse'], width, dtype)
        return values

    def scaled(self, values: NDArray, accessor: dict[str, Any]) -> NDArray[np.float64]:
        """Return values as float64, normalised where their accessor says so."""
        scaled = values.astype(np.float64)
        if accessor.get('normalized'):
            limit = np.iinfo(COMPONENTS[accessor['componentType']]).max
            scaled = np.maximum(scaled / limit, -1.0)
        return scaled

    def expect(self, accessor_index: int) -> None:
        """Count what a codec is about to unpack for an accessor."""
        self._elements.spend(self._json['accessors'][accessor_index]['count'])

    def _array(
        self, where: dict[str, Any], count: int, width: int, dtype: np.dtype, stride: int
    ) -> NDArray:
        return np.ndarray(
            (count, width), dtype, self._view(where['bufferView']), where.get('byteOffset', 0),
            (stride, dtype.itemsize),
        )

    def _sparse(
        self, values: NDArray, sparse: dict[str, Any], width: int, dtype: np.dtype
    ) -> NDArray:
        where, count = sparse['indices'], sparse['count']
        self._elements.spend(count)
        self._expect_indices(where)
        kind = np.dtype(COMPONENTS[where['componentType']])
        indices = self._array(where, count, 1, kind, kind.itemsize)[:, 0]
        changed = values.copy()
        changed[indices] = self._array(
            sparse['values'], count, width, dtype, width * dtype.itemsize
        )
        return changed

    def _slice(self, view: dict[str, Any], index: int) -> memoryview:
        start, length = view.get('byteOffset', 0), view['byteLength']
        data = self._buffer(view['buffer'])
        if start < 0 or length < 0 or start + length > len(data):
            raise TilesError(
                f'{self._name}: bufferView {index} is bytes {start} to {start + length}, '
                f'expected within the {len(data)} of its buffer'
            )
        return memoryview(data)[start:start + length]

    def _buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            buffer = self._json['buffers'][index]
            uri, data = buffer.get('uri'), self._binary
            if uri is not None:
                data = self._fetch(uri, buffer.get('byteLength', 0))
                self._fetched.spend(len(data))
            self._buffers[index] = data
        return self._buffers[index]
