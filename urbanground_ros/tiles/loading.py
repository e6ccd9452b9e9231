# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loads the finest level of a whole tileset."""

from __future__ import annotations

from collections.abc import Iterator
import math
import os
import sys

from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles.mesh import TileMesh
from urbanground_ros.tiles.sources import FolderSource
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.streamer import Streamer


def load_tileset(
    source: Source | str | os.PathLike[str],
    frame: LocalFrame,
    warnings: list[str] | None = None,
) -> Iterator[TileMesh]:
    """Return the meshes of the finest level of a tileset, in the map frame.

    A tile that cannot be used costs that tile only, for which the part of a coarser one
    stands where there is one: a line about it goes to the log, and to `warnings` where a list
    is given.

    Raises:
        TilesError: `source` itself is not a tileset.
    """
    place = source if isinstance(source, Source) else FolderSource(source)
    with Streamer([place], frame, memory=sys.maxsize) as streamer:
        found = streamer.nearby((0.0, 0.0, 0.0), math.inf)
        if warnings is not None:
            warnings += streamer.warnings
    return iter(found.meshes)
