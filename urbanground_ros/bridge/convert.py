# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Convert between the package's messages and the dataclasses of the city contract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from dataclasses import fields
from typing import Any

from builtin_interfaces.msg import Time
from sensor_msgs.msg import CompressedImage
from urbanground.msg import AgentAction
from urbanground.msg import CityScene
from urbanground.msg import CityState as CityStateMsg
from urbanground.msg import GeoLine
from urbanground.msg import GeoMarker
from urbanground.msg import Observation as ObservationMsg
from urbanground.msg import Task as TaskMsg
from urbanground.msg import TrajectorySample
from urbanground.srv import CityCapabilities

from urbanground_ros.city import Action
from urbanground_ros.city import Capabilities
from urbanground_ros.city import CityState
from urbanground_ros.city import Event
from urbanground_ros.city import EventKind
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Reply
from urbanground_ros.city import Sample
from urbanground_ros.city import Scene
from urbanground_ros.episode import Observation
from urbanground_ros.episode import TaskBrief

_SAMPLE_FIELDS = Sample._fields[1:]
_STATE_FIELDS = [f.name for f in fields(CityState) if f.name != 'body']
_EVENT_FIELDS = ('sequence', 'text', 'x', 'y', 'z')
_OBSERVATION_FIELDS = ('episode', 'step', 'steps_left', 'mode', 'message', 'clock', 'progress',
                       'asking', 'finished')


def to_nanoseconds(stamp: Time) -> int:
    """Return a stamp in nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def to_time(nanoseconds: int) -> Time:
    """Return nanoseconds as a stamp."""
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def floats(**values: Any) -> dict[str, Any]:
    """Return values for message fields, whole numbers as the floats that the fields are."""
    return {k: float(v) if type(v) is int else v for k, v in values.items()}


def sample_from(msg: Any) -> Sample:
    """Read `urbanground/msg/TrajectorySample`."""
    return Sample(to_nanoseconds(msg.stamp), *(getattr(msg, name) for name in _SAMPLE_FIELDS))


def event_from(msg: Any) -> Event:
    """Read `urbanground/msg/Event`."""
    return Event(stamp_ns=to_nanoseconds(msg.stamp), kind=EventKind(msg.kind),
                 **{name: getattr(msg, name) for name in _EVENT_FIELDS})


def state_from(msg: Any) -> CityState:
    """Read `urbanground/msg/CityState`."""
    return CityState(body=sample_from(msg.body),
                     **{name: getattr(msg, name) for name in _STATE_FIELDS})


def sample_to(sample: Sample) -> TrajectorySample:
    """Return `urbanground/msg/TrajectorySample`."""
    return TrajectorySample(stamp=to_time(sample.stamp_ns),
                            **{name: getattr(sample, name) for name in _SAMPLE_FIELDS})


def state_to(state: CityState) -> CityStateMsg:
    """Return `urbanground/msg/CityState`."""
    return CityStateMsg(body=sample_to(state.body),
                        **{name: getattr(state, name) for name in _STATE_FIELDS})


def reply_from(msg: Any) -> Reply:
    """Read the response of a city's act, step, load, scene or place service."""
    return Reply(
        accepted=msg.accepted, message=msg.message, state=state_from(msg.state),
        samples=tuple(map(sample_from, getattr(msg, 'samples', ()))),
        events=tuple(map(event_from, getattr(msg, 'events', ()))),
        image=bytes(msg.image.data) if hasattr(msg, 'image') else b'')


def capabilities_from(msg: CityCapabilities.Response) -> Capabilities:
    """Read the response of a city's capabilities service."""
    names = [f.name for f in fields(Capabilities) if f.name != 'origin']
    return Capabilities(
        origin=GeoPoint(msg.origin_latitude, msg.origin_longitude, msg.origin_altitude),
        **{name: getattr(msg, name) for name in names})


def action_to(action: Action) -> AgentAction:
    """Return `urbanground/msg/AgentAction`."""
    return AgentAction(**floats(**asdict(action)))


def action_from(msg: AgentAction) -> Action:
    """Read `urbanground/msg/AgentAction`; it is not checked."""
    return Action(**{f.name: getattr(msg, f.name) for f in fields(Action)})


def scene_to(scene: Scene) -> CityScene:
    """Return `urbanground/msg/CityScene`."""
    closures = [GeoLine(label=line.label, points=markers_to(line.points))
                for line in scene.closures]
    return CityScene(weather=scene.weather, pedestrians=scene.pedestrians, closures=closures,
                     **floats(time_of_day=scene.time_of_day, time_scale=scene.time_scale))


def markers_to(points: Iterable[GeoPoint]) -> list[GeoMarker]:
    """Return places as `urbanground/msg/GeoMarker`."""
    return [GeoMarker(**floats(**asdict(point))) for point in points]


def brief_to(brief: TaskBrief) -> TaskMsg:
    """Return `urbanground/msg/Task`."""
    return TaskMsg(episode=brief.episode, kind=brief.kind, text=brief.text,
                   options=list(brief.options))


def brief_from(msg: TaskMsg) -> TaskBrief:
    """Read `urbanground/msg/Task`."""
    return TaskBrief(msg.episode, msg.kind, msg.text, tuple(msg.options))


def jpeg_to(data: bytes, nanoseconds: int = 0, frame: str = '') -> CompressedImage:
    """Return a JPEG as `sensor_msgs/CompressedImage`."""
    msg = CompressedImage(format='jpeg' if data else '')
    msg.header.stamp = to_time(nanoseconds)
    msg.header.frame_id = frame
    # Bytes go in about thirty times faster than a list.
    msg.data = data
    return msg


def observation_to(observation: Observation) -> ObservationMsg:
    """Return `urbanground/msg/Observation`."""
    return ObservationMsg(
        notices=list(observation.notices), picture=jpeg_to(observation.picture),
        **{name: getattr(observation, name) for name in _OBSERVATION_FIELDS})


def observation_from(msg: ObservationMsg) -> Observation:
    """Read `urbanground/msg/Observation`."""
    return Observation(notices=tuple(msg.notices), picture=bytes(msg.picture.data),
                       **{name: getattr(msg, name) for name in _OBSERVATION_FIELDS})
