# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The headless city: time, actions, modes, placing, scenes, determinism; on the rig."""

import hashlib
import math
from pathlib import Path
import subprocess
import sys
import threading

import numpy as np
import pytest
import sim_rig as rig

from urbanground_ros.city import Action
from urbanground_ros.city import CityError
from urbanground_ros.city import EventKind
from urbanground_ros.city import GeoLine
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import SimError

TICK = 20_000_000


def act(city, name, **fields):
    return city.act(Action.from_dict({'name': name, **fields}))


# -- time ------------------------------------------------------------------------------------


@pytest.mark.parametrize(('name', 'fields', 'ticks'), [
    ('move', {'direction': 'forward', 'seconds': 1.0}, 50),
    ('move', {'direction': 'forward', 'seconds': 0.05}, 2),
    ('move', {'direction': 'forward', 'seconds': 0.07}, 4),
    ('sprint', {'direction': 'left', 'seconds': 2.0}, 100),
    ('look', {'yaw': 30.0}, 2),
    ('open_map', {}, 2),
])
def test_an_action_takes_its_ticks_and_ends_with_a_sample(name, fields, ticks):
    city = rig.new_city()
    before = city.act(Action('look')).state.body
    reply = act(city, name, **fields)
    assert reply.accepted
    assert reply.state.body.stamp_ns - before.stamp_ns == ticks * TICK
    assert reply.samples[-1] == reply.state.body
    assert reply.state.body.actions == before.actions + 1


def test_samples_are_25_hz_without_gaps_over_odd_actions():
    city = rig.new_city()
    samples = []
    for seconds in (0.1, 0.14, 0.5, 0.06, 0.3):
        samples += act(city, 'move', direction='forward', seconds=seconds).samples
    assert [s.sequence for s in samples] == list(range(1, len(samples) + 1))
    elapsed = [s.elapsed_ns // TICK for s in samples]
    assert elapsed == sorted(set(elapsed))
    assert set(range(2, elapsed[-1] + 1, 2)) <= set(elapsed)
    assert max(np.diff(elapsed)) == 2


def test_stamps_go_on_over_loads_and_elapsed_starts_anew():
    city = rig.new_city()
    last = act(city, 'move', direction='forward', seconds=1).state.body
    first = city.load('rig', 1, rig.placement(0, -8), Scene()).samples
    assert len(first) == 1
    assert first[0].stamp_ns == last.stamp_ns + TICK
    assert (first[0].sequence, first[0].elapsed_ns, first[0].actions) == (0, 0, 0)


def test_thinking_takes_no_time():
    city = rig.new_city()
    digest = city.state_hash()
    for _ in range(3):
        city.capabilities()
        city.picture()
    assert city.state_hash() == digest


# -- first person ----------------------------------------------------------------------------


@pytest.mark.parametrize(('direction', 'way'), [
    ('forward', (1, 0)), ('backward', (-1, 0)), ('left', (0, 1)), ('right', (0, -1))])
@pytest.mark.parametrize(('name', 'speed'), [('move', 4.0), ('sprint', 7.0)])
def test_directions_are_relative_to_the_heading(direction, way, name, speed):
    city = rig.new_city()
    body = act(city, name, direction=direction, seconds=0.5).state.body
    assert (body.x, body.y) == pytest.approx((way[0] * speed / 2, -8 + way[1] * speed / 2),
                                             abs=1e-6)
    assert (body.vx, body.vy) == pytest.approx((way[0] * speed, way[1] * speed), abs=1e-6)


def test_heading_is_compass_at_the_edge():
    city = rig.new_city(compass=0.0)
    body = act(city, 'move', direction='forward', seconds=1).state
    assert body.body.y == pytest.approx(-4)
    assert body.yaw == pytest.approx(0)
    assert act(city, 'look', yaw=30.0).state.yaw == pytest.approx(30)


def test_turning_while_moving_walks_an_arc():
    city = rig.new_city()
    reply = act(city, 'move', direction='forward', seconds=2, yaw_rate=90.0, pitch_rate=10.0)
    body, radius = reply.state.body, 4.0 / math.radians(90)
    assert body.yaw == pytest.approx(math.pi, abs=1e-9) or body.yaw == pytest.approx(-math.pi)
    assert (body.x, body.y) == pytest.approx((0, -8 - 2 * radius), abs=0.01)
    assert reply.state.pitch == pytest.approx(20)
    assert body.yaw_rate == pytest.approx(-math.radians(90))


def test_pitch_is_clamped():
    city = rig.new_city()
    assert act(city, 'look', pitch=120.0).state.pitch == pytest.approx(80)
    assert act(city, 'look', pitch=-180.0).state.pitch == pytest.approx(-80)


def test_jump_runs_until_landed():
    city = rig.new_city()
    reply = act(city, 'jump')
    assert max(s.z for s in reply.samples) == pytest.approx(1.0, abs=0.01)
    assert reply.state.body.grounded
    assert reply.state.stats_tracked_seconds == pytest.approx(2 * math.sqrt(2 / 9.81), abs=0.05)


def test_jump_at_its_time_and_moving_on_in_the_air():
    city = rig.new_city()
    reply = act(city, 'move', direction='forward', seconds=1, jump=True, jump_at=0.4)
    air = [s.elapsed_ns / 1e9 for s in reply.samples if not s.grounded]
    assert air[0] == pytest.approx(0.44, abs=0.021)
    assert not reply.state.body.grounded
    assert reply.state.body.x == pytest.approx(4, abs=1e-6)
    in_air = act(city, 'jump')
    assert in_air.message == 'no jump: in the air'


def test_contact_with_a_wall_is_counted_once_an_approach():
    city = rig.new_city(x=-14, compass=90.0)
    reply = act(city, 'sprint', direction='forward', seconds=2)
    assert [e.kind for e in reply.events] == [EventKind.CONTACT_BUILDING]
    event = reply.events[0]
    assert event.stamp_ns <= next(s for s in reply.samples
                                  if s.sequence == event.sequence).stamp_ns
    assert not act(city, 'sprint', direction='forward', seconds=1).events
    act(city, 'move', direction='backward', seconds=1)
    reply = act(city, 'move', direction='forward', seconds=2)
    assert reply.state.building_collisions == 2


# -- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize('action', [
    Action('move', direction='forward', seconds=3.0), Action('move', direction='up', seconds=1),
    Action('fly'), Action('look', yaw=math.nan), Action('terminate'), Action('map_pan'),
    Action('close_map'), Action('map_zoom', factor=1.0)])
def test_what_does_not_fit_is_refused_and_no_time_passes(action):
    city = rig.new_city()
    digest = city.state_hash()
    reply = city.act(action)
    assert not reply.accepted
    assert action.name in reply.message
    assert '\n' not in reply.message
    assert not reply.samples
    assert city.state_hash() == digest


@pytest.mark.parametrize('name', ['move', 'look', 'jump', 'open_map'])
def test_an_open_map_takes_map_actions_only(name):
    city = rig.new_city()
    act(city, 'open_map')
    fields = {'direction': 'forward', 'seconds': 1} if name == 'move' else {}
    reply = act(city, name, **fields)
    assert not reply.accepted
    assert 'close_map' in reply.message
    assert reply.state.mode == 'map'


def test_nothing_works_before_load():
    city = HeadlessCity(open_region=rig.open_rig, pictures=False)
    with pytest.raises(CityError, match='load'):
        city.act(Action('jump'))
    with pytest.raises(CityError, match='load'):
        city.step(1, 0, 0, 0.1)
    assert city.capabilities().region == ''


@pytest.mark.parametrize(('place', 'words'), [
    (Placement(GeoPoint(22.4, 114.17)), 'outside the region rig'),
    (Placement(GeoPoint(math.nan, 114.17)), 'latitude'),
    (Placement(rig.geo(0, 0), math.inf), 'yaw')])
def test_a_bad_place_is_refused_and_changes_nothing(place, words):
    city = rig.new_city()
    digest = city.state_hash()
    for call in (lambda: city.load('rig', 1, place, Scene()), lambda: city.place(place)):
        with pytest.raises(CityError, match=words):
            call()
    assert city.state_hash() == digest


@pytest.mark.parametrize('scene', [
    Scene(weather='snow'), Scene(time_of_day=-1.0), Scene(time_of_day=math.nan),
    Scene(time_scale=-1.0), Scene(pedestrians=-1)])
def test_a_bad_scene_is_refused(scene):
    city = rig.new_city()
    with pytest.raises(CityError, match='scene'):
        city.set_scene(scene)
    with pytest.raises(CityError, match='scene'):
        city.load('rig', 1, rig.placement(0, 0), scene)


def test_bad_parameters_region_and_seed_are_refused():
    with pytest.raises(SimError, match='image_width'):
        HeadlessCity(image_width=0)
    with pytest.raises(SimError, match='jpeg_quality'):
        HeadlessCity(jpeg_quality=101)
    city = rig.new_city()
    with pytest.raises(CityError, match='atlantis'):
        city.load('atlantis', 1, rig.placement(0, 0), Scene())
    with pytest.raises(CityError, match='seed'):
        city.load('rig', -1, rig.placement(0, 0), Scene())


# -- continuous ------------------------------------------------------------------------------


def test_step_moves_in_the_body_frame():
    city = rig.new_city(compass=0.0)
    reply = city.step(1.0, 0.5, 0.0, 2.0)
    assert (reply.state.body.x, reply.state.body.y) == pytest.approx((-1, -6), abs=1e-6)
    assert len(reply.samples) == 50
    assert reply.state.body.actions == 1


def test_step_of_one_tick_and_turning():
    city = rig.new_city()
    reply = city.step(0.0, 0.0, 1.0, 0.02)
    assert len(reply.samples) == 1
    assert reply.state.body.yaw == pytest.approx(0.02)


def test_steps_in_pieces_are_one_step():
    whole, pieces = rig.new_city(), rig.new_city()
    a = whole.step(2.0, 0.3, 0.4, 1.0).state.body
    for _ in range(10):
        b = pieces.step(2.0, 0.3, 0.4, 0.1).state.body
    assert b[5:] == a[5:]


def test_step_limits_are_told():
    city = rig.new_city()
    reply = city.step(30.0, 40.0, 9.0, 0.02)
    assert math.hypot(reply.state.body.vx, reply.state.body.vy) == pytest.approx(7)
    assert reply.state.body.yaw_rate == pytest.approx(math.pi)
    assert '7 m/s' in reply.message
    assert '180 deg/s' in reply.message


@pytest.mark.parametrize('seconds', [0.0, -0.02, 0.03, math.nan, math.inf, 1e9])
def test_step_of_no_whole_ticks_is_refused(seconds):
    city = rig.new_city()
    digest = city.state_hash()
    reply = city.step(1.0, 0.0, 0.0, seconds)
    assert not reply.accepted
    assert 'multiple of 0.02' in reply.message
    assert not city.step(math.nan, 0.0, 0.0, 0.02).accepted
    assert city.state_hash() == digest


def test_step_closes_the_map():
    city = rig.new_city()
    act(city, 'open_map')
    assert city.step(1.0, 0.0, 0.0, 0.1).state.mode == 'first_person'


# -- placing ---------------------------------------------------------------------------------


def test_altitude_chooses_the_deck_or_the_street():
    x = (rig.DECK_X0 + rig.DECK_X1) / 2
    for altitude, z in ((rig.DECK, rig.DECK), (rig.DECK + 1, rig.DECK), (0.0, 0.0), (1.0, 0.0),
                        (math.nan, rig.DECK)):
        city = rig.new_city(x, 0, altitude)
        body = city.act(Action('look')).state.body
        assert body.z == pytest.approx(z, abs=1e-3)
        assert body.grounded


def test_place_teleports_level_and_takes_a_tick():
    city = rig.new_city()
    act(city, 'look', pitch=30.0)
    act(city, 'open_map')
    before = city.act(Action('map_pan', east=5.0)).state
    reply = city.place(rig.placement(5, -8, compass=180.0))
    state = reply.state
    assert (state.mode, state.pitch, state.yaw) == ('first_person', 0.0, 180.0)
    assert state.body.stamp_ns == before.body.stamp_ns + TICK
    assert state.body.teleports == before.body.teleports + 1
    assert state.body.sequence == before.body.sequence + 1
    assert (state.body.x, state.body.y) == pytest.approx((5, -8), abs=1e-6)
    there = rig.geo(5, -8, 0.0)
    assert (state.latitude, state.longitude) == pytest.approx(
        (there.latitude, there.longitude), abs=1e-9)


def test_load_again_is_clean():
    city = rig.new_city(x=-14)
    act(city, 'sprint', direction='forward', seconds=2)
    act(city, 'open_map')
    act(city, 'map_select', x=0.4, y=0.6)
    city.set_scene(Scene('rainy'))
    reply = city.load('rig', 1, rig.placement(0, -8), Scene())
    fresh = rig.new_city().act(Action('look'))
    again = city.act(Action('look'))
    assert reply.state.mode == 'first_person'
    assert reply.state.building_collisions == 0
    assert again.state.body[1:] == fresh.state.body[1:]
    assert reply.state.weather == 'sunny'


# -- scene -----------------------------------------------------------------------------------


def test_rain_falls_where_nothing_is_overhead():
    city = rig.new_city(scene=Scene('rainy', time_of_day=600.0))
    state = act(city, 'move', direction='forward', seconds=1).state
    assert (state.is_raining, state.rain_intensity) == (True, 0.55)
    assert state.being_rained_on
    assert not state.has_overhead_shelter
    assert state.rain_exposure_seconds == pytest.approx(1.0)
    state = city.place(rig.placement(20, 0, 0.0)).state
    assert state.has_overhead_shelter
    assert not state.being_rained_on
    assert city.step(0, 0, 0, 1.0).state.rain_exposure_seconds == pytest.approx(1.0)
    assert city.set_scene(Scene('thunderstorm')).state.rain_intensity == 0.95


def test_the_clock_runs_by_its_scale():
    city = rig.new_city(scene=Scene(time_of_day=86_390.0, time_scale=60.0))
    assert city.step(0, 0, 0, 1.0).state.time_of_day == pytest.approx(50.0)
    assert city.set_scene(Scene(time_of_day=10.0)).state.time_of_day == 10.0
    assert city.step(0, 0, 0, 1.0).state.time_of_day == 10.0


def test_people_without_a_network_are_missing_and_told():
    city = rig.new_city()
    reply = city.set_scene(Scene(pedestrians=20))
    assert reply.accepted
    assert reply.message == 'scene set; the ways here have room for 0 of 20 people'
    assert (reply.state.pedestrian_count, reply.state.pedestrians_active) == (0, False)


def test_capabilities_tell_the_region():
    known = rig.new_city().capabilities()
    assert (known.region, known.origin.latitude) == ('rig', rig.FRAME.latitude)
    assert (known.physics_period, known.sample_period) == (0.02, 0.04)
    assert (known.image_width, known.horizontal_fov) == (0, 0.0)
    assert rig.new_city().act(Action('look')).image == b''


# -- cancelling, listening, determinism ------------------------------------------------------


def test_cancel_ends_a_running_step():
    city = rig.new_city()
    timer = threading.Timer(0.02, city.request_cancel)
    timer.start()
    reply = city.step(0.0, 0.0, 1.0, 60.0)
    timer.join()
    assert reply.accepted
    assert 'cancelled after' in reply.message
    assert reply.state.stats_tracked_seconds < 60
    assert city.step(1.0, 0.0, 0.0, 0.1).message == 'stepped for 0.10 s'


class Log:
    """A listener that keeps what it hears."""

    def __init__(self):
        self.heard = []

    def sample(self, sample):
        self.heard.append(sample)

    def event(self, event):
        self.heard.append(event)

    def picture(self, stamp_ns, jpeg):
        self.heard.append((stamp_ns, jpeg))


def test_a_listener_hears_everything_in_order():
    log = Log()
    city = rig.new_city(x=-14, listener=log)
    log.heard.clear()
    reply = act(city, 'sprint', direction='forward', seconds=2)
    assert [h for h in log.heard if h not in reply.events] == list(reply.samples)
    event = log.heard.index(reply.events[0])
    assert log.heard[event + 1].sequence == reply.events[0].sequence


def test_pictures_come_at_the_camera_period():
    log = Log()
    city = rig.new_city(listener=log, image_width=64, image_height=48, pictures=True)
    if not city.capabilities().image_width:
        pytest.skip('no renderer works here')
    city.set_sensors(camera_period=0.1)
    city.step(1.0, 0.0, 0.0, 1.0)
    stamps = [h[0] for h in log.heard if len(h) == 2]
    assert len(stamps) == 10
    assert set(np.diff(stamps)) == {5 * TICK}
    for period in (0.03, -1.0, math.nan):
        with pytest.raises(SimError, match='camera_period'):
            city.set_sensors(camera_period=period)
    city.close()


SCRIPT = """
import hashlib, sys
sys.path.insert(0, {here!r})
import test_city
print(test_city.digest())
"""


def digest():
    """Run a fixed script of actions with pictures; return a digest of all bytes."""
    city = rig.new_city(pictures=True, image_width=160, image_height=120,
                        markers=[rig.geo(20, 0, label='A')])
    total = hashlib.sha256()
    for name, fields in (
            ('move', {'direction': 'forward', 'seconds': 2, 'yaw_rate': 33.0}), ('jump', {}),
            ('look', {'yaw': -70.0, 'pitch': 5.0}),
            ('sprint', {'direction': 'forward', 'seconds': 2, 'jump': True, 'jump_at': 0.5}),
            ('open_map', {}), ('map_zoom', {'factor': 0.3}), ('map_orbit', {'pitch': 40.0}),
            ('map_select', {'x': 0.3, 'y': 0.6}), ('close_map', {})):
        reply = city.act(Action.from_dict({'name': name, **fields}), want_image=True)
        assert reply.accepted
        total.update(repr(reply.samples).encode() + reply.image)
    total.update(city.state_hash().encode())
    city.close()
    return total.hexdigest()


def test_same_calls_give_the_same_bytes_here_and_in_another_process():
    here = str(Path(__file__).parent)
    other = subprocess.run([sys.executable, '-c', SCRIPT.format(here=here)], check=True,
                           capture_output=True, text=True).stdout.split()
    assert digest() == digest()
    assert other == [digest()]


def test_rain_falls_on_the_body_and_a_roof_keeps_it_off():
    city = rig.new_city(scene=Scene('rainy'))
    reply = city.step(0, 0, 0, 10.0)
    assert [event.kind for event in reply.events] == [EventKind.RAIN_IN]
    assert reply.state.rain_hits == pytest.approx(10 * 40 * 0.55, abs=2)
    heavier = city.set_scene(Scene('thunderstorm'))
    hits = heavier.state.rain_hits
    assert city.step(0, 0, 0, 10.0).state.rain_hits - hits == pytest.approx(10 * 40 * 0.95, abs=2)
    dry = city.set_scene(Scene('cloudy')).state
    reply = city.step(0, 0, 0, 1.0)
    assert [event.kind for event in reply.events] == [EventKind.RAIN_OUT]
    assert reply.state.rain_hits == dry.rain_hits


# -- scenes that are refused -----------------------------------------------------------------


def gates(*lines):
    return tuple(GeoLine('gate', tuple(rig.geo(*point) for point in line)) for line in lines)


@pytest.mark.parametrize(('closures', 'said'), [
    (gates([(0, 0), (math.nan, 1)]), 'expected degrees and metres'),
    (gates([(0, 0), (1, 1)] * 501), 'closures have 1002 points, expected up to 1000'),
    (gates([(0, 0), (0, 5001)]), 'closures are 5001 m long together, expected up to 5000 m'),
])
def test_a_scene_that_is_refused_changes_nothing(closures, said):
    city = rig.new_city()
    digest, scene = city.state_hash(), Scene('rainy', time_of_day=0.0, closures=closures)
    with pytest.raises(CityError, match=said):
        city.set_scene(scene)
    with pytest.raises(CityError, match=said):
        city.load('rig', 2, rig.placement(5.0, -8.0), scene)
    assert city.state_hash() == digest
    state = city.step(1.0, 0.0, 0.0, 0.02).state
    assert (state.weather, state.time_of_day) == ('sunny', 12 * 3600.0)


def test_a_speed_beyond_all_numbers_is_limited_as_any():
    body = rig.new_city().step(1e308, 1e308, 0.0, 0.02).state.body
    assert math.hypot(body.vx, body.vy) == pytest.approx(7)
