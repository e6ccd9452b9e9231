# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rigged glTF 2.0: meshes on skeletons, in the poses of their animations.

Source: Khronos glTF 2.0 specification (ISO/IEC 12113:2022), skins and animations. Morph targets
are left out, and cubic splines are read as the straight lines between their points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.tiles.errors import telling_damage
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.gltf import DRAWN
from urbanground_ros.tiles.gltf import GltfReader
from urbanground_ros.tiles.gltf import node_matrix
from urbanground_ros.tiles.gltf import Primitive
from urbanground_ros.tiles.gltf import Resolver
from urbanground_ros.tiles.mesh import unit
from urbanground_ros.tiles.mesh import vertex_normals

FloatArray = NDArray[np.float64]

_WIDTHS = {'translation': 3, 'rotation': 4, 'scale': 3}


@dataclass(frozen=True, eq=False)
class SkinnedPart:
    """A primitive as it is bound, and the nodes that move it.

    `nodes` (J,) are those of its joints, `inverse_binds` (J, 4, 4) take vertices to their axes;
    `joints` (N, K) are indices into both, `weights` (N, K) add up to one.
    """

    primitive: Primitive
    nodes: NDArray[np.intp]
    inverse_binds: FloatArray
    joints: NDArray[np.intp]
    weights: FloatArray

    def posed(self, places: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions and normals, (N, 3) each, with the nodes at `places` (M, 4, 4)."""
        moves = (places[self.nodes] @ self.inverse_binds)[:, :3]
        blend = np.einsum('nk,nkij->nij', self.weights, moves[self.joints])
        own = self.primitive
        positions = np.einsum('nij,nj->ni', blend[..., :3], own.positions) + blend[..., 3]
        if own.normals is None:
            return positions, vertex_normals(positions, own.faces)
        return positions, unit(np.einsum('nij,nj->ni', blend[..., :3], own.normals))


@dataclass(frozen=True, eq=False)
class Channel:
    """What an animation does to a node: a `path` of glTF, with times (T,) and values (T, C)."""

    node: int
    path: str
    times: FloatArray
    values: FloatArray
    stepped: bool

    def at(self, time: float) -> FloatArray:
        """Return the value at a time, in seconds; the first or the last one beyond the ends."""
        after = int(np.searchsorted(self.times, time, side='right'))
        before = max(0, after - 1)
        after = min(after, len(self.times) - 1)
        if after == before or self.stepped:
            return self.values[before]
        share = (time - self.times[before]) / (self.times[after] - self.times[before])
        start, end = self.values[before], self.values[after]
        if self.path == 'rotation' and start @ end < 0:
            end = -end
        mixed: FloatArray = start + (end - start) * max(0.0, share)
        return mixed / np.linalg.norm(mixed) if self.path == 'rotation' else mixed


@dataclass(frozen=True, eq=False)
class Animation:
    """Channels that play together for `duration` seconds."""

    name: str
    channels: tuple[Channel, ...]

    @property
    def duration(self) -> float:
        """How long it lasts, in seconds."""
        return max((float(channel.times[-1]) for channel in self.channels), default=0.0)


class Rig:
    """A rigged model, in glTF axes (Y up, facing +Z), metres.

    Attributes:
        parts: What is drawn.
        animations: What it can do.
        warnings: A line for each part that was left out.
    """

    def __init__(self, nodes: list[dict[str, Any]], order: list[tuple[int, int]],
                 parts: tuple[SkinnedPart, ...], animations: tuple[Animation, ...],
                 warnings: tuple[str, ...]) -> None:
        """Take nodes as glTF has them, and (node, parent or -1) in an order to place them in."""
        self._nodes = nodes
        self._order = order
        self.parts = parts
        self.animations = animations
        self.warnings = warnings

    def pose(self, animation: Animation | None = None,
             time: float = 0.0) -> list[tuple[FloatArray, FloatArray]]:
        """Return positions and normals (N, 3) of each part at a time of an animation.

        Without one it is the pose that the file has its nodes in.
        """
        changes: dict[int, dict[str, FloatArray]] = {}
        for channel in animation.channels if animation is not None else ():
            changes.setdefault(channel.node, {})[channel.path] = channel.at(time)
        places = np.tile(np.eye(4), (len(self._nodes), 1, 1))
        for index, parent in self._order:
            node = self._nodes[index]
            if index in changes:
                node = {**{key: value for key, value in node.items() if key != 'matrix'},
                        **changes[index]}
            local = node_matrix(node)
            places[index] = local if parent < 0 else places[parent] @ local
        return [part.posed(places) for part in self.parts]


def decode_rigged(data: bytes, name: str = 'gltf', resolve: Resolver | None = None) -> Rig:
    """Return the model in a glTF 2.0, binary or JSON; what has no skin moves with its node.

    Raises:
        TilesError: damaged, or without anything to draw.
    """
    with telling_damage(name, 'a complete rigged glTF 2.0'):
        return _RigReader(data, name, resolve, None).rig()


class _RigReader(GltfReader):
    """One rigged glTF being read."""

    def rig(self) -> Rig:
        nodes = self._json.get('nodes', [])
        self._nodes.spend(len(nodes))
        order = self._order(nodes)
        parts: list[SkinnedPart] = []
        for index, _ in order:
            node = nodes[index]
            if 'mesh' not in node:
                continue
            for number, primitive in enumerate(self._json['meshes'][node['mesh']]['primitives']):
                if primitive.get('mode', DRAWN[0]) not in DRAWN:
                    continue
                name = f'{self._name}: primitive {number} of mesh {node["mesh"]}'
                try:
                    with telling_damage(name, 'the arrays of a rigged glTF 2.0'):
                        parts.append(self._part(primitive, index, node.get('skin'), name))
                except TilesError as error:
                    self._warnings.append(str(error))
        if not parts:
            why = f' ({self._warnings[0]})' if self._warnings else ''
            raise TilesError(f'{self._name}: nothing to draw{why}, expected triangles')
        animations = tuple(self._animation(each) for each in self._json.get('animations', []))
        found = Rig(nodes, order, tuple(parts), animations, tuple(self._warnings))
        found.pose()  # a node that cannot be placed is told now
        return found

    def _order(self, nodes: list[dict[str, Any]]) -> list[tuple[int, int]]:
        """Return (node, parent or -1), parents before their children."""
        children = {child for node in nodes for child in node.get('children', [])}
        order = [(index, -1) for index in range(len(nodes)) if index not in children]
        for index, _ in order:
            order += [(child, index) for child in nodes[index].get('children', [])]
            if len(order) > len(nodes):
                break
        if len({index for index, _ in order}) != len(nodes) or len(order) != len(nodes):
            raise TilesError(f'{self._name}: its nodes are no trees')
        return order

    def _part(self, primitive: dict[str, Any], node: int, skin: int | None,
              name: str) -> SkinnedPart:
        own = self._primitive(primitive, np.eye(4), name)
        count = len(own.positions)
        attributes = primitive['attributes']
        sets = [n for n in range(len(attributes)) if f'JOINTS_{n}' in attributes]
        if skin is None or not sets:
            return SkinnedPart(own, np.array([node]), np.eye(4)[None],
                               np.zeros((count, 1), np.intp), np.ones((count, 1)))
        joints, weights = (
            np.concatenate([self._buffers.accessor(attributes[f'{what}_{n}']) for n in sets], 1)
            for what in ('JOINTS', 'WEIGHTS'))
        bound = self._json['skins'][skin]
        nodes = np.array(bound['joints'], np.intp)
        count_of_nodes = len(self._json['nodes'])
        if nodes.min(initial=0) < 0 or nodes.max(initial=0) >= count_of_nodes:
            raise TilesError(f'{name}: joints {", ".join(map(str, nodes))}, expected some of '
                             f'{count_of_nodes} nodes')
        binds = np.tile(np.eye(4), (len(nodes), 1, 1))
        if 'inverseBindMatrices' in bound:
            binds = self._buffers.accessor(bound['inverseBindMatrices']).reshape(-1, 4, 4)
            binds = binds.transpose(0, 2, 1)
        if not len(joints) == len(weights) == count or len(binds) < len(nodes) \
                or joints.max(initial=0) >= len(nodes) or not np.isfinite(weights).all() \
                or not np.isfinite(binds).all():
            raise TilesError(f'{name}: joints and weights that do not fit, expected some of '
                             f'{len(nodes)} joints for each of {count} vertices')
        total = weights.sum(axis=1, keepdims=True)
        weights = np.where(total > 0, weights / np.where(total > 0, total, 1.0),
                           np.eye(1, weights.shape[1]))
        return SkinnedPart(own, nodes, binds[:len(nodes)], joints.astype(np.intp), weights)

    def _animation(self, animation: dict[str, Any]) -> Animation:
        channels = []
        for channel in animation['channels']:
            target = channel['target']
            if 'node' not in target or target['path'] == 'weights':
                continue
            node, path = target['node'], target['path']
            sampler = animation['samplers'][channel['sampler']]
            times = self._buffers.accessor(sampler['input'])[:, 0]
            values = self._buffers.accessor(sampler['output'])
            kind = sampler.get('interpolation', 'LINEAR')
            if kind == 'CUBICSPLINE':
                values = values[1::3]
            if len(times) == 0 or len(values) != len(times) or np.any(np.diff(times) <= 0) \
                    or not np.isfinite(values).all():
                raise TilesError(f'{self._name}: animation {animation.get("name", "")!r} has '
                                 f'{len(values)} values at {len(times)} times, expected one at '
                                 'each, in order')
            if not 0 <= node < len(self._json['nodes']) or values.shape[1] != _WIDTHS.get(path):
                raise TilesError(f'{self._name}: {values.shape[1]} numbers for {path} of node '
                                 f'{node}, expected {_WIDTHS} for one of '
                                 f'{len(self._json["nodes"])} nodes')
            channels.append(Channel(node, path, times, values, kind == 'STEP'))
        return Animation(str(animation.get('name', '')), tuple(channels))
