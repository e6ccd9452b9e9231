# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Episode rules: one structured action a turn, limits, arrival, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from urbanground_ros.city import Action
from urbanground_ros.city import ActionError
from urbanground_ros.city import City
from urbanground_ros.city import CityError
from urbanground_ros.city import CityState
from urbanground_ros.city import Reply
from urbanground_ros.city import Sample
from urbanground_ros.episode.context import RegionContext
from urbanground_ros.episode.observation import Observation
from urbanground_ros.episode.observation import TaskBrief
from urbanground_ros.scoring import ARRIVAL_RADIUS
from urbanground_ros.scoring import distance_to_goal
from urbanground_ros.scoring import episode_id
from urbanground_ros.scoring import EpisodeRecorder
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.scoring import StepRecord
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import TaskError

#: The kinds of task that these rules can run.
RUNNABLE = (Kind.SHORT_RANGE, Kind.LONG_RANGE)


def check_runnable(task: Task) -> None:
    """Check that there are rules for a task.

    Raises:
        TaskError: it is of a kind that cannot be run yet.
    """
    if task.kind not in RUNNABLE:
        raise TaskError(f'task {task.id}: {task.kind.label} cannot be run yet, expected '
                        f'{" or ".join(kind.label for kind in RUNNABLE)}')


class EpisodeSink(Protocol):
    """Who is told of an episode as it happens: a recorder here, the scoring node on ROS."""

    def begin(self, task: Task, agent: str, track: str, settings: Settings,
              reply: Reply) -> None:
        """Tell that the body was placed at the task's start."""
        ...

    def step(self, step: StepRecord, reply: Reply) -> None:
        """Tell that an action was executed (or refused)."""
        ...

    def end(self, outcome: Outcome, reason: str) -> None:
        """Tell how the episode ended."""
        ...


class RecorderSink:
    """A sink that keeps the episode in this process."""

    def __init__(self, context: RegionContext) -> None:
        """Record episodes in a region."""
        self._context = context
        self.recorder: EpisodeRecorder | None = None
        self.outcome = Outcome.UNDEFINED
        self.reason = ''

    def begin(self, task: Task, agent: str, track: str, settings: Settings,
              reply: Reply) -> None:
        """Begin a new recording."""
        self.recorder = EpisodeRecorder(task, agent, track, settings, self._context.network)
        self.recorder.add(reply.samples, reply.events)

    def step(self, step: StepRecord, reply: Reply) -> None:
        """Add an action and its trajectory."""
        assert self.recorder is not None
        self.recorder.add(reply.samples, reply.events)
        self.recorder.steps.append(step)

    def end(self, outcome: Outcome, reason: str) -> None:
        """Keep the outcome for the record."""
        self.outcome, self.reason = outcome, reason


class Episode:
    """One attempt at one task on one city: a state machine that an agent's door drives.

    Call `begin`, then `act` (vision track) or `drive` (robotics track) until `finished`.
    Times are simulated; the world stands still between the calls.
    """

    def __init__(self, city: City, context: RegionContext, task: Task, agent: str, track: str,
                 settings: Settings, sink: EpisodeSink, *, want_image: bool = True) -> None:
        """Prepare an episode; nothing moves before `begin`."""
        self.id = episode_id(task, agent, track, settings)
        self.task = task
        self.agent = agent
        self.track = track
        self.settings = settings
        self.state: CityState | None = None
        self.outcome = Outcome.UNDEFINED
        self.reason = ''
        self.steps = 0
        self.elapsed = 0.0
        self._city = city
        self._frame = context.network.frame
        self._sink = sink
        self._want_image = want_image

    @property
    def brief(self) -> TaskBrief:
        """What the agent is told of the task."""
        return TaskBrief(self.id, self.task.kind.label, self.task.description)

    @property
    def finished(self) -> bool:
        """Whether the episode has ended."""
        return self.outcome is not Outcome.UNDEFINED

    def begin(self) -> Observation:
        """Put the body at the task's start in a fresh world, and look.

        Raises:
            CityError: the city refuses the place or went away.
        """
        reply = self._city.load(
            self.settings.region, self.settings.seed ^ self.task.seed, self.task.start,
            self.task.scene(0), self.task.markers, want_image=self._want_image)
        if not reply.accepted:
            raise CityError(f'task {self.task.id}: the city refuses its start: {reply.message}')
        self.state = reply.state
        self._sink.begin(self.task, self.agent, self.track, self.settings, reply)
        return self._observe('', reply.image)

    def act(self, action: Action) -> Observation:
        """Take the agent's next action; one that is refused costs its step and says why.

        Raises:
            CityError: the city went away; the episode has then ended as a city error.
        """
        self._require_running()
        self.steps += 1
        if action.name == 'terminate':
            assert self.state is not None
            reply = Reply(True, 'the episode is ended by the agent', self.state)
        else:
            try:
                action.validate()
            except ActionError as error:
                assert self.state is not None
                reply = Reply(False, str(error), self.state)
            else:
                reply = self._call(lambda: self._city.act(action, want_image=self._want_image))
        self._advance(action.to_dict(), reply)
        if not self.finished:
            if action.name == 'terminate':
                self.finish(Outcome.FAILED, 'ended by the agent before arrival')
            elif self.steps >= self.settings.max_steps:
                self.finish(Outcome.TRUNCATED, f'{self.settings.max_steps} steps taken')
        return self._observe(reply.message, reply.image)

    def drive(self, linear_x: float, linear_y: float, angular_z: float, seconds: float) -> Reply:
        """Advance the robotics track under one body velocity (m/s, rad/s) for some seconds.

        Raises:
            CityError: the city went away or refuses continuous motion.
        """
        self._require_running()
        reply = self._call(lambda: self._city.step(linear_x, linear_y, angular_z, seconds))
        if not reply.accepted:
            self.finish(Outcome.CITY_ERROR, reply.message)
            raise CityError(f'the city refuses to step: {reply.message}')
        self.steps += 1
        self._advance({'name': 'step', 'linear_x': linear_x, 'linear_y': linear_y,
                       'angular_z': angular_z, 'seconds': seconds}, reply)
        if not self.finished and self.elapsed >= self.settings.max_seconds - 1e-9:
            self.finish(Outcome.TRUNCATED,
                        f'{self.settings.max_seconds:g} s of commanded motion')
        return reply

    def finish(self, outcome: Outcome, reason: str) -> None:
        """End the episode, once; a later call changes nothing."""
        if not self.finished:
            self.outcome, self.reason = outcome, reason
            self._sink.end(outcome, reason)

    def _require_running(self) -> None:
        if self.state is None or self.finished:
            raise RuntimeError('the episode is not running')

    def _call(self, request: Callable[[], Reply]) -> Reply:
        try:
            return request()
        except CityError as error:
            self.finish(Outcome.CITY_ERROR, str(error))
            raise

    def _advance(self, action: dict[str, object], reply: Reply) -> None:
        assert self.state is not None
        before = self.state.body
        self.state = reply.state
        body = self.state.body
        seconds = (body.elapsed_ns - before.elapsed_ns) * 1e-9
        self.elapsed += seconds
        self._sink.step(StepRecord(action, reply.message, self.state.mode, seconds,
                                   body.sequence), reply)
        if _was_meddled_with(before, reply):
            self.finish(Outcome.VIOLATED, 'the body was moved by another than this episode: '
                        'its placement, loading or stepping is for operators')
        if distance_to_goal(self._frame, self.task.destination,
                            body.x, body.y, body.z) <= ARRIVAL_RADIUS:
            self.finish(Outcome.SUCCEEDED, 'arrived')

    def _observe(self, message: str, picture: bytes) -> Observation:
        assert self.state is not None
        return Observation(
            episode=self.id, step=self.steps, steps_left=self.settings.max_steps - self.steps,
            mode=self.state.mode, message=message, finished=self.finished, picture=picture)


def _was_meddled_with(before: Sample, reply: Reply) -> bool:
    """Tell whether the world was moved or loaded between an episode's own calls."""
    after = reply.state.body
    gap = bool(reply.samples) and reply.samples[0].sequence != before.sequence + 1
    loaded = after.stamp_ns - after.elapsed_ns != before.stamp_ns - before.elapsed_ns
    return gap or loaded or after.teleports != before.teleports
