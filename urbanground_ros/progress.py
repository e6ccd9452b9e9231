# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Progress of long work: a line that is drawn over on a terminal, one line each elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Progress:
    """A bar with rate and time left."""

    WIDTH = 24

    def __init__(self, what: str, total: int, stream: TextIO = sys.stderr) -> None:
        """Begin at 0 of `total`."""
        self._what = what
        self._total = total
        self._done = 0
        self._stream = stream
        self._start = time.monotonic()

    def advance(self, text: str = '') -> None:
        """Count one more, and say what it was."""
        self._done += 1
        took = time.monotonic() - self._start
        rate = self._done / took if took > 0 else 0.0
        left = round((self._total - self._done) / rate) if rate else 0
        fill = round(self.WIDTH * self._done / self._total)
        bar = '#' * fill + '.' * (self.WIDTH - fill)
        line = (f'{self._what} [{bar}] {self._done}/{self._total} {rate * 60:.1f}/min '
                f'{left // 60}:{left % 60:02d} left  {text}')
        if self._stream.isatty():
            print(f'\r\x1b[K{line[:150]}', end='' if self._done < self._total else '\n',
                  file=self._stream, flush=True)
        else:
            print(line, file=self._stream, flush=True)
