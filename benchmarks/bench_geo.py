# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time the frames and the pedestrian network on a made-up district of 10,000 segments."""

import json
from pathlib import Path
import tempfile
import time

import numpy as np

from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import PedestrianNetwork

BLOCKS = 70
POINTS = 10_000
ROUTES = 50
SINGLES = 200


def write_district(path, frame):
    """Write a lattice of streets 20 m apart on a slope, its ways 3D lines of one segment."""
    steps = np.arange(BLOCKS + 1) * 20.0 - BLOCKS * 10.0
    east, north = np.meshgrid(steps, steps, indexing='ij')
    enu = np.stack((east, north, 0.02 * east), axis=-1)
    latitude, longitude, altitude = frame.to_geodetic(enu)
    nodes = np.stack((longitude, latitude, altitude), axis=-1).tolist()
    ways = [(nodes[i][j], nodes[i + di][j + dj])
            for di, dj in ((1, 0), (0, 1))
            for i in range(BLOCKS + 1 - di) for j in range(BLOCKS + 1 - dj)]
    path.write_text(json.dumps({'type': 'FeatureCollection', 'features': [{
        'type': 'Feature',
        'properties': {'PedestrianRouteID': number, 'FeatureType': 1, 'Location': 1,
                       'WeatherProof': 2, 'Direction': 0},
        'geometry': {'type': 'LineString', 'coordinates': way},
    } for number, way in enumerate(ways)]}))


def timed(call, *args):
    start = time.perf_counter()
    result = call(*args)
    return result, time.perf_counter() - start


def main():
    frame = LocalFrame(22.3, 114.17, 0.0)
    random = np.random.default_rng(0)
    half = BLOCKS * 10.0
    points = random.uniform(-half, half, (POINTS, 3)) * (1, 1, 0.03)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'network.geojson'
        write_district(path, frame)
        network, seconds = timed(PedestrianNetwork.load, path, frame)
    print(f'load       {seconds:8.2f} s for {len(network.features)} features')
    _, seconds = timed(frame.to_geodetic, points)
    print(f'geodetic   {seconds / POINTS * 1e6:8.2f} us a point, {POINTS} at once')
    for name, query in (('nearest', network.nearest), ('on_network', network.on_network)):
        _, seconds = timed(query, points)
        print(f'{name:10} {seconds / POINTS * 1e6:8.2f} us a point, {POINTS} at once')
        _, seconds = timed(lambda query=query: [query(p[None]) for p in points[:SINGLES]])
        print(f'{name:10} {seconds / SINGLES * 1e6:8.2f} us a point, one by one')
    pairs = points[:2 * ROUTES].reshape(ROUTES, 2, 3)
    _, seconds = timed(lambda: [network.route(a, b) for a, b in pairs])
    print(f'route      {seconds / ROUTES * 1e3:8.2f} ms')
    _, seconds = timed(lambda: [network.distances(a) for a, _ in pairs[:10]])
    print(f'distances  {seconds / 10 * 1e3:8.2f} ms')


if __name__ == '__main__':
    main()
