# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rigged glTF: joints move vertices as the specification says, animations are interpolated."""

import json
import struct

import numpy as np
import pytest

from urbanground_ros.tiles import decode_rigged
from urbanground_ros.tiles import TilesError
from urbanground_ros.tiles.rigged import Channel

TRIANGLE = np.array([[0, 2, 0], [1, 2, 0], [0, 3, 0]], '<f4')


def document(**changes):
    """A triangle at height 2, on a joint at height 1 that turns about z, and its arrays."""
    arrays = [
        (TRIANGLE, 5126, 'VEC3'),
        (np.array([[0, 1, 0, 0]] * 3, 'u1'), 5121, 'VEC4'),
        (np.array([[1, 1, 0, 0]] * 3, '<f4'), 5126, 'VEC4'),
        (np.array([np.eye(4), [[1, 0, 0, 0], [0, 1, 0, -1], [0, 0, 1, 0], [0, 0, 0, 1]]],
                  '<f4').transpose(0, 2, 1).reshape(-1, 16), 5126, 'MAT4'),
        (np.array([[1.0], [3.0]], '<f4'), 5126, 'SCALAR'),
        (np.array([[0, 0, 0, 1], [0, 0, -1, 0]], '<f4'), 5126, 'VEC4'),
    ]
    binary, views, accessors = b'', [], []
    for values, code, kind in arrays:
        views.append({'buffer': 0, 'byteOffset': len(binary), 'byteLength': values.nbytes})
        accessors.append({'bufferView': len(views) - 1, 'componentType': code,
                          'count': len(values), 'type': kind})
        binary += values.tobytes() + b'\0' * (-values.nbytes % 4)
    return {
        'asset': {'version': '2.0'},
        'nodes': [{'mesh': 0, 'skin': 0, 'translation': [9, 9, 9]}, {'children': [2]},
                  {'translation': [0, 1, 0]}],
        'meshes': [{'primitives': [{'attributes': {
            'POSITION': 0, 'JOINTS_0': 1, 'WEIGHTS_0': 2}}]}],
        'skins': [{'joints': [1, 2], 'inverseBindMatrices': 3}],
        'animations': [{'name': 'turn', 'samplers': [{'input': 4, 'output': 5}], 'channels': [
            {'sampler': 0, 'target': {'node': 2, 'path': 'rotation'}}]}],
        'buffers': [{'byteLength': len(binary)}], 'bufferViews': views, 'accessors': accessors,
        **changes,
    }, binary


def glb(parts):
    document, binary = parts
    text = json.dumps(document).encode()
    text += b' ' * (-len(text) % 4)
    return b''.join([
        struct.pack('<4sII', b'glTF', 2, 28 + len(text) + len(binary)),
        struct.pack('<II', len(text), 0x4E4F534A), text,
        struct.pack('<II', len(binary), 0x004E4942), binary])


def test_as_it_is_bound_it_is_where_its_vertices_are():
    rig = decode_rigged(glb(document()))
    ((positions, normals),) = rig.pose()
    # The node of a skinned mesh moves nothing.
    np.testing.assert_allclose(positions, TRIANGLE, atol=1e-6)
    np.testing.assert_allclose(normals, [[0, 0, 1]] * 3, atol=1e-6)


def test_weights_blend_what_joints_do():
    rig = decode_rigged(glb(document()))
    (turn,) = rig.animations
    assert turn.name == 'turn'
    assert turn.duration == 3.0
    # Half a turn about (0, 1): the second joint brings (1, 2) to (-1, 0), the first leaves it.
    ((positions, _),) = rig.pose(turn, 3.0)
    np.testing.assert_allclose(positions[1], (0, 1, 0), atol=1e-6)
    # A quarter turn, halfway and the shorter way, though the signs of the keys differ.
    ((positions, _),) = rig.pose(turn, 2.0)
    quarter = np.array([1.0, 1.0]) / 2 ** 0.5
    assert abs(abs(positions[1][:2] * 2 - (1, 2) - (0, 1)) @ quarter) == pytest.approx(
        2 ** 0.5, abs=1e-5)
    for time in (-5.0, 0.5):
        np.testing.assert_allclose(rig.pose(turn, time)[0][0], TRIANGLE, atol=1e-6)


def test_what_has_no_skin_moves_with_its_node():
    nodes = [{'children': [1], 'scale': [2, 2, 2]}, {'mesh': 0, 'translation': [0, 1, 0]}]
    rig = decode_rigged(glb(document(nodes=nodes, animations=[], skins=[])))
    ((positions, _),) = rig.pose()
    np.testing.assert_allclose(positions, TRIANGLE * 2 + (0, 2, 0), atol=1e-6)


def test_values_between_keys():
    times, values = np.array([0.0, 1.0, 3.0]), np.array([[0.0], [10.0], [0.0]])
    straight = Channel(0, 'translation', times, values, stepped=False)
    assert [straight.at(t)[0] for t in (-1, 0.5, 1.0, 2.0, 9.0)] == [0, 5, 10, 5, 0]
    steps = Channel(0, 'translation', times, values, stepped=True)
    assert [steps.at(t)[0] for t in (0.9, 1.0, 2.9, 3.0)] == [0, 10, 10, 0]


def test_a_cubic_spline_goes_through_its_points():
    parts = document()
    turned = np.array([[9, 9, 9, 9], [0, 0, 0, 1], [9, 9, 9, 9], [9, 9, 9, 9], [0, 0, 1, 0],
                       [9, 9, 9, 9]], '<f4')
    parts[0]['bufferViews'].append(
        {'buffer': 0, 'byteOffset': len(parts[1]), 'byteLength': turned.nbytes})
    parts[0]['accessors'].append(
        {'bufferView': 6, 'componentType': 5126, 'count': 6, 'type': 'VEC4'})
    parts[0]['animations'][0]['samplers'] = [
        {'input': 4, 'output': 6, 'interpolation': 'CUBICSPLINE'}]
    (spline,) = decode_rigged(glb((parts[0], parts[1] + turned.tobytes()))).animations
    np.testing.assert_allclose(spline.channels[0].values, [[0, 0, 0, 1], [0, 0, 1, 0]])


@pytest.mark.parametrize(('changes', 'said'), [
    ({'nodes': [{'children': [1]}, {'children': [0], 'mesh': 0}]}, 'its nodes are no trees'),
    ({'nodes': [{'children': [7], 'mesh': 0}]}, 'its nodes are no trees'),
    ({'skins': [{'joints': [1, 8]}]}, 'joints 1, 8, expected some of 3 nodes'),
    ({'meshes': [{'primitives': []}]}, 'nothing to draw'),
    ({'skins': [{'joints': [1], 'inverseBindMatrices': 3}]}, 'expected some of 1 joints'),
    ({'skins': []}, 'nothing to draw'),
    ({'animations': [{'name': 'x', 'samplers': [{'input': 4, 'output': 0}], 'channels': [
        {'sampler': 0, 'target': {'node': 2, 'path': 'translation'}}]}]},
     "animation 'x' has 3 values at 2 times"),
    ({'animations': [{'samplers': [{'input': 4, 'output': 5}], 'channels': [
        {'sampler': 0, 'target': {'node': 9, 'path': 'rotation'}}]}]},
     'rotation of node 9, expected'),
    ({'animations': [{'samplers': [{'input': 4, 'output': 5}], 'channels': [
        {'sampler': 0, 'target': {'node': 2, 'path': 'scale'}}]}]}, 'scale of node 2, expected'),
])
def test_damage_is_told_in_one_line(changes, said):
    with pytest.raises(TilesError, match=said) as error:
        decode_rigged(glb(document(**changes)), 'walker.glb')
    assert 'walker.glb' in str(error.value)
    assert '\n' not in str(error.value)
