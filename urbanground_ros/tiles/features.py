# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tables of what the features of a content are: property tables, and batch tables of b3dm.

Only their columns `kind` (or `class`) and `name` are read, where these are strings.

Source: EXT_structural_metadata of 3D Tiles 1.1 (OGC 22-025r4); OGC 18-053r2, batch table.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
import json
from typing import Any

import numpy as np

from urbanground_ros.tiles.errors import telling_damage
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.mesh import Instance

Table = tuple[Instance, ...]

_OFFSETS = {'UINT8': 'u1', 'UINT16': '<u2', 'UINT32': '<u4', 'UINT64': '<u8'}


def property_table(
    entry: dict[str, Any], view: Callable[[int], bytes], name: str
) -> Table | None:
    """Return the rows of a property table, None where it has neither column.

    Its class is the kind where no column tells it; `view` gives a buffer view.

    Raises:
        TilesError: a column is damaged, or what `telling_damage` turns into one.
    """
    def column(key: str) -> list[str] | None:
        values = entry.get('properties', {}).get(key, {})
        # What else has offsets are strings; in arrays they cannot name a row.
        if 'stringOffsets' not in values or 'arrayOffsets' in values:
            return None
        offsets = np.frombuffer(
            view(values['stringOffsets']), _OFFSETS[values.get('stringOffsetType', 'UINT32')],
            entry['count'] + 1,
        ).tolist()
        text = view(values['values'])
        if offsets != sorted(offsets) or offsets[-1] > len(text):
            raise TilesError(f'{name}: offsets of {key} end at {offsets[-1]}, expected rising '
                             f'within its {len(text)} bytes')
        return [text[start:end].decode() for start, end in pairwise(offsets)]

    return _rows(column, str(entry['class']))


def batch_table(data: bytes, name: str) -> Table | None:
    """Return the rows of the JSON of a batch table, None where it has neither column.

    Raises:
        TilesError: damaged.
    """
    with telling_damage(f'{name}: batch table', 'JSON'):
        document: dict[str, Any] = json.loads(data.rstrip(b'\0 ') or b'{}')

        def column(key: str) -> list[str] | None:
            values = document.get(key)
            strings = isinstance(values, list) and all(isinstance(v, str) for v in values)
            return values if strings else None

        return _rows(column, '')


def _rows(column: Callable[[str], list[str] | None], kind: str) -> Table | None:
    names, kinds = column('name'), column('kind') or column('class')
    if names is None and kinds is None:
        return None
    names = names or [''] * len(kinds or ())
    return tuple(map(Instance, kinds or [kind] * len(names), names))
