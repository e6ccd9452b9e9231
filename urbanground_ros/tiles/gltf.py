# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Binary glTF 2.0: reads it to arrays, and writes arrays to it.

Source: Khronos glTF 2.0 specification (ISO/IEC 12113:2022) and its ratified extensions.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import MutableMapping
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
import json
import struct
from typing import Any
from urllib.parse import unquote_to_bytes

import DracoPy
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.mesh import TileMesh

SUPPORTED_EXTENSIONS = frozenset({
    'EXT_texture_webp',
    'KHR_draco_mesh_compression',
    'KHR_materials_unlit',
    'KHR_mesh_quantization',
    'KHR_texture_transform',
})

_JSON_CHUNK = 0x4E4F534A
_BIN_CHUNK = 0x004E4942
_COMPONENTS = {5120: 'i1', 5121: 'u1', 5122: '<i2', 5123: '<u2', 5125: '<u4', 5126: '<f4'}
_WIDTHS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT2': 4, 'MAT3': 9, 'MAT4': 16}
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_WHITE = (1.0, 1.0, 1.0, 1.0)
_DEEPEST_NODE = 64
# What a damaged file makes the readers below raise.
_DAMAGE = (
    ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RecursionError,
    SyntaxError, TypeError, ValueError, struct.error, Image.DecompressionBombError,
    DracoPy.FileTypeException,
)

Resolver = Callable[[str], bytes]
Pictures = MutableMapping[str, NDArray[np.uint8]]


@dataclass(frozen=True)
class Primitive:
    """Triangles of one material, in glTF axes (Y up), with the node transforms applied.

    `positions` (N, 3) float64 metres; `normals` (N, 3) or None; `uvs` (N, 2) as glTF has
    them (origin at the top left) or None; `faces` (M, 3) uint32; `texture` (H, W, 3) uint8.
    """

    positions: NDArray[np.float64]
    normals: NDArray[np.float64] | None
    uvs: NDArray[np.float64] | None
    faces: NDArray[np.uint32]
    texture: NDArray[np.uint8] | None
    color: tuple[float, float, float, float]
    unlit: bool


def decode_glb(
    data: bytes, name: str = 'glb', resolve: Resolver | None = None,
    pictures: Pictures | None = None,
) -> list[Primitive]:
    """Return the triangle primitives of the default scene of a binary glTF 2.0.

    `name` is what errors call it; `resolve` fetches what a URI inside points to; `pictures`
    keeps what it has decoded of those, for contents that share files. Points and lines are
    left out.

    Raises:
        TilesError: damaged data, or a required extension that is not supported.
    """
    try:
        return list(_Reader(data, name, resolve, pictures).primitives())
    except TilesError:
        raise
    except _DAMAGE as error:
        raise TilesError(
            f'{name}: damaged glTF ({type(error).__name__}: {_one_line(error)}), '
            'expected a complete binary glTF 2.0'
        ) from error


def _one_line(error: BaseException) -> str:
    return ' '.join(str(error).split())[:160]


def _chunks(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    if len(data) < 20 or data[:4] != b'glTF':
        raise TilesError(f'{name}: starts with {data[:4]!r}, expected a binary glTF (b"glTF")')
    version, length = struct.unpack_from('<II', data, 4)
    if version != 2:
        raise TilesError(f'{name}: glTF version {version}, expected 2')
    if length > len(data):
        raise TilesError(f'{name}: {len(data)} bytes, expected {length} as its header says')
    size, kind = struct.unpack_from('<II', data, 12)
    if kind != _JSON_CHUNK:
        raise TilesError(f'{name}: first chunk has type {kind:#x}, expected JSON')
    document = json.loads(data[20:20 + size])
    if not isinstance(document, dict):
        raise TilesError(f'{name}: its JSON is a {type(document).__name__}, expected an object')
    start = 20 + size + (-size % 4)
    if start + 8 > length:
        return document, b''
    size, kind = struct.unpack_from('<II', data, start)
    return document, data[start + 8:start + 8 + size] if kind == _BIN_CHUNK else b''


class _Reader:
    """One binary glTF being read."""

    def __init__(
        self, data: bytes, name: str, resolve: Resolver | None, pictures: Pictures | None
    ) -> None:
        self._name = name
        self._resolve = resolve
        self._pictures: Pictures = {} if pictures is None else pictures
        self._json, self._binary = _chunks(data, name)
        unknown = set(self._json.get('extensionsRequired', [])) - SUPPORTED_EXTENSIONS
        if unknown:
            raise TilesError(
                f'{name}: requires {", ".join(sorted(unknown))}, expected only '
                f'{", ".join(sorted(SUPPORTED_EXTENSIONS))}'
            )
        self._buffers: dict[int, bytes] = {}
        self._images: dict[int, NDArray[np.uint8]] = {}

    def primitives(self) -> Iterator[Primitive]:
        scenes = self._json.get('scenes', [])
        if scenes:
            roots = scenes[self._json.get('scene', 0)].get('nodes', [])
        else:
            nodes = self._json.get('nodes', [])
            children = {child for node in nodes for child in node.get('children', [])}
            roots = [index for index in range(len(nodes)) if index not in children]
        for root in roots:
            yield from self._node(root, np.eye(4), 0)

    def _node(self, index: int, parent: NDArray, depth: int) -> Iterator[Primitive]:
        if depth > _DEEPEST_NODE:
            raise TilesError(
                f'{self._name}: node {index} is nested deeper than {_DEEPEST_NODE}, '
                'expected a tree of nodes'
            )
        node = self._json['nodes'][index]
        matrix = parent @ _node_matrix(node)
        if 'mesh' in node:
            for primitive in self._json['meshes'][node['mesh']]['primitives']:
                if primitive.get('mode', _TRIANGLES) in (_TRIANGLES, _STRIP, _FAN):
                    yield self._primitive(primitive, matrix)
        for child in node.get('children', []):
            yield from self._node(child, matrix, depth + 1)

    def _primitive(self, primitive: dict[str, Any], matrix: NDArray) -> Primitive:
        material = {}
        if 'material' in primitive:
            material = self._json['materials'][primitive['material']]
        surface = material.get('pbrMetallicRoughness', {})
        color_texture = surface.get('baseColorTexture')
        uv_set = 0 if color_texture is None else _uv_set(color_texture)
        positions, normals, uvs, faces = self._arrays(primitive, f'TEXCOORD_{uv_set}')
        if not np.isfinite(positions).all():
            raise TilesError(f'{self._name}: a position is not finite, expected metres')
        if faces.size and int(faces.max()) >= len(positions):
            raise TilesError(
                f'{self._name}: index {int(faces.max())}, expected below {len(positions)}'
            )
        linear = matrix[:3, :3]
        if np.linalg.det(linear) < 0:
            faces = faces[:, ::-1]
        if uvs is not None and color_texture is not None:
            uvs = _transform_uvs(uvs, color_texture)
        color = tuple(float(c) for c in surface.get('baseColorFactor', _WHITE))
        if len(color) != 4:
            raise TilesError(f'{self._name}: baseColorFactor {color}, expected four numbers')
        return Primitive(
            positions=positions @ linear.T + matrix[:3, 3],
            normals=None if normals is None else normals @ np.linalg.pinv(linear),
            uvs=uvs,
            faces=np.ascontiguousarray(faces, np.uint32),
            texture=None if color_texture is None else self._texture(color_texture['index']),
            color=color,
            unlit='KHR_materials_unlit' in material.get('extensions', {}),
        )

    def _arrays(
        self, primitive: dict[str, Any], uv_name: str
    ) -> tuple[NDArray, NDArray | None, NDArray | None, NDArray]:
        """Return positions, normals, UVs and faces of a primitive."""
        attributes = primitive['attributes']
        draco = primitive.get('extensions', {}).get('KHR_draco_mesh_compression')
        if draco is not None:
            mesh = DracoPy.decode(self._view(draco['bufferView']))
            by_id = {entry['unique_id']: entry['data'] for entry in mesh.attributes}
            coded = {key: by_id[value] for key, value in draco['attributes'].items()}

            def attribute(key: str) -> NDArray | None:
                if key not in coded:
                    return None
                values = np.asarray(coded[key])
                return self._scaled(values, self._json['accessors'][attributes[key]])

            indices = np.asarray(mesh.faces).reshape(-1)
            mode = _TRIANGLES
        else:

            def attribute(key: str) -> NDArray | None:
                return self._accessor(attributes[key]) if key in attributes else None

            indices = None
            mode = primitive.get('mode', _TRIANGLES)
        positions = attribute('POSITION')
        if positions is None:
            raise TilesError(f'{self._name}: a primitive has no POSITION, expected one')
        if indices is None:
            indices = np.arange(len(positions))
            if 'indices' in primitive:
                indices = self._accessor(primitive['indices']).astype(np.int64).reshape(-1)
        return positions, attribute('NORMAL'), attribute(uv_name), _triangles(indices, mode)

    def _accessor(self, index: int) -> NDArray[np.float64]:
        """Return an accessor's values, (count, components), as float64."""
        accessor = self._json['accessors'][index]
        if 'sparse' in accessor:
            raise TilesError(f'{self._name}: accessor {index} is sparse, expected a dense one')
        count, width = accessor['count'], _WIDTHS[accessor['type']]
        if 'bufferView' not in accessor:
            return np.zeros((count, width))
        dtype = np.dtype(_COMPONENTS[accessor['componentType']])
        view = self._json['bufferViews'][accessor['bufferView']]
        data = self._view(accessor['bufferView'])
        stride = view.get('byteStride') or width * dtype.itemsize
        values: NDArray = np.ndarray(
            (count, width), dtype, data, accessor.get('byteOffset', 0), (stride, dtype.itemsize)
        )
        return self._scaled(values, accessor)

    def _scaled(self, values: NDArray, accessor: dict[str, Any]) -> NDArray[np.float64]:
        scaled = values.astype(np.float64)
        if accessor.get('normalized'):
            limit = np.iinfo(_COMPONENTS[accessor['componentType']]).max
            scaled = np.maximum(scaled / limit, -1.0)
        return scaled

    def _view(self, index: int) -> bytes:
        view = self._json['bufferViews'][index]
        start = view.get('byteOffset', 0)
        data = self._buffer(view['buffer'])[start:start + view['byteLength']]
        if len(data) != view['byteLength']:
            raise TilesError(
                f'{self._name}: bufferView {index} has {len(data)} bytes, '
                f'expected {view["byteLength"]}'
            )
        return data

    def _buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            uri = self._json['buffers'][index].get('uri')
            self._buffers[index] = self._binary if uri is None else self._fetch(uri)
        return self._buffers[index]

    def _fetch(self, uri: str) -> bytes:
        if uri.startswith('data:'):
            return data_uri(uri)
        if self._resolve is None:
            raise TilesError(f'{self._name}: refers to {uri!r}, expected everything inside')
        return self._resolve(uri)

    def _texture(self, index: int) -> NDArray[np.uint8]:
        """Return the picture of a texture, (H, W, 3) uint8, row 0 at the top."""
        texture = self._json['textures'][index]
        webp = texture.get('extensions', {}).get('EXT_texture_webp', {})
        source = webp.get('source', texture.get('source'))
        if source is None:
            kinds = ', '.join(sorted(texture.get('extensions', {}))) or 'no source'
            raise TilesError(
                f'{self._name}: texture {index} has {kinds}, expected JPEG, PNG or WebP'
            )
        if source not in self._images:
            self._images[source] = self._picture(self._json['images'][source])
        return self._images[source]

    def _picture(self, image: dict[str, Any]) -> NDArray[np.uint8]:
        """Return an image of the document, from the shared pictures where it is a file."""
        uri: str | None = None if 'bufferView' in image else image['uri']
        if uri is not None and uri in self._pictures:
            return self._pictures[uri]
        data = self._view(image['bufferView']) if uri is None else self._fetch(uri)
        with Image.open(BytesIO(data), formats=('JPEG', 'PNG', 'WEBP')) as picture:
            pixels = np.asarray(picture.convert('RGB'))
        if uri is not None and not uri.startswith('data:'):
            self._pictures[uri] = pixels
        return pixels


def data_uri(uri: str) -> bytes:
    """Return the bytes that a `data:` URI holds (RFC 2397)."""
    header, _, body = uri.partition(',')
    return base64.b64decode(body) if header.endswith(';base64') else unquote_to_bytes(body)


def _uv_set(color_texture: dict[str, Any]) -> int:
    moved = color_texture.get('extensions', {}).get('KHR_texture_transform', {})
    return moved.get('texCoord', color_texture.get('texCoord', 0))


def _transform_uvs(uvs: NDArray, color_texture: dict[str, Any]) -> NDArray[np.float64]:
    """Apply KHR_texture_transform: scale, then rotation, then offset."""
    moved = color_texture.get('extensions', {}).get('KHR_texture_transform')
    if moved is None:
        return uvs
    angle = moved.get('rotation', 0.0)
    cos, sin = np.cos(angle), np.sin(angle)
    rotation = np.array([[cos, sin], [-sin, cos]])
    scaled = uvs * np.asarray(moved.get('scale', (1.0, 1.0)))
    return scaled @ rotation.T + np.asarray(moved.get('offset', (0.0, 0.0)))


def _node_matrix(node: dict[str, Any]) -> NDArray[np.float64]:
    if 'matrix' in node:
        return np.asarray(node['matrix'], np.float64).reshape(4, 4).T
    x, y, z, w = node.get('rotation', (0.0, 0.0, 0.0, 1.0))
    matrix = np.eye(4)
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, :3] *= np.asarray(node.get('scale', (1.0, 1.0, 1.0)))
    matrix[:3, 3] = node.get('translation', (0.0, 0.0, 0.0))
    return matrix


def _triangles(indices: NDArray, mode: int) -> NDArray[np.int64]:
    """Return (M, 3) faces from the indices of triangles, a strip or a fan."""
    indices = np.asarray(indices, np.int64)
    if mode == _TRIANGLES:
        return indices[:len(indices) // 3 * 3].reshape(-1, 3)
    if mode == _FAN:
        rim = indices[1:]
        return np.stack([rim[:-1], rim[1:], np.full(len(rim) - 1, indices[0])], axis=1)
    faces = np.stack([indices[:-2], indices[1:-1], indices[2:]], axis=1)
    faces[1::2] = faces[1::2, [1, 0, 2]]
    return faces


def encode_glb(
    meshes: Sequence[TileMesh], *, image_format: str = 'JPEG', quality: int = 85,
    files: Mapping[int, str] | None = None,
) -> bytes:
    """Return a binary glTF 2.0 of meshes given with Z up.

    Axes become glTF's (Y up) and UVs get their origin at the top left. Meshes that hold the
    same texture array share one image; the same input gives the same bytes. `files` has, by
    `id` of a texture array, the URI of the file beside the content that holds it, in place of
    a copy inside.
    """
    writer = _Writer(image_format, quality, files or {})
    for mesh in meshes:
        writer.add(mesh)
    return writer.finish()


def encode_image(
    texture: NDArray[np.uint8], image_format: str = 'JPEG', quality: int = 85
) -> bytes:
    """Return a picture (H, W, 3) as a file; the same input gives the same bytes."""
    buffer = BytesIO()
    Image.fromarray(texture).save(buffer, image_format, quality=quality)
    return buffer.getvalue()


class _Writer:
    """One binary glTF being written."""

    def __init__(self, image_format: str, quality: int, files: Mapping[int, str]) -> None:
        self._format = image_format
        self._quality = quality
        self._files = files
        self._binary = bytearray()
        self._json: dict[str, Any] = {
            'asset': {'version': '2.0', 'generator': 'UrbanGround for ROS 2'},
            'scene': 0,
            'scenes': [{'nodes': []}],
            'nodes': [],
            'meshes': [],
            'materials': [],
            'accessors': [],
            'bufferViews': [],
        }
        self._textures: dict[int, int] = {}

    def _view(self, data: bytes, target: int | None = None) -> int:
        self._binary.extend(b'\0' * (-len(self._binary) % 4))
        view = {'buffer': 0, 'byteOffset': len(self._binary), 'byteLength': len(data)}
        if target is not None:
            view['target'] = target
        self._binary.extend(data)
        self._json['bufferViews'].append(view)
        return len(self._json['bufferViews']) - 1

    def _accessor(self, values: NDArray, kind: str, bounds: bool = False) -> int:
        components = {np.dtype(code): number for number, code in _COMPONENTS.items()}
        accessor: dict[str, Any] = {
            'bufferView': self._view(values.tobytes(), 34963 if kind == 'SCALAR' else 34962),
            'componentType': components[values.dtype],
            'count': len(values),
            'type': kind,
        }
        if bounds:
            accessor['min'] = values.min(axis=0).tolist()
            accessor['max'] = values.max(axis=0).tolist()
        self._json['accessors'].append(accessor)
        return len(self._json['accessors']) - 1

    def _texture(self, texture: NDArray[np.uint8]) -> int:
        if id(texture) not in self._textures:
            images = self._json.setdefault('images', [])
            if id(texture) in self._files:
                images.append({'uri': self._files[id(texture)]})
            else:
                data = encode_image(texture, self._format, self._quality)
                images.append({
                    'bufferView': self._view(data), 'mimeType': f'image/{self._format.lower()}',
                })
            self._json.setdefault('samplers', [{'magFilter': 9729, 'minFilter': 9987}])
            textures = self._json.setdefault('textures', [])
            textures.append({'source': len(images) - 1, 'sampler': 0})
            self._textures[id(texture)] = len(textures) - 1
        return self._textures[id(texture)]

    def add(self, mesh: TileMesh) -> None:
        surface: dict[str, Any] = {'metallicFactor': 0.0, 'roughnessFactor': 1.0}
        if mesh.color != _WHITE:
            surface['baseColorFactor'] = list(mesh.color)
        if mesh.texture is not None:
            surface['baseColorTexture'] = {'index': self._texture(mesh.texture)}
        material: dict[str, Any] = {'name': mesh.name, 'pbrMetallicRoughness': surface}
        if mesh.unlit:
            material['extensions'] = {'KHR_materials_unlit': {}}
            self._json['extensionsUsed'] = ['KHR_materials_unlit']
        attributes = {
            'POSITION': self._accessor(_y_up(mesh.positions), 'VEC3', bounds=True),
            'NORMAL': self._accessor(_y_up(mesh.normals), 'VEC3'),
        }
        if mesh.uvs is not None:
            flipped = np.stack([mesh.uvs[:, 0], 1 - mesh.uvs[:, 1]], axis=1)
            attributes['TEXCOORD_0'] = self._accessor(flipped.astype('<f4'), 'VEC2')
        small = len(mesh.positions) <= 0xFFFF
        indices = mesh.faces.astype('<u2' if small else '<u4').reshape(-1)
        primitive = {
            'attributes': attributes,
            'indices': self._accessor(indices, 'SCALAR'),
            'material': len(self._json['materials']),
        }
        self._json['materials'].append(material)
        self._json['meshes'].append({'name': mesh.name, 'primitives': [primitive]})
        self._json['nodes'].append({'name': mesh.name, 'mesh': len(self._json['meshes']) - 1})
        self._json['scenes'][0]['nodes'].append(len(self._json['nodes']) - 1)

    def finish(self) -> bytes:
        self._binary.extend(b'\0' * (-len(self._binary) % 4))
        self._json['buffers'] = [{'byteLength': len(self._binary)}]
        text = json.dumps(self._json, separators=(',', ':')).encode()
        text += b' ' * (-len(text) % 4)
        return b''.join([
            struct.pack('<4sII', b'glTF', 2, 28 + len(text) + len(self._binary)),
            struct.pack('<II', len(text), _JSON_CHUNK), text,
            struct.pack('<II', len(self._binary), _BIN_CHUNK), bytes(self._binary),
        ])


def _y_up(vectors: NDArray) -> NDArray[np.float32]:
    """Return Z-up vectors in glTF axes."""
    return np.stack([vectors[:, 0], vectors[:, 2], -vectors[:, 1]], axis=1).astype('<f4')
