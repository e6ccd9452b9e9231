# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Colours (red, green, blue, 0 to 255) that pictures and RViz share."""

#: By name of the network's feature type.
FEATURE_COLORS: dict[str, tuple[int, int, int]] = {
    'FOOTWAY': (60, 120, 216), 'FOOTBRIDGE': (220, 120, 30), 'SUBWAY': (120, 80, 160),
    'STAIRCASE': (200, 40, 60), 'RAMP': (200, 40, 160), 'ESCALATOR': (0, 160, 160),
    'LIFT': (0, 120, 120), 'CROSSING_SIGNALIZED': (30, 160, 60), 'CROSSING_ZEBRA': (30, 160, 60),
}
OTHER_FEATURE = (110, 110, 110)
