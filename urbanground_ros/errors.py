# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The error that every room raises for bad input, and how values are shown in it."""

from __future__ import annotations

from reprlib import Repr
from typing import Any

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def show(value: Any) -> str:
    """Return a value as it is told in an error: cut short, however long or deep it is."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # a number of thousands of digits
        return 'a huge number'


class UrbanGroundError(Exception):
    """Bad input or a failed part, told in one line.

    The text says what was wrong, where, and what was expected. The command line prints it
    alone, without a traceback, and ends with status 1.
    """
