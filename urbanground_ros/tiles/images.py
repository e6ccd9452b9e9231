# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of tiles: JPEG, PNG, WebP, and KTX 2 with a Basis Universal payload."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
import opengl_basisu
from PIL import Image
from PIL import UnidentifiedImageError

from urbanground_ros.tiles.errors import telling_damage
from urbanground_ros.tiles.limits import Budget


def decode_image(data: bytes, name: str, pixels: Budget) -> NDArray[np.uint8]:
    """Return a picture as (H, W, 3) uint8, row 0 at the top; its size is spent first.

    Raises:
        TilesError: damaged, of another format, or beyond the budget.
    """
    with telling_damage(name, 'JPEG, PNG, WebP or KTX 2 (ETC1S, UASTC)'):
        if data[:12] == opengl_basisu.texture.KTX2_IDENTIFIER:
            texture = opengl_basisu.open(data)
            pixels.spend(texture.width * texture.height)
            return np.ascontiguousarray(
                texture.transcode(opengl_basisu.Target.RGBA8).data[..., :3]
            )
        try:
            opened = Image.open(BytesIO(data), formats=('JPEG', 'PNG', 'WEBP'))
        except UnidentifiedImageError:
            # What it says has an address in memory.
            raise ValueError(f'starts with {data[:8]!r}') from None
        with opened as picture:
            pixels.spend(picture.width * picture.height)
            return np.asarray(picture.convert('RGB'))
