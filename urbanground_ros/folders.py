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
    own = os.environ.get('URBANGROUND_CACHE')
    if own:
        return Path(own).expanduser()
    base = os.environ.get('XDG_CACHE_HOME')
    return (Path(base) if base else Path('~/.cache').expanduser()) / 'urbanground'
