# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Metrics of an executed trajectory, per step as published and sampled at 25 Hz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import TYPE_CHECKING

import numpy as np

from urbanground_ros.city import EventKind
from urbanground_ros.geo import DEFAULT_HORIZONTAL_TOLERANCE
from urbanground_ros.geo import DEFAULT_VERTICAL_TOLERANCE
from urbanground_ros.geo import great_circle_distance
from urbanground_ros.geo import NoRouteError
from urbanground_ros.scoring.outcome import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from urbanground_ros.city import Event
    from urbanground_ros.city import GeoPoint
    from urbanground_ros.city import Sample
    from urbanground_ros.geo import LocalFrame
    from urbanground_ros.geo import PedestrianNetwork
    from urbanground_ros.scoring.recorder import StepRecord
    from urbanground_ros.tasks import Task

#: Metres, horizontal, great circle (paper).
ARRIVAL_RADIUS = 15.0


@dataclass(frozen=True)
class Definition:
    """One metric: its unit, and what it is, in a line."""

    unit: str
    text: str


#: Every metric that a record holds. "step states" are the states after each action.
DEFINITIONS: dict[str, Definition] = {
    'arrived': Definition('1', 'final position within 15 m of the destination, horizontally'),
    'success': Definition('1', 'the episode ended as succeeded'),
    'pna': Definition('1', 'pedestrian-network adherence, paper parity: duration of actions whose '
                           'post-action state is on the network / duration of actions'),
    'pna_states': Definition('1', 'share of step states on the network'),
    'pna_sampled': Definition('1', 'share of simulated time of motion on the network'),
    'initial_distance': Definition('m', 'great-circle distance from start to destination'),
    'final_distance': Definition('m', 'great-circle distance from the end to the destination'),
    'remaining_distance_ratio': Definition('1', 'final / initial distance'),
    'closer_than_start': Definition('1', 'final distance is less than the initial one'),
    'path_length': Definition('m', 'paper parity: horizontal length over step states'),
    'path_length_sampled': Definition('m', '3D length of the sampled trajectory'),
    'displacement': Definition('m', 'great-circle distance from start to end'),
    'network_distance': Definition('m', 'shortest way from start to destination on the network'),
    'spl': Definition('1', 'success weighted by network distance / max(path, network distance) '
                           '(Anderson et al. 2018)'),
    'steps': Definition('1', 'actions taken'),
    'first_person_steps': Definition('1', 'actions taken in first person'),
    'map_steps': Definition('1', 'actions taken on the map'),
    'duration': Definition('s', 'simulated time from start to end'),
    'building_contacts': Definition('1', 'times the body was stopped by something solid'),
    'pedestrian_contacts': Definition('1', 'contacts with people'),
}


def distance_to_goal(frame: LocalFrame, goal: GeoPoint, x: float, y: float, z: float) -> float:
    """Return the great-circle distance in metres from a point in the map frame to a goal."""
    latitude, longitude, _ = frame.to_geodetic(np.array([x, y, z]))
    return float(great_circle_distance(latitude, longitude, goal.latitude, goal.longitude))


def positions(samples: Sequence[Sample]) -> NDArray[np.float64]:
    """Return the positions of samples, (N, 3) in the map frame."""
    return np.array([(s.x, s.y, s.z) for s in samples], dtype=np.float64).reshape(-1, 3)


def _share(flags: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    total = float(weights.sum())
    return float(weights[flags].sum()) / total if total > 0 else math.nan


def compute_metrics(task: Task, network: PedestrianNetwork, samples: Sequence[Sample],
                    steps: Sequence[StepRecord], events: Sequence[Event], outcome: Outcome, *,
                    horizontal_tolerance: float = DEFAULT_HORIZONTAL_TOLERANCE,
                    vertical_tolerance: float = DEFAULT_VERTICAL_TOLERANCE) -> dict[str, float]:
    """Compute every metric of `DEFINITIONS` for an episode, live, final or recorded.

    Args:
        task: what was to be done.
        network: the region's pedestrian network; its frame is the samples' map frame.
        samples: the trajectory from load on, without gaps; at least one.
        steps: the actions, each with the sequence number of the last sample that it made.
        events: what the city reported.
        outcome: how the episode ended, UNDEFINED while it runs.
        horizontal_tolerance: metres from a network line that count as on it; the network's
            stated accuracy is 1 m, a sidewalk's half width about 2 m.
        vertical_tolerance: metres above or below a line that count as on its level; the
            network's stated accuracy is 2 m, the least clearance under a footbridge about 4.5 m.

    Returns:
        Values by name; NaN where a metric does not apply.
    """
    frame = network.frame
    points = positions(samples)
    first = samples[0].sequence
    states = points[[step.sequence - first for step in steps]].reshape(-1, 3)
    durations = np.array([step.seconds for step in steps], dtype=np.float64)

    def on_network(at: NDArray[np.float64]) -> NDArray[np.bool_]:
        if not len(at):
            return np.zeros(0, dtype=bool)
        return network.on_network(at, horizontal_tolerance, vertical_tolerance)

    states_on = on_network(states)
    moved = np.linalg.norm(np.diff(points, axis=0), axis=1)
    times = np.diff(np.array([s.elapsed_ns for s in samples], dtype=np.float64)) * 1e-9
    # Standing still, to look or think, says nothing of where one walks.
    moving = moved > 1e-6
    sampled_on = on_network(points[1:][moving])

    latitude, longitude, _ = frame.to_geodetic(points[[0, -1]])
    goal = task.destination
    initial, final = (float(great_circle_distance(latitude[k], longitude[k], goal.latitude,
                                                  goal.longitude)) for k in (0, 1))
    goal_point = frame.from_geodetic(
        goal.latitude, goal.longitude,
        goal.altitude if math.isfinite(goal.altitude) else frame.altitude)
    try:
        shortest = float(network.route(points[0], goal_point).length)
    except NoRouteError:
        shortest = math.nan
    path = np.vstack([points[:1], states])[:, :2]
    sampled_length = float(moved.sum())
    success = outcome is Outcome.SUCCEEDED
    on_map = [step.mode == 'map' or step.action.get('name') == 'close_map' for step in steps]
    return {
        'arrived': float(final <= ARRIVAL_RADIUS),
        'success': float(success),
        'pna': _share(states_on, durations),
        'pna_states': float(states_on.mean()) if len(states_on) else math.nan,
        'pna_sampled': _share(sampled_on, times[moving]),
        'initial_distance': initial,
        'final_distance': final,
        'remaining_distance_ratio': final / initial if initial > 0 else math.nan,
        'closer_than_start': float(final < initial),
        'path_length': float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum()),
        'path_length_sampled': sampled_length,
        'displacement': float(great_circle_distance(latitude[0], longitude[0],
                                                    latitude[1], longitude[1])),
        'network_distance': shortest,
        'spl': (shortest / max(shortest, sampled_length) if success else 0.0),
        'steps': float(len(steps)),
        'first_person_steps': float(len(steps) - sum(on_map)),
        'map_steps': float(sum(on_map)),
        'duration': (samples[-1].elapsed_ns - samples[0].elapsed_ns) * 1e-9,
        'building_contacts': float(sum(e.kind is EventKind.CONTACT_BUILDING for e in events)),
        'pedestrian_contacts': float(sum(e.kind is EventKind.CONTACT_PEDESTRIAN for e in events)),
    }
