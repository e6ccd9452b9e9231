# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The city while its tiles stream: nothing is missing, and nothing depends on what was before."""

import json
import math
import os
from pathlib import Path
import subprocess
import sys

import numpy as np
import pytest
import sim_rig as rig
from standin import frame
from standin import StandIn

from urbanground_ros.city import Action
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.sim import CityRegion
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import open_region
from urbanground_ros.sim.renderer import open_renderer
from urbanground_ros.tiles import DiskCache
from urbanground_ros.tiles import FolderSource
from urbanground_ros.tiles import HttpOptions
from urbanground_ros.tiles import open_sources
from urbanground_ros.tiles import read_tileset
from urbanground_ros.tiles import Streamer

LARGEST = 'hoi_tin'
DATA = Path(__file__).resolve().parents[2].parent / 'shared' / 'data'
#: Less than what one picture of the largest district shows at full detail.
SCARCE = 24.0


@pytest.fixture(scope='module')
def largest():
    region = open_region(LARGEST)
    yield region
    region.tiles.close()


def at(region, point, compass=90.0):
    return Placement(GeoPoint(*map(float, region.frame.to_geodetic(point))), compass)


def far_corners(region):
    """The nodes of the network farthest to the south-west and to the north-east."""
    graph = region.network.graph
    nodes = np.array([graph.nodes[node]['position'] for node in graph])
    order = nodes[:, 0] + nodes[:, 1]
    return nodes[np.argmin(order)], nodes[np.argmax(order)]


def walk_along(city, region, start, goal, metres):
    """Walk the first metres of a route; return a digest of each turn and all samples."""
    points = region.network.route(start, goal).points
    city.load(region.name, 3, at(region, points[0]), Scene('rainy', pedestrians=20))
    samples, turns = [], []
    here, length = points[0][:2], 0.0
    for point in points[1:]:
        way = point[:2] - here
        distance = float(np.linalg.norm(way))
        if distance < 1.0:
            continue
        heading = math.degrees(math.atan2(way[0], way[1]))
        turn = math.remainder(heading - city.act(Action('look', pitch=0.0)).state.yaw, 360.0)
        city.act(Action('look', yaw=turn))
        reply = city.step(4.0, 0.0, 0.0, round(distance / 4.0, 1))
        body = reply.state.body
        samples += reply.samples
        turns.append((city.state_hash(), reply.state.rain_hits, city.scan().tobytes()))
        here, length = np.array([body.x, body.y]), length + distance
        if length > metres:
            break
    return turns, samples


def test_what_is_solid_does_not_end_where_the_body_has_not_been(largest):
    start, goal = far_corners(largest)
    everything = CityRegion(LARGEST, largest.frame, rig.Whole(
        largest.tiles.nearby((0.0, 0.0, 0.0), math.inf).meshes), largest.network)
    results = []
    for region in (everything, open_region(LARGEST, tile_memory=SCARCE)):
        city = HeadlessCity(pictures=False, open_region=lambda _, region=region: region)
        results.append(walk_along(city, region, start, goal, 400.0))
        city.close()
    assert len(results[0][1]) > 1000
    assert results[0] == results[1]


def test_the_past_leaves_no_trace(largest):
    start, goal = far_corners(largest)
    city = HeadlessCity(image_width=320, image_height=240,
                        open_region=lambda _: open_region(LARGEST, tile_memory=64.0))
    if not city.capabilities().image_width:
        pytest.skip('no renderer works here')
    turns, _ = walk_along(city, largest, start, goal, 60.0)
    pictures = [city.picture()]
    for _ in range(4):
        city.act(Action('look', yaw=90.0))
        pictures.append(city.picture())
    walk_along(city, largest, goal, start, 100.0)
    city.picture()
    assert [turn[1:] for turn in walk_along(city, largest, start, goal, 60.0)[0]] == [
        turn[1:] for turn in turns]
    again = [city.picture()]
    for _ in range(4):
        city.act(Action('look', yaw=90.0))
        again.append(city.picture())
    assert again == pictures
    assert len(set(pictures)) == 5
    city.close()


def missing(depth, eye, yaw, pitch, fov, low, high):
    """Count the pixels without a surface on lines that end within the city and below it."""
    height, width = depth.shape
    focal = width / 2 / math.tan(fov / 2)
    across = (np.arange(width) + 0.5 - width / 2) / focal
    down = (np.arange(height) + 0.5 - height / 2) / focal
    right = np.array([math.sin(yaw), -math.cos(yaw), 0.0])
    forward = np.array([math.cos(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw),
                        math.sin(pitch)])
    up = np.cross(right, forward)
    ways = forward + across[None, :, None] * right - down[:, None, None] * up
    with np.errstate(divide='ignore', invalid='ignore'):
        reach = (low[2] - eye[2]) / ways[..., 2]
        ends = np.array(eye) + ways * reach[..., None]
    below = (ways[..., 2] < 0) & np.all((ends[..., :2] > low[:2] + 15)
                                        & (ends[..., :2] < high[:2] - 15), axis=-1)
    return int((np.isnan(depth) & below).sum()), int(below.sum())


@pytest.mark.parametrize('wait', [False, True])
def test_a_flight_over_the_largest_district_shows_no_hole(largest, wait):
    fov = math.radians(75)
    renderer = open_renderer(320, 240, fov)
    if renderer is None or not renderer.has_depth:
        pytest.skip('no renderer works here')
    region = open_region(LARGEST, tile_memory=64.0)
    low, high = region.low, region.high
    try:
        came = set()
        for step in range(60):
            share = step / 59
            x, y = (low + (high - low) * [0.1 + 0.8 * share, 0.9 - 0.8 * share, 0.0])[:2]
            eye = x, y, region.heights(x, y)[-1] + 12.0 + 60.0 * abs(math.sin(7 * share))
            yaw, pitch = -math.pi / 4 + 2.0 * math.sin(9 * share), math.radians(-25.0)
            camera = renderer.camera(eye, yaw, pitch)
            selection = region.tiles.update(camera, wait=wait or step == 0)
            came |= {mesh.name for mesh in selection.meshes}
            renderer.show(selection.meshes)
            holes, pixels = missing(renderer.depth(eye, yaw, pitch), eye, yaw, pitch, fov, low,
                                    high)
            assert pixels > 5000
            # Where the edges of triangles do not share their ends, a pixel may fall through.
            assert holes <= 1, step
            assert region.tiles.nbytes <= 64 * 2 ** 20
        assert any('fine' in name for name in came)
        assert any('coarse' in name for name in came)
        # A tile that is not there would have been noticed.
        tiles = sorted({mesh.name.split(':')[0] for mesh in selection.meshes})
        renderer.show([mesh for mesh in selection.meshes
                       if mesh.name.split(':')[0] in tiles[::2]])
        assert missing(renderer.depth(eye, yaw, pitch), eye, yaw, pitch, fov, low, high)[0] > 50
    finally:
        region.tiles.close()
        renderer.close()


STEPS = """
import sys
sys.path.insert(0, {here!r})
import test_streaming
print(test_streaming.ten_thousand_steps())
"""


def ten_thousand_steps():
    """Walk in circles among people and in rain; return the state's digest."""
    city = HeadlessCity(pictures=False)
    region = open_region(DEFAULT_DISTRICT)
    feature = max(region.network.features, key=lambda feature: feature.length)
    city.load(DEFAULT_DISTRICT, 7, at(region, feature.points[0]),
              Scene('rainy', pedestrians=100))
    for leg in range(10):
        reply = city.step(3.0, 0.5, 0.05 * (leg - 5), 20.0)
    assert len(reply.samples) == 500
    assert reply.state.pedestrian_count == 100
    assert reply.state.rain_hits > 100
    digest = city.state_hash()
    city.close()
    region.tiles.close()
    return digest


def test_ten_thousand_steps_with_people_and_rain_end_in_the_same_state():
    digests = [subprocess.run(
        [sys.executable, '-c', STEPS.format(here=str(Path(__file__).parent))], check=True,
        capture_output=True, text=True, env={
            **os.environ, 'PYTHONHASHSEED': seed, 'PYTHONPATH': os.pathsep.join(sys.path)},
    ).stdout.split()
        for seed in ('1', '2')]
    assert digests == [[ten_thousand_steps()]] * 2


def test_the_body_walks_on_real_photogrammetry(tmp_path):
    source = DATA / 'nasa_dingo_gap' / 'tileset.json'
    if not source.is_file():
        pytest.skip('sample nasa_dingo_gap is not here')
    # Its own coordinates are local with y up: its middle goes to the origin of the rig's frame.
    turn = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    box = read_tileset(source).volume['box']
    shift = np.eye(4)
    shift[:3, 3] = -(turn[:3, :3] @ box[:3])
    (tmp_path / 'tileset.json').write_text(json.dumps({
        'asset': {'version': '1.1'}, 'geometricError': 100.0, 'root': {
            'boundingVolume': {'box': box}, 'geometricError': 100.0, 'refine': 'REPLACE',
            'transform': (rig.FRAME.matrix @ shift @ turn).T.ravel().tolist(),
            'content': {'uri': str(source)}}}))
    tiles = Streamer([FolderSource(tmp_path / 'tileset.json')], rig.FRAME)
    region = CityRegion('dingo', rig.FRAME, tiles)
    city = HeadlessCity(open_region=lambda _: region)
    for compass in (0.0, 90.0, 180.0, 270.0):
        city.load('dingo', 0, rig.placement(0.0, 9.4, compass=compass), Scene())
        reply = city.step(4.0, 0.0, 0.0, 10.0, want_image=True)
        body = reply.state.body
        assert math.hypot(body.x, body.y - 9.4) > 25.0
        assert np.mean([sample.grounded for sample in reply.samples]) > 0.8
        assert min(abs(height - body.z) for height in region.heights(body.x, body.y)) < 0.2
        assert bool(reply.image) == bool(city.capabilities().image_width)
    city.close()


def test_the_real_service_s_layout_is_walked_and_goes_on_from_the_cache(tmp_path):
    cache = DiskCache(tmp_path / 'cache')
    options = HttpOptions(timeout=1.0, tries=2, backoff=0.01)

    def walk(url):
        tiles = Streamer(open_sources(f'{url}/f2', cache=cache, options=options), frame())
        region = CityRegion('service', frame(), tiles)
        city = HeadlessCity(open_region=lambda _: region, image_width=160, image_height=120)
        city.load('service', 0, at(region, [-40.0, -30.0, 0.0]), Scene())
        replies = [city.step(4.0, 0.0, 0.2, 10.0, want_image=True) for _ in range(6)]
        city.close()
        assert not tiles.warnings
        return [(reply.samples, reply.image) for reply in replies]

    with StandIn() as service:
        walked = walk(service.url)
        asked = len(service.requests)
        assert asked
    samples = [sample for part, _ in walked for sample in part]
    assert all(sample.grounded for sample in samples)
    # Nobody answers any more: what was fetched is still there.
    assert walk(service.url) == walked
