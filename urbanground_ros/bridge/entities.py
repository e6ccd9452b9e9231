# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ROS side of the endpoint: entities that its clients share.

Entities are shared by name and type and counted by user. Publishers, service clients and
services outlive their last user by a while, because the connector drops and renews its link
freely and everybody else would have to match anew each time; a subscription ends at once.

rclpy is only safe to destroy under a running executor in certain ways: here no entity has event
handlers (rclpy enters those into its wait set unguarded), destruction runs as a task of the
executor, between two waits, and a service outlives its last call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Mapping
from functools import partial
import threading
import time
from typing import Any
from typing import Protocol

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from rclpy.task import Future

from urbanground_ros.bridge.interface_types import message_class
from urbanground_ros.bridge.interface_types import service_class
from urbanground_ros.bridge.profiles import is_latched
from urbanground_ros.bridge.profiles import matching_profile
from urbanground_ros.bridge.profiles import profile_key
from urbanground_ros.bridge.protocol import EndpointError
from urbanground_ros.bridge.scheduler import Scheduler

# How often subscriptions look for publishers whose QoS they do not match, s.
_REMATCH_PERIOD = 0.5
# How often a call looks for its service while there is none, s.
_SERVICE_PERIOD = 0.05
# A service may still have to send its last response, s.
_MIN_SERVICE_LINGER = 1.0
# Up to this size every message is checked against its type, beyond it the first good one is
# enough: the layout of what is that large (images, clouds) does not vary.
_CHECKED_BYTES = 64 * 1024
_REMEMBERED_ECHOES = 1024

Reply = Callable[[bytes | None, str], None]
Answer = tuple[bytes | None, str]


class Peer(Protocol):
    """What entities know of a client."""

    name: str

    def deliver(self, topic: str, payload: bytes) -> None:
        """Send it a message of a topic by its own name for that topic."""

    def warn(self, text: str) -> None:
        """Write a warning on its console."""

    def request(self, service: str, payload: bytes, reply: Reply) -> Callable[[], None]:
        """Call a service that it offers; returns what gives the call up."""


class EchoFilter:
    """Knows a client's own messages when they come back from DDS.

    The connector has already shown them to its own subscribers. Where rclpy tells the publisher
    and sequence number of a message they identify it; elsewhere its bytes do, and as equal
    bytes are equal messages it does not matter which of two is held back.
    """

    def __init__(self) -> None:
        self._sources: dict[tuple[bytes, int], Peer] = {}
        self._payloads: dict[Peer, deque[int]] = {}
        self._lock = threading.Lock()

    def published(self, peer: Peer, gid: bytes | None, sequence: int, payload: bytes) -> None:
        """Remember that `peer` is about to publish `payload`."""
        with self._lock:
            if gid is None:
                recent = self._payloads.setdefault(peer, deque(maxlen=_REMEMBERED_ECHOES))
                recent.append(hash(payload))
                return
            self._sources[gid, sequence] = peer
            if len(self._sources) > _REMEMBERED_ECHOES:
                del self._sources[next(iter(self._sources))]

    def author(self, info: Mapping[str, Any]) -> Peer | None:
        """The client that published a message, where its information tells."""
        if not self._sources or not info.get('publisher_gid'):
            return None
        key = info['publisher_gid']['data'], info['publication_sequence_number']
        return self._sources.get(key)

    def recognises(self, peer: Peer, payload: bytes) -> bool:
        """Whether `peer` published these bytes; each time counts once."""
        recent = self._payloads.get(peer)
        if not recent:
            return False
        with self._lock:
            try:
                recent.remove(hash(payload))
            except ValueError:
                return False
            return True

    def forget(self, peer: Peer) -> None:
        """Drop what was remembered of a client."""
        with self._lock:
            self._payloads.pop(peer, None)
            self._sources = {key: who for key, who in self._sources.items() if who is not peer}


class SharedPublisher:
    """A ROS publisher of serialised messages for any number of clients."""

    def __init__(
        self, node: Node, topic: str, type_name: str, profile: QoSProfile, echoes: EchoFilter
    ) -> None:
        self.topic = topic
        self.type_name = type_name
        self.users: set[Peer] = set()
        self._class = message_class(type_name)
        self._echoes = echoes
        self._lock = threading.Lock()
        self._sequence = 0
        self._checked = False
        before = _own_publishers(node, topic)
        self.publisher = node.create_publisher(
            self._class,
            topic,
            profile,
            event_callbacks=PublisherEventCallbacks(use_default_callbacks=False),
        )
        new = _own_publishers(node, topic) - before
        self._gid = new.pop() if _TELLS_PUBLISHER and len(new) == 1 else None

    def publish(self, peer: Peer, payload: bytes, *, echoed: bool) -> None:
        """Publish CDR as it is.

        Args:
            peer: whose message it is.
            payload: CDR with its encapsulation header.
            echoed: the client also subscribes to the topic, so its message would come back.

        Raises:
            EndpointError: the bytes are no such message. Passed on they would end every rclpy
                subscriber of the topic with an exception.
        """
        if len(payload) <= _CHECKED_BYTES or not self._checked:
            try:
                deserialize_message(payload, self._class)
            except Exception as error:
                raise EndpointError(
                    f'{len(payload)} bytes on {self.topic} are no {self.type_name} of this '
                    f'ROS 2 distribution: {_one_line(error)}'
                ) from None
            self._checked = True
        with self._lock:
            self._sequence += 1
            if echoed:
                self._echoes.published(peer, self._gid, self._sequence, payload)
            self.publisher.publish(payload)


class SharedSubscription:
    """ROS subscriptions of one topic and type for any number of clients.

    Clients share one subscription, except on latched topics: there each has its own, because
    that is what makes DDS replay the latched messages to a late one.
    """

    def __init__(
        self,
        node: Node,
        topic: str,
        type_name: str,
        profile: QoSProfile | None,
        depth: int,
        echoes: EchoFilter,
        retire: Callable[[Callable[[Any], object], Any], None],
    ) -> None:
        self.topic = topic
        self._node = node
        self._class = message_class(type_name)
        self._fixed = profile
        self._depth = depth
        self._echoes = echoes
        self._retire = retire
        self._members: tuple[tuple[Peer, str], ...] = ()
        self._profile = profile or self._wanted()
        self._subscriptions: dict[tuple[Peer, str] | None, Any] = {}

    @property
    def members(self) -> tuple[tuple[Peer, str], ...]:
        """The clients, each with its own name for the topic."""
        return self._members

    def add(self, peer: Peer, name: str) -> None:
        """Serve a client that knows the topic as `name`."""
        self.rematch()
        self._members += ((peer, name),)
        self._subscribe()

    def remove(self, peer: Peer, name: str) -> None:
        """Stop serving a client."""
        self._members = tuple(each for each in self._members if each != (peer, name))
        self._subscribe()

    def rematch(self) -> None:
        """Subscribe anew where the publishers found now ask for another profile."""
        wanted = self._fixed or self._wanted()
        if profile_key(wanted) != profile_key(self._profile):
            self._profile = wanted
            self._drop(set(self._subscriptions))
            self._subscribe()

    def _wanted(self) -> QoSProfile:
        found = self._node.get_publishers_info_by_topic(self.topic)
        return matching_profile((each.qos_profile for each in found), self._depth)

    def _subscribe(self) -> None:
        """Create and destroy subscriptions until there are those that the members need."""
        needed: set[tuple[Peer, str] | None] = set()
        if is_latched(self._profile):
            needed.update(self._members)
        elif self._members:
            needed.add(None)
        self._drop(set(self._subscriptions) - needed)
        for member in needed - set(self._subscriptions):
            self._subscriptions[member] = self._node.create_subscription(
                self._class,
                self.topic,
                self._listener(member),
                self._profile,
                # In order, and independent of all that the node does otherwise.
                callback_group=MutuallyExclusiveCallbackGroup(),
                event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
                raw=True,
            )

    def _drop(self, members: set[tuple[Peer, str] | None]) -> None:
        for member in members:
            subscription = self._subscriptions.pop(member)
            self._retire(self._node.destroy_subscription, subscription)

    def _listener(
        self, member: tuple[Peer, str] | None
    ) -> Callable[[bytes, Mapping[str, Any]], None]:
        def listen(payload: bytes, info: Mapping[str, Any]) -> None:
            author = self._echoes.author(info)
            for each in self._members:
                peer, name = each
                if (
                    (member is None or member == each)
                    and peer is not author
                    and not self._echoes.recognises(peer, payload)
                ):
                    peer.deliver(name, payload)

        return listen


class Call:
    """A call from a client to a ROS service, which ends exactly once."""

    def __init__(self, reply: Reply) -> None:
        self._reply: Reply | None = reply
        self._clean_up: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    @property
    def ended(self) -> bool:
        """Whether it has been answered or given up."""
        return self._reply is None

    def on_end(self, function: Callable[[], object]) -> None:
        """Run `function` at the end, or now if that is past."""
        with self._lock:
            if self._reply is not None:
                self._clean_up.append(function)
                return
        function()

    def end(self, payload: bytes | None, problem: str = '') -> None:
        """Answer with a serialised response, or with None and the reason."""
        reply = self._finish()
        if reply is not None:
            reply(payload, problem)

    def cancel(self) -> None:
        """Give up without an answer: the client is gone."""
        self._finish()

    def _finish(self) -> Reply | None:
        with self._lock:
            reply, self._reply = self._reply, None
            clean_up, self._clean_up = self._clean_up, []
        for function in clean_up:
            function()
        return reply


class SharedClient:
    """A ROS service client for calls from any number of clients, many at a time."""

    def __init__(self, node: Node, scheduler: Scheduler, service: str, type_name: str) -> None:
        self.service = service
        self.users: set[Peer] = set()
        self._class = service_class(type_name)
        self._type_name = type_name
        self._scheduler = scheduler
        self.client: Any = node.create_client(
            self._class, service, callback_group=ReentrantCallbackGroup()
        )

    def call(self, call: Call, payload: bytes, timeout: float) -> None:
        """Call the service with a serialised request; `call` ends with the answer.

        A service that is not there yet is waited for within the same `timeout` (s, 0 for ever).
        """
        try:
            request = deserialize_message(payload, self._class.Request)
        except Exception as error:
            call.end(
                None,
                f'{len(payload)} bytes for {self.service} are no request of '
                f'{self._type_name}: {_one_line(error)}',
            )
            return
        if timeout > 0:
            call.on_end(self._scheduler.call_later(timeout, self._expire, call, timeout).cancel)
        self._send(call, request)

    def _send(self, call: Call, request: Any) -> None:
        if call.ended:
            return
        if not self.client.service_is_ready():
            retry = self._scheduler.call_later(_SERVICE_PERIOD, self._send, call, request)
            call.on_end(retry.cancel)
            return
        future = self.client.call_async(request)
        future.add_done_callback(lambda done: self._answer(call, done))
        call.on_end(lambda: self.client.remove_pending_request(future))

    def _answer(self, call: Call, future: Future[Any]) -> None:
        try:
            call.end(serialize_message(future.result()))
        except Exception as error:
            call.end(None, f'call of {self.service}: {_one_line(error)}')

    def _expire(self, call: Call, timeout: float) -> None:
        state = 'gave no answer' if self.client.service_is_ready() else 'is not available'
        call.end(None, f'service {self.service} {state} within {timeout:g} s')


class SharedService:
    """A ROS service that clients offer; the one that offered it last serves it.

    rclpy knows no error response. A call that no client answers is therefore answered with a
    default response, in which the boolean fields `success` and `accepted` are false and the
    string field `message` says why, and a warning is logged.
    """

    def __init__(
        self, node: Node, scheduler: Scheduler, service: str, type_name: str, timeout: float
    ) -> None:
        self.service = service
        self.offers: list[tuple[Peer, str]] = []
        self._node = node
        self._scheduler = scheduler
        self._class = service_class(type_name)
        self._timeout = timeout
        self._calls: set[object] = set()
        # Reentrant, and waiting only in await: calls do not wait for each other in any executor.
        self.entity = node.create_service(
            self._class, service, self._serve, callback_group=ReentrantCallbackGroup()
        )

    @property
    def busy(self) -> bool:
        """Whether calls are outstanding."""
        return bool(self._calls)

    async def _serve(self, request: Any, response: Any) -> Any:
        call = object()
        self._calls.add(call)
        try:
            payload, problem = await self._forward(serialize_message(request))
            if payload is not None:
                try:
                    return deserialize_message(payload, self._class.Response)
                except Exception as error:
                    problem = f'{len(payload)} bytes are no response: {_one_line(error)}'
        finally:
            self._calls.remove(call)
        self._node.get_logger().warning(f'service {self.service} failed: {problem}')
        return failure_response(response, problem)

    def _forward(self, payload: bytes) -> Any:
        answered: Any = Future()
        try:
            peer, name = self.offers[-1]
        except IndexError:
            answered.set_result((None, 'no client offers it now'))
            return answered
        # A future that is completed on another thread does not wake the executor by itself.
        answered.add_done_callback(self._wake)
        give_up = peer.request(
            name, payload, lambda reply, problem: answered.set_result((reply, problem))
        )
        if self._timeout > 0:
            alarm = self._scheduler.call_later(self._timeout, give_up)
            answered.add_done_callback(lambda _: alarm.cancel())
        return answered

    def _wake(self, _: Future[Answer]) -> None:
        executor = self._node.executor
        if executor is not None:
            executor.wake()


class Entities:
    """All ROS entities of an endpoint. Safe to call from any thread.

    Args:
        node: creates the entities; its executor runs their callbacks.
        scheduler: runs retries, timeouts and the ends of lingering entities.
        publisher_qos: profiles of publishers by resolved topic, before what a client asks for.
        subscriber_qos: the same for subscriptions, instead of the match with publishers.
        service_timeout: of a call to a client, s; 0 waits for ever.
        service_timeouts: the same by resolved service name.
        linger: how long publishers, clients and services outlive their last user, s.
    """

    def __init__(
        self,
        node: Node,
        scheduler: Scheduler,
        *,
        publisher_qos: Mapping[str, QoSProfile],
        subscriber_qos: Mapping[str, QoSProfile],
        service_timeout: float,
        service_timeouts: Mapping[str, float],
        linger: float,
    ) -> None:
        self.node = node
        self._scheduler = scheduler
        self._publisher_qos = publisher_qos
        self._subscriber_qos = subscriber_qos
        self._service_timeout = service_timeout
        self._service_timeouts = service_timeouts
        self._linger = linger
        self._lock = threading.RLock()
        self._publishers: dict[tuple[str, str, tuple[int, ...]], SharedPublisher] = {}
        self._subscriptions: dict[tuple[str, str, tuple[int, ...] | None], SharedSubscription]
        self._subscriptions = {}
        self._clients: dict[tuple[str, str], SharedClient] = {}
        self._services: dict[tuple[str, str], SharedService] = {}
        self._echoes: dict[str, EchoFilter] = {}
        self._retired: set[_Retirement] = set()
        self._closed = False
        self._scheduler.call_later(_REMATCH_PERIOD, self._rematch)

    def timeout_of(self, service: str) -> float:
        """Seconds that a call of a service (resolved name) may take; 0 is without limit."""
        return self._service_timeouts.get(service, self._service_timeout)

    # Publishers

    def acquire_publisher(
        self, peer: Peer, topic: str, type_name: str, profile: QoSProfile
    ) -> SharedPublisher:
        """A publisher of a topic for a client, until :meth:`release_publisher`."""
        topic = self.node.resolve_topic_name(topic)
        profile = self._publisher_qos.get(topic, profile)
        key = topic, type_name, profile_key(profile)
        with self._lock:
            shared = self._publishers.get(key)
            if shared is None:
                shared = SharedPublisher(
                    self.node, topic, type_name, profile, self._echo_filter(topic)
                )
                self._publishers[key] = shared
            shared.users.add(peer)
            return shared

    def release_publisher(self, peer: Peer, shared: SharedPublisher) -> None:
        """The end of :meth:`acquire_publisher`."""
        with self._lock:
            shared.users.discard(peer)
            if not shared.users:
                self._scheduler.call_later(self._linger, self._end_publisher, shared)

    def lingering_publisher(self, topic: str) -> SharedPublisher | None:
        """The publisher of a topic that a client registered lately and has left."""
        with self._lock:
            for (name, *_), shared in self._publishers.items():
                if not shared.users and name == self.node.resolve_topic_name(topic):
                    return shared
        return None

    def _end_publisher(self, shared: SharedPublisher) -> None:
        with self._lock:
            if shared.users or not _discard(self._publishers, shared):
                return
        self._retire(self.node.destroy_publisher, shared.publisher)

    # Subscriptions

    def acquire_subscription(
        self, peer: Peer, name: str, type_name: str, profile: QoSProfile | None, depth: int
    ) -> SharedSubscription:
        """Have the messages of topic `name` delivered to a client."""
        topic = self.node.resolve_topic_name(name)
        profile = self._subscriber_qos.get(topic, profile)
        key = topic, type_name, profile_key(profile) if profile else None
        with self._lock:
            shared = self._subscriptions.get(key)
            if shared is None:
                shared = SharedSubscription(
                    self.node,
                    topic,
                    type_name,
                    profile,
                    depth,
                    self._echo_filter(topic),
                    self._retire,
                )
                self._subscriptions[key] = shared
            shared.add(peer, name)
            return shared

    def release_subscription(self, peer: Peer, name: str, shared: SharedSubscription) -> None:
        """The end of :meth:`acquire_subscription`."""
        with self._lock:
            shared.remove(peer, name)
            if not shared.members:
                _discard(self._subscriptions, shared)

    def _rematch(self) -> None:
        with self._lock:
            if self._closed:
                return
            for shared in self._subscriptions.values():
                shared.rematch()
        self._scheduler.call_later(_REMATCH_PERIOD, self._rematch)

    # Services that clients call

    def acquire_client(self, peer: Peer, service: str, type_name: str) -> SharedClient:
        """A service client for calls by a client, until :meth:`release_client`."""
        service = self.node.resolve_service_name(service)
        with self._lock:
            shared = self._clients.get((service, type_name))
            if shared is None:
                shared = SharedClient(self.node, self._scheduler, service, type_name)
                self._clients[service, type_name] = shared
            shared.users.add(peer)
            return shared

    def release_client(self, peer: Peer, shared: SharedClient) -> None:
        """The end of :meth:`acquire_client`."""
        with self._lock:
            shared.users.discard(peer)
            if not shared.users:
                self._scheduler.call_later(self._linger, self._end_client, shared)

    def _end_client(self, shared: SharedClient) -> None:
        with self._lock:
            if shared.users or not _discard(self._clients, shared):
                return
        self._retire(self.node.destroy_client, shared.client)

    # Services that clients offer

    def acquire_service(
        self, peer: Peer, name: str, type_name: str
    ) -> tuple[SharedService, Peer | None]:
        """Offer a service on behalf of a client.

        Returns:
            The service, and the client that served it until now.
        """
        service = self.node.resolve_service_name(name)
        with self._lock:
            shared = self._services.get((service, type_name))
            if shared is None:
                shared = SharedService(
                    self.node, self._scheduler, service, type_name, self.timeout_of(service)
                )
                self._services[service, type_name] = shared
            former = shared.offers[-1][0] if shared.offers else None
            shared.offers.append((peer, name))
            return shared, former

    def release_service(self, peer: Peer, name: str, shared: SharedService) -> None:
        """The end of :meth:`acquire_service`."""
        with self._lock:
            shared.offers.remove((peer, name))
            if not shared.offers:
                linger = max(self._linger, _MIN_SERVICE_LINGER)
                self._scheduler.call_later(linger, self._end_service, shared)

    def _end_service(self, shared: SharedService) -> None:
        with self._lock:
            if shared.offers:
                return
            if shared.busy:
                self._scheduler.call_later(_MIN_SERVICE_LINGER, self._end_service, shared)
                return
            if not _discard(self._services, shared):
                return
        self._retire(self.node.destroy_service, shared.entity)

    # All

    def forget(self, peer: Peer) -> None:
        """Drop what is remembered of a client that is gone."""
        with self._lock:
            for echoes in self._echoes.values():
                echoes.forget(peer)

    def close(self, timeout: float) -> None:
        """Destroy all entities, waiting up to `timeout` s for the executor to do it."""
        with self._lock:
            self._closed = True
            publishers = list(self._publishers.values())
            clients = list(self._clients.values())
            services = list(self._services.values())
            for shared in self._subscriptions.values():
                for peer, name in shared.members:
                    shared.remove(peer, name)
            for table in (self._publishers, self._subscriptions, self._clients, self._services):
                table.clear()
        # A response leaves just after its callback has ended, and not without its service.
        deadline = time.monotonic() + timeout
        if busy := [service for service in services if service.busy]:
            while time.monotonic() < deadline and any(service.busy for service in busy):
                time.sleep(0.01)
            time.sleep(0.02)
        for publisher in publishers:
            self._retire(self.node.destroy_publisher, publisher.publisher)
        for client in clients:
            self._retire(self.node.destroy_client, client.client)
        for service in services:
            self._retire(self.node.destroy_service, service.entity)
        for retirement in tuple(self._retired):
            if not retirement.done.wait(timeout):
                timeout = 0.0  # nobody spins
            retirement.run()

    def _retire(self, destroy: Callable[[Any], object], entity: Any) -> None:
        """Destroy an entity between two waits of the executor, or here if there is none."""
        retirement = _Retirement(partial(destroy, entity), self._retired)
        executor = self.node.executor
        if executor is None:
            retirement.run()
        else:
            executor.create_task(retirement.run)

    def _echo_filter(self, topic: str) -> EchoFilter:
        return self._echoes.setdefault(topic, EchoFilter())


class _Retirement:
    """The destruction of one entity, which happens once."""

    def __init__(self, destroy: Callable[[], object], waiting: set[_Retirement]) -> None:
        self.done = threading.Event()
        self._destroy: Callable[[], object] | None = destroy
        self._waiting = waiting
        self._lock = threading.Lock()
        waiting.add(self)

    def run(self) -> None:
        with self._lock:
            destroy, self._destroy = self._destroy, None
            if destroy is not None:
                destroy()
        self._waiting.discard(self)
        self.done.set()


def failure_response(response: Any, reason: str) -> Any:
    """`response` with what it has of `success`, `accepted` and `message` telling a failure."""
    kinds = response.get_fields_and_field_types()
    for name in ('success', 'accepted'):
        if kinds.get(name) == 'boolean':
            setattr(response, name, False)
    if kinds.get('message') == 'string':
        response.message = reason
    return response


def _own_publishers(node: Node, topic: str) -> set[bytes]:
    """Identifiers of this node's publishers of a topic."""
    own = node.get_name(), node.get_namespace()
    return {
        bytes(each.endpoint_gid)
        for each in node.get_publishers_info_by_topic(topic)
        if (each.node_name, each.node_namespace) == own
    }


def _tells_publisher() -> bool:
    """Whether this rclpy tells a callback which publisher sent a message (since Kilted)."""
    import rclpy.subscription

    info = getattr(rclpy.subscription, 'MessageInfo', None)
    return 'publisher_gid' in getattr(info, '__annotations__', {})


_TELLS_PUBLISHER = _tells_publisher()


def _discard(table: dict[Any, Any], shared: object) -> bool:
    """Remove an entity from its table; False if it is not there any more."""
    for key, value in table.items():
        if value is shared:
            del table[key]
            return True
    return False


def _one_line(error: Exception) -> str:
    return ' '.join(str(error).split()) or type(error).__name__
