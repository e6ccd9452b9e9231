# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""3D Tiles 1.0 and 1.1: tileset trees, and their contents as meshes in the map frame."""

from urbanground_ros.tiles.b3dm import unwrap_b3dm
from urbanground_ros.tiles.cache import DiskCache
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.glb import encode_glb
from urbanground_ros.tiles.glb import encode_image
from urbanground_ros.tiles.gltf import decode_glb
from urbanground_ros.tiles.gltf import Primitive
from urbanground_ros.tiles.http import HttpOptions
from urbanground_ros.tiles.http import HttpSource
from urbanground_ros.tiles.loading import load_tileset
from urbanground_ros.tiles.mesh import Emission
from urbanground_ros.tiles.mesh import Features
from urbanground_ros.tiles.mesh import Instance
from urbanground_ros.tiles.mesh import Lamp
from urbanground_ros.tiles.mesh import TileMesh
from urbanground_ros.tiles.opening import open_sources
from urbanground_ros.tiles.rigged import decode_rigged
from urbanground_ros.tiles.rigged import Rig
from urbanground_ros.tiles.sources import FolderSource
from urbanground_ros.tiles.sources import Source
from urbanground_ros.tiles.streamer import Selection
from urbanground_ros.tiles.streamer import Streamer
from urbanground_ros.tiles.tileset import read_tileset
from urbanground_ros.tiles.tileset import Tile
from urbanground_ros.tiles.views import AnyCamera
from urbanground_ros.tiles.views import Camera
from urbanground_ros.tiles.views import OrthographicCamera
from urbanground_ros.tiles.volumes import OrientedBox

__all__ = [
    'AnyCamera',
    'Camera',
    'DiskCache',
    'Emission',
    'Features',
    'FolderSource',
    'HttpOptions',
    'HttpSource',
    'Instance',
    'Lamp',
    'OrientedBox',
    'OrthographicCamera',
    'Primitive',
    'Rig',
    'Selection',
    'Source',
    'Streamer',
    'Tile',
    'TileMesh',
    'TilesError',
    'decode_glb',
    'decode_rigged',
    'encode_glb',
    'encode_image',
    'load_tileset',
    'open_sources',
    'read_tileset',
    'unwrap_b3dm',
]
