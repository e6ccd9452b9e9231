# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Features: what is written reads back, other layouts are read, damage costs features only."""

import json
from pathlib import Path
import re
import struct

import numpy as np
import pytest

from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import Features
from urbanground_ros.tiles import Instance
from urbanground_ros.tiles import load_tileset
from urbanground_ros.tiles import TileMesh
from urbanground_ros.tiles import unwrap_b3dm
from urbanground_ros.tiles.glb import split_glb
from urbanground_ros.tiles.gltf import decode_gltf

SAMPLES = Path(__file__).resolve().parents[2].parent / 'shared' / 'data' / '3dtiles_samples'
TABLE = (Instance('sign', 'Lucky Wok'), Instance('plate', '金脆街'), Instance('building', ''))


def squares(*rows, table=TABLE, name='squares'):
    """A square for each row of the table."""
    corner = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    points = np.concatenate([corner + np.float32([2 * k, 0, 0]) for k in range(len(rows))])
    faces = np.array([[[0, 1, 2], [0, 2, 3]]], np.uint32) + 4 * np.arange(
        len(rows), dtype=np.uint32)[:, None, None]
    return TileMesh(
        name, points, np.tile(np.float32([0, 0, 1]), (len(points), 1)), None,
        faces.reshape(-1, 3), features=Features(np.repeat(rows, 4).astype(np.uint32), table))


def glb(document, binary):
    text = json.dumps(document).encode()
    text += b' ' * (-len(text) % 4)
    return b''.join([
        struct.pack('<4sII', b'glTF', 2, 28 + len(text) + len(binary)),
        struct.pack('<II', len(text), 0x4E4F534A), text,
        struct.pack('<II', len(binary), 0x004E4942), binary,
    ])


def b3dm(inner, table):
    features = b'{"BATCH_LENGTH":10}  '
    header = struct.pack('<4s6I', b'b3dm', 1, 28 + len(features) + len(table) + len(inner),
                         len(features), 0, len(table), 0)
    return header + features + table + inner


def tileset(folder, content):
    (folder / 'content').write_bytes(content)
    path = folder / 'tileset.json'
    path.write_text(json.dumps({'asset': {'version': '1.1'}, 'root': {
        'boundingVolume': {'sphere': [0, 0, 0, 1e7]}, 'geometricError': 0,
        'content': {'uri': 'content'}}}))
    return path


def only(data, **changes):
    """Return the only primitive after changes of its feature ids and its table, and warnings."""
    document, binary = split_glb(data, 'squares')
    for place, values in changes.items():
        part = {
            'ids': document['meshes'][0]['primitives'][0]['extensions']['EXT_mesh_features'][
                'featureIds'][0],
            'attributes': document['meshes'][0]['primitives'][0]['attributes'],
            'table': document['extensions']['EXT_structural_metadata']['propertyTables'][0],
            'names': document['extensions']['EXT_structural_metadata']['propertyTables'][0][
                'properties']['name'],
            'properties': document['extensions']['EXT_structural_metadata']['propertyTables'][0][
                'properties'],
        }[place]
        for key, value in values.items():
            if value is None:
                del part[key]
            else:
                part[key] = value
    scene = decode_gltf(glb(document, binary), 'squares')
    (primitive,) = scene.primitives
    assert len(primitive.faces) == len(squares(*[0] * 4).faces)
    return primitive.features, scene.warnings


FOUR = encode_glb([squares(1, 3, 0, 1)])


def test_features_that_are_written_read_back():
    other = (Instance('sign', 'Other'),)
    plain = TileMesh('plain', *(getattr(squares(0), key) for key in (
        'positions', 'normals', 'uvs', 'faces')))
    data = encode_glb([squares(2, 1), plain, squares(0, 3), squares(0, table=other)])
    scene = decode_gltf(data)
    assert not scene.warnings
    first, none, second, third = (part.features for part in scene.primitives)
    assert none is None
    assert first.table == second.table == TABLE
    assert third.table == other
    np.testing.assert_array_equal(first.ids, np.repeat([2, 1], 4))
    np.testing.assert_array_equal(second.ids, np.repeat([0, 3], 4))
    assert first.ids.dtype == np.uint32
    document, _ = split_glb(data, 'glb')
    assert {'EXT_mesh_features', 'EXT_structural_metadata'} <= set(document['extensionsUsed'])
    assert len(document['extensions']['EXT_structural_metadata']['propertyTables']) == 2
    sets = [primitive['extensions']['EXT_mesh_features']['featureIds'][0]['featureCount']
            for mesh in document['meshes'] for primitive in mesh['primitives']
            if 'extensions' in primitive]
    assert sets == [2, 1, 1]
    assert all(view['byteLength'] > 0 for view in document['bufferViews'])


def test_nothing_is_written_for_meshes_without_features():
    mesh = squares(0)
    plain = TileMesh(mesh.name, mesh.positions, mesh.normals, None, mesh.faces)
    assert b'EXT_' not in encode_glb([plain])


def test_meshes_of_a_tileset_have_the_features_of_their_contents(tmp_path):
    path = tileset(tmp_path, FOUR)
    (mesh,) = load_tileset(path, LocalFrame(0.0, 0.0, 0.0))
    assert mesh.features.table == TABLE
    np.testing.assert_array_equal(mesh.features.ids, np.repeat([1, 3, 0, 1], 4))
    assert mesh.nbytes == sum(array.nbytes for array in (
        mesh.positions, mesh.normals, mesh.faces, mesh.features.ids))


def test_other_layouts_are_read():
    implicit, _ = only(encode_glb([squares(0, 0, 0, 0, table=TABLE * 6)]), ids={'attribute': None})
    np.testing.assert_array_equal(implicit.ids, np.arange(16))
    called, _ = only(FOUR, properties={'kind': None}, table={'class': 'shop'})
    assert called.table == tuple(Instance('shop', row.name) for row in TABLE)
    unnamed, _ = only(FOUR, properties={'name': None})
    assert unnamed.table == tuple(Instance(row.kind, '') for row in TABLE)
    absent, _ = only(FOUR, ids={'nullFeatureId': 1})
    np.testing.assert_array_equal(absent.ids, np.repeat([3, 3, 0, 3], 4))
    # Of another type than strings: as if it were not there.
    numbers, _ = only(FOUR, properties={'kind': {'values': 0}})
    assert {row.kind for row in numbers.table} == {'instance'}


@pytest.mark.parametrize('changes', [
    {'ids': {'propertyTable': None}}, {'ids': {'texture': {'index': 0, 'channels': [0]}}},
    {'properties': {'name': None, 'kind': None}},
])
def test_without_names_there_are_no_features(changes):
    features, warnings = only(FOUR, **changes)
    assert features is None
    assert not warnings


@pytest.mark.parametrize(('changes', 'said'), [
    ({'ids': {'nullFeatureId': 7}, 'table': {'count': 2}}, '16 feature ids from 0 to 3, expected '
     '16 from 0 to 1'),
    ({'ids': {'propertyTable': 4}}, 'features: damaged'),
    ({'ids': {'attribute': 1}, 'attributes': {'_FEATURE_ID_1': 99}}, 'features: damaged'),
    ({'ids': {'attribute': 1}, 'attributes': {'_FEATURE_ID_1': 0}}, '48 feature ids'),
    ({'ids': {'attribute': 5}}, r'no attribute _FEATURE_ID_5, expected one'),
    ({'table': {'count': 400}}, 'property table 0: damaged'),
    ({'table': {'count': 'x'}}, 'property table 0: damaged'),
    ({'names': {'stringOffsets': 0}}, 'property table 0: offsets of name end at'),
    ({'names': {'stringOffsetType': 'FLOAT'}}, 'property table 0: damaged'),
    ({'names': {'values': 1}}, 'property table 0: damaged .*decode'),
    ({'names': {'values': 77}}, 'property table 0: damaged'),
])
def test_damage_costs_the_features_only_and_one_line(changes, said):
    features, warnings = only(FOUR, **changes)
    assert features is None
    assert len(warnings) == 1
    assert re.search(said, warnings[0]), warnings[0]
    assert '\n' not in warnings[0]


def test_the_table_of_a_batched_model_names_its_batches(tmp_path):
    sample = SAMPLES / 'loadersgl_3dtiles/CesiumJS/Batched/BatchedWithBatchTable'
    if not sample.is_dir():
        pytest.skip('samples are not here')
    inner = unwrap_b3dm((sample / 'batchedWithBatchTable.b3dm').read_bytes()).gltf
    names = [f'House {number}' for number in range(10)]
    frame = LocalFrame(0.0, 0.0, 0.0)
    table = json.dumps({'id': list(range(10)), 'name': names, 'class': ['house'] * 10}).encode()
    (mesh,) = load_tileset(tileset(tmp_path, b3dm(inner, table)), frame)
    assert mesh.features.table == tuple(Instance('house', name) for name in names)
    counts = np.bincount(mesh.features.ids)
    assert len(counts) == 10
    # Each of the ten is a box by itself.
    assert (counts == 24).all()
    for broken, said in ((b'{"name":["a","b"]}  ', 'from 0 to 9, expected 240 from 0 to 1'),
                         (b'{"name":["a",', 'batch table')):
        warnings = []
        (mesh,) = load_tileset(tileset(tmp_path, b3dm(inner, broken)), frame, warnings)
        assert mesh.features is None
        assert len(warnings) == 1
        assert said in warnings[0]
    for silent in (b'', b'{"id":[1]}', b'{"name":{"byteOffset":0}}'):
        (mesh,) = load_tileset(tileset(tmp_path, b3dm(inner, silent)), frame, warnings)
        assert mesh.features is None
        assert len(warnings) == 1
