# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fetches the tiles around a place into the cache, for use offline."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from concurrent.futures import as_completed
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from dataclasses import field

import numpy as np

from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles.content import open_tile
from urbanground_ros.tiles.limits import MAX_TILES
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.tileset import read_tileset
from urbanground_ros.tiles.tileset import Tile

#: Makes what counts the tiles of a round, given how many there are; called with each name.
Begin = Callable[[int], Callable[[str], None]]


@dataclass
class Prefetched:
    """How many tiles were opened, of which how many could not be used whole, and why."""

    tiles: int = 0
    failed: int = 0
    warnings: list[str] = field(default_factory=list)


def prefetch(
    source: Source, latitude: float, longitude: float, radius: float, begin: Begin,
    workers: int = 8,
) -> Prefetched:
    """Open all tiles, of every level, within `radius` metres of a place, whatever its height.

    Opening fetches what a tile's contents refer to as well, and tells what is broken.

    Args:
        source: A source with a cache.
        latitude: WGS84, degrees.
        longitude: WGS84, degrees.
        radius: Metres along the ground.
        begin: Called for each round: what a round opens leads to the tiles of the next.
        workers: Threads.

    Raises:
        TilesError: the source is no tileset.
        GeoError: no such place.
    """
    to_map = np.linalg.inv(LocalFrame(latitude, longitude, 0.0).matrix)
    found = Prefetched()

    def within(tiles: Iterable[Tile]) -> Iterator[Tile]:
        """Yield the tiles that count, and those below them as far as files say."""
        for tile in tiles:
            bounds = tile.bounds.transformed(to_map)
            if bounds.distance(np.array([0.0, 0.0, bounds.center[2]])) <= radius:
                yield tile
                yield from within(tile.children)

    root = read_tileset(source, warn=found.warnings.append)
    tiles = [tile for tile in within([root]) if tile.contents or tile.subtree]
    with ThreadPoolExecutor(workers) as pool:
        while tiles:
            if found.tiles + len(tiles) > MAX_TILES:
                found.warnings.append(
                    f'{source.label(source.root)}: leads to more than {MAX_TILES} tiles, of which '
                    'no more are opened')
                return found
            advance = begin(len(tiles))
            futures = {pool.submit(open_tile, source, tile, to_map): tile for tile in tiles}
            further: list[Tile] = []
            for future in as_completed(futures):
                opened = future.result()
                found.tiles += 1
                found.failed += opened.failed
                found.warnings += opened.warnings
                further += opened.tiles
                advance(futures[future].name)
            tiles = [tile for tile in within(further) if tile.contents or tile.subtree]
    return found
