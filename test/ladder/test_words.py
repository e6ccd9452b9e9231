# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Words: needs that name no place, and directions that lead where they say."""

from itertools import pairwise
import re

import numpy as np
import pytest

from urbanground_ros.geo import PLACE_TYPES
from urbanground_ros.ladder.directions import angle
from urbanground_ros.ladder.directions import make_legs
from urbanground_ros.ladder.directions import retrace
from urbanground_ros.ladder.ground import Ground
from urbanground_ros.ladder.needs import ALSO_FITS
from urbanground_ros.ladder.needs import NEEDS
from urbanground_ros.tasks import Kind


def stems(text: str) -> set[str]:
    words = re.findall(r'[a-z]+', text.lower().replace('é', 'e'))
    return {word[:-1] if word.endswith('s') and len(word) > 3 else word for word in words}


@pytest.mark.parametrize('kind', PLACE_TYPES)
def test_a_need_never_names_the_type_of_place(kind):
    forbidden = stems(f'{kind.replace("_", " ")} {PLACE_TYPES[kind]}') - {'of'}
    texts = NEEDS[kind]
    assert len(set(texts)) >= 4
    for text in texts:
        assert not stems(text) & forbidden, text


def test_what_also_fits_is_known():
    assert set(ALSO_FITS) | {kind for kinds in ALSO_FITS.values() for kind in kinds} \
        <= set(PLACE_TYPES)


def legs_of(context, task):
    ground = Ground(context)
    found = make_legs(ground, context.network.route(
        context.to_map(task.start.point), context.to_map(task.goal)))
    assert found is not None
    return ground, found


def test_who_follows_the_words_comes_to_the_goal(tasks, contexts):
    for task in (task for task in tasks if task.kind is Kind.INSTRUCTIONAL):
        ground, legs = legs_of(contexts[task.region], task)
        assert retrace(ground, legs) == [leg.feature for leg in legs]
        assert re.findall(r'\b(left|right)(?= and| into|\.)', ' '.join(
            sentence for sentence in task.description.split('. ')
            if sentence.startswith('Turn')) + '.') == [
            'right' if leg.turn > 0 else 'left' for leg in legs if leg.turn]
        assert task.goal.label in task.description.split('. ')[-1]


def test_told_turns_are_real(tasks, contexts):
    for task in (task for task in tasks if task.kind is Kind.INSTRUCTIONAL):
        _, legs = legs_of(contexts[task.region], task)
        turned = [leg for leg in legs if leg.turn]
        assert turned
        assert [round(leg.turn) for leg in turned] == task.evidence['turns']
        for before, leg in pairwise(legs):
            if leg.turn:
                a, b = (np.diff(points[:, :2], axis=0) for points in (before.points, leg.points))
                cross = a[-1, 0] * b[0, 1] - a[-1, 1] * b[0, 0]
                # Compass angles grow to the right, and the plane turns to the left.
                assert np.sign(cross) == -np.sign(leg.turn)


def test_a_wrong_turn_does_not_lead_to_the_goal(tasks, contexts):
    for task in (task for task in tasks if task.kind is Kind.INSTRUCTIONAL):
        ground, legs = legs_of(contexts[task.region], task)
        mirrored = [leg._replace(turn=-leg.turn) for leg in legs]
        assert retrace(ground, mirrored) != [leg.feature for leg in legs]


def test_angles_go_the_short_way():
    assert angle(350.0, 20.0) == 30.0
    assert angle(20.0, 350.0) == -30.0
