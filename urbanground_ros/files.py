# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all, and JSON that is read strictly."""

from __future__ import annotations

from contextlib import suppress
import json
import os
from pathlib import Path
from typing import Any
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


def read_json(path: Path, expected: str) -> Any:
    """Read a JSON file (RFC 8259: no NaN, no half characters).

    Raises:
        FileError: naming the file, what is wrong, and what was `expected`.
    """
    try:
        text = path.read_text('utf-8')
        values = json.loads(text, parse_constant=_refuse)
        if '\\u' in text:
            # A lone surrogate can be read from an escape, and never be written again.
            json.dumps(values, ensure_ascii=False).encode()
    except RecursionError:
        raise FileError(f'{path}: is nested too deeply, expected {expected}') from None
    except OSError as error:
        raise FileError(f'{path}: {error.strerror}, expected {expected}') from error
    except ValueError as error:
        raise FileError(f'{path}: {error}, expected {expected}') from error
    return values


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f'{constant} is no JSON number')
