# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A rigged glTF made here: a trunk on two legs that swing, for tests of avatars."""

from io import BytesIO
import json
import struct

import numpy as np
from PIL import Image

HIP = 0.9
FOOT = 0.2


class Glb:
    """A binary glTF that grows."""

    def __init__(self):
        self.binary = b''
        self.json = {'asset': {'version': '2.0'}, 'bufferViews': [], 'accessors': []}

    def view(self, data):
        self.binary += b'\0' * (-len(self.binary) % 4)
        self.json['bufferViews'].append(
            {'buffer': 0, 'byteOffset': len(self.binary), 'byteLength': len(data)})
        self.binary += data
        return len(self.json['bufferViews']) - 1

    def add(self, values, dtype, kind):
        values = np.asarray(values, dtype)
        code = {'f4': 5126, 'u1': 5121, 'u2': 5123}[dtype]
        self.json['accessors'].append({
            'bufferView': self.view(values.tobytes()), 'componentType': code,
            'count': len(values), 'type': kind})
        return len(self.json['accessors']) - 1

    def encode(self):
        self.json['buffers'] = [{'byteLength': len(self.binary)}]
        text = json.dumps(self.json).encode()
        text += b' ' * (-len(text) % 4)
        binary = self.binary + b'\0' * (-len(self.binary) % 4)
        return b''.join([
            struct.pack('<4sII', b'glTF', 2, 28 + len(text) + len(binary)),
            struct.pack('<II', len(text), 0x4E4F534A), text,
            struct.pack('<II', len(binary), 0x004E4942), binary])


def box(low, high):
    """Corners (8, 3) and faces (12, 3)."""
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1])
                        for z in (low[2], high[2])], float)
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7],
             [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    return corners, np.array(faces)


def around_x(angle):
    return [np.sin(angle / 2), 0.0, 0.0, np.cos(angle / 2)]


def walker(swing=0.4, *, clips=('Walk',), color=(200, 30, 30), joint=2, speed=1.0):
    """A glTF, 1.8 m tall and facing +Z, whose legs swing by an angle (rad) either way.

    `joint` is the number that the right leg names, of three. It moves ahead as it walks.
    """
    glb = Glb()
    parts = [((-0.2, HIP, -0.12), (0.2, 1.8, 0.12)),
             ((0.02, 0.0, -FOOT / 2), (0.18, HIP, FOOT / 2)),
             ((-0.18, 0.0, -FOOT / 2), (-0.02, HIP, FOOT / 2))]
    corners, faces = zip(*(box(*part) for part in parts), strict=True)
    joints = np.zeros((24, 4))
    joints[:, 0] = np.repeat([0, 1, joint], 8)
    weights = np.tile([2.0, 0.0, 0.0, 0.0], (24, 1))
    binds = np.tile(np.eye(4), (3, 1, 1))
    binds[1:, 1, 3] = -HIP
    picture = BytesIO()
    Image.new('RGB', (1024, 16), color).save(picture, 'PNG')
    glb.json |= {
        'scenes': [{'nodes': [0]}],
        'nodes': [
            {'mesh': 0, 'skin': 0}, {'children': [2, 3]},
            {'translation': [0.0, HIP, 0.0]}, {'translation': [0.0, HIP, 0.0]}],
        'meshes': [{'primitives': [{'attributes': {
            'POSITION': glb.add(np.concatenate(corners), 'f4', 'VEC3'),
            'TEXCOORD_0': glb.add(np.full((24, 2), 0.5), 'f4', 'VEC2'),
            'JOINTS_0': glb.add(joints, 'u1', 'VEC4'),
            'WEIGHTS_0': glb.add(weights, 'f4', 'VEC4')}, 'material': 0,
            'indices': glb.add(np.concatenate([faces[k] + 8 * k for k in range(3)]).ravel(),
                               'u2', 'SCALAR')}]}],
        'materials': [{'pbrMetallicRoughness': {'baseColorTexture': {'index': 0}}}],
        'textures': [{'source': 0}],
        'images': [{'mimeType': 'image/png', 'bufferView': glb.view(picture.getvalue())}],
        'skins': [{'joints': [1, 2, 3], 'inverseBindMatrices': glb.add(
            binds.transpose(0, 2, 1).reshape(-1, 16), 'f4', 'MAT4')}],
        'animations': []}
    times = glb.add([0.0, 0.25, 0.75, 1.0], 'f4', 'SCALAR')
    angles = np.array([0.0, swing, -swing, 0.0])
    outputs = [glb.add([around_x(side * angle) for angle in angles], 'f4', 'VEC4')
               for side in (1, -1)]
    root = glb.add([[0.0, 0.0, speed * t] for t in (0.0, 0.25, 0.75, 1.0)], 'f4', 'VEC3')
    for clip in clips:
        glb.json['animations'].append({
            'name': clip,
            'channels': [{'sampler': 0, 'target': {'node': 2, 'path': 'rotation'}},
                         {'sampler': 1, 'target': {'node': 3, 'path': 'rotation'}},
                         {'sampler': 2, 'target': {'node': 1, 'path': 'translation'}}],
            'samplers': [{'input': times, 'output': output} for output in (*outputs, root)]})
    return glb
