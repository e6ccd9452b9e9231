# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Find files of the package: in a source checkout, or where it was installed."""

from __future__ import annotations

import os
from pathlib import Path
import sys

from urbanground_ros.errors import UrbanGroundError

_SOURCE = Path(__file__).resolve().parents[1]


def project_file(relative: str) -> Path:
    """Return a file of the package's share folder, such as `rviz/urbanground.rviz`.

    Raises:
        UrbanGroundError: it is in none of the places where it could be.
    """
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    places = [Path(p) / 'share' / 'urbanground' for p in prefixes if p]
    if (_SOURCE / 'package.xml').is_file():
        places.insert(0, _SOURCE)
    for place in places:
        if (place / relative).exists():
            return place / relative
    raise UrbanGroundError(f'{relative}: not found in {", ".join(map(str, places))}; is the '
                           'package installed and its setup file sourced?')
