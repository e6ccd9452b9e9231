# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Weather and daylight: what a scene means for rain and for light."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from urbanground_ros.city import Scene
from urbanground_ros.sim.errors import SimError

SECONDS_PER_DAY = 86_400.0
#: People around the body; more would stand in each other's way on any street.
MOST_PEDESTRIANS = 500

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
    """Light for one scene: linear colours from 0 to 1, `sun` a unit vector towards it (ENU).

    `haze` is the extinction of light along the line of sight, in 1/m.
    """

    sun: tuple[float, float, float]
    sunlight: Color
    skylight: Color
    bounce: Color
    horizon: Color
    zenith: Color
    haze: float


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
    if not 0 <= scene.pedestrians <= MOST_PEDESTRIANS:
        raise SimError(f'scene: pedestrians is {scene.pedestrians!r}, '
                       f'expected 0 to {MOST_PEDESTRIANS}')


def lighting(weather: Weather, time_of_day: float) -> Lighting:
    """Return the light under a weather at `time_of_day` (seconds since midnight).

    The sun rises in the east at 6, stands 70 degrees high in the south at 12 and sets in the
    west at 18: a day of the tropics, near enough to see what is lit.
    """
    hour_angle = (time_of_day / SECONDS_PER_DAY - 0.25) * 2 * math.pi
    lean = math.radians(20.0)
    sun = np.array([math.cos(hour_angle), -math.sin(hour_angle) * math.sin(lean),
                    math.sin(hour_angle) * math.cos(lean)])
    height = float(sun[2])
    day = _smooth((height + 0.12) / 0.3)
    low = day * (1.0 - _smooth(height / 0.4))
    clear = 1.0 - weather.clouds
    if height < 0.05:
        # Below the horizon the moon, opposite the sun, gives shapes their sides.
        sun = np.array([-sun[0], sun[1], max(0.3, -height)])
        sun /= np.linalg.norm(sun)
    moonlight = np.array([0.05, 0.06, 0.09])
    warm = _mix(np.array([1.0, 0.96, 0.88]), np.array([1.0, 0.62, 0.36]), low)
    sunlight = _mix(moonlight, warm * 0.74, _smooth(height / 0.15)) * (0.04 + 0.96 * clear ** 1.4)
    dim = 1.0 - 0.25 * weather.clouds - 0.2 * weather.rain
    skylight = _mix(np.array([0.09, 0.11, 0.17]),
                    _mix(np.array([0.56, 0.62, 0.71]), np.array([0.72, 0.74, 0.77]),
                         weather.clouds) * dim, day)
    bounce = _mix(np.array([0.06, 0.06, 0.08]),
                  np.array([0.38, 0.36, 0.33]) * (1 - 0.15 * weather.clouds) * dim, day)
    blue = _mix(np.array([0.70, 0.80, 0.90]), np.array([0.66, 0.68, 0.70]), weather.clouds)
    horizon = _mix(blue, np.array([0.95, 0.72, 0.52]), 0.7 * low * clear)
    deep = _mix(np.array([0.24, 0.45, 0.78]), np.array([0.52, 0.55, 0.59]), weather.clouds)
    night = 0.03 + 0.02 * weather.clouds
    horizon = _mix(np.array([0.10, 0.11, 0.16]), horizon * dim, day)
    zenith = _mix(np.array([night * 0.7, night * 0.8, night * 1.6]), deep * dim, day)
    return Lighting(_triple(sun), _triple(sunlight), _triple(skylight), _triple(bounce),
                    _triple(horizon), _triple(zenith), weather.haze)


def _smooth(x: float) -> float:
    x = min(1.0, max(0.0, x))
    return x * x * (3.0 - 2.0 * x)


def _mix(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    return a * (1.0 - share) + b * share


def _triple(values: np.ndarray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
