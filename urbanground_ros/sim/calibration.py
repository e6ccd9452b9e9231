# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measure where HKPD zero lies above the ellipsoid, from the tiles and the network of a region.

Tiles have ellipsoidal heights, the network those of HKPD; the offset between them is not
published. On the ground outdoors, where both have the same surface, it can be measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import Region
from urbanground_ros.progress import Bar
from urbanground_ros.sim.collision import CollisionWorld
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.region import open_region

#: What lies on the ground.
_ON_GROUND = frozenset({
    FeatureType.FOOTWAY, FeatureType.SERVICE_LANE, FeatureType.TRAFFIC_ISLAND,
    FeatureType.RUN_IN, FeatureType.GENERALIZED_WALKWAY_INSIDE_PARK, FeatureType.FOOTPATH,
    FeatureType.VILLAGE, FeatureType.TRACK, FeatureType.CROSSING_SIGNALIZED,
    FeatureType.CROSSING_ZEBRA, FeatureType.CROSSING_CAUTIONARY, FeatureType.CROSSING_OTHERS,
})
#: Surfaces are looked for this far above and below the network (m).
REACH = 15.0
#: Tiles are read for squares of this side (m).
CELL = 100.0
#: So few vertices say nothing.
LEAST = 20


class Calibration(NamedTuple):
    """A measured offset.

    `offset` is the ellipsoidal height of HKPD zero (m), `spread` the standard deviation of a
    vertex (m, robust: 1.4826 times the median absolute deviation), `vertices` how many there
    were.
    """

    offset: float
    spread: float
    vertices: int


def measure_offset(network: PedestrianNetwork, offset: float,
                   solid: Callable[[float, float, float], CollisionWorld],
                   report: Callable[[float, str], None] | None = None) -> Calibration:
    """Measure the offset at the outdoor vertices on the ground.

    Args:
        network: Placed with the present `offset` (m).
        offset: Ellipsoidal height of HKPD zero that the network was placed with.
        solid: Returns the tiles' surfaces within a radius of a place (x, y, radius; m).
        report: Told the share that is done, from 0 to 1, and where it goes on.

    Raises:
        SimError: too few vertices have a surface near.
    """
    points = np.unique(np.concatenate([np.zeros((0, 3)), *(
        feature.points for feature in network.features
        if feature.enabled and feature.outdoor and feature.feature_type in _ON_GROUND)]), axis=0)
    cells = np.floor(points[:, :2] / CELL)
    parts = np.unique(cells, axis=0)
    surfaces = []
    for number, part in enumerate(parts):
        if report is not None:
            report(number / len(parts), f'part {number + 1} of {len(parts)}')
        middle = (part + 0.5) * CELL
        world = solid(middle[0], middle[1], CELL)
        for x, y, z in points[(cells == part).all(axis=1)].tolist():
            above = np.array(world.heights(x, y, z + REACH, z - REACH)) - z
            if above.size:
                surfaces.append(above)
    if len(surfaces) < LEAST:
        raise SimError(f'{len(surfaces)} outdoor vertices on the ground have a surface within '
                       f'{REACH:g} m, expected {LEAST} or more')
    middle = 0.0
    # The nearest surface may be a roof while the offset is off by metres: look again from there.
    for _ in range(5):
        nearest = np.array([above[np.argmin(np.abs(above - middle))] for above in surfaces])
        middle = float(np.median(nearest))
    spread = 1.4826 * float(np.median(np.abs(nearest - middle)))
    return Calibration(offset + middle, spread, len(surfaces))


def calibrate(path: Path, *, write: bool = True,
              with_origin: bool = False) -> tuple[float, Calibration]:
    """Measure a region's offset; return the one before, and the one that its file has now.

    `with_origin` moves the map frame's origin with the network, on whose ground it then stays.

    Raises:
        UrbanGroundError: the region cannot be read or written, or too little can be measured.
    """
    region = Region.load(path)
    opened = open_region(str(path))
    assert opened.network is not None
    try:
        with Bar('calibrate') as bar:
            measured = measure_offset(opened.network, region.height_offset, opened.solid,
                                      bar.show)
    finally:
        opened.tiles.close()
    if write:
        offset = round(measured.offset, 3)
        origin = region.origin
        if with_origin:
            origin = replace(origin, altitude=round(
                origin.altitude + offset - region.height_offset, 2))
        replace(region, height_offset=offset, origin=origin).save(path)
    return region.height_offset, measured
