# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Writes a district as a region: 3D Tiles 1.1, network, places and region file.

The same version of this package writes the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import replace
import json
from pathlib import Path
from typing import Any

import numpy as np

from urbanground_ros.city import GeoPoint
from urbanground_ros.districts.buildings import build_fronts
from urbanground_ros.districts.buildings import build_lot
from urbanground_ros.districts.buildings import build_sign
from urbanground_ros.districts.buildings import choose_signs
from urbanground_ros.districts.buildings import lots
from urbanground_ros.districts.buildings import Sign
from urbanground_ros.districts.cutting import cut
from urbanground_ros.districts.furniture import build_boundary
from urbanground_ros.districts.furniture import build_furniture
from urbanground_ros.districts.ground import build_ground
from urbanground_ros.districts.names import Shop
from urbanground_ros.districts.network import network_document
from urbanground_ros.districts.network import NetworkBuilder
from urbanground_ros.districts.network import NOTE
from urbanground_ros.districts.outdoors import build_post_sign
from urbanground_ros.districts.outdoors import post_signs
from urbanground_ros.districts.outdoors import PostSign
from urbanground_ros.districts.plan import DistrictPlan
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plans import shops_of
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import Model
from urbanground_ros.districts.soup import Quads
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.structures import build_structures
from urbanground_ros.districts.textures import facade_texture
from urbanground_ros.districts.textures import FACADES
from urbanground_ros.districts.textures import fronts_light
from urbanground_ros.districts.textures import fronts_texture
from urbanground_ros.districts.textures import glow_texture
from urbanground_ros.districts.textures import ground_textures
from urbanground_ros.districts.textures import panels_texture
from urbanground_ros.districts.textures import plates_texture
from urbanground_ros.districts.textures import sign_atlas
from urbanground_ros.districts.textures import sign_uvs
from urbanground_ros.districts.textures import Texture
from urbanground_ros.districts.textures import windows_texture
from urbanground_ros.geo import DEFAULT_HKPD_OFFSET
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import Place
from urbanground_ros.geo import Region
from urbanground_ros.geo import save_places
from urbanground_ros.tiles import Emission
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import encode_image
from urbanground_ros.tiles import Features
from urbanground_ros.tiles import Instance
from urbanground_ros.tiles import Lamp
from urbanground_ros.tiles import TileMesh
from urbanground_ros.tiles.mesh import unit

_README = """\
{title}

Everything in this folder is invented: terrain, streets, buildings, shops and names. Nothing of
it exists at these coordinates. It was written by UrbanGround for ROS 2 and is free to use under
the licence of that package (Apache-2.0). It contains no data of the Lands Department or of
anybody else; only the schema of the network file is theirs.

region.yaml      what belongs together, and where the map frame has its origin
tileset.json     3D Tiles 1.1, contents and their textures beside it
network.geojson  pedestrian network in the schema of the 3D Pedestrian Network, heights in HKPD
places.json      shops and other places
"""
_TILE = 150.0
_CELL = 7.5
_COARSE_CELL = 30.0
_FAR_CELL = 90.0
_COARSE_ERROR = 8.0
_FAR_ERROR = 32.0
_ROOT_ERROR = 500.0
_QUALITY = 82
_TOPICS = ('textures', 'lots', 'buildings', 'shops', 'furniture', 'outdoors', 'windows')
# What shines after dark, and how brightly; names of materials begin so.
_GLOW = {'facade': 0.85, 'fronts': 0.65, 'signs': 0.7, 'panels': 0.7, 'plates': 0.3, 'glow': 1.0}

Report = Callable[[float, str], None]
"""Told the share that is done, from 0 to 1, and what comes next."""


def write_district(
    folder: Path, district: DistrictPlan, report: Report | None = None
) -> None:
    """Write a district into an existing folder.

    Raises:
        DistrictError: the plan has no room for its blocks.
        OSError: a file cannot be written.
    """
    report = report or _say_nothing
    origin = district.origin
    frame = LocalFrame(origin.latitude, origin.longitude, origin.altitude)
    plan = StreetPlan(district)
    chance = {
        topic: np.random.default_rng([district.seed, number])
        for number, topic in enumerate(_TOPICS)
    }
    report(0.0, 'ground')
    model = Model()
    build_ground(model.fine, plan, _CELL)
    build_ground(model.coarse, plan, _COARSE_CELL)
    build_ground(model.far, plan, _FAR_CELL, kerbs=False)
    report(0.1, 'buildings')
    buildings = lots(plan, chance['lots'])
    bays = []
    for lot in buildings:
        bays += build_lot(model, plan, chance['buildings'], lot)
    signs = choose_signs(chance['shops'], bays, shops_of(district, chance['shops']))
    posts = post_signs(plan, chance['outdoors'])
    build_fronts(model.fine, chance['shops'], bays, signs)
    report(0.3, 'structures')
    build_structures(model, plan)
    doors = np.array([sign.bay.front(0.0) for sign in signs])
    build_furniture(model.fine, plan, chance['furniture'], doors)
    build_boundary(model, plan)

    report(0.4, 'textures')
    textures = ground_textures(chance['textures'])
    for style in range(FACADES):
        textures[f'facade{style}'] = facade_texture(chance['textures'], style)
        textures[f'lit_facade{style}'] = windows_texture(chance['windows'], style)
    textures['fronts'] = fronts_texture(chance['textures'])
    textures['lit_fronts'] = fronts_light(textures['fronts'])
    textures['glow'] = glow_texture()
    textures['panels'] = panels_texture()
    textures['plates'] = plates_texture(
        [(street.name, street.name_tc) for street in (*district.north, *district.east)]
    )
    grid = _Grid(plan.edges)
    textures |= _add_signs(model.fine, grid, signs, posts)

    _write_tiles(folder, district, frame, grid, model, textures, report)
    lines = NetworkBuilder(plan, buildings).build()
    document = network_document(
        lines, (*district.north, *district.east), frame, DEFAULT_HKPD_OFFSET
    )
    _write_json(folder / 'network.geojson', document)
    save_places(folder / 'places.json', _places(frame, signs, posts))
    (folder / 'README.txt').write_text(
        _README.format(title=district.title), encoding='utf-8'
    )
    Region(
        name=district.name,
        title=district.title,
        synthetic=True,
        origin=origin,
        tilesets=('tileset.json',),
        network='network.geojson',
        places='places.json',
        height_offset=DEFAULT_HKPD_OFFSET,
        attribution='Invented by UrbanGround for ROS 2; not a real place',
    ).save(folder / 'region.yaml')
    report(1.0, 'done')


def _say_nothing(_share: float, _what: str) -> None:
    pass


def _write_json(path: Path, document: dict[str, Any]) -> None:
    text = json.dumps(document, ensure_ascii=False, separators=(',', ':'))
    path.write_text(text + '\n', encoding='utf-8')


class _Grid:
    """The tiles of a district: equal parts of its plan, the outer ones open outwards."""

    def __init__(self, edges: tuple[float, ...]) -> None:
        self._edges = edges
        self.counts = tuple(max(1, round(2 * edge / _TILE)) for edge in edges)

    def __len__(self) -> int:
        return self.counts[0] * self.counts[1]

    def tile_of(self, points: FloatArray) -> FloatArray:
        """Return the number of the tile for ENU points (..., 2)."""
        cells = [
            np.clip(((points[..., axis] + edge) / (2 * edge) * count).astype(int), 0, count - 1)
            for axis, (edge, count) in enumerate(zip(self._edges, self.counts, strict=True))
        ]
        return cells[0] * self.counts[1] + cells[1]

    def lines(self) -> Iterator[tuple[int, float]]:
        """Yield the lines between the tiles: the axis that is constant, and its value."""
        for axis, (edge, count) in enumerate(zip(self._edges, self.counts, strict=True)):
            for number in range(1, count):
                yield axis, edge * (2 * number / count - 1)

    def name(self, tile: int) -> str:
        """Return the name of a tile: its column and row."""
        return f'{tile // self.counts[1]}_{tile % self.counts[1]}'


def _add_signs(
    soup: Soup, grid: _Grid, signs: list[Sign], posts: list[PostSign]
) -> dict[str, Texture]:
    """Add the signs, with one atlas for each leaf tile, and return the atlases."""
    by_tile: dict[int, list[Sign | PostSign]] = defaultdict(list)
    for sign in signs:
        by_tile[int(grid.tile_of(sign.bay.front(0.0)))].append(sign)
    for post in posts:
        by_tile[int(grid.tile_of(post.foot[:2]))].append(post)
    atlases = {}
    for tile, here in sorted(by_tile.items()):
        material = f'signs{tile}'
        atlases[material] = sign_atlas(
            [(s.shop.name, s.shop.name_tc, s.ground, s.ink) for s in here]
        )
        for row, each in enumerate(here):
            fascia, blade = sign_uvs(row, len(here))
            if isinstance(each, Sign):
                build_sign(soup, material, each, fascia, blade)
            else:
                build_post_sign(soup, material, each, fascia)
    return atlases


def _write_tiles(
    folder: Path, district: DistrictPlan, frame: LocalFrame, grid: _Grid, model: Model,
    textures: dict[str, Texture], report: Report,
) -> None:
    """Write the outline as root, and for each part of the plan a coarse and a fine tile.

    Every content has coordinates about its own middle.
    """
    full, half, quarter = (_Pictures(folder, textures, step) for step in (1, 2, 4))
    root = _tile(folder, 'root.glb', model.far.materials(), model.far.instances, [], quarter,
                 np.zeros(3), _FAR_ERROR)
    children = []
    levels = [_split(soup, grid) for soup in (model.coarse, model.fine)]
    lamps = [_split_lamps(soup, grid) for soup in (model.coarse, model.fine)]
    for tile in range(len(grid)):
        report(0.45 + 0.5 * tile / len(grid), f'tile {tile + 1} of {len(grid)}')
        coarse, fine = (level[tile] for level in levels)
        points = np.concatenate([quads.corners.reshape(-1, 3) for quads in fine.values()])
        centre = np.round((points.min(axis=0) + points.max(axis=0)) / 2)
        name = grid.name(tile)
        few, all_lamps = (level[tile] for level in lamps)
        leaf = _tile(folder, f'fine_{name}.glb', fine, model.fine.instances, all_lamps, full,
                     centre, 0.0)
        child = _tile(folder, f'coarse_{name}.glb', coarse, model.coarse.instances, few, half,
                      centre, _COARSE_ERROR)
        # The child shares the parent's coordinates.
        del leaf['transform']
        child['children'] = [leaf]
        _enclose(child, [_span(leaf)])
        children.append(child)
    root |= {
        'refine': 'REPLACE',
        'transform': frame.matrix.T.ravel().tolist(),
        'children': children,
    }
    _enclose(root, [_span(child, child['transform'][12:15]) for child in children])
    title = district.title
    _write_json(folder / 'tileset.json', {
        'asset': {'version': '1.1', 'extras': {'title': title, 'synthetic': True, 'note': NOTE}},
        'geometricError': _ROOT_ERROR,
        'root': root,
    })


class _Pictures:
    """The textures of a level of detail, each written to a file when it is first asked for."""

    def __init__(self, folder: Path, textures: dict[str, Texture], step: int) -> None:
        self._folder = folder
        self._step = step
        self._textures = {name: texture[::step, ::step] for name, texture in textures.items()}
        self._lit = {name: self._textures.get(f'lit_{name}', texture)
                     for name, texture in self._textures.items()
                     if name.startswith(tuple(_GLOW))}
        self.files: dict[int, str] = {}

    def get(self, name: str) -> Texture:
        """Return the texture of a material."""
        return self._write(name, self._textures[name])

    def emission(self, name: str, quads: Quads) -> Emission | None:
        """Return what the quads of a material give off after dark."""
        texture = self._lit.get(name)
        if texture is None:
            return None
        lit = self._write(f'lit_{name}', texture)
        factor = next(part for start, part in _GLOW.items() if name.startswith(start))
        own = None
        if name.startswith('facade'):
            # Whole repeats of the facade apart, so that no two walls have the same windows lit.
            first = quads.corners[:, 0]
            spot = np.floor(first[:, 0] * 1.7 + first[:, 1] * 2.3) % 16
            shift = np.stack([spot % 4, spot // 4], axis=-1)[:, None]
            own = ((quads.uvs + shift) / 4).reshape(-1, 2).astype(np.float32)
        return Emission((factor, factor, factor), lit, own)

    def _write(self, name: str, texture: Texture) -> Texture:
        if id(texture) not in self.files:
            file = f'{name}_{self._step}.jpg'
            (self._folder / file).write_bytes(encode_image(texture, quality=_QUALITY))
            self.files[id(texture)] = file
        return texture


_Parts = dict[str, Quads]


def _split(soup: Soup, grid: _Grid) -> list[_Parts]:
    """Return the quads of every tile, by material, cut where they reach into another."""
    parts: list[_Parts] = [{} for _ in range(len(grid))]
    for name, quads in soup.materials().items():
        for axis, line in grid.lines():
            quads = cut(quads, axis, line)
        tiles = grid.tile_of(quads.corners[..., :2].mean(axis=1))
        for tile in np.unique(tiles):
            parts[tile][name] = Quads(*(column[tiles == tile] for column in quads))
    return parts


def _split_lamps(soup: Soup, grid: _Grid) -> list[list[Lamp]]:
    """Return the lamps of every tile."""
    found: list[list[Lamp]] = [[] for _ in range(len(grid))]
    for lamp in soup.lamps:
        found[int(grid.tile_of(np.array(lamp.position[:2])))].append(lamp)
    return found


def _span(tile: dict[str, Any], shift: Any = (0.0, 0.0, 0.0)) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest corner of a tile's volume, (3,) each."""
    box = np.reshape(tile['boundingVolume']['box'], (4, 3))
    middle, size = box[0] + np.asarray(shift), np.diag(box[1:])
    return middle - size, middle + size


def _enclose(tile: dict[str, Any], spans: list[tuple[FloatArray, FloatArray]]) -> None:
    """Widen a tile's volume to hold those of its children."""
    lows, highs = zip(_span(tile), *spans, strict=True)
    tile['boundingVolume'] = _volume(np.min(lows, axis=0), np.max(highs, axis=0))


def _tile(
    folder: Path,
    file: str,
    parts: _Parts,
    instances: tuple[Instance, ...],
    lamps: list[Lamp],
    pictures: _Pictures,
    centre: FloatArray,
    error: float,
) -> dict[str, Any]:
    """Write one content and return its tile."""
    here = np.unique(np.concatenate([quads.of for quads in parts.values()]))
    here = here[here >= 0]
    table = tuple(instances[number] for number in here)
    meshes = []
    for name, quads in parts.items():
        features = None
        if (quads.of >= 0).any():
            rows = np.where(quads.of < 0, len(here), np.searchsorted(here, quads.of))
            features = Features(np.repeat(rows, 4).astype(np.uint32), table)
        meshes.append(_mesh(name, quads.corners - centre, quads.uvs, pictures.get(name),
                            pictures.emission(name, quads), features))
    placed = (np.array(lamp.position) - centre for lamp in lamps)
    meshes[0] = replace(meshes[0], lamps=tuple(
        lamp._replace(position=tuple(np.round(place, 3).tolist()))
        for lamp, place in zip(lamps, placed, strict=True)))
    (folder / file).write_bytes(encode_glb(meshes, files=pictures.files))
    points = np.concatenate([mesh.positions for mesh in meshes]).astype(np.float64)
    return {
        'boundingVolume': _volume(points.min(axis=0), points.max(axis=0)),
        'geometricError': error,
        'content': {'uri': file},
        'transform': [1.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 1.0, 0, *centre.tolist(), 1.0],
    }


def _volume(low: FloatArray, high: FloatArray) -> dict[str, Any]:
    middle, size = (low + high) / 2, (high - low) / 2
    return {'box': [*middle.tolist(), *np.diag(size).ravel().tolist()]}


def _mesh(
    name: str, corners: FloatArray, uvs: FloatArray, texture: Texture, emission: Emission | None,
    features: Features | None,
) -> TileMesh:
    """Return quads as triangles with flat normals, without those of no area."""
    count = len(corners)
    first = np.arange(count, dtype=np.uint32)[:, None] * 4
    halves = np.array([[0, 1, 2], [0, 2, 3]], np.uint32)
    faces = np.concatenate([first + halves[0], first + halves[1]])
    points = corners.reshape(-1, 3)
    sides = points[faces[:, 1:]] - points[faces[:, :1]]
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    normals = unit(np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]))
    return TileMesh(
        name=name,
        positions=points.astype(np.float32),
        normals=np.repeat(normals, 4, axis=0).astype(np.float32),
        uvs=uvs.reshape(-1, 2).astype(np.float32),
        faces=faces[area > 1e-9],
        texture=texture,
        emission=emission,
        features=features,
    )


def _places(frame: LocalFrame, signs: list[Sign], posts: list[PostSign]) -> list[Place]:
    """Return the shops at their doors, and the places with a sign on a post."""
    at = [(sign.shop, np.array([*sign.bay.front(0.6), sign.bay.floor])) for sign in signs]
    at += [(post.shop, post.entrance) for post in posts]
    return [
        _place(f'place-{number:03d}', shop, point, frame)
        for number, (shop, point) in enumerate(at, 1)
    ]


def _place(identity: str, shop: Shop, point: FloatArray, frame: LocalFrame) -> Place:
    latitude, longitude, altitude = frame.to_geodetic(point)
    entrance = GeoPoint(round(latitude, 9), round(longitude, 9), round(altitude, 3))
    return Place(
        id=identity,
        type=shop.type,
        name=shop.name,
        name_tc=shop.name_tc,
        entrance=entrance,
        hours=(_seconds(shop.opens), _seconds(shop.closes)),
    )


def _seconds(clock: str) -> int:
    hours, minutes = clock.split(':')
    return int(hours) * 3600 + int(minutes) * 60
