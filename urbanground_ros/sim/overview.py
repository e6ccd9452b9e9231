# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A picture of a whole region from above, for reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from urbanground_ros.sim.city import MAP_LIGHT
from urbanground_ros.sim.mapview import MapView
from urbanground_ros.sim.region import open_region
from urbanground_ros.sim.renderer import open_renderer


def draw_overview(region: Path, extent: tuple[float, float, float, float],
                  width: int) -> np.ndarray | None:
    """Draw a region from straight above, north up.

    Args:
        region: its region file.
        extent: west, south, east and north edges in the map frame, metres.
        width: of the picture in pixels; its height follows from the extent.

    Returns:
        RGB of shape (height, width, 3), or None where nothing can be rendered.
    """
    west, south, east, north = extent
    height = round(width * (north - south) / (east - west))
    # The field of view is the first-person camera's, which is not used.
    renderer = open_renderer(width, height, 1.0)
    if renderer is None:
        return None
    view = MapView(((west + east) / 2, (south + north) / 2, 0.0), span=east - west)
    opened = open_region(str(region))
    try:
        renderer.show(opened.tiles.update(view.camera(width, height), wait=True).meshes)
        return renderer.overhead(view, MAP_LIGHT)
    finally:
        opened.tiles.close()
        renderer.close()
