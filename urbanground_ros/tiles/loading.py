# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loads the finest level of a whole tileset."""

from __future__ import annotations

from collections.abc import Iterator
import logging
import os

import numpy as np

from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles.content import open_tile
from urbanground_ros.tiles.mesh import TileMesh
from urbanground_ros.tiles.sources import FolderSource
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.tileset import read_tileset

_LOG = logging.getLogger(__name__)


def load_tileset(
    source: Source | str | os.PathLike[str],
    frame: LocalFrame,
    warnings: list[str] | None = None,
) -> Iterator[TileMesh]:
    """Yield the meshes of the finest level of a tileset, in the map frame.

    A tile that cannot be used costs that tile only: one line about it goes to the log, and
    to `warnings` where a list is given.

    Raises:
        TilesError: `source` itself is not a tileset.
    """
    place = source if isinstance(source, Source) else FolderSource(source)
    to_map = np.linalg.inv(frame.matrix)

    def warn(line: str) -> None:
        _LOG.warning('%s', line)
        if warnings is not None:
            warnings.append(line)

    pending = [read_tileset(place, warn=warn)]
    while pending:
        tile = pending.pop()
        children = tile.children
        if tile.refine == 'ADD' or not tile.children:
            opened = open_tile(place, tile, to_map)
            for line in opened.warnings:
                warn(line)
            yield from opened.meshes
            children += opened.tiles
        pending.extend(reversed(children))
