# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Connections of the endpoint: addresses, recordings, bad peers, slow peers, many peers."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import random
import socket
import struct
import threading
import time

from connector import command
from connector import Connector
from connector import eventually
from connector import Inbox
from connector import matched_publisher
from connector import message
from connector import take_frame
import pytest
import rclpy
from rclpy.executors import MultiThreadedExecutor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import String

from urbanground_ros.bridge.endpoint import Endpoint
from urbanground_ros.bridge.endpoint import EndpointError

Connect = Callable[[Endpoint], Connector]
Serve = Callable[..., Endpoint]


def text(data: str) -> bytes:
    return serialize_message(String(data=data))


def hang_up(client: Connector) -> list[tuple[str, bytes]]:
    """All that the endpoint still says before it hangs up."""
    return list(client.frames())


# Addresses


@pytest.mark.parametrize('host', ['127.0.0.1', 'localhost', '::1', '127.0.0.1, ::1'])
def test_it_listens_where_it_says(serve: Serve, connect: Connect, host: str) -> None:
    try:
        endpoint = serve(host=host)
    except EndpointError as error:
        pytest.skip(f'no such address on this machine: {error}')
    assert endpoint.port > 0
    connect(endpoint).sync()


def test_all_of_several_addresses_are_listened_on(serve: Serve) -> None:
    endpoint = serve(host='127.0.0.1,127.0.0.2')
    for host in ('127.0.0.1', '127.0.0.2'):
        client = Connector(host, endpoint.port)
        client.expect('__handshake')
        client.close()


@pytest.mark.parametrize(
    ('host', 'port'),
    [
        ('', 10000),
        (' ', 0),
        ('127.0.0.1,', 0),
        ('no-such-host.invalid', 10001),
        ('256.1.1.1', 0),
        ('127.0.0.1 127.0.0.2', 0),
        ('203.0.113.7', 10002),
        ('127.0.0.1', 65536),
        ('127.0.0.1', -1),
        ('x' * 300, 0),
    ],
)
def test_an_address_that_cannot_be_is_an_error_of_one_line(
    spin: Callable[..., Node], host: str, port: int
) -> None:
    endpoint = Endpoint(spin('endpoint'), host=host, port=port)
    with pytest.raises(EndpointError, match=str(port)) as caught:
        endpoint.start()
    assert '\n' not in str(caught.value)
    endpoint.close()


def test_a_port_in_use_is_an_error_that_names_it(serve: Serve, spin: Callable[..., Node]) -> None:
    first = serve()
    second = Endpoint(spin('endpoint'), port=first.port)
    with pytest.raises(EndpointError, match=f'127.0.0.1 port {first.port}'):
        second.start()
    second.close()


def test_its_port_is_free_again_when_it_is_closed(serve: Serve, connect: Connect) -> None:
    first = serve()
    port = first.port
    connect(first).sync()
    first.close()
    connect(serve(port=port)).sync()


# Recordings of the real client


def recordings() -> list[str]:
    folder = Path(__file__).resolve().parents[2].parent / 'shared' / 'data' / 'ros_tcp_transcripts'
    found = [*folder.glob('*_c2s.bin'), *folder.glob('*/conn*_c2s.bin')]
    return sorted(str(each.relative_to(folder)) for each in found)


@pytest.mark.parametrize('recording', recordings())
def test_a_recording_replays(
    endpoint: Endpoint, connect: Connect, ros: Node, transcripts: Path, recording: str
) -> None:
    ros.create_subscription(String, '/chatter', lambda _: None, 10)
    unity = connect(endpoint)
    unity.send((transcripts / recording).read_bytes())
    if 'ros1_mode' in recording:
        said = hang_up(unity)
        assert [destination for destination, _ in said] == ['__error']
        assert 'Protocol to ROS2' in json.loads(said[0][1])['text']
        return
    errors = [
        json.loads(payload)['text']
        for destination, payload in unity.sync()
        if destination == '__error'
    ]
    # The only things to complain of are types that this distribution lacks or has changed.
    allowed = ('is installed', 'has no such message', 'of this ROS 2 distribution')
    unexpected = [each for each in errors if not any(part in each for part in allowed)]
    unexpected = [each for each in unexpected if 'not registered' not in each]
    assert unexpected == []
    if 'alltypes' not in recording:
        assert len(errors) <= 2


def test_a_peer_that_sends_byte_by_byte_is_served(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    inbox = Inbox(ros, String, '/chatter')
    stream = command(
        '__publish', topic='/chatter', message_name='std_msgs/String', queue_size=10, latch=False
    )
    for byte in stream:
        unity.send(bytes([byte]))
    inbox.matched()
    for byte in message('/chatter', text('slowly')):
        unity.send(bytes([byte]))
    assert inbox.take(1) == [text('slowly')]


def test_the_handshake_comes_first_and_unasked(endpoint: Endpoint) -> None:
    with socket.create_connection((endpoint.address, endpoint.port)) as plain:
        plain.settimeout(5.0)
        data = b''
        while (frame := take_frame(data)) is None:
            data += plain.recv(4096)
    destination, payload, rest = frame
    assert destination == '__handshake'
    assert json.loads(payload)['version'].startswith('v0.7.')
    assert json.loads(json.loads(payload)['metadata']) == {'protocol': 'ROS2'}
    assert rest == b''


def test_unknown_commands_are_warned_of(endpoint: Endpoint, connect: Connect) -> None:
    unity = connect(endpoint)
    unity.command('__fly', to='the moon')
    assert '__fly' in unity.expect_json('__warn')['text']
    unity.command('____init__')
    assert '____init__' in unity.expect_json('__warn')['text']
    unity.command('__publish', topic='/a')
    assert 'message_name' in unity.expect_json('__error')['text']
    assert unity.sync() == []


# Bad peers


def frame(destination: bytes, payload: bytes) -> bytes:
    return (
        struct.pack('<I', len(destination))
        + destination
        + struct.pack('<I', len(payload))
        + payload
    )


GARBAGE = {
    'huge destination': b'\xff\xff\xff\xff',
    'negative payload': b'\x02\0\0\0/a\xff\xff\xff\xff',
    'huge payload': b'\x03\0\0\0/a\0' + struct.pack('<I', 256 * 1024 * 1024 + 1),
    'no destination': b'\0\0\0\0\x04\0\0\0abcd',
    'swapped': frame(b'{"topic":"/a"}\0', b'__publish\0'),
    'binary': frame(b'\0\1\0\0\x05', b''),
    'bad json': frame(b'__subscribe\0', b'{"topic":\0'),
    'http': b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n' + bytes(2000),
    'ros 1': frame(b'__publish', b'{"topic":"/a","message_name":"std_msgs/String"}'),
}


@pytest.mark.parametrize('garbage', GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_is_answered_with_an_error_and_the_end(
    endpoint: Endpoint, connect: Connect, garbage: bytes
) -> None:
    good = connect(endpoint)
    bad = connect(endpoint)
    bad.send(garbage)
    said = hang_up(bad)
    assert [destination for destination, _ in said] == ['__error']
    assert good.sync() == []
    eventually(lambda: len(endpoint.clients) == 1, 'the bad client went')


def test_random_bytes_harm_nobody_else(endpoint: Endpoint, connect: Connect, ros: Node) -> None:
    good = connect(endpoint)
    inbox = Inbox(ros, String, '/chatter', 100)
    good.register('/chatter', 'std_msgs/String')
    inbox.matched()
    generator = random.Random(20260101)
    for number in range(60):
        bad = Connector(endpoint.address, endpoint.port)
        try:
            bad.send(generator.randbytes(generator.randrange(1, 5000)))
            if number % 2:
                bad.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        except OSError:
            pass
        bad.close()
        good.message('/chatter', text(f'{number}'))
    assert len(inbox.take(60)) == 60
    assert good.sync() == []
    eventually(lambda: len(endpoint.clients) == 1, 'the bad clients went')


@pytest.mark.parametrize('cut', [1, 6, 20, 40, 70])
def test_half_a_frame_harms_nobody_else(endpoint: Endpoint, connect: Connect, cut: int) -> None:
    good, bad = connect(endpoint), connect(endpoint)
    bad.register('/a', 'std_msgs/String')
    bad.send(message('/a', bytes(60))[:cut])
    bad.close()
    eventually(lambda: len(endpoint.clients) == 1, 'the bad client went')
    assert good.sync() == []


def test_an_announced_payload_that_never_comes_costs_nothing(
    endpoint: Endpoint, connect: Connect
) -> None:
    before = resident()
    for _ in range(8):
        connect(endpoint).send(b'\x03\0\0\0/a\0' + struct.pack('<I', 255 * 1024 * 1024) + b'xy')
    good = connect(endpoint)
    assert good.sync() == []
    assert resident() - before < 64 * 1024 * 1024


def resident() -> int:
    """Resident memory of this process, bytes."""
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * 4096


def test_a_reader_that_stalls_costs_bounded_memory_and_nobody_else(
    serve: Serve, connect: Connect, ros: Node
) -> None:
    endpoint = serve(queue_depth=5)
    stalled, good = connect(endpoint), connect(endpoint)
    for unity in (stalled, good):
        unity.subscribe('/camera', 'sensor_msgs/CompressedImage')
        unity.sync()
    camera = matched_publisher(ros, CompressedImage, '/camera', 2)
    picture = bytearray(serialize_message(CompressedImage(data=bytes(500_000))))
    before = resident()
    for number in range(200):
        picture[-1] = number
        camera.publish(bytes(picture))
        assert good.expect('/camera')[-1] == number
    assert resident() - before < 40 * 1024 * 1024
    by_name = {each.name: each.to_client['/camera'] for each in endpoint.statistics()}
    drops = sorted(each.drops for each in by_name.values())
    assert drops[0] == 0
    assert drops[1] > 100
    # Service traffic waits for the stalled client, ahead of the pictures that are left.
    stalled.command('__ping', request_time='x')
    seen = []
    while True:
        destination, payload = stalled.receive()
        if destination == '__ping_response':
            break
        seen.append(payload[-1])
    assert seen == sorted(seen)
    # The last picture may have left before the answer.
    later: list[int] = []
    while (seen + later)[-1:] != [199]:
        later.append(stalled.expect('/camera')[-1])
    assert later == list(range(200 - len(later), 200))
    assert len(later) <= 5


def test_a_client_that_reads_no_replies_is_hung_up_on(serve: Serve, connect: Connect) -> None:
    endpoint = serve(max_payload=100_000)
    deaf = connect(endpoint)
    ping = command('__ping', request_time='x' * 50_000)
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        deaf.send(ping * 2000)
    eventually(lambda: not endpoint.clients, 'it was hung up on')


def test_an_idle_client_is_given_up_where_that_is_asked_for(
    serve: Serve, connect: Connect
) -> None:
    endpoint = serve(idle_timeout=0.3)
    idle, busy = connect(endpoint), connect(endpoint)
    stop = threading.Event()

    def keep_alive() -> None:
        while not stop.wait(0.05):
            busy.send(bytes(8))

    thread = threading.Thread(target=keep_alive)
    thread.start()
    try:
        assert hang_up(idle) == []
        eventually(lambda: len(endpoint.clients) == 1, 'it was given up')
    finally:
        stop.set()
        thread.join()
    busy.sync()


# Many peers

USED_IN_STORM = {'/up', '/up_0', '/up_1', '/up_2', '/down', '/tf', '/door', '/set'}


def test_one_client_too_many_is_told_and_turned_away(serve: Serve, connect: Connect) -> None:
    endpoint = serve(max_clients=2)
    first, _ = connect(endpoint), connect(endpoint)
    third = Connector(endpoint.address, endpoint.port)
    said = hang_up(third)
    assert [destination for destination, _ in said] == ['__handshake', '__error']
    assert '2 clients' in json.loads(said[1][1])['text']
    first.close()
    eventually(lambda: len(endpoint.clients) == 1, 'the first left')
    connect(endpoint).sync()


def test_callbacks_name_the_client(serve: Serve, connect: Connect) -> None:
    told: list[tuple[str, str]] = []
    endpoint = serve(
        on_client_connected=lambda name: told.append(('connected', name)),
        on_client_lost=lambda name: told.append(('lost', name)),
    )
    unity = connect(endpoint)
    (name,) = endpoint.clients
    host, port = unity.socket.getsockname()
    assert name == f'{host}:{port}'
    unity.close()
    eventually(lambda: len(told) == 2, 'both were told')
    assert told == [('connected', name), ('lost', name)]


def test_a_callback_that_fails_harms_nobody(serve: Serve, connect: Connect) -> None:
    def fail(name: str) -> None:
        raise ValueError(name)

    endpoint = serve(on_client_connected=fail, on_client_lost=fail)
    connect(endpoint).close()
    eventually(lambda: not endpoint.clients, 'it left')
    assert connect(endpoint).sync() == []


def connection_threads() -> list[str]:
    names = [each.name for each in threading.enumerate()]
    return [each for each in names if each.startswith(('endpoint-read', 'endpoint-write'))]


@pytest.mark.parametrize('executor_class', [SingleThreadedExecutor, MultiThreadedExecutor])
def test_a_storm_of_reconnections_leaves_nothing_behind(
    serve: Serve, connect: Connect, ros: Node, executor_class: type
) -> None:
    endpoint = serve(executor_class, linger=0.05)
    chatter = ros.create_publisher(String, '/down', 10)
    inbox = Inbox(ros, String, '/up', 1000)
    for number in range(50):
        unity = Connector(endpoint.address, endpoint.port)
        unity.expect('__handshake')
        unity.register('/up', 'std_msgs/String')
        unity.register(f'/up_{number % 3}', 'std_msgs/String', latch=True)
        unity.subscribe('/down', 'std_msgs/String')
        unity.subscribe('/tf', 'tf2_msgs/TFMessage')
        unity.command('__unity_service', topic='/door', message_name='std_srvs/Trigger')
        unity.command('__ros_service', topic='/set', message_name='std_srvs/SetBool')
        unity.message('/up', text(f'{number}'))
        chatter.publish(String(data='down'))
        if number % 3 == 0:
            unity.sync()
        if number % 2:
            unity.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        unity.close()
    last = connect(endpoint)
    last.subscribe('/down', 'std_msgs/String')
    last.register('/up', 'std_msgs/String')
    last.sync()
    eventually(chatter.get_subscription_count, 'it was found')
    chatter.publish(String(data='still here'))
    while last.wait_for('/down') != text('still here'):
        pass
    inbox.matched()
    last.message('/up', text('last'))
    eventually(lambda: inbox.raw[-1:] == [text('last')], 'the last message arrived')
    last.close()

    def own() -> set[str]:
        node = endpoint.node
        topics = {each.topic for each in (*node.publishers, *node.subscriptions)}
        return topics | {each.srv_name for each in (*node.clients, *node.services)}

    eventually(lambda: not own() & USED_IN_STORM, 'all entities went')
    eventually(lambda: not connection_threads(), 'all threads went')


def test_closing_is_quick_complete_and_may_be_repeated(
    serve: Serve, connect: Connect, ros: Node
) -> None:
    endpoint = serve()
    clients = [connect(endpoint) for _ in range(5)]
    for unity in clients:
        unity.register('/up', 'std_msgs/String')
        unity.subscribe('/down', 'std_msgs/String')
        unity.sync()
    started = time.monotonic()
    endpoint.close()
    endpoint.close()
    assert time.monotonic() - started < 2.0
    assert not [each for each in threading.enumerate() if each.name.startswith('endpoint-')]
    assert not endpoint.clients
    assert '/up' not in [each.topic for each in endpoint.node.publishers]
    assert '/down' not in [each.topic for each in endpoint.node.subscriptions]
    for unity in clients:
        assert hang_up(unity) == []


def test_closing_needs_no_executor(context: None, connect: Connect) -> None:
    node = rclpy.create_node('unspun')
    endpoint = Endpoint(node, port=0)
    endpoint.start()
    unity = connect(endpoint)
    unity.register('/up', 'std_msgs/String')
    unity.sync()
    started = time.monotonic()
    endpoint.close()
    assert time.monotonic() - started < 2.0
    node.destroy_node()
