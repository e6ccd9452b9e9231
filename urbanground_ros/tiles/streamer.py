# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Streams tilesets: what a view wants is fetched by threads, and shown without holes.

A tile that replaces its parent is shown when everything that replaces the parent with it is
ready; until then the parent stays. Where a tile cannot be had at all, the faces of its parent
that reach into its bounds are shown in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import cached_property
import logging

import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray

from urbanground_ros.geo import LocalFrame
from urbanground_ros.tiles.content import open_tile
from urbanground_ros.tiles.content import Opened
from urbanground_ros.tiles.limits import MAX_LED
from urbanground_ros.tiles.mesh import TileMesh
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.tileset import read_tileset
from urbanground_ros.tiles.tileset import Tile
from urbanground_ros.tiles.views import AnyCamera
from urbanground_ros.tiles.views import CameraView
from urbanground_ros.tiles.views import NearbyView
from urbanground_ros.tiles.views import View
from urbanground_ros.tiles.volumes import OrientedBox

_LOG = logging.getLogger(__name__)
# Each time that what a view wants exceeds the memory, its error is multiplied by this.
_COARSER = 1.5
_COARSER_STEPS = 40


@dataclass(frozen=True, eq=False)
class Selection:
    """What a view wants, as far as it is here.

    `meshes` are in the map frame and in the order of the tree; as long as a tile is kept, its
    meshes are the same objects. `complete` tells whether nothing is still to come.
    """

    meshes: tuple[TileMesh, ...]
    complete: bool


@dataclass(eq=False)
class _Node:
    """A tile of the running tree."""

    source: Source
    tile: Tile
    bounds: OrientedBox
    viewer: OrientedBox | None
    parent: _Node | None
    children: list[_Node] = field(default_factory=list)
    opened: bool = False
    failed: bool = False
    meshes: tuple[TileMesh, ...] | None = None
    nbytes: int = 0
    own: int = 0
    future: Future[Opened] | None = None
    used: int = 0
    patches: dict[tuple[_Node, ...], tuple[TileMesh, ...]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether it is known to have nothing of its own to show."""
        return not self.nbytes if self.opened else not self.leads

    @property
    def leads(self) -> bool:
        """Whether there is anything to open."""
        return bool(self.tile.contents) or self.tile.subtree is not None

    @property
    def ready(self) -> bool:
        """Whether what it has to show, if anything, is here."""
        return self.empty or self.meshes is not None


@dataclass(eq=False)
class _Cut:
    """What a walk through the tree found.

    `shown` are nodes, each whole or only for the lost nodes below it; `wanted` is what must be
    opened, and how much.
    """

    shown: list[tuple[_Node, tuple[_Node, ...]]] = field(default_factory=list)
    wanted: dict[_Node, float] = field(default_factory=dict)


class Streamer:
    """Selects, fetches and keeps the tiles of one or more tilesets.

    All methods are for one thread; threads of its own fetch and decode. With `wait` the
    result depends on the view and on the tilesets alone, not on time, order or history; it
    fetches no coarser tiles than it shows, so that an update without `wait` after it has
    nothing to show yet where the view is new. Where files below the roots lead to more than
    `MAX_LED` tiles, what lies beyond is as if it could not be had.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        frame: LocalFrame,
        *,
        pixel_error: float = 16.0,
        max_distance: float = 1500.0,
        memory: int = 1 << 30,
        workers: int = 4,
    ) -> None:
        """Read the root of each tileset.

        Args:
            sources: Of tilesets, all shown together.
            frame: The map frame.
            pixel_error: Error allowed on the screen, pixels.
            max_distance: Metres beyond which nothing is shown.
            memory: Bytes of meshes that are kept at most. Where a view wants more, it gets
                coarser tiles, so that it fits.
            workers: Threads that fetch and decode.

        Raises:
            TilesError: a source is no tileset.
        """
        self._to_map = np.linalg.inv(frame.matrix)
        self._pixel_error = pixel_error
        self._max_distance = max_distance
        self._memory = memory
        self._used = 0
        self._shared = _Shared()
        self._clock = 0
        self._loaded: set[_Node] = set()
        self._pending: dict[_Node, Future[Opened]] = {}
        self._pinned: set[_Node] = set()
        self.warnings: list[str] = []
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix='tiles')
        self._batch = 4 * workers
        self._led = 0
        self._roots = [
            self._node(source, read_tileset(source, warn=self._warn), None) for source in sources
        ]

    def update(self, camera: AnyCamera, wait: bool = False) -> Selection:
        """Return what to show a camera.

        Without `wait` it returns at once with the best that is here and fetches more for the
        next update; with `wait` it returns when everything is here or has failed.
        """
        for step in range(_COARSER_STEPS):
            pixel_error = self._pixel_error * _COARSER ** step
            view = CameraView(camera, pixel_error, self._max_distance)
            cut, complete = self._settle(view, wait, self._memory)
            if not self._exceeds(cut, self._memory):
                break
        self._pinned = {above for node, _ in cut.shown for above in _line(node)}
        self._evict()
        return Selection(_meshes_of(cut), complete)

    def nearby(self, point: ArrayLike, radius: float, wait: bool = True) -> Selection:
        """Return the finest geometry of the tiles within `radius` metres of a point (3,).

        The distance is horizontal: what is above and below counts too. It does not depend on
        any camera. Without `wait` it is the best that is here.
        """
        view = NearbyView(np.asarray(point, np.float64), radius)
        cut, complete = self._settle(view, wait, None)
        self._evict()
        return Selection(_meshes_of(cut), complete)

    def forget(self) -> None:
        """Let go of all meshes; what is asked for next is read again."""
        self._pinned = set()
        self._evict(0)

    @cached_property
    def span(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest coordinates (3,) of the tilesets' volumes, map frame."""
        lows, highs = zip(*(root.bounds.span for root in self._roots), strict=True)
        return np.min(lows, axis=0), np.max(highs, axis=0)

    @property
    def nbytes(self) -> int:
        """Bytes of the meshes that are kept."""
        return self._used

    def close(self) -> None:
        """End the threads, and the sources that they still fetch from."""
        for node in self._pending:
            node.source.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Streamer:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    # -- Selection ------------------------------------------------------------------------

    def _settle(self, view: View, wait: bool, limit: int | None) -> tuple[_Cut, bool]:
        """Walk the tree, and with `wait` go on until nothing more is to come.

        It ends early where the cut exceeds `limit` bytes: more would only add to it.
        """
        self._clock += 1
        while True:
            self._collect()
            cut = _Cut()
            filled = [self._walk(root, view, cut, wait) for root in self._roots]
            wanted = sorted(cut.wanted, key=lambda node: -cut.wanted[node])
            if not wanted or (limit is not None and self._exceeds(cut, limit)):
                return cut, all(filled)
            if not wait:
                self._request(wanted[:max(self._batch - len(self._pending), 0)])
                return cut, False
            # A walk takes as long as the tree is large: the larger, the fewer there should be.
            batch = wanted[:min(max(self._batch, len(wanted) // 4), 16 * self._batch)]
            self._request(batch)
            wait_for([node.future for node in batch if node.future is not None])

    def _walk(self, node: _Node, view: View, cut: _Cut, direct: bool) -> bool:
        """Add what to show for a node; tell whether its place is filled as the view wants.

        `direct` leaves out what only bridges the time of waiting.
        """
        interest = view.interest(node.bounds, node.tile.geometric_error, node.viewer)
        if interest == 0:
            return True
        node.used = self._clock
        additive = node.tile.refine == 'ADD'
        refine = bool(node.children) and (interest > 1 or node.empty)
        if additive or not refine:
            # Until it is opened, a content may be a tileset that leads to further tiles.
            if not node.ready:
                cut.wanted[node] = interest
            elif node.nbytes:
                cut.shown.append((node, ()))
        if not refine:
            if not node.ready and not direct:
                _bridge(node, cut)
            return node.ready
        if additive:
            filled = [self._walk(child, view, cut, direct) for child in node.children]
            return all(filled) and node.ready
        return self._replace(node, view, cut, direct, interest)

    def _replace(
        self, node: _Node, view: View, cut: _Cut, direct: bool, interest: float
    ) -> bool:
        """Show the children of a node in its place, itself where that would leave a hole."""
        finer = _Cut()
        # Every child is walked, whatever the first ones are.
        filled = [self._walk(child, view, finer, direct) for child in node.children]
        cut.wanted.update(finer.wanted)
        lost = [] if node.empty else [
            part for child in node.children for part in _lost(child)
            if view.interest(part.bounds, 0.0, part.viewer)
        ]
        if all(filled) and (node.ready or not lost):
            cut.shown += finer.shown
            if lost:
                cut.shown.append((node, tuple(lost)))
            return True
        if not node.ready and (lost or not direct):
            cut.wanted[node] = interest
        if node.ready and node.nbytes and not direct:
            cut.shown.append((node, ()))
        else:
            cut.shown += finer.shown
        return False

    # -- Loading --------------------------------------------------------------------------

    def _node(self, source: Source, tile: Tile, parent: _Node | None) -> _Node:
        node = _Node(
            source, tile, tile.bounds.transformed(self._to_map),
            None if tile.viewer is None else tile.viewer.transformed(self._to_map), parent,
        )
        node.children = [self._node(source, child, node) for child in tile.children]
        return node

    def _lead(self, node: _Node, tiles: Iterable[Tile]) -> None:
        """Add what a node was found to lead to."""
        for tile in tiles:
            if self._led > MAX_LED:
                return
            node.children.append(self._node(node.source, tile, node))
            self._led += _count(tile)
            if self._led > MAX_LED:
                self._warn(f'{node.source.label(node.source.root)}: leads to more than {MAX_LED} '
                           'tiles, of which no more are opened')

    def _request(self, nodes: Sequence[_Node]) -> None:
        """Have threads open nodes."""
        for node in nodes:
            if not node.opened and self._led > MAX_LED:
                node.opened = node.failed = True
            elif node.future is None:
                node.future = self._pool.submit(open_tile, node.source, node.tile, self._to_map)
                self._pending[node] = node.future

    def _collect(self) -> None:
        """Take in what the threads have opened."""
        done = [node for node, future in self._pending.items() if future.done()]
        for node in done:
            opened = self._pending.pop(node).result()
            node.future = None
            failed = opened.failed and not opened.meshes and not opened.tiles
            if not node.opened or failed:
                for line in opened.warnings:
                    self._warn(line)
            if not node.opened:
                self._lead(node, opened.tiles)
            node.opened = True
            node.failed = failed
            node.meshes = opened.meshes
            node.nbytes = sum(mesh.nbytes for mesh in opened.meshes)
            there = [picture() for picture in node.source.pictures.valuerefs()]
            node.own = _Shared(there).keep(opened.meshes)
            if node.nbytes:
                self._loaded.add(node)
                self._used += self._shared.keep(opened.meshes)

    def _evict(self, limit: int | None = None) -> None:
        """Forget the meshes that were not used for longest, until the rest fits."""
        limit = self._memory if limit is None else limit
        if self._used <= limit:
            return
        for node in sorted(self._loaded - self._pinned, key=lambda node: node.used):
            self._loaded.discard(node)
            self._used -= self._shared.drop(node.meshes or ())
            node.meshes = None
            node.patches.clear()
            if self._used <= limit:
                return

    def _exceeds(self, cut: _Cut, limit: int) -> bool:
        """Tell whether what is shown and, as far as it was here before, what is wanted exceeds.

        A texture that meshes share counts once, and only where it is here.
        """
        nodes = {node for node, _ in cut.shown} | cut.wanted.keys()
        if sum(node.nbytes for node in nodes) <= limit:
            return False
        absent = sum(node.own for node in nodes if node.meshes is None)
        return absent + _Shared().keep(
            [mesh for node in nodes for mesh in node.meshes or ()]) > limit

    def _warn(self, line: str) -> None:
        _LOG.warning('%s', line)
        self.warnings.append(line)


def _line(node: _Node | None) -> Iterator[_Node]:
    """Yield a node and what is above it."""
    while node is not None:
        yield node
        node = node.parent


def _count(tile: Tile) -> int:
    """Return how many tiles there are, a tile and those below it in its file."""
    return 1 + sum(map(_count, tile.children))


def _lost(node: _Node) -> Iterator[_Node]:
    """Yield the nodes, at or below one, whose place nothing of theirs can ever fill."""
    if node.failed and not node.children:
        yield node
    elif node.empty:
        for child in node.children:
            yield from _lost(child)


def _bridge(node: _Node, cut: _Cut) -> None:
    """Show what is here below a node that is not, until it is."""
    for child in node.children:
        if child.ready and child.nbytes:
            cut.shown.append((child, ()))
        else:
            _bridge(child, cut)


class _Shared:
    """Counts the bytes of meshes, those of a texture once for all that have it.

    Textures that are `there` anyway do not count.
    """

    def __init__(self, there: Iterable[object] = ()) -> None:
        self._users = Counter(map(id, there))

    def keep(self, meshes: Sequence[TileMesh]) -> int:
        """Return how many bytes more there are with these meshes."""
        return self._count(meshes, 1, 0)

    def drop(self, meshes: Sequence[TileMesh]) -> int:
        """Return how many bytes fewer there are without these meshes."""
        return self._count(meshes, -1, 1)

    def _count(self, meshes: Sequence[TileMesh], step: int, alone: int) -> int:
        total = 0
        for mesh in meshes:
            total += mesh.nbytes
            for texture in mesh.textures:
                if self._users[id(texture)] != alone:
                    total -= texture.nbytes
                self._users[id(texture)] += step
        return total


def _meshes_of(cut: _Cut) -> tuple[TileMesh, ...]:
    return tuple(dict.fromkeys(mesh for item in cut.shown for mesh in _meshes(*item)))


def _meshes(node: _Node, lost: tuple[_Node, ...]) -> tuple[TileMesh, ...]:
    """Return a node's meshes, or where nodes below are lost the part that stands for them."""
    if not lost:
        return node.meshes or ()
    if lost not in node.patches:
        parts = [_part(mesh, lost, node.tile.geometric_error) for mesh in node.meshes or ()]
        node.patches[lost] = tuple(part for part in parts if part is not None)
    return node.patches[lost]


def _part(mesh: TileMesh, lost: tuple[_Node, ...], margin: float) -> TileMesh | None:
    """Return the faces of a mesh that reach within a margin of bounds, None where none does."""
    corners = mesh.positions.astype(np.float64)[mesh.faces]
    faces = mesh.faces[np.any([node.bounds.touches(corners, margin) for node in lost], axis=0)]
    return replace(mesh, name=f'{mesh.name}~', faces=faces) if len(faces) else None
