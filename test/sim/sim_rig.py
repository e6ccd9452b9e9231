# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A test rig: boxes, walls, stairs, ramps and a footbridge."""

import math

import numpy as np

from urbanground_ros.city import CityError
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.geo import LocalFrame
from urbanground_ros.sim import CityRegion
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim.sun import DEFAULT_DATE
from urbanground_ros.sim.sun import sun_direction
from urbanground_ros.sim.weather import lighting
from urbanground_ros.sim.weather import WEATHERS
from urbanground_ros.tiles import Selection
from urbanground_ros.tiles import TileMesh


def raw(name, positions, faces, **fields):
    """A mesh of shared vertices; without normals unless they are given."""
    fields = {'normals': np.zeros((0, 3), 'f4'), 'uvs': None, 'color': (0.7, 0.7, 0.7, 1.0),
              **fields}
    return TileMesh(name, np.asarray(positions, 'f4'), faces=np.asarray(faces, 'u4'), **fields)


def mesh(name, positions, faces, color=(0.7, 0.7, 0.7, 1.0)):
    """Split the vertices of the faces, so that each face has its own normal."""
    corners = np.asarray(positions, 'f8')[np.asarray(faces)]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return raw(name, corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3),
               normals=np.repeat(normal, 3, axis=0).astype('f4'), color=color)


def box(x0, x1, y0, y1, z0, z1, name='box', color=(0.7, 0.7, 0.7, 1.0)):
    points = [[x, y, z] for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)]
    faces = [[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4],
             [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]]
    return mesh(name, points, faces, color)


def quad(a, b, c, d, name='quad', color=(0.7, 0.7, 0.7, 1.0)):
    return mesh(name, [a, b, c, d], [[0, 1, 2], [0, 2, 3]], color)


def ground(half=60.0, cells=12, z=0.0):
    """A tiled plane: many seams."""
    s = np.linspace(-half, half, cells + 1)
    points, faces = [], []
    for i in range(cells):
        for j in range(cells):
            k = len(points)
            points += [[s[i], s[j], z], [s[i + 1], s[j], z], [s[i + 1], s[j + 1], z],
                       [s[i], s[j + 1], z]]
            faces += [[k, k + 1, k + 2], [k, k + 2, k + 3]]
    return mesh('ground', points, faces, (0.45, 0.45, 0.45, 1.0))


STAIRS, RISE, GOING = 15, 0.18, 0.28
DECK = STAIRS * RISE
STAIRS_X = 10.0
DECK_X0 = STAIRS_X + STAIRS * GOING
DECK_X1 = DECK_X0 + 12.0


def footbridge():
    """Stairs up along +x from (10, 0), a deck over y, stairs down; the deck is 2 m wide."""
    red = (0.7, 0.3, 0.25, 1.0)
    parts = [box(DECK_X0, DECK_X1, -1, 1, DECK - 0.2, DECK, 'deck', red)]
    for i in range(STAIRS):
        x = STAIRS_X + GOING * i
        parts.append(box(x, x + GOING, -1, 1, 0, RISE * (i + 1), 'stairs', red))
        x = DECK_X1 + GOING * i
        parts.append(box(x, x + GOING, -1, 1, 0, RISE * (STAIRS - i), 'stairs', red))
    return parts


def ramp(degrees, x, y=20.0, height=3.0):
    """A ramp rising along +y from `y`, 3 m wide, with a platform behind it."""
    run = height / math.tan(math.radians(degrees))
    return [quad([x, y, 0], [x + 3, y, 0], [x + 3, y + run, height], [x, y + run, height],
                 'ramp'),
            box(x, x + 3, y + run, y + run + 4, 0, height, 'platform')]


def wall(x, y0, y1, height=4.0):
    """A wall of no thickness across x."""
    return quad([x, y0, 0], [x, y1, 0], [x, y1, height], [x, y0, height], 'wall',
                (0.5, 0.6, 0.7, 1.0))


def whole_rig():
    return [ground(), *footbridge(), wall(-10, -20, 20), box(-20, -19.95, -20, 20, 0, 4),
            *ramp(30, -5), *ramp(55, 5), box(20, 22, 20, 24, 0, 0.5, 'block'),
            box(25, 27, 20, 24, 0, 0.25, 'kerb')]


FRAME = LocalFrame(22.3, 114.17, 2.0)


class Whole:
    """Tiles that are always all there."""

    def __init__(self, meshes):
        self.meshes = tuple(meshes)
        self.span = (np.min([m.positions.min(axis=0) for m in self.meshes], axis=0).astype('f8'),
                     np.max([m.positions.max(axis=0) for m in self.meshes], axis=0).astype('f8'))

    def update(self, camera, wait=False):
        return Selection(self.meshes, True)

    def nearby(self, point, radius, wait=True):
        return Selection(self.meshes, True)

    def forget(self):
        pass

    def close(self):
        pass


def region(meshes, name='rig'):
    return CityRegion(name, FRAME, Whole(meshes))


def open_rig(name):
    """Stand for `open_region`."""
    if name != 'rig':
        raise CityError(f'region {name!r} is unknown, expected rig')
    return region(whole_rig())


def light(weather='sunny', hour=12.0):
    """The light at an hour of the default day."""
    sun = sun_direction(FRAME.latitude, FRAME.longitude, DEFAULT_DATE, hour * 3600.0)
    return lighting(WEATHERS[weather], sun)


def geo(x, y, z=math.nan, label=''):
    latitude, longitude, altitude = FRAME.to_geodetic([x, y, 0.0 if math.isnan(z) else z])
    return GeoPoint(latitude, longitude, math.nan if math.isnan(z) else altitude, label)


def placement(x, y, z=math.nan, compass=90.0):
    return Placement(geo(x, y, z), compass)


def new_city(x=0.0, y=-8.0, z=math.nan, compass=90.0, scene=None, markers=(), **parameters):
    """A loaded city without pictures, unless they are wanted; heading east by default."""
    city = HeadlessCity(open_region=open_rig, **{'pictures': False, **parameters})
    city.load('rig', 1, placement(x, y, z, compass), scene or Scene(), markers)
    return city
