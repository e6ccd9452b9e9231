# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rain that meets the city: drops that fall on the body unless something is above it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from panda3d.core import LVector3d

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from urbanground_ros.sim.body import Body
    from urbanground_ros.sim.collision import CollisionWorld

    FloatArray = NDArray[np.float64]

#: Drops a second towards the body in rain of intensity 1.
DROPS_PER_SECOND = 40.0
#: How far up a drop is followed (m).
REACH = 60.0
#: Slant of the rain at intensity 1 (rad).
SLANT = math.radians(20.0)
#: Drops that are drawn at intensity 1, in a box of this half width around the eye (m), none
#: nearer than that (m); how fast they fall (m/s), and for how long one is seen (s).
MOST_STREAKS = 2000
STREAK_RADIUS = 12.0
NEAREST_STREAK = 0.6
FALL_SPEED = 9.0
STREAK_SECONDS = 0.05
#: Successive drops fall around the axis by the golden angle, evenly over the shoulders.
_GOLDEN = math.pi * (3.0 - math.sqrt(5.0))


class Rain:
    """Counts what the rain does to one body.

    Attributes:
        hits: Drops that fell on the body.
        exposure: Seconds in the rain without anything overhead.
        exposed: Whether the body stood in the rain in the last tick.
    """

    def __init__(self, seed: int) -> None:
        """Begin dry; the wind's direction comes from the seed."""
        self.hits = 0
        self.exposure = 0.0
        self.exposed = False
        self._fallen = 0
        self._due = 0.0
        self._seed = seed
        self._wind = (seed * _GOLDEN) % (2 * math.pi)

    def tick(self, body: Body, intensity: float, period: float) -> bool:
        """Rain on a body for a physics period; return whether `exposed` has changed."""
        before = self.exposed
        self.exposed = intensity > 0.0 and not body.sheltered()
        if intensity > 0.0:
            self.exposure += period * self.exposed
            self._due += DROPS_PER_SECOND * intensity * period
            while self._due >= 1.0:
                self._due -= 1.0
                self._fall(body, intensity)
        return self.exposed is not before

    def _fall(self, body: Body, intensity: float) -> None:
        """Follow one drop back to the sky: it hits if nothing is in its way."""
        turn = self._fallen * _GOLDEN
        out = body.embodiment.radius * math.sqrt((self._fallen % 16 + 0.5) / 16)
        self._fallen += 1
        start = body.feet + LVector3d(out * math.cos(turn), out * math.sin(turn),
                                      body.embodiment.height)
        up = LVector3d(*self._up(intensity))
        self.hits += body.world.ray(start, start + up * REACH) is None

    def streaks(self, world: CollisionWorld, eye: FloatArray, seconds: float,
                intensity: float) -> FloatArray:
        """Return the ends (N, 2, 3) of the drops in the air around the eye (3,) at a time.

        A drop with a roof above it is none.
        """
        random = np.random.default_rng(self._seed)
        seeds = random.random((round(MOST_STREAKS * intensity), 3))
        size = np.array([2 * STREAK_RADIUS, 2 * STREAK_RADIUS, STREAK_RADIUS])
        up = np.array(self._up(intensity))
        # Drops fall through a box that is filled again from above, and goes with the eye.
        fallen = seeds * size - up * (FALL_SPEED * seconds)
        places = eye + np.mod(fallen - eye, size) - size * (0.5, 0.5, 0.4)
        away = np.hypot(*(places - eye)[:, :2].T) > NEAREST_STREAK
        free = [world.ray(LVector3d(*place), LVector3d(*(place + up * REACH))) is None
                for place in places[away]]
        begins = places[away][free]
        return np.stack((begins, begins + up * (STREAK_SECONDS * FALL_SPEED)), axis=1)

    def _up(self, intensity: float) -> tuple[float, float, float]:
        """Return the unit vector against the fall, slanted by the wind."""
        slant = SLANT * intensity
        return (math.sin(slant) * math.cos(self._wind), math.sin(slant) * math.sin(self._wind),
                math.cos(slant))

    def digest(self) -> tuple[float, ...]:
        """Return all that its future depends on."""
        return self.hits, self.exposure, self.exposed, self._fallen, self._due
