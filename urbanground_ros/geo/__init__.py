# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Frames, heights, the pedestrian network, and the regions that bring them together."""

from urbanground_ros.geo.errors import GeoError
from urbanground_ros.geo.errors import NetworkError
from urbanground_ros.geo.errors import NoRouteError
from urbanground_ros.geo.errors import RegionError
from urbanground_ros.geo.extent import Envelope
from urbanground_ros.geo.frames import compass_to_enu
from urbanground_ros.geo.frames import DEFAULT_HKPD_OFFSET
from urbanground_ros.geo.frames import ecef_to_geodetic
from urbanground_ros.geo.frames import enu_to_compass
from urbanground_ros.geo.frames import geodetic_to_ecef
from urbanground_ros.geo.frames import great_circle_distance
from urbanground_ros.geo.frames import hk80_to_wgs84
from urbanground_ros.geo.frames import LocalFrame
from urbanground_ros.geo.frames import SPHERE_RADIUS
from urbanground_ros.geo.frames import wgs84_to_hk80
from urbanground_ros.geo.network import crop_file
from urbanground_ros.geo.network import CrossingFeature
from urbanground_ros.geo.network import DEFAULT_HORIZONTAL_TOLERANCE
from urbanground_ros.geo.network import DEFAULT_VERTICAL_TOLERANCE
from urbanground_ros.geo.network import Direction
from urbanground_ros.geo.network import Feature
from urbanground_ros.geo.network import FeatureType
from urbanground_ros.geo.network import JOIN_TOLERANCE
from urbanground_ros.geo.network import Location
from urbanground_ros.geo.network import Nearest
from urbanground_ros.geo.network import NetworkService
from urbanground_ros.geo.network import PEDESTRIAN_ROUTES
from urbanground_ros.geo.network import PedestrianNetwork
from urbanground_ros.geo.network import Route
from urbanground_ros.geo.network import Truth
from urbanground_ros.geo.network import WeatherProof
from urbanground_ros.geo.region import is_region_name
from urbanground_ros.geo.region import load_places
from urbanground_ros.geo.region import Place
from urbanground_ros.geo.region import PLACE_TYPES
from urbanground_ros.geo.region import Region
from urbanground_ros.geo.region import save_places
from urbanground_ros.geo.store import added_regions
from urbanground_ros.geo.store import regions_folder

__all__ = [
    'DEFAULT_HKPD_OFFSET',
    'DEFAULT_HORIZONTAL_TOLERANCE',
    'DEFAULT_VERTICAL_TOLERANCE',
    'JOIN_TOLERANCE',
    'PEDESTRIAN_ROUTES',
    'PLACE_TYPES',
    'SPHERE_RADIUS',
    'CrossingFeature',
    'Direction',
    'Envelope',
    'Feature',
    'FeatureType',
    'GeoError',
    'LocalFrame',
    'Location',
    'Nearest',
    'NetworkError',
    'NetworkService',
    'NoRouteError',
    'PedestrianNetwork',
    'Place',
    'Region',
    'RegionError',
    'Route',
    'Truth',
    'WeatherProof',
    'added_regions',
    'compass_to_enu',
    'crop_file',
    'ecef_to_geodetic',
    'enu_to_compass',
    'geodetic_to_ecef',
    'great_circle_distance',
    'hk80_to_wgs84',
    'is_region_name',
    'load_places',
    'regions_folder',
    'save_places',
    'wgs84_to_hk80',
]
