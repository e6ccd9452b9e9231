# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A region as episodes use it: its description, network and digest, read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
import hashlib
from pathlib import Path

import numpy as np

from urbanground_ros.city import GeoPoint
from urbanground_ros.districts import resolve_region
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import Place
from urbanground_ros.geo import PLACE_TYPES
from urbanground_ros.geo import Region
from urbanground_ros.tasks import TaskError


@dataclass(frozen=True)
class RegionContext:
    """A region's description and network; `digest` names their content and that of its tiles."""

    name: str
    path: Path
    region: Region
    network: PedestrianNetwork
    digest: str

    @classmethod
    def load(cls, name: str, path: Path) -> RegionContext:
        """Read the region file at a path and the network that it names.

        Raises:
            GeoError: a file is missing or malformed.
        """
        region = Region.load(path)
        network = region.load_network()
        content = hashlib.sha256()
        files = [path, Path(region.resolve(region.network))]
        if region.places is not None:
            files.append(Path(region.resolve(region.places)))
        for file in files:
            content.update(file.read_bytes())
        for reference in region.tilesets:
            _add_tiles(content, Path(region.resolve(reference)))
        return cls(name, path, region, network, content.hexdigest()[:16])

    @classmethod
    def named(cls, name: str) -> RegionContext:
        """Read a built-in district, a region that was added, or the region file at a path.

        Raises:
            UrbanGroundError: there is none, or a file of it is malformed.
        """
        return cls.load(name, resolve_region(name))

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The region's places.

        Raises:
            RegionError: their file cannot be used.
        """
        return self.region.load_places()

    def places_of(self, category: str) -> tuple[Place, ...]:
        """Return the region's places of a type, by its name or the words for it.

        Raises:
            TaskError: it has none.
        """
        types = {kind for kind, words in PLACE_TYPES.items()
                 if category.casefold() in (kind, words.casefold())}
        found = tuple(place for place in self.places if place.type in types)
        if not found:
            raise TaskError(f'region {self.name}: no place of type {category!r}, expected one in '
                            'its file of places')
        return found

    def to_map(self, point: GeoPoint) -> np.ndarray:
        """Return a place in the map frame, (3,); without an altitude, on the nearest way."""
        frame = self.network.frame
        if np.isfinite(point.altitude):
            return frame.from_geodetic(point.latitude, point.longitude, point.altitude)
        level = frame.from_geodetic(point.latitude, point.longitude, frame.altitude)
        ground = self.network.nearest(level[None]).point[0]
        return np.array([level[0], level[1], ground[2]])

    def to_geo(self, point: np.ndarray, label: str = '') -> GeoPoint:
        """Return a point (3,) of the map frame on Earth, to a tenth of a millimetre."""
        latitude, longitude, altitude = (
            float(value) for value in self.network.frame.to_geodetic(point))
        return GeoPoint(round(latitude, 9), round(longitude, 9), round(altitude, 3), label)


#: What tiles are made of.
_TILE_FILES = frozenset({
    '.json', '.subtree', '.b3dm', '.i3dm', '.cmpt', '.pnts', '.glb', '.gltf', '.bin', '.jpg',
    '.jpeg', '.png', '.webp', '.ktx', '.ktx2',
})


class Regions(dict[str, RegionContext]):
    """Regions by name or path, each read when it is first asked for."""

    def __missing__(self, name: str) -> RegionContext:
        """Read one."""
        self[name] = context = RegionContext.named(name)
        return context


def _add_tiles(digest: hashlib._Hash, root: Path) -> None:
    """Add a local tileset: the content of its JSON files, name and size of all other tiles.

    A tile that is missing or cut short is another world than a whole one. What else lies there
    is of no account.
    """
    if not root.is_file():
        return
    for file in sorted(root.parent.rglob('*')):
        if file.suffix.lower() in _TILE_FILES and file.is_file():
            size = file.stat().st_size
            digest.update(f'{file.relative_to(root.parent).as_posix()} {size}\n'.encode())
            if file.suffix == '.json':
                digest.update(file.read_bytes())
