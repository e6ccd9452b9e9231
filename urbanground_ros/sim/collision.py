# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Static collision geometry on Bullet: the very triangles that are drawn, from both sides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from panda3d.bullet import BulletCapsuleShape
from panda3d.bullet import BulletRigidBodyNode
from panda3d.bullet import BulletTriangleMesh
from panda3d.bullet import BulletTriangleMeshShape
from panda3d.bullet import BulletWorld
from panda3d.bullet import ZUp
from panda3d.core import BitMask32
from panda3d.core import Geom
from panda3d.core import GeomTriangles
from panda3d.core import GeomVertexData
from panda3d.core import GeomVertexFormat
from panda3d.core import LVector3d
from panda3d.core import Point3
from panda3d.core import TransformState

if TYPE_CHECKING:
    from urbanground_ros.tiles import TileMesh

#: Triangles thinner than this area (m^2) have no usable normal and are left out.
MIN_TRIANGLE_AREA = 1e-8

#: Points on the axis of a capsule that stand for it where overlap is measured.
_AXIS_POINTS = 24
_EVERYTHING = BitMask32.allOn()


class Hit(NamedTuple):
    """Where a sweep or a ray first met a triangle.

    `fraction` of the way, from 0 to 1; `normal` has unit length and faces the mover; `point`
    is on the triangle, in metres in the map frame.
    """

    fraction: float
    normal: LVector3d
    point: LVector3d


class Capsule:
    """An upright capsule to ask the world about: `radius` and whole `height` in metres."""

    def __init__(self, radius: float, height: float) -> None:
        self.radius = radius
        self.height = height
        self.shape = BulletCapsuleShape(radius, height - 2.0 * radius, ZUp)


class _Solid(NamedTuple):
    """Bullet's shape of a mesh, its triangles (N, 3, 3), and their bounds (3,)."""

    shape: BulletTriangleMeshShape
    corners: np.ndarray
    low: np.ndarray
    high: np.ndarray


#: What was built for the meshes that are in use: worlds share it.
_solids: WeakKeyDictionary[TileMesh, _Solid | None] = WeakKeyDictionary()


class CollisionWorld:
    """Triangles that stand still, and the questions a body asks of them.

    All positions are in the map frame (ENU, metres). Bullet works in single precision, which
    at 2 km from the origin resolves a tenth of a millimetre. The same meshes added in the same
    order give the same answers.
    """

    def __init__(self, meshes: Iterable[TileMesh] = ()) -> None:
        """Have the triangles of some meshes."""
        self._world = BulletWorld()
        self._solids: list[_Solid] = []
        for mesh in meshes:
            self.add(mesh)

    def add(self, mesh: TileMesh) -> None:
        """Add the triangles of a mesh."""
        if mesh not in _solids:
            _solids[mesh] = _solid(mesh)
        solid = _solids[mesh]
        if solid is not None:
            body = BulletRigidBodyNode(mesh.name)
            body.addShape(solid.shape)
            self._world.attach(body)
            self._solids.append(solid)

    def sweep(self, capsule: Capsule, feet: LVector3d, motion: LVector3d) -> Hit | None:
        """Move a capsule that stands on `feet` along `motion`; return what stops it first."""
        lift = LVector3d(0, 0, capsule.height / 2)
        start = feet + lift
        result = self._world.sweepTestClosest(
            capsule.shape, TransformState.makePos(Point3(*start)),
            TransformState.makePos(Point3(*(start + motion))), _EVERYTHING, 0.0)
        if not result.hasHit():
            return None
        normal = LVector3d(*result.getHitNormal())
        if normal.dot(motion) > 0:
            normal = -normal
        return Hit(result.getHitFraction(), normal, LVector3d(*result.getHitPos()))

    def ray(self, start: LVector3d, end: LVector3d) -> Hit | None:
        """Return the first triangle between two points, or None."""
        result = self._world.rayTestClosest(Point3(*start), Point3(*end), _EVERYTHING)
        if not result.hasHit():
            return None
        normal = LVector3d(*result.getHitNormal())
        if normal.dot(end - start) > 0:
            normal = -normal
        return Hit(result.getHitFraction(), normal, LVector3d(*result.getHitPos()))

    def heights(self, x: float, y: float, top: float, bottom: float) -> list[float]:
        """Return the heights of all surfaces on a vertical line, lowest first."""
        result = self._world.rayTestAll(Point3(x, y, top), Point3(x, y, bottom), _EVERYTHING)
        return sorted(hit.getHitPos().z for hit in result.getHits())

    def overlaps(self, capsule: Capsule, feet: LVector3d) -> list[LVector3d]:
        """Return, for each triangle inside a capsule, the way out (direction times depth).

        A triangle that the axis itself crosses is left through its front. Exact geometry in
        numpy: Bullet's own contact test misses contacts of thin shapes.
        """
        low = np.array([feet.x, feet.y, feet.z + capsule.radius])
        axis = low + np.linspace([0, 0, 0], [0, 0, capsule.height - 2 * capsule.radius],
                                 _AXIS_POINTS)
        lower, upper = axis[0] - capsule.radius, axis[-1] + capsule.radius
        ways = []
        for _, corners, lowest, highest in self._solids:
            if np.any(lowest >= upper) or np.any(highest <= lower):
                continue
            near = np.all((corners.max(axis=1) > lower) & (corners.min(axis=1) < upper), axis=1)
            for triangle in corners[near].astype('f8'):
                away = axis - _closest_on_triangle(axis, triangle)
                distance = np.linalg.norm(away, axis=1)
                nearest = int(np.argmin(distance))
                depth = capsule.radius - distance[nearest]
                if depth <= 0:
                    continue
                out = away[nearest]
                if distance[nearest] < 1e-6:
                    out = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
                ways.append(LVector3d(*(out / np.linalg.norm(out) * depth)))
        return ways


def _solid(mesh: TileMesh) -> _Solid | None:
    """Return a mesh as something solid; None where no triangle is left."""
    positions = np.ascontiguousarray(mesh.positions, 'f4')
    corners = positions[mesh.faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0],
                                   corners[:, 2] - corners[:, 0]), axis=1) / 2
    solid = area > MIN_TRIANGLE_AREA
    if not solid.any():
        return None
    corners = corners[solid]
    return _Solid(_triangle_shape(positions, np.ascontiguousarray(mesh.faces[solid], 'u4')),
                  corners, corners.min(axis=(0, 1)), corners.max(axis=(0, 1)))


def _closest_on_triangle(points: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """Return the points (N, 3) of a triangle (3, 3) that are nearest to `points` (N, 3)."""
    a, b, c = triangle
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    foot = points - np.outer((points - a) @ normal, normal)
    inside = np.ones(len(points), bool)
    best = foot.copy()
    least = np.full(len(points), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        inside &= (foot - start) @ np.cross(normal, edge) >= 0
        along = np.clip((points - start) @ edge / (edge @ edge), 0.0, 1.0)
        on_edge = start + np.outer(along, edge)
        distance = np.linalg.norm(points - on_edge, axis=1)
        nearer = distance < least
        best[nearer], least[nearer] = on_edge[nearer], distance[nearer]
    best[inside] = foot[inside]
    return best


def _triangle_shape(positions: np.ndarray, faces: np.ndarray) -> BulletTriangleMeshShape:
    """Build Bullet's static shape, without the margin that would thicken every triangle."""
    data = GeomVertexData('collision', GeomVertexFormat.getV3(), Geom.UHStatic)
    data.uncleanSetNumRows(len(positions))
    memoryview(data.modifyArray(0)).cast('B')[:] = positions.tobytes()
    triangles = GeomTriangles(Geom.UHStatic)
    triangles.setIndexType(Geom.NTUint32)
    indices = triangles.modifyVertices()
    indices.uncleanSetNumRows(faces.size)
    memoryview(indices).cast('B')[:] = faces.tobytes()
    geom = Geom(data)
    geom.addPrimitive(triangles)
    mesh = BulletTriangleMesh()
    mesh.addGeom(geom, False)
    shape = BulletTriangleMeshShape(mesh, dynamic=False)
    shape.setMargin(0.0)
    return shape
