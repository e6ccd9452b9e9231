# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A body in a city of its own that looks, turns and walks as an agent does, to verify tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
import math
from typing import NamedTuple

import cv2
import numpy as np

from urbanground_ros.city import Action
from urbanground_ros.city import CityError
from urbanground_ros.city import MAX_ACTION_SECONDS
from urbanground_ros.city import MIN_ACTION_SECONDS
from urbanground_ros.city import Placement
from urbanground_ros.city import Reply
from urbanground_ros.city import Scene
from urbanground_ros.episode import RegionContext
from urbanground_ros.geo import compass_to_enu
from urbanground_ros.sim import CityRegion
from urbanground_ros.sim import Embodiment
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import InstanceMask
from urbanground_ros.sim import open_region
from urbanground_ros.tiles import Instance

WIDTH, HEIGHT = 640, 480
_FOV = math.radians(75.0)
_FOCAL = WIDTH / 2 / math.tan(_FOV / 2)
#: Pixels of one board from which its letters can be read: capitals are then some 5 pixels high
#: or more. They are on a shop's fascia (4.2 m by 0.86 m) at 15 m, seen at an angle of up to 55
#: degrees or so, on its blade (1.2 m by 0.88 m) at 10 m, on a street name plate (1.7 m by
#: 0.36 m) at 9 m.
LEGIBLE = {'sign': 1800, 'plate': 1300}
#: Least share of a board that nothing hides, least cosine of the angle that it is seen at,
#: greatest distance (m), and least distance from the edge of the picture (pixels).
VISIBLE = 0.85
FACING = 0.5
READING = 15.0
MARGIN = 8
#: Boards farther off are not looked for (m).
_AROUND = 20.0
_NEAREST = 0.5
_CLOSE = 0.4
_AIM = 2.0
_WALK_SPEED = Embodiment().walk_speed
_EYE = np.array([0.0, 0.0, Embodiment().eye_height])


@dataclass(frozen=True)
class Sight:
    """How a sign or plate is seen: the board of it that shows most.

    `pixels` of it show, the share `visible` of what would if nothing were before it, at
    `distance` metres and `bearing` degrees to the right of the heading.
    """

    thing: Instance
    pixels: int
    visible: float
    distance: float
    bearing: float
    legible: bool


class Look:
    """Eyes and feet in the regions of contexts, with the city's own camera."""

    def __init__(self) -> None:
        """Open a city.

        Raises:
            CityError: it cannot give instance masks here.
        """
        self._regions: dict[str, CityRegion] = {}
        self._city = HeadlessCity(image_width=WIDTH, image_height=HEIGHT, horizontal_fov=_FOV,
                                  open_region=self._open)
        if not self._city.capabilities().depth:
            raise CityError('no renderer with shaders works here, expected one to verify '
                            'questions with')
        self._mask: InstanceMask | None = None

    def stand(self, context: RegionContext, placement: Placement) -> bool:
        """Begin anew at a place; tell whether it has ground."""
        self._region = self._open(context.name)
        try:
            self._take(self._city.load(context.name, 0, placement, Scene()))
        except CityError:
            return False
        self.steps = 0
        self.walked = 0.0
        return True

    def act(self, action: Action) -> Reply:
        """Take a step as an agent does."""
        reply = self._city.act(action)
        self.steps += 1
        self._take(reply)
        return reply

    def turn(self, degrees: float) -> None:
        """Turn to the right, by the shorter way."""
        self.act(Action('look', yaw=math.remainder(degrees, 360.0)))

    def walk(self, line: np.ndarray) -> bool:
        """Walk along a line (N, 3); tell whether nothing stood in the way."""
        for point in line:
            while math.dist(self.feet[:2], point[:2]) > _CLOSE:
                bearing = self.bearing(point)
                if abs(bearing) > _AIM:
                    self.turn(bearing)
                before = self.feet
                distance = min(math.dist(before[:2], point[:2]), _WALK_SPEED * MAX_ACTION_SECONDS)
                self.act(Action('move', direction='forward', seconds=max(
                    distance / _WALK_SPEED, MIN_ACTION_SECONDS)))
                moved = math.dist(before, self.feet)
                self.walked += moved
                if moved < distance / 2:
                    return False
        return True

    def bearing(self, point: np.ndarray) -> float:
        """Return where a point (3,) is, degrees to the right of the heading."""
        east, north = point[:2] - self.feet[:2]
        return math.degrees(math.remainder(self.yaw - math.atan2(north, east), math.tau))

    @property
    def seconds(self) -> float:
        """Simulated seconds since the body stands."""
        return self._elapsed_ns * 1e-9

    def mask(self) -> InstanceMask:
        """Return what each pixel shows now."""
        if self._mask is None:
            self._mask = self._city.instance_mask()
            assert self._mask is not None
        return self._mask

    def picture(self) -> np.ndarray:
        """Return what is seen now, RGB (H, W, 3)."""
        image = self._city.render()
        assert image is not None
        return image

    def sight(self, thing: Instance) -> Sight | None:
        """Return how a sign or plate is seen now; None where not even its place is in view."""
        shown = self.mask().where(*thing)
        if not shown.any():
            return None
        sights = []
        for board in self._boards(self._region, thing, self.feet + _EYE):
            view = _project(board, self.feet + _EYE, self.yaw, self.pitch)
            if view is None:
                continue
            drawn = np.zeros((HEIGHT, WIDTH), np.uint8)
            for corner in view.corners:
                cv2.fillPoly(drawn, [np.clip(corner.round(), -9999, 9999).astype(np.int32)], 1)
            pixels = int(np.count_nonzero(shown & (drawn > 0)))
            visible = min(1.0, pixels / max(view.area, 1.0))
            sights.append(Sight(
                thing, pixels, visible, view.distance, self.bearing(view.middle),
                view.fits and pixels >= LEGIBLE[thing.kind] and visible >= VISIBLE))
        return max(sights, key=lambda sight: sight.pixels, default=None)

    def promises(self, context: RegionContext, feet: np.ndarray, yaw: float,
                 thing: Instance) -> bool:
        """Tell whether a thing could be read from a place (3,) if nothing stood before it.

        `yaw` in compass degrees. This needs no picture.
        """
        eye = feet + _EYE
        views = [_project(board, eye, compass_to_enu(yaw), 0.0)
                 for board in self._boards(self._open(context.name), thing, eye)]
        return any(view and view.fits and view.area >= LEGIBLE[thing.kind] for view in views)

    def shows(self, points: np.ndarray) -> float:
        """Return the share of points (N, 3) on surfaces that are in view now."""
        depth = self._city.depth()
        assert depth is not None
        pixels, ahead = _pixels(points, self.feet + _EYE, self.yaw, self.pitch)
        inside = (ahead > _NEAREST) & (pixels >= 0).all(axis=1) & (
            pixels < (WIDTH, HEIGHT)).all(axis=1)
        columns, rows = pixels[inside].astype(int).T
        return float(np.count_nonzero(
            np.abs(depth[rows, columns] - ahead[inside]) < _CLOSE) / len(points))

    def things(self, context: RegionContext, kind: str, place: np.ndarray,
               reach: float) -> dict[str, np.ndarray]:
        """Return where things of a kind are around a place: of each name the nearest (3,)."""
        found: dict[str, np.ndarray] = {}
        for thing, triangles in self._faces(self._open(context.name), kind, place, reach):
            middles = triangles.mean(axis=1)
            distances = np.linalg.norm(middles - place, axis=1)
            nearest = middles[int(distances.argmin())]
            if distances.min() <= reach and (
                    thing.name not in found
                    or distances.min() < np.linalg.norm(found[thing.name] - place)):
                found[thing.name] = nearest
        return found

    def close(self) -> None:
        """Give back the city and the regions."""
        self._city.close()
        for region in self._regions.values():
            region.tiles.close()

    def _open(self, name: str) -> CityRegion:
        if name not in self._regions:
            self._regions[name] = open_region(name)
        return self._regions[name]

    def _take(self, reply: Reply) -> None:
        body = reply.state.body
        self._mask = None
        self._elapsed_ns = body.elapsed_ns
        self.feet = np.array([body.x, body.y, body.z])
        self.yaw, self.pitch, self.mode = body.yaw, body.pitch, reply.state.mode

    @staticmethod
    def _faces(region: CityRegion, kind: str, place: np.ndarray,
               reach: float) -> Iterator[tuple[Instance, np.ndarray]]:
        """Yield things of a kind in meshes around a place, and their triangles (K, 3, 3)."""
        for mesh in region.tiles.nearby(place, reach).meshes:
            if mesh.features is None:
                continue
            rows = mesh.features.ids[mesh.faces[:, 0]]
            for row, thing in enumerate(mesh.features.table):
                if thing.kind == kind:
                    faces = mesh.faces[rows == row]
                    if len(faces):
                        yield thing, mesh.positions[faces].astype(float)

    def _boards(self, region: CityRegion, thing: Instance, eye: np.ndarray) -> list[np.ndarray]:
        """Return the triangles (K, 3, 3) of each board of a thing that faces an eye (3,)."""
        boards: dict[tuple[int, ...], list[np.ndarray]] = defaultdict(list)
        for other, triangles in self._faces(region, thing.kind, eye, _AROUND):
            if other != thing:
                continue
            for triangle in triangles:
                normal = _normal(triangle)
                away = float(normal @ (eye - triangle[0]))
                if away > 0 and np.linalg.norm(triangle.mean(axis=0) - eye) < _AROUND:
                    # Tiles cut boards: what lies in one plane is one.
                    plane = np.array([*(normal * 10), away * 5])
                    boards[tuple(plane.round().astype(int))].append(triangle)
        return [np.array(board) for board in boards.values()]


class _View(NamedTuple):
    """A board in a picture: its triangles (K, 3, 2) and their area in pixels, its middle (3,).

    `fits` tells that it is near, within the picture and not too oblique.
    """

    corners: np.ndarray
    area: float
    middle: np.ndarray
    distance: float
    fits: bool


def _project(board: np.ndarray, eye: np.ndarray, yaw: float, pitch: float) -> _View | None:
    """Return how the camera has triangles (K, 3, 3); None where some are not before it."""
    corners, ahead = _pixels(board, eye, yaw, pitch)
    if ahead.min() < _NEAREST:
        return None
    area = float(np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])).sum()) / 2
    middle = (board.min(axis=(0, 1)) + board.max(axis=(0, 1))) / 2
    distance = float(np.linalg.norm(middle - eye))
    facing = float(_normal(board[0]) @ (eye - middle)) / distance
    inside = corners.min() >= MARGIN and (
        corners.max(axis=(0, 1)) <= np.array([WIDTH, HEIGHT]) - MARGIN).all()
    return _View(corners, area, middle, distance,
                 bool(inside and facing >= FACING and distance <= READING))


def _pixels(points: np.ndarray, eye: np.ndarray, yaw: float,
            pitch: float) -> tuple[np.ndarray, np.ndarray]:
    """Return where points (..., 3) are in the picture, (..., 2), and how far ahead (m)."""
    forward = np.array([math.cos(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw),
                        math.sin(pitch)])
    right = np.array([math.sin(yaw), -math.cos(yaw), 0.0])
    seen = (points - eye) @ np.array([right, np.cross(right, forward), forward]).T
    ahead = seen[..., 2]
    middle = np.array([WIDTH, HEIGHT]) / 2
    with np.errstate(divide='ignore', invalid='ignore'):
        return middle + seen[..., :2] / ahead[..., None] * [_FOCAL, -_FOCAL], ahead


def _normal(triangle: np.ndarray) -> np.ndarray:
    normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
    return normal / max(float(np.linalg.norm(normal)), 1e-12)
