# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bounding volumes: every kind becomes a box that holds it."""

from pathlib import Path
import re

import numpy as np
import pytest

from urbanground_ros.geo import ecef_to_geodetic
from urbanground_ros.geo import geodetic_to_ecef
from urbanground_ros.geo import wgs84_to_hk80
from urbanground_ros.tiles import OrientedBox
from urbanground_ros.tiles import read_tileset
from urbanground_ros.tiles.volumes import bounding_box


def test_a_box_moves_with_its_tile():
    transform = np.eye(4)
    transform[:3, :3] = [[0, -2, 0], [2, 0, 0], [0, 0, 2]]
    transform[:3, 3] = (10, 20, 30)
    box = bounding_box({'box': [1, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1]}, transform, 'here')
    np.testing.assert_allclose(box.center, (10, 22, 30))
    np.testing.assert_allclose(box.axes, [[0, 6, 0], [-2, 0, 0], [0, 0, 2]])


def test_a_sphere_is_held_by_its_box():
    box = bounding_box({'sphere': [1, 2, 3, 4]}, np.eye(4), 'here')
    assert box.distance(np.array([1.0, 2, 10])) == pytest.approx(3)


@pytest.mark.parametrize('region', [
    [1.9925, 0.3891, 1.9927, 0.3893, -5, 300], [3.1, -0.3, -3.1, 0.1, 0, 10],
    [-3.14, -1.57, 3.14, 1.57, 0, 0],
])
def test_a_region_is_held_by_its_box(region):
    box = bounding_box({'region': region}, np.eye(4), 'here')
    west, south, east, north = np.degrees(region[:4])
    share = np.random.default_rng(0).random((200, 3))
    points = geodetic_to_ecef(
        south + (north - south) * share[:, 0],
        west + ((east - west) % 360) * share[:, 1],
        region[4] + (region[5] - region[4]) * share[:, 2],
    )
    assert box.contains(points).all()


@pytest.mark.parametrize('axes', [np.diag([2.0, 1, 0]), np.diag([2.0, 0, 0]), np.zeros((3, 3))])
def test_flat_boxes_have_distances(axes):
    box = OrientedBox(np.zeros(3), axes)
    assert box.distance(np.zeros(3)) == 0
    assert box.distance(np.array([0, 0, 7.0])) == pytest.approx(7)
    assert box.distance(np.array([5.0, 0, 0])) == pytest.approx(5 - axes[0, 0])


def test_boxes_behind_a_plane_are_outside():
    box = OrientedBox(np.array([0.0, 0, 5]), np.eye(3))
    up = np.array([[0.0, 0, 1, 0]])
    assert not box.outside(up)
    assert box.outside(np.array([[0.0, 0, -1, 0]]))
    assert not box.outside(np.array([[0.0, 0, -1, 5.5]]))


def test_real_tiles_of_hong_kong_lie_where_their_names_say():
    data = Path(__file__).resolve().parents[2].parent / 'shared' / 'data'
    path = data / 'f2_ho_man_tin_tileset' / 'tileset.json'
    if not path.is_file():
        pytest.skip('sample f2_ho_man_tin_tileset is not here')
    tiles = [read_tileset(path)]
    for tile in tiles:
        tiles += tile.children
        ix, iy, level = map(int, re.findall(r'\d+', tile.contents[0])[:3])
        size = 150.0 * 2 ** level
        latitude, longitude, _ = ecef_to_geodetic(tile.bounds.center)
        place = np.array(wgs84_to_hk80(latitude, longitude))
        grid = 800_000 + (np.array([ix, iy]) + 0.5) * size
        np.testing.assert_allclose(place, grid, atol=1.0)
        np.testing.assert_allclose(
            np.sort(np.linalg.norm(tile.bounds.axes, axis=1))[1:], size / 2, rtol=0.02)
    assert len(tiles) == 15
