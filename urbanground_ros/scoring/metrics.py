# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Metrics of an executed trajectory, per step as published and sampled at 25 Hz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import TYPE_CHECKING

import networkx
import numpy as np

from urbanground_ros.city import EventKind
from urbanground_ros.geo import DEFAULT_HORIZONTAL_TOLERANCE
from urbanground_ros.geo import DEFAULT_VERTICAL_TOLERANCE
from urbanground_ros.geo import great_circle_distance
from urbanground_ros.geo import NoRouteError
from urbanground_ros.scoring.arrival import ARRIVAL_RADIUS
from urbanground_ros.scoring.arrival import distances_to
from urbanground_ros.scoring.closures import crossings
from urbanground_ros.scoring.closures import to_lines
from urbanground_ros.scoring.outcome import Outcome
from urbanground_ros.scoring.visits import Visits
from urbanground_ros.tasks import Family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from urbanground_ros.city import Event
    from urbanground_ros.city import Sample
    from urbanground_ros.geo import LocalFrame
    from urbanground_ros.geo import PedestrianNetwork
    from urbanground_ros.scoring.recorder import StepRecord
    from urbanground_ros.tasks import Task

@dataclass(frozen=True)
class Definition:
    """One metric: its unit, and what it is, in a line."""

    unit: str
    text: str


#: Every metric that a record holds; one that does not apply to a task has no value there.
#: "step states" are the states after each action.
DEFINITIONS: dict[str, Definition] = {
    'success': Definition('1', 'the episode ended as succeeded'),
    'correct': Definition('1', 'questions: the right answer was given'),
    'arrived': Definition('1', 'final position within 15 m of the destination, horizontally'),
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
    'stops_visited': Definition('1', 'several places: share that was visited, of a schedule in '
                                     'its order'),
    'stops_visited_states': Definition('1', 'paper parity: the same, by step states alone'),
    'order_violations': Definition('1', 'schedules: times that a later place was entered early'),
    'stops_on_time': Definition('1', 'schedules: share visited in order by 60 s after the minute '
                                     'of its deadline'),
    'lateness': Definition('s', 'schedules: mean over visited places, 0 for one on time'),
    'route_efficiency': Definition('1', 'several places: length of the minimum spanning tree over '
                                        'start and visited places / path length, at most 1'),
    'closure_violation': Definition('1', 'closures, paper parity: a straight line between two '
                                         'step states meets a closure that was disclosed'),
    'closure_violation_sampled': Definition('1', 'closures: the trajectory meets one that was '
                                                 'disclosed, on its level'),
    'safe_progress': Definition('1', 'closures: ended nearer to the destination than at the '
                                     'disclosure, without a violation'),
    'pedestrian_collision': Definition('1', 'among pedestrians: at least one contact'),
    'pedestrian_contacts': Definition('1', 'contacts with people'),
    'pedestrian_contact_steps': Definition('1', 'actions with a contact with people'),
    'building_contacts': Definition('1', 'times the body was stopped by something solid'),
    'rain_exposure': Definition('s', 'rain: simulated time without shelter'),
    'rain_exposure_share': Definition('1', 'rain: the same / simulated time'),
    'rain_exposure_actions': Definition('1', 'rain, paper parity: duration of actions whose '
                                             'post-action state has no shelter / duration of '
                                             'actions'),
    'steps': Definition('1', 'actions taken'),
    'first_person_steps': Definition('1', 'actions taken in first person'),
    'map_steps': Definition('1', 'actions taken on the map'),
    'duration': Definition('s', 'simulated time from start to end'),
}

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
    taken = [step for step in steps if step.action.get('name') != 'answer']
    first = samples[0].sequence
    points = positions(samples)
    walk = _Walk(
        network.frame, points, points[[step.sequence - first for step in taken]].reshape(-1, 3),
        np.array([step.seconds for step in taken], dtype=np.float64),
        np.array([step.sequence for step in taken], dtype=np.int64), samples, events)

    def on_network(at: NDArray[np.float64]) -> NDArray[np.bool_]:
        if not len(at):
            return np.zeros(0, dtype=bool)
        return network.on_network(at, horizontal_tolerance, vertical_tolerance)

    states_on = on_network(walk.states)
    moved = np.linalg.norm(np.diff(points, axis=0), axis=1)
    # Standing still, to look or think, says nothing of where one walks.
    moving = moved > 1e-6
    latitude, longitude, _ = network.frame.to_geodetic(points[[0, -1]])
    on_map = [step.mode == 'map' or step.action.get('name') == 'close_map' for step in taken]
    answers = [step.action.get('option') for step in steps if step not in taken]
    contacts = walk.sequences_of(EventKind.CONTACT_PEDESTRIAN)
    return {
        **dict.fromkeys(DEFINITIONS, math.nan),
        'success': float(outcome is Outcome.SUCCEEDED),
        'pna': _share(states_on, walk.durations),
        'pna_states': float(states_on.mean()) if len(states_on) else math.nan,
        'pna_sampled': _share(on_network(points[1:][moving]), walk.times[moving]),
        'path_length': walk.length,
        'path_length_sampled': float(moved.sum()),
        'displacement': float(great_circle_distance(latitude[0], longitude[0],
                                                    latitude[1], longitude[1])),
        **_destination(task, network, walk, outcome, float(moved.sum())),
        **_stops(task, walk),
        **_closures(task, walk),
        **_rain(task, walk),
        'correct': float(task.answer in answers) if task.kind.family is Family.QUESTION
        else math.nan,
        'pedestrian_collision': float(len(contacts) > 0) if task.kind.walks_among_pedestrians
        else math.nan,
        'pedestrian_contacts': float(len(contacts)),
        'pedestrian_contact_steps': float(len(set(
            np.searchsorted(walk.ends, contacts).tolist()))),
        'building_contacts': float(len(walk.sequences_of(EventKind.CONTACT_BUILDING))),
        'steps': float(len(taken)),
        'first_person_steps': float(len(taken) - sum(on_map)),
        'map_steps': float(sum(on_map)),
        'duration': (samples[-1].elapsed_ns - samples[0].elapsed_ns) * 1e-9,
    }


@dataclass(frozen=True)
class _Walk:
    """What the body did.

    `points` (N, 3) are the samples, `states` (M, 3) those after each action; `durations` (M,)
    are the actions' seconds, `ends` (M,) the sequence numbers of their last samples.
    """

    frame: LocalFrame
    points: NDArray[np.float64]
    states: NDArray[np.float64]
    durations: NDArray[np.float64]
    ends: NDArray[np.int64]
    samples: Sequence[Sample]
    events: Sequence[Event]

    @property
    def elapsed(self) -> NDArray[np.float64]:
        """Seconds of each sample, (N,)."""
        return np.array([s.elapsed_ns for s in self.samples], dtype=np.float64) * 1e-9

    @property
    def times(self) -> NDArray[np.float64]:
        """Seconds from each sample to the next, (N-1,)."""
        return np.diff(self.elapsed)

    @property
    def chords(self) -> NDArray[np.float64]:
        """The start and the states after each action, (M+1, 3)."""
        return np.vstack([self.points[:1], self.states])

    @property
    def length(self) -> float:
        """Horizontal metres over the chords."""
        return float(np.linalg.norm(np.diff(self.chords[:, :2], axis=0), axis=1).sum())

    def sequences_of(self, *kinds: EventKind) -> NDArray[np.int64]:
        """Return the sequence numbers of the samples at events of these kinds."""
        return np.array([e.sequence for e in self.events if e.kind in kinds], dtype=np.int64)


def _destination(task: Task, network: PedestrianNetwork, walk: _Walk, outcome: Outcome,
                 sampled_length: float) -> dict[str, float]:
    """Return the metrics of tasks that lead to one place."""
    goal = task.goal
    if goal is None or task.kind.family is not Family.GOAL:
        return {}
    initial, final = distances_to(walk.frame, [goal], walk.points[[0, -1]])[:, 0].tolist()
    goal_point = walk.frame.from_geodetic(
        goal.latitude, goal.longitude,
        goal.altitude if math.isfinite(goal.altitude) else walk.frame.altitude)
    try:
        shortest = float(network.route(walk.points[0], goal_point).length)
    except NoRouteError:
        shortest = math.nan
    success = outcome is Outcome.SUCCEEDED
    return {
        'arrived': float(final <= ARRIVAL_RADIUS),
        'initial_distance': initial,
        'final_distance': final,
        'remaining_distance_ratio': final / initial if initial > 0 else math.nan,
        'closer_than_start': float(final < initial),
        'network_distance': shortest,
        'spl': (shortest / max(shortest, sampled_length) if success else 0.0),
    }


def _stops(task: Task, walk: _Walk) -> dict[str, float]:
    """Return the metrics of tasks that lead to several places."""
    if not task.stops:
        return {}
    visits, by_states = Visits(task, walk.frame), Visits(task, walk.frame)
    visits.take(walk.points, walk.elapsed.tolist())
    by_states.take(walk.states, (walk.elapsed[0] + np.cumsum(walk.durations)).tolist())
    count = len(task.stops)
    found = {
        'stops_visited': len(visits.times) / count,
        'stops_visited_states': len(by_states.times) / count,
        'route_efficiency': min(1.0, _spanning_length(task, walk, list(visits.times))
                                / walk.length) if walk.length > 0 else 0.0,
    }
    if task.kind.family is Family.SCHEDULE:
        late = visits.lateness()
        timed = sum(stop.deadline is not None for stop in task.stops)
        found |= {
            'order_violations': float(visits.order_violations),
            'stops_on_time': sum(by == 0 for by in late) / timed if timed else math.nan,
            'lateness': sum(late) / len(late) if late else math.nan,
        }
    return found


def _spanning_length(task: Task, walk: _Walk, visited: list[int]) -> float:
    """Return the metres of the minimum spanning tree over the start and visited stops."""
    places = [task.start.point, *(task.stops[stop].point for stop in visited)]
    tree: networkx.Graph[int] = networkx.Graph()
    for k, a in enumerate(places):
        for m, b in enumerate(places[:k]):
            tree.add_edge(k, m, weight=float(great_circle_distance(
                a.latitude, a.longitude, b.latitude, b.longitude)))
    return float(networkx.minimum_spanning_tree(tree).size('weight'))


def _closures(task: Task, walk: _Walk) -> dict[str, float]:
    """Return the metrics of tasks with closures, which count from their disclosure on."""
    if not task.kind.has_closures:
        return {}
    disclosed = walk.sequences_of(EventKind.CLOSURE_DISCLOSED)
    if not len(disclosed):
        return {'closure_violation': 0.0, 'closure_violation_sampled': 0.0, 'safe_progress': 0.0}
    since = int(disclosed[0])
    lines = to_lines(task.closures, walk.frame)
    sequences = np.array([s.sequence for s in walk.samples])
    crossed = bool(crossings(walk.points, lines)[sequences[1:] >= since].any())
    flat = [line * [1.0, 1.0, math.nan] for line in lines]
    parity = bool(crossings(walk.chords, flat)[walk.ends >= since].any())
    then = int(np.clip(since - sequences[0] - 1, 0, len(walk.points) - 1))
    before, after = distances_to(walk.frame, [task.destination],
                                 walk.points[[then, -1]])[:, 0].tolist()
    return {
        'closure_violation': float(parity),
        'closure_violation_sampled': float(crossed),
        'safe_progress': float(after < before and not crossed),
    }


def _rain(task: Task, walk: _Walk) -> dict[str, float]:
    """Return the metrics of tasks in rain; the city tells when the body came in and out of it."""
    if not task.condition.rains:
        return {}
    sequences = np.array([s.sequence for s in walk.samples])
    changes = walk.sequences_of(EventKind.RAIN_IN, EventKind.RAIN_OUT)
    wet = np.array([False, *(e.kind is EventKind.RAIN_IN for e in walk.events
                             if e.kind in (EventKind.RAIN_IN, EventKind.RAIN_OUT))])

    def exposed(at: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell whether there was no shelter at samples by their sequence numbers."""
        found: NDArray[np.bool_] = wet[np.searchsorted(changes, at, side='right')]
        return found

    seconds = float(walk.times[exposed(sequences[1:])].sum())
    total = float(walk.times.sum())
    return {
        'rain_exposure': seconds,
        'rain_exposure_share': seconds / total if total > 0 else math.nan,
        'rain_exposure_actions': _share(exposed(walk.ends), walk.durations),
    }
