# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Both far sides of the endpoint, for tests: Unity on its wire, and plain ROS."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import json
import socket
import struct
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

PATIENCE = 10.0


class Connector:
    """Writes as the connector does and reads strictly what it would understand.

    It shares no code with the endpoint: the frames are put together and taken apart here.
    """

    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port), timeout=PATIENCE)
        self._received = b''

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def command(self, destination: str, **members: Any) -> None:
        self.send(command(destination, **members))

    def message(self, topic: str, payload: bytes) -> None:
        self.send(message(topic, payload))

    def subscribe(self, topic: str, type_name: str, **members: Any) -> None:
        self.command('__subscribe', topic=topic, message_name=type_name, **members)

    def register(
        self, topic: str, type_name: str, queue_size: int = 10, latch: bool = False
    ) -> None:
        self.command(
            '__publish', topic=topic, message_name=type_name, queue_size=queue_size, latch=latch
        )

    def sync(self) -> list[tuple[str, bytes]]:
        """Wait until the endpoint has done all that was sent so far; returns what came before."""
        token = f'{time.monotonic_ns()}'
        self.command('__ping', request_time=token)
        before = []
        for frame in self.frames():
            if frame == (
                '__ping_response',
                json.dumps({'request_time': token}, separators=(',', ':')).encode(),
            ):
                return before
            before.append(frame)
        raise AssertionError('the endpoint hung up')

    def frames(self) -> Iterator[tuple[str, bytes]]:
        """What arrives, until the endpoint hangs up; times out with an error."""
        while True:
            frame = self._take()
            if frame is not None:
                yield frame
                continue
            data = self.socket.recv(1 << 20)
            if not data:
                assert not self._received, 'the endpoint left in the middle of a frame'
                return
            self._received += data

    def receive(self) -> tuple[str, bytes]:
        return next(self.frames())

    def expect(self, destination: str) -> bytes:
        """The payload of the next frame, which has to have this destination."""
        found, payload = self.receive()
        assert found == destination, f'{found} {payload[:200]!r}'
        return payload

    def expect_json(self, destination: str) -> Any:
        return json.loads(self.expect(destination))

    def wait_for(self, destination: str) -> bytes:
        """The payload of the next frame of this destination; others are passed over."""
        for found, payload in self.frames():
            if found == destination:
                return payload
        raise AssertionError(f'the endpoint hung up before {destination}')

    def quiet(self, seconds: float) -> list[tuple[str, bytes]]:
        """What arrives within some time; for what must not arrive."""
        self.socket.settimeout(seconds)
        got = []
        try:
            for frame in self.frames():
                got.append(frame)
        except TimeoutError:
            pass
        finally:
            self.socket.settimeout(PATIENCE)
        return got

    def _take(self) -> tuple[str, bytes] | None:
        frame = take_frame(self._received)
        if frame is None:
            return None
        destination, payload, self._received = frame
        return destination, payload


def take_frame(data: bytes) -> tuple[str, bytes, bytes] | None:
    """First frame towards Unity in `data`, and the rest; checks what Unity's reader relies on."""
    if len(data) < 4:
        return None
    (length,) = struct.unpack_from('<i', data)
    assert 0 <= length <= 1024
    if len(data) < 8 + length:
        return None
    (size,) = struct.unpack_from('<i', data, 4 + length)
    assert size >= 0
    if len(data) < 8 + length + size:
        return None
    destination = data[4 : 4 + length].decode('ascii')
    payload = data[8 + length : 8 + length + size]
    assert destination
    assert '\0' not in destination
    if destination.startswith('__'):
        assert not payload.endswith(b'\0')
        json.loads(payload)
    return destination, payload, data[8 + length + size :]


def command(destination: str, **members: Any) -> bytes:
    """A system command as Unity writes it in ROS 2 mode."""
    text = json.dumps(members, separators=(',', ':')).encode() + b'\0'
    name = destination.encode() + b'\0'
    return struct.pack('<I', len(name)) + name + struct.pack('<I', len(text)) + text


def message(topic: str, payload: bytes) -> bytes:
    """A message as Unity writes it in ROS 2 mode."""
    name = topic.encode() + b'\0'
    return struct.pack('<I', len(name)) + name + struct.pack('<I', len(payload)) + payload


def eventually(condition: Callable[[], Any], what: str) -> Any:
    """Wait until `condition` holds, and return its value."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, f'it never happened that {what}'
        time.sleep(0.005)
    return value


class Inbox:
    """Raw messages that a ROS subscription has received."""

    def __init__(self, node: Node, kind: type, topic: str, qos: QoSProfile | int = 10) -> None:
        self.kind = kind
        self.raw: list[bytes] = []
        self.subscription = node.create_subscription(kind, topic, self.raw.append, qos, raw=True)

    def matched(self) -> None:
        eventually(self.subscription.get_publisher_count, 'the publisher was found')

    def take(self, count: int) -> list[bytes]:
        eventually(lambda: len(self.raw) >= count, f'{count} messages arrived')
        return self.raw

    def messages(self, count: int) -> list[Any]:
        return [deserialize_message(each, self.kind) for each in self.take(count)]


def matched_publisher(node: Node, kind: type, topic: str, qos: QoSProfile | int = 10) -> Any:
    """A publisher that has found a subscription."""
    publisher = node.create_publisher(kind, topic, qos)
    eventually(publisher.get_subscription_count, 'the subscription was found')
    return publisher
