# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fetches from a service behind HTTP: with retries, within bounds, its key kept secret.

The key of a service such as the Lands Department's is a parameter of the query. It goes to
the host that it was given for and to no other; no error and no log line has it. The standard
library's client is used because it logs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
import http.client
import io
import logging
import re
import socket
import threading
import time
from typing import Any
from typing import TypeVar
from urllib.parse import parse_qsl
from urllib.parse import quote
from urllib.parse import SplitResult
from urllib.parse import urlencode
from urllib.parse import urljoin
from urllib.parse import urlsplit
from urllib.parse import urlunsplit
import zlib

from urbanground_ros import __version__
from urbanground_ros.errors import UrbanGroundError

_log = logging.getLogger(__name__)

T = TypeVar('T')

#: Bytes of one answer, as it comes and unpacked: what is larger is refused.
MAX_BYTES = 256 << 20

_CHUNK = 1 << 16
_REDIRECTS = 5
# Answers that another try may change.
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
# Seconds between the tries for one answer, all together.
_PATIENCE = 30.0
# A shorter value of a query is no secret, and may be part of anything.
_SECRET_LENGTH = 4
_PATH_CHARACTERS = "/%:@!$&'()*+,;=~-._"


class HttpError(UrbanGroundError):
    """What a service does not give."""


class PassingError(HttpError):
    """A try failed in a way that another may not; `wait` seconds should pass before it."""

    def __init__(self, said: str, wait: float = 0.0) -> None:
        super().__init__(said)
        self.wait = wait


@dataclass(frozen=True)
class HttpLimits:
    """How to fetch.

    Attributes:
        connections: How many at once, at most.
        timeout: Seconds without a byte after which a try has failed.
        deadline: Seconds for one try in all, redirects and headers included.
        tries: For each answer.
        backoff: Seconds before the second try, doubled before each further one.
    """

    connections: int = 8
    timeout: float = 10.0
    deadline: float = 60.0
    tries: int = 4
    backoff: float = 0.5


class HttpClient:
    """A service behind HTTP or HTTPS; addresses are URLs without the key.

    Everything may be called from any thread.
    """

    def __init__(self, url: str, key: str | None = None, limits: HttpLimits | None = None, *,
                 key_name: str = 'key', expected: str = 'a file') -> None:
        """Take a URL of the service.

        Args:
            url: What query it has is treated as the key is.
            key: Goes with every query to the host of `url`.
            limits: How to fetch.
            key_name: The parameter of the query that has the key.
            expected: What errors call a good answer.

        Raises:
            HttpError: not a URL of HTTP.
        """
        parts = _split(url)
        secrets = parse_qsl(parts.query, keep_blank_values=True)
        if key:
            secrets = [pair for pair in secrets if pair[0] != key_name] + [(key_name, key)]
        self._secrets = secrets
        self._origin = (parts.scheme, parts.netloc)
        self._limits = limits or HttpLimits()
        self._expected = expected
        self._slots = threading.BoundedSemaphore(self._limits.connections)
        self._local = threading.local()
        self._closed = threading.Event()
        self._told = False
        self.url = self.clean(url)

    def clean(self, url: str) -> str:
        """Return a URL without the secrets and the fragment, its path quoted."""
        parts = urlsplit(url)
        query = parts.query
        if (parts.scheme, parts.netloc) == self._origin and self._secrets:
            names = {name for name, _ in self._secrets}
            pairs = parse_qsl(query, keep_blank_values=True)
            if any(name in names for name, _ in pairs):
                query = urlencode([pair for pair in pairs if pair[0] not in names])
        path = quote(parts.path, safe=_PATH_CHARACTERS)
        query = quote(query, safe=f'{_PATH_CHARACTERS}?')
        return urlunsplit((parts.scheme, parts.netloc, path, query, ''))

    def resolve(self, base: str, uri: str) -> str:
        """Return the URL of a URI, without the key where the URI repeats it.

        Raises:
            HttpError: not a URL of HTTP.
        """
        try:
            url = urljoin(base, uri)
            _split(url)
            return self.clean(url)
        except (HttpError, ValueError):
            raise HttpError(
                f'{label(base)}: content {label(self.hide(uri))[:80]!r} is not behind HTTP'
            ) from None

    def fetch(self, address: str, read: Callable[[bytes], T]) -> T:
        """Return what `read` makes of an answer; where it raises `PassingError`, try again.

        Raises:
            HttpError: no answer, or none that can be read; `PassingError` where that may change.
        """
        wait, patience = self._limits.backoff, _PATIENCE
        for attempt in range(1, self._limits.tries + 1):
            try:
                with self._slots:
                    return read(self._get(address))
            except PassingError as error:
                said = error
            except HttpError as error:
                raise HttpError(self.hide(str(error))) from None
            if patience <= 0:
                break
            if attempt < self._limits.tries:
                if not self._told:
                    # Whoever waits shall know for what; once is enough.
                    self._told = True
                    _log.warning('%s: %s, trying up to %d times', self.hide(label(address)),
                                 said, self._limits.tries)
                pause = min(max(wait, said.wait), patience)
                patience -= pause
                if self._closed.wait(pause):
                    break
                wait *= 2
        raise PassingError(
            self.hide(f'{label(address)}: {said}, after {attempt} tries')
        )

    def hide(self, text: str) -> str:
        """Return a text of the service without the secrets that it may repeat."""
        for _, value in self._secrets:
            if len(value) >= _SECRET_LENGTH:
                for form in (value, quote(value, safe=''), quote(value)):
                    text = text.replace(form, '…')
        return text

    def close(self) -> None:
        """Let fetches that wait for another try fail at once."""
        self._closed.set()

    def _get(self, address: str) -> bytes:
        """Try once, redirects included."""
        url, end = address, time.monotonic() + self._limits.deadline
        for _ in range(_REDIRECTS + 1):
            status, headers, body = self._request(url, end)
            if status == 200:
                kind = headers.get('Content-Type', '').partition(';')[0].strip().lower()
                if kind == 'text/html':
                    raise HttpError(
                        f'{label(address)}: answered with a page (text/html), expected '
                        f'{self._expected}'
                    )
                return body
            if status in (301, 302, 303, 307, 308) and headers.get('Location'):
                url = self.resolve(url, headers['Location'])
                continue
            said = f'HTTP {status}'
            if status in _PASSING:
                after = headers.get('Retry-After', '')
                raise PassingError(said, float(after) if re.fullmatch('[0-9]+', after) else 0.0)
            if status in (401, 403):
                said += ' (is the key right?)' if self._secrets else ' (does it want a key?)'
            raise HttpError(f'{label(address)}: {said}, expected 200')
        raise HttpError(f'{label(address)}: more than {_REDIRECTS} redirects')

    def _request(
        self, url: str, end: float
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        parts = urlsplit(url)
        query = parts.query
        if (parts.scheme, parts.netloc) == self._origin and self._secrets:
            query = '&'.join(filter(None, (query, urlencode(self._secrets))))
        target = urlunsplit(('', '', parts.path or '/', query, ''))
        try:
            connection = self._connection(parts.scheme, parts.netloc)
        except http.client.InvalidURL:
            raise HttpError(f'{label(url)}: damaged host or port, expected a URL') from None
        # A connection that was kept open may have been closed at the other end since.
        kept_open = connection.sock is not None
        failure: Exception
        # Nothing is chained: what these errors say may have the URL in it, key and all.
        try:
            try:
                return self._exchange(connection, target, end)
            except (ConnectionError, http.client.BadStatusLine):
                connection.close()
                if not kept_open:
                    raise
                return self._exchange(connection, target, end)
        except PassingError as error:
            failure = error
        except HttpError as error:
            failure = HttpError(f'{label(url)}: {error}')
        except TimeoutError:
            failure = PassingError(f'no answer in {self._limits.timeout:g} s')
        except OSError as error:
            failure = PassingError(f'no connection ({error.strerror or type(error).__name__})')
        except (http.client.HTTPException, ValueError) as error:
            failure = PassingError(f'broken answer ({type(error).__name__})')
        connection.close()
        raise failure

    def _exchange(
        self, connection: http.client.HTTPConnection, target: str, end: float
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        if connection.sock is not None:
            connection.sock.settimeout(self._limits.timeout)
        connection.response_class = partial(  # type: ignore[assignment]
            _Response, limits=self._limits, end=end)
        connection.request('GET', target, headers={
            'Accept-Encoding': 'gzip', 'User-Agent': f'urbanground/{__version__}',
        })
        response = connection.getresponse()
        expected = response.length
        parts, size = [], 0
        while expected is None or size < expected:
            left = _CHUNK if expected is None else min(_CHUNK, expected - size)
            part = response.read1(left)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > MAX_BYTES:
                raise HttpError(f'more than {MAX_BYTES} bytes, expected {self._expected}')
        if expected is not None and size < expected:
            raise PassingError(f'{size} bytes of {expected}')
        response.close()
        return response.status, response.headers, b''.join(parts)

    def _connection(self, scheme: str, netloc: str) -> http.client.HTTPConnection:
        """Return this thread's connection to a host."""
        connections = self._local.__dict__.setdefault('connections', {})
        if (scheme, netloc) not in connections:
            kind = http.client.HTTPSConnection if scheme == 'https' else \
                http.client.HTTPConnection
            connections[scheme, netloc] = kind(
                netloc.rpartition('@')[2], timeout=self._limits.timeout
            )
        return connections[scheme, netloc]


class _Response(http.client.HTTPResponse):
    """An answer that must have come whole, headers included, when a time is over."""

    def __init__(self, sock: socket.socket, method: str, limits: HttpLimits, end: float) -> None:
        super().__init__(sock, method=method)
        self._stream = _Stream(self.fp.detach(), sock, limits, end)
        self.fp = io.BufferedReader(self._stream)

    def begin(self) -> None:
        super().begin()
        if self._stream.ended:
            raise PassingError('broken answer (its headers end early)')


class _Stream(io.RawIOBase):
    """What comes from a socket: each read waits no longer than there is time."""

    def __init__(
        self, raw: io.RawIOBase, sock: socket.socket, limits: HttpLimits, end: float
    ) -> None:
        self._raw = raw
        self._sock = sock
        self._limits = limits
        self._end = end
        self.ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        try:
            self._sock.settimeout(min(self._limits.timeout, max(left, 1e-3)))
            count = self._raw.readinto(buffer)
        except TimeoutError:
            if left > self._limits.timeout:
                raise
            left = 0.0
        if left <= 0:
            raise PassingError(f'not whole in {self._limits.deadline:g} s')
        self.ended = count == 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def label(address: str) -> str:
    """Return a URL without query and user, for errors and logs; it may be damaged."""
    return re.sub('(?<=//)[^/]*@', '', re.split('[?#]', address, maxsplit=1)[0])


def gunzip(data: bytes) -> bytes:
    """Return data that may be packed with gzip, as services often send it.

    Raises:
        ValueError: damaged, or more than `MAX_BYTES`, told without a name.
    """
    if data[:2] != b'\x1f\x8b':
        return data
    stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        result = stream.decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise ValueError(f'damaged gzip ({error}), expected a whole file') from error
    if stream.unconsumed_tail:
        raise ValueError(f'unpacks to more than {MAX_BYTES} bytes, expected less')
    if not stream.eof:
        raise ValueError('gzip ends early, expected a whole file')
    return result


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ('http', 'https') and bool(parts.hostname) and parts.port != 0 \
            and re.search('[\\0- \x7f]', parts.netloc) is None
    except ValueError:
        sound = False
    if not sound:
        raise HttpError(
            f'{label(url)!r} is no URL, expected http:// or https:// and a host'
        )
    return parts
