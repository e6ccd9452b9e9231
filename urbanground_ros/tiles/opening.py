# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Finds the tilesets that a path or a URL means."""

from __future__ import annotations

from dataclasses import replace
import os
from pathlib import Path
from urllib.parse import parse_qs
from urllib.parse import urlsplit
from urllib.parse import urlunsplit

from urbanground_ros.folders import cache_folder
from urbanground_ros.tiles.cache import DiskCache
from urbanground_ros.tiles.errors import AwayError
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.http import HttpOptions
from urbanground_ros.tiles.http import HttpSource
from urbanground_ros.tiles.sources import FolderSource
from urbanground_ros.tiles.sources import Source

#: The environment variable that has the key of tile services.
KEY_VARIABLE = 'URBANGROUND_TILES_KEY'
#: Folders of a mirror, named as the services of the Lands Department are.
MIRROR_FOLDERS = ('f2', 'building', 'infrastructure', 'terrain')


def open_sources(
    place: str | os.PathLike[str],
    key: str | None = None,
    cache: DiskCache | None = None,
    options: HttpOptions | None = None,
) -> tuple[Source, ...]:
    """Return the tilesets at a place.

    A place is a tileset file, its folder, or a mirror: a folder of which `f2`, `building`,
    `infrastructure` or `terrain` have a tileset each. All three may be paths or URLs.

    Args:
        place: A path or a URL.
        key: Of the service, where it wants one; by default that in the URL, else what the
            environment variable `KEY_VARIABLE` has.
        cache: Where fetched files are kept, `tiles` in the user's cache by default.
        options: How to fetch.

    Raises:
        TilesError: there is no tileset.
    """
    text = os.fspath(place)
    if '://' not in text:
        return _open_folder(Path(os.path.expanduser(text)))
    cache = DiskCache(cache_folder() / 'tiles') if cache is None else cache
    parts = urlsplit(text)
    if key is None and 'key' not in parse_qs(parts.query):
        key = os.environ.get(KEY_VARIABLE)
    if parts.path.endswith('.json'):
        return (HttpSource(text, key, cache, options),)

    options = options or HttpOptions()

    def below(path: str, options: HttpOptions) -> HttpSource:
        path = f'{parts.path.rstrip("/")}/{path}'
        return HttpSource(urlunsplit(parts._replace(path=path)), key, cache, options)

    name, *mirrored = _names()
    first = below(name, options)
    try:
        first.read(first.root)
    except TilesError as error:
        # A service that is away is not asked again: what is kept may do.
        probing = replace(options, offline=options.offline or isinstance(error, AwayError))
        sources = []
        for name in mirrored:
            try:
                source = below(name, probing)
                source.read(source.root)
            except TilesError:
                continue
            sources.append(below(name, options))
        if not sources:
            raise error
        return tuple(sources)
    return (first,)


def _open_folder(path: Path) -> tuple[Source, ...]:
    if not os.path.isdir(path):
        return (FolderSource(path),)
    first, *mirrored = (path / name for name in _names())
    if first.is_file():
        return (FolderSource(first),)
    found = tuple(FolderSource(file) for file in mirrored if file.is_file())
    if not found:
        raise TilesError(
            f'{path}: no tileset, expected tileset.json in it or in one of '
            f'{", ".join(MIRROR_FOLDERS)}'
        )
    return found


def _names() -> tuple[str, ...]:
    return ('tileset.json', *(f'{folder}/tileset.json' for folder in MIRROR_FOLDERS))
