# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Folders of the user's that the package writes to."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return where derived files are kept; it need not exist yet.

    `URBANGROUND_CACHE`, else `urbanground` in `XDG_CACHE_HOME`, else in `~/.cache`.
    """
    return _folder('URBANGROUND_CACHE', 'XDG_CACHE_HOME', '~/.cache')


def data_folder() -> Path:
    """Return where what the user has set up is kept; it need not exist yet.

    `URBANGROUND_DATA`, else `urbanground` in `XDG_DATA_HOME`, else in `~/.local/share`.
    """
    return _folder('URBANGROUND_DATA', 'XDG_DATA_HOME', '~/.local/share')


def _folder(variable: str, base_variable: str, base: str) -> Path:
    own = os.environ.get(variable)
    if own:
        return Path(own).expanduser()
    return Path(os.environ.get(base_variable) or base).expanduser() / 'urbanground'
