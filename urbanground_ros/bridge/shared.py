# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""ROS entities of the endpoint, each serving any number of clients."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from collections.abc import Mapping
from functools import partial
import threading
from typing import Any
from typing import Literal
from typing import Protocol

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
import rclpy.subscription
from rclpy.task import Future

from urbanground_ros.bridge.interface_types import message_class
from urbanground_ros.bridge.interface_types import service_class
from urbanground_ros.bridge.profiles import is_latched
from urbanground_ros.bridge.profiles import matching_profile
from urbanground_ros.bridge.profiles import profile_key
from urbanground_ros.bridge.profiles import SERVICE_PROFILE
from urbanground_ros.bridge.protocol import EndpointError
from urbanground_ros.bridge.scheduler import Scheduler

# How often a call looks for its service while there is none, s.
_SERVICE_PERIOD = 0.05
# Up to this size every message is checked against its type, beyond it the first good one is
# enough: the layout of what is that large (images, clouds) does not vary.
_CHECKED_BYTES = 64 * 1024
_REMEMBERED_ECHOES = 1024
# Since Kilted, rclpy tells a callback which publisher sent a message.
_TELLS_PUBLISHER = 'publisher_gid' in getattr(
    getattr(rclpy.subscription, 'MessageInfo', None), '__annotations__', {}
)

Reply = Callable[[bytes | None, str], None]
Retire = Callable[[str, Callable[[], object]], None]


class Peer(Protocol):
    """What entities know of a client."""

    name: str

    def deliver(self, topic: str, payload: bytes) -> None:
        """Send it a message of a topic by its own name for that topic."""

    def warn(self, text: str) -> None:
        """Write a warning on its console."""

    def request(self, service: str, payload: bytes, reply: Reply) -> Callable[[], None]:
        """Call a service that it offers; returns what gives the call up."""


User = tuple[Peer, str]  # a client, and its own name for the topic or service


class Shared(ABC):
    """A ROS entity, or several, with the clients that use it.

    Attributes:
        name: resolved name of the topic or service.
        type_name: `pkg/Type`.
        users: who uses it, in the order of their registration.
    """

    def __init__(self, name: str, type_name: str) -> None:
        self.name = name
        self.type_name = type_name
        self.users: tuple[User, ...] = ()

    @property
    def in_use(self) -> bool:
        """Whether a client needs it."""
        return bool(self.users)

    def add(self, user: User) -> None:
        """Serve a client."""
        self.users += (user,)

    def remove(self, user: User) -> None:
        """Stop serving a client."""
        self.users = tuple(each for each in self.users if each != user)

    @abstractmethod
    def destroy(self) -> None:
        """Destroy what it has in ROS."""


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


class SharedPublisher(Shared):
    """A ROS publisher of serialised messages."""

    def __init__(
        self, node: Node, topic: str, type_name: str, profile: QoSProfile, echoes: EchoFilter
    ) -> None:
        super().__init__(topic, type_name)
        self._node = node
        self._class = message_class(type_name)
        self._echoes = echoes
        self._lock = threading.Lock()
        self._sequence = 0
        self._checked = False
        before = _own_publishers(node, topic)
        self._publisher = node.create_publisher(
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
            EndpointError: the bytes are no such message, which passed on would end every rclpy
                subscriber of the topic with an exception; or ROS is shut down.
        """
        if len(payload) <= _CHECKED_BYTES or not self._checked:
            try:
                deserialize_message(payload, self._class)
            except Exception as error:
                raise EndpointError(
                    f'{len(payload)} bytes on {self.name} are no {self.type_name} of this '
                    f'ROS 2 distribution: {_one_line(error)}'
                ) from None
            self._checked = True
        with self._lock:
            self._sequence += 1
            if echoed:
                self._echoes.published(peer, self._gid, self._sequence, payload)
            try:
                self._publisher.publish(payload)
            except Exception as error:
                raise EndpointError(f'publishing on {self.name}: {_one_line(error)}') from None

    def destroy(self) -> None:
        """Destroy the publisher."""
        self._node.destroy_publisher(self._publisher)


class SharedSubscription(Shared):
    """ROS subscriptions of one topic and type.

    Clients share one subscription, except on latched topics: there each has its own, because
    that is what makes DDS replay the latched messages to a late one.

    Args:
        node: creates the subscriptions.
        topic: resolved name.
        type_name: `pkg/Type`.
        profile: QoS to use, or None to match the publishers found.
        depth: history depth of a profile that is matched.
        echoes: what clients have published on the topic.
        retire: destroys a subscription when that is safe.
    """

    def __init__(
        self,
        node: Node,
        topic: str,
        type_name: str,
        profile: QoSProfile | None,
        depth: int,
        echoes: EchoFilter,
        retire: Retire,
    ) -> None:
        super().__init__(topic, type_name)
        self._node = node
        self._class = message_class(type_name)
        self._fixed = profile
        self._depth = depth
        self._echoes = echoes
        self._retire = retire
        self._profile = profile or self._wanted()
        self._subscriptions: dict[User | None, Any] = {}

    def add(self, user: User) -> None:
        """Serve a client."""
        self.rematch()
        super().add(user)
        try:
            self._subscribe()
        except Exception:
            super().remove(user)
            raise

    def remove(self, user: User) -> None:
        """Stop serving a client."""
        super().remove(user)
        self._subscribe()

    def rematch(self) -> None:
        """Subscribe anew where the publishers found now ask for another profile."""
        wanted = self._fixed or self._wanted()
        if profile_key(wanted) != profile_key(self._profile):
            self._profile = wanted
            self.destroy()
            self._subscribe()

    def destroy(self) -> None:
        """Destroy the subscriptions."""
        self._drop(set(self._subscriptions))

    def _wanted(self) -> QoSProfile:
        found = self._node.get_publishers_info_by_topic(self.name)
        return matching_profile((each.qos_profile for each in found), self._depth)

    def _subscribe(self) -> None:
        """Create and destroy subscriptions until there are those that the users need."""
        needed: set[User | None] = set()
        if is_latched(self._profile):
            needed.update(self.users)
        elif self.users:
            needed.add(None)
        self._drop(set(self._subscriptions) - needed)
        for user in needed - set(self._subscriptions):
            self._subscriptions[user] = self._node.create_subscription(
                self._class,
                self.name,
                self._listener(user),
                self._profile,
                # In order, and independent of all that the node does otherwise.
                callback_group=MutuallyExclusiveCallbackGroup(),
                event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
                raw=True,
            )

    def _drop(self, users: set[User | None]) -> None:
        for user in users:
            subscription = self._subscriptions.pop(user)
            self._retire(self.name, partial(self._node.destroy_subscription, subscription))

    def _listener(self, only: User | None) -> Callable[[bytes, Mapping[str, Any]], None]:
        def listen(payload: bytes, info: Mapping[str, Any]) -> None:
            author = self._echoes.author(info)
            for user in self.users:
                peer, name = user
                if (
                    (only is None or only == user)
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


class SharedClient(Shared):
    """A ROS service client, for many calls at a time."""

    def __init__(self, node: Node, scheduler: Scheduler, service: str, type_name: str) -> None:
        super().__init__(service, type_name)
        self._node = node
        self._class = service_class(type_name)
        self._scheduler = scheduler
        self._client: Any = node.create_client(
            self._class,
            service,
            qos_profile=SERVICE_PROFILE,
            callback_group=ReentrantCallbackGroup(),
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
                f'{len(payload)} bytes for {self.name} are no request of {self.type_name}: '
                f'{_one_line(error)}',
            )
            return
        if timeout > 0:
            call.on_end(self._scheduler.call_later(timeout, self._expire, call, timeout).cancel)
        self._send(call, request)

    def destroy(self) -> None:
        """Destroy the client."""
        self._node.destroy_client(self._client)

    def _send(self, call: Call, request: Any) -> None:
        if call.ended:
            return
        if not self._client.service_is_ready():
            self._scheduler.call_later(_SERVICE_PERIOD, self._send, call, request)
            return
        future = self._client.call_async(request)
        future.add_done_callback(partial(self._answer, call))
        call.on_end(partial(self._client.remove_pending_request, future))

    def _answer(self, call: Call, future: Future[Any]) -> None:
        try:
            call.end(serialize_message(future.result()))
        except Exception as error:
            call.end(None, f'call of {self.name}: {_one_line(error)}')

    def _expire(self, call: Call, timeout: float) -> None:
        state = 'gave no answer' if self._client.service_is_ready() else 'is not available'
        call.end(None, f'service {self.name} {state} within {timeout:g} s')


class _CountingGroup(ReentrantCallbackGroup):
    """Lets callbacks run together and knows how many have not ended.

    The callback of a service ends, for its group, when its response has left.
    """

    def __init__(self) -> None:
        super().__init__()
        self.running = 0
        self._lock = threading.Lock()

    def beginning_execution(self, entity: Any) -> Literal[True]:
        with self._lock:
            self.running += 1
        return True

    def ending_execution(self, entity: Any) -> None:
        with self._lock:
            self.running -= 1


class SharedService(Shared):
    """A ROS service that clients offer; the one that offered it last serves it.

    rclpy knows no error response. A call that no client answers is therefore answered with a
    default response, in which the boolean fields `success` and `accepted` are false and the
    string field `message` says why, and a warning is logged, once for the same problem.
    """

    def __init__(
        self, node: Node, scheduler: Scheduler, service: str, type_name: str, timeout: float
    ) -> None:
        super().__init__(service, type_name)
        self._node = node
        self._scheduler = scheduler
        self._class = service_class(type_name)
        self._timeout = timeout
        self._problem = ''  # that the log had last
        # Calls wait in `await` only, so that they do not wait for each other in any executor.
        self._group = _CountingGroup()
        self._service = node.create_service(
            self._class,
            service,
            self._serve,
            qos_profile=SERVICE_PROFILE,
            callback_group=self._group,
        )

    @property
    def in_use(self) -> bool:
        """Whether a client offers it or a call is outstanding."""
        return bool(self.users or self._group.running)

    def destroy(self) -> None:
        """Destroy the service; a response that has not left by now never will."""
        self._node.destroy_service(self._service)

    async def _serve(self, request: Any, response: Any) -> Any:
        try:
            payload, problem = await self._forward(serialize_message(request))
            if payload is not None:
                self._problem = ''
                return deserialize_message(payload, self._class.Response)
        except Exception as error:
            problem = _one_line(error)
        if problem != self._problem:
            # Whoever asks on and on gets the answer each time, the log has it once.
            self._problem = problem
            self._node.get_logger().warning(f'service {self.name} failed: {problem}')
        return failure_response(response, problem)

    def _forward(self, payload: bytes) -> Any:
        answered: Any = Future()
        try:
            peer, name = self.users[-1]
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

    def _wake(self, _: object) -> None:
        executor = self._node.executor
        if executor is not None:
            executor.wake()


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


def _one_line(error: Exception) -> str:
    return ' '.join(str(error).split()) or type(error).__name__
