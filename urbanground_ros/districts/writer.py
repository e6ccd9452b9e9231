# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Writes a district as a region: 3D Tiles 1.1, network, places and region file.

The same version of this package writes the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
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
from urbanground_ros.districts.furniture import build_boundary
from urbanground_ros.districts.furniture import build_furniture
from urbanground_ros.districts.ground import build_ground
from urbanground_ros.districts.names import PARK as PARK_NAMES
from urbanground_ros.districts.names import Shop
from urbanground_ros.districts.names import STREETS_EAST
from urbanground_ros.districts.names import STREETS_NORTH
from urbanground_ros.districts.names import TITLE
from urbanground_ros.districts.network import network_document
from urbanground_ros.districts.network import NetworkBuilder
from urbanground_ros.districts.network import NOTE
from urbanground_ros.districts.plan import CENTRE
from urbanground_ros.districts.plan import EDGE
from urbanground_ros.districts.plan import KERB
from urbanground_ros.districts.plan import PARK
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import STREETS_U
from urbanground_ros.districts.plan import STREETS_V
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.steps import build_footbridge
from urbanground_ros.districts.steps import build_stepped_lane
from urbanground_ros.districts.textures import facade_texture
from urbanground_ros.districts.textures import FACADES
from urbanground_ros.districts.textures import fronts_texture
from urbanground_ros.districts.textures import ground_textures
from urbanground_ros.districts.textures import plates_texture
from urbanground_ros.districts.textures import sign_atlas
from urbanground_ros.districts.textures import sign_uvs
from urbanground_ros.districts.textures import Texture
from urbanground_ros.geo import DEFAULT_HKPD_OFFSET
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import Place
from urbanground_ros.geo import Region
from urbanground_ros.geo import save_places
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import TileMesh
from urbanground_ros.tiles.mesh import unit

ORIGIN = GeoPoint(22.3272, 114.1786, 20.0)
"""A real place in Kowloon, where nothing of the district exists."""

_README = """\
{title}

Everything in this folder is invented: terrain, streets, buildings, shops and names. Nothing of
it exists at these coordinates. It was written by UrbanGround for ROS 2 and is free to use under
the licence of that package (Apache-2.0). It contains no data of the Lands Department or of
anybody else; only the schema of the network file is theirs.

region.yaml      what belongs together, and where the map frame has its origin
tileset.json     3D Tiles 1.1, contents beside it
network.geojson  pedestrian network in the schema of the 3D Pedestrian Network, heights in HKPD
places.json      shops and other places
"""
_GRID = 3
_CELL = 5.5
_COARSE_CELL = 30.0
_COARSE_ERROR = 12.0


def write_district(folder: Path, name: str, seed: int) -> None:
    """Write a district into an existing folder.

    Raises:
        OSError: a file cannot be written.
    """
    frame = LocalFrame(ORIGIN.latitude, ORIGIN.longitude, ORIGIN.altitude)
    plan = StreetPlan()
    chance = {
        topic: np.random.default_rng([seed, number])
        for number, topic in enumerate(('textures', 'lots', 'buildings', 'shops', 'furniture'))
    }
    buildings = lots(chance['lots'])

    fine, coarse = Soup(), Soup()
    build_ground(fine, plan, _CELL)
    build_ground(coarse, plan, _COARSE_CELL)
    bays = []
    for number, lot in enumerate(buildings):
        bays += build_lot(fine, coarse, plan, chance['buildings'], lot, number)
    signs = choose_signs(chance['shops'], bays)
    build_fronts(fine, chance['shops'], bays, signs)
    build_stepped_lane(fine, plan)
    build_footbridge(fine, plan)
    build_footbridge(coarse, plan)
    build_furniture(fine, plan, chance['furniture'])
    build_boundary(fine, plan)
    build_boundary(coarse, plan)

    textures = ground_textures(chance['textures'])
    for style in range(FACADES):
        textures[f'facade{style}'] = facade_texture(chance['textures'], style)
    textures['fronts'] = fronts_texture(chance['textures'])
    textures['plates'] = plates_texture(STREETS_NORTH + STREETS_EAST)
    textures |= _add_signs(fine, signs)

    _write_tiles(folder, frame, fine, coarse, textures)
    lines = NetworkBuilder(plan, buildings).build()
    document = network_document(lines, frame, DEFAULT_HKPD_OFFSET)
    _write_json(folder / 'network.geojson', document)
    save_places(folder / 'places.json', _places(plan, frame, signs))
    (folder / 'README.txt').write_text(_README.format(title=TITLE), encoding='utf-8')
    Region(
        name=name,
        title=TITLE,
        synthetic=True,
        origin=ORIGIN,
        tilesets=('tileset.json',),
        network='network.geojson',
        places='places.json',
        height_offset=DEFAULT_HKPD_OFFSET,
        attribution='Invented by UrbanGround for ROS 2; not a real place',
    ).save(folder / 'region.yaml')


def _write_json(path: Path, document: dict[str, Any]) -> None:
    text = json.dumps(document, ensure_ascii=False, separators=(',', ':'))
    path.write_text(text + '\n', encoding='utf-8')


def _tile_of(points: FloatArray) -> FloatArray:
    """Return the number of the leaf tile for plan points (..., 2)."""
    cell = np.clip(((points + EDGE) / (2 * EDGE) * _GRID).astype(int), 0, _GRID - 1)
    return cell[..., 0] * _GRID + cell[..., 1]


def _add_signs(soup: Soup, signs: list[Sign]) -> dict[str, Texture]:
    """Add the signs, with one atlas for each leaf tile, and return the atlases."""
    by_tile: dict[int, list[Sign]] = defaultdict(list)
    for sign in signs:
        by_tile[int(_tile_of(sign.bay.front(0.0)))].append(sign)
    atlases = {}
    for tile, here in sorted(by_tile.items()):
        material = f'signs{tile}'
        atlases[material] = sign_atlas([(s.shop.name, s.ground, s.ink) for s in here])
        for row, sign in enumerate(here):
            build_sign(soup, material, sign, *sign_uvs(row, len(here)))
    return atlases


def _write_tiles(
    folder: Path, frame: LocalFrame, fine: Soup, coarse: Soup, textures: dict[str, Texture]
) -> None:
    """Write a coarse root and a grid of leaf tiles, each in coordinates about its middle."""
    half = {name: texture[::2, ::2].copy() for name, texture in textures.items()}
    root = _tile(folder, 'root.glb', coarse.materials(), half, np.zeros(3), _COARSE_ERROR)
    children = []
    for tile in range(_GRID ** 2):
        parts = {}
        for name, (corners, uvs) in fine.materials().items():
            chosen = _tile_of(corners[..., :2].mean(axis=1)) == tile
            if chosen.any():
                parts[name] = corners[chosen], uvs[chosen]
        points = np.concatenate([corners.reshape(-1, 3) for corners, _ in parts.values()])
        centre = np.round((points.min(axis=0) + points.max(axis=0)) / 2)
        file = f'tile_{tile // _GRID}_{tile % _GRID}.glb'
        children.append(_tile(folder, file, parts, textures, centre, 0.0))
    root |= {
        'refine': 'REPLACE',
        'transform': frame.matrix.T.ravel().tolist(),
        'children': children,
    }
    # The root's volume holds its children's.
    spans = [(np.array(c['transform'][12:15]) + c['boundingVolume']['box'][:3],
              np.diag(np.reshape(c['boundingVolume']['box'][3:], (3, 3)))) for c in children]
    low = np.min([centre - size for centre, size in spans], axis=0)
    high = np.max([centre + size for centre, size in spans], axis=0)
    own = np.reshape(root['boundingVolume']['box'], (4, 3))
    low = np.minimum(low, own[0] - np.diag(own[1:]))
    high = np.maximum(high, own[0] + np.diag(own[1:]))
    root['boundingVolume'] = _volume(low, high)
    _write_json(folder / 'tileset.json', {
        'asset': {'version': '1.1', 'extras': {'title': TITLE, 'synthetic': True, 'note': NOTE}},
        'geometricError': 500.0,
        'root': root,
    })


def _tile(
    folder: Path,
    file: str,
    parts: dict[str, tuple[FloatArray, FloatArray]],
    textures: dict[str, Texture],
    centre: FloatArray,
    error: float,
) -> dict[str, Any]:
    """Write one content and return its tile."""
    meshes = [
        _mesh(name, corners - centre, uvs, textures[name])
        for name, (corners, uvs) in parts.items()
    ]
    (folder / file).write_bytes(encode_glb(meshes, quality=76))
    points = np.concatenate([mesh.positions for mesh in meshes]).astype(np.float64)
    tile: dict[str, Any] = {
        'boundingVolume': _volume(points.min(axis=0), points.max(axis=0)),
        'geometricError': error,
        'content': {'uri': file},
    }
    if centre.any():
        tile['transform'] = [1.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 1.0, 0, *centre.tolist(), 1.0]
    return tile


def _volume(low: FloatArray, high: FloatArray) -> dict[str, Any]:
    middle, size = (low + high) / 2, (high - low) / 2
    return {'box': [*middle.tolist(), *np.diag(size).ravel().tolist()]}


def _mesh(name: str, corners: FloatArray, uvs: FloatArray, texture: Texture) -> TileMesh:
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
        unlit=name.startswith(('signs', 'plates')),
    )


def _places(plan: StreetPlan, frame: LocalFrame, signs: list[Sign]) -> list[Place]:
    """Return the shops at their doors, and the park at its east gate."""
    places = []
    for number, sign in enumerate(signs, 1):
        point = np.array([*sign.bay.front(0.6), sign.bay.floor])
        places.append(_place(f'place-{number:03d}', sign.shop, point, frame))
    column, row = PARK
    gate = plan.point(
        STREETS_U[column + 1] - CENTRE, (STREETS_V[row] + STREETS_V[row + 1]) / 2, KERB
    )
    places.append(_place(f'place-{len(signs) + 1:03d}', PARK_NAMES, gate, frame))
    return places


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
