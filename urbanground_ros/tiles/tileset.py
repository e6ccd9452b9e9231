# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The tree of a tileset: explicit tiles, and those that external and implicit ones lead to.

Source: OGC 22-025r4, 3D Tiles Specification 1.1; 3DTILES_implicit_tiling and
3DTILES_multiple_contents for 1.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import json
import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.tiles.errors import telling_damage
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.limits import Budget
from urbanground_ros.tiles.limits import BudgetError
from urbanground_ros.tiles.limits import MAX_DEPTH
from urbanground_ros.tiles.limits import MAX_JSON
from urbanground_ros.tiles.limits import MAX_TILES
from urbanground_ros.tiles.sources import FolderSource
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.volumes import bounding_box
from urbanground_ros.tiles.volumes import OrientedBox
from urbanground_ros.tiles.volumes import REACH

SUPPORTED_EXTENSIONS = frozenset({
    '3DTILES_content_gltf',
    '3DTILES_implicit_tiling',
    '3DTILES_metadata',
    '3DTILES_multiple_contents',
})

Warn = Callable[[str], None]


@dataclass(frozen=True)
class ImplicitTiling:
    """How the tiles below an implicit root are found.

    `branches` is 4 for a quadtree, 8 for an octree; `subtrees` and `contents` are templates of
    URIs; `levels` is how many levels the whole tree has at most.
    """

    branches: int
    subtree_levels: int
    levels: int
    subtrees: str
    contents: tuple[str, ...]


@dataclass(frozen=True)
class Subtree:
    """A subtree of an implicit tiling that has not been read: `at` is (level, x, y, z)."""

    tiling: ImplicitTiling
    root: Tile
    at: tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Tile:
    """One tile, in Earth-centred coordinates.

    Attributes:
        name: Its place in its tileset file, such as `root/0/3`.
        base: Address of the tileset file it belongs to; URIs are relative to it.
        transform: (4, 4) float64, takes the content (Z up) to ECEF, parents' included.
        volume: The bounding volume as the file has it, in the coordinates that `transform`
            takes to ECEF (a region is geographic).
        bounds: The same as a box in ECEF.
        geometric_error: Metres.
        refine: `ADD` or `REPLACE`.
        contents: URIs; what each is shows when it is opened.
        children: The explicit ones.
        up_axis: `X`, `Y` or `Z`: which axis of a glTF content is up.
        viewer: Where the viewer must be for the tile to count (ECEF), None for anywhere.
        subtree: What implicit tiling has in its place.
        trail: Identities of the tileset files that led here, for cycles.
        depth: How many tiles are above it, those of other files included.
    """

    name: str
    base: str
    transform: NDArray[np.float64]
    volume: dict[str, Any]
    bounds: OrientedBox
    geometric_error: float
    refine: str
    contents: tuple[str, ...]
    children: tuple[Tile, ...]
    up_axis: str
    viewer: OrientedBox | None = None
    subtree: Subtree | None = None
    trail: tuple[str, ...] = ()
    depth: int = 0


def read_tileset(
    source: Source | str | os.PathLike[str],
    address: str | None = None,
    parent: Tile | None = None,
    warn: Warn | None = None,
) -> Tile:
    """Return the root tile of a tileset file, with its explicit children.

    What external tilesets and subtrees hold stays out until a tile is opened. A broken tile
    below the root costs itself and its children, and a line to `warn`.

    Args:
        source: Where to read, or the path of a tileset file.
        address: Which file of the source, its root where none is given.
        parent: The tile that refers to this file, where one does.
        warn: Takes the lines about broken tiles; they raise where there is none.

    Raises:
        TilesError: the file is missing, is not a tileset, or its root is broken.
    """
    if not isinstance(source, Source):
        source = FolderSource(source)
    address = source.root if address is None else address
    trail = () if parent is None else parent.trail
    name, identity = source.label(address), source.identity(address)
    if identity in trail:
        raise TilesError(f'{name}: leads back to itself, expected a tree of tilesets')
    data = source.read(address)
    try:
        document = parse_document(data, name)
        if not {'asset', 'root'} <= document.keys():
            raise TilesError(f'{name}: not a tileset, expected an object with asset and root')
    except TilesError:
        source.forget(address)
        raise
    with telling_damage(name, 'the schema of 3D Tiles 1.1'):
        asset = document['asset']
        if asset['version'] not in ('0.0', '1.0', '1.1'):
            raise TilesError(f'{name}: asset.version {asset["version"]!r}, expected 1.0 or 1.1')
        unknown = set(document.get('extensionsRequired', [])) - SUPPORTED_EXTENSIONS
        if unknown:
            raise TilesError(
                f'{name}: requires {", ".join(sorted(unknown))}, expected only '
                f'{", ".join(sorted(SUPPORTED_EXTENSIONS))}'
            )
        up_axis = str(asset.get('gltfUpAxis', 'Y')).upper()
        if up_axis not in ('X', 'Y', 'Z'):
            raise TilesError(f'{name}: gltfUpAxis {up_axis!r}, expected X, Y or Z')
        reader = _Reader(address, name, up_axis, (*trail, identity), warn)
        if parent is None:
            return reader.tile(document['root'], np.eye(4), 'REPLACE', 'root', 0)
        return reader.tile(
            document['root'], parent.transform, parent.refine, 'root', parent.depth + 1
        )


def parse_document(data: bytes, name: str) -> dict[str, Any]:
    """Return the object in a JSON file of a tileset.

    Raises:
        TilesError: not JSON, or not an object.
    """
    if len(data) > MAX_JSON:
        raise TilesError(f'{name}: JSON of {len(data)} bytes, expected {MAX_JSON} at most')
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise TilesError(f'{name}: not JSON, expected a tileset.json') from error
    if not isinstance(document, dict):
        raise TilesError(f'{name}: not a tileset, expected an object with asset and root')
    return document


class _Reader:
    """One tileset file being read."""

    def __init__(
        self, base: str, name: str, up_axis: str, trail: tuple[str, ...], warn: Warn | None
    ) -> None:
        self._base = base
        self._name = name
        self._up_axis = up_axis
        self._trail = trail
        self._warn = warn
        self._tiles = Budget(name, 'tiles and contents', MAX_TILES)
        self._tiles.spend(1)

    def tile(
        self, entry: dict[str, Any], parent: NDArray, refine: str, name: str, depth: int
    ) -> Tile:
        place = f'{self._name}: {name}'
        if depth > MAX_DEPTH:
            raise TilesError(f'{place} is nested deeper than {MAX_DEPTH} tiles')
        transform = _within_reach(parent, _transform(entry, place), place)
        # Lower case is what tilesets made before 1.0 have.
        refine = str(entry.get('refine', refine)).upper()
        if refine not in ('ADD', 'REPLACE'):
            raise TilesError(f'{place} has refine {refine!r}, expected ADD or REPLACE')
        volume = entry['boundingVolume']
        viewer = entry.get('viewerRequestVolume')
        tile = Tile(
            name=name,
            base=self._base,
            transform=transform,
            volume=volume,
            bounds=bounding_box(volume, transform, f'{place}: boundingVolume'),
            geometric_error=_error(entry, transform, place),
            refine=refine,
            contents=self._contents(entry),
            children=self._children(entry, transform, refine, name, depth),
            up_axis=self._up_axis,
            viewer=None if viewer is None else bounding_box(
                viewer, transform, f'{place}: viewerRequestVolume'
            ),
            trail=self._trail,
            depth=depth,
        )
        extensions = entry.get('extensions', {})
        implicit = entry.get('implicitTiling', extensions.get('3DTILES_implicit_tiling'))
        return tile if implicit is None else _implicit_root(tile, implicit, place)

    def _contents(self, entry: dict[str, Any]) -> tuple[str, ...]:
        contents = _contents(entry)
        self._tiles.spend(len(contents))
        return contents

    def _children(
        self, entry: dict[str, Any], transform: NDArray, refine: str, name: str, depth: int
    ) -> tuple[Tile, ...]:
        children = []
        # They are counted before any is made.
        self._tiles.spend(len(entry.get('children', [])))
        for index, child in enumerate(entry.get('children', [])):
            child_name = f'{name}/{index}'
            try:
                with telling_damage(f'{self._name}: {child_name}', 'the schema of a tile'):
                    children.append(self.tile(child, transform, refine, child_name, depth + 1))
            except BudgetError:
                raise
            except TilesError as error:
                if self._warn is None:
                    raise
                self._warn(str(error))
        return tuple(children)


def _transform(entry: dict[str, Any], place: str) -> NDArray[np.float64]:
    """Return the transform (4, 4) of a tile to its parent; files have it column by column."""
    if 'transform' not in entry:
        return np.eye(4)
    try:
        matrix = np.asarray(entry['transform'], np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.shape != (16,) or not np.isfinite(matrix).all():
        raise TilesError(f'{place} has transform {entry["transform"]!r}, expected 16 numbers')
    return matrix.reshape(4, 4).T


def _within_reach(parent: NDArray, own: NDArray, place: str) -> NDArray[np.float64]:
    with np.errstate(over='ignore', invalid='ignore'):
        transform: NDArray[np.float64] = parent @ own
    if not np.abs(transform).max() <= REACH:
        raise TilesError(f'{place} has a transform beyond {REACH:g} m, expected one on the Earth')
    return transform


def _error(entry: dict[str, Any], transform: NDArray, place: str) -> float:
    error = float(entry.get('geometricError', 0.0))
    scaled = error * float(np.linalg.norm(transform[:3, :3], axis=0).max())
    if not math.isfinite(scaled) or error < 0:
        raise TilesError(f'{place} has geometricError {error}, expected 0 or more')
    return scaled


def _contents(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return the URIs of a tile's contents, whichever version of the schema names them."""
    multiple = entry.get('extensions', {}).get('3DTILES_multiple_contents', {})
    contents = (
        entry.get('contents')
        or multiple.get('contents')
        or multiple.get('content')
        or ([entry['content']] if 'content' in entry else [])
    )
    # `url` is the name that 3D Tiles had for `uri` before 1.0.
    uris = tuple(c['uri'] if 'uri' in c else c['url'] for c in contents)
    for uri in uris:
        if not isinstance(uri, str):
            raise TypeError(f'content uri is {uri!r}')
    return uris


def _implicit_root(tile: Tile, implicit: dict[str, Any], place: str) -> Tile:
    scheme = str(implicit['subdivisionScheme']).upper()
    if scheme not in ('QUADTREE', 'OCTREE'):
        raise TilesError(f'{place} has subdivisionScheme {scheme!r}, expected QUADTREE or OCTREE')
    if not {'box', 'region'} & tile.volume.keys():
        raise TilesError(f'{place} is implicit with {", ".join(tile.volume)}, expected box or '
                         'region')
    # `maximumLevel` is what drafts of the extension have, counted from 0.
    levels = implicit.get('availableLevels', implicit.get('maximumLevel', -1) + 1)
    tiling = ImplicitTiling(
        branches=4 if scheme == 'QUADTREE' else 8,
        subtree_levels=int(implicit['subtreeLevels']),
        levels=int(levels),
        subtrees=str(implicit['subtrees']['uri']),
        contents=tile.contents,
    )
    if tiling.subtree_levels < 1 or tiling.branches ** tiling.subtree_levels > MAX_TILES:
        raise TilesError(
            f'{place} has subtreeLevels {tiling.subtree_levels}, expected 1 or more and at most '
            f'{MAX_TILES} tiles'
        )
    if tile.depth + tiling.levels > MAX_DEPTH:
        raise TilesError(f'{place} has availableLevels {tiling.levels}, expected tiles nested no '
                         f'deeper than {MAX_DEPTH}')
    return lead_to(tile, Subtree(tiling, tile, (0, 0, 0, 0)))


def lead_to(tile: Tile, subtree: Subtree) -> Tile:
    """Return a tile that is empty but for a subtree in its place."""
    return Tile(
        name=tile.name, base=tile.base, transform=tile.transform, volume=tile.volume,
        bounds=tile.bounds, geometric_error=tile.geometric_error, refine=tile.refine,
        contents=(), children=(), up_axis=tile.up_axis, viewer=tile.viewer, subtree=subtree,
        trail=tile.trail, depth=tile.depth,
    )
