# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Progress of long work: a line that is drawn over on a terminal."""

from __future__ import annotations

import math
import sys
import time
from typing import TextIO

_WIDTH = 24
# Seconds between two lines.
_QUIET = 0.5


def _bar(share: float) -> str:
    fill = round(_WIDTH * share)
    return '#' * fill + '.' * (_WIDTH - fill)


def _draw_over(stream: TextIO, line: str, end: str = '') -> None:
    print(f'\r\x1b[K{line[:150]}', end=end, file=stream, flush=True)


class Progress:
    """A bar of counted work with rate and time left; lines where there is no terminal.

    Of those there are at most two a second, and the last.
    """

    def __init__(self, what: str, total: int, stream: TextIO = sys.stderr) -> None:
        """Begin at 0 of `total`."""
        self._what = what
        self._total = total
        self._done = 0
        self._stream = stream
        self._start = time.monotonic()
        self._told = -math.inf

    def advance(self, text: str = '') -> None:
        """Count one more, and say what it was."""
        self._done += 1
        now = time.monotonic()
        took = now - self._start
        rate = self._done / took if took > 0 else 0.0
        left = round((self._total - self._done) / rate) if rate else 0
        bar = _bar(self._done / self._total)
        line = (f'{self._what} [{bar}] {self._done}/{self._total} {rate * 60:.1f}/min '
                f'{left // 60}:{left % 60:02d} left  {text}')
        if self._stream.isatty():
            _draw_over(self._stream, line, '' if self._done < self._total else '\n')
        elif now - self._told > _QUIET or self._done == self._total:
            self._told = now
            print(line, file=self._stream, flush=True)


class Bar:
    """A bar of some seconds' work in shares, wiped at the end; silent without a terminal."""

    def __init__(self, what: str, stream: TextIO = sys.stderr) -> None:
        """Name the work."""
        self._what = what
        self._stream = stream

    def __enter__(self) -> Bar:
        """Begin."""
        return self

    def show(self, share: float, text: str) -> None:
        """Show the share that is done, from 0 to 1, and what comes next."""
        if self._stream.isatty():
            _draw_over(self._stream, f'{self._what} [{_bar(share)}] {share:4.0%} {text}')

    def __exit__(self, *_: object) -> None:
        """Wipe the line."""
        if self._stream.isatty():
            _draw_over(self._stream, '')
