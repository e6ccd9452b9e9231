# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Batched 3D Model: the 3D Tiles 1.0 wrapper around a binary glTF.

Source: OGC 18-053r2, 3D Tiles Specification 1.0, Batched 3D Model.
"""

from __future__ import annotations

import json
import struct

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.tiles.errors import TilesError


def unwrap_b3dm(data: bytes, name: str = 'b3dm') -> tuple[bytes, NDArray[np.float64]]:
    """Return the binary glTF inside and RTC_CENTER, (3,) metres (zero where absent).

    Raises:
        TilesError: a damaged header or an unknown version.
    """
    if len(data) < 28 or data[:4] != b'b3dm':
        raise TilesError(f'{name}: starts with {data[:4]!r}, expected a b3dm of 28 bytes or more')
    version, length, features, features_binary, batch, batch_binary = struct.unpack_from(
        '<6I', data, 4
    )
    if version != 1:
        raise TilesError(f'{name}: b3dm version {version}, expected 1')
    if length > len(data):
        raise TilesError(f'{name}: {len(data)} bytes, expected {length} as its header says')
    start = 28 + features + features_binary + batch + batch_binary
    if data[start:start + 4] != b'glTF':
        raise TilesError(
            f'{name}: no glTF at byte {start}, expected the header of b3dm version 1 of '
            '3D Tiles 1.0'
        )
    return data[start:length], _rtc_center(data[28:28 + features], features_binary, data, name)


def _rtc_center(
    table: bytes, binary_length: int, data: bytes, name: str
) -> NDArray[np.float64]:
    try:
        value = json.loads(table or b'{}').get('RTC_CENTER', [0.0, 0.0, 0.0])
        if isinstance(value, dict):
            start = 28 + len(table)
            binary = data[start:start + binary_length]
            center = np.frombuffer(binary, '<f4', 3, value['byteOffset']).astype(np.float64)
        else:
            center = np.asarray(value, np.float64)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TilesError(f'{name}: damaged feature table, expected JSON') from error
    if center.shape != (3,) or not np.isfinite(center).all():
        raise TilesError(f'{name}: RTC_CENTER {value!r}, expected three numbers')
    return center
