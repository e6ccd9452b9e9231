# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which thing each pixel of a picture shows: to verify tasks with, never for agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urbanground_ros.tiles import Instance


@dataclass(frozen=True, eq=False)
class InstanceMask:
    """What is seen, by the pixel: `ids` (H, W) int32 are places in `instances`, from 1 on.

    0 is everything else, which hides what is behind it all the same. `instances` are those that
    are seen, in order of kind and name.
    """

    ids: NDArray[np.int32]
    instances: tuple[Instance, ...]

    def where(self, kind: str, name: str) -> NDArray[np.bool_]:
        """Return which pixels (H, W) show an instance."""
        wanted = Instance(kind, name)
        if wanted not in self.instances:
            return np.zeros(self.ids.shape, bool)
        return self.ids == self.instances.index(wanted) + 1

    def pixels(self, kind: str, name: str) -> int:
        """Return how many pixels show an instance."""
        return int(np.count_nonzero(self.where(kind, name)))


def label(rows: NDArray[np.int32], table: Sequence[Instance | None]) -> InstanceMask:
    """Return the mask of a picture (H, W) of rows of a table, which may name things twice."""
    seen = np.flatnonzero(np.bincount(rows.ravel()))
    instances = sorted({found for row in seen if (found := table[row]) is not None})
    numbers: dict[Instance | None, int] = {each: k for k, each in enumerate(instances, 1)}
    ids = np.zeros(int(seen.max()) + 1, np.int32)
    ids[seen] = [numbers.get(table[row], 0) for row in seen]
    return InstanceMask(ids[rows], tuple(instances))
