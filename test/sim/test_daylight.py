# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The day: where the sun stands, and the light that follows from it."""

from datetime import date
import itertools
import math

import numpy as np
import pytest
import sim_rig as rig

from urbanground_ros.city import Scene
from urbanground_ros.parameters import defaults
from urbanground_ros.sim import SimError
from urbanground_ros.sim.parameters import PARAMETERS
from urbanground_ros.sim.serve import run_city
from urbanground_ros.sim.sun import DEFAULT_DATE
from urbanground_ros.sim.sun import sun_direction

HOURS = np.arange(0, 24, 0.05)


def angles(direction):
    """Return altitude and azimuth in degrees."""
    x, y, z = direction
    return math.degrees(math.asin(z)), math.degrees(math.atan2(x, y)) % 360


@pytest.mark.parametrize(('hour', 'minute', 'altitude', 'azimuth'), [
    (14, 37, 60, 279), (16, 8, 39, 283), (17, 25, 22, 287)])
def test_the_sun_is_where_the_observatory_announced_an_eclipse(hour, minute, altitude, azimuth):
    # Hong Kong Observatory, press release of 11 June 2020, in whole degrees.
    direction = sun_direction(22.30, 114.17, date(2020, 6, 21), hour * 3600.0 + minute * 60.0)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert angles(direction) == pytest.approx((altitude, azimuth), abs=0.8)


def test_the_hours_run_on_into_the_next_day():
    later = sun_direction(22.3, 114.17, date(2026, 12, 31), 30 * 3600.0)
    assert later == sun_direction(22.3, 114.17, date(2027, 1, 1), 6 * 3600.0)


def test_summer_days_are_longer_and_noons_higher():
    def day(when):
        heights = [angles(sun_direction(22.3, 114.17, when, hour * 3600.0))[0] for hour in HOURS]
        return sum(height > 0 for height in heights) * 0.05, max(heights)
    summer, winter = day(date(2026, 6, 21)), day(date(2026, 12, 21))
    assert summer == pytest.approx((13.5, 88.9), abs=0.3)
    assert winter == pytest.approx((10.8, 44.3), abs=0.3)


@pytest.mark.parametrize('weather', ['sunny', 'thunderstorm'])
def test_light_comes_and_goes_without_jumps_and_shadows_never_leap(weather):
    lights = [rig.light(weather, hour) for hour in HOURS]
    for name in ('sunlight', 'skylight', 'bounce', 'horizon', 'zenith', 'afterglow'):
        values = np.array([getattr(light, name) for light in lights])
        assert np.abs(np.diff(values, axis=0)).max() < 0.1, name
        assert values.min() >= 0, name
    for before, after in itertools.pairwise(lights):
        if math.dist(before.sun, after.sun) > 0.1:
            assert max(*before.sunlight, *after.sunlight) < 0.005
    assert all(light.sun[2] > -0.05 for light in lights)


def test_the_evening_sky_glows_where_the_sun_went_down():
    evening, morning, noon = (rig.light(hour=hour) for hour in (18.7, 6.3, 12.0))
    assert evening.dusk[0] < -0.9
    assert morning.dusk[0] > 0.9
    assert evening.afterglow[0] > 2 * evening.afterglow[2] > 0
    assert max(noon.afterglow) == 0
    night = rig.light(hour=23.0)
    assert max(night.afterglow) == 0
    assert min(night.skylight) > 0.05, 'streets stay readable'


def test_the_date_changes_the_picture_and_not_the_state():
    cities = [rig.new_city(pictures=True, image_width=64, image_height=48, day=day,
                           scene=Scene(time_of_day=17.9 * 3600.0))
              for day in (DEFAULT_DATE, date(2026, 12, 21))]
    if not cities[0].capabilities().image_width:
        pytest.skip('no renderer works here')
    spring, winter = (city.render() for city in cities)
    assert spring.mean() > winter.mean() + 10
    assert cities[0].state_hash() == cities[1].state_hash()
    for city in cities:
        city.close()


def test_a_bad_date_is_told_in_one_line():
    with pytest.raises(SimError, match=r"date is '31/12/2026', expected YYYY-MM-DD"):
        run_city(**{**defaults(PARAMETERS), 'date': '31/12/2026'})
