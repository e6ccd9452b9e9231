# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where the sun stands over a place in Hong Kong's time."""

from __future__ import annotations

from datetime import date
from datetime import datetime
from datetime import timedelta
from datetime import timezone
import math

from astral import Observer
from astral.sun import zenith_and_azimuth

Direction = tuple[float, float, float]

#: Hong Kong Time, which has had no summer time since 1979.
HONG_KONG = timezone(timedelta(hours=8))
#: An equinox: up from half past six to half past six, and at noon 68 degrees high in the south.
DEFAULT_DATE = date(2026, 3, 20)


def sun_direction(latitude: float, longitude: float, day: date, seconds: float) -> Direction:
    """Return the unit vector (ENU) towards the apparent sun, refraction included.

    Args:
        latitude: Of the place, degrees.
        longitude: Of the place, degrees.
        day: The calendar day in Hong Kong.
        seconds: Since its midnight; a day or more leads into the days that follow.
    """
    moment = datetime(day.year, day.month, day.day, tzinfo=HONG_KONG) + timedelta(seconds=seconds)
    angles = zenith_and_azimuth(Observer(latitude, longitude), moment)
    zenith, azimuth = (math.radians(angle) for angle in angles)
    return (math.sin(zenith) * math.sin(azimuth), math.sin(zenith) * math.cos(azimuth),
            math.cos(zenith))
