# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Real samples and hand-made features for the tests of frames, networks and regions."""

from pathlib import Path

import numpy as np
import pytest

from urbanground_ros.geo import Direction
from urbanground_ros.geo import Feature
from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import Location
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import WeatherProof

DATA = Path(__file__).resolve().parents[2].parent / 'shared' / 'data'


@pytest.fixture(scope='session')
def frame():
    return LocalFrame(22.3339, 114.1793, 12.5)


@pytest.fixture(scope='session')
def data():
    def find(name):
        path = DATA / name
        if not path.exists():
            pytest.skip(f'the sample {name} is not on this machine')
        return path
    return find


@pytest.fixture(scope='session')
def samples(data):
    """Return every real network file."""
    return sorted(data('3dpn_sample').glob('*json'))


@pytest.fixture(scope='session')
def network_of(frame):
    """Build a network from ENU polylines, or (polyline, attributes) pairs."""
    def build(*lines):
        features = []
        for number, line in enumerate(lines):
            points, attributes = line if isinstance(line, tuple) else (line, {})
            features.append(Feature(**{
                'id': 1000 + number, 'part': 0, 'feature_type': FeatureType.FOOTWAY,
                'location': Location.OUTDOOR, 'weather_proof': WeatherProof.NON_COVERED,
                'direction': Direction.BOTH_WAYS, 'enabled': True, 'wheelchair_barrier': None,
                'wheelchair_access': None, 'crossing': None, 'name': '', 'name_tc': '',
                'street': '', 'street_tc': '', 'floor_id': None, 'building_ids': (),
                'site_id': None, 'terminal_id': None, 'access_time_id': None,
                'points': np.array(points, dtype=np.float64), **attributes}))
        return PedestrianNetwork(features, frame)
    return build
