# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pieces of a network file: the features that meet an envelope, as the file has them."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
import shapely

from urbanground_ros.geo.errors import NetworkError
from urbanground_ros.geo.extent import Envelope
from urbanground_ros.geo.frames import wgs84_to_hk80
from urbanground_ros.geo.network.readers import lines_of
from urbanground_ros.geo.network.readers import read_document
from urbanground_ros.geo.network.readers import tell_faults


def crop_file(path: str | PathLike[str], envelope: Envelope) -> dict[str, Any]:
    """Return the document of a network file with the features alone that meet an envelope.

    They stay whole, and as they are in the file. Features that cannot be placed are left out
    and logged.

    Raises:
        NetworkError: the file cannot be used, or has no feature there.
    """
    document = read_document(path)
    faults: list[NetworkError] = []
    lines = lines_of(document, path, faults)
    tell_faults(faults, path)
    positions = np.concatenate([line.positions for line in lines])
    plan = np.column_stack(wgs84_to_hk80(positions[:, 0], positions[:, 1]))
    owners = np.repeat(np.arange(len(lines)), [len(line.positions) for line in lines])
    met = shapely.intersects(shapely.linestrings(plan, indices=owners), shapely.box(*envelope))
    numbers = sorted({lines[k].number for k in np.flatnonzero(met)})
    if not numbers:
        raise NetworkError(f'{path}: has no features there, expected ways to walk on')
    return {**document, 'features': [document['features'][number] for number in numbers]}
