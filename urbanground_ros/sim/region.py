# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A region as the simulator wants it: its frame, its meshes and its pedestrian network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray

from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import Region
from urbanground_ros.sim.collision import CollisionWorld
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.people import Ways
from urbanground_ros.tiles import AnyCamera
from urbanground_ros.tiles import open_sources
from urbanground_ros.tiles import Selection
from urbanground_ros.tiles import Streamer

#: Whatever is within so many metres of a place, above and below it too, is solid there: the
#: scanner and rain reach less far.
REACH = 40.0
#: The body walks so many metres until what is solid around it is had anew.
STRIDE = 25.0


class Tiles(Protocol):
    """Where the geometry of a region comes from, as `urbanground_ros.tiles.Streamer` gives it."""

    def update(self, camera: AnyCamera, wait: bool = False) -> Selection:
        """Return what to show a camera."""
        ...

    def nearby(self, point: ArrayLike, radius: float, wait: bool = True) -> Selection:
        """Return the finest geometry within metres of a point (3,), above and below it too."""
        ...

    def forget(self) -> None:
        """Let go of what is kept in memory."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...

    @property
    def span(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest coordinates (3,) there are."""
        ...


@dataclass(frozen=True)
class CityRegion:
    """What a city is made of; tiles and network are in the ENU frame `frame`."""

    name: str
    frame: LocalFrame
    tiles: Tiles
    network: PedestrianNetwork | None = None

    @property
    def low(self) -> NDArray[np.float64]:
        """The lowest coordinates (3,) that anything has."""
        return self.tiles.span[0]

    @property
    def high(self) -> NDArray[np.float64]:
        """The highest coordinates (3,) that anything has."""
        return self.tiles.span[1]

    @cached_property
    def ways(self) -> Ways | None:
        """Where people walk; None without a network."""
        return None if self.network is None else Ways(self.network)

    def solid(self, x: float, y: float, radius: float = REACH + STRIDE) -> CollisionWorld:
        """Return what is solid within `radius` metres of a place, the finest there is."""
        return CollisionWorld(self.tiles.nearby((x, y, 0.0), radius).meshes)

    def heights(self, x: float, y: float) -> list[float]:
        """Return the heights of all surfaces at a place, lowest first."""
        return self.solid(x, y, 0.0).heights(x, y, self.high[2] + 1, self.low[2] - 1)

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


def open_region(region: str, *, pixel_error: float = 16.0, view_distance: float = 1500.0,
                tile_memory: float = 512.0) -> CityRegion:
    """Open a region: read its network and the roots of its tilesets.

    Args:
        region: The name of a built-in district, or the path of a region file.
        pixel_error: Geometric error that pictures may have, pixels.
        view_distance: Metres beyond which pictures show nothing.
        tile_memory: Megabytes of decoded tiles that are kept at most.

    Raises:
        UrbanGroundError: it is unknown, or a file of it cannot be read.
    """
    from urbanground_ros.districts import resolve_region
    found = Region.load(resolve_region(region))
    sources = [source for tileset in found.tilesets
               for source in open_sources(found.resolve(tileset))]
    if not sources:
        raise SimError(f'region {region}: {found.name} has no tilesets, expected one or more in '
                       'its file')
    network = found.load_network()
    tiles = Streamer(sources, found.frame, pixel_error=pixel_error, max_distance=view_distance,
                     memory=round(tile_memory * 2 ** 20))
    return CityRegion(region, found.frame, tiles, network)
