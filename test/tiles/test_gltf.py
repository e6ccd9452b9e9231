# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Binary glTF: what is written reads back, real files decode, damage is told in one line."""

from io import BytesIO
import json
from pathlib import Path
import struct

import numpy as np
from PIL import Image
import pytest

from urbanground_ros.tiles import decode_glb
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import encode_image
from urbanground_ros.tiles import TileMesh
from urbanground_ros.tiles import TilesError

DATA = Path(__file__).resolve().parents[2].parent / 'shared' / 'data'


def real_file(path: str) -> bytes:
    file = DATA / '3dtiles_samples' / path
    if not file.is_file():
        pytest.skip(f'sample {path} is not here')
    return file.read_bytes()


def picture(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 255, (8, 16, 3), np.uint8)


def square(name: str = 'square', **values: object) -> TileMesh:
    return TileMesh(
        name=name,
        positions=np.array([[0, 0, 5], [2, 0, 5], [2, 3, 5], [0, 3, 5]], np.float32),
        normals=np.tile(np.array([0, 0, 1], np.float32), (4, 1)),
        uvs=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32),
        faces=np.array([[0, 1, 2], [0, 2, 3]], np.uint32),
        **values,  # type: ignore[arg-type]
    )


def glb(document: dict, binary: bytes = b'') -> bytes:
    document = {'asset': {'version': '2.0'}, **document}
    text = json.dumps(document).encode()
    text += b' ' * (-len(text) % 4)
    binary += b'\0' * (-len(binary) % 4)
    return b''.join([
        struct.pack('<4sII', b'glTF', 2, 28 + len(text) + len(binary)),
        struct.pack('<II', len(text), 0x4E4F534A), text,
        struct.pack('<II', len(binary), 0x004E4942), binary,
    ])


def one_mesh(
    primitive: dict, binary: bytes, views: list, accessors: list, **more: object
) -> bytes:
    return glb({
        'scenes': [{'nodes': [0]}],
        'nodes': [{'mesh': 0, **more}],
        'meshes': [{'primitives': [primitive]}],
        'buffers': [{'byteLength': len(binary)}],
        'bufferViews': views,
        'accessors': accessors,
    }, binary)


def test_written_meshes_read_back_with_y_up():
    texture = picture()
    data = encode_glb([
        square('a', texture=texture, unlit=True), square('b', color=(0.5, 0.25, 1.0, 1.0)),
    ], image_format='PNG')
    a, b = decode_glb(data)
    np.testing.assert_array_equal(a.positions[2], (2, 5, -3))
    np.testing.assert_array_equal(a.normals[0], (0, 1, 0))
    np.testing.assert_array_equal(a.uvs[0], (0, 1))
    np.testing.assert_array_equal(a.faces, square().faces)
    np.testing.assert_array_equal(a.texture, texture)
    assert a.unlit
    assert not b.unlit
    assert b.texture is None
    assert b.color == (0.5, 0.25, 1.0, 1.0)


def test_meshes_with_one_texture_share_its_image():
    texture = picture()
    shared = encode_glb([square('a', texture=texture), square('b', texture=texture)])
    apart = encode_glb([square('a', texture=texture), square('b', texture=texture.copy())])
    assert shared.count(b'\xff\xd8\xff') == 1
    assert apart.count(b'\xff\xd8\xff') == 2
    assert shared == encode_glb([square('a', texture=texture), square('b', texture=texture)])


def test_contents_share_textures_in_files():
    texture = picture()
    data = encode_glb([square('a', texture=texture)], files={id(texture): 'brick.png'})
    asked = []

    def resolve(uri):
        asked.append(uri)
        return encode_image(texture, 'PNG')
    pictures = {}
    first, again = (decode_glb(data, 'glb', resolve, pictures)[0] for _ in range(2))
    np.testing.assert_array_equal(first.texture, texture)
    assert again.texture is first.texture
    assert asked == ['brick.png']
    with pytest.raises(TilesError, match='brick'):
        decode_glb(data)


def test_interleaved_and_normalised_attributes_without_indices():
    vertex = np.dtype([('position', '<f4', 3), ('uv', '<u2', 2)])
    rows = np.array(
        [((0, 0, 0), (0, 0)), ((1, 0, 0), (65535, 0)), ((0, 1, 0), (0, 32768))], vertex
    )
    data = one_mesh(
        {'attributes': {'POSITION': 0, 'TEXCOORD_0': 1}}, rows.tobytes(),
        [{'buffer': 0, 'byteLength': rows.nbytes, 'byteStride': 16}],
        [
            {'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3'},
            {'bufferView': 0, 'byteOffset': 12, 'componentType': 5123, 'count': 3,
             'type': 'VEC2', 'normalized': True},
        ],
        translation=[10, 0, 0], scale=[2, 2, 2],
    )
    (part,) = decode_glb(data)
    np.testing.assert_allclose(part.positions, [[10, 0, 0], [12, 0, 0], [10, 2, 0]])
    np.testing.assert_allclose(part.uvs[1:], [[1, 0], [0, 0.5]], atol=1e-4)
    np.testing.assert_array_equal(part.faces, [[0, 1, 2]])


@pytest.mark.parametrize(('mode', 'faces'), [
    (4, [[0, 1, 2]]), (5, [[0, 1, 2], [2, 1, 3]]), (6, [[1, 2, 0], [2, 3, 0]]),
])
def test_triangles_strips_and_fans(mode, faces):
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], '<f4').tobytes()
    data = one_mesh(
        {'attributes': {'POSITION': 0}, 'mode': mode}, points,
        [{'buffer': 0, 'byteLength': len(points)}],
        [{'bufferView': 0, 'componentType': 5126, 'count': 4, 'type': 'VEC3'}],
    )
    assert decode_glb(data)[0].faces.tolist() == faces


def test_a_mirroring_node_keeps_faces_outside():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], '<f4').tobytes()
    data = one_mesh(
        {'attributes': {'POSITION': 0}}, points, [{'buffer': 0, 'byteLength': len(points)}],
        [{'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3'}],
        scale=[-1, 1, 1],
    )
    assert decode_glb(data)[0].faces.tolist() == [[2, 1, 0]]


@pytest.mark.parametrize('kind', ['PNG', 'JPEG', 'WEBP'])
def test_picture_formats(kind):
    buffer = BytesIO()
    Image.fromarray(np.full((4, 4, 3), 200, np.uint8)).save(buffer, kind)
    data = encode_glb([square(texture=picture())], image_format='PNG')
    document = json.loads(data[20:20 + struct.unpack_from('<I', data, 12)[0]])
    binary = data[28 + struct.unpack_from('<I', data, 12)[0]:]
    start = len(binary)
    document['bufferViews'].append(
        {'buffer': 0, 'byteOffset': start, 'byteLength': buffer.tell()}
    )
    document['images'][0]['bufferView'] = len(document['bufferViews']) - 1
    if kind == 'WEBP':
        document['extensionsRequired'] = ['EXT_texture_webp']
        document['textures'] = [{'extensions': {'EXT_texture_webp': {'source': 0}}}]
    (part,) = decode_glb(glb(document, binary + buffer.getvalue()))
    assert part.texture.shape == (4, 4, 3)
    assert abs(int(part.texture[0, 0, 0]) - 200) < 3


def test_draco_gives_the_same_box_as_plain():
    plain = decode_glb(real_file('3d-tiles-tools_gltf/Box.glb'))[0]
    draco = decode_glb(real_file('3d-tiles-tools_gltf/BoxDraco.glb'))[0]
    assert len(draco.faces) == len(plain.faces) == 12
    np.testing.assert_allclose(draco.positions.min(axis=0), plain.positions.min(axis=0), atol=1e-3)
    np.testing.assert_allclose(draco.positions.max(axis=0), plain.positions.max(axis=0), atol=1e-3)


@pytest.mark.parametrize('path', [
    '3d-tiles-tools_gltf/BoxMeshopt.glb', 'cesium-native_3dtiles/content/CesiumBalloonKTX2.glb',
])
def test_an_unknown_required_extension_is_named(path):
    data = real_file(path)
    with pytest.raises(TilesError, match=r'sample: requires (EXT_meshopt|KHR_texture_b)') as error:
        decode_glb(data, 'sample')
    assert '\n' not in str(error.value)


@pytest.mark.parametrize('data', [
    b'', b'glTF', b'garbage that is long enough to be a header', glb({'scenes': 3}),
    glb({'scenes': [{'nodes': [7]}]}),
    glb({'nodes': [{'children': [0]}], 'scenes': [{'nodes': [0]}]}),
    encode_glb([square()])[:-200], encode_glb([square()]).replace(b'"VEC3"', b'"VEC9"'),
    struct.pack('<4sII', b'glTF', 1, 20) + bytes(8),
])
def test_damage_is_told_in_one_line(data):
    with pytest.raises(TilesError, match='sample: ') as error:
        decode_glb(data, 'sample')
    assert '\n' not in str(error.value)


def test_no_flipped_byte_escapes_as_another_error():
    data = encode_glb([square(texture=picture())])
    rng = np.random.default_rng(3)
    for position in rng.integers(0, len(data), 600):
        broken = bytearray(data)
        broken[position] ^= 1 << int(rng.integers(8))
        try:
            decode_glb(bytes(broken))
        except TilesError as error:
            assert '\n' not in str(error)  # noqa: PT017


def test_an_index_beyond_the_vertices_is_told():
    mesh = square()
    broken = TileMesh(mesh.name, mesh.positions, mesh.normals, mesh.uvs, mesh.faces + np.uint32(9))
    with pytest.raises(TilesError, match='index 12, expected below 4'):
        decode_glb(encode_glb([broken]))
