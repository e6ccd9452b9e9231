# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fonts for signs: Pillow's own for English, Noto Sans CJK or a system font for Chinese."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
import logging
from pathlib import Path

from PIL import features
from PIL import ImageFont

_log = logging.getLogger(__name__)

# Hong Kong's forms are the fifth font of the collection.
_PACKAGE, _FILE, _FACE = 'manimgx_fonts_cjk', 'NotoSansCJK-VF.otf.ttc', 4
_WEIGHT = 700
_SYSTEM = (
    ('/usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc', 4),
    ('/usr/share/fonts/truetype/wqy/wqy-microhei.ttc', 0),
    ('/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc', 0),
)


@cache
def chinese_font_file() -> tuple[Path, int] | None:
    """Return a font file with Chinese glyphs and the face in it; None, told once, without one."""
    spec = find_spec(_PACKAGE)
    candidates = [(Path(path), face) for path, face in _SYSTEM]
    if spec is not None and spec.origin is not None:
        candidates.insert(0, (Path(spec.origin).parent / _FILE, _FACE))
    for path, face in candidates:
        if path.is_file():
            return path, face
    _log.warning(
        'signs are in English only: no Chinese font, expected the Python package '
        'manimgx-fonts-cjk or the Debian package fonts-noto-cjk'
    )
    return None


@cache
def chinese_font(points: int) -> ImageFont.FreeTypeFont | None:
    """Return a bold Chinese font of a size in pixels, None where there is none."""
    found = chinese_font_file()
    if found is None:
        return None
    font = ImageFont.truetype(found[0], points, index=found[1])
    if found[0].name == _FILE:
        font.set_variation_by_axes([_WEIGHT])
    return font


@cache
def english_font(points: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return Pillow's own font of a size in pixels."""
    return ImageFont.load_default(points)


def font_signature() -> str:
    """Return what the drawing of signs depends on: versions and the Chinese font file."""
    found = chinese_font_file()
    size = '' if found is None else f'{found[0].name} {found[0].stat().st_size}'
    return f'{features.version("freetype2")} {size}'
