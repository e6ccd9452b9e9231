# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""People who walk the pedestrian network around the body, and keep clear of each other.

Ten times a simulated second each chooses a velocity for the next tenth of a second, one after
the other: the first of a few deflections of the wanted one that keeps a distance from all the
motions chosen before, from those who have not chosen yet, and from the body. To stay is always
possible, so nobody ever walks through anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
import hashlib
import itertools
import math
from typing import NamedTuple
from typing import TYPE_CHECKING

import numpy as np

from urbanground_ros.geo import FeatureType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from urbanground_ros.geo import PedestrianNetwork

    FloatArray = NDArray[np.float64]

#: People are kept within this distance of the body, and come back no nearer than that (m).
AREA_RADIUS = 120.0
RETURN_RADIUS = 45.0
#: Radius of a person, and the room that one leaves to others beyond it (m).
RADIUS = 0.25
CLEARANCE = 0.02
#: How far to the left of a way's middle people walk, as they do in Hong Kong, and how far from
#: the middle they may be pushed (m).
KEEP_LEFT = 0.45
MOST_ASIDE = 1.0
#: Physics ticks between two choices, and how far ahead on the way people aim (m).
TICKS_PER_CHOICE = 5
LOOK_AHEAD = 1.2
#: The body is heeded from this much further away (m): it may come towards people.
BODY_MARGIN = 0.5
#: Who is this much above somebody is on another storey (m).
STOREY = 2.0
#: Places that are tried for somebody who comes.
MOST_TRIES = 12
#: Simulated seconds without getting on, after which one turns back.
PATIENCE = 3.0
#: Turns (rad) and shares of the speed that are tried in this order; the last is to stay.
_CHOICES = np.array([
    (math.cos(turn) * share, math.sin(turn) * share)
    for turn, share in ((0.0, 1.0), (0.5, 1.0), (-0.5, 1.0), (0.0, 0.5), (1.0, 0.8), (-1.0, 0.8),
                        (1.6, 0.5), (-1.6, 0.5), (0.0, 0.0))])
#: A lift is not walked, and a stair lift is none's.
_NOT_WALKED = frozenset({FeatureType.LIFT, FeatureType.M_LIFT, FeatureType.STAIRLIFT,
                         FeatureType.M_STAIRLIFT})


class People(NamedTuple):
    """Everybody at one instant, in the map frame (ENU, m, m/s).

    `ids` (N,) name people for as long as the city is loaded; `positions` (N, 3) are the points
    between the feet; `velocities` (N, 3); `heights` (N,); all have radius `RADIUS`. `walked`
    (N,) is how far each has come, from which follows where the legs are; `headings` (N,) in
    radians counter-clockwise from east.
    """

    ids: NDArray[np.uint32]
    positions: FloatArray
    velocities: FloatArray
    heights: FloatArray
    walked: FloatArray
    headings: FloatArray


class Crowd:
    """A number of people on a network; the same seed and the same calls give the same walk.

    Whoever gets far from the body comes back somewhere else in its neighbourhood; where no way
    is near, or no room on it, fewer people are there.

    Args:
        ways: Where they walk.
        count: How many.
        seed: Of their places, ways and speeds.
        body: Where the body stands, (3,).
        body_radius: Its radius, metres.
        period: Of physics, seconds.
    """

    def __init__(self, ways: Ways, count: int, seed: int, body: FloatArray,
                 body_radius: float, period: float) -> None:
        self._random = np.random.default_rng([seed, count])
        self._period = period
        self._reach = RADIUS + body_radius
        self._ways = ways
        self._tick = 0
        self._heights = self._random.uniform(1.52, 1.86, count)
        self._speeds = self._random.uniform(0.9, 1.7, count)
        self._present = np.zeros(count, bool)
        self._positions = np.zeros((count, 3))
        self._velocities = np.zeros((count, 3))
        self._segment = np.zeros(count, np.intp)
        self._ahead = np.ones(count, bool)
        self._stuck = np.zeros(count)
        self._walked = np.zeros(count)
        self._headings = np.zeros(count)
        self._settle(np.arange(count), body, 0.0)

    @property
    def count(self) -> int:
        """How many people are there."""
        return int(self._present.sum())

    def now(self) -> People:
        """Return everybody; the arrays are copies."""
        there = np.flatnonzero(self._present)
        return People(there.astype(np.uint32), self._positions[there], self._velocities[there],
                      self._heights[there], self._walked[there], self._headings[there])

    def tick(self, body: FloatArray) -> None:
        """Advance one physics period; `body` (3,) is where the body stands."""
        if self._tick % TICKS_PER_CHOICE == 0:
            self._bring_back(body)
            self._choose(body)
        self._tick += 1
        self._positions += self._velocities * self._period
        self._walked += np.hypot(*self._velocities[:, :2].T) * self._period

    def touching(self, body: FloatArray, height: float) -> dict[int, tuple[float, float]]:
        """Return who overlaps a body of a height at `body` (3,), and its way out of each (m)."""
        gap = body - self._positions
        distance = np.hypot(gap[:, 0], gap[:, 1])
        close = self._present & (distance < self._reach)
        found = {}
        for person in np.flatnonzero(close & (-gap[:, 2] < height) & (gap[:, 2] < self._heights)):
            depth = self._reach - distance[person]
            east, north = gap[person, :2] / distance[person] if distance[person] else (1.0, 0.0)
            found[int(person)] = float(east * depth), float(north * depth)
        return found

    def distance(self, person: int, body: FloatArray) -> float:
        """Return the horizontal gap between the body at `body` (3,) and a person (m)."""
        return math.dist(self._positions[person, :2], body[:2]) - self._reach

    def digest(self) -> str:
        """Return a digest of all that their future depends on."""
        digest = hashlib.sha256()
        for part in (self._present, self._positions, self._velocities, self._segment,
                     self._ahead, self._stuck, self._walked, self._headings):
            digest.update(part.tobytes())
        digest.update(repr((self._tick, self._random.bit_generator.state)).encode())
        return digest.hexdigest()

    # -- where they come from ----------------------------------------------------------------

    def _bring_back(self, body: FloatArray) -> None:
        far = np.hypot(*(self._positions[:, :2] - body[:2]).T) > 1.15 * AREA_RADIUS
        gone = np.flatnonzero(far | ~self._present)
        if gone.size:
            self._present[gone] = False
            self._settle(gone, body, RETURN_RADIUS)

    def _settle(self, people: NDArray[np.intp], body: FloatArray, nearest: float) -> None:
        """Put people on ways near the body, as far as there is room."""
        near = np.hypot(*(self._ways.middles - body[:2]).T) < AREA_RADIUS
        shares = np.cumsum(self._ways.lengths * near)
        self._velocities[people] = 0.0
        if shares[-1] > 0.0:
            for person in people.tolist():
                self._settle_one(person, body, nearest, shares)

    def _settle_one(self, person: int, body: FloatArray, nearest: float,
                    shares: FloatArray) -> None:
        """Put one person on one of the ways, by their cumulated lengths (S,)."""
        ways = self._ways
        for _ in range(MOST_TRIES):
            pick, along, way = self._random.random(3)
            segment = int(np.searchsorted(shares, pick * shares[-1], side='right'))
            ahead = bool(ways.forward[segment] and (way < 0.5 or not ways.backward[segment]))
            place = ways.place(segment, ahead, along)
            gaps = np.hypot(*(self._positions[self._present, :2] - place[:2]).T)
            distance = math.dist(place[:2], body[:2])
            if max(nearest, self._reach + CLEARANCE) < distance < AREA_RADIUS \
                    and np.all(gaps > 2 * RADIUS + CLEARANCE):
                self._positions[person] = place
                self._segment[person], self._ahead[person] = segment, ahead
                self._stuck[person] = 0.0
                self._present[person] = True
                return

    # -- where they go -----------------------------------------------------------------------

    def _choose(self, body: FloatArray) -> None:
        present = np.flatnonzero(self._present)
        if not present.size:
            return
        seconds = TICKS_PER_CHOICE * self._period
        places, levels = self._positions[present, :2], self._positions[present, 2]
        wanted = self._wanted(present)
        chosen = wanted.copy()
        # Only who might meet somebody before the next choice has to look; storeys do not meet.
        reach = self._speeds[present] * seconds
        apart = places[:, None] - places[None]
        meets = np.hypot(apart[..., 0], apart[..., 1]) < (
            2 * RADIUS + CLEARANCE + reach[:, None] + reach[None])
        meets &= np.abs(levels[:, None] - levels[None]) < STOREY
        np.fill_diagonal(meets, val=False)
        aside = places - body[:2]
        by_body = (np.hypot(*aside.T) < self._reach + CLEARANCE + reach + BODY_MARGIN) & (
            np.abs(levels - body[2]) < STOREY)
        crowded = meets.any(axis=1) | by_body
        settled = ~crowded
        for i in np.flatnonzero(crowded):
            others = np.flatnonzero(meets[i])
            # Who has not chosen yet may still stay where he is.
            moves = np.where(settled[others, None], chosen[others], 0.0) * seconds
            chosen[i] = self._deflect(int(self._segment[present[i]]), places[i], wanted[i],
                                      seconds, places[others], moves,
                                      aside[i] if by_body[i] else None)
            settled[i] = True
        heights, _ = self._ways.project(self._segment[present], places + chosen * seconds)
        self._velocities[present] = np.column_stack((chosen, (heights - levels) / seconds))
        speed = np.hypot(*chosen.T)
        turned = np.arctan2(chosen[:, 1], chosen[:, 0])
        self._headings[present] = np.where(speed > 0.1, turned, self._headings[present])
        slow = speed < 0.3 * self._speeds[present]
        self._stuck[present] = np.where(slow, self._stuck[present] + seconds, 0.0)
        for person in present[self._stuck[present] > PATIENCE]:
            self._stuck[person] = 0.0
            if self._ways.both[self._segment[person]]:
                self._ahead[person] = not self._ahead[person]

    def _wanted(self, present: NDArray[np.intp]) -> FloatArray:
        """Return the velocities (N, 2) along the ways, of which who has ended one takes a next."""
        ways, places = self._ways, self._positions[:, :2]
        ended = ways.ended(self._segment[present], self._ahead[present], places[present])
        for person in present[ended]:
            segment, ahead = int(self._segment[person]), bool(self._ahead[person])
            onward = ways.onward(segment, ahead)
            self._segment[person], self._ahead[person] = onward[
                int(self._random.integers(len(onward)))] if onward else (segment, not ahead)
        to_aim = ways.aims(self._segment[present], self._ahead[present],
                           places[present]) - places[present]
        distance = np.maximum(np.hypot(*to_aim.T), 1e-6)
        return to_aim * (self._speeds[present] / distance)[:, None]

    def _deflect(self, segment: int, place: FloatArray, wanted: FloatArray, seconds: float,
                 others: FloatArray, moves: FloatArray,
                 aside: FloatArray | None) -> FloatArray:
        """Return the first velocity that keeps clear of everybody, of the body and of walls."""
        velocities = _CHOICES @ np.array([wanted, [-wanted[1], wanted[0]]])
        steps = velocities * seconds
        free = np.all(_least_distance(
            (place - others)[None], steps[:, None] - moves[None]) >= 2 * RADIUS + CLEARANCE,
            axis=1)
        # Off the way there may be a wall or a road.
        _, off = self._ways.project(np.full(len(steps) + 1, segment),
                                    np.vstack((place, place + steps)))
        free &= (off[1:] <= MOST_ASIDE) | (off[1:] <= off[0])
        if aside is not None:
            # Whom the body has run into may only go away from it.
            free &= _least_distance(aside[None], steps) >= min(
                self._reach + CLEARANCE, math.hypot(*aside) - 1e-9)
        good = np.flatnonzero(free)
        return velocities[good[0]] if good.size else np.zeros(2)


class Ways:
    """The straight segments of a network that can be walked, and what follows each.

    `lengths` (S,) and `middles` (S, 2) are horizontal; `forward`, `backward` and `both` (S,)
    tell which way each may be walked.
    """

    def __init__(self, network: PedestrianNetwork) -> None:
        parts: list[FloatArray] = []
        forward: list[bool] = []
        backward: list[bool] = []
        ends: list[tuple[object, object]] = []
        for first, last, index in _features(network):
            feature = network.features[index]
            inner = [(index, k) for k in range(1, len(feature.points) - 1)]
            joints: list[object] = [first, *inner, last]
            for k, ends_of in enumerate(itertools.pairwise(joints)):
                parts.append(feature.points[k:k + 2])
                forward.append(feature.forward)
                backward.append(feature.backward)
                ends.append(ends_of)
        lines = np.array(parts).reshape(-1, 2, 3)
        self._starts, self._vectors = lines[:, 0], lines[:, 1] - lines[:, 0]
        self.lengths = np.maximum(np.hypot(*self._vectors[:, :2].T), 1e-6)
        self.middles = lines[:, :, :2].mean(axis=1)
        self._along = self._vectors[:, :2] / self.lengths[:, None]
        self.forward, self.backward = np.array(forward, bool), np.array(backward, bool)
        self.both = self.forward & self.backward
        self._ends = ends
        self._leaving: dict[object, list[tuple[int, bool]]] = {}
        for segment, (start, end) in enumerate(ends):
            if self.forward[segment]:
                self._leaving.setdefault(start, []).append((segment, True))
            if self.backward[segment]:
                self._leaving.setdefault(end, []).append((segment, False))

    def onward(self, segment: int, ahead: bool) -> list[tuple[int, bool]]:
        """Return the segments that follow one, each with whether it is walked ahead."""
        joint = self._ends[segment][1 if ahead else 0]
        return [way for way in self._leaving.get(joint, []) if way[0] != segment]

    def place(self, segment: int, ahead: bool, share: float) -> FloatArray:
        """Return the point (3,) at a share of a segment, on the left of its middle."""
        point: FloatArray = self._starts[segment] + self._vectors[segment] * share
        point[:2] += self._left(segment, np.array(ahead)) * KEEP_LEFT
        return point

    def ended(self, segments: NDArray[np.intp], ahead: NDArray[np.bool_],
              places: FloatArray) -> NDArray[np.bool_]:
        """Tell who (places (N, 2)) has come to the end of his segment."""
        done = self._progress(segments, places)
        left = np.where(ahead, self.lengths[segments] - done, done)
        return left < RADIUS

    def aims(self, segments: NDArray[np.intp], ahead: NDArray[np.bool_],
             places: FloatArray) -> FloatArray:
        """Return the points (N, 2) a little ahead on the way, that people walk towards."""
        done = self._progress(segments, places) + np.where(ahead, LOOK_AHEAD, -LOOK_AHEAD)
        done = np.clip(done, 0.0, self.lengths[segments])
        points: FloatArray = self._starts[segments, :2] + self._along[segments] * done[:, None]
        return points + self._left(segments, ahead) * KEEP_LEFT

    def project(self, segments: NDArray[np.intp],
                places: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the heights (N,) of the ways at places (N, 2), and the distances from them."""
        done = np.clip(self._progress(segments, places), 0.0, self.lengths[segments])
        share = done / self.lengths[segments]
        points = self._starts[segments] + self._vectors[segments] * share[:, None]
        return points[:, 2], np.hypot(*(places - points[:, :2]).T)

    def _progress(self, segments: NDArray[np.intp], places: FloatArray) -> FloatArray:
        progress: FloatArray = (
            (places - self._starts[segments, :2]) * self._along[segments]).sum(axis=1)
        return progress

    def _left(self, segments: NDArray[np.intp] | int, ahead: NDArray[np.bool_]) -> FloatArray:
        along = self._along[segments]
        left = np.stack((-along[..., 1], along[..., 0]), axis=-1)
        return np.where(ahead[..., None], left, -left)


def _features(network: PedestrianNetwork) -> Iterator[tuple[int, int, int]]:
    """Yield first node, last node and index of each feature that people walk."""
    nodes = network.graph.nodes
    seen = set()
    for source, target, index in network.graph.edges(keys=True):
        feature = network.features[index]
        if index in seen or feature.feature_type in _NOT_WALKED:
            continue
        seen.add(index)
        starts = np.array_equal(nodes[source]['position'], feature.points[0])
        yield (source, target, index) if starts else (target, source, index)


def _least_distance(gap: FloatArray, motion: FloatArray) -> FloatArray:
    """Return the least length (...) of `gap + t * motion` (..., 2) for t from 0 to 1."""
    square = (motion ** 2).sum(axis=-1)
    nearest = np.clip(-(gap * motion).sum(axis=-1) / np.maximum(square, 1e-12), 0.0, 1.0)
    closest = gap + nearest[..., None] * motion
    return np.hypot(closest[..., 0], closest[..., 1])
