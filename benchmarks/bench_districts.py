# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time and size of every built-in district: written anew, and read as the simulator does."""

from __future__ import annotations

import math
from pathlib import Path
import tempfile
import time

from urbanground_ros.districts import PLANS
from urbanground_ros.districts import write_district
from urbanground_ros.geo import Region
from urbanground_ros.sim import open_region


def main() -> None:
    """Print a table in Markdown."""
    print('| district | write, s | read, s | size, MB | tiles | triangles | features | places |')
    print('|---|---:|---:|---:|---:|---:|---:|---:|')
    for name, plan in PLANS.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            start = time.perf_counter()
            write_district(folder, plan)
            written = time.perf_counter()
            city = open_region(str(folder / 'region.yaml'))
            triangles = sum(len(mesh.faces) for mesh in
                            city.tiles.nearby((0.0, 0.0, 0.0), math.inf).meshes)
            done = time.perf_counter()
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            tiles = len(list(folder.glob('*.glb')))
            region = Region.load(folder / 'region.yaml')
            features = len(region.load_network().features)
            print(f'| {name} | {written - start:.1f} | {done - written:.1f} | {size:.1f} | '
                  f'{tiles} | {triangles} | {features} | {len(region.load_places())} |')


if __name__ == '__main__':
    main()
