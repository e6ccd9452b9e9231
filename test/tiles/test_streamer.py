# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Streaming: the right level, no holes and no overlaps, the same result whatever the order."""

import json
from pathlib import Path
import time

import numpy as np
import pytest
from standin import frame
from standin import StandIn

from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles import Camera
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import FolderSource
from urbanground_ros.tiles import HttpOptions
from urbanground_ros.tiles import HttpSource
from urbanground_ros.tiles import load_tileset
from urbanground_ros.tiles import OrientedBox
from urbanground_ros.tiles import Selection
from urbanground_ros.tiles import Streamer
from urbanground_ros.tiles import TileMesh
from urbanground_ros.tiles import TilesError
from urbanground_ros.tiles.views import CameraView

DATA = Path(__file__).resolve().parents[2].parent / 'shared' / 'data'
FRAME = frame()
QUICK = HttpOptions(timeout=1.0, tries=2, backoff=0.01)
AHEAD = Camera((0, 0, 1.6), (1, 0.2, 0))
BEHIND = Camera((0, 0, 1.6), (-1, 0.3, 0))
# Where the ground is looked at, away from the edges of tiles.
SPOTS = np.stack(np.meshgrid(np.arange(-1140, 1150, 76.3), np.arange(-1140, 1150, 76.3)),
                 -1).reshape(-1, 2)


@pytest.fixture
def service():
    with StandIn() as running:
        yield running


def stream(service: StandIn, **options: object) -> Streamer:
    return Streamer([HttpSource(service.url + '/f2/tileset.json', options=QUICK)], FRAME,
                    **options)


def covered(meshes: list[TileMesh], spots: np.ndarray) -> np.ndarray:
    """Return how often each spot (N, 2) is covered."""
    count = np.zeros(len(spots), int)
    for mesh in meshes:
        corners = mesh.positions[mesh.faces][..., :2].astype(float)
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        near = np.flatnonzero(((spots >= low) & (spots <= high)).all(axis=1))
        for a, b, c in corners:
            edges = np.stack([b - a, c - b, a - c])
            offset = spots[near, None] - np.stack([a, b, c])
            side = edges[:, 0] * offset[..., 1] - edges[:, 1] * offset[..., 0]
            count[near] += (side > 0).all(axis=1) | (side < 0).all(axis=1)
    return count


def seen(camera: Camera) -> np.ndarray:
    """Return the spots that a camera sees."""
    view = CameraView(camera, 16.0, 900.0)
    return np.array([
        spot for spot in SPOTS
        if view.interest(OrientedBox(np.array([*spot, 0.0]), np.zeros((3, 3))), 1.0, None)
    ])


class Screen:
    """What a renderer shows that follows the selections."""

    def __init__(self) -> None:
        self.shown: list[TileMesh] = []

    def apply(self, selection: Selection) -> Selection:
        assert len(set(selection.meshes)) == len(selection.meshes)
        self.shown = list(selection.meshes)
        return selection


def settle(streamer: Streamer, screen: Screen, camera: Camera, spots: np.ndarray | None = None):
    """Update without waiting until all is there; what is seen stays covered once."""
    for _ in range(2000):
        selection = screen.apply(streamer.update(camera))
        if spots is not None:
            assert (covered(screen.shown, spots) == 1).all()
        if selection.complete:
            return
        time.sleep(0.002)
    raise AssertionError('never complete')


def names(meshes: list[TileMesh]) -> list[str]:
    return sorted(mesh.name for mesh in meshes)


def test_what_is_seen_is_covered_once_and_finest_nearby(service):
    with stream(service) as streamer:
        selection = streamer.update(AHEAD, wait=True)
    assert selection.complete
    assert (covered(selection.meshes, seen(AHEAD)) == 1).all()
    near = [mesh for mesh in selection.meshes if abs(mesh.positions).max() < 310]
    assert near
    assert all('_L15_' in mesh.name for mesh in near)
    assert any('_L1.' in mesh.name or '_L2.' in mesh.name for mesh in selection.meshes)
    # Nobody asks for what is out of sight: the other region, or all of the finest level.
    assert not any('/12/' in path for path in service.requests)
    assert len(service.requests) < 60


@pytest.mark.parametrize('error', [4.0, 16.0, 64.0])
def test_the_error_on_the_screen_is_within_the_allowed(service, error):
    errors = {'15_': 0.0, '1.b': 10.3, '2.b': 20.6, '3.b': 41.0, '4.b': 81.9}
    with stream(service, pixel_error=error) as streamer:
        for mesh in streamer.update(AHEAD, wait=True).meshes:
            middle = mesh.positions.astype(float).mean(axis=0)
            half = np.ptp(mesh.positions, axis=0) / 2
            distance = np.linalg.norm(np.maximum(abs(middle - AHEAD.eye) - half - [0, 0, 30], 0))
            level = next(value for key, value in errors.items() if f'_L{key}' in mesh.name)
            assert level * AHEAD.pixels_per_radian / max(distance, 1e-3) <= error * 1.1


def test_nothing_is_shown_beyond_the_distance(service):
    with stream(service, max_distance=200.0) as streamer:
        meshes = streamer.update(AHEAD, wait=True).meshes
    assert meshes
    assert all(np.linalg.norm(mesh.positions[:, :2], axis=1).min() < 201 for mesh in meshes)


def test_no_hole_opens_while_tiles_load(service):
    service.faults, service.delay = [('_L(15|1|2)', 'slow', 9)], 0.02
    screen = Screen()
    with stream(service) as streamer:
        settle(streamer, screen, AHEAD)
        for camera in (BEHIND, Camera((300, 100, 40), (0.2, -1, -0.3)), AHEAD):
            settle(streamer, screen, camera, seen(camera))
        # Away, where coarser tiles than those shown suffice.
        settle(streamer, screen, Camera((-1100, 0, 200), (1, 0, -0.1)))


def test_waiting_gives_the_same_whatever_went_before(service):
    with stream(service) as streamer:
        expected = names(streamer.update(AHEAD, wait=True).meshes)
    service.faults, service.delay = [('_(3|7|0)', 'slow', 1), ('1_L', 500, 1)], 0.05
    for workers in (1, 7):
        screen = Screen()
        with stream(service, workers=workers, memory=200_000) as streamer:
            for camera in (BEHIND, AHEAD, Camera((700, 700, 90), (0, -1, -0.4))):
                screen.apply(streamer.update(camera))
                streamer.nearby((-500, 300, 0), 60)
                screen.apply(streamer.update(camera, wait=True))
            screen.apply(streamer.update(AHEAD, wait=True))
        assert names(screen.shown) == expected


@pytest.mark.parametrize('kind', [404, 500, 'truncated', 'garbage', 'page', 'empty', 'slow'])
def test_a_tile_that_fails_leaves_its_parent_there(service, kind):
    service.delay = 3.0
    # In front of the camera, and near.
    service.faults = [('Tile_124_60_L15_00', kind, 99)]
    screen = Screen()
    with stream(service) as streamer:
        assert screen.apply(streamer.update(AHEAD, wait=True)).complete
        count = covered(screen.shown, seen(AHEAD))
        # The edge of what stands for it overlaps the tiles beside it.
        assert (count >= 1).all()
        assert (count == 1).mean() > 0.9
        patches = [mesh for mesh in screen.shown if mesh.name.endswith('~')]
        assert [mesh.name for mesh in patches] == ['11/Data/temp0/Tile_124_60_L1.b3dm:0~']
        assert 'Tile_124_60_L15_10' in ' '.join(names(screen.shown))
        assert len(streamer.warnings) == 1
        asked = len(service.requests)
        for _ in range(5):
            assert list(streamer.update(AHEAD, wait=True).meshes) == screen.shown
        assert len(service.requests) == asked
        solid = streamer.nearby((20, 20, 0), 5.0)
        assert covered(solid.meshes, np.array([[20.3, 20.7]])).tolist() == [1]


def test_when_every_finer_tile_fails_the_coarse_ones_stay(service):
    service.faults = [('_L(15|1|2|3)', 404, 99)]
    with stream(service) as streamer:
        selection = streamer.update(AHEAD, wait=True)
    assert selection.complete
    assert (covered(selection.meshes, seen(AHEAD)) == 1).all()
    assert all('_L4' in mesh.name for mesh in selection.meshes)


def test_memory_is_bounded_and_what_is_seen_stays_covered(service):
    with stream(service) as streamer:
        selection = streamer.update(AHEAD, wait=True)
        size = sum(mesh.nbytes for mesh in selection.meshes)
    results = []
    for wait in (False, True):
        screen = Screen()
        with stream(service, memory=size // 2) as streamer:
            screen.apply(streamer.update(BEHIND, wait=wait))
            assert screen.apply(streamer.update(AHEAD, wait=True)).complete
            assert streamer.nbytes <= size // 2
        assert (covered(screen.shown, seen(AHEAD)) == 1).all()
        results.append(names(screen.shown))
    assert results[0] == results[1]
    assert len(results[0]) < len(selection.meshes)


def test_too_little_memory_does_not_fetch_again_and_again(service):
    camera = Camera((0, 0, 60), (1, 0.2, -0.3))
    with stream(service, memory=60_000) as streamer:
        for _ in range(300):
            streamer.update(camera)
            time.sleep(0.001)
        asked = len(service.requests)
        for _ in range(100):
            streamer.update(camera)
            time.sleep(0.001)
        assert len(service.requests) - asked < 20


def test_cameras_may_look_straight_down(service):
    down = Camera((40, 40, 100), (0, 0, -1))
    with stream(service) as streamer:
        selection = streamer.update(down, wait=True)
    assert (covered(selection.meshes, np.array([[41.0, 42.0], [70.0, 10.3]])) == 1).all()


def test_the_ground_nearby_is_the_finest_and_does_not_depend_on_the_camera(service):
    with stream(service) as streamer:
        expected = names(streamer.nearby((40, 40, 0), 30.0).meshes)
    assert expected == ['11/Data/temp0/Tile_124_60_L15_00.b3dm:0']
    with stream(service) as streamer:
        for camera in (BEHIND, Camera((900, 900, 300), (0, 0.1, 1))):
            streamer.update(camera)
            assert names(streamer.nearby((40, 40, 0), 30.0).meshes) == expected


def test_without_waiting_the_ground_may_still_be_coming(service):
    with stream(service) as streamer:
        assert not streamer.nearby((40, 40, 0), 30.0, wait=False).complete
        for _ in range(1000):
            found = streamer.nearby((40, 40, 0), 30.0, wait=False)
            if found.complete:
                break
            time.sleep(0.005)
    assert len(found.meshes) == 1


def test_a_service_that_goes_away_is_told_and_ends(service):
    service.faults = [('L4.json', 'slow', 99)]
    service.delay = 30.0
    streamer = stream(service)
    assert streamer.update(AHEAD, wait=True).complete
    assert len(streamer.warnings) == 1
    assert 'no answer in 1 s, after 2 tries' in streamer.warnings[0]
    streamer.close()


def test_a_source_that_is_no_tileset_is_told(service, tmp_path):
    with pytest.raises(TilesError, match='HTTP 404'):
        Streamer([HttpSource(service.url + '/nothing.json', options=QUICK)], FRAME)
    with pytest.raises(TilesError, match='No such file'):
        Streamer([FolderSource(tmp_path / 'tileset.json')], FRAME)


# -- Tilesets in folders ------------------------------------------------------------------

def square(folder: Path, name: str, low: float, high: float) -> None:
    points = np.array([[low, low, 0], [high, low, 0], [high, high, 0], [low, high, 0]], 'f4')
    (folder / name).write_bytes(encode_glb([TileMesh(
        name, points, np.tile(np.array([0, 0, 1], 'f4'), (4, 1)), None,
        np.array([[0, 1, 2], [0, 2, 3]], 'u4'),
    )]))


def write(folder: Path, root: dict) -> FolderSource:
    root = {'transform': FRAME.matrix.T.ravel().tolist(), **root}
    path = folder / 'tileset.json'
    path.write_text(json.dumps({'asset': {'version': '1.1'}, 'root': root}))
    return FolderSource(path)


def tile(error: float, uri: str | None, children: tuple[dict, ...] = (), **more: object) -> dict:
    entry = {'boundingVolume': {'box': [5, 5, 0, 5, 0, 0, 0, 5, 0, 0, 0, 1]},
             'geometricError': error, **more}
    if uri is not None:
        entry['content'] = {'uri': uri}
    return {**entry, 'children': list(children)} if children else entry


def shown(source: FolderSource, camera: Camera) -> list[str]:
    with Streamer([source], FRAME) as streamer:
        selection = streamer.update(camera, wait=True)
    assert selection.complete
    return names(selection.meshes)


NEAR, FAR = Camera((-5, 5, 3), (1, 0, 0)), Camera((-1400, 5, 3), (1, 0, 0))


@pytest.mark.parametrize('error', [8.0, 50.0])
def test_children_with_an_error_not_below_their_parents_replace_it(tmp_path, error):
    for name in ('a.glb', 'b.glb'):
        square(tmp_path, name, 0, 10)
    source = write(tmp_path, tile(8.0, 'a.glb', (tile(error, 'b.glb'),), refine='REPLACE'))
    assert shown(source, NEAR) == ['b.glb:0']
    assert shown(source, FAR) == ['a.glb:0']


def test_empty_leaves_do_not_keep_their_parent(tmp_path):
    for name in ('a.glb', 'b.glb'):
        square(tmp_path, name, 0, 10)
    source = write(tmp_path, tile(
        8.0, 'a.glb', (tile(90.0, None), tile(0.0, 'b.glb')), refine='REPLACE'))
    assert shown(source, NEAR) == ['b.glb:0']


def test_additive_children_come_beside_their_parent(tmp_path):
    for name in ('a.glb', 'b.glb'):
        square(tmp_path, name, 0, 10)
    source = write(tmp_path, tile(8.0, 'a.glb', (tile(0.0, 'b.glb'),), refine='ADD'))
    assert shown(source, NEAR) == ['a.glb:0', 'b.glb:0']
    assert shown(source, FAR) == ['a.glb:0']


def test_a_tile_counts_only_where_its_viewer_must_be(tmp_path):
    square(tmp_path, 'a.glb', 0, 10)
    source = write(tmp_path, tile(
        0.0, 'a.glb', viewerRequestVolume={'sphere': [-5, 5, 0, 10]}))
    assert shown(source, NEAR) == ['a.glb:0']
    assert shown(source, FAR) == []


@pytest.mark.parametrize('path', [
    'nasa_dingo_gap/tileset.json', 'nasa_dingo_gap/tileset-add.json',
    'nasa_dingo_gap/tileset-external.json',
    '3dtiles_samples/cesium_3d-tiles-samples/1.1/SparseImplicitQuadtree/tileset.json',
    '3dtiles_samples/cesium_3d-tiles-samples/1.1/SparseImplicitOctree/tileset.json',
    '3dtiles_samples/loadersgl_3dtiles/CesiumJS/Tilesets/TilesetRefinementMix/tileset.json',
])
def test_everything_nearby_is_what_loading_gives(tmp_path, path):
    if not (DATA / path).is_file():
        pytest.skip(f'sample {path} is not here')
    # Implicit and external, under a transform.
    (tmp_path / 'around.json').write_text(json.dumps({'asset': {'version': '1.0'}, 'root': {
        'boundingVolume': {'sphere': [0, 0, 0, 1e7]}, 'geometricError': 1e4, 'refine': 'ADD',
        'transform': FRAME.matrix.T.ravel().tolist(), 'content': {'uri': str(DATA / path)},
    }}))
    source = FolderSource(tmp_path / 'around.json')
    expected = list(load_tileset(source, FRAME))
    with Streamer([source], FRAME) as streamer:
        found = streamer.nearby((0, 0, 0), 1e8)
    assert found.complete
    assert names(found.meshes) == names(expected)
    key = {(mesh.name, mesh.positions.tobytes()) for mesh in expected}
    assert {(mesh.name, mesh.positions.tobytes()) for mesh in found.meshes} == key


def test_a_tileset_without_end_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr('urbanground_ros.tiles.streamer.MAX_LED', 300)
    square(tmp_path, 'a.glb', 0, 10)
    for number in range(12):
        fan = tile(1.0, None, (tile(1.0, f'{number + 1}.json'),) * 9, refine='ADD')
        (tmp_path / f'{number}.json').write_text(json.dumps(
            {'asset': {'version': '1.1'}, 'root': fan}))
    source = write(tmp_path, tile(8.0, None, (tile(0.0, 'a.glb'), tile(8.0, '0.json')),
                                  refine='ADD'))
    for view in (lambda streamer: streamer.nearby((0, 0, 0), 1e8),
                 lambda streamer: streamer.update(NEAR, wait=True)):
        with Streamer([source], FRAME) as streamer:
            found = view(streamer)
            assert found.complete
            assert names(found.meshes) == ['a.glb:0']
            assert streamer.warnings == [
                f'{source.root}: leads to more than 300 tiles, of which no more are opened']


def test_two_tilesets_are_shown_together(service, tmp_path):
    square(tmp_path, 'a.glb', 0, 10)
    local = write(tmp_path, tile(0.0, 'a.glb'))
    far = LocalFrame(22.0, 114.0, 0.0)
    with Streamer([HttpSource(service.url + '/f2/tileset.json', options=QUICK), local],
                  FRAME) as streamer:
        found = names(streamer.nearby((5, 5, 0), 1.0).meshes)
    assert found == ['11/Data/temp0/Tile_124_60_L15_00.b3dm:0', 'a.glb:0']
    with Streamer([local], far) as streamer:
        assert not streamer.nearby((5, 5, 0), 1.0).meshes
