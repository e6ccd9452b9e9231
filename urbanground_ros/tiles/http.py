# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tilesets behind HTTP: fetched with a key that stays secret, and kept in a cache.

No file name of the cache has the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import logging
from urllib.parse import unquote
from urllib.parse import urljoin

from urbanground_ros.http import HttpClient
from urbanground_ros.http import HttpError
from urbanground_ros.http import HttpLimits
from urbanground_ros.http import label
from urbanground_ros.http import PassingError
from urbanground_ros.tiles.cache import DiskCache
from urbanground_ros.tiles.errors import AwayError
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.limits import unpacked
from urbanground_ros.tiles.sources import Source

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class HttpOptions(HttpLimits):
    """How to fetch, and when not to.

    Attributes:
        max_age: Seconds for which a kept file is used without asking.
        offline: Use what is kept and ask nobody.
    """

    max_age: float = 30 * 24 * 3600.0
    offline: bool = False


class HttpSource(Source):
    """A tileset behind HTTP or HTTPS; addresses are URLs without the key."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        cache: DiskCache | None = None,
        options: HttpOptions | None = None,
    ) -> None:
        """Take the URL of the root tileset.

        Args:
            url: What query it has is treated as the key is.
            key: Value of the parameter `key`.
            cache: Where fetched files are kept.
            options: How to fetch.

        Raises:
            TilesError: not a URL of HTTP.
        """
        self._options = options or HttpOptions()
        with _telling():
            self._client = HttpClient(url, key, self._options, expected='a file of a tileset')
        self.root = self._client.url
        self._folder = urljoin(self.root, '.')
        self._cache = cache
        self._stale_told = False

    def resolve(self, base: str, uri: str) -> str:
        """Return the URL of a URI, without the key where the URI repeats it."""
        with _telling():
            return self._client.resolve(base, uri)

    def label(self, address: str) -> str:
        """Return the URL without query and user."""
        return label(address)

    def short(self, address: str) -> str:
        """Return the path below the folder of the root, the whole path where it is elsewhere."""
        return unquote(self.label(address).removeprefix(self._folder))

    def identity(self, address: str) -> str:
        """Return the URL itself."""
        return address

    def read(self, address: str) -> bytes:
        """Return a file from the cache or the service; the cache also where the latter fails."""
        entry = None if self._cache is None else self._cache.get(address)
        if entry is not None and (self._options.offline or entry.age <= self._options.max_age):
            return unpacked(entry.data, self.label(address))
        if self._options.offline:
            raise TilesError(f'{self.label(address)}: not in the cache, and offline')
        try:
            with _telling():
                data = self._client.fetch(address, bytes)
        except TilesError as error:
            if entry is None:
                raise
            if not self._stale_told:
                self._stale_told = True
                _LOG.warning('%s; what the cache has is used', error)
            return unpacked(entry.data, self.label(address))
        whole = unpacked(data, self.label(address))
        if self._cache is not None:
            self._cache.put(address, data)
        return whole

    def forget(self, address: str) -> None:
        """Let go of the copy in the cache, unless there is no other."""
        if self._cache is not None and not self._options.offline:
            self._cache.drop(address)

    def close(self) -> None:
        """Let reads that wait for another try fail at once."""
        self._client.close()


@contextmanager
def _telling() -> Iterator[None]:
    """Turn what the client says into this room's error; nothing is chained."""
    try:
        yield
    except PassingError as error:
        raise AwayError(str(error)) from None
    except HttpError as error:
        raise TilesError(str(error)) from None
