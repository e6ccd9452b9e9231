# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the headless city's process."""

from urbanground_ros.parameters import Parameter
from urbanground_ros.sim.body import Embodiment
from urbanground_ros.sim.sun import DEFAULT_DATE

_BODY = Embodiment()

PARAMETERS = (
    Parameter('host', '127.0.0.1', 'where the bridge listens'),
    Parameter('port', 10000, 'TCP port that the bridge listens on', 1, 65535),
    Parameter('connect_timeout', 0.0, 'wall seconds without a bridge after which the city ends, '
              '0 for never', 0.0, 86400.0),
    Parameter('region', '', 'district or region file to load at once, else the first load '
              'decides'),
    Parameter('date', str(DEFAULT_DATE), 'day of the sun, YYYY-MM-DD in Hong Kong'),
    Parameter('pictures', True, 'render pictures'),
    Parameter('avatars', '', 'folder of rigged glTF files that people are drawn as, else the '
              'built-in figures'),
    Parameter('image_width', 640, 'pixels', 16, 4096),
    Parameter('image_height', 480, 'pixels', 16, 4096),
    Parameter('horizontal_fov', 75.0, 'of the camera, degrees', 6.0, 148.0),
    Parameter('pixel_error', 16.0, 'geometric error that tiles may have in pictures, pixels', 1.0,
              1000.0),
    Parameter('view_distance', 1500.0, 'beyond which pictures show no tiles, m', 50.0, 10000.0),
    Parameter('tile_memory', 512.0, 'decoded tiles that are kept at most, MB', 16.0, 65536.0),
    Parameter('jpeg_quality', 90, 'of the pictures', 1, 100),
    Parameter('radius', _BODY.radius, 'of the body, m', 0.05, 2.0),
    Parameter('height', _BODY.height, 'of the body, m', 0.3, 4.0),
    Parameter('eye_height', _BODY.eye_height, 'of the camera above the feet, m', 0.1, 4.0),
    Parameter('walk_speed', _BODY.walk_speed, 'm/s', 0.1, 30.0),
    Parameter('sprint_speed', _BODY.sprint_speed, 'm/s', 0.1, 30.0),
    Parameter('jump_height', _BODY.jump_height, 'm', 0.01, 10.0),
    Parameter('step_height', _BODY.step_height, 'highest step that is climbed, m', 0.01, 2.0),
    Parameter('max_slope', 45.0, 'steepest ground that is walked on, degrees', 1.0, 89.0),
    Parameter('gravity', _BODY.gravity, 'm/s2', 0.1, 100.0),
    Parameter('physics_rate', _BODY.physics_rate, 'Hz', 10, 1000),
)
