# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Proof by play: the oracle does a task within the limits, and what its kind promises holds."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import math
from typing import Any

import numpy as np
import shapely

from urbanground_ros.agents import make_agent
from urbanground_ros.agents import OracleAgent
from urbanground_ros.agents import play
from urbanground_ros.city import CityError
from urbanground_ros.city import EventKind
from urbanground_ros.city import GeoLine
from urbanground_ros.episode import RegionContext
from urbanground_ros.geo import DEFAULT_VERTICAL_TOLERANCE
from urbanground_ros.ladder.closures import is_tight
from urbanground_ros.ladder.closures import measure_cut
from urbanground_ros.scoring import crossings
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.scoring import to_lines
from urbanground_ros.scoring import Visits
from urbanground_ros.sim import CityRegion
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import open_region
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task

#: What shows that a task can be done, by the names of its measures.
Proof = dict[str, object]
Verify = Callable[[RegionContext, Task], 'Proof | None']

#: A body that stands free is where it was put in plan, to so much (m).
FREE = 0.05
#: The oracle has so many steps left: where people walk differs with the seed of the evaluation.
STEPS_LEFT = 5
#: Whoever follows the network and is less of the time on it walks on another ground than the
#: network lies on.
ADHERENCE = 0.9
#: The oracle keeps each appointment so many seconds before it would be late.
SLACK = 30.0
#: When a closure is disclosed it is still so far away (m).
STILL_AHEAD = 10.0


class Verifier:
    """Plays tasks with the oracle in a city of its own, without pictures."""

    def __init__(self) -> None:
        """Open the city."""
        self._regions: dict[str, CityRegion] = {}
        self._city = HeadlessCity(pictures=False, open_region=self._open)
        self._tight: dict[tuple[str, GeoLine], bool] = {}

    def close(self) -> None:
        """Let go of the city."""
        self._city.close()
        for region in self._regions.values():
            region.tiles.close()

    def __enter__(self) -> Verifier:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the city."""
        self.close()

    def __call__(self, context: RegionContext, task: Task) -> Proof | None:
        """Return the proof of a task, None where it has none."""
        proof = self._check_closures(context, task) if task.kind.has_closures else {}
        if proof is None:
            return None
        settings = Settings(region=context.name, region_digest=context.digest)
        try:
            record = play(self._city, context, task, make_agent(OracleAgent.name), settings)
        except CityError:  # the start is refused
            return None
        metrics = record['metrics']
        if record['outcome'] != Outcome.SUCCEEDED or not _stands_free(context, task, record) \
                or metrics['steps'] > settings.max_steps - STEPS_LEFT \
                or (metrics['pna_sampled'] or ADHERENCE) < ADHERENCE:
            return None
        more = _CHECKS.get(task.kind, _check_nothing)(context, task, record)
        if more is None:
            return None
        return {'agent': OracleAgent.name, 'steps': int(metrics['steps']),
                'path_length': round(metrics['path_length_sampled'], 2),
                'duration': round(metrics['duration'], 2), **proof, **more}

    def _check_closures(self, context: RegionContext, task: Task) -> Proof | None:
        """Return what closures do to the way, None if it is little or one gets round them."""
        cut = measure_cut(context.network, context.to_map(task.start.point),
                          context.to_map(task.destination), task.closures)
        if not cut.matters or not all(self._is_tight(context, line) for line in task.closures):
            return None
        return {'open_length': round(cut.open_length, 2),
                'closed_length': round(cut.closed_length, 2)}

    def _is_tight(self, context: RegionContext, line: GeoLine) -> bool:
        key = context.name, line
        if key not in self._tight:
            self._tight[key] = is_tight(self._open(context.name), line)
        return self._tight[key]

    def _open(self, name: str) -> CityRegion:
        if name not in self._regions:
            self._regions[name] = open_region(name)
        return self._regions[name]


def _stands_free(context: RegionContext, task: Task, record: Mapping[str, Any]) -> bool:
    """Tell whether the body was put where the task says, on the ground."""
    trajectory = record['trajectory']
    first = dict(zip(trajectory['columns'], trajectory['rows'][0], strict=True))
    start = context.to_map(task.start.point)
    return bool(first['grounded']) \
        and abs(first['z'] - start[2]) <= DEFAULT_VERTICAL_TOLERANCE \
        and math.hypot(first['x'] - start[0], first['y'] - start[1]) <= FREE


def _check_schedule(context: RegionContext, task: Task,
                    record: Mapping[str, Any]) -> Proof | None:
    """Return by how much the tightest appointment was kept; the order was kept by itself."""
    rows, columns = record['trajectory']['rows'], record['trajectory']['columns']
    xyz = [columns.index(name) for name in 'xyz']
    visits = Visits(task, context.network.frame)
    visits.take([[row[k] for k in xyz] for row in rows],
                [row[columns.index('elapsed_ns')] * 1e-9 for row in rows])
    clock = task.clock or 0.0
    slack = min((stop.deadline - clock - visits.times[k] for k, stop in enumerate(task.stops)
                 if stop.deadline is not None), default=math.inf)
    if visits.order_violations or slack < SLACK:
        return None
    return {'slack': round(slack, 2)} if math.isfinite(slack) else {}


def _check_notice(context: RegionContext, task: Task, record: Mapping[str, Any]) -> Proof | None:
    """Return how far the closure was on the shortest way when it was disclosed, if it was."""
    told = next((event for event in record['events']
                 if event['kind'] == EventKind.CLOSURE_DISCLOSED), None)
    if told is None:
        return None
    here = np.array([told['x'], told['y'], told['z']])
    points = context.network.route(here, context.to_map(task.destination)).points
    lines = to_lines(task.closures, context.network.frame)
    met = np.flatnonzero(crossings(points, lines))
    if not len(met):
        return None
    # Up to the piece of the way that is cut: no more than there is.
    ahead = float(np.linalg.norm(np.diff(points[:met[0] + 1], axis=0), axis=1).sum()) + min(
        float(shapely.distance(shapely.Point(points[met[0], :2]), shapely.LineString(line[:, :2])))
        for line in lines)
    return {'ahead': round(ahead, 2)} if ahead >= STILL_AHEAD else None


def _check_contacts(_: RegionContext, __: Task, record: Mapping[str, Any]) -> Proof:
    return {'contacts': int(record['metrics']['pedestrian_contacts'])}


def _check_nothing(_: RegionContext, __: Task, ___: Mapping[str, Any]) -> Proof:
    return {}


#: What else is measured of the play of some kinds; None where it does not hold.
_CHECKS: Mapping[Kind, Callable[[RegionContext, Task, Mapping[str, Any]], Proof | None]] = {
    Kind.TIME_WINDOW: _check_schedule,
    Kind.DYNAMIC_CLOSURE: _check_notice,
    Kind.PEDESTRIANS: _check_contacts,
    Kind.SHORT_RANGE_PEDESTRIANS: _check_contacts,
}
