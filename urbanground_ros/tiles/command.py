# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The subcommand `tiles`: tells what is in tilesets, and fetches them for use offline."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import os
import sys

from urbanground_ros.folders import cache_folder
from urbanground_ros.progress import Progress
from urbanground_ros.tiles.cache import DiskCache
from urbanground_ros.tiles.errors import printable
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.http import HttpOptions
from urbanground_ros.tiles.opening import KEY_VARIABLE
from urbanground_ros.tiles.opening import open_sources
from urbanground_ros.tiles.prefetch import prefetch
from urbanground_ros.tiles.sources import FolderSource
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.survey import Survey
from urbanground_ros.tiles.survey import survey

_SHOWN_WARNINGS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands `info` and `prefetch` with their options."""
    commands = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    info = commands.add_parser('info', help='tell what is in a tileset')
    info.add_argument('--limit', type=int, default=2000, metavar='N',
                      help='tiles to open at most, from the root down (default: %(default)s)')
    fetch = commands.add_parser('prefetch', help='fetch tiles into the cache, for use offline')
    fetch.add_argument('--around', type=place_argument, required=True, metavar='LAT,LON',
                       help='place, degrees')
    fetch.add_argument('--radius', type=metres_argument, required=True, metavar='M',
                       help='distance from it, metres')
    for command in (info, fetch):
        command.add_argument('source', metavar='SOURCE',
                             help='tileset.json, its folder or a mirror, a path or a URL')
        command.add_argument('--key-env', metavar='NAME',
                             help='environment variable that has the key of the service '
                                  f'(default: {KEY_VARIABLE})')
        command.add_argument('--offline', action='store_true', help='use the cache alone')


def run(options: argparse.Namespace) -> int:
    """Do what the options say; the status is 1 where a tile is broken.

    Raises:
        TilesError: there is no tileset, or no key where one is named.
    """
    key = None
    if options.key_env is not None:
        key = os.environ.get(options.key_env)
        if not key:
            raise TilesError(f'environment variable {options.key_env} is not set, expected the '
                             'key of the service')
    cache = DiskCache(cache_folder() / 'tiles')
    sources = open_sources(options.source, key, cache, HttpOptions(offline=options.offline))
    act = _info if options.action == 'info' else _prefetch
    return max(act(source, options) for source in sources)


def _info(source: Source, options: argparse.Namespace) -> int:
    found = survey(source, options.limit)
    print(source.label(source.root))
    for name, value in _lines(found):
        print(f'  {name:10} {printable(value)}')
    return _tell(found.warnings)


def _lines(found: Survey) -> list[tuple[str, str]]:
    files = ', '.join(f'{count} {kind}' for kind, count in sorted(found.files.items()))
    lines = [
        ('version', found.version),
        ('tiles', f'{found.tiles} in {found.depth} levels'
                  + ('' if found.complete else ', and more beyond --limit')),
        ('files', f'{files}; {found.bytes / 1e6:.1f} MB'),
        ('meshes', f'{found.meshes}, {found.triangles} triangles'),
        ('extensions', ', '.join(sorted(found.extensions)) or 'none'),
    ]
    if found.extent is None:
        return [*lines, ('extent', 'not on the Earth')]
    south, west, north, east, low, high = found.extent
    return [*lines, ('extent', f'{south:.6f},{west:.6f} to {north:.6f},{east:.6f}, '
                               f'{low:.0f} to {high:.0f} m above the ellipsoid')]


def _prefetch(source: Source, options: argparse.Namespace) -> int:
    if isinstance(source, FolderSource):
        raise TilesError(f'{source.root}: is here already, expected a URL')
    latitude, longitude = options.around
    return prefetch_and_tell(source, latitude, longitude, options.radius)


def prefetch_and_tell(source: Source, latitude: float, longitude: float, radius: float) -> int:
    """Fetch the tiles around a place with a bar; print how many, and what is broken.

    Returns:
        An exit status: 1 where a tile is broken.

    Raises:
        TilesError: the source is no tileset.
    """
    name = source.label(source.root)

    def begin(total: int) -> Callable[[str], None]:
        return Progress(name, total, sys.stderr).advance

    found = prefetch(source, latitude, longitude, radius, begin)
    print(f'{name}: {found.tiles} tiles, {found.failed} of them broken' if found.tiles else
          f'{name}: no tile lies within {radius:g} m of {latitude:g},{longitude:g}')
    return _tell(found.warnings)


def _tell(warnings: list[str]) -> int:
    for line in warnings[:_SHOWN_WARNINGS]:
        print(f'warning: {line}', file=sys.stderr)
    if warnings[_SHOWN_WARNINGS:]:
        print(f'warning: and {len(warnings) - _SHOWN_WARNINGS} more', file=sys.stderr)
    return 1 if warnings else 0


def place_argument(text: str) -> tuple[float, float]:
    """Return latitude and longitude of `LAT,LON`, for a parser of arguments."""
    try:
        latitude, longitude = map(float, text.split(','))
    except ValueError:
        latitude = longitude = float('nan')
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise argparse.ArgumentTypeError(f'{text!r}, expected LAT,LON in degrees')
    return latitude, longitude


def metres_argument(text: str) -> float:
    """Return a distance, for a parser of arguments."""
    try:
        value = float(text)
    except ValueError:
        value = float('nan')
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f'{text!r}, expected metres, more than 0')
    return value
