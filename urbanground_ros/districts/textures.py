# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Textures of a district, drawn from a seed: grounds, facades, shop fronts and signs."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL import ImageDraw
from PIL import ImageFilter

from urbanground_ros.districts.fonts import chinese_font
from urbanground_ros.districts.fonts import english_font
from urbanground_ros.districts.soup import PALETTE

Texture = NDArray[np.uint8]
Color = tuple[int, int, int]

FACADES = 6
"""Number of facade textures; each shows 4 bays by 4 storeys."""
FRONTS = (
    'bakery', 'restaurant', 'cafe', 'pharmacy', 'convenience', 'bank', 'books', 'clothes',
    'florist', 'hairdresser', 'hardware', 'clinic', 'optician', 'shutter', 'lobby', 'blank',
)
"""Shop fronts in the atlas from left to right, 4 in a row."""

TRIMS = ('sand', 'brick', 'slate', 'teal', 'olive', 'rust', 'cream', 'navy')
"""Colours of the glazed tiles over shop fronts."""

_PALETTE_RGB: dict[str, Color] = {
    'white': (236, 234, 228), 'cream': (226, 212, 182), 'sand': (196, 178, 146),
    'brick': (146, 82, 64), 'rust': (138, 92, 62), 'olive': (104, 112, 78),
    'slate': (96, 108, 120), 'charcoal': (58, 60, 64), 'steel': (142, 148, 152),
    'teal': (52, 112, 112), 'navy': (38, 54, 92), 'red': (176, 42, 40),
    'orange': (206, 116, 44), 'yellow': (226, 190, 62), 'green': (58, 104, 56),
    'timber': (112, 82, 56),
}
_FACADE_WALLS: tuple[Color, ...] = (
    (226, 208, 176), (186, 202, 206), (216, 176, 154), (204, 200, 206), (196, 206, 178),
    (232, 220, 204),
)
_FRONT_COLORS: dict[str, Color] = {
    'bakery': (224, 170, 84), 'restaurant': (168, 52, 40), 'cafe': (110, 76, 52),
    'pharmacy': (44, 132, 92), 'convenience': (40, 104, 172), 'bank': (52, 66, 100),
    'books': (96, 70, 110), 'clothes': (176, 96, 120), 'florist': (92, 142, 70),
    'hairdresser': (76, 76, 84), 'hardware': (150, 108, 50), 'clinic': (78, 150, 168),
    'optician': (60, 84, 120), 'shutter': (128, 132, 134), 'lobby': (120, 104, 88),
    'blank': (170, 166, 158),
}
_TRADES = (
    ('押', 'PAWN'), ('金行', 'GOLD'), ('海味', 'DRIED FISH'), ('鐘錶', 'WATCHES'),
    ('涼茶', 'TONIC'), ('跌打', 'BONESETTER'), ('參茸', 'GINSENG'), ('裁縫', 'TAILOR'),
    ('地產', 'ESTATES'), ('影樓', 'PHOTOS'), ('傢俬', 'FURNITURE'), ('古玩', 'CURIOS'),
    ('玉器', 'JADE'), ('米行', 'RICE'), ('瓷器', 'CHINA'), ('窗簾', 'CURTAINS'),
)
_PANEL_COLORS: tuple[tuple[Color, Color], ...] = (
    ((178, 30, 34), (255, 236, 170)), ((244, 206, 60), (150, 20, 22)),
    ((24, 92, 60), (255, 250, 230)), ((246, 244, 236), (170, 24, 30)),
    ((28, 66, 130), (255, 255, 255)),
)
GLOWS: dict[str, Color] = {
    'white': (255, 236, 206), 'red': (255, 60, 44), 'green': (70, 240, 120),
}
"""Colours of what shines after dark, by name: the cells of its texture from left to right."""

_LIT_SHARE = 0.36
_LIT_COLORS: tuple[Color, ...] = (
    (255, 206, 140), (255, 222, 172), (255, 232, 200), (228, 238, 255), (214, 232, 250),
    (150, 176, 235),
)
_LIT_WINDOWS = 16
_PANEL = (96, 288)
_FASCIA = (704, 152)
_BLADE = (256, 188)
_PLATE = (384, 100)
_SIGN_ROW = 192
_SIGN_WIDTH = 1024


def ground_textures(rng: np.random.Generator) -> dict[str, Texture]:
    """Return the textures that repeat over grounds and walls, by material."""
    return {
        'asphalt': _noise(rng, 256, (88, 88, 90), 9, 5),
        'road': _road(rng),
        'zebra': _crossing(rng, zebra=True),
        'signals': _crossing(rng, zebra=False),
        'paving': _paving(rng),
        'metal': _metal(rng),
        'water': _noise(rng, 256, (58, 96, 104), 5, 16),
        'grass': _noise(rng, 256, (92, 118, 62), 14, 12),
        'hill': _noise(rng, 256, (68, 94, 54), 16, 26),
        'concrete': _noise(rng, 256, (164, 160, 152), 6, 7),
        'stone': _stone(rng),
        'roof': _noise(rng, 256, (146, 138, 128), 7, 9),
        'foliage': _noise(rng, 128, (66, 104, 48), 20, 22),
        'palette': _palette(),
        **{f'tile_{trim}': _tiling(rng, _PALETTE_RGB[trim]) for trim in TRIMS},
    }


def facade_texture(rng: np.random.Generator, style: int) -> Texture:
    """Return one facade of 4 bays by 4 storeys, 512 pixels square."""
    wall = _FACADE_WALLS[style % len(_FACADE_WALLS)]
    image = Image.fromarray(_noise(rng, 512, wall, 5, 5))
    draw = ImageDraw.Draw(image)
    trim = _shade(wall, 0.78)
    for floor in range(4):
        y = floor * 128
        draw.rectangle([0, y + 120, 511, y + 127], fill=trim)
        draw.line([0, y + 119, 511, y + 119], fill=_shade(wall, 1.1), width=1)
        for bay in range(4):
            _window(draw, rng, style, bay * 128, y, wall)
    if style % 3 == 1:
        for bay in range(4):
            draw.rectangle([bay * 128, 0, bay * 128 + 9, 511], fill=_shade(wall, 0.88))
    return np.asarray(image)


def windows_texture(rng: np.random.Generator, style: int) -> Texture:
    """Return what the windows of a facade give off, of 16 bays by 16 storeys.

    It is laid over `facade_texture` four times as large, so that lit windows hardly repeat.
    """
    image = Image.new('RGB', (512, 512))
    draw = ImageDraw.Draw(image)
    left, right, top, bottom = (edge / 4 for edge in _window_edges(style))
    size = 512 // _LIT_WINDOWS
    for number in range(_LIT_WINDOWS ** 2):
        lit, brightness, curtain = rng.random(3)
        color = _LIT_COLORS[rng.integers(len(_LIT_COLORS))]
        if lit > _LIT_SHARE:
            continue
        y, x = (part * size for part in divmod(number, _LIT_WINDOWS))
        light = _shade(color, 0.45 + 0.55 * brightness)
        draw.rectangle([x + left, y + top, x + right, y + bottom], fill=light)
        if curtain < 0.5:
            draw.rectangle([x + left, y + top, x + left + (right - left) * curtain, y + bottom],
                           fill=_shade(light, 0.6))
        middle = x + (left + right) / 2
        draw.line([middle, y + top, middle, y + bottom], fill=_shade(light, 0.3))
    return np.asarray(image)


def fronts_light(fronts: Texture) -> Texture:
    """Return what the shop fronts of `fronts_texture` give off: their windows and lobbies."""
    light = np.zeros_like(fronts)
    for index, kind in enumerate(FRONTS):
        row, column = divmod(index, 4)
        place = slice(row * 176, row * 176 + 176), slice(column * 256, column * 256 + 256)
        front, lit = fronts[place], light[place]
        if kind == 'lobby':
            # Light comes through between the bars of the gate.
            hall = lit[34:, 84:173]
            hall[front[34:, 84:173].max(axis=-1) < 120] = (150, 126, 88)
        elif kind not in ('shutter', 'blank'):
            for window, gain in ((np.s_[14:151, 10:167], 1.2), (np.s_[18:171, 185:242], 0.8)):
                lit[window] = np.minimum(front[window] * np.array([1.0, 0.92, 0.78]) * gain, 255)
    return light


def glow_texture() -> Texture:
    """Return the colours of `GLOWS` side by side; see `glow_uv`."""
    return np.repeat(np.array([list(GLOWS.values())], np.uint8), 32, axis=0).repeat(32, axis=1)


def glow_uv(color: str) -> tuple[float, float]:
    """Return where the texture of `glow_texture` has a colour."""
    return (list(GLOWS).index(color) + 0.5) / len(GLOWS), 0.5


def fronts_texture(rng: np.random.Generator) -> Texture:
    """Return the atlas of shop fronts, 1024 by 704 pixels; see `front_uv`."""
    atlas = Image.new('RGB', (1024, 704))
    for index, kind in enumerate(FRONTS):
        row, column = divmod(index, 4)
        atlas.paste(_front(rng, kind), (column * 256, row * 176))
    return np.asarray(atlas)


def front_uv(kind: str) -> NDArray[np.float64]:
    """Return UVs of the corners of one shop front, counter-clockwise, (4, 2)."""
    row, column = divmod(FRONTS.index(kind), 4)
    return _uv_rectangle(
        column * 256 + 1, row * 176 + 1, column * 256 + 255, row * 176 + 175, 1024, 704
    )


def sign_atlas(signs: Sequence[tuple[str, str, Color, Color]]) -> Texture:
    """Return the atlas of signs, one a row: English, Chinese, background, ink.

    See `sign_uvs`. Where no font has Chinese the signs are in English only.
    """
    atlas = Image.new('RGB', (_SIGN_WIDTH, _SIGN_ROW * len(signs)), (128, 128, 128))
    for row, (english, chinese, ground, ink) in enumerate(signs):
        y = row * _SIGN_ROW
        atlas.paste(_sign([chinese, english], _FASCIA, ground, ink), (0, y))
        blade = [chinese, *_wrap(english.split())]
        atlas.paste(_sign(blade, _BLADE, ground, ink), (_FASCIA[0] + 64, y))
    return np.asarray(atlas)


def plates_texture(names: Sequence[tuple[str, str]]) -> Texture:
    """Return the atlas of street name plates, one a row; see `plate_uv`."""
    atlas = Image.new('RGB', (_PLATE[0], _PLATE[1] * len(names)))
    for row, (english, chinese) in enumerate(names):
        plate = _sign([english, chinese], _PLATE, (246, 246, 242), (16, 16, 18))
        atlas.paste(plate, (0, row * _PLATE[1]))
    return np.asarray(atlas)


PANELS = len(_TRADES)
"""Number of panels with a trade's name, in the atlas side by side."""


def panels_texture() -> Texture:
    """Return the atlas of upright panels that hang over streets; see `panel_uv`.

    Their trades are none of the types of place.
    """
    width, height = _PANEL
    atlas = Image.new('RGB', (width * PANELS, height))
    for number, (chinese, english) in enumerate(_TRADES):
        ground, ink = _PANEL_COLORS[number % len(_PANEL_COLORS)]
        if chinese_font(24) is None:
            panel = _sign([english], (height, width), ground, ink).rotate(90, expand=True)
        else:
            panel = Image.new('RGB', _PANEL, ground)
            draw = ImageDraw.Draw(panel)
            draw.rectangle([4, 4, width - 5, height - 5], outline=ink, width=3)
            step = (height - 40) / len(chinese)
            font = chinese_font(78)
            for place, sign in enumerate(chinese):
                at = (width / 2, 20 + step * (place + 0.5))
                draw.text(at, sign, ink, font, anchor='mm')
        atlas.paste(panel, (number * width, 0))
    return np.asarray(atlas)


def panel_uv(number: int) -> NDArray[np.float64]:
    """Return UVs of the corners of a panel, counter-clockwise, (4, 2)."""
    width, height = _PANEL
    return _uv_rectangle(
        number * width + 1, 1, (number + 1) * width - 1, height - 1, width * PANELS, height
    )


def plate_uv(row: int, rows: int) -> NDArray[np.float64]:
    """Return UVs of the corners of a street name plate, counter-clockwise, (4, 2)."""
    width, height = _PLATE
    return _uv_rectangle(
        1, row * height + 1, width - 1, (row + 1) * height - 1, width, height * rows
    )


def sign_uvs(row: int, rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return UVs of the fascia and of the blade of a sign, (4, 2) each."""
    y, height = row * _SIGN_ROW, _SIGN_ROW * rows
    fascia = _uv_rectangle(1, y + 1, _FASCIA[0] - 1, y + _FASCIA[1] - 1, _SIGN_WIDTH, height)
    left = _FASCIA[0] + 64
    blade = _uv_rectangle(
        left + 1, y + 1, left + _BLADE[0] - 1, y + _BLADE[1] - 1, _SIGN_WIDTH, height
    )
    return fascia, blade


def _uv_rectangle(
    left: float, top: float, right: float, bottom: float, width: int, height: int
) -> NDArray[np.float64]:
    low, high = 1 - bottom / height, 1 - top / height
    return np.array([
        [left / width, low], [right / width, low], [right / width, high], [left / width, high],
    ])


def _shade(color: Color, factor: float) -> Color:
    red, green, blue = (min(255, int(c * factor)) for c in color)
    return red, green, blue


def _noise(
    rng: np.random.Generator, size: int, color: Color, fine: float, coarse: float
) -> Texture:
    """Return a plain colour with fine grain and soft stains that repeat at the edges."""
    grain = rng.normal(0.0, fine, (size, size, 1))
    spectrum = np.fft.rfft2(rng.normal(0.0, 1.0, (size, size)))
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None, :]) * size
    # Waves longer than a third of the texture would show its repetition.
    spectrum *= np.where(frequency < 3.0, 0.0, 1.0 / np.maximum(frequency, 3.0) ** 1.6)
    stains = np.fft.irfft2(spectrum, (size, size))
    stains *= coarse / (2.0 * float(stains.std()))
    return np.clip(np.array(color) + grain + stains[..., None], 0, 255).astype(np.uint8)


def _road(rng: np.random.Generator) -> Texture:
    """Return a carriageway across, 8 m along: dashed centre, double yellow edges."""
    image = Image.fromarray(_noise(rng, 256, (88, 88, 90), 9, 5))
    draw = ImageDraw.Draw(image)
    draw.rectangle([125, 20, 130, 130], fill=(222, 222, 216))
    for x in (6, 14):
        for edge in (x, 251 - x):
            draw.rectangle([edge, 0, edge + 3, 255], fill=(206, 172, 62))
    return np.asarray(image)


def _crossing(rng: np.random.Generator, zebra: bool) -> Texture:
    """Return a whole crossing: the carriageway across, the width of the crossing along."""
    image = Image.fromarray(_noise(rng, 256, (88, 88, 90), 9, 4))
    draw = ImageDraw.Draw(image)
    if zebra:
        for x in range(8, 256, 40):
            draw.rectangle([x, 14, x + 20, 242], fill=(228, 228, 220))
    else:
        for y in (10, 236):
            for x in range(4, 256, 32):
                draw.rectangle([x, y, x + 18, y + 9], fill=(226, 206, 96))
    return np.asarray(image)


def _paving(rng: np.random.Generator) -> Texture:
    """Return 3 m of precast paving in a running bond."""
    image = Image.fromarray(_noise(rng, 256, (158, 148, 138), 6, 3))
    draw = ImageDraw.Draw(image)
    for row in range(8):
        for column in range(5):
            x = column * 64 - (row % 2) * 32
            tint = int(rng.integers(-9, 10))
            fill = (160 + tint, 148 + tint, 138 + tint)
            draw.rectangle([x + 1, row * 32 + 1, x + 62, row * 32 + 30], fill=fill)
    grain = np.asarray(image).astype(np.int16) + rng.normal(0, 5, (256, 256, 1)).astype(np.int16)
    return np.clip(grain, 0, 255).astype(np.uint8)


def _tiling(rng: np.random.Generator, color: Color) -> Texture:
    """Return 1.2 m of glazed wall tiles."""
    image = Image.new('RGB', (128, 128), _shade(color, 0.72))
    draw = ImageDraw.Draw(image)
    for row in range(8):
        for column in range(4):
            fill = _shade(color, float(rng.uniform(0.9, 1.12)))
            draw.rectangle(
                [column * 32 + 1, row * 16 + 1, column * 32 + 30, row * 16 + 14], fill=fill
            )
    return np.asarray(image)


def _stone(rng: np.random.Generator) -> Texture:
    """Return 4 m of a squared rubble wall."""
    image = Image.new('RGB', (256, 256), (112, 106, 98))
    draw = ImageDraw.Draw(image)
    for row in range(8):
        x = -int(rng.integers(0, 30))
        while x < 256:
            width = int(rng.integers(34, 62))
            tone = int(rng.integers(-18, 19))
            draw.rounded_rectangle(
                [x + 2, row * 32 + 2, x + width - 2, row * 32 + 29], 5,
                fill=(150 + tone, 143 + tone, 132 + tone),
            )
            x += width
    grain = np.asarray(image).astype(np.int16) + rng.normal(0, 7, (256, 256, 1)).astype(np.int16)
    return np.clip(grain, 0, 255).astype(np.uint8)


def _palette() -> Texture:
    image = Image.new('RGB', (128, 128))
    draw = ImageDraw.Draw(image)
    for index, name in enumerate(PALETTE):
        row, column = divmod(index, 4)
        draw.rectangle(
            [column * 32, row * 32, column * 32 + 31, row * 32 + 31], fill=_PALETTE_RGB[name]
        )
    return np.asarray(image)


def _window_edges(style: int) -> tuple[int, int, int, int]:
    """Return left, right, top and bottom of the window in a bay of 128 by 128 pixels."""
    return ((22, 106, 26, 100), (30, 98, 20, 104), (10, 118, 34, 98))[style % 3]


def _window(
    draw: ImageDraw.ImageDraw, rng: np.random.Generator, style: int, x: int, y: int, wall: Color
) -> None:
    glass = tuple(int(c) for c in np.array([62, 82, 98]) + rng.integers(-22, 30))
    frame = (218, 216, 210) if style % 2 else (92, 88, 84)
    left, right, top, bottom = _window_edges(style)
    draw.rectangle([x + left - 4, y + top - 4, x + right + 4, y + bottom + 4], fill=frame)
    draw.rectangle([x + left, y + top, x + right, y + bottom], fill=glass)
    sky = tuple(min(255, c + 46) for c in glass)
    draw.polygon(
        [(x + left, y + bottom), (x + left, y + top), (x + left + 34, y + top)], fill=sky
    )
    if rng.random() < 0.45:
        curtain = tuple(int(c) for c in rng.integers(150, 226, 3))
        draw.rectangle([x + left, y + top, x + left + 16, y + bottom], fill=curtain)
    panes = 3 if right - left > 90 else 2
    for pane in range(1, panes):
        at = x + left + (right - left) * pane // panes
        draw.rectangle([at - 1, y + top, at + 1, y + bottom], fill=frame)
    if rng.random() < 0.5:
        draw.rectangle([x + right - 30, y + bottom + 2, x + right, y + bottom + 16],
                       fill=(206, 206, 202), outline=(140, 140, 138))
        draw.line([x + right - 26, y + bottom + 17, x + right - 28, y + 127],
                  fill=_shade(wall, 0.8), width=2)


def _front(rng: np.random.Generator, kind: str) -> Image.Image:
    """Return one shop front, 256 by 176 pixels for 4.6 by 2.8 metres."""
    color = _FRONT_COLORS[kind]
    image = Image.new('RGB', (256, 176), _shade(color, 0.7))
    draw = ImageDraw.Draw(image)
    if kind == 'blank':
        draw.rectangle([0, 0, 255, 175], fill=color)
        for y in range(0, 176, 22):
            draw.line([0, y, 255, y], fill=_shade(color, 0.88), width=2)
        return image
    if kind == 'shutter':
        for y in range(0, 176, 7):
            draw.rectangle([8, y, 247, y + 4], fill=_shade(color, 1.08))
        draw.rectangle([0, 0, 7, 175], fill=(84, 84, 84))
        draw.rectangle([248, 0, 255, 175], fill=(84, 84, 84))
        return image
    if kind == 'lobby':
        draw.rectangle([10, 10, 245, 175], fill=(176, 164, 148))
        draw.rectangle([84, 34, 172, 175], fill=(70, 66, 62))
        for x in range(90, 172, 10):
            draw.rectangle([x, 40, x + 3, 175], fill=(180, 172, 156))
        draw.rectangle([188, 60, 232, 110], fill=(200, 200, 198), outline=(90, 90, 90), width=3)
        return image
    interior = tuple(int(c) for c in (np.array(color) * 0.25 + np.array([150, 138, 112])))
    draw.rectangle([10, 14, 166, 150], fill=interior)
    draw.rectangle([10, 14, 166, 34], fill=_shade(interior, 1.25))  # type: ignore[arg-type]
    goods = [tuple(int(c) for c in rng.integers(60, 240, 3)) for _ in range(7)]
    for shelf in range(4):
        base = 62 + shelf * 28
        x = 14
        while x < 158:
            width, height = (int(n) for n in rng.integers((6, 8), (17, 21)))
            draw.rectangle([x, base - height, x + width, base], fill=goods[rng.integers(7)])
            x += width + 3
        draw.rectangle([10, base + 1, 166, base + 4], fill=(96, 82, 66))
    draw.rectangle([6, 10, 170, 154], outline=_shade(color, 1.15), width=5)
    draw.rectangle([86, 12, 90, 152], fill=_shade(color, 1.15))
    draw.rectangle([178, 10, 248, 175], fill=_shade(color, 1.15))
    draw.rectangle([185, 18, 241, 170], fill=(46, 58, 66))
    draw.polygon([(185, 170), (185, 18), (222, 18)], fill=(84, 104, 114))
    draw.rectangle([190, 92, 195, 122], fill=(224, 214, 180))
    return image.filter(ImageFilter.SMOOTH)


def _wrap(words: list[str]) -> list[str]:
    """Return up to three lines of about the same length."""
    lines, longest = [words[0]], max(9, *(len(word) for word in words))
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= longest:
            lines[-1] += f' {word}'
        else:
            lines.append(word)
    return lines


def _sign(
    lines: list[str], size: tuple[int, int], ground: Color, ink: Color
) -> Image.Image:
    """Return a bordered panel with each line set as large as its share of the panel allows."""
    lines = [line for line in lines if line.isascii() or chinese_font(24)]
    image = Image.new('RGB', size, ground)
    draw = ImageDraw.Draw(image)
    draw.rectangle([4, 4, size[0] - 5, size[1] - 5], outline=ink, width=3)
    # Chinese reads best a little larger than English.
    shares = [1.0 if line.isascii() else 1.25 for line in lines]
    unit = (size[1] - 22) / sum(shares)
    y = 11.0
    for line, share in zip(lines, shares, strict=True):
        font = english_font if line.isascii() else chinese_font
        points = int(unit * share * (1.0 if line.isascii() else 0.88))
        while points > 10 and _width(font, line, points) > size[0] - 32:
            points -= 2
        # Pillow's own font has one weight: a stroke makes it bold.
        stroke = points // 26 if line.isascii() else 0
        draw.text(
            (size[0] / 2, y + unit * share / 2), line, ink, font(points), anchor='mm',
            stroke_width=stroke, stroke_fill=ink,
        )
        y += unit * share
    return image


def _width(font: Callable[[int], Any], line: str, points: int) -> float:
    left, _, right, _ = font(points).getbbox(line)
    return float(right - left)


def _metal(rng: np.random.Generator) -> Texture:
    """Return 3 m of the ribbed treads of an escalator."""
    image = Image.fromarray(_noise(rng, 256, (92, 94, 98), 5, 3))
    draw = ImageDraw.Draw(image)
    for y in range(0, 256, 8):
        draw.line([0, y, 255, y], fill=(58, 60, 64), width=3)
    return np.asarray(image)
