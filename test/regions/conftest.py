# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A user of the command `region`: folders of his own, and the stand-in map server."""

from pathlib import Path

from network_standin import NetworkStandIn
from network_standin import read_features
import pytest

SAMPLES = Path(__file__).resolve().parents[2].parent / 'shared' / 'data' / '3dpn_sample'


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Return the folder of the user's regions."""
    monkeypatch.setenv('URBANGROUND_DATA', str(tmp_path / 'data'))
    monkeypatch.setenv('URBANGROUND_CACHE', str(tmp_path / 'cache'))
    for name in ('URBANGROUND_TILES_KEY', 'URBANGROUND_NETWORK_KEY'):
        # The command sets one of them: what is set here is undone at the end.
        monkeypatch.setenv(name, '')
    return tmp_path / 'data' / 'regions'


@pytest.fixture(scope='session')
def samples():
    """Return every real network file."""
    if not SAMPLES.is_dir():
        pytest.skip('the sample 3dpn_sample is not on this machine')
    return sorted(SAMPLES.glob('*json'))


@pytest.fixture
def service(samples):
    """Serve the real samples as the open service does."""
    with NetworkStandIn(read_features(samples)) as running:
        yield running
