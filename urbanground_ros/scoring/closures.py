# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where a path meets lines that are closed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
import shapely

from urbanground_ros.city import GeoLine
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import PedestrianNetwork

#: A path above or below a closure by more than this (m) is on another level, such as a bridge.
LEVEL_HEIGHT = 3.0


def to_lines(closures: Iterable[GeoLine], frame: LocalFrame) -> list[NDArray[np.float64]]:
    """Return closures as lines (M, 3) in the map frame; NaN stands for an unknown height."""
    lines = []
    for closure in closures:
        latitudes, longitudes, altitudes = np.array(
            [(p.latitude, p.longitude, p.altitude) for p in closure.points]).T
        known = np.isfinite(altitudes)
        line = frame.from_geodetic(latitudes, longitudes,
                                   np.where(known, altitudes, frame.altitude))
        line[~known, 2] = np.nan
        lines.append(line)
    return lines


def features_cut(
    network: PedestrianNetwork, lines: Iterable[NDArray[np.float64]]
) -> frozenset[int]:
    """Return the numbers of a network's features that meet closed lines, as for `crossings`."""
    lines = list(lines)
    low = np.minimum(network.segment_starts, network.segment_ends)[:, :2]
    high = np.maximum(network.segment_starts, network.segment_ends)[:, :2]
    near = np.zeros(len(low), dtype=bool)
    for line in lines:
        near |= ((low <= line[:, :2].max(axis=0)) & (high >= line[:, :2].min(axis=0))).all(axis=1)
    return frozenset(
        int(k) for k in np.unique(network.segment_features[near])
        if crossings(network.features[k].points, lines).any()
    )


def crossings(
    path: NDArray[np.float64], closures: Iterable[NDArray[np.float64]]
) -> NDArray[np.bool_]:
    """Tell which segments of a path meet a closed line; touching counts (paper).

    Args:
        path: (N, 3) metres, map frame.
        closures: open polylines (M, 3); what has no height (NaN) is closed on all levels.

    Returns:
        (N-1,), one for each segment of the path.
    """
    meets = np.zeros(max(len(path) - 1, 0), dtype=bool)
    if not len(meets):
        return meets
    segments = np.asarray(shapely.linestrings(np.stack([path[:-1, :2], path[1:, :2]], axis=1)))
    for closure in closures:
        line = shapely.LineString(closure[:, :2])
        pieces = np.linalg.norm(np.diff(closure[:, :2], axis=0), axis=1)
        offsets = np.concatenate([[0.0], np.cumsum(pieces)])
        found = np.flatnonzero(shapely.intersects(segments, line))
        # Where each of them first meets the line.
        at = shapely.get_coordinates(shapely.shortest_line(segments[found], line))[::2]
        spans = np.linalg.norm(path[found + 1, :2] - path[found, :2], axis=1)
        shares = np.linalg.norm(at - path[found, :2], axis=1) / np.maximum(spans, 1e-9)
        heights = path[found, 2] + shares * (path[found + 1, 2] - path[found, 2])
        closed = np.interp(shapely.line_locate_point(line, shapely.points(at)), offsets,
                           closure[:, 2])
        # A comparison with NaN is false: all levels.
        meets[found] |= ~(np.abs(heights - closed) > LEVEL_HEIGHT)
    return meets
