# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Frames against published check points, against themselves, and under threads and forks."""

from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import ThreadPoolExecutor
import hashlib
import json
import math
import multiprocessing
import pickle
import threading

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pyproj
import pytest

from urbanground_ros.geo import compass_to_enu
from urbanground_ros.geo import ecef_to_geodetic
from urbanground_ros.geo import enu_to_compass
from urbanground_ros.geo import geodetic_to_ecef
from urbanground_ros.geo import GeoError
from urbanground_ros.geo import great_circle_distance
from urbanground_ros.geo import hk80_to_wgs84
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import wgs84_to_hk80

METRES_PER_DEGREE = 111_320.0
WORKERS = 8


def test_grid_meets_the_published_check_points_to_a_millimetre(data):
    points = json.loads(data('hk80_checkpoints/checkpoints.json').read_text())['grid_to_wgs84']
    assert len(points) == 2
    for point in points:
        latitude, longitude = hk80_to_wgs84(point['E'], point['N'])
        assert abs(latitude - point['lat']) * METRES_PER_DEGREE < 1e-3
        assert abs(longitude - point['lon']) * METRES_PER_DEGREE < 1e-3
        assert wgs84_to_hk80(point['lat'], point['lon']) == pytest.approx(
            (point['E'], point['N']), abs=1e-3)


def test_grid_is_what_the_epsg_registry_says():
    registered = pyproj.Transformer.from_crs(
        'EPSG:2326', 'EPSG:4326', always_xy=True, allow_ballpark=False)
    easting, northing = np.meshgrid(np.linspace(800e3, 870e3, 15), np.linspace(800e3, 848e3, 15))
    latitude, longitude = hk80_to_wgs84(easting, northing)
    expected_longitude, expected_latitude = registered.transform(easting, northing)
    assert np.abs(latitude - expected_latitude).max() * METRES_PER_DEGREE < 1e-6
    assert np.abs(longitude - expected_longitude).max() * METRES_PER_DEGREE < 1e-6


def test_grid_goes_there_and_back():
    easting, northing = np.meshgrid(np.linspace(800e3, 870e3, 15), np.linspace(800e3, 848e3, 15))
    back = wgs84_to_hk80(*hk80_to_wgs84(easting, northing))
    # The datum shift without heights is its own inverse to half a millimetre only.
    assert np.abs(np.array(back) - (easting, northing)).max() < 1e-3


def test_ecef_of_well_known_points():
    a, b = 6378137.0, 6356752.314245179
    xyz = geodetic_to_ecef([0, 0, 90, -90], [0, 90, 0, 0], [0, 10, 5, 0])
    assert xyz == pytest.approx(
        np.array([[a, 0, 0], [0, a + 10, 0], [0, 0, b + 5], [0, 0, -b]]), abs=1e-6)
    assert ecef_to_geodetic([0, a + 10, 0]) == pytest.approx((0, 90, 10), abs=1e-9)


def test_axes_point_east_north_and_up(frame):
    origin = frame.latitude, frame.longitude, frame.altitude
    assert frame.from_geodetic(*origin) == pytest.approx(np.zeros(3), abs=1e-8)
    step = 1e-4
    east = frame.from_geodetic(origin[0], origin[1] + step, origin[2])
    north = frame.from_geodetic(origin[0] + step, origin[1], origin[2])
    up = frame.from_geodetic(origin[0], origin[1], origin[2] + 7)
    assert east == pytest.approx([10.302, 0, 0], abs=2e-3)
    assert north == pytest.approx([0, 11.074, 0], abs=2e-3)
    assert up == pytest.approx([0, 0, 7], abs=1e-8)


def test_round_trips_to_a_micrometre(frame):
    enu = np.random.default_rng(1).uniform(-20e3, 20e3, (5, 2000, 3)) * (1, 1, 0.05)
    assert np.abs(frame.from_geodetic(*frame.to_geodetic(enu)) - enu).max() < 1e-6
    assert np.abs(frame.from_ecef(frame.to_ecef(enu)) - enu).max() < 1e-6
    xyz = geodetic_to_ecef(*frame.to_geodetic(enu))
    assert np.abs(xyz - frame.to_ecef(enu)).max() < 1e-6
    assert np.abs(geodetic_to_ecef(*ecef_to_geodetic(xyz)) - xyz).max() < 1e-6


def test_matrix_is_the_rotation_and_translation_to_ecef(frame):
    enu = np.random.default_rng(2).uniform(-5e3, 5e3, (1000, 3))
    matrix = frame.matrix
    assert np.abs(enu @ matrix[:3, :3].T + matrix[:3, 3] - frame.to_ecef(enu)).max() < 1e-8
    assert np.abs(matrix[:3, :3].T @ matrix[:3, :3] - np.eye(3)).max() < 1e-15
    assert np.linalg.det(matrix[:3, :3]) == pytest.approx(1, abs=1e-14)
    assert matrix[3].tolist() == [0, 0, 0, 1]
    with pytest.raises(ValueError, match='read-only'):
        matrix[0, 0] = 0


def test_shapes_follow_the_input(frame):
    assert frame.from_geodetic(22.3, 114.2, 0).shape == (3,)
    assert frame.from_geodetic(22.3, 114.2, [0, 1]).shape == (2, 3)
    assert frame.from_geodetic([], [], []).shape == (0, 3)
    assert [type(v) for v in frame.to_geodetic([1, 2, 3])] == [float] * 3
    assert [v.shape for v in frame.to_geodetic(np.zeros((4, 2, 3)))] == [(4, 2)] * 3
    assert [type(v) for v in hk80_to_wgs84(836694.05, 819069.8)] == [float] * 2


def test_a_point_alone_and_among_others_has_the_same_bytes(frame):
    enu = np.random.default_rng(3).uniform(-5e3, 5e3, (257, 3))
    together = np.stack(frame.to_geodetic(enu), axis=-1)
    alone = np.array([frame.to_geodetic(point) for point in enu])
    assert alone.tobytes() == together.tobytes()


def test_an_unknown_component_makes_its_point_unknown_only(frame):
    enu = frame.from_geodetic([22.3, 22.3, np.nan], 114.2, [5, np.nan, 5])
    assert np.isnan(enu).tolist() == [[False] * 3, [True] * 3, [True] * 3]


@pytest.mark.parametrize(('call', 'text'), [
    (lambda f: f.from_geodetic(91, 114, 0), r'point 0 \(114, 91, 0\)'),
    (lambda f: f.from_geodetic([22, 22], [114, math.inf], 0), r'point 1 \(inf, 22, 0\)'),
    (lambda f: f.to_ecef([0, math.inf, 0]), r'point 0 \(0, inf, 0\)'),
    (lambda f: f.to_geodetic([1, 2]), r'shape \(2,\), expected \(\.\.\., 3\)'),
    (lambda f: f.from_ecef(5.0), r'shape \(\), expected \(\.\.\., 3\)'),
    (lambda f: LocalFrame(91, 114, 0), 'latitude is 91'),
    (lambda f: LocalFrame(22, 181, 0), 'longitude is 181'),
    (lambda f: LocalFrame(22, 114, math.nan), 'altitude is nan'),
])
def test_bad_coordinates_are_told_in_one_line(frame, call, text):
    with pytest.raises(GeoError, match=text) as caught:
        call(frame)
    assert '\n' not in str(caught.value)


def test_frames_are_values(frame):
    same = LocalFrame(frame.latitude, frame.longitude, frame.altitude)
    same.matrix.sum()
    assert same == frame
    assert hash(same) == hash(frame)
    assert pickle.loads(pickle.dumps(same)) == frame
    assert LocalFrame(22, 114, 0) != frame


@pytest.mark.parametrize(('compass', 'enu'), [
    (0, math.pi / 2), (90, 0), (180, -math.pi / 2), (270, math.pi), (360, math.pi / 2),
    (-90, math.pi), (45, math.pi / 4), (630, math.pi),
])
def test_compass_headings_become_enu_yaw(compass, enu):
    assert compass_to_enu(compass) == enu
    assert enu_to_compass(enu) == pytest.approx(compass % 360, abs=1e-12)


@given(st.floats(-1e4, 1e4))
def test_headings_stay_in_their_ranges_and_return(degrees):
    yaw = compass_to_enu(degrees)
    assert -math.pi < yaw <= math.pi
    heading = enu_to_compass(yaw)
    assert 0 <= heading < 360
    assert math.cos(math.radians(heading - degrees)) == pytest.approx(1, abs=1e-12)


def test_headings_keep_their_shape():
    assert compass_to_enu(np.zeros((2, 3))).shape == (2, 3)
    assert enu_to_compass([[math.pi / 2 + 1e-17]]).tolist() == [[0.0]]


def test_great_circle_distance_is_that_of_the_sphere():
    radius = 6_371_000
    assert great_circle_distance(0, 0, 0, 90) == pytest.approx(math.pi / 2 * radius, rel=1e-14)
    assert great_circle_distance(-90, 0, 90, 0) == pytest.approx(math.pi * radius, rel=1e-14)
    assert great_circle_distance(22.3, 114.17, 22.3, 114.17) == 0
    assert great_circle_distance(22.3, 114.17, [22.3, 22.301], 114.17) == pytest.approx(
        [0, math.radians(0.001) * radius], rel=1e-9)


def _digest(seed=7):
    """Hash what every transformation makes of 100,000 points."""
    frame = LocalFrame(22.3339, 114.1793, 12.5)
    enu = np.random.default_rng(seed).uniform(-5e3, 5e3, (100_000, 3))
    latitude, longitude, altitude = frame.to_geodetic(enu)
    results = [
        latitude, longitude, altitude, frame.from_geodetic(latitude, longitude, altitude),
        frame.from_ecef(frame.to_ecef(enu)), *wgs84_to_hk80(latitude, longitude),
        frame.matrix]
    return hashlib.sha256(b''.join(r.tobytes() for r in results)).hexdigest()


def test_threads_give_the_same_bytes():
    expected = _digest()
    barrier = threading.Barrier(WORKERS)

    def work(_):
        barrier.wait()
        return _digest()

    with ThreadPoolExecutor(WORKERS) as pool:
        assert set(pool.map(work, range(WORKERS))) == {expected}


def test_forked_workers_give_the_same_bytes():
    # The transformers of the parent are in use before the fork.
    expected = _digest()
    context = multiprocessing.get_context('fork')
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        digests = list(pool.map(_digest, [7] * WORKERS, chunksize=1))
    assert digests == [expected] * WORKERS
    assert _digest() == expected
