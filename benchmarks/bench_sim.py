# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measure the headless city on the built-in district: physics, pictures, JPEG."""

from __future__ import annotations

from collections.abc import Callable
import math
import statistics
import time

import numpy as np

from urbanground_ros.city import Action
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import open_region
from urbanground_ros.sim.renderer import encode_jpeg


def measure(call: Callable[[], object], count: int) -> tuple[float, float]:
    """Return the median and the least wall seconds of some calls."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times), min(times)


def report(what: str, seconds: tuple[float, float], scale: float, unit: str) -> None:
    print(f'{what:40s} median {seconds[0] * scale:8.2f}   min {seconds[1] * scale:8.2f}   {unit}')


def main() -> None:
    start = time.perf_counter()
    region = open_region(DEFAULT_DISTRICT)
    opened = time.perf_counter() - start
    meshes = region.tiles.nearby((0.0, 0.0, 0.0), math.inf).meshes
    print(f'{DEFAULT_DISTRICT}: {len(meshes)} meshes, {sum(len(mesh.faces) for mesh in meshes)} '
          f'triangles; opened in {opened:.2f} s, all read in '
          f'{time.perf_counter() - start - opened:.2f} s')
    feature = max(region.network.features, key=lambda f: f.length) if region.network else None
    if feature is None:
        return
    way = np.diff(feature.points[:2], axis=0)[0]
    place = Placement(GeoPoint(*region.frame.to_geodetic(feature.points[0])),
                      math.degrees(math.atan2(way[0], way[1])))
    city = HeadlessCity(pictures=False, open_region=lambda _: region)
    report('load', measure(lambda: city.load('x', 0, place, Scene()), 1), 1e3, 'ms')
    report('load again', measure(lambda: city.load('x', 0, place, Scene()), 20), 1e3, 'ms')
    back = Action('look', yaw=180.0)
    for name in ('move', 'sprint'):
        action = Action(name, direction='forward', seconds=1.0)

        def walk(action: Action = action) -> None:
            city.act(action)

        there = measure(walk, 10)
        city.act(back)
        back_again = measure(walk, 10)
        city.act(back)
        best = tuple(np.mean([there, back_again], axis=0) / 50)
        report(f'physics, {name}', (best[0], best[1]), 1e6, 'us a step')
    report('physics, standing', (lambda t: (t[0] / 50, t[1] / 50))(
        measure(lambda: city.step(0.0, 0.0, 0.0, 1.0), 20)), 1e6, 'us a step')
    for count, weather in ((100, 'sunny'), (0, 'thunderstorm'), (100, 'thunderstorm')):
        city.load('x', 0, place, Scene(weather, pedestrians=count))
        report(f'physics, {count} people, {weather}', (lambda t: (t[0] / 50, t[1] / 50))(
            measure(lambda: city.step(0.0, 0.0, 0.0, 1.0), 10)), 1e6, 'us a step')
    report('laser scan', measure(city.scan, 20), 1e3, 'ms')
    for width, height in ((640, 480), (1280, 720)):
        city = HeadlessCity(open_region=lambda _: region, image_width=width, image_height=height)
        if not city.capabilities().image_width:
            print('no renderer works here')
            return
        report(f'{width}x{height}: load and first picture', measure(
            lambda city=city: city.load('x', 0, place, Scene(), want_image=True), 1), 1e3, 'ms')
        report(f'{width}x{height}: picture with JPEG', measure(city.picture, 15), 1e3, 'ms')
        image = city.render()
        assert image is not None
        report(f'{width}x{height}: JPEG alone', measure(
            lambda image=image: encode_jpeg(image, 90), 15), 1e3, 'ms')
        report(f'{width}x{height}: depth', measure(city.depth, 10), 1e3, 'ms')
        report(f'{width}x{height}: instance mask', measure(city.instance_mask, 10), 1e3, 'ms')
        for count, weather in ((100, 'sunny'), (0, 'thunderstorm'), (100, 'thunderstorm')):
            city.load('x', 0, place, Scene(weather, pedestrians=count))
            report(f'{width}x{height}: {count} people, {weather}', measure(city.picture, 10),
                   1e3, 'ms')
        for count in (0, 100):
            city.load('x', 0, place, Scene(pedestrians=count), want_image=True)
            for wanted in (False, True):
                seconds, _ = measure(lambda city=city, wanted=wanted: city.step(
                    1.0, 0.0, 1.0, 2.0, want_image=wanted), 20)
                print(f'{width}x{height}: {count} people, '
                      f'{"a picture every 2 s" if wanted else "camera off":24s} '
                      f'{2.0 / seconds:6.0f} simulated seconds a wall second')
        for hour in (12.0, 22.0, 12.0, 22.0):
            city.load('x', 0, place, Scene(time_of_day=hour * 3600.0), want_image=True)
            report(f'{width}x{height}: at {hour:g} h', measure(city.render, 15), 1e3, 'ms')
        city.act(Action('open_map'))
        report(f'{width}x{height}: map with JPEG', measure(city.picture, 15), 1e3, 'ms')
        city.close()


if __name__ == '__main__':
    main()
