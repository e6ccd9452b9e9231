# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The error of tasks."""

from urbanground_ros.errors import UrbanGroundError


class TaskError(UrbanGroundError):
    """A task that cannot be read, varied, generated or run."""
