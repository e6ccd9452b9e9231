# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A region as the simulator wants it: its frame, its meshes and its pedestrian network."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from pathlib import Path

import numpy as np

from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import Region
from urbanground_ros.sim.people import Ways
from urbanground_ros.tiles import load_tileset
from urbanground_ros.tiles import TileMesh


@dataclass(frozen=True)
class CityRegion:
    """What a city is made of; meshes and network are in the ENU frame `frame`."""

    name: str
    frame: LocalFrame
    meshes: tuple[TileMesh, ...]
    network: PedestrianNetwork | None = None
    low: np.ndarray = field(init=False, repr=False)
    high: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Measure the bounds (3,) of the meshes."""
        parts = [mesh.positions for mesh in self.meshes if len(mesh.positions)]
        empty = np.zeros(3)
        object.__setattr__(self, 'low', np.min([p.min(axis=0) for p in parts], axis=0).astype(
            'f8') if parts else empty)
        object.__setattr__(self, 'high', np.max([p.max(axis=0) for p in parts], axis=0).astype(
            'f8') if parts else empty)

    @cached_property
    def ways(self) -> Ways | None:
        """Where people walk; None without a network."""
        return None if self.network is None else Ways(self.network)

    def surface(self, x: float, y: float, z: float) -> tuple[str, bool]:
        """Return what the feet are on, such as `Footway - Nathan Road`, and whether it is any.

        Off the network the text is empty.
        """
        if self.network is None:
            return '', False
        point = np.array([[x, y, z]])
        if not self.network.on_network(point)[0]:
            return '', False
        feature = self.network.features[int(self.network.nearest(point).feature[0])]
        kind = feature.feature_type.name.replace('_', ' ').capitalize()
        return f'{kind} - {feature.street}' if feature.street else kind, True


def open_region(region: str) -> CityRegion:
    """Read a region with its tiles and its network.

    Args:
        region: The name of a built-in district, or the path of a region file.

    Raises:
        UrbanGroundError: it is unknown, or a file of it cannot be read.
    """
    from urbanground_ros.districts import resolve_region
    found = Region.load(resolve_region(region))
    meshes = tuple(mesh for tileset in found.tilesets
                   for mesh in load_tileset(Path(found.resolve(tileset)), found.frame))
    return CityRegion(region, found.frame, meshes, found.load_network())
