# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Implicit tiling: subtrees become the tiles that an explicit tileset would have."""

import json
from pathlib import Path
import struct

import numpy as np
import pytest

from urbanground_ros.tiles import FolderSource
from urbanground_ros.tiles import read_tileset
from urbanground_ros.tiles import TilesError
from urbanground_ros.tiles.content import open_tile
from urbanground_ros.tiles.implicit import read_subtree

DATA = Path(__file__).resolve().parents[2].parent / 'shared' / 'data' / '3dtiles_samples'
NOTHING, ALL = {'constant': 0}, {'constant': 1}


def real_file(path: str) -> Path:
    file = DATA / path
    if not file.is_file():
        pytest.skip(f'sample {path} is not here')
    return file


def opened(source: FolderSource) -> list:
    """Return (tile, what it holds) of a whole tileset."""
    found, pending = [], [read_tileset(source)]
    while pending:
        tile = pending.pop()
        result = open_tile(source, tile, np.eye(4))
        assert not result.warnings
        found.append((tile, result))
        pending += tile.children + result.tiles
    return found


def write_implicit(folder: Path, subtree: dict | bytes, **implicit: object) -> FolderSource:
    data = subtree if isinstance(subtree, bytes) else json.dumps(subtree).encode()
    (folder / '0.0.0.subtree').write_bytes(data)
    (folder / 'tileset.json').write_text(json.dumps({'asset': {'version': '1.1'}, 'root': {
        'boundingVolume': {'box': [0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 8]},
        'geometricError': 16, 'content': {'uri': '{level}/{x}/{y}.glb'},
        'implicitTiling': {
            'subdivisionScheme': 'QUADTREE', 'subtreeLevels': 2, 'availableLevels': 2,
            'subtrees': {'uri': '{level}.{x}.{y}.subtree'}, **implicit,
        },
    }}))
    return FolderSource(folder / 'tileset.json')


def binary(document: dict, body: bytes, **header: int) -> bytes:
    text = json.dumps(document).encode()
    text += b' ' * (-len(text) % 8)
    return struct.pack(
        '<4sIQQ', b'subt', header.get('version', 1), header.get('json', len(text)),
        header.get('binary', len(body)),
    ) + text + body


def read(source: FolderSource) -> object:
    return read_subtree(source, read_tileset(source).subtree)


@pytest.mark.parametrize(('name', 'contents', 'levels'), [
    ('SparseImplicitQuadtree', 32, {5}), ('SparseImplicitOctree', 31, {1, 2, 3, 4, 5}),
])
def test_contents_lie_in_their_tiles(name, contents, levels):
    source = FolderSource(real_file(f'cesium_3d-tiles-samples/1.1/{name}/tileset.json'))
    tiles = [(tile, result) for tile, result in opened(source) if result.meshes]
    assert len(tiles) == contents
    root = read_tileset(source)
    for tile, result in tiles:
        level = round(np.log2(root.geometric_error / tile.geometric_error))
        assert level in levels
        assert f'content_{level}__' in tile.contents[0]
        points = np.concatenate([mesh.positions for mesh in result.meshes]).astype(np.float64)
        size = np.linalg.norm(tile.bounds.axes, axis=1).max()
        assert max(tile.bounds.distance(point) for point in points) < 0.01 * size


def test_the_extension_of_1_0_gives_what_1_1_gives():
    one, other = (
        [(tile.name, tile.contents, tile.geometric_error, tile.bounds.center.tolist())
         for tile, _ in opened(FolderSource(real_file(
             f'cesium-native_3dtiles/ImplicitTileset/tileset_1.{minor}.json')))]
        for minor in (0, 1)
    )
    assert one == other
    assert sum(bool(contents) for _, contents, *_ in one) == 5


def test_a_quadtree_divides_x_and_y(tmp_path):
    source = write_implicit(tmp_path, {
        'tileAvailability': ALL, 'contentAvailability': [ALL],
        'childSubtreeAvailability': NOTHING,
    })
    root = read(source)
    assert root.contents == ('0/0/0.glb',)
    assert [tile.contents[0] for tile in root.children] == [
        '1/0/0.glb', '1/1/0.glb', '1/0/1.glb', '1/1/1.glb',
    ]
    np.testing.assert_allclose(
        [tile.bounds.center for tile in root.children],
        [[-4, -4, 0], [4, -4, 0], [-4, 4, 0], [4, 4, 0]],
    )
    np.testing.assert_allclose(root.children[0].bounds.axes, np.diag([4, 4, 8]))
    assert root.children[0].geometric_error == 8


@pytest.mark.parametrize('as_json', [False, True])
def test_bits_are_read_lowest_first(tmp_path, as_json):
    document = {
        'buffers': [{'byteLength': 16}],
        'bufferViews': [{'buffer': 0, 'byteOffset': 0, 'byteLength': 1},
                        {'buffer': 0, 'byteOffset': 8, 'byteLength': 2}],
        'tileAvailability': {'bitstream': 0},
        # The extension's name, and its single object.
        'contentAvailability': {'bufferView': 0},
        'childSubtreeAvailability': {'bitstream': 1},
    }
    # The root and its children 1 and 3; a subtree below the latter.
    body = bytes([0b10101, 0, 0, 0, 0, 0, 0, 0, 0, 0b10000000]) + bytes(6)
    if as_json:
        (tmp_path / 'bits.bin').write_bytes(body)
        document['buffers'][0]['uri'] = 'bits.bin'
    data = json.dumps(document).encode() if as_json else binary(document, body)
    root = read(write_implicit(tmp_path, data, availableLevels=4))
    assert [tile.contents for tile in root.children] == [('1/1/0.glb',), ('1/1/1.glb',)]
    assert not root.children[0].children
    (below,) = root.children[1].children
    assert below.subtree.at == (2, 3, 3, 0)
    assert below.contents == ()


def test_draft_files_with_maximum_level_have_one_level_more(tmp_path):
    subtree = {'tileAvailability': ALL, 'contentAvailability': [ALL],
               'childSubtreeAvailability': ALL}
    source = write_implicit(tmp_path, subtree)
    path = Path(source.root)
    path.write_text(path.read_text().replace('"availableLevels": 2', '"maximumLevel": 1'))
    root = read(source)
    assert len(root.children) == 4
    assert not root.children[0].children


@pytest.mark.parametrize(('subtree', 'said'), [
    (b'', 'not JSON'), (b'subt', 'damaged'), ({}, 'KeyError'),
    (binary({}, b'', version=2), 'subtree version 2, expected 1'),
    (binary({}, b'', binary=99), 'as its header says'),
    ({'tileAvailability': NOTHING, 'childSubtreeAvailability': NOTHING},
     'its root tile is not available'),
    (binary({'buffers': [{'byteLength': 1}],
             'bufferViews': [{'buffer': 0, 'byteOffset': 0, 'byteLength': 9}],
             'tileAvailability': {'bitstream': 0}}, bytes(8)), 'bytes 0 to 9, expected within'),
    (binary({'buffers': [{'byteLength': 1}],
             'bufferViews': [{'buffer': 0, 'byteOffset': 0, 'byteLength': 1}],
             'tileAvailability': {'bitstream': 0}, 'childSubtreeAvailability': {'bitstream': 0}},
            bytes([31])), '8 availability bits, expected 16'),
])
def test_damaged_subtrees(tmp_path, subtree, said):
    with pytest.raises(TilesError, match=said) as error:
        read(write_implicit(tmp_path, subtree))
    assert '0.0.0.subtree' in str(error.value)
    assert '\n' not in str(error.value)


def test_what_a_subtree_costs_is_bounded(tmp_path):
    buffer = {'uri': 'bits.bin', 'byteLength': 1}
    views = [{'buffer': 0, 'byteLength': 1}] * 1000
    available = {'tileAvailability': ALL, 'childSubtreeAvailability': NOTHING}
    (tmp_path / 'bits.bin').write_bytes(b'\xff')
    source = write_implicit(tmp_path, {**available, 'contentAvailability': [{'bitstream': 999}],
                                       'buffers': [buffer], 'bufferViews': views})
    asked = []
    read_file = source.read
    source.read = lambda address: asked.append(address) or read_file(address)
    assert len(read(source).children) == 4
    assert asked.count(str(tmp_path / 'bits.bin')) == 1
    with pytest.raises(TilesError, match='40000 contentAvailability, expected one for each of 1'):
        read(write_implicit(tmp_path, {**available, 'contentAvailability': [ALL] * 40000}))


@pytest.mark.parametrize(('implicit', 'said'), [
    ({'subtreeLevels': 40}, 'subtreeLevels 40'), ({'subtreeLevels': 0}, 'subtreeLevels 0'),
    ({'subdivisionScheme': 'TREE'}, "subdivisionScheme 'TREE'"),
    ({'availableLevels': 2000}, 'availableLevels 2000, expected tiles nested no deeper than 128'),
])
def test_impossible_tilings(tmp_path, implicit, said):
    with pytest.raises(TilesError, match=said):
        read_tileset(write_implicit(tmp_path, {}, **implicit))
