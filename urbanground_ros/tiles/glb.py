# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Binary glTF 2.0, the container: takes it apart, and writes meshes to it.

Source: Khronos glTF 2.0 specification (ISO/IEC 12113:2022), GLB file format.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from io import BytesIO
import json
import math
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from urbanground_ros.tiles.buffers import COMPONENTS
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.limits import MAX_JSON
from urbanground_ros.tiles.mesh import Features
from urbanground_ros.tiles.mesh import flip_v
from urbanground_ros.tiles.mesh import Instance
from urbanground_ros.tiles.mesh import Lamp
from urbanground_ros.tiles.mesh import TileMesh
from urbanground_ros.tiles.mesh import WHITE

_JSON_CHUNK = 0x4E4F534A
_BIN_CHUNK = 0x004E4942
# Targets of buffer views.
_VERTICES, _INDICES = 34962, 34963


def split_glb(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    """Return the JSON and the binary chunk of a glTF; a glTF that is all JSON has no chunk.

    Raises:
        TilesError: neither, another version, or shorter than its header says.
    """
    if data[:4] != b'glTF':
        if data.lstrip()[:1] != b'{':
            raise TilesError(
                f'{name}: starts with {data[:4]!r}, expected a binary glTF (b"glTF")'
            )
        document = _document(data, name)
        if 'asset' not in document:
            raise TilesError(f'{name}: JSON without asset, expected a glTF or a tileset')
        return document, b''
    if len(data) < 20:
        raise TilesError(f'{name}: {len(data)} bytes, expected a binary glTF of 20 or more')
    version, length = struct.unpack_from('<II', data, 4)
    if version != 2:
        raise TilesError(f'{name}: glTF version {version}, expected 2')
    if length > len(data):
        raise TilesError(f'{name}: {len(data)} bytes, expected {length} as its header says')
    size, kind = struct.unpack_from('<II', data, 12)
    if kind != _JSON_CHUNK:
        raise TilesError(f'{name}: first chunk has type {kind:#x}, expected JSON')
    if 20 + size > length:
        raise TilesError(f'{name}: JSON of {size} bytes, expected within the {length} of the file')
    document = _document(data[20:20 + size], name)
    start = 20 + size + (-size % 4)
    if start + 8 > length:
        return document, b''
    size, kind = struct.unpack_from('<II', data, start)
    return document, data[start + 8:start + 8 + size] if kind == _BIN_CHUNK else b''


def _document(data: bytes, name: str) -> dict[str, Any]:
    if len(data) > MAX_JSON:
        raise TilesError(f'{name}: JSON of {len(data)} bytes, expected {MAX_JSON} at most')
    document = json.loads(data)
    if not isinstance(document, dict):
        raise TilesError(f'{name}: its JSON is a {type(document).__name__}, expected an object')
    return document


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
        self._tables: dict[int, int] = {}

    def _view(self, data: bytes, target: int | None = None) -> int:
        self._binary.extend(b'\0' * (-len(self._binary) % 4))
        view = {'buffer': 0, 'byteOffset': len(self._binary), 'byteLength': len(data)}
        if target is not None:
            view['target'] = target
        self._binary.extend(data)
        self._json['bufferViews'].append(view)
        return len(self._json['bufferViews']) - 1

    def _accessor(
        self, values: NDArray, kind: str, target: int = _VERTICES, bounds: bool = False
    ) -> int:
        components = {np.dtype(code): number for number, code in COMPONENTS.items()}
        accessor: dict[str, Any] = {
            'bufferView': self._view(values.tobytes(), target),
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
        if mesh.color != WHITE:
            surface['baseColorFactor'] = list(mesh.color)
        if mesh.texture is not None:
            surface['baseColorTexture'] = {'index': self._texture(mesh.texture)}
        material: dict[str, Any] = {'name': mesh.name, 'pbrMetallicRoughness': surface}
        if mesh.unlit:
            material['extensions'] = {'KHR_materials_unlit': {}}
            self._use('KHR_materials_unlit')
        attributes = {
            'POSITION': self._accessor(_y_up(mesh.positions), 'VEC3', bounds=True),
            'NORMAL': self._accessor(_y_up(mesh.normals), 'VEC3'),
        }
        if mesh.uvs is not None:
            attributes['TEXCOORD_0'] = self._accessor(flip_v(mesh.uvs), 'VEC2')
        emission = mesh.emission
        if emission is not None:
            material['emissiveFactor'] = list(emission.factor)
            if emission.texture is not None:
                glow = {'index': self._texture(emission.texture)}
                if emission.uvs is not None:
                    glow['texCoord'] = 1
                    attributes['TEXCOORD_1'] = self._accessor(flip_v(emission.uvs), 'VEC2')
                material['emissiveTexture'] = glow
        small = len(mesh.positions) <= 0xFFFF
        indices = mesh.faces.astype('<u2' if small else '<u4').reshape(-1)
        primitive: dict[str, Any] = {
            'attributes': attributes,
            'indices': self._accessor(indices, 'SCALAR', _INDICES),
            'material': len(self._json['materials']),
        }
        if mesh.features is not None:
            primitive['extensions'] = self._add_features(mesh.features, attributes)
        self._json['materials'].append(material)
        self._json['meshes'].append({'name': mesh.name, 'primitives': [primitive]})
        self._json['nodes'].append({'name': mesh.name, 'mesh': len(self._json['meshes']) - 1})
        self._json['scenes'][0]['nodes'].append(len(self._json['nodes']) - 1)
        for lamp in mesh.lamps:
            self._add_lamp(lamp)

    def _add_features(
        self, features: Features, attributes: dict[str, int]
    ) -> dict[str, Any]:
        """Add the ids to a primitive's attributes and return its extension."""
        # Of what a vertex attribute may be, numbers beyond 65535 fit into floats only.
        attributes['_FEATURE_ID_0'] = self._accessor(features.ids.astype('<f4'), 'SCALAR')
        used = np.unique(features.ids)
        self._use('EXT_mesh_features')
        return {'EXT_mesh_features': {'featureIds': [{
            'featureCount': int((used < len(features.table)).sum()),
            'nullFeatureId': len(features.table),
            'attribute': 0,
            'propertyTable': self._table(features.table),
        }]}}

    def _table(self, table: tuple[Instance, ...]) -> int:
        if id(table) not in self._tables:
            properties = {}
            for key in Instance._fields:
                column = [getattr(row, key).encode() for row in table]
                offsets = np.cumsum([0, *map(len, column)]).astype('<u4')
                properties[key] = {
                    # No buffer view may be empty.
                    'values': self._view(b''.join(column) or b'\0'),
                    'stringOffsets': self._view(offsets.tobytes()),
                }
            self._use('EXT_structural_metadata')
            strings = {key: {'type': 'STRING', 'required': True} for key in Instance._fields}
            metadata = self._json.setdefault('extensions', {}).setdefault(
                'EXT_structural_metadata', {
                    'schema': {'id': 'instances',
                               'classes': {'instance': {'properties': strings}}},
                    'propertyTables': [],
                })
            metadata['propertyTables'].append(
                {'class': 'instance', 'count': len(table), 'properties': properties})
            self._tables[id(table)] = len(metadata['propertyTables']) - 1
        return self._tables[id(table)]

    def _add_lamp(self, lamp: Lamp) -> None:
        light = {'type': 'point', 'color': list(lamp.color), 'intensity': lamp.intensity}
        if math.isfinite(lamp.reach):
            light['range'] = lamp.reach
        self._use('KHR_lights_punctual')
        lights = self._json.setdefault('extensions', {}).setdefault(
            'KHR_lights_punctual', {'lights': []})['lights']
        if light not in lights:
            lights.append(light)
        self._json['nodes'].append({
            'translation': _y_up(np.array([lamp.position]))[0].tolist(),
            'extensions': {'KHR_lights_punctual': {'light': lights.index(light)}},
        })
        self._json['scenes'][0]['nodes'].append(len(self._json['nodes']) - 1)

    def _use(self, extension: str) -> None:
        used = self._json.setdefault('extensionsUsed', [])
        if extension not in used:
            used.append(extension)

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
