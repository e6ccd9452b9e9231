# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tilesets behind HTTP: fetches with retries, a key that stays secret, and a cache.

The key of a service such as the Lands Department's is a parameter of the query. It goes to
the host of the root tileset and to no other; no error, log line or file name has it. The
standard library's client is used because it logs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
import http.client
import logging
import threading
import time
from urllib.parse import parse_qsl
from urllib.parse import quote
from urllib.parse import SplitResult
from urllib.parse import unquote
from urllib.parse import urlencode
from urllib.parse import urljoin
from urllib.parse import urlsplit
from urllib.parse import urlunsplit

from urbanground_ros import __version__
from urbanground_ros.tiles.cache import DiskCache
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.limits import MAX_BYTES
from urbanground_ros.tiles.limits import unpacked
from urbanground_ros.tiles.sources import Source

_LOG = logging.getLogger(__name__)
_CHUNK = 1 << 16
_REDIRECTS = 5
# Answers that another try may change.
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_LONGEST_WAIT = 30.0
_PATH_CHARACTERS = "/%:@!$&'()*+,;=~-._"


@dataclass(frozen=True)
class HttpOptions:
    """How to fetch.

    Attributes:
        connections: How many at once, at most.
        timeout: Seconds without a byte after which a try has failed.
        deadline: Seconds for one try in all.
        tries: For each file.
        backoff: Seconds before the second try, doubled before each further one.
        max_age: Seconds for which a kept file is used without asking.
        offline: Use what is kept and ask nobody.
    """

    connections: int = 8
    timeout: float = 10.0
    deadline: float = 60.0
    tries: int = 4
    backoff: float = 0.5
    max_age: float = 30 * 24 * 3600.0
    offline: bool = False


class _PassingError(Exception):
    """A try failed in a way that another may not; the text tells how."""

    def __init__(self, said: str, wait: float = 0.0) -> None:
        super().__init__(said)
        self.wait = wait


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
        parts = _split(url)
        secrets = parse_qsl(parts.query, keep_blank_values=True)
        if key:
            secrets = [pair for pair in secrets if pair[0] != 'key'] + [('key', key)]
        self._secrets = secrets
        self._origin = (parts.scheme, parts.netloc)
        self.root = self._clean(url)
        self._folder = urljoin(self.root, '.')
        self._cache = cache
        self._options = options or HttpOptions()
        self._slots = threading.BoundedSemaphore(self._options.connections)
        self._local = threading.local()
        self._stale_told = False
        self._closed = threading.Event()

    def resolve(self, base: str, uri: str) -> str:
        """Return the URL of a URI, without the key where the URI repeats it."""
        try:
            url = urljoin(base, uri)
        except ValueError:
            said = f'{self.label(base)}: a content URI is damaged, expected a URI'
            raise TilesError(said) from None
        if urlsplit(url).scheme not in ('http', 'https'):
            raise TilesError(f'{self.label(base)}: content {uri[:80]!r} is not behind HTTP')
        return self._clean(url)

    def label(self, address: str) -> str:
        """Return the URL without query and user."""
        parts = urlsplit(address)
        return urlunsplit((parts.scheme, parts.netloc.rpartition('@')[2], parts.path, '', ''))

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
            data = self._fetch(address)
        except TilesError as error:
            if entry is None:
                raise
            if not self._stale_told:
                self._stale_told = True
                _LOG.warning('%s; what the cache has is used', error)
            return unpacked(entry.data, self.label(address))
        if self._cache is not None:
            self._cache.put(address, data)
        return unpacked(data, self.label(address))

    def forget(self, address: str) -> None:
        """Let go of the copy in the cache, unless there is no other."""
        if self._cache is not None and not self._options.offline:
            self._cache.drop(address)

    def close(self) -> None:
        """Let reads that wait for another try fail at once."""
        self._closed.set()

    def _clean(self, url: str) -> str:
        """Return a URL without the secrets and the fragment, its path quoted."""
        parts = urlsplit(url)
        query = parts.query
        if (parts.scheme, parts.netloc) == self._origin and self._secrets:
            names = {name for name, _ in self._secrets}
            pairs = parse_qsl(query, keep_blank_values=True)
            if any(name in names for name, _ in pairs):
                query = urlencode([pair for pair in pairs if pair[0] not in names])
        path = quote(parts.path, safe=_PATH_CHARACTERS)
        return urlunsplit((parts.scheme, parts.netloc, path, query, ''))

    def _fetch(self, address: str) -> bytes:
        wait = self._options.backoff
        for attempt in range(1, self._options.tries + 1):
            try:
                with self._slots:
                    return self._get(address)
            except _PassingError as error:
                said = error
            if attempt < self._options.tries:
                if self._closed.wait(min(max(wait, said.wait), _LONGEST_WAIT)):
                    break
                wait *= 2
        raise TilesError(
            f'{self.label(address)}: {said}, after {attempt} tries'
        )

    def _get(self, address: str) -> bytes:
        """Try once, redirects included."""
        url = address
        for _ in range(_REDIRECTS + 1):
            status, headers, body = self._request(url)
            if status == 200:
                kind = headers.get('Content-Type', '').partition(';')[0].strip().lower()
                if kind == 'text/html':
                    raise TilesError(
                        f'{self.label(address)}: answered with a page (text/html), expected a '
                        'file of a tileset'
                    )
                return body
            if status in (301, 302, 303, 307, 308) and headers.get('Location'):
                url = self.resolve(url, headers['Location'])
                continue
            said = f'HTTP {status}'
            if status in _PASSING:
                after = headers.get('Retry-After', '')
                raise _PassingError(said, float(after) if after.isdigit() else 0.0)
            if status in (401, 403):
                said += ' (is the key right?)' if self._secrets else ' (does it want a key?)'
            raise TilesError(f'{self.label(address)}: {said}, expected 200')
        raise TilesError(f'{self.label(address)}: more than {_REDIRECTS} redirects')

    def _request(self, url: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        parts = urlsplit(url)
        query = parts.query
        if (parts.scheme, parts.netloc) == self._origin and self._secrets:
            query = '&'.join(filter(None, (query, urlencode(self._secrets))))
        target = urlunsplit(('', '', parts.path or '/', query, ''))
        connection = self._connection(parts.scheme, parts.netloc)
        # A connection that was kept open may have been closed at the other end since.
        kept_open = connection.sock is not None
        failure: Exception
        # Nothing is chained: what these errors say may have the URL in it, key and all.
        try:
            try:
                return self._exchange(connection, target)
            except (ConnectionError, http.client.BadStatusLine):
                connection.close()
                if not kept_open:
                    raise
                return self._exchange(connection, target)
        except TilesError as error:
            failure = TilesError(f'{self.label(url)}: {error}')
        except _PassingError as error:
            failure = error
        except TimeoutError:
            failure = _PassingError(f'no answer in {self._options.timeout:g} s')
        except OSError as error:
            failure = _PassingError(f'no connection ({error.strerror or type(error).__name__})')
        except (http.client.HTTPException, ValueError) as error:
            failure = _PassingError(f'broken answer ({type(error).__name__})')
        connection.close()
        raise failure

    def _exchange(
        self, connection: http.client.HTTPConnection, target: str
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        end = time.monotonic() + self._options.deadline
        connection.request('GET', target, headers={
            'Accept-Encoding': 'gzip', 'User-Agent': f'urbanground/{__version__}',
        })
        response = connection.getresponse()
        expected = response.length
        parts, size = [], 0
        while expected is None or size < expected:
            left = _CHUNK if expected is None else min(_CHUNK, expected - size)
            # Gives what has come, so that a trickle cannot outlast the deadline.
            part = response.read1(left)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > MAX_BYTES:
                raise TilesError(f'more than {MAX_BYTES} bytes, expected a tile')
            if time.monotonic() > end:
                raise _PassingError(f'not whole in {self._options.deadline:g} s')
        if expected is not None and size < expected:
            raise _PassingError(f'{size} bytes of {expected}')
        response.close()
        return response.status, response.headers, b''.join(parts)

    def _connection(self, scheme: str, netloc: str) -> http.client.HTTPConnection:
        """Return this thread's connection to a host."""
        connections = self._local.__dict__.setdefault('connections', {})
        if (scheme, netloc) not in connections:
            kind = http.client.HTTPSConnection if scheme == 'https' else \
                http.client.HTTPConnection
            connections[scheme, netloc] = kind(
                netloc.rpartition('@')[2], timeout=self._options.timeout
            )
        return connections[scheme, netloc]


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ('http', 'https') and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise TilesError(
            f'{url.partition("?")[0]!r} is no URL, expected http:// or https:// and a host'
        )
    return parts
