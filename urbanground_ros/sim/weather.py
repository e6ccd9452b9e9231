# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Weather and daylight: what a scene means for rain and for light."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import TYPE_CHECKING

import numpy as np

from urbanground_ros.city import Scene
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.sun import Direction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

SECONDS_PER_DAY = 86_400.0
#: People around the body; more would stand in each other's way on any street.
MOST_PEDESTRIANS = 500
#: Points of all closures together.
MOST_CLOSURE_POINTS = 1000

Color = tuple[float, float, float]


@dataclass(frozen=True)
class Weather:
    """Cloud cover, intensity of rain (both 0 to 1), and extinction of light by haze (1/m)."""

    clouds: float
    rain: float
    haze: float


#: The six kinds of the released application, with its intensities of rain.
WEATHERS = {
    'sunny': Weather(0.0, 0.0, 0.0007),
    'partly_cloudy': Weather(0.3, 0.0, 0.0008),
    'cloudy': Weather(0.65, 0.0, 0.0012),
    'overcast': Weather(0.95, 0.0, 0.0018),
    'rainy': Weather(1.0, 0.55, 0.0045),
    'thunderstorm': Weather(1.0, 0.95, 0.008),
}


@dataclass(frozen=True)
class Lighting:
    """Light for one scene: linear colours from 0 to 1, directions unit vectors (ENU).

    `sun` points to what `sunlight` comes from, by night the moon; `dusk` along the horizon to
    where the sun sets or rises, `afterglow` is the colour of the sky there. `haze` is the
    extinction of light along the line of sight, in 1/m. `lamps` is how far lamps, windows and
    signs are on: 0 by day, 1 from the end of dusk.
    """

    sun: Direction
    sunlight: Color
    skylight: Color
    bounce: Color
    horizon: Color
    zenith: Color
    dusk: Direction
    afterglow: Color
    haze: float
    lamps: float


def check_scene(scene: Scene) -> None:
    """Check the values of a scene.

    Raises:
        SimError: naming the value and what was expected.
    """
    if scene.weather not in WEATHERS:
        raise SimError(f'scene: weather is {scene.weather!r}, '
                       f'expected one of {", ".join(WEATHERS)}')
    if not 0 <= scene.time_of_day < SECONDS_PER_DAY:
        raise SimError(f'scene: time_of_day is {scene.time_of_day!r}, '
                       f'expected seconds from 0 to below 86400')
    if not 0 <= scene.time_scale <= SECONDS_PER_DAY:
        raise SimError(f'scene: time_scale is {scene.time_scale!r}, '
                       f'expected a number from 0 to 86400')
    for line in scene.closures:
        if len(line.points) < 2:
            raise SimError(f'scene: closure {line.label!r} has {len(line.points)} points, '
                           'expected two or more')
    points = sum(len(line.points) for line in scene.closures)
    if points > MOST_CLOSURE_POINTS:
        raise SimError(f'scene: closures have {points} points, expected up to '
                       f'{MOST_CLOSURE_POINTS}')
    if not 0 <= scene.pedestrians <= MOST_PEDESTRIANS:
        raise SimError(f'scene: pedestrians is {scene.pedestrians!r}, '
                       f'expected 0 to {MOST_PEDESTRIANS}')


def lighting(weather: Weather, sun: Direction) -> Lighting:
    """Return the light under a weather; `sun` is the unit vector (ENU) towards the sun."""
    altitude = math.degrees(math.asin(max(-1.0, min(1.0, sun[2]))))
    clear = 1.0 - weather.clouds
    day = _rise(altitude, -8.0, 7.0)
    sky = _rise(altitude, -11.0, 6.0)
    twilight = _rise(altitude, -10.0, -2.0) * (1.0 - _rise(altitude, 0.0, 10.0))
    low = 1.0 - _rise(altitude, 0.0, 24.0)
    dim = 1.0 - 0.25 * weather.clouds - 0.2 * weather.rain

    warm = _mix((1.0, 0.96, 0.88), (1.0, 0.55, 0.28), low)
    sunlight = warm * 0.74 * _rise(altitude, 0.0, 9.0)
    # Both are gone where one takes over from the other.
    moonlight = np.array([0.05, 0.06, 0.09]) * (1.0 - _rise(altitude, -9.0, -3.0))
    source = np.array(sun)
    if altitude < -2.0:
        # A full moon, opposite the sun, gives shapes their sides.
        source = np.array([-sun[0], -sun[1], max(0.5, -sun[2])])
        source /= np.linalg.norm(source)
    sunlight = (sunlight + moonlight) * (0.04 + 0.96 * clear ** 1.4)

    skylight = _mix((0.09, 0.11, 0.17),
                    _mix((0.56, 0.62, 0.71), (0.72, 0.74, 0.77), weather.clouds) * dim, day)
    bounce = _mix((0.06, 0.06, 0.08),
                  np.array([0.38, 0.36, 0.33]) * (1 - 0.15 * weather.clouds) * dim, day)
    horizon = _mix((0.70, 0.80, 0.90), (0.66, 0.68, 0.70), weather.clouds) * dim
    zenith = _mix((0.24, 0.45, 0.78), (0.52, 0.55, 0.59), weather.clouds) * dim
    night = 0.03 + 0.02 * weather.clouds
    horizon = _mix((0.10, 0.11, 0.16), horizon, sky)
    horizon = _mix(horizon, (0.42, 0.38, 0.44), 0.5 * twilight * clear)
    zenith = _mix((night * 0.7, night * 0.8, night * 1.6), zenith, sky)
    red = _mix((0.48, 0.19, 0.06), (0.42, 0.24, 0.08), _rise(altitude, -5.0, 4.0))
    afterglow = red * twilight * (0.08 + 0.92 * clear)
    across = max(1e-9, math.hypot(sun[0], sun[1]))
    return Lighting(_triple(source), _triple(sunlight), _triple(skylight), _triple(bounce),
                    _triple(horizon), _triple(zenith), (sun[0] / across, sun[1] / across, 0.0),
                    _triple(afterglow), weather.haze, 1.0 - _rise(altitude, -4.0, 1.0))


def _rise(x: float, low: float, high: float) -> float:
    """Return 0 up to `low` and 1 from `high`, with a smooth step between."""
    x = min(1.0, max(0.0, (x - low) / (high - low)))
    return x * x * (3.0 - 2.0 * x)


def _mix(a: ArrayLike, b: ArrayLike, share: float) -> FloatArray:
    return np.asarray(a) * (1.0 - share) + np.asarray(b) * share


def _triple(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
