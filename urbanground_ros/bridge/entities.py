# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ROS side of the endpoint: finds or makes the entities that clients share, and ends them.

Entities are shared by name and type (publishers also by QoS) and end with their last user.
Publishers, service clients and services outlive it by a while, because the connector drops and
renews its link freely and everybody else would have to match anew each time.

rclpy is only safe to destroy under a running executor in certain ways: here no entity has event
handlers (rclpy enters those into its wait set unguarded), destruction runs as a task of the
executor, between two waits, and a service outlives its last call.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Mapping
import threading
import time
from typing import cast
from typing import TypeVar

from rclpy.node import Node
from rclpy.qos import QoSProfile

from urbanground_ros.bridge.profiles import profile_key
from urbanground_ros.bridge.protocol import EndpointError
from urbanground_ros.bridge.scheduler import Scheduler
from urbanground_ros.bridge.shared import EchoFilter
from urbanground_ros.bridge.shared import Peer
from urbanground_ros.bridge.shared import Shared
from urbanground_ros.bridge.shared import SharedClient
from urbanground_ros.bridge.shared import SharedPublisher
from urbanground_ros.bridge.shared import SharedService
from urbanground_ros.bridge.shared import SharedSubscription
from urbanground_ros.bridge.shared import User

# How often subscriptions look for publishers whose QoS they do not match, s.
_REMATCH_PERIOD = 0.5
# A service may still have to send its last response, s.
_MIN_SERVICE_LINGER = 1.0
# Within this time an entity that is to be destroyed is, s.
_RETIREMENT_PATIENCE = 1.0

# DDS has one type a name and process; requests and topics are named apart.
_TOPIC_KINDS = (SharedPublisher, SharedSubscription)
_SERVICE_KINDS = (SharedClient, SharedService)

Key = tuple[type[Shared], str, str, Hashable]  # kind, resolved name, type, QoS
Made = TypeVar('Made', bound=Shared)


class Entities:
    """All ROS entities of an endpoint. Safe to call from any thread.

    Args:
        node: creates the entities; its executor runs their callbacks.
        scheduler: runs retries, timeouts and the ends of lingering entities.
        publisher_qos: profiles of publishers by resolved topic, before what a client asks for.
        subscriber_qos: the same for subscriptions, instead of the match with publishers.
        service_timeout: of a service call, s; 0 waits for ever.
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
        self._shared: dict[Key, Shared] = {}
        self._echoes: dict[str, EchoFilter] = {}
        self._retirements: set[_Retirement] = set()
        self._retired_at: dict[str, float] = {}
        self._closed = False
        self._scheduler.call_later(_REMATCH_PERIOD, self._rematch)

    def timeout_of(self, service: str) -> float:
        """Seconds that a call of a service (resolved name) may take; 0 is without limit."""
        return self._service_timeouts.get(service, self._service_timeout)

    def publisher(
        self, peer: Peer, name: str, type_name: str, profile: QoSProfile
    ) -> SharedPublisher:
        """A publisher of a topic for a client, until :meth:`release`.

        Raises:
            EndpointError: an unknown type, or the topic is in use with another.
        """
        topic = self.node.resolve_topic_name(name)
        profile = self._publisher_qos.get(topic, profile)

        def make() -> SharedPublisher:
            return SharedPublisher(self.node, topic, type_name, profile, self._echo_filter(topic))

        key = SharedPublisher, topic, type_name, profile_key(profile)
        return self._acquire(key, make, (peer, name))

    def subscription(
        self, peer: Peer, name: str, type_name: str, profile: QoSProfile | None, depth: int
    ) -> SharedSubscription:
        """Have the messages of a topic delivered to a client, until :meth:`release`.

        Raises:
            EndpointError: an unknown type, or the topic is in use with another.
        """
        topic = self.node.resolve_topic_name(name)
        profile = self._subscriber_qos.get(topic, profile)

        def make() -> SharedSubscription:
            echoes = self._echo_filter(topic)
            return SharedSubscription(
                self.node, topic, type_name, profile, depth, echoes, self._retire
            )

        key = SharedSubscription, topic, type_name, profile and profile_key(profile)
        return self._acquire(key, make, (peer, name))

    def client(self, peer: Peer, name: str, type_name: str) -> SharedClient:
        """A service client for calls by a client, until :meth:`release`.

        Raises:
            EndpointError: an unknown type, or the service is in use with another.
        """
        service = self.node.resolve_service_name(name)

        def make() -> SharedClient:
            return SharedClient(self.node, self._scheduler, service, type_name)

        key = SharedClient, service, type_name, None
        return self._acquire(key, make, (peer, name))

    def service(self, peer: Peer, name: str, type_name: str) -> SharedService:
        """Offer a service on behalf of a client, until :meth:`release`.

        Raises:
            EndpointError: an unknown type, or the service is in use with another.
        """
        service = self.node.resolve_service_name(name)
        timeout = self.timeout_of(service)

        def make() -> SharedService:
            return SharedService(self.node, self._scheduler, service, type_name, timeout)

        key = SharedService, service, type_name, None
        return self._acquire(key, make, (peer, name))

    def release(self, peer: Peer, name: str, shared: Shared) -> None:
        """The end of what one of the above began."""
        with self._lock:
            shared.remove((peer, name))
            if isinstance(shared, SharedSubscription):
                self._end(shared)
            elif not shared.users:
                least = _MIN_SERVICE_LINGER if isinstance(shared, SharedService) else 0.0
                self._scheduler.call_later(max(self._linger, least), self._end, shared)

    def lingering_publisher(self, name: str) -> SharedPublisher | None:
        """The publisher of a topic that a client had registered until lately."""
        try:
            topic = self.node.resolve_topic_name(name)
        except Exception:  # rclpy has several for a name that cannot be one
            return None
        with self._lock:
            for shared in self._shared.values():
                if isinstance(shared, SharedPublisher) and shared.name == topic:
                    return None if shared.in_use else shared
        return None

    def forget(self, peer: Peer) -> None:
        """Drop what is remembered of a client that is gone."""
        with self._lock:
            for echoes in self._echoes.values():
                echoes.forget(peer)

    def close(self, timeout: float) -> None:
        """Destroy all entities, waiting up to `timeout` s for the executor to do it."""
        deadline = time.monotonic() + timeout
        with self._lock:
            self._closed = True
            ending = list(self._shared.values())
            self._shared.clear()
        # A response leaves just after its callback has ended, and not without its service.
        busy = [shared for shared in ending if shared.in_use and not shared.users]
        while any(shared.in_use for shared in busy) and time.monotonic() < deadline:
            time.sleep(0.01)
        for shared in ending:
            self._retire(shared.name, shared.destroy)
        while self._retirements:
            for retirement in tuple(self._retirements):
                # Where nobody spins the node, it is as safe to do it here.
                retirement.done.wait(max(0.0, deadline - time.monotonic()))
                retirement.run()

    def _acquire(self, key: Key, make: Callable[[], Made], user: User) -> Made:
        """The entity of `key`, with one more user."""
        kind, name, type_name, _ = key
        with self._lock:
            if self._closed:
                raise EndpointError('the endpoint is closing')
            if key not in self._shared:
                self._make_room(kind, name, type_name)
            while True:
                try:
                    shared = self._shared.get(key) or make()
                    shared.add(user)
                    break
                except EndpointError:
                    raise
                except Exception:
                    # One of the same name and another type may not have ended yet.
                    if time.monotonic() > self._retired_at.get(name, 0.0) + _RETIREMENT_PATIENCE:
                        raise
                    time.sleep(0.01)
            self._shared[key] = shared
            return cast('Made', shared)

    def _make_room(self, kind: type[Shared], name: str, type_name: str) -> None:
        """End what lingers under a name with another type."""
        rivals = _TOPIC_KINDS if kind in _TOPIC_KINDS else _SERVICE_KINDS
        for shared in tuple(self._shared.values()):
            if (
                isinstance(shared, rivals)
                and shared.name == name
                and shared.type_name != type_name
            ):
                if shared.in_use:
                    raise EndpointError(
                        f'{name} is in use as {shared.type_name}, it cannot be {type_name} too'
                    )
                self._end(shared)

    def _end(self, shared: Shared) -> None:
        """Destroy an entity without users; one with outstanding calls later."""
        with self._lock:
            if shared.in_use:
                if not shared.users:
                    self._scheduler.call_later(_MIN_SERVICE_LINGER, self._end, shared)
                return
            for key, value in self._shared.items():
                if value is shared:
                    del self._shared[key]
                    self._retire(shared.name, shared.destroy)
                    return

    def _retire(self, name: str, destroy: Callable[[], object]) -> None:
        """Destroy an entity between two waits of the executor, or here if there is none."""
        self._retired_at[name] = time.monotonic()
        retirement = _Retirement(destroy, self._retirements)
        executor = self.node.executor
        if executor is None:
            retirement.run()
        else:
            executor.create_task(retirement.run)

    def _rematch(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._scheduler.call_later(_REMATCH_PERIOD, self._rematch)
            for shared in self._shared.values():
                if isinstance(shared, SharedSubscription):
                    shared.rematch()

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
        """Destroy it, unless that is done."""
        with self._lock:
            destroy, self._destroy = self._destroy, None
            if destroy is not None:
                destroy()
        self._waiting.discard(self)
        self.done.set()
