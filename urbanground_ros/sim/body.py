# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The body: a kinematic capsule that walks, climbs, slides, jumps and falls by sweeps.

The scheme is the usual one of kinematic character controllers (PhysX, Unity): a grounded tick
lifts the capsule by the step height, slides it along walls, and sets it down again.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields
import math

from panda3d.core import LVector3d

from urbanground_ros.sim.collision import Capsule
from urbanground_ros.sim.collision import CollisionWorld
from urbanground_ros.sim.collision import Hit
from urbanground_ros.sim.errors import SimError

#: Distance that the capsule keeps from every triangle, so that no sweep starts in touch (m).
SKIN = 0.02
#: Directions in which one tick may be deflected before it ends.
MAX_SLIDES = 4
#: Shorter motions than this are none (m).
MIN_MOTION = 1e-6
#: A tick that ends this much higher than it began has climbed something (m).
MIN_CLIMB = 1e-3
#: Pushes after which a body that is shut in stays where it is.
MAX_ESCAPES = 16
#: How far beyond an edge the face that the capsule rests on is looked for (m).
EDGE_PROBE = 0.03


@dataclass(frozen=True)
class Embodiment:
    """What a body is and can do; SI units, `max_slope` in radians, `physics_rate` in Hz."""

    radius: float = 0.3
    height: float = 1.75
    eye_height: float = 1.6
    walk_speed: float = 4.0
    sprint_speed: float = 7.0
    jump_height: float = 1.0
    step_height: float = 0.3
    max_slope: float = math.pi / 4
    gravity: float = 9.81
    physics_rate: int = 50

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            SimError: a number is not positive and finite, or they do not fit together.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if not math.isfinite(value) or value <= 0:
                raise SimError(f'embodiment: {field.name} is {value!r}, '
                               f'expected a positive number')
        if self.height <= 2 * self.radius:
            raise SimError(f'embodiment: height is {self.height:g}, expected more than twice '
                           f'the radius {self.radius:g}')
        if self.eye_height > self.height:
            raise SimError(f'embodiment: eye_height is {self.eye_height:g}, expected at most '
                           f'the height {self.height:g}')
        if self.max_slope >= math.pi / 2:
            raise SimError(f'embodiment: max_slope is {self.max_slope:g}, '
                           f'expected less than pi/2')
        if not isinstance(self.physics_rate, int) or 1_000_000_000 % self.physics_rate:
            raise SimError(f'embodiment: physics_rate is {self.physics_rate!r}, expected a '
                           f'whole number of ticks a second with a period of whole nanoseconds')


class Body:
    """One body in a collision world.

    `feet` (m, map frame, double precision) is the lowest point of the body on its axis,
    `velocity` (m/s) what it did in the last tick, `yaw` and `pitch` (rad) where it looks,
    `grounded` whether it stands, `touched` whether a wall held it back in the last tick.
    """

    def __init__(self, world: CollisionWorld, embodiment: Embodiment) -> None:
        self.world = world
        self.embodiment = embodiment
        self.feet = LVector3d(0, 0, 0)
        self.velocity = LVector3d(0, 0, 0)
        self.yaw = 0.0
        self.pitch = 0.0
        self.grounded = False
        self.touched = False
        self._capsule = Capsule(embodiment.radius, embodiment.height)
        self._thick = Capsule(embodiment.radius + SKIN / 2, embodiment.height + SKIN)
        self.fall_speed = 0.0
        self._period = 1.0 / embodiment.physics_rate
        self._walkable = math.cos(embodiment.max_slope)

    def place(self, x: float, y: float, z: float) -> None:
        """Put the feet somewhere at rest, push the body out of what it overlaps, and settle.

        The body ends on the ground below if that is within a step, else in the air.
        """
        self.feet = LVector3d(x, y, z)
        self.velocity = LVector3d(0, 0, 0)
        self.fall_speed = 0.0
        self.touched = False
        self.escape()
        step = LVector3d(0, 0, -self.embodiment.step_height)
        below, hit = self._sweep(self.feet, step)
        self.grounded = hit is not None
        if self.grounded:
            self.feet = below

    def tick(self, vx: float, vy: float, *, jump: bool = False) -> None:
        """Advance one physics period under a wanted horizontal velocity (m/s, map frame)."""
        start = LVector3d(self.feet)
        wanted = LVector3d(vx, vy, 0) * self._period
        self.touched = False
        if jump and self.grounded:
            self.fall_speed = math.sqrt(2 * self.embodiment.gravity * self.embodiment.jump_height)
            self.grounded = False
        if self.grounded:
            self._walk(wanted)
        else:
            self._fly(wanted)
        if self.feet == start and not self.grounded:
            self.escape()
        self.velocity = (self.feet - start) / self._period

    def push(self, x: float, y: float) -> None:
        """Move horizontally (m) as far as walls allow, as part of the tick that was done last."""
        pushed = self._slide(self.feet, LVector3d(x, y, 0))
        self.velocity += (pushed - self.feet) / self._period
        self.feet = pushed

    def escape(self) -> None:
        """Push the body out of the triangles that it overlaps, to half a skin from them."""
        for _ in range(MAX_ESCAPES):
            ways = self.world.overlaps(self._thick, self.feet + LVector3d(0, 0, SKIN / 2))
            if not ways:
                break
            self.feet += max(ways, key=LVector3d.lengthSquared)

    def eye(self) -> LVector3d:
        """Return where the camera is, in metres in the map frame."""
        return self.feet + LVector3d(0, 0, self.embodiment.eye_height)

    def sheltered(self, reach: float = 60.0) -> bool:
        """Tell whether anything is above the head within `reach` metres."""
        head = self.feet + LVector3d(0, 0, self.embodiment.height)
        return self.world.ray(head, head + LVector3d(0, 0, reach)) is not None

    def _sweep(self, feet: LVector3d, motion: LVector3d) -> tuple[LVector3d, Hit | None]:
        """Return where the body ends, a skin short of what it meets, and what that is."""
        length = motion.length()
        if length < MIN_MOTION:
            return feet, None
        raised = feet + LVector3d(0, 0, SKIN)
        reach = (length + SKIN) / length
        hit = self.world.sweep(self._capsule, raised, motion * reach)
        if hit is None:
            return feet + motion, None
        fraction = min(1.0, max(0.0, hit.fraction * reach - SKIN / length))
        return feet + motion * fraction, hit

    def _slide(self, feet: LVector3d, motion: LVector3d) -> LVector3d:
        """Move horizontally, along whatever is in the way, and note that it touched."""
        previous = None
        for _ in range(MAX_SLIDES):
            if motion.length() < MIN_MOTION:
                break
            end, hit = self._sweep(feet, motion)
            motion = motion - (end - feet)
            feet = end
            if hit is None:
                break
            if hit.normal.z < self._walkable:
                self.touched = True
            normal = LVector3d(hit.normal.x, hit.normal.y, 0)
            if not normal.normalize():
                break
            motion = motion - normal * min(0.0, motion.dot(normal))
            if previous is not None and motion.dot(previous) < 0:
                break  # a corner: along one wall is into the other
            previous = normal
        return feet

    def _walk(self, wanted: LVector3d) -> None:
        step = self.embodiment.step_height
        start = self.feet
        moving = wanted.length() >= MIN_MOTION
        lifted = start
        if moving:
            lifted, _ = self._sweep(start, LVector3d(0, 0, step))
            lifted = self._slide(lifted, wanted)
        drop = lifted.z - start.z + step
        landed, hit = self._sweep(lifted, LVector3d(0, 0, -drop))
        # The height counts from the start: otherwise the round foot ratchets up any block.
        top = start.z + MIN_CLIMB
        if hit is not None and landed.z > top and not (
                self._is_walkable(hit) and hit.point.z <= start.z + step + SKIN):
            lifted = self._slide(start, wanted)
            landed, hit = self._sweep(lifted, LVector3d(0, 0, -step))
            if hit is not None and landed.z > top:
                return
        self.fall_speed = 0.0
        if hit is not None and self._is_walkable(hit):
            if moving or abs(landed.z - start.z) > MIN_CLIMB:  # who stands, stands still
                self.feet = landed
        else:
            floor = start.z if hit is None else max(start.z, landed.z)
            self.feet = LVector3d(lifted.x, lifted.y, floor)
            self.grounded = False

    def _fly(self, wanted: LVector3d) -> None:
        gravity = self.embodiment.gravity
        drop = self.fall_speed * self._period - gravity * self._period ** 2 / 2
        self.fall_speed -= gravity * self._period
        before = self._slide(self.feet, wanted)
        after, hit = self._sweep(before, LVector3d(0, 0, drop))
        self.feet = after
        if hit is None:
            return
        if drop > 0:
            self.fall_speed = 0.0
        elif self._is_walkable(hit):
            self.grounded = True
            self.fall_speed = 0.0
        else:
            # Too steep to stand: what is left of the fall goes down along the face.
            rest = LVector3d(0, 0, drop - (after.z - before.z))
            along = rest - hit.normal * rest.dot(hit.normal)
            self.feet, blocked = self._sweep(after, along)
            if blocked is not None:
                done = (self.feet.z - before.z) / self._period
                self.fall_speed = min(0.0, max(self.fall_speed, done))

    def _is_walkable(self, hit: Hit) -> bool:
        """Tell whether the face under a contact can be stood on.

        At an edge the contact's normal is the round foot's, so the face beyond the edge
        decides: a short ray meets a tread from above and misses a wall.
        """
        if hit.normal.z >= self._walkable:
            return True
        outward = LVector3d(-hit.normal.x, -hit.normal.y, 0)
        if not outward.normalize():
            return False
        probe = hit.point + outward * EDGE_PROBE
        reach = LVector3d(0, 0, 2 * EDGE_PROBE)
        face = self.world.ray(probe + reach, probe - reach)
        return face is not None and face.normal.z >= self._walkable
