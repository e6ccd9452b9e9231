# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The error of the tiles room, and how damage becomes one."""

from collections.abc import Iterator
from contextlib import contextmanager
import struct

from PIL import Image

from urbanground_ros.errors import UrbanGroundError


class TilesError(UrbanGroundError):
    """A tileset or a tile content that cannot be used, told in one line."""

    def __init__(self, said: str) -> None:
        """Take the line; what of it a terminal would not print, names of files have."""
        super().__init__(printable(said))


class AwayError(TilesError):
    """A service that does not answer: later it may."""


def printable(text: str) -> str:
    """Return a text with escapes for what a terminal would not print."""
    return ''.join(
        part if part.isprintable() else part.encode('unicode_escape').decode() for part in text
    )


# What the decoders raise on a damaged file, those of C extensions included.
_DAMAGE = (
    ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RecursionError,
    RuntimeError, SyntaxError, TypeError, ValueError, struct.error,
    Image.DecompressionBombError,
)


@contextmanager
def telling_damage(name: str, expected: str) -> Iterator[None]:
    """Turn what damaged data makes a decoder raise into one line about `name`.

    Raises:
        TilesError: for any such error.
    """
    try:
        yield
    except TilesError:
        raise
    except _DAMAGE as error:
        said = ' '.join(str(error).split())[:160]
        raise TilesError(
            f'{name}: damaged ({type(error).__name__}: {said}), expected {expected}'
        ) from error
