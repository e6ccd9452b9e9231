# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""ROS-TCP endpoint: connects Unity's ROS-TCP-Connector (0.7, ROS 2 mode) to ROS 2.

The design, in short:

- Messages cross as CDR bytes. A reader thread for each connection receives into a reusable
  buffer and publishes from there, with no hand-over to another thread; while it publishes it
  does not receive, which is the connector's natural flow control. Towards the client, the
  executor's thread puts raw messages into bounded queues (see `outbox`) that a writer thread for
  each connection empties, so that a slow client costs nobody else anything.
- The node's executor belongs to the caller. Nothing here blocks it: service calls to clients
  are awaited.
- What a client registers is its own and ends with it (`connection`); the ROS entities behind
  are shared and counted (`entities`).
- A peer is not trusted: lengths are bounded, names and types are checked, what is no message of
  its type is not published, and an error ends at most the connection it came from.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
import errno
import selectors
import socket
import threading
import time

from rclpy.node import Node
from rclpy.qos import QoSProfile

from urbanground_ros.bridge.connection import Connection
from urbanground_ros.bridge.entities import Entities
from urbanground_ros.bridge.listen import address_text
from urbanground_ros.bridge.listen import listen
from urbanground_ros.bridge.outbox import TopicCounters
from urbanground_ros.bridge.profiles import as_profile
from urbanground_ros.bridge.profiles import DEFAULT_DEPTH
from urbanground_ros.bridge.protocol import DEFAULT_PORT
from urbanground_ros.bridge.protocol import EndpointError
from urbanground_ros.bridge.protocol import MAX_PAYLOAD
from urbanground_ros.bridge.scheduler import Scheduler

__all__ = ['ClientStatistics', 'Endpoint', 'EndpointError', 'TopicCounters']

_CLOSE_TIMEOUT = 0.5
# Peers that are being told why they are turned away; beyond them one is just cut off.
_MAX_REFUSALS = 16


@dataclass(frozen=True)
class ClientStatistics:
    """Traffic of one client since it connected, by topic as the client names it."""

    name: str
    from_client: dict[str, TopicCounters]
    to_client: dict[str, TopicCounters]


class Endpoint:
    """Serves ROS-TCP clients on behalf of a node.

    Args:
        node: creates the ROS entities; relative topic names are in its namespace. Whoever spins
            it runs the endpoint's callbacks.
        host: host name or address to listen on, or several, separated by commas. A name is
            listened for on each address that it stands for.
        port: TCP port; 0 lets the system choose, see :attr:`port`.
        max_payload: longest message accepted from a client, bytes.
        max_clients: how many clients are served at once; one more is told and turned away.
        queue_depth: messages that wait for a client on one topic; the oldest is dropped.
        queue_bytes: the same as a bound in bytes; the newest message is always kept.
        service_timeout: seconds that a service call may take, either way; 0 is without limit.
        service_timeouts: the same for single services, by name.
        idle_timeout: seconds without any byte after which a client is given up; 0 never. The
            connector sends nothing while its editor is paused, so allow 60 s or more.
        linger: seconds that publishers and services outlive their last client, for it to
            reconnect.
        qos: profiles (or depths) of publishers by topic, before what clients ask for.
        subscriber_qos: profiles (or depths) of subscriptions by topic, instead of matching the
            publishers found.
        on_client_connected: called with the client's name, on one of its threads.
        on_client_lost: called with the client's name when all that it had registered is gone.
    """

    def __init__(
        self,
        node: Node,
        *,
        host: str = '127.0.0.1',
        port: int = DEFAULT_PORT,
        max_payload: int = MAX_PAYLOAD,
        max_clients: int = 16,
        queue_depth: int = DEFAULT_DEPTH,
        queue_bytes: int = 64 * 1024 * 1024,
        service_timeout: float = 30.0,
        service_timeouts: Mapping[str, float] | None = None,
        idle_timeout: float = 0.0,
        linger: float = 5.0,
        qos: Mapping[str, QoSProfile | int] | None = None,
        subscriber_qos: Mapping[str, QoSProfile | int] | None = None,
        on_client_connected: Callable[[str], object] | None = None,
        on_client_lost: Callable[[str], object] | None = None,
    ) -> None:
        self.node = node
        self.max_payload = max_payload
        self.queue_depth = queue_depth
        self.queue_bytes = queue_bytes
        self.idle_timeout = idle_timeout
        self._host = host
        self._port = port
        self._max_clients = max_clients
        self._service_timeout = service_timeout
        self._service_timeouts = {
            node.resolve_service_name(name): seconds
            for name, seconds in (service_timeouts or {}).items()
        }
        self._linger = linger
        self._publisher_qos = self._profiles(qos)
        self._subscriber_qos = self._profiles(subscriber_qos)
        self._on_client_connected = on_client_connected
        self._on_client_lost = on_client_lost
        self._lock = threading.Lock()
        self._connections: set[Connection] = set()
        self._served: set[Connection] = set()  # those that are not being turned away
        self._listeners: list[socket.socket] = []
        self._thread: threading.Thread | None = None
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._closed = False

    def start(self) -> None:
        """Listen, and serve until :meth:`close`.

        Raises:
            EndpointError: the address is empty, unknown or taken, or the port is none.
        """
        if self._thread is not None or self._closed:
            raise EndpointError('an endpoint is started once')
        self._listeners = listen(self._host, self._port)
        self.scheduler = Scheduler(self._on_internal_error)
        self.entities = Entities(
            self.node,
            self.scheduler,
            publisher_qos=self._publisher_qos,
            subscriber_qos=self._subscriber_qos,
            service_timeout=self._service_timeout,
            service_timeouts=self._service_timeouts,
            linger=self._linger,
        )
        self._thread = threading.Thread(target=self._accept, name='endpoint-accept', daemon=True)
        self._thread.start()
        where = ', '.join(address_text(each.getsockname()) for each in self._listeners)
        self.node.get_logger().info(f'ROS-TCP endpoint listens on {where}')

    @property
    def address(self) -> str:
        """The numeric address listened on, the first if there are several."""
        return str(self._listeners[0].getsockname()[0])

    @property
    def port(self) -> int:
        """The port listened on, also where the system chose it."""
        return int(self._listeners[0].getsockname()[1])

    @property
    def clients(self) -> list[str]:
        """Names of the clients connected now, `address:port` of their side."""
        with self._lock:
            return sorted(connection.name for connection in self._served)

    def statistics(self) -> list[ClientStatistics]:
        """Traffic of each client connected now."""
        with self._lock:
            connections = sorted(self._served, key=lambda each: each.name)
        return [ClientStatistics(each.name, *each.counters()) for each in connections]

    def close(self) -> None:
        """Hang up on all clients, destroy all entities and end all threads within two seconds.

        May be called any number of times, from any thread that is none of the endpoint's own.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._wake_sender.send(b'\0')
        if self._thread is not None:
            self._thread.join()
            self._close_clients()
            self.entities.close(_CLOSE_TIMEOUT)
            self.scheduler.close()
        for each in (*self._listeners, self._wake_receiver, self._wake_sender):
            each.close()

    def _close_clients(self) -> None:
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.close()
        deadline = time.monotonic() + _CLOSE_TIMEOUT
        for connection in connections:
            connection.join(max(0.0, deadline - time.monotonic()))

    def client_lost(self, connection: Connection, reason: str, *, failed: bool) -> None:
        """Told by a connection that it has ended, and whether in order."""
        with self._lock:
            served = connection in self._served
            self._served.discard(connection)
            self._connections.discard(connection)
        if served:
            logger = self.node.get_logger()
            text = f'client {connection.name} left: {reason}'
            if failed:
                logger.warning(text)
            else:
                logger.info(text)
            self._tell(self._on_client_lost, connection)

    def _tell(self, callback: Callable[[str], object] | None, connection: Connection) -> None:
        if callback is None:
            return
        try:
            callback(connection.name)
        except Exception as error:
            self._on_internal_error(error)

    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_receiver, selectors.EVENT_READ)
            for listener in self._listeners:
                selector.register(listener, selectors.EVENT_READ)
            while not self._closed:
                for key, _ in selector.select():
                    if key.fileobj is not self._wake_receiver:
                        assert isinstance(key.fileobj, socket.socket)
                        self._accept_from(key.fileobj)

    def _accept_from(self, listener: socket.socket) -> None:
        try:
            sock, peer = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                # Nothing to be done but to wait for a client to leave.
                time.sleep(0.1)
            return
        connection = Connection(self, sock, address_text(peer))
        with self._lock:
            served = len(self._served) < self._max_clients
            if len(self._connections) >= self._max_clients + _MAX_REFUSALS:
                sock.close()
                return
            self._connections.add(connection)
            if served:
                self._served.add(connection)
        try:
            if served:
                self.node.get_logger().info(f'client {connection.name} connected')
                self._tell(self._on_client_connected, connection)
                connection.start()
            else:
                connection.start(
                    f'this endpoint serves {self._max_clients} clients at most, and has them'
                )
        except (OSError, RuntimeError) as error:  # gone already, or no more threads
            connection.close()
            sock.close()
            self.client_lost(connection, str(error), failed=True)

    def _on_internal_error(self, error: Exception) -> None:
        self.node.get_logger().error(f'endpoint: {error!r}')

    def _profiles(self, qos: Mapping[str, QoSProfile | int] | None) -> dict[str, QoSProfile]:
        return {
            self.node.resolve_topic_name(topic): as_profile(profile)
            for topic, profile in (qos or {}).items()
        }
