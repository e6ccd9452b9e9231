# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tilesets: real ones load in the map frame, broken ones cost what is broken."""

import json
import os
from pathlib import Path
import struct
import warnings as simple_warnings

import numpy as np
import pytest

from urbanground_ros.geo import ecef_to_geodetic
from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import load_tileset
from urbanground_ros.tiles import open_sources
from urbanground_ros.tiles import read_tileset
from urbanground_ros.tiles import TileMesh
from urbanground_ros.tiles import TilesError
from urbanground_ros.tiles import unwrap_b3dm

DATA = Path(__file__).resolve().parents[2].parent / 'shared' / 'data'
FRAME = LocalFrame(22.32, 114.175, 20.0)
VOLUME = {'box': [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]}


def real_file(path: str) -> Path:
    file = DATA / path
    if not file.is_file():
        pytest.skip(f'sample {path} is not here')
    return file


def write_tileset(folder: Path, root: dict, name: str = 'tileset.json', **asset: str) -> Path:
    root = {'boundingVolume': VOLUME, 'geometricError': 1, 'refine': 'REPLACE', **root}
    path = folder / name
    path.write_text(json.dumps(
        {'asset': {'version': '1.1', **asset}, 'geometricError': 1, 'root': root}
    ))
    return path


def tile(uri: str, **more: object) -> dict:
    return {'boundingVolume': VOLUME, 'geometricError': 0, 'content': {'uri': uri}, **more}


def write_corner(folder: Path, name: str, height: float = 0.0) -> None:
    mesh = TileMesh(
        name='corner',
        positions=np.array([[0, 0, height], [1, 0, height], [0, 2, height]], np.float32),
        normals=np.tile(np.array([0, 0, 1], np.float32), (3, 1)),
        uvs=np.array([[0, 0], [1, 0], [0, 1]], np.float32),
        faces=np.array([[0, 1, 2]], np.uint32),
    )
    (folder / name).write_bytes(encode_glb([mesh]))


def in_frame(*offset: float) -> list[float]:
    """Return the column-major transform that places a tile in `FRAME`."""
    shift = np.eye(4)
    shift[:3, 3] = offset or (0, 0, 0)
    return (FRAME.matrix @ shift).T.ravel().tolist()


def around(source: Path, folder: Path) -> Path:
    """Return a tileset that places another one, local, at the origin of `FRAME`."""
    return write_tileset(
        folder, {'transform': in_frame(), 'content': {'uri': str(source)}}, 'around.json'
    )


def bounds(meshes: list[TileMesh]) -> np.ndarray:
    points = np.concatenate([mesh.positions for mesh in meshes])
    return np.array([points.min(axis=0), points.max(axis=0)])


def test_photogrammetry_loads_its_finest_level(tmp_path):
    source = real_file('nasa_dingo_gap/tileset.json')
    warnings = []
    meshes = list(load_tileset(around(source, tmp_path), FRAME, warnings))
    assert not warnings
    assert len(meshes) == 220
    assert sum(len(mesh.faces) for mesh in meshes) == 177_950
    assert all(mesh.unlit and mesh.texture is not None for mesh in meshes)
    assert all(mesh.positions.dtype == np.float32 for mesh in meshes)
    # The root's box, as the file states it.
    box = read_tileset(source).volume['box']
    low, high = bounds(meshes)
    np.testing.assert_allclose((low + high)[[0, 1]] / 2, box[:2], atol=0.5)
    assert np.allclose(np.linalg.norm(meshes[0].normals, axis=1), 1, atol=1e-5)


def test_additive_refinement_keeps_the_coarse_levels(tmp_path):
    meshes = list(load_tileset(around(real_file('nasa_dingo_gap/tileset-add.json'), tmp_path),
                               FRAME))
    assert len(meshes) == 293


@pytest.mark.parametrize(('name', 'parts', 'broken'), [
    ('tileset-external.json', 220, 0),
    ('tileset-external-with-url-params.json', 220, 0),
    # A part of what is coarser stands for what is broken.
    ('tileset-external-broken.json', 205, 1),
    ('tileset-no-root-content.json', 220, 0),
    ('tileset-broken-root-content.json', 220, 0),
])
def test_external_tilesets_and_broken_tiles(tmp_path, name, parts, broken):
    warnings = []
    source = around(real_file(f'nasa_dingo_gap/{name}'), tmp_path)
    assert len(list(load_tileset(source, FRAME, warnings))) == parts
    assert len(warnings) == broken
    assert all('\n' not in line for line in warnings)


@pytest.mark.parametrize('name', [
    'BatchedWithTransformBox', 'BatchedWithTransformSphere', 'BatchedWithTransformRegion',
])
def test_earth_centred_tiles_lie_level_at_their_place(name):
    source = real_file(f'3dtiles_samples/loadersgl_3dtiles/CesiumJS/Batched/{name}/tileset.json')
    center = read_tileset(source).transform[:3, 3]
    (mesh,) = load_tileset(source, LocalFrame(*ecef_to_geodetic(center)))
    low, high = bounds([mesh])
    assert (high - low)[2] < 20 < (high - low)[0] < 200
    np.testing.assert_allclose(low[2], 0.0, atol=0.05)


def test_rtc_center_is_added_after_the_axes_turn():
    batched = real_file(
        '3dtiles_samples/loadersgl_3dtiles/CesiumJS/Batched/BatchedWithRtcCenter/tileset.json'
    ).parent
    placed = batched.parent / 'BatchedWithTransformBox' / 'tileset.json'
    center = unwrap_b3dm((batched / 'batchedWithRtcCenter.b3dm').read_bytes()).center
    np.testing.assert_allclose(center, (0.1, 0.2, 0.3))
    frame = LocalFrame(*ecef_to_geodetic(read_tileset(placed).transform[:3, 3]))
    shifted = bounds(list(load_tileset(batched / 'tileset.json', frame)))
    np.testing.assert_allclose(
        shifted - bounds(list(load_tileset(placed, frame))), [center] * 2, atol=0.02
    )


@pytest.mark.parametrize(('number', 'header'), [(1, 20), (2, 24)])
def test_legacy_b3dm_headers_are_read(number, header):
    data = real_file(
        '3dtiles_samples/loadersgl_3dtiles/CesiumJS/Batched/'
        f'BatchedDeprecated{number}/batchedDeprecated{number}.b3dm'
    ).read_bytes()
    inner, center, _ = unwrap_b3dm(data)
    assert inner[:4] == b'glTF'
    assert not center.any()
    assert data.index(b'glTF') >= header


@pytest.mark.parametrize('data', [
    b'', b'b3dm', struct.pack('<4s6I', b'b3dm', 2, 28, 0, 0, 0, 0),
    struct.pack('<4s6I', b'b3dm', 1, 999, 0, 0, 0, 0),
    struct.pack('<4s6I', b'b3dm', 1, 36, 4, 0, 0, 0) + b'{"R glTF',
    struct.pack('<4s6I', b'b3dm', 1, 52, 20, 0, 0, 0) + b'{"RTC_CENTER":[1,2]}glTF',
])
def test_damaged_b3dm(data):
    with pytest.raises(TilesError, match='sample: '):
        unwrap_b3dm(data, 'sample')


def test_transforms_are_column_major_and_nest(tmp_path):
    write_corner(tmp_path, 'corner.glb', height=3.0)
    shift = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 10, 20, 30, 1]
    source = write_tileset(tmp_path, {
        'transform': in_frame(), 'refine': 'ADD', 'content': {'uri': 'corner.glb'},
        'children': [tile('corner.glb', transform=shift)],
    })
    first, second = load_tileset(source, FRAME)
    np.testing.assert_allclose(first.positions, [[0, 0, 3], [1, 0, 3], [0, 2, 3]], atol=1e-6)
    np.testing.assert_allclose(second.positions[0], (10, 20, 33), atol=1e-5)
    np.testing.assert_allclose(first.uvs, [[0, 0], [1, 0], [0, 1]])
    np.testing.assert_allclose(first.normals[0], (0, 0, 1), atol=1e-6)


def test_far_tiles_keep_millimetres(tmp_path):
    write_corner(tmp_path, 'corner.glb')
    source = write_tileset(
        tmp_path, {'transform': in_frame(0.001, 0.002, 0.003), 'content': {'uri': 'corner.glb'}}
    )
    (mesh,) = load_tileset(source, FRAME)
    np.testing.assert_allclose(mesh.positions[0], (0.001, 0.002, 0.003), atol=1e-7)


@pytest.mark.parametrize(('axis', 'point'), [
    ('Y', (0, 2, 3)), ('y', (0, 2, 3)), ('Z', (0, 3, -2)), ('X', (2, 3, 0)),
])
def test_up_axis(tmp_path, axis, point):
    # In the file, glTF axes, the last corner is (0, 3, -2).
    write_corner(tmp_path, 'corner.glb', height=3.0)
    source = write_tileset(
        tmp_path, {'transform': in_frame(), 'content': {'uri': 'corner.glb'}}, gltfUpAxis=axis
    )
    (mesh,) = load_tileset(source, FRAME)
    np.testing.assert_allclose(mesh.positions[2], point, atol=1e-6)


def test_refinement_is_inherited_and_replaces(tmp_path):
    for name, height in (('coarse.glb', 1.0), ('middle.glb', 2.0), ('fine.glb', 3.0)):
        write_corner(tmp_path, name, height)
    source = write_tileset(tmp_path, {
        'transform': in_frame(), 'content': {'uri': 'coarse.glb'},
        'children': [
            tile('middle.glb', refine='add', children=[tile('fine.glb')]), tile('fine.glb'),
        ],
    })
    heights = [round(float(mesh.positions[0, 2])) for mesh in load_tileset(source, FRAME)]
    assert heights == [2, 3, 3]


def test_several_contents_and_composites(tmp_path):
    write_corner(tmp_path, 'corner.glb')
    glb = (tmp_path / 'corner.glb').read_bytes()
    b3dm = struct.pack('<4s6I', b'b3dm', 1, 28 + len(glb), 0, 0, 0, 0) + glb
    inner = b3dm + b3dm
    (tmp_path / 'both.cmpt').write_bytes(
        struct.pack('<4s3I', b'cmpt', 1, 16 + len(inner), 2) + inner
    )
    source = write_tileset(tmp_path, {
        'transform': in_frame(), 'contents': [{'uri': 'corner.glb'}, {'uri': 'both.cmpt'}],
    })
    assert [mesh.name for mesh in load_tileset(source, FRAME)] == [
        'corner.glb:0', 'both.cmpt#0:0', 'both.cmpt#1:0',
    ]


def test_pictures_beside_a_content_are_found_beside_it(tmp_path):
    source = around(real_file(
        '3dtiles_samples/cesium_3d-tiles-samples/1.1/MultipleContents/tileset.json'), tmp_path)
    assert [len(mesh.faces) for mesh in load_tileset(source, FRAME)] == [2048]


def test_a_cycle_is_cut(tmp_path):
    write_corner(tmp_path, 'corner.glb')
    write_tileset(tmp_path, {'content': {'uri': 'tileset.json'}}, 'child.json')
    source = write_tileset(tmp_path, {
        'transform': in_frame(), 'children': [tile('child.json'), tile('corner.glb')],
    })
    warnings = []
    assert len(list(load_tileset(source, FRAME, warnings))) == 1
    assert len(warnings) == 1
    assert 'leads back to itself' in warnings[0]


@pytest.mark.parametrize('uri', ['gone.glb', 'https://example.invalid/tile.glb', 'bad.glb'])
def test_a_broken_tile_costs_only_itself(tmp_path, uri):
    write_corner(tmp_path, 'corner.glb')
    (tmp_path / 'bad.glb').write_bytes(b'\0' * 64)
    source = write_tileset(tmp_path, {
        'transform': in_frame(), 'children': [tile(uri), tile('corner.glb')],
    })
    warnings = []
    assert len(list(load_tileset(source, FRAME, warnings))) == 1
    assert len(warnings) == 1
    assert uri in warnings[0]


@pytest.mark.parametrize(('broken', 'said'), [
    ({'transform': [float('nan')] * 16}, 'root/0 has transform'),
    ({'transform': [1] * 15}, 'expected 16 numbers'),
    ({'boundingVolume': {'box': [1, 2]}}, 'root/0: boundingVolume is box'),
    ({'boundingVolume': {'region': [0, 9, 0, 9, 0, 0]}}, 'expected radians'),
    ({'geometricError': -1}, 'root/0 has geometricError -1.0'),
    ({'refine': 'MIX'}, "root/0 has refine 'MIX'"),
    ({'content': {}}, 'root/0: damaged (KeyError'), ({'content': {'uri': 5}}, 'root/0: damaged'),
    ({'children': [[]]}, 'root/0/0: damaged'),
    ({'transform': [1e308] * 16}, 'root/0 has a transform beyond 1e+09 m'),
    ({'boundingVolume': {'box': [0] * 6 + [1e308, 0, 0, 0, 1e308, 0]}}, 'reaches beyond 1e+09 m'),
    ({'boundingVolume': {'box': [1e200] * 12}}, 'reaches beyond 1e+09 m'),
    ({'boundingVolume': {'region': [1e308, 1e308, -1e308, 0, 1, 1e308]}}, 'expected radians'),
    ({'content': {'uri': '../../secret'}}, "content '../../secret' lies outside"),
    ({'content': {'uri': 'pipe'}}, 'pipe: not a regular file'),
    ({'content': {'uri': 'loop'}}, 'loop: Too many levels of symbolic links'),
    ({'content': {'uri': 'a%00'}}, 'a\\x00: embedded null byte'),
    ({'content': {'uri': 'http://[x/'}}, 'root/0: damaged'),
    ({'content': {'uri': 'a%0A%1B.glb'}}, 'a\\n\\x1b.glb: No such file'),
])
def test_a_broken_entry_costs_its_tile(tmp_path, broken, said):
    write_corner(tmp_path, 'corner.glb')
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'loop').symlink_to('loop')
    entry = {'boundingVolume': VOLUME, 'geometricError': 0, **broken}
    source = write_tileset(tmp_path, {
        'transform': in_frame(), 'children': [entry, tile('corner.glb')],
    })
    warnings = []
    with simple_warnings.catch_warnings():
        simple_warnings.simplefilter('error')
        assert len(list(load_tileset(source, FRAME, warnings))) == 1
    assert len(warnings) == 1
    assert said in warnings[0]
    assert str(tmp_path) in warnings[0]
    assert '\n' not in warnings[0]


@pytest.mark.parametrize('name', ['loop', 'a\0', 'x' * 300, '~no-such-user/x'])
def test_a_path_that_cannot_be_is_one_line(tmp_path, name):
    (tmp_path / 'loop').symlink_to('loop')
    with pytest.raises(TilesError) as error:
        read_tileset(open_sources(name if name[0] == '~' else tmp_path / name)[0])
    assert '\0' not in str(error.value)


def test_more_tiles_than_a_file_may_have_refuse_it_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr('urbanground_ros.tiles.tileset.MAX_TILES', 20)
    warnings = []
    children = [{**tile('gone.glb'), 'children': [tile('gone.glb')] * 9}] * 5
    with pytest.raises(TilesError, match='tiles and contents, expected 0 to 20'):
        read_tileset(write_tileset(tmp_path, {'children': children}), warn=warnings.append)
    assert not warnings


def test_depth_counts_across_files(tmp_path):
    for number in range(6):
        entry = tile(f'{number + 1}.json')
        for _ in range(60):
            entry = {'boundingVolume': VOLUME, 'geometricError': 9, 'children': [entry]}
        write_tileset(tmp_path, entry, f'{number}.json')
    warnings = []
    assert not list(load_tileset(tmp_path / '0.json', FRAME, warnings))
    assert len(warnings) == 1
    assert 'nested deeper than 128 tiles' in warnings[0]


def test_a_composite_keeps_what_can_be_used(tmp_path):
    write_corner(tmp_path, 'corner.glb')
    glb = (tmp_path / 'corner.glb').read_bytes()
    features = b'{"BATCH_LENGTH":0}  '
    b3dm = struct.pack('<4s6I', b'b3dm', 1, 48 + len(glb), 20, 0, 0, 0) + features + glb
    i3dm = struct.pack('<4sII', b'i3dm', 1, 12)
    (tmp_path / 'mixed.cmpt').write_bytes(
        struct.pack('<4sIII', b'cmpt', 1, 28 + len(b3dm), 2) + i3dm + b3dm)
    source = write_tileset(tmp_path, {'transform': in_frame(), 'content': {'uri': 'mixed.cmpt'}})
    warnings = []
    assert len(list(load_tileset(source, FRAME, warnings))) == 1
    assert warnings == [f'{tmp_path / "mixed.cmpt"}#0: instanced models (i3dm) are not '
                        'supported, expected glTF, b3dm or cmpt']


def test_contents_of_the_extension_for_several(tmp_path):
    write_corner(tmp_path, 'corner.glb')
    for key in ('contents', 'content'):
        source = write_tileset(tmp_path, {'transform': in_frame(), 'extensions': {
            '3DTILES_multiple_contents': {key: [{'uri': 'corner.glb'}, {'url': 'corner.glb'}]},
        }}, version='1.0')
        assert len(list(load_tileset(source, FRAME))) == 2


def test_tilesets_inside_each_other_are_stopped(tmp_path):
    write_corner(tmp_path, 'corner.glb')
    for number in range(140):
        write_tileset(tmp_path, {'transform': in_frame() if number == 0 else
                                 np.eye(4).ravel().tolist(),
                                 'content': {'uri': f'{number + 1}.json'}}, f'{number}.json')
    write_tileset(tmp_path, {'content': {'uri': 'corner.glb'}}, '140.json')
    warnings = []
    assert not list(load_tileset(tmp_path / '0.json', FRAME, warnings))
    assert len(warnings) == 1
    assert 'nested deeper than 128 tiles' in warnings[0]


@pytest.mark.parametrize(('text', 'said'), [
    (None, 'No such file'), ('{', 'not JSON'), ('[]', 'not a tileset'),
    ('{"type": "FeatureCollection"}', 'not a tileset'),
    ('{"asset": {"version": "9"}, "root": {}}', "version '9', expected 1.0 or 1.1"),
    ('{"asset": {}, "root": {}}', 'KeyError'),
    ('{"asset": {"version": "1.1"}, "root": {"refine": "MIX"}}', "refine 'MIX'"),
    ('{"asset": {"version": "1.1"}, "root": {"transform": [1, 2]}}', '16 numbers'),
    ('{"asset": {"version": "1.1"}, "root": {}}', 'boundingVolume'),
    ('{"asset": {"version": "1.1"}, "root": {"boundingVolume": {"cone": [1]}}}',
     'boundingVolume has cone, expected box, region or sphere'),
    ('{"asset": {"version": "1.1"}, "root": {"boundingVolume": {"sphere": [0, 0, 0, NaN]}}}',
     'expected 4 numbers'),
    ('{"asset": {"version": "1.1"}, "root": {"boundingVolume": {"sphere": [0, 0, 0, 1]},'
     ' "implicitTiling": {"subdivisionScheme": "TREE"}}}', "subdivisionScheme 'TREE'"),
    ('{"asset": {"version": "1.1"}, "extensionsRequired": ["X_new"], "root": {}}',
     'requires X_new'),
])
def test_what_is_not_a_tileset_is_told_in_one_line(tmp_path, text, said):
    source = tmp_path / 'tileset.json'
    if text is not None:
        source.write_text(text)
    with pytest.raises(TilesError, match=said) as error:
        list(load_tileset(source, FRAME))
    assert str(source) in str(error.value)
    assert '\n' not in str(error.value)
