# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The city's values as ROS 2 messages: CDR bytes by the package's own .msg and .srv files.

XCDR1, little endian, behind the four bytes of encapsulation header: what rmw calls a
serialised message and what ROS-TCP-Connector sends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from functools import partial
import math
from typing import Any
from typing import TYPE_CHECKING

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import get_types_from_msg
from rosbags.typesys import get_typestore
from rosbags.typesys import Stores
from rosbags.typesys.store import Typestore

from urbanground_ros.city import Action
from urbanground_ros.city import Capabilities
from urbanground_ros.city import CityState
from urbanground_ros.city import Event
from urbanground_ros.city import GeoLine
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Reply
from urbanground_ros.city import Sample
from urbanground_ros.city import Scene
from urbanground_ros.resources import project_file
from urbanground_ros.sim import scan
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.people import RADIUS

if TYPE_CHECKING:
    from urbanground_ros.sim.people import People

PACKAGE = 'urbanground'
CAMERA_FRAME = 'camera_optical_frame'
MAP_FRAME = 'map'
SCAN_FRAME = 'base_scan'

_HEADER_SIZE = 4

#: Halves of services that the message store does not have.
_STD_SERVICES = {
    'std_srvs/msg/Trigger_Request': '',
    'std_srvs/msg/Trigger_Response': 'bool success\nstring message\n',
}


def to_cdr(kind: str, /, **values: Any) -> bytes:
    """Serialise one message given by the values of its fields.

    Args:
        kind: `package/Name`; the halves of a service are `package/Name_Request` and
            `package/Name_Response`.
        values: One for each field.
    """
    return message_cdr(kind, make(kind, **values))


def message_cdr(kind: str, message: Any) -> bytes:
    """Serialise one message of a kind as in `to_cdr`."""
    return bytes(_store().serialize_cdr(message, _full(kind)))


def from_cdr(kind: str, data: bytes) -> Any:
    """Read a message of a kind as in `to_cdr`.

    Raises:
        SimError: the bytes are not such a message.
    """
    # A struct without fields has one hidden byte in ROS 2, which a Unity client leaves out.
    try:
        return _store().deserialize_cdr(data + b'\0' if len(data) == _HEADER_SIZE else data,
                                        _full(kind))
    except Exception as error:
        # rosbags lets struct, index and Unicode errors through for bytes it cannot read.
        raise SimError(f'{kind}: {len(data)} bytes are not such a message '
                       f'({type(error).__name__})') from None


def make(kind: str, /, **values: Any) -> Any:
    """Make a message object of a kind as in `to_cdr`."""
    return _store().types[_full(kind)](**values)


# -- from the city ---------------------------------------------------------------------------


def time_msg(stamp_ns: int) -> Any:
    """Return builtin_interfaces/Time."""
    return make('builtin_interfaces/Time', sec=stamp_ns // 1_000_000_000,
                nanosec=stamp_ns % 1_000_000_000)


def sample_msg(sample: Sample) -> Any:
    """Return urbanground/TrajectorySample."""
    values = sample._asdict()
    return make('urbanground/TrajectorySample', stamp=time_msg(values.pop('stamp_ns')), **values)


def event_msg(event: Event) -> Any:
    """Return urbanground/Event."""
    return make('urbanground/Event', stamp=time_msg(event.stamp_ns), sequence=event.sequence,
                kind=int(event.kind), text=event.text, x=event.x, y=event.y, z=event.z)


def people_msg(stamp_ns: int, people: People) -> Any:
    """Return urbanground/PedestrianArray."""
    point, quaternion, vector = (partial(make, f'geometry_msgs/{name}')
                                 for name in ('Point', 'Quaternion', 'Vector3'))
    pedestrians = []
    for person, (x, y, z), velocity, height, heading in zip(
            people.ids.tolist(), people.positions.tolist(), people.velocities.tolist(),
            people.heights.tolist(), people.headings.tolist(), strict=True):
        pose = make('geometry_msgs/Pose', position=point(x=x, y=y, z=z), orientation=quaternion(
            x=0.0, y=0.0, z=math.sin(heading / 2), w=math.cos(heading / 2)))
        pedestrians.append(make(
            'urbanground/Pedestrian', id=person, pose=pose, radius=RADIUS, height=height,
            velocity=vector(**dict(zip('xyz', velocity, strict=True)))))
    header = make('std_msgs/Header', stamp=time_msg(stamp_ns), frame_id=MAP_FRAME)
    return make('urbanground/PedestrianArray', header=header, pedestrians=pedestrians)


def state_msg(state: CityState) -> Any:
    """Return urbanground/CityState."""
    values = {field.name: getattr(state, field.name) for field in fields(state)}
    values['body'] = sample_msg(state.body)
    return make('urbanground/CityState', **values)


def image_msg(stamp_ns: int, jpeg: bytes) -> Any:
    """Return sensor_msgs/CompressedImage; without a picture its data and format are empty."""
    header = make('std_msgs/Header', stamp=time_msg(stamp_ns), frame_id=CAMERA_FRAME)
    return make('sensor_msgs/CompressedImage', header=header, format='jpeg' if jpeg else '',
                data=np.frombuffer(jpeg, np.uint8))


def depth_msg(stamp_ns: int, metres: np.ndarray) -> Any:
    """Return sensor_msgs/Image of encoding 32FC1 (REP-118)."""
    header = make('std_msgs/Header', stamp=time_msg(stamp_ns), frame_id=CAMERA_FRAME)
    height, width = metres.shape
    return make('sensor_msgs/Image', header=header, height=height, width=width, encoding='32FC1',
                is_bigendian=0, step=4 * width,
                data=np.frombuffer(metres.astype('<f4').tobytes(), np.uint8))


def scan_msg(stamp_ns: int, ranges: np.ndarray) -> Any:
    """Return sensor_msgs/LaserScan in the scanner's frame."""
    header = make('std_msgs/Header', stamp=time_msg(stamp_ns), frame_id=SCAN_FRAME)
    return make('sensor_msgs/LaserScan', header=header, angle_min=scan.FIRST,
                angle_max=scan.FIRST + scan.STEP * (len(ranges) - 1), angle_increment=scan.STEP,
                time_increment=0.0, scan_time=0.0, range_min=scan.NEAREST,
                range_max=scan.FARTHEST, ranges=ranges, intensities=np.zeros(0, np.float32))


def reply_cdr(service: str, reply: Reply) -> bytes:
    """Serialise the response of a service (`urbanground/CityAct` and its like) to a reply.

    It carries those parts of the reply that the service has a field for.
    """
    parts = {
        'accepted': lambda: reply.accepted,
        'message': lambda: reply.message,
        'state': lambda: state_msg(reply.state),
        'samples': lambda: [sample_msg(sample) for sample in reply.samples],
        'events': lambda: [event_msg(event) for event in reply.events],
        'image': lambda: image_msg(reply.state.body.stamp_ns, reply.image),
    }
    return _response(service, {name: part() for name, part in parts.items()
                               if name in _fields(f'{service}_Response')})


def load_cdr(reply: Reply, origin: GeoPoint) -> bytes:
    """Serialise the response of urbanground/CityLoad."""
    return _response('urbanground/CityLoad', {
        'accepted': reply.accepted, 'message': reply.message, **_origin(origin),
        'state': state_msg(reply.state),
        'events': [event_msg(event) for event in reply.events],
        'image': image_msg(reply.state.body.stamp_ns, reply.image)})


def refusal_cdr(service: str, message: str) -> bytes:
    """Serialise the response of a service that could not do it: not accepted, and why."""
    return _response(service, {'accepted': False, 'message': message})


def capabilities_cdr(known: Capabilities) -> bytes:
    """Serialise the response of urbanground/CityCapabilities."""
    values = {field.name: getattr(known, field.name) for field in fields(Capabilities)}
    origin = _origin(values.pop('origin'))
    return to_cdr('urbanground/CityCapabilities_Response', **values, **origin)


# -- to the city -----------------------------------------------------------------------------


def action_from(message: Any) -> Action:
    """Read an action, still to be validated, from urbanground/AgentAction."""
    return Action(**{field.name: getattr(message, field.name) for field in fields(Action)})


def scene_from(message: Any) -> Scene:
    """Read a scene from urbanground/CityScene."""
    values = {field.name: getattr(message, field.name) for field in fields(Scene)}
    values['closures'] = tuple(GeoLine(line.label, tuple(map(marker_from, line.points)))
                               for line in message.closures)
    return Scene(**values)


def placement_from(message: Any) -> Placement:
    """Read a placement from the request of urbanground/CityPlace or urbanground/CityLoad."""
    return Placement(GeoPoint(message.latitude, message.longitude, message.altitude), message.yaw)


def marker_from(message: Any) -> GeoPoint:
    """Read a marker from urbanground/GeoMarker."""
    return GeoPoint(message.latitude, message.longitude, message.altitude, message.label)


# -- types -----------------------------------------------------------------------------------


@cache
def _store() -> Typestore:
    store = get_typestore(Stores.ROS2_JAZZY)
    types = {}
    for name, text in _definitions():
        types.update(get_types_from_msg(text, name))
    store.register(types)
    return store


def _definitions() -> Iterator[tuple[str, str]]:
    """Yield names and definitions of our messages and of both halves of our services."""
    root = project_file('srv/CityAct.srv').parents[1]
    for path in sorted((root / 'msg').glob('*.msg')):
        yield f'{PACKAGE}/msg/{path.stem}', path.read_text(encoding='utf-8')
    for path in sorted((root / 'srv').glob('*.srv')):
        lines = path.read_text(encoding='utf-8').splitlines()
        middle = lines.index('---')
        yield f'{PACKAGE}/msg/{path.stem}_Request', '\n'.join(lines[:middle])
        yield f'{PACKAGE}/msg/{path.stem}_Response', '\n'.join(lines[middle + 1:])
    yield from _STD_SERVICES.items()


def _full(kind: str) -> str:
    package, name = kind.split('/')
    return f'{package}/msg/{name}'


def _fields(kind: str) -> tuple[str, ...]:
    return tuple(name for name, _ in _store().get_msgdef(_full(kind)).fields)


def _origin(origin: GeoPoint) -> dict[str, float]:
    return {'origin_latitude': origin.latitude, 'origin_longitude': origin.longitude,
            'origin_altitude': origin.altitude}


def _response(service: str, values: dict[str, Any]) -> bytes:
    """Serialise a response; a field without a value stays as ROS 2 initialises it."""
    kind = _full(f'{service}_Response')
    return bytes(_store().serialize_cdr(_blank(kind, **values), kind))


def _blank(kind: str, /, **values: Any) -> Any:
    """Make a message of zeros, empty text and empty sequences, but for some of its fields."""
    store = _store()
    detail: Any
    for name, (node, detail) in store.get_msgdef(kind).fields:
        if name in values:
            continue
        if node is Nodetype.NAME:
            values[name] = _blank(detail)
        elif node is Nodetype.BASE:
            base = detail[0]
            values[name] = '' if base == 'string' else False if base == 'bool' else 0
        else:
            element, item = detail[0]
            numbers = element is Nodetype.BASE and item[0] != 'string'
            values[name] = np.zeros(0, item[0]) if numbers else []
    return store.types[kind](**values)
