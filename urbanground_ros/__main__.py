# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Run the command line: `python -m urbanground_ros`."""

import sys

from urbanground_ros.cli import main

sys.exit(main())
