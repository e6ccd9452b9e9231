# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The city's ROS-TCP front door: what ROS-TCP-Connector does in Unity, for the headless city.

A frame is a length (u32, little endian) and a destination, a length and a payload; eight zero
bytes are a keepalive. Destinations that begin with `__` are system commands in JSON, all others
topics and services in CDR. As in Unity's ROS 2 mode, destinations and JSON that leave here end
with one NUL, which their length counts; what comes back has none.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import suppress
import json
import logging
import queue
import select
import socket
import struct
import threading
import time
from typing import Any
from typing import NamedTuple

import numpy as np

from urbanground_ros.city import Event
from urbanground_ros.city import Reply
from urbanground_ros.city import Sample
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.interrupts import interrupts
from urbanground_ros.sim import wire
from urbanground_ros.sim.city import HeadlessCity
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.people import People

_log = logging.getLogger(__name__)

DEFAULT_PORT = 10000
#: Longest destination and payload that are believed (bytes).
MAX_DESTINATION = 1024
MAX_PAYLOAD = 64 * 1024 * 1024
#: Wall seconds: without traffic until a keepalive, between attempts to connect, for one attempt.
KEEPALIVE_AFTER = 1.0
BACK_OFF = 1.0
ATTEMPT = 5.0

#: Topics that the city publishes: message and length of the queue.
TOPICS = {
    '/clock': ('rosgraph_msgs/Clock', 10),
    'camera/image_raw/compressed': ('sensor_msgs/CompressedImage', 2),
    'camera/depth/image_raw': ('sensor_msgs/Image', 2),
    'scan': ('sensor_msgs/LaserScan', 10),
    'city/state': ('urbanground/CityState', 10),
    'pedestrians': ('urbanground/PedestrianArray', 5),
    'trajectory/sample': ('urbanground/TrajectorySample', 1000),
    'events': ('urbanground/Event', 100),
}
SERVICES = {
    'city/act': 'urbanground/CityAct',
    'city/step': 'urbanground/CityStep',
    'city/load': 'urbanground/CityLoad',
    'city/set_scene': 'urbanground/CitySetScene',
    'city/place': 'urbanground/CityPlace',
    'city/sensors': 'urbanground/CitySensors',
    'city/capabilities': 'urbanground/CityCapabilities',
    'city/cancel': 'std_srvs/Trigger',
}

_KEEPALIVE = bytes(8)
_LENGTH = struct.Struct('<I')
_CANCELLABLE = ('city/act', 'city/step')


def frame(destination: str, payload: bytes) -> bytes:
    """Return a frame to the bridge: a message, or a command whose JSON has its NUL already."""
    name = destination.encode() + b'\0'
    return _LENGTH.pack(len(name)) + name + _LENGTH.pack(len(payload)) + payload


def command(name: str, **values: Any) -> bytes:
    """Return the frame of a system command to the bridge."""
    text = json.dumps(values, separators=(',', ':')).encode()
    return frame(f'__{name}', text + b'\0')


class Link:
    """One connection to a bridge; `send` may be called from any thread, `frames` from one."""

    def __init__(self, connected: socket.socket) -> None:
        connected.settimeout(None)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connected
        self._lock = threading.Lock()
        self._last_sent = 0.0
        self.open = True

    def send(self, data: bytes) -> None:
        """Send whole frames, not interleaved with those of another thread.

        Raises:
            OSError: the connection is gone.
        """
        with self._lock:
            self._socket.sendall(data)
            self._last_sent = time.monotonic()

    def frames(self) -> Iterator[tuple[str, bytes]]:
        """Yield destination and payload of what arrives, and send keepalives meanwhile.

        Raises:
            OSError: the connection broke.
            SimError: the peer does not speak the protocol.
        """
        while True:
            try:
                name = self._receive(self._length('destination', MAX_DESTINATION))
                payload = self._receive(self._length('payload', MAX_PAYLOAD))
            except EOFError:
                return
            try:
                destination = name.removesuffix(b'\0').decode()
            except UnicodeDecodeError:
                raise SimError(f'bridge: destination is {name[:40]!r}, '
                               f'expected text') from None
            if destination:
                yield destination, payload

    def close(self) -> None:
        """End the connection, also under a thread that waits for it."""
        self.open = False
        with suppress(OSError):  # it is gone already
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _length(self, what: str, most: int) -> int:
        length = int(_LENGTH.unpack(self._receive(_LENGTH.size))[0])
        if length > most:
            raise SimError(f'bridge: length of a {what} is {length}, expected at most {most}')
        return length

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            while not select.select([self._socket], [], [], KEEPALIVE_AFTER)[0]:
                if time.monotonic() - self._last_sent >= KEEPALIVE_AFTER:
                    self.send(_KEEPALIVE)
            chunk = self._socket.recv(min(size - len(data), 1 << 20))
            if not chunk:
                raise EOFError
            data += chunk
        return bytes(data)


class _Job(NamedTuple):
    """A request of a service, and the link that wants the response."""

    link: Link
    id: int
    service: str
    payload: bytes


class RosTcpFront:
    """Serves a city to a bridge, for ever or until it is stopped.

    `run` calls the city in the thread that calls it, which has to be the one that made the
    city; connecting and reading happen in a thread of their own, so that a cancel is heard
    while an action runs.

    Args:
        city: What to serve; this front becomes its listener.
        host: Where the bridge listens.
        port: Where the bridge listens.
        connect_timeout: Wall seconds without a connection after which `run` gives up; 0 never.

    Raises:
        SimError: the port or the time is out of range.
    """

    def __init__(self, city: HeadlessCity, host: str = '127.0.0.1', port: int = DEFAULT_PORT, *,
                 connect_timeout: float = 0.0) -> None:
        if not 0 < port < 65536:
            raise SimError(f'port is {port!r}, expected 1 to 65535')
        if not 0 <= connect_timeout < float('inf'):
            raise SimError(f'connect_timeout is {connect_timeout!r}, expected 0 or more seconds')
        self._city = city
        self._address = (host, port)
        self._patience = connect_timeout
        self._jobs: queue.Queue[_Job | None] = queue.Queue()
        self._stopping = threading.Event()
        self._gave_up = False
        self._link: Link | None = None
        self._lock = threading.Lock()
        self._cancellable = 0
        self._current: Link | None = None
        self._outbox: list[bytes] = []
        self._thread = threading.Thread(target=self._connect, name='ros-tcp', daemon=True)
        city.listener = self

    def run(self) -> None:
        """Serve until `stop`.

        Raises:
            SimError: no bridge was there for `connect_timeout`.
        """
        self._thread.start()
        while (job := self._jobs.get()) is not None:
            self._do(job)
        if self._gave_up:
            host, port = self._address
            raise SimError(f'no bridge at {host}:{port} for {self._patience:g} s, '
                           f'expected one to listen')

    def stop(self) -> None:
        """Make `run` return as soon as what it does can be cancelled; from any thread."""
        self._stopping.set()
        self._city.request_cancel()
        self._jobs.put(None)
        link = self._link
        if link is not None:
            link.close()

    # -- what the city tells while it moves --------------------------------------------------

    def sample(self, sample: Sample) -> None:
        """Publish the clock and a trajectory sample."""
        self._publish_clock(sample.stamp_ns)
        self._publish('trajectory/sample', wire.sample_msg(sample))

    def event(self, event: Event) -> None:
        """Publish an event."""
        self._publish('events', wire.event_msg(event))

    def picture(self, stamp_ns: int, jpeg: bytes) -> None:
        """Publish a picture, and send all that came before it."""
        if jpeg:
            self._publish('camera/image_raw/compressed', wire.image_msg(stamp_ns, jpeg))
        self._flush()

    def depth(self, stamp_ns: int, metres: np.ndarray) -> None:
        """Publish a depth image."""
        self._publish('camera/depth/image_raw', wire.depth_msg(stamp_ns, metres))

    def scan(self, stamp_ns: int, ranges: np.ndarray) -> None:
        """Publish a laser scan."""
        self._publish('scan', wire.scan_msg(stamp_ns, ranges))

    def people(self, stamp_ns: int, people: People) -> None:
        """Publish the people around the body."""
        self._publish('pedestrians', wire.people_msg(stamp_ns, people))

    def _publish_clock(self, stamp_ns: int) -> None:
        self._publish('/clock', wire.make('rosgraph_msgs/Clock', clock=wire.time_msg(stamp_ns)))

    def _publish(self, topic: str, message: Any) -> None:
        self._outbox.append(frame(topic, wire.message_cdr(TOPICS[topic][0], message)))

    def _flush(self) -> None:
        """Send what waits as one piece; without a link it is lost, as in Unity."""
        data, self._outbox = b''.join(self._outbox), []
        if self._current is not None and self._current.open:
            try:
                self._current.send(data)
            except OSError:
                self._current.close()  # the reading thread notices and tells

    # -- services ----------------------------------------------------------------------------

    def _do(self, job: _Job) -> None:
        if job.link.open:
            self._current = job.link
            response = self._respond(job)
            self._outbox.append(command('response', srv_id=job.id) + frame(job.service, response))
        if job.service in _CANCELLABLE:
            with self._lock:
                self._cancellable -= 1
                self._city.clear_cancel()
        self._flush()
        self._current = None

    def _respond(self, job: _Job) -> bytes:
        kind = SERVICES[job.service]
        try:
            return self._answer(job, kind)
        except UrbanGroundError as error:
            return wire.refusal_cdr(kind, str(error))
        except Exception as error:
            _log.exception('%s failed', job.service)
            return wire.refusal_cdr(kind, f'the city failed: {error!r}')

    def _answer(self, job: _Job, kind: str) -> bytes:
        city = self._city
        request = wire.from_cdr(f'{kind}_Request', job.payload)
        if job.service == 'city/capabilities':
            return wire.capabilities_cdr(city.capabilities())
        if job.service == 'city/sensors':
            city.set_sensors(camera_period=request.camera_period, depth=request.depth,
                             scan_period=request.scan_period)
            return wire.to_cdr(f'{kind}_Response', accepted=True, message='sensors set')
        reply = _CALLS[job.service](city, request)
        if not reply.samples:
            self._publish_clock(reply.state.body.stamp_ns)
        self._publish('city/state', wire.state_msg(reply.state))
        if reply.image:
            self._publish('camera/image_raw/compressed',
                          wire.image_msg(reply.state.body.stamp_ns, reply.image))
        if job.service == 'city/load':
            return wire.load_cdr(reply, city.capabilities().origin)
        return wire.reply_cdr(kind, reply)

    # -- the connection ----------------------------------------------------------------------

    def _connect(self) -> None:
        host, port = self._address
        told = False
        since = time.monotonic()
        while not self._stopping.is_set():
            try:
                link = Link(socket.create_connection(self._address, ATTEMPT))
            except (OSError, UnicodeError) as error:  # the latter: no host's name
                if self._patience and time.monotonic() - since >= self._patience:
                    self._gave_up = True
                    self._jobs.put(None)
                    return
                if not told:
                    _log.info('no bridge at %s:%d yet (%s), trying every %g s', host, port,
                              error, BACK_OFF)
                    told = True
            else:
                self._serve(link)
                told = False
                since = time.monotonic()
            self._stopping.wait(BACK_OFF)

    def _serve(self, link: Link) -> None:
        """Register everything and take frames until the connection ends."""
        self._link = link
        reason = 'it closed the connection'
        try:
            link.send(_KEEPALIVE + b''.join(_registrations()))
            _log.info('connected to the bridge at %s:%d', *self._address)
            self._take_all(link)
        except (OSError, ValueError, SimError) as error:
            # A socket closed under select is a ValueError.
            reason = str(error)
        finally:
            self._link = None
            link.close()
        if not self._stopping.is_set():
            _log.warning('lost the bridge at %s:%d: %s', *self._address, reason)

    def _take_all(self, link: Link) -> None:
        request: int | None = None
        for destination, payload in link.frames():
            if destination.startswith('__'):
                request = self._obey(destination, payload)
            elif request is not None:
                self._take(link, request, destination, payload)
                request = None

    def _obey(self, destination: str, payload: bytes) -> int | None:
        """Obey a system command; return the id if the next frame is a request."""
        try:
            values = json.loads(payload.removesuffix(b'\0').decode())
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise SimError(f'bridge: {destination} has {payload[:40]!r}, expected a JSON object')
        if destination == '__request':
            if not isinstance(values.get('srv_id'), int):
                raise SimError(f'bridge: srv_id of a request is {values.get("srv_id")!r}, '
                               f'expected a number')
            return int(values['srv_id'])
        if destination == '__handshake':
            if not str(values.get('version')).startswith('v0.7.'):
                _log.warning('the bridge speaks version %r, expected v0.7', values.get('version'))
        elif destination in _LOGS:
            _log.log(_LOGS[destination], 'bridge: %s', values.get('text'))
        return None

    def _take(self, link: Link, request: int, service: str, payload: bytes) -> None:
        if service not in SERVICES:
            _log.error('the bridge asks for service %r, expected one of %s', service,
                       ', '.join(SERVICES))
        elif service == 'city/cancel':
            with self._lock:
                running = self._cancellable > 0
                if running:
                    self._city.request_cancel()
            message = 'cancelled' if running else 'nothing to cancel'
            link.send(command('response', srv_id=request) + frame(service, wire.to_cdr(
                'std_srvs/Trigger_Response', success=running, message=message)))
        else:
            if service in _CANCELLABLE:
                with self._lock:
                    self._cancellable += 1
            self._jobs.put(_Job(link, request, service, payload))


def serve(city: HeadlessCity, host: str = '127.0.0.1', port: int = DEFAULT_PORT, *,
          connect_timeout: float = 0.0) -> int:
    """Serve a city to a bridge until SIGINT or SIGTERM, and close it; return the exit status.

    Call it in the main thread.

    Raises:
        SimError: a parameter is out of range, or no bridge was there for `connect_timeout`.
    """
    front = RosTcpFront(city, host, port, connect_timeout=connect_timeout)
    try:
        with interrupts():
            try:
                front.run()
            finally:
                front.stop()
                city.close()
    except KeyboardInterrupt:
        pass
    return 0


def _registrations() -> Iterator[bytes]:
    for topic, (kind, size) in TOPICS.items():
        yield command('publish', topic=topic, message_name=kind, queue_size=size, latch=False)
    for service, kind in SERVICES.items():
        yield command('unity_service', topic=service, message_name=kind)


def _load(city: HeadlessCity, request: Any) -> Reply:
    return city.load(request.region, request.seed, wire.placement_from(request),
                     wire.scene_from(request.scene), list(map(wire.marker_from, request.markers)),
                     want_image=request.want_image)


def _act(city: HeadlessCity, request: Any) -> Reply:
    return city.act(wire.action_from(request.action), want_image=request.want_image)


def _step(city: HeadlessCity, request: Any) -> Reply:
    return city.step(request.linear_x, request.linear_y, request.angular_z, request.seconds,
                     want_image=request.want_image)


def _set_scene(city: HeadlessCity, request: Any) -> Reply:
    return city.set_scene(wire.scene_from(request.scene))


def _place(city: HeadlessCity, request: Any) -> Reply:
    return city.place(wire.placement_from(request))


_CALLS: dict[str, Callable[[HeadlessCity, Any], Reply]] = {
    'city/load': _load,
    'city/act': _act,
    'city/step': _step,
    'city/set_scene': _set_scene,
    'city/place': _place,
}
_LOGS = {'__log': logging.INFO, '__warn': logging.WARNING, '__error': logging.ERROR}
