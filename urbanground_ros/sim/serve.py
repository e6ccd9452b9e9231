# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The headless city as a process: parameters in, a ROS-TCP client of the bridge out."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from functools import partial
import logging
import math
from pathlib import Path
from typing import Any

from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.districts import resolve_region
from urbanground_ros.geo import Region
from urbanground_ros.sim.avatars import load_avatars
from urbanground_ros.sim.body import Embodiment
from urbanground_ros.sim.city import HeadlessCity
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.region import open_region
from urbanground_ros.sim.rostcp import serve


def run_city(**parameters: Any) -> int:
    """Run a city with every parameter of `sim.parameters.PARAMETERS`; return the exit status.

    Raises:
        UrbanGroundError: a parameter is out of range, or no bridge was there in time.
    """
    logging.basicConfig(level=logging.INFO, format='%(levelname)s city: %(message)s')
    body = {f.name: parameters[f.name] for f in fields(Embodiment)}
    avatars = load_avatars(Path(parameters['avatars'])) if parameters['avatars'] else ()
    city = HeadlessCity(
        image_width=parameters['image_width'], image_height=parameters['image_height'],
        horizontal_fov=math.radians(parameters['horizontal_fov']),
        jpeg_quality=parameters['jpeg_quality'], pictures=parameters['pictures'],
        day=_date(parameters['date']), avatars=avatars,
        open_region=partial(open_region, **{
            name: parameters[name] for name in ('pixel_error', 'view_distance', 'tile_memory')}),
        embodiment=Embodiment(**{**body, 'max_slope': math.radians(body['max_slope'])}))
    if parameters['region']:
        region = Region.load(resolve_region(parameters['region']))
        feature = region.load_network().features[0]
        latitude, longitude, altitude = region.frame.to_geodetic(feature.points[0])
        start = Placement(GeoPoint(float(latitude), float(longitude), float(altitude)))
        city.load(parameters['region'], 0, start, Scene())
    return serve(city, parameters['host'], parameters['port'],
                 connect_timeout=parameters['connect_timeout'])


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise SimError(f'parameter date is {text!r}, expected YYYY-MM-DD') from None
