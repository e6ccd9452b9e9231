# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Services through the endpoint, both ways."""

from __future__ import annotations

from collections.abc import Callable
import threading
from typing import Any

from connector import command
from connector import Connector
from connector import eventually
from connector import matched_publisher
from connector import message
import pytest
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Empty
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger
from urbanground.srv import CityPlace

from urbanground_ros.bridge.endpoint import Endpoint
from urbanground_ros.bridge.shared import failure_response

Connect = Callable[[Endpoint], Connector]
EXECUTORS = pytest.mark.parametrize(
    'executor_class', [SingleThreadedExecutor, MultiThreadedExecutor]
)
EMPTY_STRUCT = bytes.fromhex('00010000')


def wants(data: bool) -> bytes:
    return serialize_message(SetBool.Request(data=data))


def called(srv_id: int, service: str, payload: bytes) -> bytes:
    """A service call as Unity writes it."""
    return command('__request', srv_id=srv_id) + message(service, payload)


def answered(srv_id: int, service: str, payload: bytes) -> bytes:
    """A response as Unity writes it."""
    return command('__response', srv_id=srv_id) + message(service, payload)


def take_response(unity: Connector) -> tuple[int, str, bytes]:
    srv_id = unity.expect_json('__response')['srv_id']
    return srv_id, *unity.receive()


def take_request(unity: Connector) -> tuple[int, str, bytes]:
    srv_id = unity.expect_json('__request')['srv_id']
    return srv_id, *unity.receive()


class HeldService:
    """A ROS service whose calls are answered when and as the test says."""

    def __init__(self, node: Node, name: str) -> None:
        self.calls: list[tuple[SetBool.Request, Future]] = []
        self._node = node
        node.create_service(SetBool, name, self._serve, callback_group=ReentrantCallbackGroup())

    async def _serve(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        future: Future = Future()
        future.add_done_callback(lambda _: self._node.executor.wake())
        self.calls.append((request, future))
        response.message = await future
        response.success = request.data
        return response

    def arrived(self, count: int) -> None:
        eventually(lambda: len(self.calls) >= count, f'{count} calls arrived')


@EXECUTORS
def test_unity_calls_ros_services_at_once_and_is_answered_in_any_order(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node, executor_class: type
) -> None:
    unity = connect(serve(executor_class))
    held = HeldService(ros, '/set')
    unity.command('__ros_service', topic='/set', message_name='std_srvs/SetBool')
    unity.command('__ros_service', topic='/set', message_name='std_srvs/SetBool')
    for srv_id in range(101, 106):
        unity.send(called(srv_id, '/set', wants(srv_id % 2 == 0)))
        held.arrived(srv_id - 100)
    for index in (4, 0, 3, 1, 2):
        held.calls[index][1].set_result(f'call {index}')
        srv_id, name, payload = take_response(unity)
        response = deserialize_message(payload, SetBool.Response)
        assert (srv_id, name) == (101 + index, '/set')
        assert response == SetBool.Response(success=srv_id % 2 == 0, message=f'call {index}')


def test_two_clients_with_the_same_call_numbers_do_not_mix(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    held = HeldService(ros, '/set')
    clients = [connect(endpoint), connect(endpoint)]
    for number, unity in enumerate(clients):
        unity.command('__ros_service', topic='/set', message_name='std_srvs/SetBool')
        unity.send(called(101, '/set', wants(number == 1)))
        held.arrived(number + 1)
    for _, future in reversed(held.calls):
        future.set_result('')
    for number, unity in enumerate(clients):
        srv_id, _, payload = take_response(unity)
        assert srv_id == 101
        assert deserialize_message(payload, SetBool.Response).success == (number == 1)


@pytest.mark.parametrize('kind', [Trigger, Empty])
def test_an_empty_request_of_unity_gets_its_byte(
    endpoint: Endpoint, connect: Connect, ros: Node, kind: Any
) -> None:
    unity = connect(endpoint)
    ros.create_service(kind, '/poke', lambda _, response: response)
    unity.command('__ros_service', topic='/poke', message_name=f'std_srvs/{kind.__name__}')
    unity.send(called(101, '/poke', EMPTY_STRUCT))
    srv_id, _, payload = take_response(unity)
    assert srv_id == 101
    assert deserialize_message(payload, kind.Response) == kind.Response()


def test_a_call_that_nobody_answers_is_ended(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node
) -> None:
    unity = connect(serve(service_timeouts={'/held': 0.2, '/absent': 0.2}))
    held = HeldService(ros, '/held')
    for name in ('/held', '/absent'):
        unity.command('__ros_service', topic=name, message_name='std_srvs/SetBool')
    unity.send(called(101, '/absent', wants(True)))
    assert '/absent is not available' in unity.expect_json('__error')['text']
    assert take_response(unity) == (101, '/absent', b'')
    unity.send(called(102, '/held', wants(True)))
    assert '/held gave no answer' in unity.expect_json('__error')['text']
    assert take_response(unity) == (102, '/held', b'')
    held.calls[0][1].set_result('late')
    unity.send(called(103, '/held', wants(False)))
    held.arrived(2)
    held.calls[1][1].set_result('in time')
    srv_id, _, payload = take_response(unity)
    assert srv_id == 103
    assert deserialize_message(payload, SetBool.Response).message == 'in time'


def test_a_service_that_comes_later_is_waited_for(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    unity.command('__ros_service', topic='/late', message_name='std_srvs/Trigger')
    unity.send(called(101, '/late', EMPTY_STRUCT))
    unity.sync()
    ros.create_service(Trigger, '/late', lambda _, response: response)
    assert take_response(unity)[0] == 101


def test_a_call_of_a_service_that_is_not_registered_is_ended(
    endpoint: Endpoint, connect: Connect
) -> None:
    unity = connect(endpoint)
    unity.command('__ros_service', topic='/x', message_name='no_such_package/Thing')
    assert 'no_such_package' in unity.expect_json('__error')['text']
    unity.send(called(101, '/x', EMPTY_STRUCT))
    assert "'/x', which is not registered" in unity.expect_json('__error')['text']
    assert take_response(unity) == (101, '/x', b'')


def test_a_service_in_use_with_another_type_is_refused(
    endpoint: Endpoint, connect: Connect
) -> None:
    first, second = connect(endpoint), connect(endpoint)
    first.command('__unity_service', topic='/x', message_name='std_srvs/Trigger')
    first.sync()
    second.command('__ros_service', topic='/x', message_name='std_srvs/SetBool')
    assert 'std_srvs/Trigger' in second.expect_json('__error')['text']
    first.command('__unity_service', topic='/x', message_name='std_srvs/SetBool')
    assert 'std_srvs/Trigger' in first.expect_json('__warn')['text']
    assert first.sync() == []


def test_a_request_that_is_none_is_ended(endpoint: Endpoint, connect: Connect) -> None:
    unity = connect(endpoint)
    unity.command('__ros_service', topic='/set', message_name='std_srvs/SetBool')
    unity.send(called(101, '/set', b'\0\1'))
    assert 'std_srvs/SetBool' in unity.expect_json('__error')['text']
    assert take_response(unity) == (101, '/set', b'')


def test_a_number_and_its_message_may_be_apart(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    ros.create_service(SetBool, '/set', lambda request, response: response)
    unity.command('__ros_service', topic='/set', message_name='std_srvs/SetBool')
    unity.register('/chatter', 'std_msgs/String')
    unity.command('__request', srv_id=101)
    unity.send(bytes(8))
    unity.message('/chatter', serialize_message(String(data='between')))
    unity.command('__topic_list')
    unity.message('/set', wants(True))
    unity.expect('__topic_list')
    assert take_response(unity)[0] == 101
    (statistics,) = endpoint.statistics()
    assert statistics.from_client['/chatter'].frames == 1


def test_a_number_whose_message_was_lost_is_ended(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    """The connector drops messages when its queue runs over, and sends the numbers still."""
    unity = connect(endpoint)
    ros.create_service(SetBool, '/set', lambda request, response: response)
    unity.command('__ros_service', topic='/set', message_name='std_srvs/SetBool')
    for srv_id in (101, 102):
        unity.command('__request', srv_id=srv_id)
    unity.send(called(103, '/set', wants(True)))
    unity.message('/set', wants(True))
    ended = []
    for destination, payload in unity.sync():
        if destination == '__response':
            ended.append(payload)
    assert ended[:2] == [b'{"srv_id":101}', b'{"srv_id":102}']
    if len(ended) == 2:
        assert take_response(unity)[0] == 103


@EXECUTORS
def test_ros_calls_a_service_of_unity_many_times_at_once(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node, executor_class: type
) -> None:
    unity = connect(serve(executor_class))
    unity.command('__unity_service', topic='/door', message_name='std_srvs/SetBool')
    unity.command('__unity_service', topic='/door', message_name='std_srvs/SetBool')
    client = ros.create_client(SetBool, '/door', qos_profile=QoSProfile(depth=100))
    assert client.wait_for_service(5.0)
    futures = [client.call_async(SetBool.Request(data=n % 2 == 0)) for n in range(50)]
    requests = [take_request(unity) for _ in range(50)]
    assert len({srv_id for srv_id, *_ in requests}) == 50
    for srv_id, name, payload in reversed(requests):
        assert name == '/door'
        data = deserialize_message(payload, SetBool.Request).data
        response = serialize_message(SetBool.Response(success=data, message=f'{data}'))
        unity.send(answered(srv_id, '/door', response))
    for number, future in enumerate(futures):
        eventually(future.done, f'call {number} was answered')
        assert future.result().success == (number % 2 == 0)
        assert future.result().message == str(number % 2 == 0)


@EXECUTORS
def test_the_executor_goes_on_while_a_call_is_outstanding(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node, executor_class: type
) -> None:
    unity = connect(serve(executor_class))
    unity.command('__unity_service', topic='/slow', message_name='std_srvs/Trigger')
    unity.subscribe('/down', 'std_msgs/String')
    down = matched_publisher(ros, String, '/down')
    client = ros.create_client(Trigger, '/slow')
    assert client.wait_for_service(5.0)
    future = client.call_async(Trigger.Request())
    srv_id, *_ = take_request(unity)
    for number in range(10):
        down.publish(String(data=f'{number}'))
        assert unity.expect('/down') == serialize_message(String(data=f'{number}'))
    unity.send(answered(srv_id, '/slow', serialize_message(Trigger.Response(success=True))))
    eventually(future.done, 'the call was answered')
    assert future.result().success


def test_an_empty_response_of_unity_gets_its_byte(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    unity.command('__unity_service', topic='/poke', message_name='std_srvs/Empty')
    client = ros.create_client(Empty, '/poke')
    assert client.wait_for_service(5.0)
    future = client.call_async(Empty.Request())
    srv_id, *_ = take_request(unity)
    unity.send(answered(srv_id, '/poke', EMPTY_STRUCT))
    eventually(future.done, 'the call was answered')
    assert future.result() == Empty.Response()


@EXECUTORS
@pytest.mark.parametrize('how', ['timeout', 'leaves', 'removes', 'garbage', 'half'])
def test_a_call_that_unity_does_not_answer_ends_with_a_failure(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node, how: str, executor_class: type
) -> None:
    endpoint = serve(
        executor_class, service_timeout=1.0 if how in ('timeout', 'removes') else 30.0
    )
    unity = connect(endpoint)
    unity.command('__unity_service', topic='/door', message_name='std_srvs/SetBool')
    client = ros.create_client(SetBool, '/door')
    assert client.wait_for_service(5.0)
    futures = [client.call_async(SetBool.Request(data=True)) for _ in range(3)]
    numbers = [take_request(unity)[0] for _ in futures]
    if how == 'leaves':
        unity.close()
    elif how == 'removes':
        unity.command('__remove_unity_service', topic='/door')
    elif how == 'garbage':
        for number in numbers:
            unity.send(answered(number, '/door', b'\0\1'))
    elif how == 'half':
        unity.send(answered(numbers[0], '/door', wants(True))[:-3])
        unity.close()
    for future in futures:
        eventually(future.done, 'the call ended')
        assert future.result().success is False
        assert future.result().message
    if how == 'timeout':
        unity.send(answered(numbers[0], '/door', serialize_message(SetBool.Response())))
        assert 'nobody waits' in unity.expect_json('__warn')['text']


def test_a_failure_is_told_in_the_fields_that_a_response_has() -> None:
    response = failure_response(SetBool.Response(success=True), 'why')
    assert (response.success, response.message) == (False, 'why')
    assert failure_response(Empty.Response(), 'why') == Empty.Response()
    city = failure_response(CityPlace.Response(accepted=True), 'why')
    assert (city.accepted, city.message) == (False, 'why')


def test_the_newest_client_serves_and_the_older_takes_over_again(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    older, newer = connect(endpoint), connect(endpoint)
    client = ros.create_client(Trigger, '/door')
    older.command('__unity_service', topic='/door', message_name='std_srvs/Trigger')
    older.sync()
    newer.command('__unity_service', topic='/door', message_name='std_srvs/Trigger')
    assert '/door' in older.expect_json('__warn')['text']
    assert client.wait_for_service(5.0)
    outstanding = client.call_async(Trigger.Request())
    take_request(newer)
    newer.close()
    eventually(outstanding.done, 'the outstanding call ended')
    assert outstanding.result().success is False
    future = client.call_async(Trigger.Request())
    srv_id, *_ = take_request(older)
    older.send(answered(srv_id, '/door', serialize_message(Trigger.Response(success=True))))
    eventually(future.done, 'the older answered')
    assert future.result().success


def test_a_service_without_client_fails_at_once_until_it_is_back(
    endpoint: Endpoint, connect: Connect, ros: Node
) -> None:
    unity = connect(endpoint)
    unity.command('__unity_service', topic='/door', message_name='std_srvs/Trigger')
    client = ros.create_client(Trigger, '/door')
    assert client.wait_for_service(5.0)
    unity.close()
    eventually(lambda: not endpoint.clients, 'it left')
    lost = client.call_async(Trigger.Request())
    eventually(lost.done, 'the call ended')
    assert 'no client' in lost.result().message
    again = connect(endpoint)
    again.command('__unity_service', topic='/door', message_name='std_srvs/Trigger')
    again.sync()
    future = client.call_async(Trigger.Request())
    srv_id, *_ = take_request(again)
    again.send(answered(srv_id, '/door', serialize_message(Trigger.Response(success=True))))
    eventually(future.done, 'the call was answered')
    assert future.result().success


def test_a_service_goes_with_its_last_client(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node
) -> None:
    unity = connect(serve(linger=0.0))
    unity.command('__unity_service', topic='/door', message_name='std_srvs/Trigger')
    client = ros.create_client(Trigger, '/door')
    assert client.wait_for_service(5.0)
    unity.close()
    eventually(lambda: not client.service_is_ready(), 'the service went')


def test_one_client_calls_a_service_of_another_and_of_itself(
    endpoint: Endpoint, connect: Connect
) -> None:
    first, second = connect(endpoint), connect(endpoint)
    first.command('__unity_service', topic='/door', message_name='std_srvs/SetBool')
    first.sync()
    for caller in (first, second):
        caller.command('__ros_service', topic='/door', message_name='std_srvs/SetBool')
        caller.send(called(101, '/door', wants(True)))
        srv_id, *_ = take_request(first)
        first.send(answered(srv_id, '/door', serialize_message(SetBool.Response(message='ok'))))
        number, _, payload = take_response(caller)
        assert number == 101
        assert deserialize_message(payload, SetBool.Response).message == 'ok'


@EXECUTORS
def test_closing_with_calls_outstanding_ends_them(
    serve: Callable[..., Endpoint], connect: Connect, ros: Node, executor_class: type
) -> None:
    endpoint = serve(executor_class)
    unity = connect(endpoint)
    held = HeldService(ros, '/held')
    unity.command('__unity_service', topic='/door', message_name='std_srvs/Trigger')
    unity.command('__ros_service', topic='/held', message_name='std_srvs/SetBool')
    unity.send(called(101, '/held', wants(True)))
    held.arrived(1)
    client = ros.create_client(Trigger, '/door')
    assert client.wait_for_service(5.0)
    futures = [client.call_async(Trigger.Request()) for _ in range(5)]
    for _ in futures:
        take_request(unity)
    closing = threading.Thread(target=endpoint.close)
    closing.start()
    closing.join(5.0)
    assert not closing.is_alive()
    for future in futures:
        eventually(future.done, 'the call ended')
        assert future.result().success is False
    held.calls[0][1].set_result('late')
