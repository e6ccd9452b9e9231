# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The headless city: world, body, pictures, and its front doors."""

from urbanground_ros.sim.body import Body
from urbanground_ros.sim.body import Embodiment
from urbanground_ros.sim.city import HeadlessCity
from urbanground_ros.sim.city import Listener
from urbanground_ros.sim.collision import CollisionWorld
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.mapview import MapView
from urbanground_ros.sim.mask import InstanceMask
from urbanground_ros.sim.overview import draw_overview
from urbanground_ros.sim.region import CityRegion
from urbanground_ros.sim.region import open_region
from urbanground_ros.sim.rostcp import RosTcpFront
from urbanground_ros.sim.rostcp import serve

__all__ = [
    'Body',
    'CityRegion',
    'CollisionWorld',
    'Embodiment',
    'HeadlessCity',
    'InstanceMask',
    'Listener',
    'MapView',
    'RosTcpFront',
    'SimError',
    'draw_overview',
    'open_region',
    'serve',
]
