# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where tilesets come from: a common face, and folders."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from functools import cached_property
import os
from pathlib import Path
import threading
from urllib.parse import unquote
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.files import open_regular
from urbanground_ros.http import label
from urbanground_ros.http import MAX_BYTES
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.limits import unpacked
from urbanground_ros.tiles.uris import data_uri

# Two threads that decode one picture at once end up with one.
_sharing = threading.Lock()


class Source(ABC):
    """A tileset and what it refers to. Everything may be called from any thread."""

    #: Address of the root tileset.
    root: str

    @cached_property
    def pictures(self) -> WeakValueDictionary[str, NDArray[np.uint8]]:
        """Pictures in files of their own that are in use, by address: contents share them."""
        return WeakValueDictionary()

    def share(self, address: str, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Keep a picture as long as it is in use; return the one that came first."""
        with _sharing:
            return self.pictures.setdefault(address, picture)

    @abstractmethod
    def resolve(self, base: str, uri: str) -> str:
        """Return the address of a URI that the file at `base` has.

        Raises:
            TilesError: the source does not go there.
        """

    @abstractmethod
    def read(self, address: str) -> bytes:
        """Return the bytes at an address, unpacked where they come packed with gzip.

        Raises:
            TilesError: there are none.
        """

    @abstractmethod
    def label(self, address: str) -> str:
        """Return what errors and logs call an address: nothing secret is in it."""

    @abstractmethod
    def short(self, address: str) -> str:
        """Return the label as seen from the folder of the root tileset."""

    @abstractmethod
    def identity(self, address: str) -> str:
        """Return a text that is equal for addresses of the same file."""

    def fetch(self, base: str, uri: str, least: int = 0) -> bytes:
        """Return what a URI in the file at `base` means, `data:` URIs included.

        Raises:
            TilesError: it cannot be had, or has less than `least` bytes.
        """
        if uri.startswith('data:'):
            return data_uri(uri)
        address = self.resolve(base, uri)
        data = self.read(address)
        if len(data) < least:
            self.forget(address)
            raise TilesError(f'{self.label(address)}: {len(data)} bytes, expected {least}')
        return data

    def forget(self, address: str) -> None:  # noqa: B027 - most keep nothing
        """Let go of a copy of a file that turned out to be damaged."""

    def close(self) -> None:  # noqa: B027 - most have nothing to end
        """Let reads that wait for another try fail at once."""


class FolderSource(Source):
    """A tileset in a folder; addresses are paths."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Take the path of the root tileset."""
        self.root = os.fspath(root)
        self._beside = Path(os.path.abspath(self.root)).parent.parent
        try:
            self._folder = Path(os.path.realpath(self.root)).parent
        except ValueError as error:
            raise TilesError(f'{self.root}: {error}, expected a file of a tileset') from error

    def resolve(self, base: str, uri: str) -> str:
        """Return the path beside the file at `base`; a query is left out.

        Steps upwards end at the parent of the tileset's folder; a tileset around one that is
        elsewhere names it by an absolute path.
        """
        parts = urlsplit(uri)
        if parts.scheme or parts.netloc:
            raise TilesError(
                f'{base}: content {label(uri)[:80]!r} is remote, expected a file beside it')
        path = Path(base).parent / unquote(parts.path)
        inside, leads_inside = (
            self._beside in Path(os.path.abspath(place)).parents for place in (base, path))
        if inside and not leads_inside and not unquote(parts.path).startswith('/'):
            raise TilesError(f'{base}: content {uri[:80]!r} lies outside {self._beside}, expected '
                             'a file of the tileset')
        return str(path)

    def read(self, address: str) -> bytes:
        """Return a file's bytes."""
        try:
            with open_regular(address) as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            said = getattr(error, 'strerror', None) or str(error)
            raise TilesError(f'{address}: {said}, expected a file of a tileset') from error
        if len(data) > MAX_BYTES:
            raise TilesError(f'{address}: more than {MAX_BYTES} bytes, expected a tile')
        return unpacked(data, address)

    def label(self, address: str) -> str:
        """Return the path itself."""
        return address

    def short(self, address: str) -> str:
        """Return the path relative to the folder, its last part where it is elsewhere."""
        try:
            return Path(os.path.realpath(address)).relative_to(self._folder).as_posix()
        except ValueError:
            return Path(address).name

    def identity(self, address: str) -> str:
        """Return the path without links."""
        return os.path.realpath(address)
