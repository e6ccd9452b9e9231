# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a task is, and the released JSON format of it."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import math
import re
from typing import Any

from urbanground_ros.city import GeoLine
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.errors import show
from urbanground_ros.tasks.clock import find_times
from urbanground_ros.tasks.clock import LEAD
from urbanground_ros.tasks.clock import show_time
from urbanground_ros.tasks.errors import TaskError
from urbanground_ros.tasks.fields import Fields
from urbanground_ros.tasks.kinds import Condition
from urbanground_ros.tasks.kinds import Family
from urbanground_ros.tasks.kinds import IDENTITIES
from urbanground_ros.tasks.kinds import Kind

#: Answers that a question offers.
OPTIONS = 4
#: Where this project keeps what the released format has no field for.
EXTRA = 'urbanground'

_STARTS = {
    Family.QUESTION: 'qaStartPoint',
    Family.GOAL: 'startPoint',
    Family.SEARCH: 'searchOrigin',
    Family.SCHEDULE: 'scheduleStart',
    Family.VISITS: 'multiRouteStart',
}
# The released editor writes one shape for all kinds: what another kind uses means nothing.
_FIELDS = (
    'id', 'type', 'description', 'sourceTaskId', *_STARTS.values(), 'exploreStart', 'endPoint',
    'qaOptions', 'qaAnswerIndex', 'restrictedZones', 'closureDelayMinutes',
    'exploreDurationMinutes', 'poiCategory', 'schedule', 'multiRouteTargets', EXTRA,
)
_EXTRA_FIELDS = (
    'region', 'seed', 'route_length', 'evidence', 'verification', 'deadlines', 'clock',
)
_UNSET = GeoPoint(0.0, 0.0, 0.0)
_DAY = 24 * 3600.0


@dataclass(frozen=True)
class Stop:
    """A place to visit.

    `deadline` in seconds since local midnight, of a schedule only; None where only the order is
    known.
    """

    point: GeoPoint
    kind: str = ''
    category: str = ''
    note: str = ''
    deadline: float | None = None


@dataclass(frozen=True)
class Task:
    """One task of any kind; what its kind does not use stays empty.

    Attributes:
        id: Unique among the tasks of a run.
        kind: What is asked.
        description: The words that the agent is told.
        start: Where the body is put.
        goal: Where to go; of questions, where the answer is seen, if that is known.
        options: Four answers of a question.
        answer: Index of the right one.
        closures: Lines that may not be crossed.
        category: What sort of place is looked for.
        minutes: How long an exploration is meant to take.
        stops: Places to visit: in order, each by its deadline, or in any order.
        clock: When a schedule starts, seconds since local midnight.
        condition: Weather and time of day.
        source: Id of the task that this is a variant of.
        region: Name or path of a region, '' for the one of the evaluation.
        seed: Of the world, combined with that of the evaluation.
        route_length: Metres along the network, NaN if unknown.
        evidence: From what the task was made.
        verification: Proof that it can be done.

    From `region` on, these are this project's additions, which a reader of the released format
    ignores.
    """

    id: str
    kind: Kind
    description: str
    start: Placement
    goal: GeoPoint | None = None
    options: tuple[str, ...] = ()
    answer: int | None = None
    closures: tuple[GeoLine, ...] = ()
    category: str = ''
    minutes: float = 0.0
    stops: tuple[Stop, ...] = ()
    clock: float | None = None
    condition: Condition = Condition.CLEAR
    source: str = ''
    region: str = ''
    seed: int = 0
    route_length: float = math.nan
    evidence: Mapping[str, Any] = field(default_factory=dict)
    verification: Mapping[str, Any] = field(default_factory=dict)

    @property
    def destination(self) -> GeoPoint:
        """The goal, of a task that needs one.

        Raises:
            TaskError: it has none.
        """
        if self.goal is None:
            raise TaskError(
                f'task {self.id}: a {self.kind.label} task has no goal, expected one with a goal'
            )
        return self.goal

    @property
    def markers(self) -> tuple[GeoPoint, ...]:
        """The places that are marked on the agent's map."""
        if self.kind.family is Family.GOAL and self.kind is not Kind.IMPLICIT_INTENT:
            return (self.destination,)
        return tuple(stop.point for stop in self.stops)

    def scene(self, pedestrians: int) -> Scene:
        """Return the world at the start; `pedestrians` is how many people, where there are any.

        Time runs where the task has a clock.
        """
        timed = self.clock is not None
        return Scene(
            weather=self.condition.weather,
            time_of_day=self.condition.time_of_day if self.clock is None else self.clock,
            time_scale=float(timed),
            pedestrians=pedestrians if self.kind.walks_among_pedestrians else 0,
            closures=() if self.kind.discloses_closures_later else self.closures,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the task in the released format, with the extra block."""
        kind = self.kind
        values: dict[str, Any] = {
            'id': self.id, 'type': kind.number, 'description': self.description,
        }
        if self.source:
            values['sourceTaskId'] = self.source
        if kind is Kind.IMPLICIT_INTENT:
            values['startPoint'] = _point_json(_UNSET)
        values[_start_field(kind)] = _point_json(self.start.point, self.start.yaw)
        if self.goal is not None or kind.family is Family.SEARCH:
            values['endPoint'] = _point_json(self.goal or _UNSET)
        if kind.family is Family.QUESTION:
            values['qaOptions'] = [{'text': text} for text in self.options]
            values['qaAnswerIndex'] = self.answer
        if kind.has_closures:
            values['restrictedZones'] = [
                {'label': line.label, 'vertices': [_point_json(point) for point in line.points]}
                for line in self.closures
            ]
        if kind is Kind.DYNAMIC_CLOSURE:
            # Present and unused: when a closure is told is a rule, the same for all.
            values['closureDelayMinutes'] = 0.5
        if kind is Kind.IMPLICIT_INTENT:
            values['exploreDurationMinutes'] = self.minutes
        if kind in (Kind.IMPLICIT_INTENT, Kind.PLACE_TYPE):
            values['poiCategory'] = self.category
        if kind.family is Family.SCHEDULE:
            values['schedule'] = [{'target': _point_json(stop.point)} for stop in self.stops]
        if kind.family is Family.VISITS:
            values['multiRouteTargets'] = [
                {'kind': stop.kind, 'point': _point_json(stop.point),
                 'poiCategory': stop.category, 'note': stop.note}
                for stop in self.stops
            ]
        return {**values, EXTRA: self._extra_json()}

    def _extra_json(self) -> dict[str, Any]:
        extra: dict[str, Any] = {'region': self.region, 'seed': self.seed}
        if math.isfinite(self.route_length):
            extra['route_length'] = self.route_length
        if self.evidence:
            extra['evidence'] = dict(self.evidence)
        if self.verification:
            extra['verification'] = dict(self.verification)
        if self.kind.family is Family.SCHEDULE:
            if all(stop.deadline is not None for stop in self.stops):
                extra['deadlines'] = [stop.deadline for stop in self.stops]
            extra['clock'] = self.clock
        return extra

    @classmethod
    def from_json(cls, data: Any, where: str) -> Task:
        """Read one task, optionally wrapped in `{"task": …}`.

        Raises:
            TaskError: naming the place, the field, its value and what was expected.
        """
        if isinstance(data, Mapping) and set(data) == {'task'}:
            data = data['task']
        if not isinstance(data, Mapping):
            raise TaskError(f'{where}: a task is {type(data).__name__}, expected an object')
        task_id = check_id(data.get('id'), where)
        where = f'{where}: task {task_id}'
        kind, condition = _identify(task_id, data.get('type'), where)
        fields = Fields(data, where, _FIELDS)
        extra = Fields(data.get(EXTRA, {}), f'{where}: {EXTRA}', _EXTRA_FIELDS)
        return cls(
            id=task_id,
            kind=kind,
            description=fields.text('description', needed=True),
            start=fields.placement(_start_field(kind)),
            condition=condition,
            source=fields.text('sourceTaskId'),
            region=extra.text('region'),
            seed=extra.whole('seed', 2**63 - 1, 0),
            route_length=extra.number('route_length', 0, 1e7, math.nan),
            evidence=extra.mapping('evidence'),
            verification=extra.mapping('verification'),
            **_read_payload(kind, fields, extra),
        )


def check_id(task_id: Any, where: str) -> str:
    """Return a task's id, which becomes part of the names of files.

    Raises:
        TaskError: it cannot be.
    """
    if not isinstance(task_id, str) or not re.fullmatch(
        r'[A-Za-z0-9][A-Za-z0-9_.-]{0,63}', task_id
    ):
        raise TaskError(
            f'{where}: id is {show(task_id)}, expected up to 64 letters, digits, "_", "." or "-"'
        )
    return task_id


def _identify(task_id: str, number: Any, where: str) -> tuple[Kind, Condition]:
    """Tell a task by the letters that its id begins with, and its type number."""
    prefix = re.split('[^A-Za-z]', task_id, maxsplit=1)[0]
    if prefix not in IDENTITIES:
        raise TaskError(
            f'{where}: id begins with {prefix!r}, expected one of {", ".join(IDENTITIES)}'
        )
    numbers = IDENTITIES[prefix]
    if isinstance(number, bool) or not isinstance(number, int) or number not in numbers:
        raise TaskError(
            f'{where}: type is {show(number)}, expected '
            f'{" or ".join(map(str, numbers))} with an id that begins with {prefix}'
        )
    return numbers[number]


def _start_field(kind: Kind) -> str:
    return 'exploreStart' if kind is Kind.IMPLICIT_INTENT else _STARTS[kind.family]


def _read_payload(kind: Kind, fields: Fields, extra: Fields) -> dict[str, Any]:
    """Return the attributes of a task that only its kind has."""
    if kind.family is Family.QUESTION:
        return {
            'options': _read_options(fields),
            'answer': fields.whole('qaAnswerIndex', OPTIONS - 1),
            'goal': fields.optional_point('endPoint'),
        }
    if kind.family is Family.SEARCH:
        return {'category': fields.text('poiCategory', needed=True)}
    if kind.family is Family.SCHEDULE:
        return _read_schedule(fields, extra)
    if kind.family is Family.VISITS:
        items = fields.items('multiRouteTargets', ('kind', 'point', 'poiCategory', 'note'))
        return {'stops': tuple(_read_stop(item) for item in items)}
    payload: dict[str, Any] = {'goal': fields.placement('endPoint').point}
    if kind.has_closures:
        payload['closures'] = tuple(
            GeoLine(zone.text('label'), zone.points('vertices', 2))
            for zone in fields.items('restrictedZones', ('label', 'vertices'))
        )
    if kind is Kind.IMPLICIT_INTENT:
        payload['minutes'] = fields.number('exploreDurationMinutes', 0, 1440)
        payload['category'] = fields.text('poiCategory')
    return payload


def _read_options(fields: Fields) -> tuple[str, ...]:
    items = fields.items('qaOptions', ('text',), OPTIONS)
    options = tuple(item.text('text', needed=True) for item in items)
    if len(options) != OPTIONS or len({text.strip() for text in options}) != OPTIONS:
        raise fields.error('qaOptions', f'{OPTIONS} different texts')
    return options


def _read_stop(item: Fields) -> Stop:
    return Stop(
        item.placement('point').point,
        item.word('kind'),
        item.text('poiCategory'),
        item.text('note'),
    )


def _read_schedule(fields: Fields, extra: Fields) -> dict[str, Any]:
    """Read stops, their deadlines and the clock; what is not given is found in the description.

    Raises:
        TaskError: there are not as many given deadlines as stops, or they are not in order.
    """
    points = [item.placement('target').point for item in fields.items('schedule', ('target',))]
    told = find_times(fields.text('description'))
    deadlines: Sequence[float | None] = told.appointments
    if 'deadlines' in extra:
        deadlines = extra.numbers('deadlines', len(points), _DAY)
    elif len(deadlines) != len(points):
        # Its words name others, or none that can be found: the order is all that is known.
        deadlines = [None] * len(points)
    known = [deadline for deadline in deadlines if deadline is not None]
    if known != sorted(known):
        raise TaskError(
            f'{fields.where}: times of the schedule are {", ".join(map(show_time, known[:10]))}, '
            f'expected them in order, in the description or as {EXTRA}.deadlines'
        )
    if 'clock' in extra:
        clock = extra.number('clock', 0, _DAY - 1)
    elif told.now is not None:
        clock = told.now
    else:
        clock = max(known[0] - LEAD, 0.0) if known else Condition.CLEAR.time_of_day
    return {
        'stops': tuple(
            Stop(point, deadline=deadline)
            for point, deadline in zip(points, deadlines, strict=True)
        ),
        'clock': clock,
    }


def _point_json(point: GeoPoint, yaw: float = 0.0) -> dict[str, Any]:
    height = {'height': point.altitude} if math.isfinite(point.altitude) else {}
    return {
        'lat': point.latitude,
        'lon': point.longitude,
        **height,
        'yaw': yaw,
        'label': point.label,
    }
