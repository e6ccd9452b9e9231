# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The map mode: an overhead, georeferenced view that pans, zooms, orbits and takes a pin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import itertools
import math

import cv2
import numpy as np
from panda3d.core import LVector3d
from PIL import Image
from PIL import ImageDraw
from PIL import ImageFont

from urbanground_ros.sim.region import CityRegion
from urbanground_ros.tiles import OrthographicCamera

#: Metres across the picture when the map opens, and the nearest and farthest zoom.
OPENING_SPAN = 400.0
MIN_SPAN = 40.0
MAX_SPAN = 4000.0
#: Camera pitch: straight down, north up, when the map opens; orbiting stops short of level.
STRAIGHT_DOWN = -math.pi / 2
MAX_PITCH = math.radians(-20.0)
#: Distance of the camera from what it looks at: above every roof, whatever the pitch (m).
STANDOFF = 2000.0
#: A line of sight is followed in pieces of this horizontal length (m).
PIECE = 100.0

Place = tuple[float, float, float]

_WHITE = (255, 255, 255)
_INK = (30, 34, 42)
_AGENT = (28, 110, 242)
_PIN = (222, 48, 48)
_CLOSED = (200, 24, 24)
_MARKER = (238, 140, 16)
#: Fractional bits of the pixel positions that are drawn at.
_SHIFT = 4


@dataclass(frozen=True)
class MapView:
    """One orthographic view; immutable, each action gives the next one.

    `center` (east, north, up; m) is in the middle of the picture, `span` metres fit across it,
    `heading` (rad, ENU) is the direction that is up in the picture and `pitch` (rad) the
    camera's, from straight down (-pi/2) upwards.
    """

    center: tuple[float, float, float]
    span: float = OPENING_SPAN
    heading: float = math.pi / 2
    pitch: float = STRAIGHT_DOWN

    def pan(self, east: float, north: float, low: np.ndarray, high: np.ndarray) -> MapView:
        """Move by metres; the middle stays between `low` and `high` (east, north)."""
        x, y, z = self.center
        return replace(self, center=(float(np.clip(x + east, low[0], high[0])),
                                     float(np.clip(y + north, low[1], high[1])), z))

    def zoom(self, factor: float) -> MapView:
        """Scale what fits across the picture; below 1 is nearer."""
        return replace(self, span=min(MAX_SPAN, max(MIN_SPAN, self.span * factor)))

    def orbit(self, yaw: float, pitch: float) -> MapView:
        """Turn the camera about the middle (degrees; + turns it right, + looks it up)."""
        heading = math.remainder(self.heading - math.radians(yaw), 2 * math.pi)
        tilted = min(MAX_PITCH, max(STRAIGHT_DOWN, self.pitch + math.radians(pitch)))
        return replace(self, heading=heading, pitch=tilted)

    def axes(self) -> np.ndarray:
        """Return the unit vectors right, up and forward of the camera in ENU, as rows (3, 3)."""
        cos_h, sin_h = math.cos(self.heading), math.sin(self.heading)
        cos_p, sin_p = math.cos(self.pitch), math.sin(self.pitch)
        return np.array([[sin_h, -cos_h, 0.0],
                         [-cos_h * sin_p, -sin_h * sin_p, cos_p],
                         [cos_h * cos_p, sin_h * cos_p, sin_p]])

    def eye(self) -> np.ndarray:
        """Return where the camera stands (3,), in metres in the map frame."""
        return np.array(self.center) - STANDOFF * self.axes()[2]

    def project(self, points: np.ndarray, width: int, height: int) -> np.ndarray:
        """Return the pixels (N, 2) of points (N, 3) in the map frame; y grows downwards."""
        offset = (np.atleast_2d(points) - np.array(self.center)) @ self.axes()[:2].T
        scale = width / self.span
        return np.array([width / 2, height / 2]) + offset * [scale, -scale]

    def line_of_sight(self, x: float, y: float, aspect: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the two ends (3,) of the line through a point of the picture.

        `x` and `y` go from 0 to 1, y from the top; `aspect` is the width over the height.
        """
        right, up, forward = self.axes()
        offset = (x - 0.5) * self.span * right + (0.5 - y) * self.span / aspect * up
        start = self.eye() + offset
        return start, start + 2 * STANDOFF * forward

    def pick(self, region: CityRegion, x: float, y: float,
             aspect: float) -> tuple[float, float, float] | None:
        """Return where the line of sight first meets the city, or None beside it."""
        start, end = self.line_of_sight(x, y, aspect)
        # Only between the highest and the lowest point of the city can it meet anything.
        top, bottom = region.high[2] + 1.0, region.low[2] - 1.0
        way = end - start
        first, last = ((height - start[2]) / way[2] for height in (top, bottom))
        pieces = max(1, math.ceil((last - first) * math.hypot(way[0], way[1]) / PIECE))
        stops = start + np.linspace(first, last, pieces + 1)[:, None] * way
        for near, far in itertools.pairwise(stops):
            x, y, _ = (near + far) / 2
            hit = region.solid(x, y, PIECE).ray(LVector3d(*near), LVector3d(*far))
            if hit is not None:
                return hit.point.x, hit.point.y, hit.point.z
        return None

    def camera(self, width: int, height: int) -> OrthographicCamera:
        """Return what sees the picture, for the selection of tiles."""
        _, up, forward = self.axes()
        return OrthographicCamera(self.eye(), forward, self.span, width, height, up)


def draw_marks(image: np.ndarray, view: MapView, agent: Place, heading: float,
               markers: Sequence[tuple[str, Place]], pin: Place | None,
               closures: Sequence[tuple[str, np.ndarray]] = ()) -> np.ndarray:
    """Draw on a map picture what is not in the city, and return the new picture.

    The agent's arrow with its `heading` (rad, ENU), labelled markers, the pin, a scale bar and
    an arrow to the north; all of one size, whatever the zoom.

    Args:
        image: RGB, shape (H, W, 3).
        view: What the picture shows.
        agent: Feet of the body, in metres in the map frame.
        heading: Of the body.
        markers: Labels and places.
        pin: The selected place.
        closures: Labels and lines (N, 3) that are closed.
    """
    height, width = image.shape[:2]
    unit = width / 640
    image = image.copy()
    labels: list[tuple[float, float, str, str]] = []
    for label, line in closures:
        corners = np.array([_fixed(x, y) for x, y in view.project(line, width, height)], np.int32)
        for color, thickness in ((_WHITE, 8 * unit), (_CLOSED, 5 * unit)):
            cv2.polylines(image, [corners], False, color, max(1, round(thickness)), cv2.LINE_AA,
                          _SHIFT)
        x, y = view.project(line.mean(axis=0), width, height)[0]
        labels.append((x, y - 8 * unit, label, 'mb'))
    for label, place in markers:
        x, y = view.project(np.array(place), width, height)[0]
        _drop(image, x, y, 1.0 * unit, _MARKER)
        labels.append((x, y - 31 * unit, label, 'mb'))
    if pin is not None:
        x, y = view.project(np.array(pin), width, height)[0]
        _drop(image, x, y, 0.8 * unit, _PIN)
    ahead = np.add(agent, [math.cos(heading), math.sin(heading), 0.0])
    feet, tip = view.project(np.array([agent, ahead]), width, height)
    _arrow(image, feet, tip - feet, 11 * unit, _AGENT)
    north = view.project(np.add(view.center, [0.0, 1.0, 0.0]), width, height)[0]
    north -= [width / 2, height / 2]
    compass = np.array([width - 30 * unit, 34 * unit])
    _arrow(image, compass, north, 10 * unit, _INK)
    labels.append((compass[0], compass[1] + 14 * unit, 'N', 'mt'))
    length = _round_length(view.span / 5)
    pixels = length * width / view.span
    left, bottom = 16 * unit, height - 16 * unit
    for color, thickness in ((_WHITE, 6 * unit), (_INK, 3 * unit)):
        cv2.line(image, _fixed(left, bottom), _fixed(left + pixels, bottom), color,
                 max(1, round(thickness)), cv2.LINE_AA, _SHIFT)
    labels.append((left, bottom - 6 * unit, f'{length:g} m', 'lb'))
    return _write(image, labels, 15 * unit)


def _fixed(x: float, y: float) -> tuple[int, int]:
    return round(float(x) * (1 << _SHIFT)), round(float(y) * (1 << _SHIFT))


def _polygon(image: np.ndarray, points: np.ndarray, color: tuple[int, int, int]) -> None:
    """Fill a polygon with a white rim, smooth at the edges."""
    corners = np.array([_fixed(x, y) for x, y in points], np.int32)
    rim = max(1, round(image.shape[1] / 320))
    cv2.fillPoly(image, [corners], color, cv2.LINE_AA, _SHIFT)
    cv2.polylines(image, [corners], True, _WHITE, rim, cv2.LINE_AA, _SHIFT)


def _arrow(image: np.ndarray, at: np.ndarray, way: np.ndarray, size: float,
           color: tuple[int, int, int]) -> None:
    """Draw an arrow head of `size` pixels around `at`; a way towards the viewer points up."""
    length = float(np.linalg.norm(way))
    ahead = way / length if length > 1e-6 else np.array([0.0, -1.0])
    side = np.array([-ahead[1], ahead[0]])
    _polygon(image, np.array([at + 1.3 * size * ahead, at + size * (0.85 * side - ahead),
                              at - 0.45 * size * ahead, at - size * (0.85 * side + ahead)]),
             color)


def _drop(image: np.ndarray, x: float, y: float, scale: float,
          color: tuple[int, int, int]) -> None:
    """Draw a drop of 28 pixels whose tip is at a place."""
    turn = np.linspace(-0.25 * math.pi, 1.25 * math.pi, 25)
    head = np.column_stack([9.5 * np.cos(turn), -18.5 - 9.5 * np.sin(turn)])
    _polygon(image, np.vstack([[0.0, 0.0], head]) * scale + [x, y], color)
    cv2.circle(image, _fixed(x, y - 18.5 * scale), round(3.5 * scale * (1 << _SHIFT)), _WHITE,
               -1, cv2.LINE_AA, _SHIFT)


def _write(image: np.ndarray, labels: Sequence[tuple[float, float, str, str]],
           size: float) -> np.ndarray:
    """Write labels at places with Pillow's anchors, dark with a white rim."""
    picture = Image.fromarray(image)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size)
    for x, y, text, anchor in labels:
        pen.text((x, y), text, _INK, font, anchor, stroke_width=max(1, round(size / 7)),
                 stroke_fill=_WHITE)
    return np.asarray(picture)


def _round_length(most: float) -> float:
    """Return the greatest of 1, 2 and 5 times a power of ten that is not above `most`."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(step * power for step in (1, 2, 5) if step * power <= most)
