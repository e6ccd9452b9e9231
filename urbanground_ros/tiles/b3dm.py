# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The wrappers of 3D Tiles 1.0: Batched 3D Model (b3dm) and composite (cmpt).

Source: OGC 18-053r2, 3D Tiles Specification 1.0. Headers of b3dm from before 1.0, of 20 and
24 bytes, are told apart as CesiumJS does: where they hold lengths, a header of 1.0 read in
their place would hold the first bytes of JSON or of a glTF.
"""

from __future__ import annotations

from itertools import pairwise
import json
import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.tiles.errors import TilesError

# From here on, what should be a length is four bytes of text.
_NO_LENGTH = 0x22000000


class Batched(NamedTuple):
    """What is in a b3dm: a binary glTF, RTC_CENTER (3,) metres, the JSON of its batch table.

    The center is zero and the table empty where there is none.
    """

    gltf: bytes
    center: NDArray[np.float64]
    table: bytes


def unwrap_b3dm(data: bytes, name: str = 'b3dm') -> Batched:
    """Return what is inside.

    Raises:
        TilesError: a damaged header or an unknown version.
    """
    if len(data) < 28 or data[:4] != b'b3dm':
        raise TilesError(f'{name}: starts with {data[:4]!r}, expected a b3dm of 28 bytes or more')
    version, length, *lengths = struct.unpack_from('<6I', data, 4)
    if version != 1:
        raise TilesError(f'{name}: b3dm version {version}, expected 1')
    if length > len(data):
        raise TilesError(f'{name}: {len(data)} bytes, expected {length} as its header says')
    header, tables = 28, lengths
    if lengths[2] >= _NO_LENGTH:
        # batchLength, batchTableJSONByteLength
        header, tables = 20, [0, 0, lengths[1], 0]
    elif lengths[3] >= _NO_LENGTH:
        # batchTableJSONByteLength, batchTableBinaryByteLength, batchLength
        header, tables = 24, [0, 0, lengths[0], lengths[1]]
    start = header + sum(tables)
    if start > length:
        raise TilesError(
            f'{name}: tables of {sum(tables)} bytes, expected within the {length} of the file'
        )
    if data[start:start + 4] != b'glTF':
        raise TilesError(f'{name}: no glTF at byte {start}, expected one after the tables')
    ends = [header, *(header + sum(tables[:count]) for count in (1, 2, 3))]
    features, binary, table = (data[low:high] for low, high in pairwise(ends))
    return Batched(data[start:length], _rtc_center(features, binary, name), table)


def _rtc_center(table: bytes, binary: bytes, name: str) -> NDArray[np.float64]:
    try:
        value = json.loads(table.rstrip(b'\0') or b'{}').get('RTC_CENTER', [0.0, 0.0, 0.0])
        if isinstance(value, dict):
            center = np.frombuffer(binary, '<f4', 3, value['byteOffset']).astype(np.float64)
        else:
            center = np.asarray(value, np.float64)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise TilesError(f'{name}: damaged feature table, expected JSON') from error
    if center.shape != (3,) or not np.isfinite(center).all():
        raise TilesError(f'{name}: RTC_CENTER {value!r}, expected three numbers')
    return center


def split_cmpt(data: bytes, name: str = 'cmpt') -> list[bytes]:
    """Return the tiles inside a composite.

    Raises:
        TilesError: a damaged header, or a tile that ends beyond the composite.
    """
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
