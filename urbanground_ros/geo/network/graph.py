# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The pedestrian network as one object: features, graph, spatial index, routes."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import math
from os import PathLike
from typing import Any
from typing import NamedTuple

import networkx
import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray
import shapely

from urbanground_ros.geo.errors import NetworkError
from urbanground_ros.geo.errors import NoRouteError
from urbanground_ros.geo.frames import DEFAULT_HKPD_OFFSET
from urbanground_ros.geo.frames import FloatArray
from urbanground_ros.geo.frames import LocalFrame
from urbanground_ros.geo.network.codes import FeatureType
from urbanground_ros.geo.network.features import Feature
from urbanground_ros.geo.network.features import feature_from_line
from urbanground_ros.geo.network.readers import lines_of
from urbanground_ros.geo.network.readers import read_document
from urbanground_ros.geo.network.readers import tell_faults
from urbanground_ros.geo.network.routing import Route
from urbanground_ros.geo.network.routing import shortest_paths
from urbanground_ros.geo.network.segments import checked_points
from urbanground_ros.geo.network.segments import IndexArray
from urbanground_ros.geo.network.segments import SegmentIndex

#: Metres in plan and in height within which a point counts as on the network. The Lands
#: Department states an accuracy of 1 m in plan and 2 m in height; a footway is drawn along its
#: centre line, which adds its half width of about 2 m in plan.
DEFAULT_HORIZONTAL_TOLERANCE = 3.0
DEFAULT_VERTICAL_TOLERANCE = 2.0
#: Ends of features nearer than this are the same node, metres in plan and in height.
JOIN_TOLERANCE = 1e-3


class Nearest(NamedTuple):
    """The place on the network nearest to each of N points.

    Attributes:
        feature: Index into `PedestrianNetwork.features`, (N,).
        along: Distance of the place from the first vertex of the feature, metres, (N,).
        point: The place, ENU metres, (N, 3).
        distance: From the point to the place in space, metres, (N,).
        horizontal: The same in plan, (N,).
        vertical: Height of the point over the place, signed, metres, (N,).
    """

    feature: IndexArray
    along: FloatArray
    point: FloatArray
    distance: FloatArray
    horizontal: FloatArray
    vertical: FloatArray


class _Place(NamedTuple):
    """A place on the network: a feature and the distance from its first vertex."""

    feature: int
    along: float


class PedestrianNetwork:
    """A pedestrian network in a map frame.

    Features that the publisher has switched off are listed, and are neither in the graph nor
    in the spatial index.

    Attributes:
        frame: The map frame.
        features: Every feature, in the order of the files.
        graph: Nodes numbered from 0 with `position` (3,), one edge for each direction that a
            feature may be walked, its key the feature's index, with `feature` and `length`
            (3D metres).
        segment_starts: First end of every segment, (S, 3).
        segment_ends: Second end, (S, 3).
        segment_features: Index of the feature it belongs to, (S,).
        left_out: What is wrong with each feature of the files that could not be used.
    """

    def __init__(self, features: Iterable[Feature], frame: LocalFrame,
                 left_out: Iterable[str] = ()) -> None:
        """Join features that lie in one frame.

        Raises:
            NetworkError: no feature is enabled.
        """
        self.frame = frame
        self.left_out = tuple(left_out)
        self.features = tuple(features)
        enabled = [i for i, feature in enumerate(self.features) if feature.enabled]
        if not enabled:
            raise NetworkError('no feature of the network is enabled')
        self.segment_starts = np.concatenate([self.features[i].points[:-1] for i in enabled])
        self.segment_ends = np.concatenate([self.features[i].points[1:] for i in enabled])
        self.segment_features = np.repeat(
            enabled, [len(self.features[i].points) - 1 for i in enabled])
        self._segment_offsets = np.concatenate([self.features[i].offsets[:-1] for i in enabled])
        self._segment_lengths = np.concatenate(
            [np.diff(self.features[i].offsets) for i in enabled])
        self._ends, self._nodes = _join({i: self.features[i].points for i in enabled})
        self.graph = self._build_graph()
        self._search = _Search(np.arange(len(self.segment_features)), self)
        self._latest: tuple[frozenset[int], _Search] = frozenset(), self._search

    @classmethod
    def load(cls, path: str | PathLike[str] | Sequence[str | PathLike[str]], frame: LocalFrame,
             height_offset: float = DEFAULT_HKPD_OFFSET) -> PedestrianNetwork:
        """Read files of the Lands Department's 3D Pedestrian Network, layer PedestrianRoute.

        Takes GeoJSON and Esri JSON, values coded or described in words, in EPSG:4326 or
        EPSG:2326, heights in HKPD. A feature that cannot be used, such as one without heights,
        of an unknown type or with the id of another, is left out and logged.

        Args:
            path: One file, or several whose features make one network.
            frame: The map frame to place it in.
            height_offset: Ellipsoidal height of HKPD zero, metres.

        Raises:
            NetworkError: a file cannot be used, or has no feature that can.
        """
        paths = [path] if isinstance(path, (str, PathLike)) else list(path)
        if not paths:
            raise NetworkError('no network files are given')
        documents = {str(each): read_document(each) for each in paths}
        return cls.from_documents(documents, frame, height_offset)

    @classmethod
    def from_documents(cls, documents: Mapping[str, Mapping[str, Any]], frame: LocalFrame,
                       height_offset: float = DEFAULT_HKPD_OFFSET) -> PedestrianNetwork:
        """Read what network files hold, by what errors call each, as `load` does.

        Raises:
            NetworkError: as for `load`.
        """
        faults: list[NetworkError] = []
        lines = [line for name, document in documents.items()
                 for line in lines_of(document, name, faults)]
        positions = np.concatenate([line.positions for line in lines])
        points = frame.from_geodetic(
            positions[:, 0], positions[:, 1], positions[:, 2] + height_offset)
        ends = np.cumsum([len(line.positions) for line in lines])
        seen: dict[tuple[int, int], str] = {}
        features = []
        for line, part in zip(lines, np.split(points, ends[:-1]), strict=True):
            try:
                feature = feature_from_line(line, part)
                first = seen.setdefault((feature.id, feature.part), line.where)
                if first is not line.where:
                    raise NetworkError(f'{line.where}: the id occurs twice, first in {first}')
            except NetworkError as error:
                faults.append(error)
                continue
            features.append(feature)
        if not features:
            raise faults[0]
        names = ', '.join(documents)
        tell_faults(faults, names)
        try:
            return cls(features, frame, map(str, faults))
        except NetworkError as error:
            raise NetworkError(f'{names}: {error}') from None

    def nearest(self, points: ArrayLike) -> Nearest:
        """Find the place on the network nearest in space to each of (N, 3) ENU points.

        Exact. Of equally near features the one with the lowest index counts.

        Raises:
            NetworkError: the points have another shape or are not finite.
        """
        return self._search.nearest(checked_points(points))

    def on_network(self, points: ArrayLike,
                   horizontal_tolerance: float = DEFAULT_HORIZONTAL_TOLERANCE,
                   vertical_tolerance: float = DEFAULT_VERTICAL_TOLERANCE) -> NDArray[np.bool_]:
        """Tell which of (N, 3) ENU points are on the network.

        A point is where some place of some feature is within both tolerances, so that neither
        a bridge stands for the street below it nor the street for the bridge.

        Raises:
            NetworkError: the points have another shape or are not finite, or a tolerance is
                negative.
        """
        if not (horizontal_tolerance >= 0 and vertical_tolerance >= 0):
            raise NetworkError(f'tolerances are {horizontal_tolerance} and {vertical_tolerance}, '
                               'expected metres, zero or more')
        return self._search.index.within(
            checked_points(points), horizontal_tolerance, vertical_tolerance)

    def route(self, start: ArrayLike, goal: ArrayLike, closed: Collection[int] = ()) -> Route:
        """Find the shortest way between the places nearest to two ENU points of shape (3,).

        Args:
            start: Where the way begins.
            goal: Where it ends.
            closed: Indices of features that are closed: they are neither walked nor the
                nearest place.

        Raises:
            NoRouteError: no open way joins the two.
            NetworkError: a point is not (3,) and finite, a closed feature does not exist, or
                all are closed.
        """
        shut = frozenset(closed)
        begin, end = self._snap((start, goal), shut)
        leave, arrive = self._departures(begin), self._arrivals(end)
        before = {node: abs(along - begin.along) for node, along in leave.items()}
        after = {node: abs(along - end.along) for node, along in arrive.items()}
        tree = shortest_paths(self.graph, before, shut, after)
        total, last = min(
            ((tree.distances[node] + rest, node) for node, rest in after.items()
             if node in tree.distances), default=(math.inf, -1))
        if self._joined_along(begin, end) and abs(end.along - begin.along) <= total:
            return self._assemble([(begin.feature, begin.along, end.along)])
        if last < 0:
            raise NoRouteError(
                f'no open way leads from {np.asarray(start).tolist()} (on feature '
                f'{self.features[begin.feature].id}) to {np.asarray(goal).tolist()} (on feature '
                f'{self.features[end.feature].id})')
        first, edges = tree.path(last)
        pieces = [(begin.feature, begin.along, leave[first])]
        for source, target, index in edges:
            length = self.features[index].length
            ahead = self._ends[index] == (source, target)
            pieces.append((index, 0.0, length) if ahead else (index, length, 0.0))
        pieces.append((end.feature, arrive[last], end.along))
        return self._assemble(pieces)

    def distances(self, start: ArrayLike, closed: Collection[int] = ()) -> FloatArray:
        """Measure the way from the place nearest to an ENU point (3,) to every node.

        Returns:
            Metres, indexed by node, infinite where no open way leads.

        Raises:
            NetworkError: as for `route`.
        """
        shut = frozenset(closed)
        (place,) = self._snap((start,), shut)
        leave = self._departures(place)
        tree = shortest_paths(
            self.graph, {node: abs(along - place.along) for node, along in leave.items()}, shut)
        distances = np.full(len(self._nodes), np.inf)
        distances[list(tree.distances)] = list(tree.distances.values())
        return distances

    def components(self) -> list[frozenset[int]]:
        """Return the sets of nodes that can all be reached from each other, largest first."""
        components = map(frozenset, networkx.strongly_connected_components(self.graph))
        return sorted(components, key=lambda nodes: (-len(nodes), min(nodes)))

    def lines(self) -> dict[FeatureType, list[FloatArray]]:
        """Return the polylines of every feature, (N, 3) ENU, by type in the order of codes."""
        lines: dict[FeatureType, list[FloatArray]] = {kind: [] for kind in FeatureType}
        for feature in self.features:
            lines[feature.feature_type].append(feature.points)
        return {kind: points for kind, points in lines.items() if points}

    def _build_graph(self) -> networkx.MultiDiGraph[Any]:
        graph: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
        for node, position in enumerate(self._nodes):
            graph.add_node(node, position=position)
        for index, (first, last) in self._ends.items():
            feature = self.features[index]
            if feature.forward:
                graph.add_edge(first, last, index, feature=index, length=feature.length)
            if feature.backward:
                graph.add_edge(last, first, index, feature=index, length=feature.length)
        return graph

    def _open_search(self, closed: frozenset[int]) -> _Search:
        """Return the spatial index of what is not closed; the latest is kept."""
        if not closed:
            return self._search
        latest, search = self._latest
        if closed != latest:
            unknown = sorted(closed - set(range(len(self.features))))
            if unknown:
                raise NetworkError(f'closed feature {unknown[0]} does not exist, expected an '
                                   f'index from 0 to {len(self.features) - 1}')
            segments = np.flatnonzero(~np.isin(self.segment_features, list(closed)))
            if not segments.size:
                raise NetworkError('every feature of the network is closed')
            search = _Search(segments, self)
            self._latest = closed, search
        return search

    def _snap(self, points: Sequence[ArrayLike], closed: frozenset[int]) -> list[_Place]:
        array = np.concatenate([
            checked_points(np.asarray(point, dtype=np.float64)[None]) for point in points])
        found = self._open_search(closed).nearest(array)
        return [_Place(int(feature), float(along))
                for feature, along in zip(found.feature, found.along, strict=True)]

    def _departures(self, place: _Place) -> dict[int, float]:
        """Return the nodes a place leads to, each with its distance along the feature."""
        return self._reachable_ends(place, self.features[place.feature].forward,
                                    self.features[place.feature].backward)

    def _arrivals(self, place: _Place) -> dict[int, float]:
        """Return the nodes that lead to a place, each with its distance along the feature."""
        return self._reachable_ends(place, self.features[place.feature].backward,
                                    self.features[place.feature].forward)

    def _reachable_ends(self, place: _Place, ahead: bool, behind: bool) -> dict[int, float]:
        length = self.features[place.feature].length
        first, last = self._ends[place.feature]
        ends = []
        # At a node the direction of the feature does not matter.
        if behind or place.along <= JOIN_TOLERANCE:
            ends.append((place.along, first, 0.0))
        if ahead or length - place.along <= JOIN_TOLERANCE:
            ends.append((length - place.along, last, length))
        # Both ends of a ring are one node: the nearer one counts.
        return {node: along for _, node, along in sorted(ends, reverse=True)}

    def _joined_along(self, begin: _Place, end: _Place) -> bool:
        """Tell whether one place is reached from another on the feature they share."""
        feature = self.features[begin.feature]
        return begin.feature == end.feature and (
            (feature.forward and begin.along <= end.along)
            or (feature.backward and begin.along >= end.along))

    def _assemble(self, pieces: Sequence[tuple[int, float, float]]) -> Route:
        """Join pieces of features, each from one distance along it to another."""
        points = np.concatenate(
            [self.features[index].cut(start, end) for index, start, end in pieces])
        moved = np.r_[True, (points[1:] != points[:-1]).any(axis=1)]
        kept = points[moved] if moved.sum() > 1 else points[:2]
        length = float(np.sqrt((np.diff(kept, axis=0) ** 2).sum(axis=1)).sum())
        walked = [index for index, start, end in pieces if abs(end - start) > JOIN_TOLERANCE]
        return Route(kept, length, tuple(walked or [pieces[0][0]]))


class _Search:
    """Nearest places among some segments of a network."""

    def __init__(self, segments: IndexArray, network: PedestrianNetwork) -> None:
        self.index = SegmentIndex(network.segment_starts[segments],
                                  network.segment_ends[segments])
        self._features = network.segment_features[segments]
        self._offsets = network._segment_offsets[segments]
        self._lengths = network._segment_lengths[segments]

    def nearest(self, points: FloatArray) -> Nearest:
        found = self.index.nearest(points)
        offset = points - found.point
        return Nearest(
            feature=self._features[found.segment],
            along=self._offsets[found.segment] + found.fraction * self._lengths[found.segment],
            point=found.point,
            distance=found.distance,
            horizontal=np.sqrt(offset[:, 0] ** 2 + offset[:, 1] ** 2),
            vertical=offset[:, 2],
        )


def _join(lines: Mapping[int, FloatArray]) -> tuple[dict[int, tuple[int, int]], FloatArray]:
    """Number the nodes where lines end, in the order in which they first occur.

    Rounding alone would part two ends that lie on either side of a cell's edge, so ends are
    joined by their distance.

    Returns:
        The first and the last node of every line, and the position of every node (N, 3).
    """
    ends = np.concatenate([points[[0, -1]] for points in lines.values()])
    plan: Any = shapely.points(ends[:, :2])
    pairs = shapely.STRtree(plan).query(plan, predicate='dwithin', distance=JOIN_TOLERANCE)
    level = np.abs(ends[pairs[0], 2] - ends[pairs[1], 2]) <= JOIN_TOLERANCE
    joined: networkx.Graph[int] = networkx.Graph()
    joined.add_nodes_from(range(len(ends)))
    joined.add_edges_from(pairs[:, level].T.tolist())
    nodes = np.empty(len(ends), dtype=np.int64)
    positions = []
    for number, members in enumerate(networkx.connected_components(joined)):
        nodes[list(members)] = number
        positions.append(ends[min(members)])
    return {
        index: (int(first), int(last))
        for index, (first, last) in zip(lines, nodes.reshape(-1, 2), strict=True)
    }, np.array(positions)
