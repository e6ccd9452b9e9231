# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Wire protocol of the ROS-TCP-Connector (0.7, ROS 2 mode): frames and system commands.

A frame is the same in both directions::

    u32 LE  length of the destination
    bytes   destination (UTF-8)
    u32 LE  length of the payload
    bytes   payload

Eight zero bytes are a keepalive. A destination that begins with ``__`` is a system command and
its payload JSON; any other is a topic or service, and its payload plain CDR (XCDR1, little
endian) with the four-byte encapsulation header, which is exactly what the serialized-message
interface of rmw carries. Unity ends its destinations and its JSON with one counted NUL in ROS 2
mode and with none in ROS 1 mode; towards Unity there is never one.

Nothing here imports ROS.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
from dataclasses import fields
import json
import struct
from types import MappingProxyType
from typing import ClassVar
from typing import NamedTuple

from urbanground_ros.errors import UrbanGroundError

DEFAULT_PORT = 10000
MAX_DESTINATION = 1024
MAX_PAYLOAD = 256 * 1024 * 1024
COMMAND_PREFIX = '__'
KEEPALIVE = bytes(8)

_U32 = struct.Struct('<I')
_CHUNK = 64 * 1024
# A buffer that grew beyond this for one message is given back once it is empty.
_RETAINED = 16 * 1024 * 1024
_KNOWN_DESTINATIONS = 1024


class EndpointError(UrbanGroundError):
    """Something the ROS-TCP endpoint cannot do: an address, a type, a name, a frame."""


class ProtocolError(EndpointError):
    """The byte stream breaks the framing or cannot be trusted any more: close it."""


class CommandError(EndpointError):
    """A well-framed system command that cannot be obeyed: tell the peer and go on."""


class UnknownCommandError(CommandError):
    """A system command of a name that this endpoint does not have."""


class Frame(NamedTuple):
    """One frame, without the NUL that may have ended its destination."""

    destination: str
    payload: bytes
    terminated: bool  # the destination ended with a NUL, as ROS 2 mode does

    @property
    def is_command(self) -> bool:
        """Whether this is a system command rather than a message."""
        return self.destination.startswith(COMMAND_PREFIX)


def encode_header(destination: str, size: int, *, terminated: bool = False) -> bytes:
    """All of a frame that precedes a payload of `size` bytes."""
    name = destination.encode() + (b'\0' if terminated else b'')
    return _U32.pack(len(name)) + name + _U32.pack(size)


def encode_frame(destination: str, payload: bytes, *, terminated: bool = False) -> bytes:
    """A whole frame; `terminated` adds the NUL that Unity puts behind its destinations."""
    return encode_header(destination, len(payload), terminated=terminated) + payload


def strip_nul(data: bytes) -> bytes:
    """`data` without its last byte if that is a NUL: at most one is part of the framing."""
    return data[:-1] if data.endswith(b'\0') else data


class FrameReader:
    """Incremental frame parser over one reusable buffer.

    Receive straight into :meth:`get_buffer` and hand the count to :meth:`received`, or give
    bytes to :meth:`feed`. The buffer grows only as fast as bytes really arrive, so a peer that
    announces a huge payload costs nothing until it sends one. Keepalives are swallowed.

    Args:
        max_destination: longest destination accepted, bytes.
        max_payload: longest payload accepted, bytes.
    """

    def __init__(
        self, *, max_destination: int = MAX_DESTINATION, max_payload: int = MAX_PAYLOAD
    ) -> None:
        self.max_destination = max_destination
        self.max_payload = max_payload
        self._buffer = memoryview(bytearray(_CHUNK))
        self._start = 0
        self._end = 0
        self._needed = _U32.size  # bytes from _start that complete the next parsing step
        self._header: tuple[str, bool, int] | None = None  # destination, terminated, offset
        self._names: dict[bytes, tuple[str, bool]] = {}

    @property
    def pending(self) -> int:
        """Bytes of a frame that is not complete yet."""
        return self._end - self._start

    def get_buffer(self) -> memoryview:
        """Writable space of at least one byte for what is received next."""
        capacity = len(self._buffer)
        if self._start == self._end:
            self._start = self._end = 0
            if capacity > _RETAINED:
                self._buffer = memoryview(bytearray(_CHUNK))
                capacity = _CHUNK
        if self._start + self._needed > capacity:
            pending = self.pending
            if self._needed > capacity and 2 * pending >= capacity:
                grown = memoryview(bytearray(min(self._needed, 2 * capacity)))
                grown[:pending] = self._buffer[self._start : self._end]
                self._buffer = grown
            else:
                self._buffer[:pending] = self._buffer[self._start : self._end]
            self._start, self._end = 0, pending
        # Little is read past the frame at hand, so little has to be moved afterwards.
        limit = max(self._start + self._needed, self._end + _CHUNK)
        return self._buffer[self._end : limit]

    def received(self, count: int) -> Iterator[Frame]:
        """Frames completed by `count` bytes written to :meth:`get_buffer`.

        Exhaust the iterator before the next call of :meth:`get_buffer`.

        Raises:
            ProtocolError: a length over its limit or a destination that cannot be one; the
                frames before it have been yielded.
        """
        self._end += count
        while (frame := self._next()) is not None:
            if frame.destination or frame.payload or frame.terminated:
                yield frame

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Frames completed by `data`; see :meth:`received`."""
        rest = memoryview(data)
        while rest:
            space = self.get_buffer()
            count = min(len(space), len(rest))
            space[:count] = rest[:count]
            yield from self.received(count)
            rest = rest[count:]

    def _next(self) -> Frame | None:
        if self._header is None and not self._read_header():
            return None
        if self.pending < self._needed:
            return None
        assert self._header is not None
        destination, terminated, offset = self._header
        end = self._start + self._needed
        payload = bytes(self._buffer[self._start + offset : end])
        self._start = end
        self._needed = _U32.size
        self._header = None
        return Frame(destination, payload, terminated)

    def _read_header(self) -> bool:
        if self.pending < self._needed:
            return False
        start = self._start
        (length,) = _U32.unpack_from(self._buffer, start)
        if length > self.max_destination:
            raise ProtocolError(
                f'destination of {length} bytes, the limit is {self.max_destination}'
            )
        offset = 2 * _U32.size + length
        if self.pending < offset:
            self._needed = offset
            return False
        (size,) = _U32.unpack_from(self._buffer, start + _U32.size + length)
        name, terminated = self._name(bytes(self._buffer[start + _U32.size :][:length]))
        if size > self.max_payload:
            raise ProtocolError(
                f'payload of {size} bytes for {name!r}, the limit is {self.max_payload}'
            )
        if not length and size:
            raise ProtocolError(f'payload of {size} bytes without a destination')
        self._needed = offset + size
        self._header = name, terminated, offset
        return True

    def _name(self, raw: bytes) -> tuple[str, bool]:
        known = self._names.get(raw)
        if known is None:
            known = _decode_destination(raw), raw.endswith(b'\0')
            if len(self._names) < _KNOWN_DESTINATIONS:
                self._names[raw] = known
        return known


def _decode_destination(raw: bytes) -> str:
    """The name in `raw`, or an error where the stream has lost its step.

    The connector's serializer can lose one length-prefixed string; from then on destinations
    and payloads swap roles, which shows as JSON or binary where a name should be.
    """
    try:
        name = strip_nul(raw).decode()
    except UnicodeDecodeError:
        raise ProtocolError(
            f'destination {raw[:40]!r} is not text, the stream is out of step'
        ) from None
    if name.startswith('{') or not name.isprintable():
        raise ProtocolError(f'destination {name[:40]!r} is no name, the stream is out of step')
    return name


@dataclass(frozen=True)
class Command:
    """A system command: its fields are the members of the JSON object."""

    destination: ClassVar[str]


@dataclass(frozen=True)
class Subscribe(Command):
    """Unity wants the messages of a topic."""

    destination: ClassVar[str] = '__subscribe'
    topic: str
    message_name: str
    queue_size: int = 0  # 0: the endpoint's own; the 0.7 connector never sends it


@dataclass(frozen=True)
class Publish(Command):
    """Unity is going to publish on a topic."""

    destination: ClassVar[str] = '__publish'
    topic: str
    message_name: str
    queue_size: int = 10
    latch: bool = False


@dataclass(frozen=True)
class SubscribeQos(Command):
    """`Subscribe` with a QoS profile as a JSON string."""

    destination: ClassVar[str] = '__subscribe_qos'
    topic: str
    message_name: str
    qos: str


@dataclass(frozen=True)
class PublishQos(Command):
    """`Publish` with a QoS profile as a JSON string."""

    destination: ClassVar[str] = '__publish_qos'
    topic: str
    message_name: str
    qos: str


@dataclass(frozen=True)
class RosService(Command):
    """Unity is going to call a ROS service."""

    destination: ClassVar[str] = '__ros_service'
    topic: str
    message_name: str


@dataclass(frozen=True)
class UnityService(Command):
    """Unity offers a service to ROS."""

    destination: ClassVar[str] = '__unity_service'
    topic: str
    message_name: str


@dataclass(frozen=True)
class RemoveSubscriber(Command):
    """The end of `Subscribe`."""

    destination: ClassVar[str] = '__remove_subscriber'
    topic: str


@dataclass(frozen=True)
class RemovePublisher(Command):
    """The end of `Publish`."""

    destination: ClassVar[str] = '__remove_publisher'
    topic: str


@dataclass(frozen=True)
class RemoveRosService(Command):
    """The end of `RosService`."""

    destination: ClassVar[str] = '__remove_ros_service'
    topic: str


@dataclass(frozen=True)
class RemoveUnityService(Command):
    """The end of `UnityService`."""

    destination: ClassVar[str] = '__remove_unity_service'
    topic: str


@dataclass(frozen=True)
class Request(Command):
    """The next message is the request of a service call."""

    destination: ClassVar[str] = '__request'
    srv_id: int


@dataclass(frozen=True)
class Response(Command):
    """The next message is the response to the call of that id."""

    destination: ClassVar[str] = '__response'
    srv_id: int


@dataclass(frozen=True)
class AskTopicList(Command):
    """Unity wants the list of topics."""

    destination: ClassVar[str] = '__topic_list'


@dataclass(frozen=True)
class Ping(Command):
    """Unity measures the round trip."""

    destination: ClassVar[str] = '__ping'
    request_time: str


@dataclass(frozen=True)
class Handshake(Command):
    """The first frame towards Unity. `metadata` is JSON within the JSON."""

    destination: ClassVar[str] = '__handshake'
    version: str = 'v0.7.0'
    metadata: str = '{"protocol":"ROS2"}'


@dataclass(frozen=True)
class Log(Command):
    """A line for Unity's console."""

    destination: ClassVar[str] = '__log'
    text: str


@dataclass(frozen=True)
class Warn(Command):
    """A warning for Unity's console."""

    destination: ClassVar[str] = '__warn'
    text: str


@dataclass(frozen=True)
class Error(Command):
    """An error for Unity's console."""

    destination: ClassVar[str] = '__error'
    text: str


@dataclass(frozen=True)
class TopicList(Command):
    """Topics and their types (`pkg/Type`), as many of one as of the other."""

    destination: ClassVar[str] = '__topic_list'
    topics: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PingResponse(Command):
    """The answer to `Ping`: the same text."""

    destination: ClassVar[str] = '__ping_response'
    request_time: str


def _table(*commands: type[Command]) -> Mapping[str, type[Command]]:
    return MappingProxyType({command.destination: command for command in commands})


FROM_UNITY = _table(
    Subscribe,
    Publish,
    SubscribeQos,
    PublishQos,
    RosService,
    UnityService,
    RemoveSubscriber,
    RemovePublisher,
    RemoveRosService,
    RemoveUnityService,
    Request,
    Response,
    AskTopicList,
    Ping,
)
TO_UNITY = _table(Handshake, Log, Warn, Error, Request, Response, TopicList, PingResponse)

# Annotations are text here; these are the JSON types that a command's field may have.
_JSON_TYPES = {'str': str, 'int': int, 'bool': bool, 'list[str]': list}


def encode_command(command: Command, *, terminated: bool = False) -> bytes:
    """The frame of a system command; `terminated` as Unity writes it, with its two NULs."""
    text = json.dumps(asdict(command), ensure_ascii=False, separators=(',', ':')).encode()
    return encode_frame(
        command.destination, text + (b'\0' if terminated else b''), terminated=terminated
    )


def decode_command(frame: Frame, commands: Mapping[str, type[Command]] = FROM_UNITY) -> Command:
    """The system command in `frame`. Members that it does not know are ignored.

    Args:
        frame: a frame whose `is_command` is true.
        commands: what may arrive, by destination: `FROM_UNITY` or `TO_UNITY`.

    Raises:
        UnknownCommandError: no such command.
        CommandError: a member is missing or has the wrong JSON type.
        ProtocolError: the payload is no JSON object, so the stream is out of step.
    """
    kind = commands.get(frame.destination)
    if kind is None:
        raise UnknownCommandError(f'unknown system command {frame.destination!r}')
    try:
        members = json.loads(strip_nul(frame.payload).decode())
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        raise ProtocolError(
            f'payload of {frame.destination} is no JSON object: {frame.payload[:40]!r}'
        )
    values = {}
    for member in fields(kind):
        if member.name not in members:
            continue
        value = members[member.name]
        if type(value) is not _JSON_TYPES[str(member.type)]:
            raise CommandError(
                f'{frame.destination}: {member.name} is {value!r}, expected a {member.type}'
            )
        values[member.name] = value
    try:
        return kind(**values)
    except TypeError:
        wanted = ', '.join(member.name for member in fields(kind))
        raise CommandError(
            f'{frame.destination} has {", ".join(members) or "nothing"}, expected {wanted}'
        ) from None
