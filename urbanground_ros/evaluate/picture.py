# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A picture an episode: the executed trajectory over the map and the pedestrian network."""

from __future__ import annotations

from collections.abc import Mapping
import io
from typing import Any
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from PIL import ImageDraw
from PIL import ImageFont

from urbanground_ros.palette import FEATURE_COLORS
from urbanground_ros.palette import OTHER_FEATURE
from urbanground_ros.scoring import ARRIVAL_RADIUS
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import to_lines
from urbanground_ros.tasks import Task

if TYPE_CHECKING:
    from urbanground_ros.episode import RegionContext

SIZE = 900
# Drawn larger and reduced: smooth lines without a plotting library's start-up.
_SCALE = 2
_MARGIN = 25.0
_START, _PATH, _GOAL, _CLOSED = (20, 20, 20), (230, 30, 120), (10, 140, 60), (200, 24, 24)


class EpisodePictures:
    """Draws episodes of one region."""

    def __init__(self, context: RegionContext, overview: Image.Image | None = None,
                 extent: tuple[float, float, float, float] | None = None) -> None:
        """Take a region and, if there is one, a map of it.

        Args:
            context: the region.
            overview: a picture from above, north up.
            extent: its west, south, east and north edges in the map frame, metres.
        """
        self._context = context
        self._lines = [(FEATURE_COLORS.get(kind.name, OTHER_FEATURE), line[:, :2])
                       for kind, lines in context.network.lines().items() for line in lines]
        self._overview = overview
        self._extent = extent

    def draw(self, record: Mapping[str, Any]) -> bytes:
        """Return a PNG of a record, the same bytes each time."""
        columns = record['trajectory']['columns']
        rows = np.array(record['trajectory']['rows'], dtype=float).reshape(-1, len(columns))
        path = rows[:, [columns.index('x'), columns.index('y')]]
        task = Task.from_json(record['task'], record['episode'])
        places = [task.goal] if task.goal else [stop.point for stop in task.stops]
        goals = np.array([self._context.to_map(place)[:2] for place in places]).reshape(-1, 2)
        closed = [line[:, :2] for line in to_lines(task.closures, self._context.network.frame)]
        points = np.vstack([path, goals, *closed])
        low, high = points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN
        centre, half = (low + high) / 2, max(float((high - low).max()) / 2, 60.0)
        size = SIZE * _SCALE
        factor = size / (2 * half)

        def at(xy: np.ndarray) -> list[tuple[float, float]]:
            offset = (np.atleast_2d(xy) - centre) * factor
            return [(size / 2 + x, size / 2 - y) for x, y in offset]

        image = Image.new('RGB', (size, size), (244, 243, 240))
        self._draw_overview(image, centre, half)
        draw = ImageDraw.Draw(image)
        for color, line in self._lines:
            draw.line(at(line), fill=color, width=3 * _SCALE // 2)
        for line in closed:
            draw.line(at(line), fill=_CLOSED, width=5 * _SCALE)
        radius = ARRIVAL_RADIUS * factor
        for gx, gy in at(goals):
            draw.ellipse((gx - radius, gy - radius, gx + radius, gy + radius), outline=_GOAL,
                         width=2 * _SCALE)
            self._dot(draw, gx, gy, _GOAL)
        if len(path):
            if len(path) > 1:
                draw.line(at(path), fill=_PATH, width=3 * _SCALE, joint='curve')
            sequences = rows[:, columns.index('sequence')]
            for step in record['steps'] if record['track'] == 'vision' else []:
                x, y = at(path[int(step['sequence'] - sequences[0])])[0]
                draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=(255, 255, 255), outline=_PATH)
            self._dot(draw, *at(path[0])[0], _START)
            self._dot(draw, *at(path[-1])[0], _PATH)
        self._caption(draw, record, size)
        out = io.BytesIO()
        image.resize((SIZE, SIZE), Image.Resampling.LANCZOS).save(out, 'PNG')
        return out.getvalue()

    def _draw_overview(self, image: Image.Image, centre: np.ndarray, half: float) -> None:
        if self._overview is None or self._extent is None:
            return
        west, south, east, north = self._extent
        sx = self._overview.width / (east - west)
        sy = self._overview.height / (north - south)
        box = ((centre[0] - half - west) * sx, (north - centre[1] - half) * sy,
               (centre[0] + half - west) * sx, (north - centre[1] + half) * sy)
        part = self._overview.transform(
            image.size, Image.Transform.EXTENT, box, Image.Resampling.BILINEAR,
            fillcolor=(244, 243, 240))
        # Paler than what is drawn over it.
        image.paste(Image.blend(part, Image.new('RGB', image.size, (255, 255, 255)), 0.35))

    @staticmethod
    def _dot(draw: ImageDraw.ImageDraw, x: float, y: float, color: tuple[int, int, int]) -> None:
        r = 5 * _SCALE
        draw.ellipse((x - r, y - r, x + r, y + r), fill=color, outline=(255, 255, 255),
                     width=_SCALE)

    @staticmethod
    def _caption(draw: ImageDraw.ImageDraw, record: Mapping[str, Any], size: int) -> None:
        metrics = record['metrics']
        ending = Outcome(record['outcome']).label
        text = f'{record["agent"]}  {record["task"]["id"]}  {ending}: {record["reason"]}'
        if metrics:
            pna = metrics['pna']
            text += (f'   {metrics["steps"]:.0f} steps, {metrics["duration"]:.0f} s, '
                     f'{metrics["path_length_sampled"]:.0f} m, '
                     f'PNA {"-" if pna is None else format(pna, ".2f")}')
        font = ImageFont.load_default(15 * _SCALE)
        draw.rectangle((0, size - 30 * _SCALE, size, size), fill=(255, 255, 255))
        draw.text((8 * _SCALE, size - 25 * _SCALE), text, fill=(30, 30, 30), font=font)
