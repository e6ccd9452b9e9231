# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Frames and system commands of the ROS-TCP protocol."""

from __future__ import annotations

from dataclasses import fields
import json
from pathlib import Path
import struct

from connector import command
from connector import message
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from urbanground_ros.bridge import protocol
from urbanground_ros.bridge.protocol import decode_command
from urbanground_ros.bridge.protocol import encode_command
from urbanground_ros.bridge.protocol import encode_frame
from urbanground_ros.bridge.protocol import Frame
from urbanground_ros.bridge.protocol import FrameReader
from urbanground_ros.bridge.protocol import ProtocolError


def frames(data: bytes, **limits: int) -> list[Frame]:
    reader = FrameReader(**limits)
    found = list(reader.feed(data))
    assert reader.pending == 0
    return found


def header(destination: bytes, size: int) -> bytes:
    return struct.pack('<I', len(destination)) + destination + struct.pack('<I', size)


def test_first_bytes_of_unity() -> None:
    data = bytes.fromhex('0000000000000000 0c000000') + b'__subscribe\0'
    payload = b'{"topic":"/chatter","message_name":"std_msgs/String"}\0'
    data += struct.pack('<I', 0x36) + payload
    (frame,) = frames(data)
    assert frame == Frame('__subscribe', payload, True)
    assert decode_command(frame) == protocol.Subscribe('/chatter', 'std_msgs/String')


def test_an_encoded_frame_is_the_wire_format() -> None:
    assert encode_frame('/a', b'xyz') == b'\x02\0\0\0/a\x03\0\0\0xyz'
    assert encode_frame('/a', b'xyz', terminated=True) == b'\x03\0\0\0/a\0\x03\0\0\0xyz'
    assert encode_frame('/a', b'') == b'\x02\0\0\0/a\0\0\0\0'


def test_at_most_one_nul_is_stripped() -> None:
    (frame,) = frames(encode_frame('__ping', b'{"request_time":"x"}\0\0', terminated=True))
    with pytest.raises(ProtocolError):
        decode_command(frame)
    with pytest.raises(ProtocolError):
        frames(encode_frame('/a\0', b'', terminated=True))


def test_an_unterminated_destination_is_told_apart() -> None:
    assert [each.terminated for each in frames(encode_frame('/a', b'') + message('/a', b''))] == [
        False,
        True,
    ]


def test_an_empty_topic_of_unity_is_no_keepalive() -> None:
    assert frames(message('', b'1234')) == [Frame('', b'1234', True)]


def test_the_handshake_is_what_unity_accepts() -> None:
    (frame,) = frames(encode_command(protocol.Handshake()))
    assert frame.payload == b'{"version":"v0.7.0","metadata":"{\\"protocol\\":\\"ROS2\\"}"}'


@pytest.mark.parametrize('kind', [*protocol.FROM_UNITY.values()])
def test_a_command_survives_the_wire(kind: type[protocol.Command]) -> None:
    values = {'str': 'é/"x"', 'int': 7, 'bool': True}
    members = {
        name: values[str(each.type)] for name, each in ((each.name, each) for each in fields(kind))
    }
    made = kind(**members)
    (frame,) = frames(encode_command(made, terminated=True))
    assert frame.terminated
    assert frame.payload.endswith(b'}\0')
    assert decode_command(frame) == made


def test_towards_unity_nothing_ends_with_a_nul() -> None:
    for made in (protocol.Error('x'), protocol.TopicList(['/a'], ['p/T']), protocol.Request(1)):
        (frame,) = frames(encode_command(made))
        assert not frame.terminated
        assert not frame.payload.endswith(b'\0')
        assert decode_command(frame, protocol.TO_UNITY) == made


def test_members_may_be_left_out_or_unknown() -> None:
    (frame,) = frames(command('__publish', topic='/a', message_name='p/T', colour='red'))
    assert decode_command(frame) == protocol.Publish('/a', 'p/T', 10, False)


@pytest.mark.parametrize(
    ('destination', 'members', 'told'),
    [
        ('__publish', {'topic': '/a'}, 'message_name'),
        ('__request', {'srv_id': '5'}, "srv_id is '5'"),
        ('__request', {'srv_id': True}, 'srv_id is True'),
        ('__subscribe', {'topic': None, 'message_name': 'p/T'}, 'topic is None'),
        ('__request', {}, 'nothing'),
    ],
)
def test_a_bad_command_names_what_is_wrong(
    destination: str, members: dict[str, object], told: str
) -> None:
    (frame,) = frames(command(destination, **members))
    with pytest.raises(protocol.CommandError, match=told) as caught:
        decode_command(frame)
    assert destination in str(caught.value)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('name', ['__init__', '____init__', '__handshake', '__'])
def test_an_unknown_command_is_unknown(name: str) -> None:
    (frame,) = frames(command(name))
    with pytest.raises(protocol.UnknownCommandError, match=name):
        decode_command(frame)


@pytest.mark.parametrize('payload', [b'', b'{', b'[]', b'3', b'\xff\xfe', b'[' * 100_000])
def test_a_command_without_a_json_object_is_out_of_step(payload: bytes) -> None:
    with pytest.raises(ProtocolError, match='no JSON object'):
        decode_command(Frame('__subscribe', payload, True))


@pytest.mark.parametrize(
    ('data', 'told'),
    [
        (header(b'x' * 1025, 0), '1025 bytes, the limit is 1024'),
        (b'\xff\xff\xff\xff', '4294967295 bytes, the limit is 1024'),
        (header(b'/a', 1001), "1001 bytes for '/a', the limit is 1000"),
        (header(b'/a', 0xFFFFFFFF), '4294967295 bytes'),
        (header(b'', 4), 'without a destination'),
        (header(b'{"topic":"/a"}\0', 4), 'out of step'),
        (header(b'\0\1\0\0', 4), 'out of step'),
        (header(b'\xff\xfe', 4), 'out of step'),
        (header(b'/a\n', 4), 'out of step'),
    ],
)
def test_a_stream_out_of_step_is_noticed_at_its_header(data: bytes, told: str) -> None:
    arriving = FrameReader(max_payload=1000).feed(message('/a', b'1234') + data)
    assert next(arriving) == Frame('/a', b'1234', True)
    with pytest.raises(ProtocolError, match=told) as caught:
        next(arriving)
    assert '\n' not in str(caught.value)


def test_a_swapped_stream_is_noticed() -> None:
    """The connector's race: one length-prefixed string is lost, destination and payload swap."""
    whole = command('__publish', topic='/a', message_name='p/T', queue_size=1, latch=False)
    (length,) = struct.unpack_from('<I', whole)
    with pytest.raises(ProtocolError, match='out of step'):
        frames(whole[4 + length :] + whole + whole)


def test_an_announced_payload_takes_no_memory_before_it_comes() -> None:
    reader = FrameReader()
    assert list(reader.feed(header(b'/a', 200 * 1024 * 1024))) == []
    assert len(reader.get_buffer().obj) <= 128 * 1024


def test_a_large_payload_passes_and_its_buffer_is_given_back() -> None:
    payload = bytes(range(256)) * (80 * 1024)
    reader = FrameReader()
    (frame,) = reader.feed(encode_frame('/a', payload))
    assert frame.payload == payload
    assert len(reader.get_buffer().obj) == 64 * 1024


def test_recordings_parse_to_the_frames_that_were_recorded(transcripts: Path) -> None:
    checked = 0
    for events in sorted(transcripts.glob('*/conn*_events.jsonl')):
        recording = events.with_name(events.name.replace('_events.jsonl', '_c2s.bin'))
        recorded = [json.loads(line) for line in events.read_text().splitlines()]
        recorded = [
            each
            for each in recorded
            if each['kind'] == 'frame' and each['dir'] == 'c2s' and each['dest']
        ]
        if not recording.exists():
            continue
        found = list(FrameReader().feed(recording.read_bytes()))
        assert [each['dest'].rstrip('\0') for each in recorded] == [
            each.destination for each in found
        ]
        assert [each['plen'] for each in recorded] == [len(each.payload) for each in found]
        checked += len(found)
    assert checked > 500


def test_every_command_recorded_is_understood(transcripts: Path) -> None:
    kinds = set()
    for recording in transcripts.glob('*_c2s.bin'):
        for frame in FrameReader().feed(recording.read_bytes()):
            if frame.is_command:
                kinds.add(type(decode_command(frame)))
    assert kinds >= {
        protocol.Subscribe,
        protocol.Publish,
        protocol.RosService,
        protocol.UnityService,
        protocol.Request,
        protocol.Response,
        protocol.AskTopicList,
        protocol.Ping,
        protocol.RemoveSubscriber,
    }


NAMES = st.text(st.characters(codec='ascii', categories=['L', 'N']), min_size=1, max_size=40)
WIRE = st.lists(
    st.one_of(
        st.just((None, b'')),
        st.tuples(NAMES.map('/{}'.format), st.binary(max_size=300)),
        st.tuples(NAMES.map('/{}'.format), st.integers(60_000, 200_000).map(bytes)),
    ),
    max_size=12,
)


@given(wire=WIRE, cuts=st.lists(st.integers(1, 100_000), min_size=1, max_size=30))
@settings(max_examples=150, deadline=None)
def test_frames_do_not_depend_on_how_the_stream_is_cut(
    wire: list[tuple[str | None, bytes]], cuts: list[int]
) -> None:
    data = b''.join(
        protocol.KEEPALIVE if name is None else message(name, payload) for name, payload in wire
    )
    reader = FrameReader()
    found = []
    position = 0
    while position < len(data):
        piece = data[position : position + cuts[position % len(cuts)]]
        found += reader.feed(piece)
        position += len(piece)
    assert found == [Frame(name, payload, True) for name, payload in wire if name is not None]
    assert reader.pending == 0


def parse(data: bytes) -> str:
    """Read and decode all of `data`; returns the text of the error that stopped it."""
    try:
        for frame in FrameReader(max_payload=1 << 20).feed(data):
            assert len(frame.destination.encode()) <= 1024
            if frame.is_command:
                decode_command(frame)
    except (ProtocolError, protocol.CommandError) as error:
        return str(error)
    return ''


@given(data=st.binary(max_size=4000))
@settings(max_examples=300, deadline=None)
def test_garbage_raises_nothing_else_than_an_error_of_one_line(data: bytes) -> None:
    assert '\n' not in parse(data)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_recording_raises_nothing_else_than_an_error_of_one_line(
    transcripts: Path, data: st.DataObject
) -> None:
    recording = bytearray((transcripts / 'basic_c2s.bin').read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(recording) - 1), max_size=5)):
        recording[place] = data.draw(st.integers(0, 255))
    start = data.draw(st.integers(0, 200))
    assert '\n' not in parse(bytes(recording[start:]))
