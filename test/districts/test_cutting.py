# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quads that reach into two tiles are cut where the tiles meet."""

import numpy as np
import pytest

from urbanground_ros.districts.cutting import cut
from urbanground_ros.districts.soup import Quads


def area(quads):
    halves = quads[:, [[0, 1, 2], [0, 2, 3]]]
    sides = np.cross(halves[..., 1, :] - halves[..., 0, :], halves[..., 2, :] - halves[..., 0, :])
    return np.linalg.norm(sides, axis=-1).sum() / 2


@pytest.mark.parametrize('axis', [0, 1])
def test_nothing_crosses_the_line_and_nothing_is_lost(axis):
    random = np.random.default_rng(0)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) + random.uniform(-0.3, 0.3, (500, 4, 2))
    corners = np.concatenate([corners * 3 + random.uniform(-10, 10, (500, 1, 2)),
                              random.uniform(0, 2, (500, 4, 1))], axis=-1)
    # Texture coordinates that are linear in the plan.
    uvs = corners[..., :2] * 0.25 + corners[..., 2:] * 0.5
    quads, of_quads, of = cut(Quads(corners, uvs, np.arange(500) // 2), axis, 1.5)
    assert len(quads) > len(corners)
    side = quads[..., axis] - 1.5
    assert not ((side.min(axis=1) < -1e-6) & (side.max(axis=1) > 1e-6)).any()
    assert area(quads) == pytest.approx(area(corners), rel=1e-9)
    np.testing.assert_allclose(of_quads, quads[..., :2] * 0.25 + quads[..., 2:] * 0.5, atol=1e-9)
    for number in range(250):
        assert area(quads[of == number]) == pytest.approx(area(corners[2 * number:][:2]))
    facing = np.cross(quads[:, 1] - quads[:, 0], quads[:, 2] - quads[:, 0])[:, 2]
    assert (facing > -1e-9).all()


def test_what_does_not_cross_stays_as_it_is():
    corners = np.array([[[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]], np.float64)
    quads = Quads(corners, np.zeros((1, 4, 2)), np.zeros(1, int))
    for line in (-0.5, 0.0, 1.0, 3.0):
        assert cut(quads, 0, line) is quads
