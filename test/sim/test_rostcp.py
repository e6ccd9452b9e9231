# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ROS-TCP front against a scripted peer that speaks the bare protocol."""

from contextlib import suppress
import json
import logging
import os
from pathlib import Path
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest
import sim_rig as rig

from urbanground_ros.city import Action
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import RosTcpFront
from urbanground_ros.sim import SimError
from urbanground_ros.sim import wire
from urbanground_ros.sim.rostcp import SERVICES
from urbanground_ros.sim.rostcp import TOPICS


class Peer:
    """A bridge of few words; frames that it sends have no NULs, as the endpoint's."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.listener.settimeout(10)
        self.port = self.listener.getsockname()[1]
        self.socket = None

    def accept(self):
        self.socket, _ = self.listener.accept()
        self.socket.settimeout(10)
        self.send('__handshake', json.dumps(
            {'version': 'v0.7.0', 'metadata': '{"protocol":"ROS2"}'}).encode())

    def close(self):
        for each in (self.socket, self.listener):
            if each is not None:
                each.close()

    def exactly(self, size):
        data = b''
        while len(data) < size:
            chunk = self.socket.recv(size - len(data))
            if not chunk:
                raise EOFError
            data += chunk
        return data

    def raw(self):
        """Return the next frame, byte for byte; keepalives too."""
        name = self.exactly(struct.unpack('<I', self.exactly(4))[0])
        return name, self.exactly(struct.unpack('<I', self.exactly(4))[0])

    def frame(self):
        """Return the next frame but keepalives; its name must end with one NUL."""
        while True:
            name, payload = self.raw()
            if name:
                assert name.endswith(b'\0')
                assert name.count(b'\0') == 1
                return name[:-1].decode(), payload

    def registrations(self):
        found = {}
        for _ in range(len(TOPICS) + len(SERVICES)):
            name, payload = self.frame()
            assert payload.endswith(b'\0')
            values = json.loads(payload[:-1])
            found[name, values['topic']] = values
        return found

    def send(self, name, payload):
        self.socket.sendall(struct.pack('<I', len(name)) + name.encode()
                            + struct.pack('<I', len(payload)) + payload)

    def request(self, number, service, payload):
        self.send('__request', json.dumps({'srv_id': number}).encode())
        self.send(service, payload)

    def response(self, number, kind):
        """Return the response of that id, and the names of what was published before it."""
        published = []
        while True:
            name, payload = self.frame()
            if name == '__response':
                assert json.loads(payload[:-1])['srv_id'] == number
                name, payload = self.frame()
                return wire.from_cdr(f'{kind}_Response', payload), published
            published.append((name, payload))

    def call(self, number, service, kind, payload=b'\0\1\0\0'):
        self.request(number, service, payload)
        return self.response(number, kind)

    def load(self, number=1001):
        point = rig.geo(-14, -8, 0.0)
        return self.call(number, 'city/load', 'urbanground/CityLoad', wire.to_cdr(
            'urbanground/CityLoad_Request', region='rig', seed=1, latitude=point.latitude,
            longitude=point.longitude, altitude=point.altitude, yaw=90.0, scene=SCENE(),
            markers=[], want_image=False))


def SCENE(weather='sunny'):  # noqa: N802 - made anew for each message
    return wire.make('urbanground/CityScene', weather=weather, time_of_day=43_200.0,
                     time_scale=0.0, pedestrians=0, closures=[])


def act_request(want_image=False, **fields):
    action = Action(**fields)
    values = {name: getattr(action, name) for name in action.__dataclass_fields__}
    return wire.to_cdr('urbanground/CityAct_Request', want_image=want_image,
                       action=wire.make('urbanground/AgentAction', **values))


def step_request(seconds, want_image=False):
    return wire.to_cdr('urbanground/CityStep_Request', linear_x=0.0, linear_y=0.0,
                       angular_z=0.1, seconds=seconds, want_image=want_image)


@pytest.fixture
def peer():
    peer = Peer()
    yield peer
    peer.close()


@pytest.fixture
def front(peer):
    """A front that serves the rig without pictures in a thread."""
    made = threading.Event()
    holder = {}

    def work():
        city = HeadlessCity(open_region=rig.open_rig, pictures=False)
        holder['front'] = RosTcpFront(city, '127.0.0.1', peer.port)
        made.set()
        holder['front'].run()

    thread = threading.Thread(target=work)
    thread.start()
    made.wait()
    yield holder['front']
    holder['front'].stop()
    thread.join(5)
    assert not thread.is_alive()


def test_connects_with_a_keepalive_and_registers_everything(peer, front):
    peer.accept()
    assert peer.raw() == (b'', b'')
    found = peer.registrations()
    assert found['__publish', '/clock'] == {
        'topic': '/clock', 'message_name': 'rosgraph_msgs/Clock', 'queue_size': 10,
        'latch': False}
    kinds = {topic: values['message_name'] for (_, topic), values in found.items()}
    assert kinds['camera/image_raw/compressed'] == 'sensor_msgs/CompressedImage'
    assert kinds['trajectory/sample'] == 'urbanground/TrajectorySample'
    assert kinds['city/act'] == 'urbanground/CityAct'
    assert found['__unity_service', 'city/cancel']['message_name'] == 'std_srvs/Trigger'
    assert peer.raw() == (b'', b'')  # after a second without traffic


def test_everything_is_published_in_order_before_the_reply(peer, front):
    peer.accept()
    peer.registrations()
    reply, published = peer.load()
    assert reply.accepted
    assert reply.origin_latitude == rig.FRAME.latitude
    assert [name for name, _ in published] == ['/clock', 'trajectory/sample', 'city/state']
    reply, published = peer.call(1002, 'city/act', 'urbanground/CityAct', act_request(
        name='sprint', direction='forward', seconds=2.0))
    names = [name for name, _ in published]
    assert names.count('/clock') == names.count('trajectory/sample') == len(reply.samples) == 50
    assert names.count('events') == len(reply.events) == 1
    assert names[-1] == 'city/state'
    samples = [wire.from_cdr('urbanground/TrajectorySample', payload)
               for name, payload in published if name == 'trajectory/sample']
    assert samples == reply.samples
    clocks = [wire.from_cdr('rosgraph_msgs/Clock', payload).clock
              for name, payload in published if name == '/clock']
    assert clocks == [sample.stamp for sample in samples]
    event = wire.from_cdr('urbanground/Event', dict(published)['events'])
    assert event.sequence in [sample.sequence for sample in samples]
    assert wire.from_cdr('urbanground/CityState', dict(published)['city/state']) == reply.state


def test_the_wire_carries_what_the_city_says(peer, front):
    """The same calls in this process: equal state, to the last bit."""
    peer.accept()
    peer.registrations()
    peer.load()
    city = rig.new_city(-14, -8, 0.0)
    for number, fields in enumerate((
            {'name': 'move', 'direction': 'left', 'seconds': 1.3, 'yaw_rate': 20.0},
            {'name': 'jump'}, {'name': 'look', 'yaw': 5.0}, {'name': 'open_map'}), 1002):
        reply, _ = peer.call(number, 'city/act', 'urbanground/CityAct', act_request(**fields))
        here = city.act(Action(**fields))
        assert reply.state == wire.state_msg(here.state)
        assert reply.samples == [wire.sample_msg(sample) for sample in here.samples]
        assert (reply.accepted, reply.message) == (here.accepted, here.message)


def test_refusals_have_words(peer, front):
    peer.accept()
    peer.registrations()
    reply, _ = peer.call(1, 'city/act', 'urbanground/CityAct', act_request(name='jump'))
    assert not reply.accepted
    assert 'load' in reply.message
    assert reply.state.mode == ''
    reply, _ = peer.call(2, 'city/load', 'urbanground/CityLoad', b'\0\1\0\0abc')
    assert not reply.accepted
    assert 'CityLoad_Request' in reply.message
    peer.load(3)
    reply, _ = peer.call(4, 'city/act', 'urbanground/CityAct', act_request(name='map_pan'))
    assert not reply.accepted
    assert reply.state.mode == 'first_person'
    reply, _ = peer.call(5, 'city/set_scene', 'urbanground/CitySetScene', wire.to_cdr(
        'urbanground/CitySetScene_Request', scene=SCENE('snow')))
    assert 'snow' in reply.message
    reply, _ = peer.call(6, 'city/sensors', 'urbanground/CitySensors', wire.to_cdr(
        'urbanground/CitySensors_Request', camera_period=0.03, depth=False, scan_period=0.0))
    assert 'camera_period' in reply.message


def test_the_other_services_answer(peer, front):
    peer.accept()
    peer.registrations()
    peer.load()
    reply, _ = peer.call(1, 'city/capabilities', 'urbanground/CityCapabilities')
    assert (reply.region, reply.image_width) == ('rig', 0)
    reply, published = peer.call(2, 'city/set_scene', 'urbanground/CitySetScene', wire.to_cdr(
        'urbanground/CitySetScene_Request', scene=SCENE('rainy')))
    assert reply.state.is_raining
    assert [name for name, _ in published] == ['/clock', 'city/state']
    point = rig.geo(3, -8)
    reply, published = peer.call(3, 'city/place', 'urbanground/CityPlace', wire.to_cdr(
        'urbanground/CityPlace_Request', latitude=point.latitude, longitude=point.longitude,
        altitude=point.altitude, yaw=0.0))
    assert reply.state.body.teleports == 1
    assert [name for name, _ in published] == ['/clock', 'trajectory/sample', 'city/state']
    reply, _ = peer.call(4, 'city/step', 'urbanground/CityStep', step_request(0.2))
    assert reply.state.body.elapsed_ns == 220_000_000  # with the tick of the placement
    reply, _ = peer.call(5, 'city/sensors', 'urbanground/CitySensors', wire.to_cdr(
        'urbanground/CitySensors_Request', camera_period=0.1, depth=False, scan_period=0.0))
    assert reply.accepted


def test_cancel_is_heard_while_a_step_runs(peer, front):
    peer.accept()
    peer.registrations()
    peer.load()
    reply, _ = peer.call(1, 'city/cancel', 'std_srvs/Trigger')
    assert not reply.success
    peer.request(2, 'city/step', step_request(60.0))
    reply, _ = peer.call(3, 'city/cancel', 'std_srvs/Trigger')
    assert reply.success
    reply, _ = peer.response(2, 'urbanground/CityStep')
    assert 'cancelled after' in reply.message
    reply, _ = peer.call(4, 'city/step', 'urbanground/CityStep', step_request(0.1))
    assert reply.message == 'stepped for 0.10 s'


def test_a_request_survives_keepalives_and_a_command_ends_it(peer, front):
    peer.accept()
    peer.registrations()
    peer.load()
    peer.send('__request', b'{"srv_id":7}')
    peer.socket.sendall(bytes(8))
    peer.send('city/act', act_request(name='look'))
    assert peer.response(7, 'urbanground/CityAct')[0].accepted
    peer.send('__request', b'{"srv_id":8}')
    peer.send('__log', b'{"text":"hello"}')
    peer.send('city/act', act_request(name='look'))
    peer.send('unknown/topic', b'\0\1\0\0')
    peer.request(9, 'city/nothing', b'\0\1\0\0')
    assert peer.call(10, 'city/act', 'urbanground/CityAct', act_request(name='look'))[0].accepted


def test_comes_back_after_the_link_drops_and_forgets_the_request(peer, front):
    peer.accept()
    peer.registrations()
    peer.load()
    peer.request(5, 'city/step', step_request(20.0))
    peer.socket.close()
    peer.accept()
    assert len(peer.registrations()) == len(TOPICS) + len(SERVICES)
    reply, published = peer.call(6, 'city/act', 'urbanground/CityAct', act_request(name='look'))
    assert reply.accepted
    assert [name for name, _ in published].count('trajectory/sample') == 1


@pytest.mark.parametrize(('garbage', 'words'), [
    (b'\xff' * 64, 'length of a destination'),
    (struct.pack('<I', 4) + b'abcd' + struct.pack('<I', 1 << 31), 'length of a payload'),
    (struct.pack('<I', 2) + b'\xff\xfe' + bytes(4), 'destination'),
    (struct.pack('<I', 9) + b'__request' + struct.pack('<I', 3) + b'{{{', 'JSON object'),
    (struct.pack('<I', 9) + b'__request' + struct.pack('<I', 2) + b'{}', 'srv_id'),
])
def test_a_peer_that_talks_garbage_is_left_with_one_line(peer, front, caplog, garbage, words):
    peer.accept()
    peer.registrations()
    caplog.clear()
    with caplog.at_level(logging.INFO):
        peer.socket.sendall(garbage)
        with suppress(EOFError, ConnectionError):
            while True:
                peer.frame()
        peer.accept()
        peer.registrations()
    lost = [r.message for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(lost) == 1
    assert words in lost[0]
    assert '\n' not in lost[0]


def test_gives_up_when_told_to():
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
    city = HeadlessCity(open_region=rig.open_rig, pictures=False)
    with pytest.raises(SimError, match=f'127.0.0.1:{port}'):
        RosTcpFront(city, '127.0.0.1', port, connect_timeout=0.1).run()
    with pytest.raises(SimError, match=r'no bridge at 127\.0\.0\.\.1:9 for 0\.1 s'):
        RosTcpFront(city, '127.0.0..1', 9, connect_timeout=0.1).run()
    for values in ({'port': 0}, {'connect_timeout': -1.0}):
        with pytest.raises(SimError):
            RosTcpFront(city, **values)


PROGRAM = """
import sys
sys.path.insert(0, {here!r})
import sim_rig
from urbanground_ros.sim import HeadlessCity, serve
sys.exit(serve(HeadlessCity(open_region=sim_rig.open_rig, pictures=False), port={port}))
"""


@pytest.mark.parametrize('signum', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize('busy', [True, False])
def test_a_signal_ends_it_with_status_zero(peer, signum, busy):
    code = PROGRAM.format(here=str(Path(__file__).parent), port=peer.port)
    with subprocess.Popen([sys.executable, '-c', code], stderr=subprocess.PIPE,
                          env=os.environ) as process:
        try:
            peer.accept()
            peer.registrations()
            peer.load()
            if busy:
                peer.request(1, 'city/step', step_request(60.0))
                time.sleep(0.01)
            process.send_signal(signum)
            assert process.wait(10) == 0
        finally:
            process.kill()
        assert b'Traceback' not in process.stderr.read()
