# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Avatars: rigged glTF files that people are drawn as, in place of the built-in figures."""

from __future__ import annotations

from functools import cached_property
import logging
from pathlib import Path
from typing import NamedTuple
from typing import TYPE_CHECKING

import numpy as np

from urbanground_ros.files import FileError
from urbanground_ros.files import read_file
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.figures import mixed
from urbanground_ros.tiles import decode_rigged
from urbanground_ros.tiles import TileMesh
from urbanground_ros.tiles import TilesError
from urbanground_ros.tiles.mesh import flip_v

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from urbanground_ros.sim.people import People
    from urbanground_ros.tiles.rigged import Animation

    FloatArray = NDArray[np.float64]

_log = logging.getLogger(__name__)

#: Poses of one cycle of walking; the next number is that of standing.
POSES = 20
STANDING = POSES
#: Height that avatars are posed at (m), near those of people, and the largest picture (pixels).
HEIGHT = 1.7
LARGEST_PICTURE = 512
#: A larger file is not read (bytes).
LARGEST_FILE = 256 << 20
#: Slower than this (m/s) somebody stands.
SLOWEST = 0.2
#: Way of a cycle of two steps in heights of the body: least, most, and where it cannot be seen.
_CYCLES = (0.5, 1.2)
_CYCLE = 0.85
#: Feet are what is this near the ground, in heights of the body; the share of the most of them
#: that is there when both feet are.
_FOOT = 0.06
_BOTH_FEET = 0.6

_Parts = list[tuple['FloatArray', 'FloatArray']]


class Placing(NamedTuple):
    """How one person is drawn: which avatar in which pose, where, and at which scale.

    `heading` in radians counter-clockwise from east.
    """

    avatar: int
    pose: int
    position: tuple[float, float, float]
    heading: float
    scale: float


class Avatar:
    """A rigged model that walks; poses are computed when they are first asked for.

    Its axes become those of a person: x ahead, y left, z up, the ground at 0, `HEIGHT` tall.

    Args:
        data: The file, glTF 2.0.
        name: What errors call it.
        folder: Where files that it names are.

    Raises:
        TilesError: the file cannot be used.
    """

    def __init__(self, data: bytes, name: str, folder: Path) -> None:
        def resolve(uri: str) -> bytes:
            file = (folder / uri).resolve()
            if folder.resolve() not in file.parents:
                raise TilesError(f'{name}: names {uri!r}, expected a file beside it')
            try:
                return file.read_bytes()
            except OSError as error:
                raise TilesError(f'{name}: {uri!r} cannot be read ({error.strerror})') from error

        self.name = name
        self._rig = decode_rigged(data, name, resolve)
        self.warnings = self._rig.warnings
        if not self._rig.animations and all(len(part.nodes) <= 1 for part in self._rig.parts):
            raise TilesError(f'{name}: has neither a skin nor an animation, expected a rigged '
                             'figure')
        self._walk = _animation(self._rig.animations, 'walk')
        if self._walk is None and len(self._rig.animations) == 1:
            self._walk = self._rig.animations[0]
        self._pictures: dict[int, NDArray[np.uint8]] = {}
        self._poses: dict[int, tuple[TileMesh, ...]] = {}
        self._stand, tall = self._standing()
        if not tall > 0:
            raise TilesError(f'{name}: is {tall:g} m tall, expected a figure that stands')
        self._scale = HEIGHT / tall

    @cached_property
    def cycle(self) -> float:
        """How far it comes in one cycle of walking, in metres at its own `HEIGHT`."""
        if self._walk is None:
            return _CYCLE * HEIGHT
        spreads = []
        for pose in range(POSES):
            points = np.concatenate([mesh.positions for mesh in self.pose(pose)])
            low = points[points[:, 2] < _FOOT * HEIGHT]
            spreads.append(float(np.ptp(low[:, 0])))
        # From one foot to the other twice; feet together are as long as one.
        way = 2 * (max(spreads) - min(spreads)) / HEIGHT
        return float(np.clip(way, *_CYCLES)) * HEIGHT

    def pose(self, number: int) -> tuple[TileMesh, ...]:
        """Return what is drawn in a pose of the cycle, or `STANDING`: one mesh a material."""
        if number not in self._poses:
            walk = self._walk
            parts = self._stand if walk is None or number == STANDING else self._at(
                walk, walk.duration * number / POSES)
            points = np.concatenate([part for part, _ in parts])
            ground = np.array([*points[:, :2].mean(axis=0), points[:, 2].min()])
            self._poses[number] = tuple(
                TileMesh(
                    name=self.name, positions=((part - ground) * self._scale).astype(np.float32),
                    normals=normals.astype(np.float32),
                    uvs=None if own.primitive.uvs is None else flip_v(own.primitive.uvs),
                    faces=own.primitive.faces, texture=self._picture(own.primitive.texture),
                    color=own.primitive.color)
                for own, (part, normals) in zip(self._rig.parts, parts, strict=True))
        return self._poses[number]

    def _standing(self) -> tuple[_Parts, float]:
        """Return how it stands, and how tall it is when it is tallest, in its own metres.

        It stands as at the start of what is called so, else within a step, else as it is bound.
        """
        strides = [] if self._walk is None else [
            self._at(self._walk, self._walk.duration * number / POSES)
            for number in range(0, POSES, 2)]
        called = _animation(self._rig.animations, 'idle') or _animation(
            self._rig.animations, 'stand')
        poses = [self._at(called, 0.0)] if called is not None else strides or [
            self._turned(self._rig.pose())]
        points = [np.concatenate([part for part, _ in parts]) for parts in poses]
        heights = [each[:, 2] - each[:, 2].min() for each in points]
        grounded = np.array([np.count_nonzero(z < _FOOT * z.max()) for z in heights])
        # Of those with both feet on the ground, the one that has them nearest together.
        reach = np.where(grounded >= _BOTH_FEET * grounded.max(),
                         [np.ptp(each[:, 0]) for each in points], np.inf)
        tall = max(float(np.ptp(np.concatenate([part[:, 2] for part, _ in parts])))
                   for parts in (*poses, *strides))
        return poses[int(np.argmin(reach))], tall

    def _at(self, animation: Animation, time: float) -> _Parts:
        return self._turned(self._rig.pose(animation, time))

    @staticmethod
    def _turned(parts: _Parts) -> _Parts:
        """Return positions and normals with x ahead and z up; glTF faces +Z, with Y up."""
        axes = [2, 0, 1]
        return [(points[:, axes], normals[:, axes]) for points, normals in parts]

    def _picture(self, texture: NDArray[np.uint8] | None) -> NDArray[np.uint8] | None:
        if texture is None:
            return None
        if id(texture) not in self._pictures:
            step = -(-max(texture.shape[:2]) // LARGEST_PICTURE)
            self._pictures[id(texture)] = np.ascontiguousarray(texture[::step, ::step])
        return self._pictures[id(texture)]


def load_avatars(folder: Path) -> tuple[Avatar, ...]:
    """Read the glTF files of a folder and of those in it, in order of their names.

    A file that cannot be used costs a line in the log.

    Raises:
        SimError: there is no such folder, or nothing in it can be used.
    """
    try:
        found_folder = folder.is_dir()
    except OSError:  # too long for a name
        found_folder = False
    if not found_folder:
        raise SimError(f'avatars: {folder!s:.200} is no folder, expected one with glTF files')
    found = []
    files = sorted(file for file in folder.rglob('*') if file.suffix.lower() in ('.glb', '.gltf'))
    for file in files:
        name = str(file.relative_to(folder))
        try:
            avatar = Avatar(read_file(file, LARGEST_FILE), name, file.parent)
        except (FileError, TilesError) as error:
            _log.warning('avatar left out: %s', error)
            continue
        for line in avatar.warnings:
            _log.warning('avatar: %s', line)
        found.append(avatar)
    if not found:
        raise SimError(f'avatars: {folder} has {len(files)} glTF files and none can be used, '
                       'expected rigged models (.glb, .gltf)')
    return tuple(found)


def place(avatars: tuple[Avatar, ...], people: People) -> list[Placing]:
    """Return how everybody is drawn; somebody's avatar and pose follow from id and way walked."""
    chosen = mixed(people.ids) % len(avatars)
    speeds = np.hypot(*people.velocities[:, :2].T)
    found = []
    for k, number in enumerate(chosen.tolist()):
        avatar, scale = avatars[number], float(people.heights[k]) / HEIGHT
        share = float(people.walked[k]) / (avatar.cycle * scale) % 1.0
        pose = STANDING if speeds[k] < SLOWEST else int(share * POSES) % POSES
        x, y, z = people.positions[k].tolist()
        found.append(Placing(number, pose, (x, y, z), float(people.headings[k]), scale))
    return found


def _animation(animations: tuple[Animation, ...], word: str) -> Animation | None:
    return next((each for each in animations if word in each.name.lower()), None)
