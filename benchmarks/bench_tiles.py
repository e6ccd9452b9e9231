# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time how tiles decode by kind, how a view is selected, and how memory keeps its bound."""

from collections.abc import Iterator
import json
import math
from pathlib import Path
import resource
import tempfile
import time

import numpy as np

from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles import Camera
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import FolderSource
from urbanground_ros.tiles import Streamer
from urbanground_ros.tiles import TileMesh
from urbanground_ros.tiles import unwrap_b3dm
from urbanground_ros.tiles.gltf import decode_gltf

SAMPLES = Path(__file__).resolve().parents[1].parent / 'shared' / 'data'
KINDS = {
    'JPEG, b3dm': 'nasa_dingo_gap/0000.b3dm',
    'Draco, JPEG': '3dtiles_samples/loadersgl_3dtiles/content/143.b3dm',
    'Draco, no picture': '3dtiles_samples/loadersgl_3dtiles/content/frankfurt_osgb_draco.b3dm',
    'meshopt': '3dtiles_samples/cesium-native_3dtiles/content/Duck-vp-12-vt-12-vn-12.glb',
    'KTX 2': '3dtiles_samples/loadersgl_3dtiles/CesiumJS/VNext/agi-ktx2/0/0.glb',
}
FRAME = LocalFrame(22.3, 114.17, 0.0)
LEVELS = 6
SIDE = 2400.0
CELLS = 20
PIXELS = 256
TURNS = 60
MEMORY = 16 << 20


def timed(call, *args, seconds: float = 1.0) -> float:
    """Return the shortest time of a call in seconds, tried for a while."""
    best, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call(*args)
        best = min(best, time.perf_counter() - start)
    return best


def patch(side: float) -> TileMesh:
    """Return a textured piece of ground."""
    steps = np.linspace(0, side, CELLS + 1)
    points = np.stack(np.meshgrid(steps, steps, [0.0]), -1).reshape(-1, 3)
    row = np.arange(CELLS)[:, None] * (CELLS + 1) + np.arange(CELLS)
    a, b, c, d = (part.ravel() for part in (row, row + 1, row + CELLS + 2, row + CELLS + 1))
    return TileMesh(
        'ground', points.astype('f4'), np.tile(np.array([0, 0, 1], 'f4'), (len(points), 1)),
        (points[:, :2] / side).astype('f4'),
        np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype('u4'),
        np.random.default_rng(0).integers(0, 255, (PIXELS, PIXELS, 3), np.uint8),
    )


def write_quadtree(folder: Path) -> Path:
    """Write a quadtree of which the tiles of a level share one content."""
    for level in range(LEVELS):
        (folder / f'{level}.glb').write_bytes(encode_glb([patch(SIDE / 2 ** level)]))

    def tile(level: int, x: float, y: float) -> dict:
        side = SIDE / 2 ** level
        entry = {
            'transform': np.array(
                [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, 0, 1], float).tolist(),
            'boundingVolume': {'box': [side / 2, side / 2, 0, side / 2, 0, 0, 0, side / 2, 0, 0,
                                       0, 30]},
            'geometricError': 80.0 / 2 ** level if level < LEVELS - 1 else 0.0,
            'content': {'uri': f'{level}.glb'},
        }
        if level < LEVELS - 1:
            half = side / 2
            entry['children'] = [tile(level + 1, i * half, j * half)
                                 for j in (0, 1) for i in (0, 1)]
        return entry

    root = tile(0, -SIDE / 2, -SIDE / 2)
    shift = np.eye(4)
    shift[:2, 3] = -SIDE / 2
    root['transform'] = (FRAME.matrix @ shift).T.ravel().tolist()
    path = folder / 'tileset.json'
    path.write_text(json.dumps({'asset': {'version': '1.1'}, 'root': root}))
    return path


def turning() -> Iterator[Camera]:
    """Yield cameras that walk along a circle."""
    for angle in np.linspace(0, 2 * math.pi, TURNS, endpoint=False):
        place = 400 * math.cos(angle), 400 * math.sin(angle), 1.6
        yield Camera(place, (-math.sin(angle), math.cos(angle), 0))


def resident() -> float:
    """Return the most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def decoding() -> None:
    for kind, path in KINDS.items():
        file = SAMPLES / path
        if not file.is_file():
            print(f'{kind:20} sample {path} is not here')
            continue
        data = file.read_bytes()
        if file.suffix == '.b3dm':
            data = unwrap_b3dm(data).gltf
        faces = sum(len(part.faces) for part in decode_gltf(data).primitives)
        seconds = timed(decode_gltf, data)
        print(f'{kind:20} {1 / seconds:8.1f} tiles/s, {seconds * 1e3:6.1f} ms for '
              f'{len(data) / 1e3:.0f} kB, {faces} triangles')
    data = encode_glb([patch(100.0)])
    seconds = timed(decode_gltf, data)
    print(f'{"JPEG, glb of ours":20} {1 / seconds:8.1f} tiles/s, {seconds * 1e3:6.1f} ms for '
          f'{len(data) / 1e3:.0f} kB, {2 * CELLS * CELLS} triangles')


def streaming(path: Path, memory: int) -> None:
    start = time.perf_counter()
    with Streamer([FolderSource(path)], FRAME, memory=memory) as streamer:
        opening = time.perf_counter() - start
        start, changed, most = time.perf_counter(), 0, 0
        before: set[TileMesh] = set()
        for camera in turning():
            selection = streamer.update(camera, wait=True)
            changed += len(set(selection.meshes) - before)
            before = set(selection.meshes)
            most = max(most, streamer.nbytes)
        loading = time.perf_counter() - start
        cameras = list(turning())
        selecting = timed(streamer.update, cameras[-1])
        collision = timed(streamer.nearby, cameras[-1].eye, 30.0)
    print(f'memory {memory >> 20:5} MB  open {opening * 1e3:.0f} ms, {TURNS} updates with waiting '
          f'{loading / TURNS * 1e3:.1f} ms each, {changed} meshes new, at most '
          f'{most / 1e6:.0f} MB kept; select again {selecting * 1e3:.2f} ms, nearby '
          f'{collision * 1e3:.2f} ms; process {resident():.0f} MB')


def main() -> None:
    decoding()
    with tempfile.TemporaryDirectory() as folder:
        path = write_quadtree(Path(folder))
        print(f'quadtree of {sum(4 ** level for level in range(LEVELS))} tiles')
        streaming(path, MEMORY)
        streaming(path, 16 * MEMORY)


if __name__ == '__main__':
    main()
