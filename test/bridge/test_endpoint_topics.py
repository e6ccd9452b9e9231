# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topics through the endpoint, both ways."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path

from connector import Connector
from connector import eventually
from connector import Inbox
from connector import matched_publisher
import pytest
from rclpy.executors import MultiThreadedExecutor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from std_msgs.msg import Empty
from std_msgs.msg import Int32
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from urbanground_ros.bridge.endpoint import Endpoint
from urbanground_ros.bridge.interface_types import message_class
from urbanground_ros.bridge.protocol import EndpointError

BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)

Connect = Callable[[Endpoint], Connector]


def text(data: str) -> bytes:
    return serialize_message(String(data=data))


@pytest.mark.parametrize('executor_class', [SingleThreadedExecutor, MultiThreadedExecutor])
def test_messages_pass_both_ways_unchanged(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node, executor_class: type
) -> None:
    unity = connect(serve(executor_class))
    inbox = Inbox(ros, String, '/up')
    unity.register('/up', 'std_msgs/String')
    unity.subscribe('/down', 'std_msgs/String')
    inbox.matched()
    for number in range(5):
        unity.message('/up', text(f'café {number}'))
    assert inbox.take(5) == [text(f'café {number}') for number in range(5)]
    down = matched_publisher(ros, String, '/down')
    for number in range(5):
        down.publish(String(data=f'{number}'))
    assert [unity.expect('/down') for _ in range(5)] == [text(f'{n}') for n in range(5)]


def test_every_message_class_of_the_connector_passes_byte_for_byte(
    endpoint: Endpoint, connect: Connect, ros: Node, transcripts: Path
) -> None:
    """What Unity serialises arrives unchanged and is that message; what is not is refused."""
    unity = connect(endpoint)
    lines = (transcripts / 'cdr_vectors_filled.jsonl').read_text().splitlines()
    vectors = [json.loads(line) for line in lines]
    passed = refused = 0
    for vector in vectors:
        try:
            kind = message_class(vector['name'])
        except EndpointError:
            continue
        topic = f'/vector_{passed + refused}'
        cdr = bytes.fromhex(vector['cdr'])
        try:
            deserialize_message(cdr + b'\0' * (len(cdr) == 4), kind)
        except Exception:
            unity.register(topic, vector['name'])
            unity.message(topic, cdr)
            assert vector['name'] in unity.expect_json('__error')['text']
            refused += 1
            continue
        inbox = Inbox(ros, kind, topic)
        unity.register(topic, vector['name'])
        inbox.matched()
        unity.message(topic, cdr)
        (raw,) = inbox.take(1)
        assert raw == cdr + b'\0' * (len(cdr) == 4), vector['name']
        inbox.messages(1)
        ros.destroy_subscription(inbox.subscription)
        unity.command('__remove_publisher', topic=topic)
        passed += 1
    assert passed > 100
    # Marker and its kind have had more fields since Humble, and Range since Jazzy.
    assert refused < 8


def test_an_empty_message_of_unity_gets_its_byte(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    inbox = Inbox(ros, Empty, '/empty')
    unity.register('/empty', 'std_msgs/Empty')
    inbox.matched()
    unity.message('/empty', bytes.fromhex('00010000'))
    assert inbox.messages(1) == [Empty()]


def test_a_large_message_passes_both_ways(endpoint: Endpoint, connect: Connect, ros: Node) -> None:
    unity = connect(endpoint)
    picture = serialize_message(Image(height=1080, width=1920, data=bytes(range(256)) * 24300))
    inbox = Inbox(ros, Image, '/up')
    unity.register('/up', 'sensor_msgs/Image', queue_size=2)
    unity.subscribe('/down', 'sensor_msgs/Image')
    inbox.matched()
    unity.message('/up', picture)
    assert inbox.take(1) == [picture]
    matched_publisher(ros, Image, '/down').publish(picture)
    assert unity.expect('/down') == picture


def test_registering_again_keeps_the_publisher(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    inbox = Inbox(ros, Int32, '/number', 100)
    unity.register('/number', 'std_msgs/Int32', queue_size=100)
    inbox.matched()
    (before,) = ros.get_publishers_info_by_topic('/number')
    for number in range(20):
        unity.register('/number', 'std_msgs/Int32', queue_size=100)
        unity.message('/number', serialize_message(Int32(data=number)))
    assert [each.data for each in inbox.messages(20)] == list(range(20))
    (after,) = ros.get_publishers_info_by_topic('/number')
    assert after.endpoint_gid == before.endpoint_gid


@pytest.mark.parametrize('executor_class', [SingleThreadedExecutor, MultiThreadedExecutor])
def test_registering_with_another_type_replaces_the_entity(
    serve: Callable[..., Endpoint], connect: Connect, stranger: Node, executor_class: type
) -> None:
    """DDS has one type a topic and process, so the first has to be gone before."""
    endpoint = serve(executor_class)
    unity = connect(endpoint)
    unity.register('/up', 'std_msgs/Int32')
    unity.subscribe('/down', 'std_msgs/Int32')
    assert unity.sync() == []
    unity.register('/up', 'std_msgs/String')
    unity.subscribe('/down', 'std_msgs/String')
    assert 'std_msgs/Int32' in unity.expect_json('__warn')['text']
    assert 'std_msgs/Int32' in unity.expect_json('__warn')['text']
    inbox = Inbox(stranger, String, '/up')
    publishers = {each.topic: each for each in endpoint.node.publishers}
    eventually(publishers['/up'].get_subscription_count, 'the stranger was found')
    unity.message('/up', text('now text'))
    assert [each.data for each in inbox.messages(1)] == ['now text']
    down = stranger.create_publisher(String, '/down', 10)
    subscriptions = {each.topic: each for each in endpoint.node.subscriptions}
    eventually(subscriptions['/down'].get_publisher_count, 'the stranger was found')
    eventually(down.get_subscription_count, 'the endpoint was found')
    down.publish(String(data='x'))
    assert unity.expect('/down') == text('x')


def test_a_topic_in_use_with_another_type_is_refused(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    first, second = connect(endpoint), connect(endpoint)
    first.register('/thing', 'std_msgs/Int32')
    first.sync()
    second.subscribe('/thing', 'std_msgs/String')
    told = second.expect_json('__error')['text']
    assert 'std_msgs/Int32' in told
    assert 'std_msgs/String' in told
    inbox = Inbox(ros, Int32, '/thing')
    inbox.matched()
    first.message('/thing', serialize_message(Int32(data=5)))
    assert [each.data for each in inbox.messages(1)] == [5]


def test_unsubscribing_ends_the_messages(endpoint: Endpoint, connect: Connect, ros: Node) -> None:
    unity = connect(endpoint)
    unity.subscribe('/chatter', 'std_msgs/String')
    unity.subscribe('/chatter', 'std_msgs/String')
    publisher = matched_publisher(ros, String, '/chatter')
    publisher.publish(String(data='first'))
    assert unity.expect('/chatter') == text('first')
    unity.command('__remove_subscriber', topic='/chatter')
    unity.command('__remove_subscriber', topic='/never')
    assert unity.sync() == []
    eventually(lambda: not publisher.get_subscription_count(), 'the subscription went')
    unity.subscribe('/chatter', 'std_msgs/String')
    eventually(publisher.get_subscription_count, 'the subscription came back')
    publisher.publish(String(data='second'))
    assert unity.expect('/chatter') == text('second')


@pytest.mark.parametrize('early', [True, False])
def test_best_effort_sensors_arrive(
    endpoint: Endpoint, connect: Connect, ros: Node, early: bool
) -> None:
    unity = connect(endpoint)
    if early:
        sensor = ros.create_publisher(String, '/sensor', BEST_EFFORT)
        eventually(lambda: endpoint.node.count_publishers('/sensor'), 'the sensor was found')
        unity.subscribe('/sensor', 'std_msgs/String')
        eventually(sensor.get_subscription_count, 'they matched')
    else:
        unity.subscribe('/sensor', 'std_msgs/String')
        unity.sync()
        sensor = ros.create_publisher(String, '/sensor', BEST_EFFORT)
        eventually(
            lambda: (
                [
                    each.qos_profile.reliability
                    for each in ros.get_subscriptions_info_by_topic('/sensor')
                ]
                == [ReliabilityPolicy.BEST_EFFORT]
            ),
            'the subscription was matched anew',
        )
        eventually(sensor.get_subscription_count, 'they matched')
    sensor.publish(String(data='42'))
    assert unity.expect('/sensor') == text('42')


@pytest.mark.parametrize('early', [True, False])
def test_latched_topics_are_replayed(
    endpoint: Endpoint, connect: Connect, ros: Node, early: bool
) -> None:
    first = connect(endpoint)
    if not early:
        first.subscribe('/map', 'std_msgs/String')
        first.sync()
    ros.create_publisher(String, '/map', LATCHED).publish(String(data='here'))
    eventually(lambda: endpoint.node.count_publishers('/map'), 'the map was found')
    if early:
        first.subscribe('/map', 'std_msgs/String')
    assert first.wait_for('/map') == text('here')
    second = connect(endpoint)
    second.subscribe('/map', 'std_msgs/String')
    assert second.wait_for('/map') == text('here')
    assert early is False or first.sync() == []


def test_many_latched_publishers_of_one_topic_are_all_replayed(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    for number in range(30):
        ros.create_publisher(String, '/tf_static_like', qos).publish(String(data=f'{number}'))
    eventually(lambda: endpoint.node.count_publishers('/tf_static_like') == 30, 'all were found')
    unity = connect(endpoint)
    unity.subscribe('/tf_static_like', 'std_msgs/String', queue_size=100)
    got = {unity.expect('/tf_static_like') for _ in range(30)}
    assert got == {text(f'{number}') for number in range(30)}


def test_latch_keeps_the_last_message_for_late_subscribers(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    unity.register('/goal', 'std_msgs/String', queue_size=1, latch=True)
    unity.message('/goal', text('old'))
    unity.message('/goal', text('there'))
    unity.sync()
    inbox = Inbox(ros, String, '/goal', LATCHED)
    assert [each.data for each in inbox.messages(1)] == ['there']


def test_qos_of_publishers_is_what_was_asked_for(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node
) -> None:
    endpoint = serve(qos={'/events': 100, '/state': BEST_EFFORT}, subscriber_qos={'/in': LATCHED})
    unity = connect(endpoint)
    unity.register('/events', 'std_msgs/String', queue_size=1)
    unity.register('/state', 'std_msgs/String')
    unity.register('/plain', 'std_msgs/String', queue_size=3, latch=True)
    unity.subscribe('/in', 'std_msgs/String')
    qos = json.dumps({'reliability': 'best_effort', 'durability': 1, 'depth': 4, 'deadline': 0})
    unity.command('__publish_qos', topic='/own', message_name='std_msgs/String', qos=qos)
    unity.command('__subscribe_qos', topic='/own2', message_name='std_msgs/String', qos=qos)
    assert unity.sync() == []
    profiles = {each.topic: each.qos_profile for each in endpoint.node.publishers}
    assert profiles['/events'].depth == 100
    assert profiles['/events'].reliability == ReliabilityPolicy.RELIABLE
    assert profiles['/events'].durability == DurabilityPolicy.VOLATILE
    assert profiles['/state'].reliability == ReliabilityPolicy.BEST_EFFORT
    assert profiles['/plain'].depth == 3
    assert profiles['/plain'].durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert profiles['/own'].reliability == ReliabilityPolicy.BEST_EFFORT
    assert profiles['/own'].durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert profiles['/own'].depth == 4
    read = {each.topic: each.qos_profile for each in endpoint.node.subscriptions}
    assert read['/in'].durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert read['/own2'].reliability == ReliabilityPolicy.BEST_EFFORT
    for bad in ('[]', '{"depth":"x"}', '{"reliability":"firm"}'):
        unity.command('__publish_qos', topic='/own', message_name='std_msgs/String', qos=bad)
        assert 'qos' in unity.expect_json('__error')['text']


def test_a_client_does_not_hear_itself_but_others_do(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    first, second = connect(endpoint), connect(endpoint)
    inbox = Inbox(ros, String, '/talk')
    for unity in (first, second):
        unity.subscribe('/talk', 'std_msgs/String')
        unity.register('/talk', 'std_msgs/String')
        unity.sync()
    inbox.matched()
    outsider = matched_publisher(ros, String, '/talk')
    for number in range(10):
        first.message('/talk', text(f'from first {number}'))
        second.message('/talk', text(f'from second {number}'))
        # The same bytes from somebody else are not an echo.
        inbox.take(3 * number + 2)
        outsider.publish(String(data=f'from first {number}'))
        inbox.take(3 * number + 3)
    heard = [first.expect('/talk') for _ in range(20)]
    assert sorted(heard) == sorted(
        [text(f'from second {n}') for n in range(10)]
        + [text(f'from first {n}') for n in range(10)]
    )
    heard = [second.expect('/talk') for _ in range(20)]
    assert sorted(heard) == sorted([text(f'from first {n}') for n in range(10)] * 2)
    assert first.sync() == []
    assert second.sync() == []


def test_the_topic_list_is_one_that_unity_understands(
    endpoint: Endpoint, connect: Connect, ros: Node, stranger: Node
) -> None:
    unity = connect(endpoint)
    ros.create_publisher(String, '/plain', 10)
    ros.create_publisher(String, '/both', 10)
    stranger.create_publisher(Int32, '/both', 10)
    ros.create_publisher(String, '/relative', 10)
    ros.create_publisher(String, '/_hidden', 10)
    unity.subscribe('/both', 'std_msgs/String')
    unity.subscribe('relative', 'std_msgs/String')
    unity.register('/mine', 'std_msgs/Int32')
    unity.sync()
    eventually(lambda: endpoint.node.count_publishers('/_hidden'), 'all were found')
    eventually(lambda: endpoint.node.count_publishers('/both') == 2, 'the stranger was found')
    unity.command('__topic_list')
    found = unity.expect_json('__topic_list')
    assert len(found['topics']) == len(found['types']) == len(set(found['topics']))
    types = dict(zip(found['topics'], found['types'], strict=True))
    assert types['/plain'] == 'std_msgs/String'
    assert types['/both'] == 'std_msgs/String'
    assert types['relative'] == 'std_msgs/String'
    assert types['/mine'] == 'std_msgs/Int32'
    assert '/relative' not in types
    assert '/_hidden' not in types
    assert all(each.count('/') == 1 for each in types.values())


def test_topics_keep_the_name_that_the_client_gave_them(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    unity.subscribe('pose', 'std_msgs/String')
    unity.subscribe('/pose', 'std_msgs/String')
    unity.sync()
    matched_publisher(ros, String, '/pose').publish(String(data='x'))
    assert sorted([unity.receive(), unity.receive()]) == [
        ('/pose', text('x')),
        ('pose', text('x')),
    ]


def test_transforms_pass_as_the_connector_subscribes_to_them(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    unity.subscribe('/tf', 'tf2_msgs/TFMessage')
    matched_publisher(ros, TFMessage, '/tf', 100).publish(TFMessage())
    assert deserialize_message(unity.expect('/tf'), TFMessage) == TFMessage()


@pytest.mark.parametrize(
    'type_name',
    [
        '',
        'String',
        'std_msgs/Nothing',
        'no_such_package/String',
        'os/path',
        'std_msgs/srv/String',
        '../etc/Passwd',
        'std_msgs/String/..',
        'std_srvs/Trigger',
        'subprocess/Popen',
    ],
)
def test_an_unknown_type_is_an_error_and_nothing_else(
    endpoint: Endpoint, connect: Connect, type_name: str
) -> None:
    unity = connect(endpoint)
    unity.register('/x', type_name)
    told = unity.expect_json('__error')['text']
    assert repr(type_name) in told or type_name in told
    unity.subscribe('/x', type_name)
    assert unity.expect_json('__error')['text'] == told
    assert unity.sync() == []
    assert '/x' not in dict(endpoint.node.get_topic_names_and_types())


@pytest.mark.parametrize('topic', ['', '/a b', '//', '/1x', '/a/', '~~', '/é'])
def test_a_bad_topic_name_is_an_error_and_nothing_else(
    endpoint: Endpoint, connect: Connect, topic: str
) -> None:
    unity = connect(endpoint)
    unity.register(topic, 'std_msgs/String')
    unity.subscribe(topic, 'std_msgs/String')
    assert '__publish' in unity.expect_json('__error')['text']
    assert '__subscribe' in unity.expect_json('__error')['text']
    assert unity.sync() == []


def test_an_unregistered_topic_is_told_once(endpoint: Endpoint, connect: Connect) -> None:
    unity = connect(endpoint)
    for _ in range(50):
        unity.message('/nowhere', text('x'))
    unity.message('', text('x'))
    unity.message('/not a name', text('x'))
    told = unity.sync()
    assert [destination for destination, _ in told] == ['__error'] * 3
    assert b'/nowhere' in told[0][1]


def test_bytes_that_are_no_such_message_reach_nobody(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    inbox = Inbox(ros, TFMessage, '/tf')
    unity.register('/tf', 'tf2_msgs/TFMessage')
    inbox.matched()
    good = serialize_message(TFMessage())
    for bad in (b'', b'\0\1', bytes.fromhex('00010000ffffffff'), good[:6], b'\xff' * 64):
        unity.message('/tf', bad)
    unity.message('/tf', good)
    assert inbox.take(1) == [good]
    (told,) = unity.sync()
    assert told[0] == '__error'
    assert b'tf2_msgs/TFMessage' in told[1]
    (statistics,) = endpoint.statistics()
    assert statistics.from_client['/tf'].drops == 5
    assert statistics.from_client['/tf'].frames == 1


def test_traffic_is_counted(endpoint: Endpoint, connect: Connect, ros: Node) -> None:
    unity = connect(endpoint)
    unity.register('/up', 'std_msgs/String')
    unity.subscribe('/down', 'std_msgs/String')
    payload = text('12345')
    for _ in range(3):
        unity.message('/up', payload)
    unity.sync()
    down = matched_publisher(ros, String, '/down')
    down.publish(payload)
    unity.expect('/down')
    (statistics,) = endpoint.statistics()
    assert [statistics.name] == endpoint.clients
    up = statistics.from_client['/up']
    assert (up.frames, up.bytes, up.drops) == (3, 3 * len(payload), 0)
    assert statistics.to_client['/down'].bytes == len(payload)


def test_registrations_end_with_the_client(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node
) -> None:
    endpoint = serve(linger=0.1)
    unity, other = connect(endpoint), connect(endpoint)
    for client in (unity, other):
        client.subscribe('/shared', 'std_msgs/String')
    unity.subscribe('/alone', 'std_msgs/String')
    unity.register('/up', 'std_msgs/String')
    unity.sync()
    other.sync()
    eventually(lambda: ros.count_publishers('/up'), 'the publisher was found')
    unity.close()
    eventually(lambda: not ros.count_publishers('/up'), 'the publisher went')
    eventually(lambda: not ros.count_subscribers('/alone'), 'the subscription went')
    assert len(ros.get_subscriptions_info_by_topic('/shared')) == 1
    matched_publisher(ros, String, '/shared').publish(String(data='still'))
    assert other.expect('/shared') == text('still')


def test_a_client_that_comes_back_finds_its_publisher(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    inbox = Inbox(ros, String, '/up')
    unity.register('/up', 'std_msgs/String')
    inbox.matched()
    unity.close()
    eventually(lambda: not endpoint.clients, 'it left')
    again = connect(endpoint)
    # The connector may send before it has registered again.
    again.message('/up', text('early'))
    again.register('/up', 'std_msgs/String')
    again.message('/up', text('late'))
    assert [each.data for each in inbox.messages(2)] == ['early', 'late']
    assert again.sync() == []
