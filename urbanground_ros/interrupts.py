# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM, alike and once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import signal

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts() -> Iterator[None]:
    """Have the first SIGINT or SIGTERM raise KeyboardInterrupt in a block, and ignore later ones.

    A terminal and `ros2 launch` may each send one: a second one must not disturb the end that
    the first one began. For the main thread only.
    """
    def interrupt(*_: object) -> None:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in _SIGNALS}
    # After an interrupt the process ends, and the signals stay ignored.
    yield
    for number, handler in previous.items():
        signal.signal(number, handler)
