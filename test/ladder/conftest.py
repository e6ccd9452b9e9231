# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A few proved tasks of every kind, made once: in a small district and in a large one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from urbanground_ros.city import CityError
from urbanground_ros.episode import RegionContext
from urbanground_ros.ladder import generate
from urbanground_ros.ladder import PROPOSERS
from urbanground_ros.ladder import VARIANTS
from urbanground_ros.ladder import Verifier
from urbanground_ros.ladder import Verify
from urbanground_ros.ladder.look import Look
from urbanground_ros.tasks import Family
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task

SEED = 5
#: What a district of 320 m has little room for.
FAR = (Kind.LONG_RANGE, Kind.CONSTRAINED)
QUESTIONS = {kind for kind in Kind if kind.family is Family.QUESTION}


@pytest.fixture(scope='session')
def large() -> RegionContext:
    return RegionContext.named('hoi_tin')


@pytest.fixture(scope='session')
def contexts(region: RegionContext, large: RegionContext) -> dict[str, RegionContext]:
    return {region.name: region, large.name: large}


@pytest.fixture(scope='session')
def eyes() -> None:
    """What only looking can make is tried where one can look."""
    try:
        Look().close()
    except CityError as error:
        pytest.skip(str(error))


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """Nothing is kept from before."""
    monkeypatch.setattr('urbanground_ros.ladder.suite.cache_folder', lambda: tmp_path / 'cache')
    return tmp_path / 'cache'


@pytest.fixture(scope='session')
def verify() -> Iterator[Verify]:
    """Proves tasks; a city each keeps the tiles of its region."""
    with ExitStack() as stack:
        verifiers = {name: stack.enter_context(Verifier()) for name in ('ching_lam', 'hoi_tin')}
        yield lambda context, task: verifiers[context.name](context, task)


@pytest.fixture(scope='session')
def tasks(region, large, verify, tmp_path_factory) -> list[Task]:
    """Four of each kind but questions, two of those that are far and of their variants."""
    folder = tmp_path_factory.mktemp('cache')
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('urbanground_ros.ladder.suite.cache_folder', lambda: folder)
        for kind in (kind for kind in PROPOSERS if kind not in QUESTIONS):
            where, count = ([large], 2) if kind in FAR else ([region, large], 4)
            found += generate(kind, where, count, SEED, verify)
            if kind in VARIANTS:
                found += generate(VARIANTS[kind][0], where, count, SEED, verify)
    return found
