# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Binary glTF: what is written reads back, real files decode, damage is told in one line."""

import base64
from io import BytesIO
import json
import math
from pathlib import Path
import struct
import tracemalloc

import numpy as np
from PIL import Image
import pytest

from urbanground_ros.tiles import decode_glb
from urbanground_ros.tiles import Emission
from urbanground_ros.tiles import encode_glb
from urbanground_ros.tiles import encode_image
from urbanground_ros.tiles import Lamp
from urbanground_ros.tiles import Primitive
from urbanground_ros.tiles import TileMesh
from urbanground_ros.tiles import TilesError
from urbanground_ros.tiles.glb import split_glb
from urbanground_ros.tiles.gltf import decode_gltf

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


def bounds(part: Primitive) -> np.ndarray:
    return np.array([part.positions.min(axis=0), part.positions.max(axis=0)])


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
    np.testing.assert_allclose(bounds(draco), bounds(plain), atol=1e-3)


def test_a_draco_primitive_beside_a_plain_one():
    data = real_file('3d-tiles-tools_gltf/BoxDraco.glb')
    size = struct.unpack_from('<I', data, 12)[0]
    document, binary = json.loads(data[20:20 + size]), data[28 + size:]
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], '<f4').tobytes()
    binary += b'\0' * (-len(binary) % 4)
    document['bufferViews'].append(
        {'buffer': 0, 'byteOffset': len(binary), 'byteLength': len(points)})
    document['accessors'].append({'bufferView': len(document['bufferViews']) - 1,
                                  'componentType': 5126, 'count': 3, 'type': 'VEC3'})
    document['meshes'][0]['primitives'].append(
        {'attributes': {'POSITION': len(document['accessors']) - 1}})
    draco, plain = decode_glb(glb(document, binary + points))
    assert (len(draco.faces), len(plain.faces)) == (12, 1)


def test_meshopt_gives_the_same_box_as_plain():
    plain = decode_glb(real_file('3d-tiles-tools_gltf/Box.glb'))[0]
    packed = decode_glb(real_file('3d-tiles-tools_gltf/BoxMeshopt.glb'))[0]
    assert len(packed.faces) == len(plain.faces) == 12
    assert len(packed.positions) == len(plain.positions)
    np.testing.assert_allclose(
        bounds(packed), bounds(plain), atol=1e-3
    )
    corners = {tuple(p) for p in plain.positions.round(2).tolist()}
    assert {tuple(p) for p in packed.positions.round(2).tolist()} == corners


@pytest.mark.parametrize(('path', 'faces', 'texture'), [
    # Points, which are left out.
    ('loadersgl_3dtiles/content/helsinki-meshopt_0.glb', 0, None),
    ('loadersgl_3dtiles/content/BoxTextured_meshopt.glb', 12, (256, 256, 3)),
    ('cesium-native_3dtiles/content/Duck-vp-12-vt-12-vn-12.glb', 4212, (512, 512, 3)),
    ('cesium-native_3dtiles/content/CesiumBalloonKTX2.glb', 13224, (1024, 1024, 3)),
])
def test_real_packed_files(path, faces, texture):
    parts = decode_glb(real_file(path))
    assert sum(len(part.faces) for part in parts) == faces
    textures = [part.texture for part in parts if part.texture is not None]
    assert ([t.shape for t in textures[:1]] or [None]) == [texture]


def test_an_unknown_required_extension_is_named():
    data = glb({'extensionsRequired': ['KHR_unheard_of', 'KHR_materials_unlit']})
    with pytest.raises(TilesError, match='sample: requires KHR_unheard_of, expected'):
        decode_glb(data, 'sample')


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


@pytest.mark.parametrize(('kind', 'values'), [
    (5120, np.array([0, 1, -1], 'i1')), (5122, np.array([0, 1, -1], '<i2')),
    (5126, np.array([0, 1, np.nan], '<f4')),
])
def test_indices_are_unsigned(kind, values):
    corners = square().positions[:3].tobytes()
    views = [{'buffer': 0, 'byteLength': 36},
             {'buffer': 0, 'byteOffset': 36, 'byteLength': values.nbytes}]
    accessors = [{'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3'},
                 {'bufferView': 1, 'componentType': kind, 'count': 3, 'type': 'SCALAR'}]
    data = one_mesh({'attributes': {'POSITION': 0}, 'indices': 1}, corners + values.tobytes(),
                    views, accessors)
    scene = decode_gltf(data, 'sample')
    assert not scene.primitives
    assert scene.warnings == (
        f'sample: indices of componentType {kind}, expected one of 5121, 5123, 5125',)


def test_buffer_views_that_overlap_are_not_copied():
    size, views = 8 << 20, 40
    data = one_mesh(
        {'attributes': {'POSITION': 0}}, bytes(size),
        [{'buffer': 0, 'byteOffset': 4 * n, 'byteLength': size - 400} for n in range(views)],
        [{'bufferView': n, 'componentType': 5126, 'count': 3, 'type': 'VEC3'}
         for n in range(views)])
    document, binary = split_glb(data, 'sample')
    document['meshes'][0]['primitives'] = [
        {'attributes': {'POSITION': number}} for number in range(views)]
    data = glb(document, binary)
    tracemalloc.start()
    scene = decode_gltf(data, 'sample')
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(scene.primitives) == views
    assert most < 4 * size


def test_what_a_picture_is_not_is_told_without_addresses():
    scene = decode_gltf(boxed(images=[{'uri': 'a.png'}]), 'sample', lambda _: b'{"error"}')
    assert scene.damaged == ('a.png',)
    assert '0x' not in scene.warnings[0]
    assert 'starts with' in scene.warnings[0]


def boxed(**changes: object) -> bytes:
    """Return a written square with parts of its JSON exchanged."""
    data = encode_glb([square(texture=picture())], image_format='PNG')
    size = struct.unpack_from('<I', data, 12)[0]
    return glb({**json.loads(data[20:20 + size]), **changes}, data[28 + size:])


@pytest.mark.parametrize(('changes', 'said'), [
    ({'bufferViews': [{'buffer': 0, 'byteOffset': 0, 'byteLength': 1 << 40}] * 9},
     'bytes 0 to 1099511627776, expected within'),
    ({'bufferViews': [{'buffer': 0, 'byteOffset': -8, 'byteLength': 4}] * 9}, 'bytes -8 to -4'),
    ({'accessors': [{'count': 1 << 40, 'type': 'VEC3', 'componentType': 5126}] * 9},
     '1099511627776 vertices and indices, expected 0 to'),
    ({'accessors': [{'count': -4, 'type': 'VEC3', 'componentType': 5126}] * 9},
     '-4 vertices and indices'),
    ({'accessors': [{'count': 1, 'type': 'VEC3', 'componentType': 5126, 'bufferView': 99}] * 9},
     'IndexError'),
    ({'bufferViews': [{'buffer': 0, 'byteLength': 4, 'extensions': {'EXT_meshopt_compression': {
        'buffer': 0, 'byteLength': 16, 'count': 1 << 30, 'byteStride': 16,
        'mode': 'ATTRIBUTES'}}}] * 9}, 'bytes in packed buffer views'),
    ({'bufferViews': [{'buffer': 0, 'byteLength': 4, 'extensions': {'EXT_meshopt_compression': {
        'buffer': 0, 'byteLength': 16, 'count': 4, 'byteStride': 12,
        'mode': 'ATTRIBUTES'}}}] * 9}, 'damaged'),
])
def test_a_file_that_lies_costs_the_part_that_lies(changes, said):
    scene = decode_gltf(boxed(**changes), 'sample')
    assert not scene.primitives or scene.primitives[0].texture is None
    assert any(said in line for line in scene.warnings)
    assert all(line.startswith('sample: ') and '\n' not in line for line in scene.warnings)


def test_a_picture_that_unpacks_to_too_much_is_left_out():
    buffer = BytesIO()
    Image.new('1', (9_000, 9_000)).save(buffer, 'PNG')
    body = base64.b64encode(buffer.getvalue()).decode()
    scene = decode_gltf(boxed(images=[{'uri': f'data:image/png;base64,{body}'}]), 'sample')
    assert scene.primitives[0].texture is None
    assert scene.warnings == ('sample: 81000000 pixels, expected 0 to 67108864',)


def test_a_missing_picture_is_a_plain_color():
    def resolve(uri: str) -> bytes:
        raise TilesError(f'{uri}: not there, expected a picture')
    scene = decode_gltf(boxed(images=[{'uri': 'gone.png'}]), 'sample', resolve)
    (part,) = scene.primitives
    assert part.texture is None
    assert scene.warnings == ('gone.png: not there, expected a picture',)


def test_transforms_that_are_not_finite_are_refused():
    with pytest.raises(TilesError, match='transform of node 0 is not finite'):
        decode_gltf(boxed(nodes=[{'mesh': 0, 'scale': [float('nan'), 1, 1]}]), 'sample')


def test_nodes_that_multiply_are_stopped():
    nodes = [{'children': [k + 1, k + 1]} for k in range(60)] + [{'mesh': 0}]
    with pytest.raises(TilesError, match='nodes, expected 0 to'):
        decode_gltf(boxed(nodes=nodes, scenes=[{'nodes': [0]}]), 'sample')


def test_one_broken_primitive_leaves_the_other():
    data = encode_glb([square('a'), square('b')])
    size = struct.unpack_from('<I', data, 12)[0]
    document = json.loads(data[20:20 + size])
    document['meshes'][0]['primitives'][0]['attributes']['POSITION'] = 77
    scene = decode_gltf(glb(document, data[28 + size:]), 'sample')
    assert len(scene.primitives) == len(scene.warnings) == 1
    assert 'primitive 0 of mesh 0' in scene.warnings[0]


def test_sparse_accessors_change_single_values():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], '<f4').tobytes()
    more = np.array([1], '<u2').tobytes() + bytes(2) + np.array([9, 0, 0], '<f4').tobytes()
    data = one_mesh(
        {'attributes': {'POSITION': 0}}, points + more,
        [{'buffer': 0, 'byteLength': 36}, {'buffer': 0, 'byteOffset': 36, 'byteLength': 2},
         {'buffer': 0, 'byteOffset': 40, 'byteLength': 12}],
        [{'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3', 'sparse': {
            'count': 1, 'indices': {'bufferView': 1, 'componentType': 5123},
            'values': {'bufferView': 2}}}],
    )
    np.testing.assert_array_equal(
        decode_glb(data)[0].positions, [[0, 0, 0], [9, 0, 0], [0, 1, 0]]
    )


def test_texture_transforms_scale_turn_and_shift():
    data = boxed()
    size = struct.unpack_from('<I', data, 12)[0]
    document = json.loads(data[20:20 + size])
    texture = document['materials'][0]['pbrMetallicRoughness']['baseColorTexture']
    texture['extensions'] = {'KHR_texture_transform': {
        'scale': [2, 1], 'rotation': np.pi / 2, 'offset': [0.5, 0.25],
    }}
    (part,) = decode_glb(glb(document, data[28 + size:]))
    # As the extension's matrices say: u' = cos u + sin v, v' = -sin u + cos v.
    np.testing.assert_allclose(part.uvs[0], (1.5, 0.25), atol=1e-6)
    np.testing.assert_allclose(part.uvs[1], (1.5, -1.75), atol=1e-6)


def test_cesium_rtc_is_a_center_in_the_axes_of_the_tile():
    scene = decode_gltf(boxed(extensions={'CESIUM_RTC': {'center': [1, 2, 3]}}), 'sample')
    np.testing.assert_array_equal(scene.center, (1, 2, 3))
    with pytest.raises(TilesError, match='CESIUM_RTC center'):
        decode_gltf(boxed(extensions={'CESIUM_RTC': {'center': [1, 2]}}), 'sample')


@pytest.mark.parametrize(('path', 'flips'), [
    ('3d-tiles-tools_gltf/BoxMeshopt.glb', 200), ('3d-tiles-tools_gltf/BoxDraco.glb', 200),
    ('loadersgl_3dtiles/CesiumJS/VNext/agi-ktx2/0/0.glb', 6),
])
def test_no_flipped_byte_of_a_packed_file_escapes_as_another_error(path, flips):
    data = real_file(path)
    rng = np.random.default_rng(4)
    for position in rng.integers(0, len(data), flips):
        broken = bytearray(data)
        broken[position] ^= 1 << int(rng.integers(8))
        try:
            decode_gltf(bytes(broken))
        except TilesError as error:
            assert '\n' not in str(error)  # noqa: PT017


def test_emission_and_lamps_are_written_and_read_back():
    texture, lit = picture(), picture(1)
    lamp = Lamp((1.0, 2.0, 7.5), (1.0, 0.75, 0.5), 900.0, 18.0)
    other = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], np.float32)
    scene = decode_gltf(encode_glb([
        square('own', texture=texture, emission=Emission((1.0, 0.5, 0.25), lit, other),
               lamps=(lamp, lamp._replace(position=(4.0, 0.0, 0.0), reach=math.inf))),
        square('same', texture=texture, emission=Emission((0.5, 0.5, 0.5), texture)),
        square('plain', emission=Emission((0.25, 0.0, 0.0))), square('dark'),
    ], image_format='PNG'))
    own, same, plain, dark = scene.primitives
    assert own.emission.factor == (1.0, 0.5, 0.25)
    np.testing.assert_array_equal(own.emission.texture, lit)
    np.testing.assert_array_equal(own.emission.uvs[2], (2, -1))
    assert same.emission.texture is same.texture
    np.testing.assert_array_equal(same.emission.uvs, same.uvs)
    assert plain.emission.texture is None
    assert dark.emission is None
    assert scene.lamps[0] == lamp._replace(position=(1.0, 7.5, -2.0))
    assert scene.lamps[1].reach == math.inf


def test_emission_has_a_strength_and_a_transform_and_none_where_unlit():
    emission = Emission((0.5, 0.5, 0.5), picture(1))
    data = encode_glb([square('a', texture=picture(), emission=emission)])
    document, binary = split_glb(data, 'glb')
    material = document['materials'][0]
    material['extensions'] = {'KHR_materials_emissive_strength': {'emissiveStrength': 4.0}}
    material['emissiveTexture']['extensions'] = {'KHR_texture_transform': {'scale': [0.25, 0.5]}}
    (part,) = decode_glb(glb(document, binary))
    assert part.emission.factor == (2.0, 2.0, 2.0)
    np.testing.assert_allclose(part.emission.uvs, part.uvs * (0.25, 0.5))
    material['extensions'] = {'KHR_materials_unlit': {}}
    assert decode_glb(glb(document, binary))[0].emission is None


@pytest.mark.parametrize(('light', 'said'), [
    ({'type': 'point', 'intensity': -1}, 'intensity -1.0'),
    ({'type': 'spot', 'range': 0}, 'range 0'),
    ({'type': 'point', 'color': [1, 1]}, 'expected one of KHR_lights_punctual'),
    (None, 'light of')])
def test_a_damaged_light_costs_that_light_only(light, said):
    document, binary = split_glb(encode_glb([square(lamps=(Lamp((0.0, 0.0, 1.0)),))]), 'glb')
    document['extensions']['KHR_lights_punctual']['lights'] = [] if light is None else [light]
    scene = decode_gltf(glb(document, binary))
    assert len(scene.primitives) == 1
    assert not scene.lamps
    (line,) = scene.warnings
    assert said in line


def test_a_light_from_nowhere_is_no_lamp():
    document, binary = split_glb(encode_glb([square(lamps=(Lamp((0.0, 0.0, 1.0)),))]), 'glb')
    document['extensions']['KHR_lights_punctual']['lights'][0]['type'] = 'directional'
    scene = decode_gltf(glb(document, binary))
    assert scene.lamps == scene.warnings == ()
