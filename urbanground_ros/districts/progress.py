# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A bar on a terminal for the seconds that writing a district takes; silent elsewhere."""

from __future__ import annotations

import sys
from typing import TextIO

_WIDTH = 24


class Bar:
    """A line that is drawn over, and wiped at the end."""

    def __init__(self, what: str, stream: TextIO = sys.stderr) -> None:
        self._what = what
        self._stream = stream

    def __enter__(self) -> Bar:
        """Begin."""
        return self

    def show(self, share: float, text: str) -> None:
        """Show the share that is done, from 0 to 1, and what comes next."""
        fill = round(_WIDTH * share)
        bar = '#' * fill + '.' * (_WIDTH - fill)
        self._draw(f'{self._what} [{bar}] {share:4.0%} {text}')

    def __exit__(self, *_: object) -> None:
        """Wipe the line."""
        self._draw('')

    def _draw(self, line: str) -> None:
        if self._stream.isatty():
            print(f'\r\x1b[K{line[:100]}', end='', file=self._stream, flush=True)
