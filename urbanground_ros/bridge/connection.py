# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""One client of the endpoint: its socket, its two threads, and all that it has registered."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace
import itertools
import socket
import struct
import threading
from typing import TYPE_CHECKING

from rclpy.qos import QoSProfile
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden

from urbanground_ros.bridge import protocol
from urbanground_ros.bridge.interface_types import wire_name
from urbanground_ros.bridge.outbox import Outbox
from urbanground_ros.bridge.outbox import TopicCounters
from urbanground_ros.bridge.profiles import clamp_depth
from urbanground_ros.bridge.profiles import parse_profile
from urbanground_ros.bridge.profiles import profile_key
from urbanground_ros.bridge.profiles import publisher_profile
from urbanground_ros.bridge.protocol import Command
from urbanground_ros.bridge.protocol import decode_command
from urbanground_ros.bridge.protocol import encode_command
from urbanground_ros.bridge.protocol import encode_frame
from urbanground_ros.bridge.protocol import EndpointError
from urbanground_ros.bridge.protocol import Frame
from urbanground_ros.bridge.protocol import FrameReader
from urbanground_ros.bridge.protocol import ProtocolError
from urbanground_ros.bridge.protocol import UnknownCommandError
from urbanground_ros.bridge.scheduler import Alarm
from urbanground_ros.bridge.shared import Call
from urbanground_ros.bridge.shared import Reply
from urbanground_ros.bridge.shared import Shared
from urbanground_ros.bridge.shared import SharedClient
from urbanground_ros.bridge.shared import SharedPublisher
from urbanground_ros.bridge.shared import SharedService
from urbanground_ros.bridge.shared import SharedSubscription

if TYPE_CHECKING:
    from urbanground_ros.bridge.endpoint import Endpoint

ROS1_REFUSAL = (
    'this endpoint speaks ROS 2, but the Unity project is built for ROS 1: set Protocol to ROS2 '
    'in Robotics > ROS Settings and rebuild'
)

# The connector counts its own calls from 101 and the stock endpoint its from 1001.
_FIRST_CALL_ID = 1001
# How long a refused peer is given to read why, s: unread input would reset the connection.
_REFUSAL_GRACE = 1.0
# How long a number may wait for its message, s.
_ANNOUNCED_TIMEOUT = 10.0
_MAX_COMPLAINTS = 1000
_RESET = struct.pack('ii', 1, 0)  # linger on, for no time
_TCP_QUICKACK = getattr(socket, 'TCP_QUICKACK', None)
# Where the peer's machine died without a word, TCP itself finds out within some two minutes.
_KEEPALIVE = {'TCP_KEEPIDLE': 60, 'TCP_KEEPINTVL': 10, 'TCP_KEEPCNT': 6}


@dataclass
class _Publication:
    shared: SharedPublisher
    profile: QoSProfile
    counters: TopicCounters


@dataclass
class _Announced:
    """A `__request` or `__response` whose message has not arrived yet."""

    srv_id: int
    alarm: Alarm | None = None


class Connection:
    """Serves one client until either side ends it.

    Everything a client registers lives and dies here; it can neither see nor disturb another.
    Only its reader thread changes what it has registered.
    """

    def __init__(self, endpoint: Endpoint, sock: socket.socket, name: str) -> None:
        self.name = name
        self._endpoint = endpoint
        self._entities = endpoint.entities
        self._scheduler = endpoint.scheduler
        self._node = endpoint.node
        self._socket = sock
        self._frames = FrameReader(max_payload=endpoint.max_payload)
        self._outbox = Outbox(max_bytes=endpoint.queue_bytes, max_urgent=2 * endpoint.max_payload)
        self._publications: dict[str, _Publication] = {}
        self._received: dict[str, TopicCounters] = {}
        self._subscriptions: dict[str, SharedSubscription] = {}
        self._subscribed: set[str] = set()  # resolved names
        self._depths: dict[str, int] = {}  # of the queues of subscribed topics
        self._services: dict[str, SharedClient] = {}
        self._offers: dict[str, SharedService] = {}
        self._calls_to_ros: set[Call] = set()
        self._calls_to_unity: dict[int, Reply] = {}
        self._call_ids = itertools.count(_FIRST_CALL_ID)
        self._announced: dict[type[Command], _Announced] = {}
        self._complaints: set[str] = set()
        self._spoke = False  # a system command has arrived
        self._closed = threading.Event()
        self._handlers: dict[type[Command], Callable[..., None]] = {
            protocol.Subscribe: self._on_subscribe,
            protocol.SubscribeQos: self._on_subscribe_qos,
            protocol.Publish: self._on_publish,
            protocol.PublishQos: self._on_publish_qos,
            protocol.RosService: self._on_ros_service,
            protocol.UnityService: self._on_unity_service,
            protocol.RemoveSubscriber: self._on_remove_subscriber,
            protocol.RemovePublisher: self._on_remove_publisher,
            protocol.RemoveRosService: self._on_remove_ros_service,
            protocol.RemoveUnityService: self._on_remove_unity_service,
            protocol.Request: self._on_announcement,
            protocol.Response: self._on_announcement,
            protocol.AskTopicList: self._on_topic_list,
            protocol.Ping: self._on_ping,
        }
        self._writer = threading.Thread(
            target=self._write, name=f'endpoint-write-{name}', daemon=True
        )
        self._reader = threading.Thread(
            target=self._read, name=f'endpoint-read-{name}', daemon=True
        )

    # Life

    def start(self, refusal: str = '') -> None:
        """Shake hands and serve; with `refusal`, tell the peer why not and hang up."""
        self._configure_socket()
        self._outbox.put_urgent(encode_command(protocol.Handshake()))
        if refusal:
            self._outbox.put_urgent(encode_command(protocol.Error(refusal)))
            self._outbox.close(flush=True)
        self._writer.start()
        self._reader.start()  # ends by waiting for the writer

    def close(self) -> None:
        """Hang up; the threads end soon after. Any thread may call this, any number of times."""
        self._outbox.close()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def join(self, timeout: float) -> None:
        """Wait up to `timeout` s for the end of all of it."""
        self._reader.join(timeout)

    def counters(self) -> tuple[dict[str, TopicCounters], dict[str, TopicCounters]]:
        """Counters by topic: from this client, and to it."""
        received = {topic: replace(each) for topic, each in self._received.copy().items()}
        return received, self._outbox.counters()

    def _configure_socket(self) -> None:
        self._socket.setblocking(True)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPALIVE.items():
            if hasattr(socket, option):
                self._socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        if self._endpoint.idle_timeout > 0:
            self._limit_receive(self._endpoint.idle_timeout)

    def _limit_receive(self, seconds: float) -> None:
        # Python's own timeout would hold for sending as well.
        whole = int(seconds)
        limit = struct.pack('ll', whole, int((seconds - whole) * 1e6))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)

    # Threads

    def _read(self) -> None:
        failed = False
        reason = ''
        try:
            reason = self._serve()
        except ProtocolError as error:
            failed = True
            reason = f'protocol error: {error}'
            self._refuse(str(error))
        except BlockingIOError:
            reason = f'nothing received for {self._endpoint.idle_timeout:g} s'
        except OSError as error:
            reason = error.strerror or str(error)
        except Exception as error:
            # A defect here costs this client its link and nobody anything else.
            failed = True
            reason = f'internal error: {error!r}'
        try:
            self.close()
            self._writer.join()
            # A client that is in the middle of writing learns of its end only by a reset.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self._socket.close()
            self._end_registrations()
        finally:
            self._endpoint.client_lost(self, reason, failed=failed)

    def _serve(self) -> str:
        while True:
            count = self._socket.recv_into(self._frames.get_buffer())
            if not count:
                pending = self._frames.pending
                return f'it left {pending} bytes of a frame' if pending else 'it hung up'
            if _TCP_QUICKACK is not None:
                # The connector leaves Nagle on and sends a frame in many pieces: against a
                # delayed acknowledgement each frame would take 40 ms. It does not stay set.
                self._socket.setsockopt(socket.IPPROTO_TCP, _TCP_QUICKACK, 1)
            for frame in self._frames.received(count):
                if frame.is_command:
                    self._on_command(frame)
                else:
                    self._on_message(frame)

    def _refuse(self, text: str) -> None:
        """Send what waits and a last error, then wait for the peer to hang up."""
        self._outbox.put_urgent(encode_command(protocol.Error(text)))
        self._outbox.close(flush=True)
        self._scheduler.call_later(_REFUSAL_GRACE, self.close)
        with suppress(OSError):
            while self._socket.recv(65536):
                pass

    def _write(self) -> None:
        try:
            while buffers := self._outbox.take():
                self._send(buffers)
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()

    def _send(self, buffers: list[bytes]) -> None:
        sent = self._socket.sendmsg(buffers)
        left = sum(map(len, buffers)) - sent
        if not left:
            return
        rest = [memoryview(each) for each in buffers]
        while rest:
            while rest and sent >= len(rest[0]):
                sent -= len(rest.pop(0))
            if rest:
                rest[0] = rest[0][sent:]
                sent = self._socket.sendmsg(rest)

    def _end_registrations(self) -> None:
        self._closed.set()
        for announced in self._announced.values():
            if announced.alarm is not None:
                announced.alarm.cancel()
        for call in tuple(self._calls_to_ros):
            call.cancel()
        for topic in tuple(self._publications):
            self._drop_publication(topic)
        for topic in tuple(self._subscriptions):
            self._drop_subscription(topic)
        for service in tuple(self._services):
            self._drop_service(service)
        for service in tuple(self._offers):
            self._drop_offer(service)
        for call_id in tuple(self._calls_to_unity):
            self._end_call_to_unity(call_id, None, 'the client that serves it has left')
        self._entities.forget(self)

    # What ROS has for this client

    def deliver(self, topic: str, payload: bytes) -> None:
        """Queue a message of a topic that the client subscribes to."""
        depth = self._depths.get(topic)
        if depth is not None:
            self._outbox.put(topic, payload, depth)

    def request(self, service: str, payload: bytes, reply: Reply) -> Callable[[], None]:
        """Call a service that the client offers; see `shared.Peer`."""
        call_id = next(self._call_ids)
        self._calls_to_unity[call_id] = reply
        if self._closed.is_set():
            self._end_call_to_unity(call_id, None, 'the client that serves it has left')
        else:
            self._send_pair(protocol.Request(call_id), service, payload)

        def give_up() -> None:
            self._end_call_to_unity(call_id, None, 'the client gave no answer in time')

        return give_up

    def _end_call_to_unity(self, call_id: int, payload: bytes | None, problem: str) -> bool:
        reply = self._calls_to_unity.pop(call_id, None)
        if reply is not None:
            reply(payload, problem)
        return reply is not None

    # What goes to the client

    def log(self, text: str) -> None:
        """Write a line on the client's console."""
        self._outbox.put_text(encode_command(protocol.Log(text)))

    def warn(self, text: str) -> None:
        """Write a warning on the client's console."""
        self._outbox.put_text(encode_command(protocol.Warn(text)))

    def error(self, text: str) -> None:
        """Write an error on the client's console."""
        self._outbox.put_text(encode_command(protocol.Error(text)))

    def _complain(self, about: str, text: str) -> None:
        """Write an error, once for each topic or service: messages come many a second."""
        if about not in self._complaints and len(self._complaints) < _MAX_COMPLAINTS:
            self._complaints.add(about)
            self.error(text)

    def _send_urgent(self, frames: bytes) -> None:
        if not self._outbox.put_urgent(frames):
            self._node.get_logger().error(
                f'client {self.name} does not read its replies, hanging up'
            )
            self.close()

    def _send_pair(self, announcement: Command, name: str, payload: bytes) -> None:
        # The client takes the very next frame for the payload, so nothing may come between.
        self._send_urgent(encode_command(announcement) + encode_frame(name, payload))

    # Messages from the client

    def _on_message(self, frame: Frame) -> None:
        name, payload, _ = frame
        if len(payload) == 4:
            # The connector serialises an empty structure to nothing; in ROS 2 it has one byte.
            payload += b'\0'
        if self._announced and self._on_announced_message(name, payload):
            return
        publication = self._publications.get(name)
        if publication is not None:
            self._publish(publication, name, payload)
        else:
            self._publish_unregistered(name, payload)

    def _on_announced_message(self, name: str, payload: bytes) -> bool:
        """Take a message for that of the newest `__request` or `__response` it may belong to."""
        for kind in reversed(tuple(self._announced)):
            if name not in (self._services if kind is protocol.Request else self._offers):
                continue
            srv_id = self._take_announced(kind).srv_id
            if kind is protocol.Request:
                self._call_ros(srv_id, name, payload)
            elif not self._end_call_to_unity(srv_id, payload, ''):
                self.warn(f'response {srv_id} of {name}: nobody waits for it any more')
            return True
        return False

    def _publish(self, publication: _Publication, name: str, payload: bytes) -> None:
        echoed = publication.shared.name in self._subscribed
        try:
            publication.shared.publish(self, payload, echoed=echoed)
        except EndpointError as error:
            publication.counters.drops += 1
            self._complain(name, str(error))
            return
        publication.counters.count(len(payload))

    def _publish_unregistered(self, name: str, payload: bytes) -> None:
        if protocol.Request in self._announced:
            srv_id = self._take_announced(protocol.Request).srv_id
            self._fail_call(srv_id, name, f'call of service {name!r}, which is not registered')
            return
        if name in self._services or name in self._offers:
            self._complain(name, f'a message for service {name} came without its number')
            return
        # After a reconnection the connector may send before it has registered again.
        shared = self._entities.lingering_publisher(name)
        if shared is None:
            self._complain(name, f'message on topic {name!r}, which is not registered')
            return
        with suppress(EndpointError):
            shared.publish(self, payload, echoed=False)

    def _call_ros(self, srv_id: int, service: str, payload: bytes) -> None:
        shared = self._services[service]

        def answer(response: bytes | None, problem: str) -> None:
            self._calls_to_ros.discard(call)
            if response is None:
                self._fail_call(srv_id, service, problem)
            else:
                self._send_pair(protocol.Response(srv_id), service, response)

        call = Call(answer)
        self._calls_to_ros.add(call)
        shared.call(call, payload, self._entities.timeout_of(shared.name))

    def _fail_call(self, srv_id: int, service: str, problem: str) -> None:
        # An empty response is all that ends the task which awaits it: it throws.
        self.error(problem)
        self._send_pair(protocol.Response(srv_id), service or '/', b'')

    # System commands from the client

    def _on_command(self, frame: Frame) -> None:
        if not self._spoke:
            self._spoke = True
            if not frame.terminated:
                raise ProtocolError(ROS1_REFUSAL)
        try:
            command = decode_command(frame)
            self._handlers[type(command)](command)
        except ProtocolError:
            raise
        except UnknownCommandError as error:
            self.warn(str(error))
        except EndpointError as error:
            self.error(str(error))
        except Exception as error:
            # Names and types come from the peer, and rclpy has its own opinion of them.
            text = ' '.join(str(error).split())
            self.error(f'{frame.destination} failed: {text}')

    def _on_subscribe(self, command: protocol.Subscribe) -> None:
        depth = clamp_depth(command.queue_size or self._endpoint.queue_depth)
        self._subscribe(command.topic, command.message_name, None, depth)

    def _on_subscribe_qos(self, command: protocol.SubscribeQos) -> None:
        profile = parse_profile(command.qos)
        self._subscribe(command.topic, command.message_name, profile, profile.depth)

    def _subscribe(
        self, topic: str, type_name: str, profile: QoSProfile | None, depth: int
    ) -> None:
        known = self._subscriptions.get(topic)
        if known is not None:
            if known.type_name == type_name:
                return
            self._warn_of_change(known, type_name)
            self._drop_subscription(topic)
        # Latched messages may arrive before the subscription is returned.
        self._depths[topic] = depth
        try:
            self._subscriptions[topic] = self._entities.subscription(
                self, topic, type_name, profile, depth
            )
        except Exception:
            del self._depths[topic]
            raise
        self._note_subscribed()

    def _on_publish(self, command: protocol.Publish) -> None:
        profile = publisher_profile(command.queue_size, command.latch)
        self._register_publication(command.topic, command.message_name, profile)

    def _on_publish_qos(self, command: protocol.PublishQos) -> None:
        self._register_publication(command.topic, command.message_name, parse_profile(command.qos))

    def _register_publication(self, topic: str, type_name: str, profile: QoSProfile) -> None:
        known = self._publications.get(topic)
        if known is not None:
            same_type = known.shared.type_name == type_name
            if same_type and profile_key(known.profile) == profile_key(profile):
                return
            if not same_type:
                self._warn_of_change(known.shared, type_name)
            self._drop_publication(topic)
        shared = self._entities.publisher(self, topic, type_name, profile)
        counters = self._received.setdefault(topic, TopicCounters())
        self._publications[topic] = _Publication(shared, profile, counters)
        self._complaints.discard(topic)

    def _on_ros_service(self, command: protocol.RosService) -> None:
        name, type_name = command.topic, command.message_name
        known = self._services.get(name)
        if known is not None:
            if known.type_name == type_name:
                return
            self._warn_of_change(known, type_name)
            self._drop_service(name)
        self._services[name] = self._entities.client(self, name, type_name)
        self._complaints.discard(name)

    def _on_unity_service(self, command: protocol.UnityService) -> None:
        name, type_name = command.topic, command.message_name
        known = self._offers.get(name)
        if known is not None:
            if known.type_name == type_name:
                return
            self._warn_of_change(known, type_name)
            self._drop_offer(name)
        shared = self._entities.service(self, name, type_name)
        self._offers[name] = shared
        for former, _ in shared.users[-2:-1]:
            if former is not self:
                former.warn(f'service {name} is served by client {self.name} from now on')
                self._node.get_logger().warning(
                    f'service {name} of client {former.name} is served by {self.name} from now on'
                )

    def _warn_of_change(self, known: Shared, type_name: str) -> None:
        self.warn(f'{known.name} was registered as {known.type_name}, now as {type_name}')

    def _on_remove_subscriber(self, command: protocol.RemoveSubscriber) -> None:
        if command.topic in self._subscriptions:
            self._drop_subscription(command.topic)

    def _on_remove_publisher(self, command: protocol.RemovePublisher) -> None:
        if command.topic in self._publications:
            self._drop_publication(command.topic)

    def _on_remove_ros_service(self, command: protocol.RemoveRosService) -> None:
        if command.topic in self._services:
            self._drop_service(command.topic)

    def _on_remove_unity_service(self, command: protocol.RemoveUnityService) -> None:
        if command.topic in self._offers:
            self._drop_offer(command.topic)

    def _drop_subscription(self, topic: str) -> None:
        self._depths.pop(topic, None)
        self._entities.release(self, topic, self._subscriptions.pop(topic))
        self._outbox.forget(topic)
        self._note_subscribed()

    def _note_subscribed(self) -> None:
        self._subscribed = {each.name for each in self._subscriptions.values()}

    def _drop_publication(self, topic: str) -> None:
        self._entities.release(self, topic, self._publications.pop(topic).shared)

    def _drop_service(self, service: str) -> None:
        self._entities.release(self, service, self._services.pop(service))

    def _drop_offer(self, service: str) -> None:
        self._entities.release(self, service, self._offers.pop(service))

    def _on_announcement(self, command: protocol.Request | protocol.Response) -> None:
        # The connector queues a number and its message apart. Another thread's frames may come
        # between; when its queue runs over, numbers come whose messages never do.
        kind = type(command)
        self._give_up_announced(kind, self._announced.get(kind))
        announced = _Announced(command.srv_id)
        announced.alarm = self._scheduler.call_later(
            _ANNOUNCED_TIMEOUT, self._give_up_announced, kind, announced
        )
        self._announced[kind] = announced

    def _take_announced(self, kind: type[Command]) -> _Announced:
        announced = self._announced.pop(kind)
        if announced.alarm is not None:
            announced.alarm.cancel()
        return announced

    def _give_up_announced(self, kind: type[Command], announced: _Announced | None) -> None:
        if announced is None or self._announced.get(kind) is not announced:
            return
        self._take_announced(kind)
        if kind is protocol.Request:
            name = next(iter(self._services), '')
            self._fail_call(
                announced.srv_id, name, f'request {announced.srv_id} came without its message'
            )

    def _on_topic_list(self, _: protocol.AskTopicList) -> None:
        # Unity keys its table by its own string and renames what is listed with another type.
        types = {topic: each.type_name for topic, each in tuple(self._subscriptions.items())}
        types |= {topic: each.shared.type_name for topic, each in self._publications.items()}
        own = {self._node.resolve_topic_name(topic) for topic in types}
        for topic, ros_types in self._node.get_topic_names_and_types():
            known = [name for name in map(wire_name, ros_types) if name is not None]
            if known and topic not in own and not topic_or_service_is_hidden(topic):
                types[topic] = known[0]
        reply = protocol.TopicList(list(types), list(types.values()))
        self._send_urgent(encode_command(reply))

    def _on_ping(self, command: protocol.Ping) -> None:
        self._send_urgent(encode_command(protocol.PingResponse(command.request_time)))
