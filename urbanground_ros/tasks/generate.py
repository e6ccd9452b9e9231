# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Generate task instances over any region that has a pedestrian network."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.geo import enu_to_compass
from urbanground_ros.geo import NoRouteError
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.tasks.errors import TaskError
from urbanground_ros.tasks.kinds import Kind
from urbanground_ros.tasks.task import Task

#: Metres along the network. The lower end keeps the goal well outside the 15 m circle; the
#: upper end is a few blocks, which a walker at 4 m/s covers in about a minute.
SHORT_RANGE_BAND = (60.0, 220.0)
#: A straight line shorter than this would let chance arrivals count.
LEAST_STRAIGHT = 45.0

Verify = Callable[[Task], 'dict[str, object] | None']


def _places(
    network: PedestrianNetwork, rng: np.random.Generator
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield random points on features, by length: a feature index and a point (3,)."""
    lengths = np.array(
        [np.linalg.norm(np.diff(f.points, axis=0), axis=1).sum() for f in network.features]
    )
    weights = lengths / lengths.sum()
    while True:
        index = int(rng.choice(len(lengths), p=weights))
        points = network.features[index].points
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        at = rng.uniform(0.0, steps.sum())
        k = int(min(np.searchsorted(np.cumsum(steps), at), len(steps) - 1))
        share = (at - steps[:k].sum()) / steps[k]
        yield index, points[k] + share * (points[k + 1] - points[k])


def generate_short_range(
    network: PedestrianNetwork,
    region: str,
    count: int,
    seed: int,
    verify: Verify,
    attempts: int = 50,
) -> list[Task]:
    """Generate short-range goal navigation tasks, each accepted by a verifier.

    Args:
        network: where the starts and goals lie; heights ellipsoidal minus the frame's origin.
        region: name or path that the tasks carry.
        count: how many.
        seed: the same seed and network give the same tasks.
        verify: returns the proof of a task (kept with it), or None to have it replaced.
        attempts: tries per instance before giving up.

    Raises:
        TaskError: the network yields no acceptable instance within the attempts.
    """
    rng = np.random.default_rng([seed, Kind.SHORT_RANGE.number])
    places = _places(network, rng)
    low, high = SHORT_RANGE_BAND
    tasks: list[Task] = []
    tried = 0
    while len(tasks) < count:
        if tried >= attempts * count:
            raise TaskError(
                f'region {region}: {len(tasks)} of {count} short-range tasks after '
                f'{tried} tries, expected a connected network of some 300 m'
            )
        tried += 1
        (_, start), (goal_feature, goal) = next(places), next(places)
        heading = float(rng.uniform(-np.pi, np.pi))
        # Spread the goals over the band: without it most pairs are far apart.
        wanted = low + (high - low) * (len(tasks) + 0.5) / count
        if (
            abs(np.linalg.norm(goal - start)) > high
            or np.linalg.norm(goal - start) < LEAST_STRAIGHT
        ):
            continue
        try:
            route = network.route(start, goal)
        except NoRouteError:
            continue
        if not low <= route.length <= high or abs(route.length - wanted) > 30.0:
            continue
        street = network.features[goal_feature].street or 'the marked street'
        number = len(tasks) + 1
        task = Task(
            id=f'{Kind.SHORT_RANGE.prefix}{number:03d}',
            kind=Kind.SHORT_RANGE,
            description=f'Walk to the destination on {street}. It is marked on the map, as is '
            'your own position. You have arrived within 15 metres of it.',
            start=Placement(_geo(network, start), float(round(enu_to_compass(heading), 1))),
            goal=_geo(network, goal, f'Destination, {street}'),
            region=region,
            seed=int(rng.integers(2**31)),
            route_length=round(route.length, 3),
        )
        proof = verify(task)
        if proof is not None:
            tasks.append(replace(task, verification=proof))
    return tasks


def _geo(network: PedestrianNetwork, point: np.ndarray, label: str = '') -> GeoPoint:
    latitude, longitude, altitude = (float(v) for v in network.frame.to_geodetic(point))
    # 9 decimals are 0.1 mm: what is written is what is read.
    return GeoPoint(round(latitude, 9), round(longitude, 9), round(altitude, 3), label)
