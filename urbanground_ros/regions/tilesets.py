# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Finds the tilesets that a region is to have, as its file names them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import os
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from urbanground_ros.geo import LocalFrame
from urbanground_ros.http import label
from urbanground_ros.tiles import FolderSource
from urbanground_ros.tiles import HttpOptions
from urbanground_ros.tiles import open_sources
from urbanground_ros.tiles import read_tileset
from urbanground_ros.tiles import Source
from urbanground_ros.tiles import TilesError

# Whether a service is there is soon seen; what it has is fetched later, with more patience.
_OPTIONS = HttpOptions(tries=2)
# No ground is further above or below the ellipsoid, where the frame's origin is.
_HEIGHT = 1000.0


def find_tilesets(places: Iterable[str], frame: LocalFrame, radius: float,
                  warn: Callable[[str], None]) -> Iterator[str]:
    """Yield the tilesets at places that `open_sources` takes, paths absolute, URLs without key.

    What is no tileset is told and left out. A URL that gives none now is told and kept: a
    service may be away, or want a key.

    Args:
        places: Paths and URLs.
        frame: Its origin is in the middle of the region, on the ellipsoid.
        radius: Metres from there; a tileset that has nothing so near is told, and kept.
        warn: Told, a line each.
    """
    for place in places:
        try:
            sources = open_sources(place, options=_OPTIONS)
        except TilesError as error:
            if _is_url(place):
                warn(f'{error}; it is kept in the region')
                yield label(place)
            else:
                warn(f'{error}; the region goes without it')
            continue
        for source in sources:
            local = isinstance(source, FolderSource)
            try:
                away = _distance(source, frame)
            except TilesError as error:
                if local:
                    warn(f'{error}; the region goes without it')
                    continue
                warn(f'{error}; it is kept in the region')
            else:
                if away > radius + _HEIGHT:
                    warn(f'{source.label(source.root)}: its nearest tile is {away / 1000:.1f} km '
                         'away, expected one in the region')
            yield os.fspath(Path(source.root).resolve()) if local else label(source.root)


def _distance(source: Source, frame: LocalFrame) -> float:
    """Return how far a tileset is from the origin of a frame, metres.

    Raises:
        TilesError: it is none.
    """
    bounds = read_tileset(source).bounds.transformed(np.linalg.inv(frame.matrix))
    return float(bounds.distance(np.zeros(3)))


def _is_url(place: str) -> bool:
    return urlsplit(place).scheme in ('http', 'https')
