# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The error that every room raises for bad input."""


class UrbanGroundError(Exception):
    """Bad input or a failed part, told in one line.

    The text says what was wrong, where, and what was expected. The command line prints it
    alone, without a traceback, and ends with status 1.
    """
