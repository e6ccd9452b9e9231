# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time the pictures of flights over, and a run through, the largest district while it streams."""

from __future__ import annotations

from collections.abc import Iterator
import math
import resource
import time

import numpy as np

from urbanground_ros.sim import CityRegion
from urbanground_ros.sim import open_region
from urbanground_ros.sim.renderer import open_renderer
from urbanground_ros.sim.renderer import Renderer
from urbanground_ros.sim.sun import DEFAULT_DATE
from urbanground_ros.sim.sun import sun_direction
from urbanground_ros.sim.weather import lighting
from urbanground_ros.sim.weather import WEATHERS
from urbanground_ros.tiles import Streamer

DISTRICT = 'hoi_tin'
SIZE = 640, 480
#: A picture every so many metres: 20 a second at 7 m/s on foot, at 40 m/s in the air.
ON_FOOT, IN_THE_AIR = 0.35, 2.0
PICTURES = 400

Pose = tuple[tuple[float, float, float], float, float]


def over(region: CityRegion) -> Iterator[Pose]:
    """Yield eyes, yaws and pitches (rad) along a diagonal, up and down and looking about."""
    low, high = region.low[:2], region.high[:2]
    way = (high - low) * [1.0, -1.0]
    for metres in np.arange(PICTURES) * IN_THE_AIR:
        share = metres / np.linalg.norm(way)
        x, y = (low[0], high[1]) + way * (0.1 + share % 0.8)
        height = 12.0 + 60.0 * abs(math.sin(7 * share))
        yield ((x, y, region.heights(x, y)[-1] + height),
               -math.pi / 4 + 2.0 * math.sin(9 * share), math.radians(-25.0))


def through(region: CityRegion) -> Iterator[Pose]:
    """Yield eyes, yaws and pitches (rad) along the network from corner to corner."""
    network = region.network
    assert network is not None
    nodes = np.array([place for _, place in network.graph.nodes(data='position')])
    order = nodes[:, 0] + nodes[:, 1]
    points = network.route(nodes[np.argmin(order)], nodes[np.argmax(order)]).points
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    for metres in np.arange(PICTURES) * ON_FOOT:
        here, ahead = (np.array([np.interp(at % along[-1], along, points[:, axis])
                                 for axis in range(3)]) for at in (metres, metres + 5.0))
        way = ahead - here
        yield (here[0], here[1], here[2] + 1.6), math.atan2(way[1], way[0]), 0.0


def film(region: CityRegion, renderer: Renderer, poses: list[Pose], *, wait: bool) -> None:
    """Draw a picture from each pose and print how long they took."""
    light = lighting(WEATHERS['sunny'], sun_direction(
        region.frame.latitude, region.frame.longitude, DEFAULT_DATE, 12 * 3600.0))
    times, most, new = [], 0, 0
    before: set[object] = set()
    assert isinstance(region.tiles, Streamer)
    for number, pose in enumerate(poses):
        start = time.perf_counter()
        selection = region.tiles.update(renderer.camera(*pose), wait=wait or number == 0)
        renderer.show(selection.meshes)
        renderer.first_person(*pose, light)
        times.append((time.perf_counter() - start) * 1e3)
        new += len(set(selection.meshes) - before)
        before = set(selection.meshes)
        most = max(most, region.tiles.nbytes)
    first, *rest = times
    p50, p90, p99 = np.percentile(rest, [50, 90, 99])
    print(f'  {"waiting" if wait else "not waiting":12} first {first:6.0f} ms; p50 {p50:5.0f}  '
          f'p90 {p90:5.0f}  p99 {p99:5.0f}  most {max(rest):5.0f} ms a picture; {new} meshes '
          f'came; {most / 1e6:.0f} MB of tiles at most')


def main() -> None:
    renderer = open_renderer(*SIZE, math.radians(75.0))
    if renderer is None:
        return
    for what, path in (('over', over), ('through', through)):
        print(f'{what} {DISTRICT}, {SIZE[0]}x{SIZE[1]}, {PICTURES} pictures')
        with_all = open_region(DISTRICT)
        poses = list(path(with_all))
        with_all.tiles.close()
        for memory in (512.0, 48.0):
            print(f' tile_memory {memory:g} MB')
            for wait in (True, False):
                region = open_region(DISTRICT, tile_memory=memory)
                film(region, renderer, poses, wait=wait)
                region.tiles.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f'process: {peak:.0f} MB at most')
    renderer.close()


if __name__ == '__main__':
    main()
