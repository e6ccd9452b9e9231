# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""glTF 2.0: the triangles of its scene, with their materials and pictures.

Source: Khronos glTF 2.0 specification (ISO/IEC 12113:2022) and its ratified extensions;
CESIUM_RTC of glTF 1.0, which some files of version 2 still have.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
import math
from typing import Any
from typing import Protocol
from typing import TypeVar

import DracoPy
import numpy as np
from numpy.typing import NDArray

from urbanground_ros.tiles.buffers import Buffers
from urbanground_ros.tiles.errors import telling_damage
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.features import property_table
from urbanground_ros.tiles.features import Table
from urbanground_ros.tiles.glb import split_glb
from urbanground_ros.tiles.images import decode_image
from urbanground_ros.tiles.limits import Budget
from urbanground_ros.tiles.limits import MAX_DEPTH
from urbanground_ros.tiles.limits import MAX_NODES
from urbanground_ros.tiles.limits import MAX_PIXELS
from urbanground_ros.tiles.mesh import Emission
from urbanground_ros.tiles.mesh import Features
from urbanground_ros.tiles.mesh import Lamp
from urbanground_ros.tiles.mesh import WHITE
from urbanground_ros.tiles.uris import data_uri

SUPPORTED_EXTENSIONS = frozenset({
    'CESIUM_RTC',
    'EXT_mesh_features',
    'EXT_meshopt_compression',
    'EXT_structural_metadata',
    'EXT_texture_webp',
    'KHR_draco_mesh_compression',
    'KHR_lights_punctual',
    'KHR_materials_emissive_strength',
    'KHR_materials_unlit',
    'KHR_mesh_quantization',
    'KHR_meshopt_compression',
    'KHR_texture_basisu',
    'KHR_texture_transform',
})

_TRIANGLES, _STRIP, _FAN = 4, 5, 6
#: Modes of primitives that are drawn: the rest are points and lines.
DRAWN = (_TRIANGLES, _STRIP, _FAN)

_Part = TypeVar('_Part')
Resolver = Callable[[str], bytes]
#: Gives an attribute (N, components), None where there is none of that name.
Attributes = Callable[[str], NDArray | None]


class Pictures(Protocol):
    """Decoded pictures by the URI that a document names them with; a dictionary is one."""

    def get(self, uri: str, /) -> NDArray[np.uint8] | None:
        """Return a picture that is there."""
        ...

    def setdefault(self, uri: str, picture: NDArray[np.uint8], /) -> NDArray[np.uint8]:
        """Keep a picture, unless another one came first; return the one that is kept."""
        ...



@dataclass(frozen=True, eq=False)
class Primitive:
    """Triangles of one material, in glTF axes (Y up), with the node transforms applied.

    `positions` (N, 3) float64 metres; `normals` (N, 3) or None; `uvs` (N, 2) as glTF has
    them (origin at the top left) or None; `faces` (M, 3) uint32; `texture` (H, W, 3) uint8;
    `emission` with `uvs` like them; `features` from EXT_mesh_features or `_BATCHID`.
    """

    positions: NDArray[np.float64]
    normals: NDArray[np.float64] | None
    uvs: NDArray[np.float64] | None
    faces: NDArray[np.uint32]
    texture: NDArray[np.uint8] | None
    color: tuple[float, float, float, float]
    unlit: bool
    emission: Emission | None
    features: Features | None


@dataclass(frozen=True, eq=False)
class Scene:
    """The default scene of a glTF, its lamps in the axes of its primitives.

    `center` (3,) metres is CESIUM_RTC's, added in the axes of the tile (Z up), zero where
    there is none. `warnings` has a line for each part that was left out; `damaged` are the URIs
    of files beside it that could not be read.
    """

    primitives: tuple[Primitive, ...]
    lamps: tuple[Lamp, ...]
    center: NDArray[np.float64]
    warnings: tuple[str, ...]
    damaged: tuple[str, ...]


def decode_gltf(
    data: bytes, name: str = 'gltf', resolve: Resolver | None = None,
    pictures: Pictures | None = None, batches: Table | None = None,
) -> Scene:
    """Return the triangles of the default scene of a glTF 2.0, binary or JSON.

    `name` is what errors call it; `resolve` fetches what a URI inside points to; `pictures`
    keeps what it has decoded of those, for documents that share files; `batches` is the batch
    table of a b3dm around it. Points and lines are left out. A primitive, a texture or features
    that cannot be used cost that part only.

    Raises:
        TilesError: damaged as a whole, or a required extension that is not supported.
    """
    with telling_damage(name, 'a complete glTF 2.0'):
        return GltfReader(data, name, resolve, pictures, batches).scene()


def decode_glb(
    data: bytes, name: str = 'glb', resolve: Resolver | None = None,
    pictures: Pictures | None = None,
) -> list[Primitive]:
    """Return the triangle primitives of a glTF 2.0 of which every part can be used.

    Raises:
        TilesError: as `decode_gltf`, and for the first part that cannot be used.
    """
    scene = decode_gltf(data, name, resolve, pictures)
    if scene.warnings:
        raise TilesError(scene.warnings[0])
    return list(scene.primitives)


class GltfReader:
    """One glTF being read."""

    def __init__(
        self, data: bytes, name: str, resolve: Resolver | None, pictures: Pictures | None,
        batches: Table | None = None,
    ) -> None:
        self._name = name
        self._resolve = resolve
        self._pictures: Pictures = {} if pictures is None else pictures
        self._json, binary = split_glb(data, name)
        version = str(self._json.get('asset', {}).get('version', '2.0'))
        if version.split('.')[0] != '2':
            raise TilesError(f'{name}: glTF version {version}, expected 2.0')
        unknown = set(self._json.get('extensionsRequired', [])) - SUPPORTED_EXTENSIONS
        if unknown:
            raise TilesError(
                f'{name}: requires {", ".join(sorted(unknown))}, expected only '
                f'{", ".join(sorted(SUPPORTED_EXTENSIONS))}'
            )
        self._buffers = Buffers(self._json, binary, name, self._fetch_buffer)
        self._pixels = Budget(name, 'pixels', MAX_PIXELS)
        self._nodes = Budget(name, 'nodes', MAX_NODES)
        self._textures: dict[int, NDArray[np.uint8] | None] = {}
        self._batches = batches
        self._tables: dict[int, Table | None] = {}
        self._warnings: list[str] = []
        self._lamps: list[Lamp] = []
        self._damaged: list[str] = []

    def scene(self) -> Scene:
        """Return its default scene."""
        rtc = self._json.get('extensions', {}).get('CESIUM_RTC', {})
        center = np.asarray(rtc.get('center', (0.0, 0.0, 0.0)), np.float64)
        if center.shape != (3,) or not np.isfinite(center).all():
            raise TilesError(
                f'{self._name}: CESIUM_RTC center {rtc["center"]!r}, expected three numbers'
            )
        primitives = tuple(self._primitives())
        return Scene(primitives, tuple(self._lamps), center, tuple(self._warnings),
                     tuple(self._damaged))

    def _primitives(self) -> Iterator[Primitive]:
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
        self._nodes.spend(1)
        if depth > MAX_DEPTH:
            raise TilesError(
                f'{self._name}: node {index} is nested deeper than {MAX_DEPTH}, '
                'expected a tree of nodes'
            )
        node = self._json['nodes'][index]
        matrix = parent @ node_matrix(node)
        if not np.isfinite(matrix).all():
            raise TilesError(f'{self._name}: the transform of node {index} is not finite')
        if 'KHR_lights_punctual' in node.get('extensions', {}):
            name = f'{self._name}: light of node {index}'
            self._usable(
                name, 'one of KHR_lights_punctual', self._add_lamp, node, matrix[:3, 3], name
            )
        if 'mesh' in node:
            for number, primitive in enumerate(self._json['meshes'][node['mesh']]['primitives']):
                if primitive.get('mode', _TRIANGLES) not in DRAWN:
                    continue
                name = f'{self._name}: primitive {number} of mesh {node["mesh"]}'
                part = self._usable(
                    name, 'the arrays of a glTF 2.0', self._primitive, primitive, matrix, name
                )
                if part is not None:
                    yield part
        for child in node.get('children', []):
            yield from self._node(child, matrix, depth + 1)

    def _usable(
        self, name: str, expected: str, read: Callable[..., _Part], *arguments: Any
    ) -> _Part | None:
        """Return what is read, None (and a warning) where the data is damaged."""
        try:
            with telling_damage(name, expected):
                return read(*arguments)
        except TilesError as error:
            self._warnings.append(str(error))
            return None

    def _add_lamp(self, node: dict[str, Any], position: NDArray, name: str) -> None:
        """Add the light of a node if it has a place; one that shines from nowhere is no lamp."""
        index = node['extensions']['KHR_lights_punctual']['light']
        light = self._json['extensions']['KHR_lights_punctual']['lights'][index]
        if light['type'] == 'directional':
            return
        red, green, blue = (float(part) for part in light.get('color', (1.0, 1.0, 1.0)))
        intensity = float(light.get('intensity', 1.0))
        reach = float(light.get('range', math.inf))
        if not (np.isfinite((red, green, blue, intensity)).all() and intensity >= 0 and reach > 0):
            raise TilesError(f'{name}: color {red, green, blue}, intensity {intensity}, '
                             f'range {reach}, expected positive numbers')
        x, y, z = (float(part) for part in position)
        self._lamps.append(Lamp((x, y, z), (red, green, blue), intensity, reach))

    def _primitive(self, primitive: dict[str, Any], matrix: NDArray, name: str) -> Primitive:
        material = {}
        if 'material' in primitive:
            material = self._json['materials'][primitive['material']]
        surface = material.get('pbrMetallicRoughness', {})
        color_texture = surface.get('baseColorTexture')
        glow_texture = material.get('emissiveTexture')
        attribute, positions, faces = self._arrays(primitive, name)
        normals = attribute('NORMAL')
        sets = _uv_set(color_texture), _uv_set(glow_texture)
        uv_sets = {number: attribute(f'TEXCOORD_{number}') for number in set(sets)}
        uvs, glow_uvs = (uv_sets[number] for number in sets)
        count = len(positions)
        if positions.shape[1:] != (3,) or not np.isfinite(positions).all():
            raise TilesError(f'{name}: a position is not finite, expected metres, three each')
        if faces.size and int(faces.max()) >= count:
            raise TilesError(f'{name}: index {int(faces.max())}, expected below {count}')
        if normals is not None and (
            normals.shape != (count, 3) or not np.isfinite(normals).all()
        ):
            normals = None
        uvs = _placed(uvs, count, color_texture)
        linear = matrix[:3, :3]
        if np.linalg.det(linear) < 0:
            faces = faces[:, ::-1]
        color = tuple(float(c) for c in surface.get('baseColorFactor', WHITE))
        if len(color) != 4 or not np.isfinite(color).all():
            raise TilesError(f'{name}: baseColorFactor {color}, expected four numbers')
        return Primitive(
            positions=positions @ linear.T + matrix[:3, 3],
            normals=None if normals is None else normals @ np.linalg.pinv(linear),
            uvs=uvs,
            faces=np.ascontiguousarray(faces, np.uint32),
            texture=None if color_texture is None else self._texture(color_texture['index']),
            color=color,
            unlit='KHR_materials_unlit' in material.get('extensions', {}),
            emission=self._emission(material, _placed(glow_uvs, count, glow_texture), name),
            features=self._usable(f'{name}: features', 'those of EXT_mesh_features',
                                  self._features, primitive, attribute, count, name),
        )

    def _emission(
        self, material: dict[str, Any], uvs: NDArray | None, name: str
    ) -> Emission | None:
        """Return what a material gives off; an unlit one has no such term."""
        extensions = material.get('extensions', {})
        strength = extensions.get('KHR_materials_emissive_strength', {}).get(
            'emissiveStrength', 1.0
        )
        factor = np.array(material.get('emissiveFactor', (0.0, 0.0, 0.0)), np.float64) * strength
        if factor.shape != (3,) or not np.isfinite(factor).all():
            raise TilesError(f'{name}: emissiveFactor {factor.tolist()}, expected three numbers')
        if 'KHR_materials_unlit' in extensions or not factor.any():
            return None
        texture = None
        if 'emissiveTexture' in material:
            texture = self._texture(material['emissiveTexture']['index'])
            if texture is None:
                return None
        red, green, blue = factor.tolist()
        return Emission((red, green, blue), texture, uvs)

    def _features(
        self, primitive: dict[str, Any], attribute: Attributes, count: int, name: str
    ) -> Features | None:
        """Return its first set of feature ids, unless it is a texture or has no table."""
        table, null = self._batches, None
        sets = primitive.get('extensions', {}).get('EXT_mesh_features', {}).get('featureIds')
        if not sets:
            # Files from before 1.0 have the attribute without the underscore.
            key = '_BATCHID' if '_BATCHID' in primitive['attributes'] else 'BATCHID'
            ids = None if table is None else attribute(key)
        elif 'texture' in sets[0] or 'propertyTable' not in sets[0]:
            return None
        else:
            table, null = self._table(sets[0]['propertyTable']), sets[0].get('nullFeatureId')
            ids = np.arange(count, dtype=np.float64)
            if 'attribute' in sets[0]:
                key = f'_FEATURE_ID_{sets[0]["attribute"]}'
                ids = attribute(key)
                if ids is None:
                    raise TilesError(f'{name}: no attribute {key}, expected one')
        if table is None or ids is None:
            return None
        ids = ids.reshape(-1)
        if null not in (None, len(table)):
            ids = np.where(ids == null, len(table), ids)
        low, high = ids.min(initial=0), ids.max(initial=0)
        if len(ids) != count or not (low == 0 and high <= len(table)):
            raise TilesError(f'{name}: {len(ids)} feature ids from {low:g} to {high:g}, expected '
                             f'{count} from 0 to {len(table) - 1}')
        return Features(ids.astype(np.uint32), table)

    def _table(self, index: int) -> Table | None:
        if index not in self._tables:
            entry = self._json['extensions']['EXT_structural_metadata']['propertyTables'][index]
            name = f'{self._name}: property table {index}'
            self._tables[index] = self._usable(
                name, 'one of EXT_structural_metadata', property_table, entry,
                self._buffers.view, name,
            )
        return self._tables[index]

    def _arrays(
        self, primitive: dict[str, Any], name: str
    ) -> tuple[Attributes, NDArray, NDArray]:
        """Return the attributes of a primitive by their names, its positions and faces."""
        attributes = primitive['attributes']
        draco = primitive.get('extensions', {}).get('KHR_draco_mesh_compression')
        if draco is not None:
            self._buffers.expect(attributes['POSITION'])
            mesh = _decode_draco(self._buffers.view(draco['bufferView']), name)
            by_id = {entry['unique_id']: entry['data'] for entry in mesh.attributes}
            coded = {key: by_id[value] for key, value in draco['attributes'].items()}

            def attribute(key: str) -> NDArray | None:
                if key not in coded:
                    return None
                values = np.asarray(coded[key])
                return self._buffers.scaled(values, self._json['accessors'][attributes[key]])

            indices: NDArray | None = np.asarray(mesh.faces).reshape(-1)
            mode = _TRIANGLES
        else:

            def attribute(key: str) -> NDArray | None:
                return self._buffers.accessor(attributes[key]) if key in attributes else None

            indices = None
            mode = primitive.get('mode', _TRIANGLES)
        positions = attribute('POSITION')
        if positions is None:
            raise TilesError(f'{name}: no POSITION, expected one')
        if indices is None:
            indices = np.arange(len(positions))
            if 'indices' in primitive:
                indices = self._buffers.indices(primitive['indices'])
        return attribute, positions, _triangles(indices, mode)

    def _fetch(self, uri: str) -> bytes:
        if uri.startswith('data:'):
            return data_uri(uri)
        if self._resolve is None:
            raise TilesError(f'{self._name}: refers to {uri!r}, expected everything inside')
        return self._resolve(uri)

    def _fetch_buffer(self, uri: str, least: int) -> bytes:
        data = self._fetch(uri)
        if len(data) < least:
            self._damaged.append(uri)
            raise TilesError(
                f'{self._name}: buffer {uri[:80]!r} has {len(data)} bytes, expected {least}')
        return data

    def _texture(self, index: int) -> NDArray[np.uint8] | None:
        """Return the picture of a texture, None (and a warning) where it cannot be used."""
        if index not in self._textures:
            name = f'{self._name}: texture {index}'
            self._textures[index] = self._usable(name, 'a picture', self._picture, index, name)
        return self._textures[index]

    def _picture(self, index: int, name: str) -> NDArray[np.uint8]:
        texture = self._json['textures'][index]
        extensions = texture.get('extensions', {})
        for key in ('KHR_texture_basisu', 'EXT_texture_webp'):
            if key in extensions:
                source = extensions[key]['source']
                break
        else:
            source = texture.get('source')
        if source is None:
            kinds = ', '.join(sorted(extensions)) or 'no source'
            raise TilesError(f'{name}: has {kinds}, expected JPEG, PNG, WebP or KTX 2')
        image = self._json['images'][source]
        if 'bufferView' in image:
            return decode_image(self._buffers.view(image['bufferView']), name, self._pixels)
        uri: str = image['uri']
        if uri.startswith('data:'):
            return decode_image(self._fetch(uri), name, self._pixels)
        pixels = self._pictures.get(uri)
        if pixels is None:
            data = self._fetch(uri)
            try:
                pixels = decode_image(data, name, self._pixels)
            except TilesError:
                self._damaged.append(uri)
                raise
            pixels = self._pictures.setdefault(uri, pixels)
        return pixels


def _decode_draco(data: bytes, name: str) -> Any:
    try:
        return DracoPy.decode(data)
    except (DracoPy.FileTypeException, DracoPy.EncodingFailedException, ValueError) as error:
        raise TilesError(f'{name}: damaged Draco data, expected a mesh') from error


def _uv_set(texture: dict[str, Any] | None) -> int:
    if texture is None:
        return 0
    moved = texture.get('extensions', {}).get('KHR_texture_transform', {})
    return moved.get('texCoord', texture.get('texCoord', 0))


def _placed(
    uvs: NDArray | None, count: int, texture: dict[str, Any] | None
) -> NDArray[np.float64] | None:
    """Return the UVs of a texture, KHR_texture_transform applied: scale, rotation, offset."""
    if uvs is None or uvs.shape != (count, 2) or not np.isfinite(uvs).all():
        return None
    moved = (texture or {}).get('extensions', {}).get('KHR_texture_transform')
    if moved is None:
        return uvs
    angle = moved.get('rotation', 0.0)
    cos, sin = np.cos(angle), np.sin(angle)
    rotation = np.array([[cos, sin], [-sin, cos]])
    scaled = uvs * np.asarray(moved.get('scale', (1.0, 1.0)))
    return scaled @ rotation.T + np.asarray(moved.get('offset', (0.0, 0.0)))


def node_matrix(node: dict[str, Any]) -> NDArray[np.float64]:
    """Return the transform (4, 4) of a node to its parent."""
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
