# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The bridge node with the real headless city behind it, seen by a real ROS client."""

from __future__ import annotations

from contextlib import ExitStack
import math
import os
import subprocess
import sys
import threading
import time

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo
from sensor_msgs.msg import Image
from sensor_msgs.msg import LaserScan
from sensor_msgs.msg import NavSatFix
from tf2_msgs.msg import TFMessage
from urbanground.action import Act
from urbanground.msg import Outcome
from urbanground.msg import PedestrianArray
from urbanground.msg import TrajectorySample
from visualization_msgs.msg import MarkerArray

from urbanground_ros.bridge.convert import action_to
from urbanground_ros.bridge.convert import to_nanoseconds
from urbanground_ros.bridge.qos import latched
from urbanground_ros.bridge.qos import reliable
from urbanground_ros.bridge.ros_city import RosCity
from urbanground_ros.bridge.spin import initialized
from urbanground_ros.bridge.spin import spinning
from urbanground_ros.city import Action
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.evaluate.domains import Domains
from urbanground_ros.evaluate.graph import free_port
from urbanground_ros.evaluate.supervise import stop_children

PROGRAM = (sys.executable, '-m', 'urbanground_ros')


def start(domain, *arguments, **kwargs):
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        start_new_session=True,
        env={**os.environ, 'ROS_DOMAIN_ID': str(domain)},
        **kwargs,
    )


class World:
    """City, bridge and a client node in one domain."""

    def __init__(self, domain, drive):
        self.domain = domain
        port = str(free_port())
        self.bridge = start(
            domain, 'bridge', '--ros-args', '-p', f'port:={port}', '-p', f'drive:="{drive}"'
        )
        self.city_process = start(domain, 'city', '--port', port)
        context = Context()
        self.stack = ExitStack()
        self.stack.enter_context(initialized(context, domain_id=domain))
        self.node = Node('client', context=context)
        # An executor must not see an action client of rclpy half made.
        self.act = ActionClient(self.node, Act, 'act')
        self.stack.enter_context(spinning(self.node, SingleThreadedExecutor(context=context)))
        self.city = RosCity(self.node)
        self.city.wait_until_connected()

    def collect(self, kind, topic, qos):
        messages = []
        self.node.create_subscription(kind, topic, messages.append, qos)
        return messages

    def close(self):
        self.stack.close()
        stop_children([self.city_process, self.bridge])


@pytest.fixture(scope='module')
def domains():
    domains = Domains()
    yield domains
    domains.close()


@pytest.fixture(scope='module')
def world(domains):
    world = World(domains.take(), 'off')
    yield world
    world.close()


@pytest.fixture
def start_place(region):
    feature = max(region.network.features, key=lambda f: np.linalg.norm(f.points[1] - f.points[0]))
    a, b = feature.points[:2]
    place = (float(v) for v in region.network.frame.to_geodetic(a + 0.3 * (b - a)))
    return Placement(GeoPoint(*place), math.degrees(math.atan2(*(b - a)[:2])))


def wait(condition, what, timeout=20.0):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f'{what} did not happen within {timeout:g} s'
        time.sleep(0.02)


def matched(world, topic, count=1):
    wait(lambda: world.node.count_publishers(topic) >= count, f'a publisher of {topic}')
    time.sleep(0.3)


def test_standard_interfaces(world, region, start_place):
    fixes = world.collect(NavSatFix, 'fix', reliable(1000))
    odometry = world.collect(Odometry, 'odom', reliable(1000))
    transforms = world.collect(TFMessage, '/tf', reliable(1000))
    static = world.collect(TFMessage, '/tf_static', latched())
    clocks = world.collect(Clock, '/clock', reliable(1000))
    network = world.collect(MarkerArray, 'network/markers', latched())
    for topic in ('fix', 'odom', '/tf', '/clock'):
        matched(world, topic)
    assert not fixes, 'a position before there is one'
    reply = world.city.load(region.name, 0, start_place, Scene())
    for _ in range(5):
        reply = world.city.act(Action('move', direction='forward', seconds=0.5, yaw_rate=20.0))
    count = reply.state.body.sequence + 1
    wait(lambda: len(fixes) == len(odometry) == len(transforms) == count, 'every sample')
    state = reply.state
    assert fixes[-1].latitude == pytest.approx(state.latitude, abs=1e-9)
    assert fixes[-1].longitude == pytest.approx(state.longitude, abs=1e-9)
    assert fixes[-1].altitude == pytest.approx(state.altitude, abs=1e-6)
    assert fixes[-1].status.status == 0
    assert fixes[-1].position_covariance_type == NavSatFix.COVARIANCE_TYPE_DIAGONAL_KNOWN
    stamps = [to_nanoseconds(m.transforms[0].header.stamp) for m in transforms]
    assert len(set(stamps)) == len(stamps)
    assert stamps == sorted(stamps)
    assert all(stamp % 20_000_000 == 0 for stamp in stamps)
    ticks = [to_nanoseconds(c.clock) for c in clocks]
    assert ticks == sorted(ticks)
    # earth -> map -> odom -> base_link -> camera_link -> camera_optical_frame
    pairs = {
        (t.header.frame_id, t.child_frame_id) for m in (*transforms, *static) for t in m.transforms
    }
    assert pairs == {
        ('earth', 'map'),
        ('map', 'odom'),
        ('odom', 'base_link'),
        ('base_link', 'camera_link'),
        ('camera_link', 'camera_optical_frame'),
        ('base_link', 'base_scan'),
    }
    earth = static[-1].transforms[0].transform.translation
    assert np.allclose((earth.x, earth.y, earth.z), region.network.frame.to_ecef(np.zeros(3)))
    speed = odometry[-1].twist.twist.linear
    assert speed.x == pytest.approx(4.0, abs=0.2)
    assert abs(speed.y) < 0.2
    wait(lambda: network, 'network markers')
    lines = [m for m in network[0].markers if m.points]
    assert lines
    assert all(len(m.points) < 16384 and m.color.a > 0 for m in lines)
    assert sum(len(m.points) for m in lines) == 2 * sum(
        len(f.points) - 1 for f in region.network.features
    )


def test_people_are_told_ten_times_a_second(world, region, start_place):
    arrays = world.collect(PedestrianArray, 'pedestrians', reliable(1000))
    matched(world, 'pedestrians')
    world.city.load(region.name, 0, start_place, Scene(pedestrians=20))
    state = world.city.step(0.0, 0.0, 0.0, 2.0).state
    assert state.pedestrian_count == 20
    wait(lambda: len(arrays) >= 20, 'people')
    assert [len(array.pedestrians) for array in arrays] == [20] * 20
    stamps = [to_nanoseconds(array.header.stamp) for array in arrays]
    assert np.all(np.diff(stamps) == 100_000_000)
    for first, second in zip(arrays[0].pedestrians, arrays[1].pedestrians, strict=True):
        assert first.id == second.id
        assert second.pose.position.x - first.pose.position.x == pytest.approx(
            0.1 * second.velocity.x, abs=1e-6
        )
    world.city.load(region.name, 0, start_place, Scene())


def test_scans_and_depth_come_while_somebody_listens(world, region, start_place):
    world.city.load(region.name, 0, start_place, Scene())
    scans = world.collect(LaserScan, 'scan', reliable(10))
    depths = world.collect(Image, 'camera/depth/image_raw', reliable(2))
    matched(world, 'scan')

    def measured():
        world.city.step(0.0, 0.0, 0.0, 0.5)
        return scans and depths

    wait(measured, 'a scan and a depth image')
    scan, depth = scans[-1], depths[-1]
    assert scan.header.frame_id == 'base_scan'
    assert len(scan.ranges) == 360
    assert 0 < np.isfinite(scan.ranges).sum() < 360
    assert scan.angle_min + 359 * scan.angle_increment == pytest.approx(scan.angle_max, abs=1e-5)
    assert (depth.encoding, depth.header.frame_id) == ('32FC1', 'camera_optical_frame')
    metres = np.frombuffer(bytes(depth.data), '<f4').reshape(depth.height, depth.width)
    assert np.isnan(metres).any(), 'sky'
    assert 0.1 < np.nanmin(metres) < 3.0, 'the ground before the feet'
    transforms = world.collect(TFMessage, '/tf_static', latched())
    wait(lambda: transforms, 'static transforms')
    (scanner,) = [t for t in transforms[-1].transforms if t.child_frame_id == 'base_scan']
    assert scanner.transform.translation.z == pytest.approx(0.4)


def test_a_teleport_moves_map_to_odom_alone(world, region, start_place):
    world.city.load(region.name, 0, start_place, Scene())
    world.city.act(Action('move', direction='forward', seconds=0.5))
    odometry = world.collect(Odometry, 'odom', reliable(1000))
    transforms = world.collect(TFMessage, '/tf', reliable(1000))
    matched(world, 'odom')
    world.city.act(Action('look', yaw=1.0))
    wait(lambda: odometry and transforms, 'odometry')
    before, old = odometry[-1].pose.pose, transforms[-1].transforms[0].transform
    place = start_place.point
    world.city.place(Placement(GeoPoint(place.latitude, place.longitude, place.altitude), 10.0))
    count = len(odometry)
    world.city.act(Action('look', yaw=0.5))
    wait(lambda: len(odometry) > count, 'odometry')
    after, new = odometry[count].pose.pose, transforms[-1].transforms[0].transform
    assert (
        math.dist((before.position.x, before.position.y), (after.position.x, after.position.y))
        < 0.05
    )
    assert (
        math.dist((old.translation.x, old.translation.y), (new.translation.x, new.translation.y))
        > 0.5
    )


def test_pictures_are_decoded_only_for_subscribers(world, region, start_place):
    assert world.node.count_subscribers('camera/image_raw/compressed') == 0
    images = world.collect(Image, 'camera/image_raw', reliable(2))
    infos = world.collect(CameraInfo, 'camera/camera_info', reliable(2))
    wait(
        lambda: world.node.count_subscribers('camera/image_raw/compressed') == 1,
        "the converter's own subscription",
    )
    time.sleep(0.3)
    reply = world.city.load(region.name, 0, start_place, Scene(), want_image=True)
    if not reply.image:
        pytest.skip('this machine renders no pictures')
    assert reply.image[:2] == b'\xff\xd8'
    wait(lambda: images and infos, 'a decoded picture')
    assert (images[0].width, images[0].height, images[0].encoding) == (640, 480, 'bgr8')
    assert images[0].header.frame_id == 'camera_optical_frame'
    assert images[0].header == infos[0].header
    f = 320 / math.tan(math.radians(75 / 2))
    assert infos[0].k[0] == pytest.approx(f, rel=1e-6)
    assert np.frombuffer(images[0].data, np.uint8).std() > 10


def send(client, action, feedback=None):
    done = threading.Event()
    future = client.send_goal_async(Act.Goal(action=action_to(action)), feedback)
    future.add_done_callback(lambda _: done.set())
    assert done.wait(10)
    return future.result()


def result_of(handle):
    done = threading.Event()
    future = handle.get_result_async()
    future.add_done_callback(lambda _: done.set())
    assert done.wait(20), 'the goal never ended'
    return future.result()


@pytest.fixture
def act(world, region, start_place):
    world.city.load(region.name, 0, start_place, Scene())
    assert world.act.wait_for_server(10)
    return world.act


def test_act_executes_with_feedback(world, act):
    feedback = []
    handle = send(
        act,
        Action('move', direction='forward', seconds=2.0),
        lambda m: feedback.append(m.feedback.elapsed),
    )
    result = result_of(handle).result
    assert result.outcome == Outcome.SUCCEEDED
    assert result.observation.mode == 'first_person'
    assert feedback == sorted(feedback)
    assert all(0.0 <= t <= 2.0 for t in feedback)


@pytest.mark.parametrize(
    'action',
    [
        Action('fly'),
        Action('map_zoom', factor=2.0),
        Action('move', direction='forward', seconds=99.0),
    ],
)
def test_act_refuses_with_a_number_and_a_reason(act, action):
    result = result_of(send(act, action)).result
    assert result.outcome == Outcome.FAILED
    assert result.message


def test_act_cancelled_at_any_time_ends_in_one_state_and_goes_on(world, act):
    rng = np.random.default_rng(1)
    endings = []
    for _ in range(40):
        handle = send(act, Action('move', direction='left', seconds=2.0))
        assert handle.accepted
        time.sleep(rng.uniform(0, 0.02))
        handle.cancel_goal_async()
        endings.append(result_of(handle).result.outcome)
    assert set(endings) <= {Outcome.SUCCEEDED, Outcome.CANCELLED}
    assert result_of(send(act, Action('look', yaw=5.0))).result.outcome == Outcome.SUCCEEDED
    before = world.city.act(Action('look', yaw=0.1)).state.body
    after = world.city.act(Action('look', yaw=0.1)).state.body
    assert math.dist((before.x, before.y), (after.x, after.y)) < 1e-6, 'the body still moves'


def test_silence_stops_the_body_in_simulated_time(domains, region, start_place):
    world = World(domains.take(), 'realtime')
    try:
        samples = world.collect(TrajectorySample, 'trajectory/sample', reliable(1000))
        publisher = world.node.create_publisher(TwistStamped, 'cmd_vel', 10)
        wait(lambda: publisher.get_subscription_count() == 1, "the drive's subscription")
        matched(world, 'trajectory/sample')
        world.city.load(region.name, 0, start_place, Scene())
        wait(lambda: len(samples) > 5, 'the world to run')
        message = TwistStamped()
        message.header.stamp = samples[-1].stamp
        message.twist.linear.x = 1.0
        publisher.publish(message)
        given = to_nanoseconds(message.header.stamp)
        wait(lambda: to_nanoseconds(samples[-1].stamp) > given + 1_500_000_000, 'the time to pass')
        moving = [to_nanoseconds(s.stamp) - given for s in samples if math.hypot(s.vx, s.vy) > 0.1]
        assert moving, 'the body never moved'
        # A command holds for half a second of simulated time; steps are of 0.1 s.
        assert max(moving) <= 600_000_000
        assert max(moving) - min(moving) >= 200_000_000
    finally:
        world.close()
    assert world.bridge.returncode == 0
    assert world.city_process.returncode == 0


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('bridge', '--ros-args', '-p', 'prot:=1'), "parameter 'prot' is unknown"),
        (('bridge', '--ros-args', '-p', 'port:=70000'), 'expected a whole number from 0 to 65535'),
        (('bridge', '--ros-args', '-p', 'host:=""'), 'address'),
        (
            ('episode', '--ros-args', '-p', 'tasks:=/none.json', '-p', 'agent_domain:=150'),
            '/none.json',
        ),
        (('scoring', '--ros-args', '-p', 'record:=x'), "parameter 'record' is unknown"),
        (('city', '--region', 'atlantis'), 'atlantis'),
        (
            ('city', '--port', '1', '--connect-timeout', '0.5', '--pictures', 'false'),
            'no bridge at',
        ),
        (('agent', 'nobody', '--agent-domain', '150'), "agent 'nobody' is unknown"),
        (('eval', '--agents', 'oracle,nobody'), "agents: 'nobody' is unknown"),
        (('eval', '--region', '/none/region.yaml'), '/none/region.yaml'),
        (('eval', '--tasks', '/none.json', '--in-process', '--agents', 'oracle'), '/none.json'),
        (('score', '/none'), '/none'),
    ],
)
def test_bad_input_is_one_line(domains, arguments, message):
    result = subprocess.run(
        [*PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, 'ROS_DOMAIN_ID': str(domains.take())},
    )
    assert result.returncode != 0
    errors = [line for line in result.stderr.splitlines() if 'error' in line.lower()]
    assert len(errors) == 1, result.stderr
    assert message in errors[0]
    assert 'Traceback' not in result.stderr


def test_a_taken_port_is_one_line(world, domains):
    port = free_port()
    import socket

    with socket.create_server(('127.0.0.1', port)):
        result = subprocess.run(
            [*PROGRAM, 'bridge', '--ros-args', '-p', f'port:={port}'],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, 'ROS_DOMAIN_ID': str(domains.take())},
        )
    assert result.returncode == 1
    assert str(port) in result.stderr
    assert 'Traceback' not in result.stderr
