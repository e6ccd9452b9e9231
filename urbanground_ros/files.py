# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all, and JSON that is read strictly."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
import errno
import json
import os
from pathlib import Path
import stat
from typing import Any
from typing import BinaryIO
from typing import NoReturn

from urbanground_ros.errors import UrbanGroundError


class FileError(UrbanGroundError):
    """A file that cannot be read or written."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, flush it to disk, and rename it.

    Raises:
        FileError: the disk is full or the folder not writable.
    """
    temporary = path.with_name(f'.{path.name}.{os.getpid()}')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open('wb') as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f'{path}: cannot be written: {error.strerror}') from error


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read: a pipe or a device would never end.

    Raises:
        OSError: it cannot be opened, or is none.
        ValueError: that is no path.
    """
    # Opening a pipe would wait for a writer.
    file = open(  # noqa: SIM115 - whoever asked for it closes it
        path, 'rb', opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, 'not a regular file')
    return file


def read_file(path: Path, most_bytes: int | None = None) -> bytes:
    """Read a regular file.

    Raises:
        FileError: it cannot be read, is none, or is larger than `most_bytes`.
    """
    try:
        with open_regular(path) as file:
            content = file.read(-1 if most_bytes is None else most_bytes + 1)
    except OSError as error:
        raise FileError(f'{path}: cannot be read: {error.strerror}') from error
    except ValueError as error:  # a NUL in the name
        raise FileError(f'{path}: cannot be read: {error}') from error
    if most_bytes is not None and len(content) > most_bytes:
        raise FileError(f'{path}: is larger than {most_bytes} bytes')
    return content


def make_folder(path: Path) -> None:
    """Make a folder, with those above it, where it is not there yet.

    Raises:
        FileError: it cannot be made, or is no folder that can be written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f'.probe.{os.getpid()}'
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise FileError(f'{path}: cannot be written: {error.strerror}') from error


def read_json(path: Path, expected: str, most_bytes: int | None = None) -> Any:
    """Read a JSON file (RFC 8259: UTF-8, no NaN, no half characters, no key twice).

    A larger one than `most_bytes` is not read.

    Raises:
        FileError: naming the file, what is wrong, and what was `expected`.
    """
    try:
        content = read_file(path, most_bytes)
        text = content.decode('utf-8-sig')
        if not text.strip():
            raise ValueError('is empty')
        values = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
        if '\\u' in text:
            # A lone surrogate can be read from an escape, and never be written again.
            json.dumps(values, ensure_ascii=False).encode()
    except FileError as error:
        raise FileError(f'{error}, expected {expected}') from error
    except RecursionError:
        raise FileError(f'{path}: is nested too deeply, expected {expected}') from None
    except UnicodeDecodeError as error:
        raise FileError(
            f'{path}: byte {error.start} is not UTF-8, expected {expected}'
        ) from error
    except ValueError as error:
        raise FileError(f'{path}: {error}, expected {expected}') from error
    return values


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f'key {twice!r:.80} is there twice')
    return values


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f'{constant} is no JSON number')
