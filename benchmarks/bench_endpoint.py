# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Latency and throughput of the ROS-TCP endpoint, beside plain rclpy publishing.

Three processes, as in use: the endpoint, a ROS node on its far side, and here a client that
writes and reads the wire. `up` is client to ROS, `down` is ROS to client, and `direct` is the
yardstick: the endpoint's process publishes the same bytes itself, without any client. Each
message carries the monotonic time of its sending in its last eight bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
import multiprocessing
from multiprocessing.connection import Connection as Pipe
import os
import socket
import struct
import threading
import time
from typing import Any

from urbanground_ros.bridge.protocol import encode_command
from urbanground_ros.bridge.protocol import encode_frame
from urbanground_ros.bridge.protocol import FrameReader
from urbanground_ros.bridge.protocol import Publish
from urbanground_ros.bridge.protocol import Subscribe

# name, bytes of image data, messages and rate (1/s) for latency, messages for throughput
CASES = (
    ('small', 100, 200, 200.0, 2000),
    ('JPEG 640x480', 50_000, 100, 100.0, 1000),
    ('raw 1080p', 6_220_800, 20, 10.0, 20),
)
TYPE = 'sensor_msgs/CompressedImage'
DEPTH = 3000
# A throughput run is over when nothing has arrived for this long, s.
SILENCE = 1.0


def stamped(template: bytes) -> bytes:
    return template[:-8] + struct.pack('<d', time.monotonic())


def age(payload: bytes) -> float:
    return time.monotonic() - struct.unpack('<d', payload[-8:])[0]


def send(publish: Callable[[bytes], None], size: int, count: int, rate: float) -> None:
    """Publish `count` stamped messages, `rate` a second, or as fast as it goes with rate 0."""
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import CompressedImage

    template = serialize_message(CompressedImage(data=bytes(size)))
    start = time.monotonic()
    for number in range(count):
        if rate:
            time.sleep(max(0.0, start + number / rate - time.monotonic()))
        publish(stamped(template))


class Ages:
    """Collects the arrivals of one run: their ages, and when the last was."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Begin a run."""
        with self._lock:
            self.ages: list[float] = []
            self.last = time.monotonic()

    def add(self, payload: bytes) -> None:
        """Note an arrival."""
        with self._lock:
            self.ages.append(age(payload))
            self.last = time.monotonic()

    def wait(self, count: int) -> tuple[list[float], float]:
        """Ages of up to `count` arrivals, and the time of the last."""
        begun = time.monotonic()
        while True:
            with self._lock:
                silence = time.monotonic() - max(self.last, begun)
                if len(self.ages) >= count or silence > SILENCE:
                    return self.ages, self.last
            time.sleep(0.005)


def run_endpoint(pipe: Pipe) -> None:
    """Process of the endpoint; publishes itself for the yardstick."""
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import CompressedImage

    from urbanground_ros.bridge.endpoint import Endpoint

    with spun_node('endpoint') as node:
        endpoint = Endpoint(node, port=0, queue_depth=DEPTH, queue_bytes=1 << 30)
        endpoint.start()
        publisher: Any = node.create_publisher(CompressedImage, '/direct', QoSProfile(depth=DEPTH))
        pipe.send(endpoint.port)
        while (order := pipe.recv()) is not None:
            send(publisher.publish, *order)
            pipe.send(None)
        endpoint.close()


def run_ros(pipe: Pipe) -> None:
    """Process of the ROS node on the far side."""
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import CompressedImage

    qos = QoSProfile(depth=DEPTH)
    ages = {path: Ages() for path in ('up', 'direct')}
    with spun_node('far_side') as node:
        for path, each in ages.items():
            node.create_subscription(CompressedImage, f'/{path}', each.add, qos, raw=True)
        publisher: Any = node.create_publisher(CompressedImage, '/down', qos)
        while node.count_publishers('/up') < 1 or publisher.get_subscription_count() < 1:
            time.sleep(0.01)
        time.sleep(0.5)
        pipe.send(None)
        while (order := pipe.recv()) is not None:
            what, *arguments = order
            if what == 'clear':
                ages[arguments[0]].clear()
                pipe.send(None)
            elif what == 'wait':
                path, count = arguments
                pipe.send(ages[path].wait(count))
            else:
                send(publisher.publish, *arguments)
                pipe.send(None)


@contextmanager
def spun_node(name: str) -> Iterator[Any]:
    """A node of this process, spun in a thread of its own."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    from urbanground_ros.bridge.spin import initialized
    from urbanground_ros.bridge.spin import spinning

    with initialized():
        node = rclpy.create_node(name)
        with spinning(node, SingleThreadedExecutor()):
            yield node


class Client:
    """The wire's far end: what Unity would be."""

    def __init__(self, port: int) -> None:
        self.ages = Ages()
        self._socket = socket.create_connection(('127.0.0.1', port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self._read, daemon=True).start()
        for command in (Publish('/up', TYPE, DEPTH), Subscribe('/down', TYPE)):
            self._socket.sendall(encode_command(command, terminated=True))

    def publish(self, payload: bytes) -> None:
        """Send a message as Unity does."""
        self._socket.sendall(encode_frame('/up', payload, terminated=True))

    def _read(self) -> None:
        frames = FrameReader()
        while count := self._socket.recv_into(frames.get_buffer()):
            for frame in frames.received(count):
                if frame.destination == '/down':
                    self.ages.add(frame.payload)


class Bench:
    """Runs one case along each path."""

    def __init__(self, client: Client, endpoint: Pipe, ros: Pipe) -> None:
        self._client = client
        self._endpoint = endpoint
        self._ros = ros

    def run(self, path: str, size: int, count: int, rate: float) -> tuple[list[float], float]:
        """Ages of the messages that arrived, and the duration of it all."""
        if path == 'down':
            self._client.ages.clear()
        else:
            ask(self._ros, 'clear', path)
        start = time.monotonic()
        if path == 'up':
            send(self._client.publish, size, count, rate)
        elif path == 'down':
            ask(self._ros, 'publish', size, count, rate)
        else:
            self._endpoint.send((size, count, rate))
            self._endpoint.recv()
        if path == 'down':
            ages, last = self._client.ages.wait(count)
        else:
            ages, last = ask(self._ros, 'wait', path, count)
        return ages, last - start


def ask(pipe: Pipe, *order: Any) -> Any:
    pipe.send(order)
    return pipe.recv()


def quantile(values: list[float], part: float) -> float:
    return (
        sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else float('nan')
    )


def report(bench: Bench) -> None:
    print(
        f'{"message":14} {"path":7} {"p50 ms":>8} {"p99 ms":>8} {"msg/s":>9} {"MB/s":>8} '
        f'{"arrived":>8}'
    )
    for name, size, paced, rate, burst in CASES:
        for path in ('direct', 'up', 'down'):
            bench.run(path, size, 5, 50.0)
            ages, _ = bench.run(path, size, paced, rate)
            arrived, seconds = bench.run(path, size, burst, 0.0)
            print(
                f'{name:14} {path:7} {1e3 * quantile(ages, 0.5):8.2f} '
                f'{1e3 * quantile(ages, 0.99):8.2f} {len(arrived) / seconds:9.0f} '
                f'{len(arrived) * size / seconds / 1e6:8.1f} {len(arrived) / burst:8.0%}'
            )


def main() -> None:
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    spawn = multiprocessing.get_context('spawn')
    pipes = []
    processes = []
    for target in (run_endpoint, run_ros):
        near, far = spawn.Pipe()
        process = spawn.Process(target=target, args=(far,))
        process.start()
        pipes.append(near)
        processes.append(process)
    endpoint, ros = pipes
    client = Client(endpoint.recv())
    ros.recv()
    report(Bench(client, endpoint, ros))
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send(None)
        process.join(10.0)


if __name__ == '__main__':
    main()
