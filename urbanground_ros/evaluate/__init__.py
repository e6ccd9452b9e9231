# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Evaluation: many episodes, on ROS or in this process, resumable, with a table at the end."""
