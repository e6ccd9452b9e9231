# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The headless city: world state, its transition in lock-step, and the `City` interface."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
import hashlib
import math
import struct
import threading
from typing import Protocol
from typing import TypeVar

import numpy as np

from urbanground_ros import __version__
from urbanground_ros.city import Action
from urbanground_ros.city import ActionError
from urbanground_ros.city import Capabilities
from urbanground_ros.city import CityState
from urbanground_ros.city import Event
from urbanground_ros.city import EventKind
from urbanground_ros.city import GeoLine
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Reply
from urbanground_ros.city import Sample
from urbanground_ros.city import Scene
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.geo import compass_to_enu
from urbanground_ros.geo import enu_to_compass
from urbanground_ros.sim.avatars import Avatar
from urbanground_ros.sim.body import Body
from urbanground_ros.sim.body import Embodiment
from urbanground_ros.sim.collision import CollisionWorld
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.mapview import draw_marks
from urbanground_ros.sim.mapview import MapView
from urbanground_ros.sim.mask import InstanceMask
from urbanground_ros.sim.people import Crowd
from urbanground_ros.sim.people import People
from urbanground_ros.sim.people import TICKS_PER_CHOICE
from urbanground_ros.sim.rain import Rain
from urbanground_ros.sim.region import CityRegion
from urbanground_ros.sim.region import open_region
from urbanground_ros.sim.region import STRIDE
from urbanground_ros.sim.renderer import encode_jpeg
from urbanground_ros.sim.renderer import open_renderer
from urbanground_ros.sim.renderer import Renderer
from urbanground_ros.sim.scan import measure
from urbanground_ros.sim.sun import DEFAULT_DATE
from urbanground_ros.sim.sun import sun_direction
from urbanground_ros.sim.weather import check_scene
from urbanground_ros.sim.weather import lighting
from urbanground_ros.sim.weather import SECONDS_PER_DAY
from urbanground_ros.sim.weather import WEATHERS
from urbanground_ros.tiles import AnyCamera

FIRST_PERSON = 'first_person'
MAP = 'map'
#: A trajectory sample every so many ticks, and the least ticks that an action takes.
TICKS_PER_SAMPLE = 2
#: A standing jump is over after so much time, landed or not (s).
LONGEST_JUMP = 2.0
#: All closures of a scene are at most so long together (m).
LONGEST_CLOSURES = 5000.0
#: One continuous step is at most this long (s).
LONGEST_STEP = 60.0
#: Limits of looking up and down (rad), and of turning on the spot (rad/s).
MAX_PITCH = math.radians(80.0)
MAX_YAW_RATE = math.pi
#: A map is drawn in the light of a clear noon, whatever the hour and the weather.
MAP_LIGHT = replace(lighting(WEATHERS['sunny'], (0.208, -0.335, 0.919)), haze=0.0)

_IN_RAIN = EventKind.RAIN_IN, 'came into the rain'
_OUT_OF_RAIN = EventKind.RAIN_OUT, 'came out of the rain'
_Sensed = TypeVar('_Sensed')
_BEARING = {'forward': 0.0, 'left': math.pi / 2, 'backward': math.pi, 'right': -math.pi / 2}


class Listener(Protocol):
    """Hears of things as they happen during a call, in order."""

    def sample(self, sample: Sample) -> None:
        """Take a trajectory sample."""
        ...

    def event(self, event: Event) -> None:
        """Take an event; its sample follows."""
        ...

    def picture(self, stamp_ns: int, jpeg: bytes) -> None:
        """Take a picture that was due by the camera's period."""
        ...

    def depth(self, stamp_ns: int, metres: np.ndarray) -> None:
        """Take the depth image (H, W) of the picture that follows, where that is wanted."""
        ...

    def scan(self, stamp_ns: int, ranges: np.ndarray) -> None:
        """Take a laser scan that was due by the scanner's period."""
        ...

    def people(self, stamp_ns: int, people: People) -> None:
        """Take the people around the body, ten times a simulated second."""
        ...


class HeadlessCity:
    """A city in this process; see `urbanground_ros.city.City` for the calls.

    Every call but `request_cancel` belongs to the thread that made the city, because the
    renderer's context does.

    Args:
        image_width: Of the pictures, pixels.
        image_height: Of the pictures, pixels.
        horizontal_fov: Of the first-person camera, radians.
        jpeg_quality: 1 to 100.
        pictures: Whether to render at all.
        day: The date at load, for where the sun stands; Hong Kong's.
        avatars: What people are drawn as, in place of the built-in figures.
        embodiment: The body.
        listener: Hears of samples, events and periodic pictures as they happen.
        open_region: Reads a region by its name or path.

    Raises:
        SimError: a parameter is out of its range.
    """

    def __init__(self, *, image_width: int = 640, image_height: int = 480,
                 horizontal_fov: float = math.radians(75.0), jpeg_quality: int = 90,
                 pictures: bool = True, day: date = DEFAULT_DATE,
                 avatars: tuple[Avatar, ...] = (), embodiment: Embodiment | None = None,
                 listener: Listener | None = None,
                 open_region: Callable[[str], CityRegion] = open_region) -> None:
        for name, value, low, high in (('image_width', image_width, 16, 4096),
                                       ('image_height', image_height, 16, 4096),
                                       ('horizontal_fov', horizontal_fov, 0.1, 2.6),
                                       ('jpeg_quality', jpeg_quality, 1, 100)):
            if not low <= value <= high:
                raise SimError(f'{name} is {value!r}, expected {low:g} to {high:g}')
        self.listener = listener
        self._size = (image_width, image_height)
        self._fov = horizontal_fov
        self._quality = jpeg_quality
        self._day = day
        self._embodiment = embodiment or Embodiment()
        self._period_ns = 1_000_000_000 // self._embodiment.physics_rate
        self._renderer = open_renderer(image_width, image_height, horizontal_fov, avatars) \
            if pictures else None
        self._open_region = open_region
        self._regions: dict[str, CityRegion] = {}
        self._region: CityRegion | None = None
        self._body = Body(CollisionWorld(), self._embodiment)
        self._solid_at = (0.0, 0.0)
        self._tick = 0
        self._cancel = threading.Event()
        self._camera_ticks = self._scan_ticks = 0
        self._depth = False
        self._scene = Scene()
        self._reset(0, self._scene, ())

    # -- the City interface ------------------------------------------------------------------

    def capabilities(self) -> Capabilities:
        """Return what this city can do."""
        width, height = self._size if self._renderer else (0, 0)
        period = self._period_ns * 1e-9
        known: dict[str, object] = {}
        if self._region is not None:
            frame = self._region.frame
            known = {'region': self._region.name,
                     'origin': GeoPoint(frame.latitude, frame.longitude, frame.altitude)}
        return Capabilities(
            city=f'headless {__version__}', physics_period=period,
            sample_period=TICKS_PER_SAMPLE * period, scan=True, pedestrian_positions=True,
            depth=self._renderer is not None and self._renderer.has_depth,
            image_width=width, image_height=height,
            horizontal_fov=self._fov if self._renderer else 0.0,
            **known)  # type: ignore[arg-type]

    def load(self, region: str, seed: int, placement: Placement, scene: Scene,
             markers: Sequence[GeoPoint] = (), *, want_image: bool = False) -> Reply:
        """Begin anew in a region, the body placed in a level first-person view.

        Raises:
            CityError: the region cannot be read, the scene or the seed is out of range, or the
                place is outside the region or has no ground.
        """
        check_scene(scene)
        if not 0 <= seed < 2 ** 64:
            raise SimError(f'load: seed is {seed!r}, expected 0 to 2^64-1')
        if region not in self._regions:
            try:
                self._regions[region] = self._open_region(region)
            except UrbanGroundError as error:
                raise SimError(str(error)) from error
        found = self._regions[region]
        feet = self._surface(found, placement)
        marks = tuple((mark.label, self._on_ground(found, mark)) for mark in markers)
        closures = self._lines(found, scene)
        if found is not self._region:
            if self._region is not None:
                self._region.tiles.forget()
            self._region = found
        self._tick += 1
        self._reset(seed, scene, marks)
        self._put(feet, placement.yaw)
        self._gather()
        self._disclose(closures, ())
        self._emit()
        return self._reply(True, f'loaded {found.name}{self._missing_people()}', want_image)

    def act(self, action: Action, *, want_image: bool = False) -> Reply:
        """Execute one structured action; refuse one that is invalid or of the other mode.

        Raises:
            CityError: no region is loaded.
        """
        self._begin()
        refusal = self._refusal(action)
        if refusal:
            return self._refuse(refusal, want_image)
        self._actions += 1
        message = _EXECUTE[action.name](self, action)
        self._finish()
        return self._reply(True, message, want_image)

    def step(self, linear_x: float, linear_y: float, angular_z: float, seconds: float, *,
             want_image: bool = False) -> Reply:
        """Advance under a constant body velocity, within the body's limits; closes the map.

        Raises:
            CityError: no region is loaded.
        """
        self._begin()
        if not all(map(math.isfinite, (linear_x, linear_y, angular_z))):
            return self._refuse(f'step: velocity is ({linear_x}, {linear_y}, {angular_z}), '
                                f'expected finite numbers', want_image)
        period = self._period_ns * 1e-9
        ticks = round(seconds / period) if 0 < seconds <= LONGEST_STEP else 0
        if ticks < 1 or abs(ticks * period - seconds) > 1e-6:
            return self._refuse(f'step: seconds is {seconds!r}, expected a positive multiple '
                                f'of {period:g} up to {LONGEST_STEP:g}', want_image)
        self._actions += 1
        self._mode = FIRST_PERSON
        clamped = []
        limit = self._embodiment.sprint_speed
        largest = max(abs(linear_x), abs(linear_y))
        if largest > 1e6:  # only the direction counts, and its square must not overflow
            linear_x, linear_y = linear_x / largest * 1e6, linear_y / largest * 1e6
        speed = math.hypot(linear_x, linear_y)
        if speed > limit:
            linear_x, linear_y = linear_x * limit / speed, linear_y * limit / speed
            clamped.append(f'speed to {limit:g} m/s')
        if abs(angular_z) > MAX_YAW_RATE:
            angular_z = math.copysign(MAX_YAW_RATE, angular_z)
            clamped.append(f'yaw rate to {math.degrees(MAX_YAW_RATE):g} deg/s')
        done = self._run(ticks, linear_x, linear_y, yaw_rate=angular_z)
        self._finish()
        limits = f', limited {" and ".join(clamped)}' if clamped else ''
        return self._reply(True, f'stepped {self._took(done, ticks)}{limits}', want_image)

    def set_scene(self, scene: Scene) -> Reply:
        """Change weather, clock and people; no time passes.

        Raises:
            CityError: no region is loaded, or the scene is out of range.
        """
        region = self._begin()
        check_scene(scene)
        closures = self._lines(region, scene)
        known = self._scene.closures
        gather = scene.pedestrians != self._scene.pedestrians
        self._scene = scene
        self._scene_tick = self._tick
        if gather:
            self._gather()
        self._disclose(closures, known)
        return self._reply(True, f'scene set{self._missing_people()}', False)

    def place(self, placement: Placement) -> Reply:
        """Put the body somewhere else, in a level first-person view; takes one tick.

        Raises:
            CityError: no region is loaded, or the place is outside it or has no ground.
        """
        region = self._begin()
        feet = self._surface(region, placement)
        self._tick += 1
        self._teleports += 1
        self._mode = FIRST_PERSON
        self._put(feet, placement.yaw)
        self._emit()
        return self._reply(True, 'placed', False)

    # -- beside the interface ----------------------------------------------------------------

    def request_cancel(self) -> None:
        """End the running action or step at its next tick; from any thread.

        Between calls, it is the next action or step that ends as it begins.
        """
        self._cancel.set()

    def clear_cancel(self) -> None:
        """Take back a cancel that came too late; from any thread."""
        self._cancel.clear()

    def set_sensors(self, *, camera_period: float = 0.0, depth: bool = False,
                    scan_period: float = 0.0) -> None:
        """Give the listener what sensors measure during motion.

        Args:
            camera_period: Simulated seconds between two pictures, 0 for none.
            depth: A depth image with each of these pictures.
            scan_period: Simulated seconds between two laser scans, 0 for none.

        Raises:
            SimError: not a multiple of the physics period.
        """
        ticks = []
        for name, seconds in (('camera_period', camera_period), ('scan_period', scan_period)):
            period = self._period_ns * 1e-9
            count = round(seconds / period) if 0 <= seconds <= 3600 else -1
            if count < 0 or abs(count * period - seconds) > 1e-6:
                raise SimError(f'{name} is {seconds!r}, expected 0 or a multiple of {period:g} '
                               'up to 3600')
            ticks.append(count)
        self._camera_ticks, self._scan_ticks = ticks
        self._depth = depth

    def render(self) -> np.ndarray | None:
        """Return what is seen now, RGB (H, W, 3); None where the city has no pictures."""
        region, body = self._region, self._body
        if self._renderer is None or region is None:
            return None
        if self._mode == MAP:
            self._show(self._map.camera(*self._size))
            return draw_marks(self._renderer.overhead(self._map, MAP_LIGHT), self._map,
                              tuple(body.feet), body.yaw, self._markers, self._pin,
                              self._closures)
        weather, eye = WEATHERS[self._scene.weather], body.eye()
        light = lighting(weather, sun_direction(region.frame.latitude, region.frame.longitude,
                                                self._day, self._clock()))
        seconds = (self._tick - self._load_tick) * self._period_ns * 1e-9
        streaks = self._rain.streaks(body.world, np.array(eye), seconds,
                                     weather.rain) if weather.rain else None
        self._show(self._renderer.camera(tuple(eye), body.yaw, body.pitch))
        return self._renderer.first_person(tuple(eye), body.yaw, body.pitch, light,
                                           self._crowd.now() if self._crowd else None, streaks)

    def depth(self) -> np.ndarray | None:
        """Return how far along the optical axis things are now, float32 (H, W) in metres.

        NaN where nothing is; None where the city has no depth.
        """
        return self._sensed(Renderer.depth)

    def instance_mask(self) -> InstanceMask | None:
        """Return which thing each pixel of a first-person picture shows now.

        None where the city has no depth. It is for verification: no message or observation
        has it.
        """
        return self._sensed(Renderer.instance_mask)

    def scan(self) -> np.ndarray:
        """Return the ranges of a planar laser scan now; see `urbanground_ros.sim.scan`."""
        body = self._body
        return measure(body.world, np.array(body.feet), body.yaw,
                       self._crowd.now() if self._crowd else None)

    def picture(self) -> bytes:
        """Return what is seen now as a JPEG; empty where the city has no pictures."""
        image = self.render()
        return b'' if image is None else encode_jpeg(image, self._quality)

    def state_hash(self) -> str:
        """Return a digest of everything that the future depends on."""
        body = self._body
        numbers = struct.pack(
            '<QqqQQQQQddddddddd?dQ', self._seed, self._tick, self._load_tick, self._sequence,
            self._actions, self._teleports, self._contacts, self._scene.pedestrians,
            *body.feet, *body.velocity, body.fall_speed, body.yaw, body.pitch, body.grounded,
            self._time_of_day(), self._scene_tick)
        words = repr((self._mode, self._map, self._pin, self._markers, self._touching,
                      self._scene, self._region and self._region.name, self._rain.digest(),
                      self._bumps, sorted(self._met), self._crowd and self._crowd.digest()))
        return hashlib.sha256(numbers + words.encode()).hexdigest()

    def close(self) -> None:
        """Give back the renderer and the tiles; the city needs no more calls."""
        for region in self._regions.values():
            region.tiles.close()
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    # -- transition --------------------------------------------------------------------------

    def _reset(self, seed: int, scene: Scene,
               markers: tuple[tuple[str, tuple[float, float, float]], ...]) -> None:
        self._seed = seed
        self._load_tick = self._scene_tick = self._tick
        self._scene = scene
        self._closures: tuple[tuple[str, np.ndarray], ...] = ()
        self._markers = markers
        self._mode = FIRST_PERSON
        self._pin: tuple[float, float, float] | None = None
        self._map = MapView((0.0, 0.0, 0.0))
        self._sequence = 0
        self._actions: int = 0
        self._teleports = 0
        self._contacts = 0
        self._rain = Rain(seed)
        self._crowd: Crowd | None = None
        self._bumps = 0
        self._met: set[int] = set()
        self._yaw_rate = 0.0
        self._touching: tuple[float, float, float] | None = None
        self._last: Sample | None = None
        self._samples: list[Sample] = []
        self._events: list[Event] = []

    def _begin(self) -> CityRegion:
        if self._region is None:
            raise SimError('no region is loaded, expected load before anything else')
        self._samples = []
        self._events = []
        return self._region

    def _refusal(self, action: Action) -> str:
        try:
            action.validate()
        except ActionError as error:
            return str(error)
        if action.name == 'terminate':
            return 'action terminate: it ends an episode and is never sent to a city'
        if self._mode == FIRST_PERSON and action.is_map:
            return f'action {action.name}: the map is closed, expected open_map before it'
        if self._mode == MAP and not action.is_map:
            return f'action {action.name}: the map is open, expected close_map before it'
        return ''

    def _run(self, ticks: int, forward: float = 0.0, left: float = 0.0, *, yaw_rate: float = 0.0,
             pitch_rate: float = 0.0, jump_tick: int = -1) -> int:
        """Advance ticks under a body velocity (m/s, rad/s); return how many were done."""
        for done in range(ticks):
            if self._cancel.is_set():
                return done
            self._advance(forward, left, yaw_rate, pitch_rate, jump=done == jump_tick)
        return ticks

    def _advance(self, forward: float, left: float, yaw_rate: float, pitch_rate: float, *,
                 jump: bool) -> None:
        body = self._body
        period = self._period_ns * 1e-9
        turn = yaw_rate * period
        # The chord of an arc points along the heading in the middle of it.
        heading = body.yaw + turn / 2
        cos_h, sin_h = math.cos(heading), math.sin(heading)
        body.tick(forward * cos_h - left * sin_h, forward * sin_h + left * cos_h, jump=jump)
        self._look(turn, pitch_rate * period)
        self._yaw_rate = yaw_rate
        self._tick += 1
        self._among_people()
        if math.dist(self._solid_at, (body.feet.x, body.feet.y)) > STRIDE:
            self._surround(body.feet.x, body.feet.y)
        self._note_contact()
        if self._rain.tick(body, WEATHERS[self._scene.weather].rain, period):
            self._note(*_IN_RAIN if self._rain.exposed else _OUT_OF_RAIN)
        elapsed = self._tick - self._load_tick
        if elapsed % TICKS_PER_SAMPLE == 0:
            self._emit()
        if self._crowd and self.listener and elapsed % TICKS_PER_CHOICE == 0:
            self.listener.people(self._tick * self._period_ns, self._crowd.now())
        if self._scan_ticks and self.listener and elapsed % self._scan_ticks == 0:
            self.listener.scan(self._tick * self._period_ns, self.scan())
        if self._camera_ticks and self.listener and elapsed % self._camera_ticks == 0:
            depth = self.depth() if self._depth else None
            if depth is not None:
                self.listener.depth(self._tick * self._period_ns, depth)
            self.listener.picture(self._tick * self._period_ns, self.picture())

    def _look(self, turn: float, tilt: float) -> None:
        body = self._body
        body.yaw = math.remainder(body.yaw + turn, 2 * math.pi)
        body.pitch = min(MAX_PITCH, max(-MAX_PITCH, body.pitch + tilt))

    def _surround(self, x: float, y: float) -> None:
        """Have solid for the body what is around a place."""
        assert self._region is not None
        self._solid_at = x, y
        self._body.world = self._region.solid(x, y)

    def _show(self, camera: AnyCamera) -> None:
        """Have the renderer show what a camera wants, all of it."""
        assert self._region is not None
        assert self._renderer is not None
        self._renderer.show(self._region.tiles.update(camera, wait=True).meshes)

    def _sensed(self, measure: Callable[..., _Sensed]) -> _Sensed | None:
        """Return what a method of the renderer measures from the eye, None where it cannot."""
        if self._renderer is None or self._region is None or not self._renderer.has_depth:
            return None
        view = tuple(self._body.eye()), self._body.yaw, self._body.pitch
        self._show(self._renderer.camera(*view))
        return measure(self._renderer, *view, self._crowd.now() if self._crowd else None)

    def _note_contact(self) -> None:
        """Count one contact an approach: it lasts until the body is a radius away from it."""
        feet = self._body.feet
        if self._body.touched:
            if self._touching is None:
                self._contacts += 1
                self._note(EventKind.CONTACT_BUILDING, 'touched a building')
            self._touching = tuple(feet)
        elif self._touching is not None and math.dist(
                self._touching, feet) > self._embodiment.radius:
            self._touching = None

    def _note(self, kind: EventKind, text: str) -> None:
        event = Event(self._tick * self._period_ns, self._sequence, kind, text, *self._body.feet)
        self._events.append(event)
        if self.listener:
            self.listener.event(event)

    def _gather(self) -> None:
        """Have as many people around the body as the scene wants."""
        region = self._region
        assert region is not None
        self._met = set()
        self._crowd = None
        if self._scene.pedestrians and region.ways is not None:
            self._crowd = Crowd(region.ways, self._scene.pedestrians, self._seed,
                                np.array(self._body.feet), self._embodiment.radius,
                                self._period_ns * 1e-9)

    def _lines(self, region: CityRegion, scene: Scene) -> tuple[tuple[str, np.ndarray], ...]:
        """Return labels and points (N, 3) of the scene's closures.

        Raises:
            SimError: a point is no place, or all together are too long.
        """
        lines = tuple(
            (line.label, np.array([self._on_ground(region, point) for point in line.points]))
            for line in scene.closures)
        length = sum(float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
                     for _, points in lines)
        if not length <= LONGEST_CLOSURES:
            raise SimError(f'scene: closures are {length:.0f} m long together, expected up to '
                           f'{LONGEST_CLOSURES:.0f} m')
        return lines

    def _disclose(self, closures: tuple[tuple[str, np.ndarray], ...],
                  known: Sequence[GeoLine]) -> None:
        """Show the scene's closures; those that were not known are told."""
        self._closures = closures
        if self._renderer is not None:
            self._renderer.show_closures(points for _, points in self._closures)
        for line in self._scene.closures:
            if line not in known:
                self._note(EventKind.CLOSURE_DISCLOSED, line.label)

    def _among_people(self) -> None:
        """Let people walk, and keep the body out of them; count one contact an approach."""
        crowd, body = self._crowd, self._body
        if crowd is None:
            return
        crowd.tick(np.array(body.feet))
        touching = crowd.touching(np.array(body.feet), self._embodiment.height)
        for person, way_out in touching.items():
            body.push(*way_out)
            if person not in self._met:
                self._bumps += 1
                self._note(EventKind.CONTACT_PEDESTRIAN, f'touched pedestrian {person}')
        feet = np.array(body.feet)
        self._met = {person for person in self._met | set(touching)
                     if crowd.distance(person, feet) < self._embodiment.radius}

    def _emit(self) -> None:
        body = self._body
        sample = Sample(
            self._tick * self._period_ns, self._sequence,
            (self._tick - self._load_tick) * self._period_ns, self._actions, self._teleports,
            body.feet.x, body.feet.y, body.feet.z, body.yaw, body.pitch,
            body.velocity.x, body.velocity.y, body.velocity.z, self._yaw_rate, body.grounded)
        self._sequence += 1
        self._last = sample
        self._samples.append(sample)
        if self.listener:
            self.listener.sample(sample)

    def _finish(self) -> None:
        """End an action or a step with a sample."""
        self._cancel.clear()
        if self._last is None or self._last.stamp_ns != self._tick * self._period_ns:
            self._emit()

    def _put(self, feet: tuple[float, float, float], yaw: float) -> None:
        self._surround(*feet[:2])
        self._body.place(*feet)
        self._body.yaw = compass_to_enu(yaw)
        self._body.pitch = 0.0
        self._yaw_rate = 0.0
        self._touching = None

    # -- actions -----------------------------------------------------------------------------

    def _took(self, done: int, ticks: int) -> str:
        seconds = f'{done * self._period_ns * 1e-9:.2f} s'
        return f'for {seconds}' if done == ticks else f'cancelled after {seconds}'

    def _move(self, action: Action) -> str:
        embodiment = self._embodiment
        speed = embodiment.sprint_speed if action.name == 'sprint' else embodiment.walk_speed
        bearing = _BEARING[action.direction]
        rate = embodiment.physics_rate
        ticks = max(TICKS_PER_SAMPLE, round(action.seconds * rate))
        jump_tick = min(ticks - 1, round(action.jump_at * rate)) if action.jump else -1
        done = self._run(ticks, speed * math.cos(bearing), speed * math.sin(bearing),
                         yaw_rate=-math.radians(action.yaw_rate),
                         pitch_rate=math.radians(action.pitch_rate), jump_tick=jump_tick)
        return f'{action.name} {action.direction} {self._took(done, ticks)}'

    def _look_around(self, action: Action) -> str:
        self._look(-math.radians(action.yaw), math.radians(action.pitch))
        self._run(TICKS_PER_SAMPLE)
        return 'looked'

    def _jump(self, _: Action) -> str:
        if not self._body.grounded:
            self._run(TICKS_PER_SAMPLE)
            return 'no jump: in the air'
        done = self._run(1, jump_tick=0)
        ticks = round(LONGEST_JUMP * self._embodiment.physics_rate)
        while done < ticks and (not self._body.grounded or done < TICKS_PER_SAMPLE):
            if not self._run(1):
                return f'jump {self._took(done, ticks)}'
            done += 1
        return 'jumped'

    def _open_map(self, _: Action) -> str:
        self._mode = MAP
        self._map = MapView(tuple(self._body.feet))
        self._run(TICKS_PER_SAMPLE)
        return 'map opened'

    def _close_map(self, _: Action) -> str:
        self._mode = FIRST_PERSON
        self._run(TICKS_PER_SAMPLE)
        return 'map closed'

    def _map_select(self, action: Action) -> str:
        region = self._region
        assert region is not None
        width, height = self._size
        self._pin = self._map.pick(region, action.x, action.y, width / height)
        self._run(TICKS_PER_SAMPLE)
        return 'pin set' if self._pin else 'no pin: nothing is there'

    def _map_pan(self, action: Action) -> str:
        region = self._region
        assert region is not None
        self._map = self._map.pan(action.east, action.north, region.low, region.high)
        self._run(TICKS_PER_SAMPLE)
        return 'map moved'

    def _map_zoom(self, action: Action) -> str:
        self._map = self._map.zoom(action.factor)
        self._run(TICKS_PER_SAMPLE)
        return 'map zoomed'

    def _map_orbit(self, action: Action) -> str:
        self._map = self._map.orbit(action.yaw, action.pitch)
        self._run(TICKS_PER_SAMPLE)
        return 'map turned'

    # -- where things are, and the state -----------------------------------------------------

    def _surface(self, region: CityRegion, placement: Placement) -> tuple[float, float, float]:
        """Return where the feet go: on the surface nearest the altitude, else the topmost.

        A surface counts if the body fits between it and what is above it.
        """
        if not math.isfinite(placement.yaw):
            raise SimError(f'place: yaw is {placement.yaw!r}, expected compass degrees')
        point = placement.point
        x, y, z = _to_map(region, point)
        if not (region.low[0] <= x <= region.high[0] and region.low[1] <= y <= region.high[1]):
            raise SimError(f'place: {point.latitude:.6f}, {point.longitude:.6f} is outside '
                           f'the region {region.name}')
        heights = region.heights(x, y)
        roomy = [low for low, above in zip(heights, [*heights[1:], math.inf], strict=True)
                 if above - low >= self._embodiment.height]
        if not roomy:
            raise SimError(f'place: {point.latitude:.6f}, {point.longitude:.6f} has no ground '
                           f'in the region {region.name}')
        if math.isnan(point.altitude):
            return x, y, roomy[-1]
        return x, y, min(roomy, key=lambda height: abs(height - z))

    def _on_ground(self, region: CityRegion, point: GeoPoint) -> tuple[float, float, float]:
        """Return where a marker stands: at its altitude, else on the topmost surface."""
        x, y, z = _to_map(region, point)
        if math.isnan(point.altitude):
            heights = region.heights(x, y)
            z = heights[-1] if heights else float(region.low[2])
        return x, y, z

    def _clock(self) -> float:
        """Return the seconds since the midnight before the scene was set."""
        passed = (self._tick - self._scene_tick) * self._period_ns * 1e-9
        return self._scene.time_of_day + passed * self._scene.time_scale

    def _time_of_day(self) -> float:
        return self._clock() % SECONDS_PER_DAY

    def _missing_people(self) -> str:
        wanted, there = self._scene.pedestrians, self._crowd.count if self._crowd else 0
        return f'; the ways here have room for {there} of {wanted} people' if there < wanted \
            else ''

    def _state(self) -> CityState:
        region, sample = self._region, self._last
        assert region is not None
        assert sample is not None
        latitude, longitude, altitude = region.frame.to_geodetic(
            np.array([sample.x, sample.y, sample.z]))
        surface, on_sidewalk = region.surface(sample.x, sample.y, sample.z)
        rain = WEATHERS[self._scene.weather].rain
        sheltered = self._body.sheltered()
        people = self._crowd.count if self._crowd else 0
        return CityState(
            body=sample, mode=self._mode, latitude=latitude, longitude=longitude,
            altitude=altitude, yaw=enu_to_compass(sample.yaw), pitch=math.degrees(sample.pitch),
            surface=surface, on_sidewalk=on_sidewalk, time_of_day=self._time_of_day(),
            weather=self._scene.weather, pedestrians_active=people > 0, pedestrian_count=people,
            is_raining=rain > 0, rain_intensity=rain,
            being_rained_on=rain > 0 and not sheltered, has_overhead_shelter=sheltered,
            rain_hits=self._rain.hits, rain_exposure_seconds=self._rain.exposure,
            pedestrian_collisions=self._bumps, building_collisions=self._contacts,
            stats_tracked_seconds=sample.elapsed_ns * 1e-9)

    def _refuse(self, message: str, want_image: bool) -> Reply:
        self._cancel.clear()
        return self._reply(False, message, want_image)

    def _reply(self, accepted: bool, message: str, want_image: bool) -> Reply:
        return Reply(accepted, message, self._state(), tuple(self._samples),
                     tuple(self._events), self.picture() if want_image else b'')


_EXECUTE: dict[str, Callable[[HeadlessCity, Action], str]] = {
    'move': HeadlessCity._move,
    'sprint': HeadlessCity._move,
    'look': HeadlessCity._look_around,
    'jump': HeadlessCity._jump,
    'open_map': HeadlessCity._open_map,
    'close_map': HeadlessCity._close_map,
    'map_select': HeadlessCity._map_select,
    'map_pan': HeadlessCity._map_pan,
    'map_zoom': HeadlessCity._map_zoom,
    'map_orbit': HeadlessCity._map_orbit,
}


def _to_map(region: CityRegion, point: GeoPoint) -> tuple[float, float, float]:
    if not (math.isfinite(point.latitude) and math.isfinite(point.longitude)
            and not math.isinf(point.altitude) and abs(point.latitude) <= 90):
        raise SimError(f'place: latitude, longitude, altitude are {point.latitude!r}, '
                       f'{point.longitude!r}, {point.altitude!r}, expected degrees and metres')
    frame = region.frame
    altitude = frame.altitude if math.isnan(point.altitude) else point.altitude
    x, y, z = (float(c) for c in frame.from_geodetic(point.latitude, point.longitude, altitude))
    return x, y, z
