# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the Lands Department's tile service, on the loopback interface.

It has the layout of "Tile-based f2": a root that refines by ADD with boxes in ECEF, one
tileset a region with a translation to ECEF, one file a tile of 2,400 m named after the
HK1980 grid, and in it levels that replace each other, of b3dm with KTX 2 and unlit. The
key is a parameter of the query, and no URI has it. What it shows is invented.
"""

from collections import Counter
from functools import cache
import json
import re
import struct
import time

from http_standin import HttpStandIn
from http_standin import StandInHandler
import numpy as np

from urbanground_ros.geo import geodetic_to_ecef
from urbanground_ros.geo import hk80_to_wgs84
from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import TileMesh

REGION = 11
TRANSLATION = np.array([-2387000.0, 5407000.0, 2388000.0])
#: The L4 tile that exists, and the centre of its ground in the grid.
L4 = (15, 7)
CENTER = (800_000 + 15.5 * 2400, 800_000 + 7.5 * 2400)
ERRORS = {4: 81.9, 3: 41.0, 2: 20.6, 1: 10.3, 0: 0.0}
GROUND = 5.0


def frame() -> LocalFrame:
    """Return the map frame at the centre of the ground."""
    latitude, longitude = hk80_to_wgs84(*CENTER)
    return LocalFrame(float(latitude), float(longitude), GROUND)


def size_of(level: int) -> float:
    """Return the side of a tile in metres; level 0 stands for the finest, below L1."""
    return 150.0 * 2 ** level


def name_of(ix: int, iy: int, level: int) -> str:
    return f'Tile_{ix}_{iy}_L{level}' if level else f'Tile_{ix // 2}_{iy // 2}_L15_' \
        f'{ix % 2}{iy % 2}'


def ground(ix: int, iy: int, level: int, cells: int) -> np.ndarray:
    """Return grid points (cells + 1, cells + 1, 3) of a tile in ECEF, on level ground."""
    steps = np.linspace(0, size_of(level), cells + 1)
    east, north = np.meshgrid(
        800_000 + ix * size_of(level) + steps, 800_000 + iy * size_of(level) + steps,
    )
    latitude, longitude = hk80_to_wgs84(east, north)
    return geodetic_to_ecef(latitude, longitude, np.full(east.shape, GROUND))


def box(ix: int, iy: int, level: int, offset: np.ndarray) -> dict:
    """Return the box of a tile, 60 m high, one axis vertical."""
    points = ground(ix, iy, level, 1)
    center = points.reshape(-1, 3).mean(axis=0)
    up = center / np.linalg.norm(center)
    axes = [(points[0, 1] - points[0, 0]) / 2, (points[1, 0] - points[0, 0]) / 2, up * 30]
    return {'box': np.concatenate([center - offset, *axes]).tolist()}


def ktx2(color: tuple[int, int, int]) -> bytes:
    """Return a KTX 2 file of 8 x 8 pixels of one color, UASTC (mode 8)."""
    bits = 0b10111 | color[0] << 5 | color[1] << 13 | color[2] << 21 | 255 << 29
    blocks = bits.to_bytes(16, 'little') * 4
    descriptor = struct.pack('<IIHH4B4B8BHBB4BII', 44, 0, 2, 40, 166, 1, 2, 0, 3, 3, 0, 0,
                             16, *[0] * 7, 0, 127, 3, 0, 0, 0, 0, 0, 0xFFFFFFFF)
    start = 104 + len(descriptor) + -(104 + len(descriptor)) % 16
    header = struct.pack('<12s9I', b'\xabKTX 20\xbb\r\n\x1a\n', 0, 1, 8, 8, 0, 0, 1, 1, 0)
    index = struct.pack('<4I2Q3Q', 104, len(descriptor), 0, 0, 0, 0, start, len(blocks),
                        len(blocks))
    return (header + index + descriptor).ljust(start, b'\0') + blocks


@cache
def b3dm(ix: int, iy: int, level: int) -> bytes:
    """Return a tile's content."""
    cells = 4
    points = ground(ix, iy, level, cells).reshape(-1, 3) - TRANSLATION
    up = np.tile(points[0] + TRANSLATION, (len(points), 1)) / np.linalg.norm(
        points[0] + TRANSLATION)
    row = np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)
    a, b, c, d = (part.ravel() for part in (row, row + 1, row + cells + 2, row + cells + 1))
    mesh = TileMesh(
        name='ground', positions=points.astype('f4'), normals=up.astype('f4'),
        uvs=np.zeros((len(points), 2), 'f4'),
        faces=np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype('u4'),
        texture=np.zeros((1, 1, 3), np.uint8), unlit=True,
    )
    glb = encode_glb([mesh], image_format='PNG')
    length = struct.unpack_from('<I', glb, 12)[0]
    document, binary = json.loads(glb[20:20 + length]), glb[28 + length:]
    picture = ktx2((40 * level, 90, 200))
    document['bufferViews'].append(
        {'buffer': 0, 'byteOffset': len(binary), 'byteLength': len(picture)})
    document['images'] = [
        {'bufferView': len(document['bufferViews']) - 1, 'mimeType': 'image/ktx2'}]
    document['textures'] = [{'extensions': {'KHR_texture_basisu': {'source': 0}}}]
    document['extensionsUsed'] = ['KHR_materials_unlit', 'KHR_texture_basisu']
    document['extensionsRequired'] = ['KHR_texture_basisu']
    binary += picture
    document['buffers'] = [{'byteLength': len(binary)}]
    text = json.dumps(document).encode()
    text += b' ' * (-len(text) % 4)
    binary += b'\0' * (-len(binary) % 4)
    glb = struct.pack('<4sIIII', b'glTF', 2, 28 + len(text) + len(binary), len(text),
                      0x4E4F534A) + text + struct.pack('<II', len(binary), 0x004E4942) + binary
    features = b'{"BATCH_LENGTH":0}  '
    return struct.pack('<4s6I', b'b3dm', 1, 28 + len(features) + len(glb), len(features), 0, 0,
                       0) + features + glb


def tile(ix: int, iy: int, level: int) -> dict:
    entry = {
        'boundingVolume': box(ix, iy, level, TRANSLATION), 'geometricError': ERRORS[level],
        'refine': 'REPLACE', 'content': {'uri': f'{name_of(ix, iy, level)}.b3dm'},
    }
    if level:
        entry['children'] = [
            tile(2 * ix + i, 2 * iy + j, level - 1) for j in (0, 1) for i in (0, 1)
        ]
    return entry


def tileset(root: dict) -> bytes:
    return json.dumps({
        'asset': {'version': '1.1', 'gltfUpAxis': 'Y'}, 'geometricError': 1e4, 'root': root,
    }).encode()


@cache
def files() -> dict[str, bytes]:
    """Return the tileset files of the service by path."""
    shift = np.eye(4)
    shift[:3, 3] = TRANSLATION
    l4 = f'Data/temp0/Tile_{L4[0]}_{L4[1]}_L4.json'
    error = {'geometricError': 163.8, 'refine': 'ADD'}
    far = {'sphere': [*-TRANSLATION, 3000.0]}
    return {
        '/f2/tileset.json': tileset({
            'boundingVolume': box(*L4, 4, np.zeros(3)), **error,
            'children': [
                {'boundingVolume': box(*L4, 4, np.zeros(3)), **error,
                 'content': {'uri': f'{REGION}/tileset.json'}},
                {'boundingVolume': far, **error, 'content': {'uri': '12/tileset.json'}},
            ],
        }),
        f'/f2/{REGION}/tileset.json': tileset({
            'transform': shift.T.ravel().tolist(),
            'boundingVolume': box(*L4, 4, TRANSLATION), **error,
            'children': [{'boundingVolume': box(*L4, 4, TRANSLATION), **error,
                          'content': {'uri': l4}}],
        }),
        f'/f2/{REGION}/{l4}': tileset(tile(*L4, 4)),
        '/building/tileset.json': tileset({
            'boundingVolume': box(*L4, 4, np.zeros(3)), **error,
        }),
    }


class StandIn(HttpStandIn):
    """The service; a context manager.

    `faults` are (pattern, kind, times): paths that match fail as `kind` says, so often. The
    kinds are a status, `slow`, `truncated`, `page`, `garbage`, `message`, `empty` and
    `elsewhere` (a redirect to another host).
    """

    def __init__(self, key: str | None = None) -> None:
        super().__init__(_Handler)
        self.key = key
        self.faults: list[tuple[str, int | str, int]] = []
        self.delay = 2.0
        self.requests: list[str] = []
        self.queries: list[dict] = []
        self._seen: Counter = Counter()
        self.url = self.origin

    def fault(self, path: str) -> int | str | None:
        """Return how this request for a path fails."""
        with self._lock:
            for pattern, kind, times in self.faults:
                if re.search(pattern, path):
                    self._seen[pattern, path] += 1
                    if self._seen[pattern, path] <= times:
                        return kind
        return None

    def body(self, path: str) -> bytes | None:
        if path in files():
            return files()[path]
        found = re.search(r'/Tile_(\d+)_(\d+)_L(\d+)(?:_(\d)(\d))?\.b3dm$', path)
        if found is None:
            return None
        ix, iy, level = (int(value) for value in found.groups()[:3])
        if level == 15:
            return b3dm(2 * ix + int(found[4]), 2 * iy + int(found[5]), 0)
        return b3dm(ix, iy, level)


class _Handler(StandInHandler):
    standin: StandIn

    def _answer(self, status: int, body: bytes, kind: str = 'application/octet-stream',
                **more: object) -> None:
        self.answer(status, body, kind, **more)

    def serve(self, path: str, query: dict[str, list[str]]) -> None:
        standin = self.standin
        with standin._lock:
            standin.requests.append(path)
            standin.queries.append(query)
        if standin.key is not None and query.get('key') != [standin.key]:
            self._answer(403, b'key refused')
            return
        body, fault = standin.body(path), standin.fault(path)
        if fault == 'slow':
            time.sleep(standin.delay)
        if isinstance(fault, int):
            self._answer(fault, b'no')
        elif fault == 'page':
            self._answer(200, b'<!DOCTYPE html><p>sorry', 'text/html; charset=utf-8')
        elif fault == 'elsewhere':
            port = standin.url.rpartition(':')[2]
            self._answer(302, b'', Location=f'http://localhost:{port}{path}')
        elif body is None:
            self._answer(404, b'no such file')
        elif fault == 'truncated':
            self._answer(200, body[:len(body) // 2], length=len(body))
            self.close_connection = True
        elif fault == 'garbage':
            self._answer(200, bytes(len(body)))
        elif fault == 'message':
            self._answer(200, b'{"error": "try again later"}', 'application/json')
        elif fault == 'empty':
            self._answer(200, b'')
        else:
            self._answer(200, body)
