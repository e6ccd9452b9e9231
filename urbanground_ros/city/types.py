# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Values that cross between a city and its users; each mirrors a message of the package."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from enum import IntEnum
import math
from typing import NamedTuple

#: Height of a city's planar laser scanner above the feet (m).
SCAN_HEIGHT = 0.4


@dataclass(frozen=True)
class GeoPoint:
    """A place on Earth.

    Latitude and longitude in degrees (WGS84), altitude in metres above the ellipsoid; NaN
    stands for the ground there.
    """

    latitude: float
    longitude: float
    altitude: float = math.nan
    label: str = ''


@dataclass(frozen=True)
class Placement:
    """Where a body is put: a place, and a heading in compass degrees (0 north, clockwise)."""

    point: GeoPoint
    yaw: float = 0.0


@dataclass(frozen=True)
class GeoLine:
    """A line on Earth through two points or more."""

    label: str
    points: tuple[GeoPoint, ...]


@dataclass(frozen=True)
class Scene:
    """Conditions of the world.

    `time_of_day` in seconds since local midnight, `time_scale` 0 pins the clock,
    `pedestrians` is their number, `closures` are lines that are closed and disclosed.
    """

    weather: str = 'sunny'
    time_of_day: float = 12 * 3600.0
    time_scale: float = 0.0
    pedestrians: int = 0
    closures: tuple[GeoLine, ...] = ()


class Sample(NamedTuple):
    """The body at one instant of simulated time, in the map frame (ENU, metres, radians).

    `x y z` is the point between the feet; `elapsed_ns` counts from load, `stamp_ns` from the
    start of the city; `sequence` has no gaps; `teleports` changes when the body was placed.
    """

    stamp_ns: int
    sequence: int
    elapsed_ns: int
    actions: int
    teleports: int
    x: float
    y: float
    z: float
    yaw: float
    pitch: float
    vx: float
    vy: float
    vz: float
    yaw_rate: float
    grounded: bool


class EventKind(IntEnum):
    """Kinds of `urbanground/msg/Event`."""

    NOTICE = 1
    ARRIVAL = 2
    CONTACT_PEDESTRIAN = 3
    CONTACT_BUILDING = 4
    CLOSURE_DISCLOSED = 5
    CLOSURE_VIOLATED = 6
    RAIN_IN = 7
    RAIN_OUT = 8


@dataclass(frozen=True)
class Event:
    """Something that happened at trajectory sample `sequence`, at `x y z` in the map frame."""

    stamp_ns: int
    sequence: int
    kind: EventKind
    text: str
    x: float
    y: float
    z: float


@dataclass(frozen=True)
class CityState:
    """Everything a city tells about itself; see `urbanground/msg/CityState` for units."""

    body: Sample
    mode: str
    latitude: float
    longitude: float
    altitude: float
    yaw: float
    pitch: float
    surface: str = ''
    on_sidewalk: bool = False
    time_of_day: float = 12 * 3600.0
    weather: str = 'sunny'
    pedestrians_active: bool = False
    pedestrian_count: int = 0
    is_raining: bool = False
    rain_intensity: float = 0.0
    being_rained_on: bool = False
    has_overhead_shelter: bool = False
    rain_hits: int = 0
    rain_exposure_seconds: float = 0.0
    pedestrian_collisions: int = 0
    building_collisions: int = 0
    stats_tracked_seconds: float = 0.0
    tiles_progress: float = 100.0
    tiles_settled: bool = True
    idle: bool = True


@dataclass(frozen=True)
class Reply:
    """What a city answers to an action, a step, a load or a placement.

    `samples` holds every trajectory sample of it in order; `image` is a JPEG, empty unless it
    was wanted (and where the city has no pictures).
    """

    accepted: bool
    message: str
    state: CityState
    samples: tuple[Sample, ...] = ()
    events: tuple[Event, ...] = ()
    image: bytes = b''


@dataclass(frozen=True)
class Capabilities:
    """What a city can do. `origin` is the map frame's, known once a region is loaded."""

    city: str
    lockstep: bool = True
    continuous: bool = True
    depth: bool = False
    scan: bool = False
    pedestrian_positions: bool = False
    physics_period: float = 0.02
    sample_period: float = 0.04
    region: str = ''
    origin: GeoPoint = field(default_factory=lambda: GeoPoint(math.nan, math.nan, math.nan))
    image_width: int = 0
    image_height: int = 0
    horizontal_fov: float = 0.0
