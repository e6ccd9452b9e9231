# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""3D Tiles 1.0 and 1.1: tileset trees, and their contents as meshes in the map frame."""

from urbanground_ros.tiles.b3dm import unwrap_b3dm
from urbanground_ros.tiles.errors import TilesError
from urbanground_ros.tiles.gltf import decode_glb
from urbanground_ros.tiles.gltf import encode_glb
from urbanground_ros.tiles.gltf import encode_image
from urbanground_ros.tiles.gltf import Primitive
from urbanground_ros.tiles.mesh import TileMesh
from urbanground_ros.tiles.tileset import load_tileset
from urbanground_ros.tiles.tileset import read_tileset
from urbanground_ros.tiles.tileset import Tile

__all__ = [
    'Primitive',
    'Tile',
    'TileMesh',
    'TilesError',
    'decode_glb',
    'encode_glb',
    'encode_image',
    'load_tileset',
    'read_tileset',
    'unwrap_b3dm',
]
