# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The offset between the heights of tiles and network is found again."""

from dataclasses import replace
import shutil
import subprocess
import sys

import numpy as np
import pytest
import sim_rig as rig

from urbanground_ros.geo import Region
from urbanground_ros.sim import CollisionWorld
from urbanground_ros.sim import SimError
from urbanground_ros.sim.calibration import measure_offset


def calibrate(path, *options):
    return subprocess.run([sys.executable, '-m', 'urbanground_ros', 'calibrate', str(path),
                           *options], capture_output=True, text=True, check=False)


@pytest.mark.parametrize('error', [0.0, 1.7, -3.4])
def test_a_wrong_offset_is_mended(region, tmp_path, error):
    folder = tmp_path / 'region'
    shutil.copytree(region.path.parent, folder)
    path = folder / region.path.name
    right = Region.load(path)
    replace(right, height_offset=right.height_offset + error).save(path)
    result = calibrate(path)
    assert result.returncode == 0, result.stderr
    assert Region.load(path).height_offset == pytest.approx(right.height_offset, abs=0.03)
    assert f'(it was {right.height_offset + error:.3f})' in result.stdout
    assert replace(Region.load(path), height_offset=0.0) == replace(right, height_offset=0.0)


def test_a_dry_run_writes_nothing(region, tmp_path):
    folder = tmp_path / 'region'
    shutil.copytree(region.path.parent, folder)
    path = folder / region.path.name
    before = path.read_bytes()
    result = calibrate(path, '--dry-run')
    assert 'nothing written' in result.stdout
    assert path.read_bytes() == before


def test_where_nothing_is_there_nothing_is_measured(region):
    world = CollisionWorld()
    world.add(rig.box(0, 1, 0, 1, 500, 501))
    with pytest.raises(SimError, match=r'0 outdoor vertices .* expected 20 or more'):
        measure_offset(region.network, -2.2, lambda *_: world)
    assert calibrate('/none.yaml').returncode == 1


def test_a_spread_is_told(region):
    world = CollisionWorld()
    points = np.concatenate([f.points for f in region.network.features])
    points = np.unique(np.round(points, 2), axis=0)
    for k, (x, y, z) in enumerate(points.tolist()):
        high = z + 2.0 + 0.1 * (k % 5 - 2)
        world.add(rig.box(x - 0.01, x + 0.01, y - 0.01, y + 0.01, high - 0.001, high))
    measured = measure_offset(region.network, -2.2, lambda *_: world)
    assert measured.offset == pytest.approx(-0.2, abs=0.02)
    assert measured.spread == pytest.approx(0.148, abs=0.03)
