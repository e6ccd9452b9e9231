# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The built-in district, written once, and its surfaces in a collision world."""

import numpy as np
from panda3d.bullet import BulletCapsuleShape
from panda3d.bullet import BulletRigidBodyNode
from panda3d.bullet import BulletTriangleMesh
from panda3d.bullet import BulletTriangleMeshShape
from panda3d.bullet import BulletWorld
from panda3d.bullet import ZUp
from panda3d.core import Geom
from panda3d.core import GeomTriangles
from panda3d.core import GeomVertexData
from panda3d.core import GeomVertexFormat
from panda3d.core import Point3
from panda3d.core import TransformState
import pytest

from urbanground_ros.districts import ensure_district
from urbanground_ros.geo import Region
from urbanground_ros.tiles import load_tileset


@pytest.fixture(scope='session')
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp('cache')


@pytest.fixture(scope='session')
def region(cache):
    return Region.load(ensure_district(cache=cache))


@pytest.fixture(scope='session')
def network(region):
    return region.load_network()


@pytest.fixture(scope='session')
def meshes(region):
    warnings = []
    found = list(load_tileset(region.directory / region.tilesets[0], region.frame, warnings))
    assert not warnings
    return found


class Surfaces:
    """Rays and capsules against the meshes of the district."""

    def __init__(self, meshes):
        self._meshes = meshes
        self._world = BulletWorld()
        for number, mesh in enumerate(meshes):
            data = GeomVertexData('mesh', GeomVertexFormat.getV3(), Geom.UHStatic)
            data.uncleanSetNumRows(len(mesh.positions))
            view = memoryview(data.modifyArray(0)).cast('B')
            view[:] = np.ascontiguousarray(mesh.positions).reshape(-1).view('u1').data
            triangles = GeomTriangles(Geom.UHStatic)
            triangles.setIndexType(Geom.NTUint32)
            rows = triangles.modifyVertices()
            rows.uncleanSetNumRows(mesh.faces.size)
            memoryview(rows).cast('B')[:] = mesh.faces.reshape(-1).view('u1').data
            geom = Geom(data)
            geom.addPrimitive(triangles)
            bullet = BulletTriangleMesh()
            bullet.addGeom(geom)
            node = BulletRigidBodyNode(str(number))
            node.addShape(BulletTriangleMeshShape(bullet, dynamic=False))
            self._world.attachRigidBody(node)

    def _ray(self, start, end):
        return self._world.rayTestClosest(Point3(*map(float, start)), Point3(*map(float, end)))

    def below(self, point, reach=3.0):
        """Return the height of the first surface under a point, None where there is none."""
        hit = self._ray(point, np.asarray(point) - [0, 0, reach])
        return hit.getHitPos().z if hit.hasHit() else None

    def facing(self, start, direction, reach=60.0):
        """Return the cosine between a ray and the first face it meets, None for no face."""
        hit = self._ray(start, np.asarray(start) + np.asarray(direction) * reach)
        if not hit.hasHit():
            return None
        mesh = self._meshes[int(hit.getNode().getName())]
        a, b, c = mesh.positions[mesh.faces[hit.getTriangleIndex()]].astype(np.float64)
        normal = np.cross(b - a, c - a)
        return float(normal @ direction / np.linalg.norm(normal))

    def above(self, point, reach=60.0):
        """Tell whether anything is over a point."""
        return self._ray(point, np.add(point, (0, 0, reach))).hasHit()

    def is_free(self, start, end, radius, low, high):
        """Tell whether an upright capsule moves from one point to another untouched."""
        shape = BulletCapsuleShape(radius, high - low - 2 * radius, ZUp)
        middle = np.array([0, 0, (low + high) / 2])
        sweep = [
            TransformState.makePos(Point3(*map(float, np.asarray(p) + middle)))
            for p in (start, end)
        ]
        return not self._world.sweepTestClosest(shape, *sweep).hasHit()


@pytest.fixture(scope='session')
def make_surfaces():
    return Surfaces


@pytest.fixture(scope='session')
def surfaces(meshes):
    return Surfaces(meshes)
