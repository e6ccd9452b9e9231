# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""UrbanGround for ROS 2: embodied agents and navigation stacks, measured in a city."""

__version__ = '0.1.0'
