# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shortest ways over the graph of a pedestrian network, between places on its edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import heapq
import math
from typing import Any
from typing import NamedTuple

import networkx

from urbanground_ros.geo.frames import FloatArray


class Route(NamedTuple):
    """A shortest way.

    Attributes:
        points: Polyline from the projection of the start to that of the goal, ENU metres,
            (M, 3) with M at least 2.
        length: Length of `points` in space, metres.
        features: Indices of the features walked, in order.
    """

    points: FloatArray
    length: float
    features: tuple[int, ...]


class Step(NamedTuple):
    """The way along one edge into a node: where from, and the feature."""

    node: int
    feature: int


@dataclass
class Tree:
    """Shortest paths from several sources.

    Attributes:
        distances: Of every node reached, metres.
        steps: The last step to a node; sources have none.
    """

    distances: dict[int, float] = field(default_factory=dict)
    steps: dict[int, Step] = field(default_factory=dict)

    def path(self, node: int) -> tuple[int, list[tuple[int, int, int]]]:
        """Return the source a node is reached from and the edges (from, to, feature) to it."""
        edges = []
        while node in self.steps:
            source, feature = self.steps[node]
            edges.append((source, node, feature))
            node = source
        return node, edges[::-1]


def shortest_paths(graph: networkx.MultiDiGraph[Any], sources: Mapping[int, float],
                   closed: frozenset[int], goals: Mapping[int, float] | None = None) -> Tree:
    """Run Dijkstra's algorithm from nodes with a distance already behind them.

    Ties go to the node with the lower number and the edge with the lower feature index.

    Args:
        graph: Edges carry `length` in metres and `feature`, an index.
        sources: Node to distance from the start.
        closed: Features that may not be walked.
        goals: Node to distance on to the goal; where given, the search ends as soon as no
            other way to the goal can be shorter.
    """
    tree = Tree()
    tentative = dict(sources)
    queue = [(distance, node) for node, distance in tentative.items()]
    heapq.heapify(queue)
    best = math.inf
    while queue:
        distance, node = heapq.heappop(queue)
        if node in tree.distances:
            continue
        if distance > best:
            break
        tree.distances[node] = distance
        if goals is not None and node in goals:
            best = min(best, distance + goals[node])
        for neighbour, edges in graph.adj[node].items():
            if neighbour in tree.distances:
                continue
            for edge in edges.values():
                onward = distance + edge['length']
                if edge['feature'] not in closed and onward < tentative.get(neighbour, math.inf):
                    tentative[neighbour] = onward
                    tree.steps[neighbour] = Step(node, edge['feature'])
                    heapq.heappush(queue, (onward, neighbour))
    return tree
