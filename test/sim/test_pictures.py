# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The map mode and pictures; on the rig."""

from dataclasses import replace
import math
import os
import resource
import subprocess
import sys
import threading

import cv2
import numpy as np
import pytest
import sim_rig as rig

from urbanground_ros.city import Action
from urbanground_ros.city import EventKind
from urbanground_ros.city import GeoLine
from urbanground_ros.city import Scene
from urbanground_ros.sim import CollisionWorld
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import MapView
from urbanground_ros.sim import SimError
from urbanground_ros.sim.city import MAP_LIGHT
from urbanground_ros.sim.figures import animate
from urbanground_ros.sim.mapview import draw_marks
from urbanground_ros.sim.people import People
from urbanground_ros.sim.rain import Rain
from urbanground_ros.sim.renderer import encode_jpeg
from urbanground_ros.sim.renderer import open_renderer
from urbanground_ros.sim.renderer import Renderer

WIDTH, HEIGHT = 160, 120
NOON = rig.light()


@pytest.fixture(scope='module')
def renderer():
    renderer = open_renderer(WIDTH, HEIGHT, math.radians(75))
    if renderer is None:
        pytest.skip('no renderer works here')
    renderer.show(rig.whole_rig())
    yield renderer
    renderer.close()


@pytest.fixture
def city():
    city = rig.new_city(pictures=True, image_width=WIDTH, image_height=HEIGHT)
    yield city
    city.close()


def act(city, name, *, want_image=False, **fields):
    return city.act(Action.from_dict({'name': name, **fields}), want_image=want_image)


def decode(jpeg):
    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)


# -- geometry of the view --------------------------------------------------------------------


def test_opens_north_up():
    view = MapView((10.0, 20.0, 0.0), span=100.0)
    pixels = view.project(np.array([[10, 20, 0], [10, 30, 0], [20, 20, 0], [10, 20, 9]]),
                          200, 100)
    np.testing.assert_allclose(pixels, [[100, 50], [100, 30], [120, 50], [100, 50]], atol=1e-9)


@pytest.mark.parametrize('view', [
    MapView((3.0, 4.0, 1.0), span=60.0), MapView((3.0, 4.0, 1.0)).orbit(33.0, 0.0),
    MapView((0.0, 0.0, 0.0), span=80.0).orbit(-120.0, 55.0)])
def test_lines_of_sight_invert_the_projection(view):
    rng = np.random.default_rng(1)
    for x, y in rng.uniform(0, 1, (10, 2)):
        start, end = view.line_of_sight(x, y, WIDTH / HEIGHT)
        np.testing.assert_allclose(
            view.project(np.stack([start, end]), WIDTH, HEIGHT),
            [[x * WIDTH, y * HEIGHT]] * 2, atol=1e-6)
        assert start[2] > 100 > end[2]


def test_orbit_to_the_right_turns_the_ground_to_the_left_and_tilting_shows_fronts():
    view = MapView((0.0, 0.0, 0.0))
    north = view.orbit(30.0, 0.0).project(np.array([[0.0, 10.0, 0.0]]), 100, 100)[0]
    assert north[0] < 50
    tilted = view.orbit(0.0, 45.0).project(np.array([[0.0, 0.0, 10.0]]), 100, 100)[0]
    assert tilted[1] < 50


def test_limits_of_the_view():
    view = MapView((0.0, 0.0, 0.0))
    assert view.zoom(4.0).zoom(4.0).span == 4000.0
    assert view.zoom(0.25).zoom(0.25).span == 40.0
    assert view.orbit(0.0, 180.0).pitch == pytest.approx(math.radians(-20))
    assert view.orbit(0.0, -50.0).pitch == pytest.approx(-math.pi / 2)
    low, high = np.array([-60.0, -60.0, 0.0]), np.array([60.0, 60.0, 5.0])
    assert view.pan(2000.0, -2000.0, low, high).center == (60.0, -60.0, 0.0)
    assert math.isclose(view.orbit(180.0, 0.0).orbit(180.0, 0.0).heading, view.heading)


def test_picks_what_is_seen_first():
    region = rig.region(rig.whole_rig())
    view = MapView((20.0, 0.0, 0.0), span=40.0)
    assert view.pick(region, 0.5, 0.5, 4 / 3) == pytest.approx((20, 0, rig.DECK), abs=1e-3)
    assert view.pick(region, 0.5, 0.3, 4 / 3) == pytest.approx((20, 6, 0), abs=1e-3)
    assert MapView((200.0, 0.0, 0.0)).pick(region, 0.5, 0.5, 4 / 3) is None


# -- the mode --------------------------------------------------------------------------------


def test_map_actions_take_a_sample_period_and_leave_the_body(city):
    before = act(city, 'open_map')
    assert before.state.mode == 'map'
    for name, fields in (('map_pan', {'east': 5.0}), ('map_zoom', {'factor': 0.5}),
                         ('map_orbit', {'yaw': 20.0, 'pitch': 30.0}),
                         ('map_select', {'x': 0.5, 'y': 0.5}), ('close_map', {})):
        after = act(city, name, **fields)
        assert after.accepted
        assert after.state.body.stamp_ns - before.state.body.stamp_ns == 40_000_000
        assert after.state.body[5:] == before.state.body[5:]
        before = after
    assert before.state.mode == 'first_person'


def test_select_beside_the_city_sets_no_pin(city):
    act(city, 'open_map')
    act(city, 'map_zoom', factor=4.0)
    assert act(city, 'map_select', x=0.02, y=0.02).message.startswith('no pin')
    assert act(city, 'map_select', x=0.5, y=0.5).message == 'pin set'


def test_every_map_action_shows(city):
    pictures = [act(city, 'open_map', want_image=True).image]
    for name, fields in (('map_zoom', {'factor': 0.25}), ('map_pan', {'east': 8.0}),
                         ('map_orbit', {'yaw': 20.0}), ('map_orbit', {'pitch': 40.0}),
                         ('map_select', {'x': 0.3, 'y': 0.3})):
        pictures.append(act(city, name, want_image=True, **fields).image)
    assert len(set(pictures)) == len(pictures)
    again = act(city, 'close_map')
    assert again.accepted
    assert act(city, 'open_map', want_image=True).image != pictures[0]  # the pin stays


def test_words_of_the_map_tell_no_place(city):
    act(city, 'open_map')
    for name, fields in (('map_select', {'x': 0.5, 'y': 0.5}), ('map_pan', {'east': 3.0})):
        assert not any(c.isdigit() for c in act(city, name, **fields).message)


def test_the_map_hides_in_no_weather(city):
    act(city, 'open_map')
    day = city.picture()
    city.set_scene(Scene('thunderstorm', time_of_day=0.0))
    assert city.picture() == day


# -- marks -----------------------------------------------------------------------------------


def difference(view, **marks):
    plain = np.full((480, 640, 3), 120, np.uint8)
    base = {'agent': (1e6, 1e6, 0.0), 'heading': 0.0, 'markers': (), 'pin': None}
    drawn = draw_marks(plain, view, **{**base, **marks})
    without = draw_marks(plain, view, **base)
    return np.argwhere((drawn != without).any(axis=2))


def test_marks_are_where_they_belong_in_any_zoom():
    for span in (40.0, 400.0, 4000.0):
        view = MapView((0.0, 0.0, 0.0), span=span)
        place = (span / 4, span / 8, 0.0)
        x, y = view.project(np.array(place), 640, 480)[0]
        arrow = difference(view, agent=place)
        assert np.abs(arrow.mean(axis=0) - [y, x]).max() < 6
        for marks in ({'pin': place}, {'markers': [('', place)]}):
            drop = difference(view, **marks)
            assert abs(drop[:, 0].max() - y) < 4
            assert abs(drop[:, 1].mean() - x) < 2
            assert 20 < np.ptp(drop[:, 0]) < 40


def test_the_arrow_points_along_the_heading():
    view = MapView((0.0, 0.0, 0.0))
    # The notch is at the back, so the far end of the arrow is its tip.
    for heading, axis, sign in ((0.0, 1, 1), (math.pi / 2, 0, -1), (math.pi, 1, -1)):
        arrow = difference(view, agent=(0.0, 0.0, 0.0), heading=heading) - [240, 320]
        assert sign * arrow[np.abs(arrow[:, axis]).argmax(), axis] > 11


def test_labels_are_written():
    view = MapView((0.0, 0.0, 0.0))
    bare = difference(view, markers=[('', (0.0, 0.0, 0.0))])
    named = difference(view, markers=[('Goal 市', (0.0, 0.0, 0.0))])
    assert len(named) > len(bare) + 100


# -- pictures --------------------------------------------------------------------------------


def test_first_person_sees_ground_sky_and_bridge(renderer):
    image = renderer.first_person((0.0, -8.0, 1.6), math.radians(45), 0.0, NOON).astype(int)
    assert image.shape == (HEIGHT, WIDTH, 3)
    sky, ground = image[5, WIDTH // 2], image[-5, WIDTH // 2]
    assert sky[2] > sky[0] + 40
    assert abs(ground[0] - ground[2]) < 30
    red = (image[..., 0] - image[..., 2] > 30).any(axis=0)
    assert red[WIDTH // 2:].any()  # the bridge is to the right of where the camera looks
    assert not red[:WIDTH // 4].any()


def test_the_picture_agrees_with_the_camera_model(renderer):
    """A small box at a known place appears at the pixel that a pinhole of the FOV gives."""
    renderer.show([rig.box(19.9, 20.1, 3.9, 4.1, 1.9, 2.1, color=(1.0, 0.0, 0.0, 1.0))])
    image = renderer.first_person((0.0, 0.0, 1.6), 0.0, 0.0, NOON).astype(int)
    renderer.show(rig.whole_rig())
    focal = WIDTH / 2 / math.tan(math.radians(75) / 2)
    rows, columns = np.nonzero(image[..., 0] - image[..., 2] > 60)
    assert columns.mean() + 0.5 == pytest.approx(WIDTH / 2 - focal * 4 / 20, abs=1)
    assert rows.mean() + 0.5 == pytest.approx(HEIGHT / 2 - focal * 0.4 / 20, abs=1)


def test_the_map_agrees_with_its_projection(renderer):
    renderer.show([rig.ground(), rig.box(9, 11, 4, 6, 0, 1, color=(1.0, 0.0, 0.0, 1.0))])
    for view in (MapView((0.0, 0.0, 0.0), span=60.0),
                 MapView((0.0, 0.0, 0.0), span=60.0).orbit(50.0, 30.0)):
        image = renderer.overhead(view, MAP_LIGHT).astype(int)
        rows, columns = np.nonzero(image[..., 0] - image[..., 2] > 60)
        x, y = view.project(np.array([10.0, 5.0, 0.6]), WIDTH, HEIGHT)[0]
        assert columns.mean() + 0.5 == pytest.approx(x, abs=1.5)
        assert rows.mean() + 0.5 == pytest.approx(y, abs=1.5)
    renderer.show(rig.whole_rig())


@pytest.mark.parametrize('shape', [(1, 1), (16, 8), (7, 367), (100, 60)])
def test_without_shaders_pictures_of_any_size_are_shown_again_and_again(shape):
    try:
        plain = Renderer(WIDTH, HEIGHT, 1.3, 'p3tinydisplay')
    except SimError:
        pytest.skip('p3tinydisplay does not work here')
    red = np.broadcast_to(np.array([200, 30, 30], np.uint8), (*shape, 3)).copy()
    plain.show([rig.ground(), rig.raw(
        'sign', [[5, 2, 0], [5, -2, 0], [5, -2, 4], [5, 2, 4]], [[0, 1, 2], [0, 2, 3]],
        normals=np.tile(np.array([-1, 0, 0], 'f4'), (4, 1)),
        uvs=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], 'f4'), texture=red)])
    for _ in range(3):
        middle = plain.first_person((0.0, 0.0, 1.6), 0.0, 0.0, NOON)[HEIGHT // 2, WIDTH // 2]
        assert middle[0] > 3 * middle[2]
    plain.close()


def test_light_follows_hour_and_weather(renderer):
    def brightness(weather, hour):
        return renderer.first_person((0.0, -8.0, 1.6), 0.7, 0.0, rig.light(weather, hour)).mean()
    noon = brightness('sunny', 12)
    assert noon > brightness('overcast', 12) > brightness('thunderstorm', 12)
    assert brightness('thunderstorm', 12) > brightness('sunny', 0) > 10


def test_textures_stand_upright(renderer):
    texture = np.zeros((8, 8, 3), np.uint8)
    texture[:4] = (255, 0, 0)
    texture[4:] = (0, 0, 255)
    wall = rig.raw('sign', [[5, 2, 0], [5, -2, 0], [5, -2, 4], [5, 2, 4]],
                   [[0, 1, 2], [0, 2, 3]], normals=np.tile([-1, 0, 0], (4, 1)),
                   uvs=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], 'f4'), texture=texture,
                   color=(1.0, 1.0, 1.0, 1.0), unlit=True)
    renderer.show([wall])
    image = renderer.first_person((0.0, 0.0, 2.0), 0.0, 0.0, NOON).astype(int)
    renderer.show(rig.whole_rig())
    above, below = image[HEIGHT // 2 - 15, WIDTH // 2], image[HEIGHT // 2 + 15, WIDTH // 2]
    assert above[0] > above[2] + 80
    assert below[2] > below[0] + 80


def test_two_renderers_in_one_process_do_not_disturb_each_other(renderer):
    def picture(yaw=0.7):
        return renderer.first_person((0.0, -8.0, 1.6), yaw, 0.0, NOON)
    before, aside = picture(), picture(0.9)
    assert (before != aside).any()
    other = Renderer(64, 48, 1.0)
    other.show([rig.ground()])
    small = other.overhead(MapView((0.0, 0.0, 0.0)), NOON)
    np.testing.assert_array_equal(picture(), before)
    np.testing.assert_array_equal(other.overhead(MapView((0.0, 0.0, 0.0)), NOON), small)
    other.close()
    for yaw, expected in ((0.9, aside), (0.7, before)):
        np.testing.assert_array_equal(picture(yaw), expected)


def test_opening_and_closing_and_drawing_do_not_leak():
    def cycle():
        city = rig.new_city(pictures=True, image_width=320, image_height=240)
        for _ in range(10):
            assert city.picture()
        city.close()
    for _ in range(4):
        cycle()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(15):
        cycle()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 40 * 1024


def test_an_unknown_library_is_refused_in_one_line():
    with pytest.raises(SimError, match='p3nothing'):
        Renderer(64, 48, 1.0, 'p3nothing')


FALLBACK = """
import logging, sys
sys.path.insert(0, {here!r})
logging.basicConfig(format='%(message)s')
import sim_rig
from urbanground_ros.sim import renderer
renderer.LIBRARIES = {libraries!r}
city = sim_rig.new_city(pictures=True)
print(city.capabilities().image_width, len(city.picture()) > 0)
city.close()
"""


@pytest.mark.parametrize(('libraries', 'said'), [
    (('p3nothing', 'p3tinydisplay'), '640 True'), (('p3nothing',), '0 False')])
def test_without_gl_it_falls_back(libraries, said):
    code = FALLBACK.format(here=os.path.dirname(__file__), libraries=libraries)
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          check=True)
    assert done.stdout.split('\n')[-2] == said
    if said.startswith('0'):
        lines = [line for line in done.stderr.splitlines() if 'no pictures' in line]
        assert len(lines) == 1


def test_quality_sets_the_size_and_bytes_are_the_same():
    image = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    assert len(encode_jpeg(image, 95)) > len(encode_jpeg(image, 30))
    assert encode_jpeg(image, 90) == encode_jpeg(image, 90)
    red = np.zeros((16, 16, 3), np.uint8)
    red[..., 0] = 255
    assert decode(encode_jpeg(red, 95))[8, 8, 2] > 240


def test_no_pictures_where_none_are_wanted():
    city = HeadlessCity(open_region=rig.open_rig, pictures=False)
    assert city.picture() == b''
    assert city.capabilities().image_width == 0


def test_a_roof_casts_its_shadow_away_from_the_sun(renderer):
    renderer.show([rig.ground(), rig.box(-2, 2, -2, 2, 4, 4.2)])
    view = MapView((0.0, 0.0, 0.0), span=60.0)
    for hour in (9, 12, 15):
        light = replace(rig.light(hour=hour), haze=0.0)
        image = renderer.overhead(view, light).astype(int).sum(axis=2)
        # Far enough from the middle that the roof itself does not hide the place.
        way = 4.2 * np.array(light.sun[:2]) / light.sun[2]
        way *= max(1.0, 2.6 / np.linalg.norm(way))
        for side in (-1, 1):
            x, y = view.project(np.array([*(side * way), 0.0]), WIDTH, HEIGHT)[0].astype(int)
            assert (image[y, x] < 0.85 * image[10, 10]) == (side < 0), hour
    renderer.show(rig.whole_rig())


def test_another_thread_is_refused(renderer):
    said = []

    def work():
        try:
            Renderer(64, 48, 1.0)
        except SimError as error:
            said.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert 'thread' in said[0]


def somebody(*places, heading=0.0, walked=0.0, speed=0.0):
    count = len(places)
    return People(np.arange(count, dtype=np.uint32), np.array(places, float),
                  np.tile([speed * math.cos(heading), speed * math.sin(heading), 0.0], (count, 1)),
                  np.full(count, 1.7), np.full(count, walked), np.full(count, heading))


def test_a_person_is_drawn_where_and_as_tall_as_he_stands(renderer):
    eye = (0.0, -8.0, 1.6)
    empty = renderer.first_person(eye, 0.0, 0.0, NOON)
    person = renderer.first_person(eye, 0.0, 0.0, NOON, somebody((6.0, -7.0, 0.0)))
    rows, columns = np.nonzero(np.any(empty != person, axis=2))
    focal = WIDTH / 2 / math.tan(math.radians(75) / 2)
    assert np.mean(columns) == pytest.approx(WIDTH / 2 - focal / 6, abs=2)
    assert rows.min() == pytest.approx(HEIGHT / 2 - focal * 0.1 / 6, abs=2)
    assert rows.max() == pytest.approx(HEIGHT / 2 + focal * 1.6 / 6, abs=2)
    assert np.array_equal(renderer.first_person(eye, 0.0, 0.0, NOON), empty)


def test_people_swing_their_limbs_as_they_walk_and_differ(renderer):
    eye = (0.0, -8.0, 1.6)
    across = {'heading': math.pi / 2, 'speed': 1.3}
    strides = [renderer.first_person(eye, 0.0, 0.0, NOON,
                                     somebody((4.0, -8.0, 0.0), walked=walked, **across))
               for walked in (0.0, 0.36, 0.85 * 1.7)]
    assert np.any(strides[0] != strides[1])
    assert np.array_equal(strides[0], strides[2]), 'a cycle later'
    two = animate(somebody((0.0, 0.0, 0.0), (9.0, 0.0, 0.0)))
    half = len(two.positions) // 2
    assert np.any(two.uvs[:half] != two.uvs[half:])
    assert two.faces.max() == len(two.positions) - 1


def test_rain_is_drawn_in_the_open_and_not_under_a_roof():
    world = CollisionWorld()
    world.add(rig.box(-30, 0, -30, 30, 3.0, 3.1))
    rain = Rain(7)
    drops = rain.streaks(world, np.array([0.0, 0.0, 1.6]), 12.0, 1.0)
    assert len(drops) > 300
    assert not np.any((drops[:, 0, 0] < -2.5) & (drops[:, 0, 2] < 3.0))
    assert np.any(drops[:, 0, 0] > 2.5)
    later = rain.streaks(world, np.array([0.0, 0.0, 1.6]), 12.02, 1.0)
    assert not np.array_equal(drops, later)
    assert np.array_equal(drops, rain.streaks(world, np.array([0.0, 0.0, 1.6]), 12.0, 1.0))


def test_a_picture_in_the_rain_has_streaks(city):
    city.set_scene(Scene('rainy'))
    wet = city.render()
    city._rain.streaks = lambda *_: None
    assert 20 < np.count_nonzero(np.any(wet != city.render(), axis=2)) < WIDTH * HEIGHT / 4


def closure(*places, label='Closed'):
    return GeoLine(label, tuple(rig.geo(*place) for place in places))


def test_a_closure_stands_in_the_street_and_on_the_map_and_holds_nobody(city):
    city.load('rig', 0, rig.placement(0.0, -8.0, compass=90.0), Scene())
    before = city.render().astype(int)
    reply = city.set_scene(Scene(closures=(closure((5.0, -12.0), (5.0, -4.0)),)))
    assert [(e.kind, e.text) for e in reply.events] == [(EventKind.CLOSURE_DISCLOSED, 'Closed')]
    after = city.render().astype(int)
    changed = np.any(after != before, axis=2)
    red = (after[..., 0] - after[..., 2] > 60) & changed
    assert np.count_nonzero(red) > 100
    assert red[:, :WIDTH // 4].any()
    assert red[:, 3 * WIDTH // 4:].any()
    act(city, 'open_map')
    act(city, 'map_zoom', factor=0.25)
    marked = city.render().astype(int)
    assert np.count_nonzero(marked[..., 0] - marked[..., 2] > 120) > 5
    act(city, 'close_map')
    act(city, 'move', direction='forward', seconds=2.0)
    assert city.act(Action('look')).state.body.x > 6.0
    assert not city.set_scene(Scene(closures=(closure((5, -12), (5, -4)),))).events
    city.set_scene(Scene())
    city.place(rig.placement(0.0, -8.0, compass=90.0))
    gone = city.render().astype(int)
    assert np.count_nonzero(gone[..., 0] - gone[..., 2] > 60) == np.count_nonzero(
        before[..., 0] - before[..., 2] > 60)


def test_a_closure_at_load_is_told_with_it(city):
    scene = Scene(closures=(closure((5, -12), (5, -4)), closure((9, 0), (12, 3), label='Two')))
    reply = city.load('rig', 0, rig.placement(0.0, -8.0), scene)
    assert [event.text for event in reply.events] == ['Closed', 'Two']
    with pytest.raises(SimError, match="closure 'One' has 1 points, expected two or more"):
        city.set_scene(Scene(closures=(closure((5, -12), label='One'),)))
