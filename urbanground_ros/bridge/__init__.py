# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The bridge between cities and ROS 2: endpoint, converters, nodes."""
