# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lamps of a district: on posts along streets and paths, and under roofs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from urbanground_ros.districts.soup import bar
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import prism
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.soup import square
from urbanground_ros.districts.textures import glow_uv
from urbanground_ros.tiles import Lamp

_WARM = (1.0, 0.80, 0.55)
_COOL = (0.95, 0.97, 1.0)
_STREET = Lamp((0.0, 0.0, 0.0), _WARM, 1200.0, 24.0)
_PATH = Lamp((0.0, 0.0, 0.0), _WARM, 320.0, 14.0)
_CEILING = Lamp((0.0, 0.0, 0.0), _COOL, 140.0, 9.0)
_STREET_HEIGHT = 7.5
_PATH_HEIGHT = 3.5


def street_lamp(soup: Soup, foot: FloatArray, over: FloatArray) -> None:
    """Add a lamp post whose arm reaches over the street, along the unit vector `over` (2,)."""
    top = foot[2] + _STREET_HEIGHT
    soup.paint('steel', prism(square(foot, 0.08), foot[2] - 0.3, top))
    arm = bar(foot[:2], foot[:2] + over * 1.8, 0.1)
    soup.paint('steel', prism(arm, top - 0.1, top))
    head = prism(bar(foot[:2] + over * 1.3, foot[:2] + over * 2.1, 0.3), top - 0.22, top - 0.08)
    soup.paint('white', head[:5])
    glow(soup, 'white', head[5:])
    x, y = foot[:2] + over * 1.7
    soup.shine(_STREET, (x, y, top - 0.25))


def path_lamp(soup: Soup, foot: FloatArray) -> None:
    """Add a post with a lantern on it."""
    top = foot[2] + _PATH_HEIGHT
    soup.paint('charcoal', prism(square(foot, 0.06), foot[2] - 0.3, top - 0.4))
    glow(soup, 'white', prism(square(foot, 0.15), top - 0.4, top - 0.05))
    soup.paint('charcoal', prism(square(foot, 0.22), top - 0.05, top))
    soup.shine(_PATH, (foot[0], foot[1], top - 0.4))


def ceiling_lamp(soup: Soup, start: FloatArray, end: FloatArray, ceiling: float) -> None:
    """Add a tube along a line (2,) under a ceiling."""
    glow(soup, 'white', prism(bar(start, end, 0.2), ceiling - 0.06, ceiling + 0.02))
    x, y = (start + end) / 2
    soup.shine(_CEILING, (x, y, ceiling - 0.1))


def glow(soup: Soup, color: str, corners: ArrayLike) -> None:
    """Add quads that shine in a colour of `textures.GLOWS` after dark."""
    quads = np.asarray(corners, np.float64).reshape(-1, 4, 3)
    soup.add('glow', quads, np.broadcast_to(glow_uv(color), (len(quads), 4, 2)))
