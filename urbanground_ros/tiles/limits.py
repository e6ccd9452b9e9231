# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What one file may cost at most: beyond that it is refused, whatever it promises."""

from __future__ import annotations

from urbanground_ros.http import gunzip
from urbanground_ros.tiles.errors import TilesError

#: Vertices and indices of one content, all its primitives together.
MAX_ELEMENTS = 1 << 23
#: Pixels of the pictures of one content together.
MAX_PIXELS = 1 << 26
#: Tiles and contents of one tileset file or subtree, and tiles of one prefetch.
MAX_TILES = 1 << 17
#: Tiles that the files below the roots may add to what is streamed.
MAX_LED = 1 << 17
#: Availability bits of one subtree.
MAX_BITS = 1 << 24
#: Bytes of one JSON.
MAX_JSON = 1 << 26
#: Nodes of one glTF, each as often as it is drawn.
MAX_NODES = 1 << 16
#: Tiles, those of external tilesets included, composites or nodes inside each other.
MAX_DEPTH = 128


class BudgetError(TilesError):
    """A file that is refused as a whole for what it costs."""


class Budget:
    """Counts one kind of thing of one file, and refuses what goes beyond the limit."""

    def __init__(self, name: str, what: str, limit: int) -> None:
        """Count from 0; errors name the file `name` and `what` there is too much of."""
        self._name = name
        self._what = what
        self._limit = limit
        self._spent = 0

    def spend(self, count: int) -> None:
        """Count some more.

        Raises:
            BudgetError: more than the limit, or less than nothing.
        """
        self._spent += count
        if count < 0 or self._spent > self._limit:
            raise BudgetError(
                f'{self._name}: {self._spent} {self._what}, expected 0 to {self._limit}'
            )


def unpacked(data: bytes, name: str) -> bytes:
    """Return data that may be packed with gzip, as files of tile services often are.

    Raises:
        TilesError: damaged, or more than `MAX_BYTES`.
    """
    try:
        return gunzip(data)
    except ValueError as error:
        raise TilesError(f'{name}: {error}') from error
