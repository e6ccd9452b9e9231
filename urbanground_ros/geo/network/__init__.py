# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The 3D Pedestrian Network of the Lands Department: download, readers, graph, routes."""

from urbanground_ros.geo.errors import NetworkError
from urbanground_ros.geo.errors import NoRouteError
from urbanground_ros.geo.network.codes import CrossingFeature
from urbanground_ros.geo.network.codes import Direction
from urbanground_ros.geo.network.codes import FeatureType
from urbanground_ros.geo.network.codes import Location
from urbanground_ros.geo.network.codes import Truth
from urbanground_ros.geo.network.codes import WeatherProof
from urbanground_ros.geo.network.cropping import crop_file
from urbanground_ros.geo.network.features import Feature
from urbanground_ros.geo.network.graph import DEFAULT_HORIZONTAL_TOLERANCE
from urbanground_ros.geo.network.graph import DEFAULT_VERTICAL_TOLERANCE
from urbanground_ros.geo.network.graph import JOIN_TOLERANCE
from urbanground_ros.geo.network.graph import Nearest
from urbanground_ros.geo.network.graph import PedestrianNetwork
from urbanground_ros.geo.network.routing import Route
from urbanground_ros.geo.network.service import NetworkService
from urbanground_ros.geo.network.service import PEDESTRIAN_ROUTES

__all__ = [
    'DEFAULT_HORIZONTAL_TOLERANCE',
    'DEFAULT_VERTICAL_TOLERANCE',
    'JOIN_TOLERANCE',
    'PEDESTRIAN_ROUTES',
    'CrossingFeature',
    'Direction',
    'Feature',
    'FeatureType',
    'Location',
    'Nearest',
    'NetworkError',
    'NetworkService',
    'NoRouteError',
    'PedestrianNetwork',
    'Route',
    'Truth',
    'WeatherProof',
    'crop_file',
]
