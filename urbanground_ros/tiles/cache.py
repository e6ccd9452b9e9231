# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files from afar, kept on disk: found by address, checked, bounded in size."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
import hashlib
import logging
import os
from pathlib import Path
import struct
import tempfile
import threading
import time

_LOG = logging.getLogger(__name__)
_MAGIC = b'UGTILE01'
_HEADER = struct.Struct('<8sd32s')
# After an eviction this share of the limit is left in use.
_KEPT = 0.9

#: Bytes that a cache holds at most, where nothing else is said.
DEFAULT_LIMIT = 8 << 30


@dataclass(frozen=True)
class Entry:
    """A kept file, and how many seconds ago it was fetched."""

    data: bytes
    age: float


class DiskCache:
    """A folder of files named by a hash of their address.

    Several threads and processes may share one. What is least recently used goes first. A
    damaged entry counts as missing, a folder that cannot be written keeps nothing: each is
    told once and costs no more than the time to fetch again.
    """

    def __init__(self, folder: Path, limit: int = DEFAULT_LIMIT) -> None:
        """Use a folder, which need not exist, and at most `limit` bytes in it."""
        self._folder = folder
        self._limit = limit
        self._lock = threading.Lock()
        self._used: int | None = None
        self._told: set[str] = set()

    def get(self, address: str) -> Entry | None:
        """Return what is kept for an address."""
        path = self._path(address)
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._tell(f'cannot be read ({error.strerror})')
            return None
        # On a file system that is read only, what is there still serves.
        with suppress(OSError):
            os.utime(path)
        data = raw[_HEADER.size:]
        if len(raw) >= _HEADER.size:
            magic, fetched, digest = _HEADER.unpack_from(raw)
            if magic == _MAGIC and digest == hashlib.sha256(data).digest():
                return Entry(data, max(0.0, time.time() - fetched))
        self._tell(f'has a damaged entry ({path.name}), which is fetched again')
        self.drop(address)
        return None

    def put(self, address: str, data: bytes) -> None:
        """Keep a file; it appears whole or not at all."""
        size = _HEADER.size + len(data)
        if size > self._limit:
            return
        path = self._path(address)
        header = _HEADER.pack(_MAGIC, time.time(), hashlib.sha256(data).digest())
        with self._lock:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._make_room(size)
                replaced = path.stat().st_size if path.exists() else 0
                _write(path, header + data)
                self._used = (self._used or 0) + size - replaced
            except OSError as error:
                self._tell(f'cannot be written ({error.strerror}), so nothing is kept')

    def drop(self, address: str) -> None:
        """Forget what is kept for an address."""
        try:
            self._path(address).unlink(missing_ok=True)
        except OSError as error:
            self._tell(f'cannot be written ({error.strerror})')

    def _path(self, address: str) -> Path:
        name = hashlib.sha256(address.encode()).hexdigest()
        return self._folder / name[:2] / name

    def _make_room(self, size: int) -> None:
        """Remove what was not used for longest until `size` bytes more are within the limit."""
        if self._used is not None and self._used + size <= self._limit:
            return
        entries = []
        for path in self._folder.glob('??/*'):
            try:
                state = path.stat()
            except FileNotFoundError:
                continue
            entries.append((state.st_mtime, state.st_size, path))
        self._used = sum(entry[1] for entry in entries)
        if self._used + size <= self._limit:
            return
        for _, length, path in sorted(entries):
            path.unlink(missing_ok=True)
            self._used -= length
            if self._used + size <= self._limit * _KEPT:
                break

    def _tell(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            _LOG.warning('cache %s %s', self._folder, what)


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, without flushing: the digest finds what a crash cut."""
    handle, temporary = tempfile.mkstemp(prefix='.', dir=path.parent)
    try:
        with os.fdopen(handle, 'wb') as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
