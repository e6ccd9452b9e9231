# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Episode rules: one structured action a turn, limits, arrival, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

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
from urbanground_ros.episode.quests import Ending
from urbanground_ros.episode.quests import make_quest
from urbanground_ros.scoring import crossings
from urbanground_ros.scoring import episode_id
from urbanground_ros.scoring import EpisodeRecorder
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.scoring import StepRecord
from urbanground_ros.scoring import to_lines
from urbanground_ros.tasks import Family
from urbanground_ros.tasks import show_time
from urbanground_ros.tasks import Task
from urbanground_ros.tasks import TaskError

_RAIN_NOTICE = 'It is raining. The time that you spend without shelter is measured.'


def check_drivable(task: Task) -> None:
    """Check that a task can be given to a navigation stack: it leads to one known place.

    Raises:
        TaskError: it does not.
    """
    if not task.markers or task.kind.family is not Family.GOAL:
        raise TaskError(f'task {task.id}: kind is {task.kind.label}, expected one that gives a '
                        'navigation stack a place to go to')


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

    Call `begin`, then `act` (vision track) or `drive` (robotics track) until `finished`. A
    question is answered by `answer`, at any time; once it is `asking`, nothing else is done.
    Times are simulated; the world stands still between the calls.
    """

    def __init__(self, city: City, context: RegionContext, task: Task, agent: str, track: str,
                 settings: Settings, sink: EpisodeSink, *, want_image: bool = True) -> None:
        """Prepare an episode; nothing moves before `begin`.

        Raises:
            UrbanGroundError: the region lacks what the task needs.
        """
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
        self.asking = False
        self._sink = sink
        self._want_image = want_image
        self._quest = make_quest(task, context)
        self._closures = to_lines(task.closures, context.network.frame)
        self._disclosed = False
        self._notices: tuple[str, ...] = ()

    @property
    def brief(self) -> TaskBrief:
        """What the agent is told of the task."""
        return TaskBrief(self.id, self.task.kind.label, self.task.description, self.task.options)

    @property
    def finished(self) -> bool:
        """Whether the episode has ended."""
        return self.outcome is not Outcome.UNDEFINED

    def begin(self) -> Observation:
        """Put the body at the task's start in a fresh world, and look.

        Raises:
            CityError: the city refuses the place or went away.
        """
        scene = self.task.scene(self.settings.pedestrians)
        reply = self._city.load(
            self.settings.region, self.settings.seed ^ self.task.seed, self.task.start, scene,
            self.task.markers, want_image=self._want_image)
        if not reply.accepted:
            raise CityError(f'task {self.task.id}: the city refuses its start: {reply.message}')
        self.state = reply.state
        self._disclosed = bool(scene.closures)
        self._notices = self._closed() if self._disclosed else ()
        if reply.state.is_raining:
            self._notices += (_RAIN_NOTICE,)
        self._sink.begin(self.task, self.agent, self.track, self.settings, reply)
        return self._observe('', reply.image)

    def act(self, action: Action) -> Observation:
        """Take the agent's next action; one that is refused costs its step and says why.

        Raises:
            CityError: the city went away; the episode has then ended as a city error.
        """
        self._require_running()
        if self.asking:
            return self._observe('the question awaits its answer', b'')
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
                self._stop(Ending(Outcome.FAILED, 'ended by the agent, too early'))
            elif self.steps >= self.settings.max_steps:
                self._stop(Ending(Outcome.TRUNCATED, f'{self.settings.max_steps} steps taken'))
        return self._observe(reply.message, reply.image)

    def answer(self, option: int) -> Observation:
        """Take the final answer to the task's question: the index of an option.

        Raises:
            ActionError: the task asks no question, or has no such option; nothing has happened.
        """
        self._require_running()
        options = self.task.options
        if self.task.kind.family is not Family.QUESTION:
            raise ActionError(f'answer: a {self.task.kind.label} task asks no question')
        if not 0 <= option < len(options):
            raise ActionError(f'answer: option is {option}, expected 0 to {len(options) - 1}')
        assert self.state is not None
        reply = Reply(True, 'answered', self.state)
        self._sink.step(StepRecord({'name': 'answer', 'option': option}, reply.message,
                                   self.state.mode, 0.0, self.state.body.sequence), reply)
        if option == self.task.answer:
            self.finish(Outcome.SUCCEEDED, 'the right answer')
        else:
            self.finish(Outcome.FAILED, 'a wrong answer')
        return self._observe(reply.message, b'')

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
            self._stop(Ending(Outcome.TRUNCATED,
                              f'{self.settings.max_seconds:g} s of commanded motion'))
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
        violated = self._disclosed and crossings(
            np.array([(s.x, s.y, s.z) for s in (before, *reply.samples)]), self._closures).any()
        self._notices = ()
        if self.task.kind.discloses_closures_later and not self._disclosed \
                and self.elapsed >= self.settings.closure_delay:
            reply = replace(reply, events=(*reply.events, *self._disclose().events))
        self._sink.step(StepRecord(action, reply.message, self.state.mode, seconds,
                                   body.sequence), reply)
        if _was_meddled_with(before, reply):
            self.finish(Outcome.VIOLATED, 'the body was moved by another than this episode: '
                        'its placement, loading or stepping is for operators')
        if violated:
            self.finish(Outcome.VIOLATED, 'went through a closure')
        ending = self._quest.follow(reply)
        if ending is not None:
            self.finish(*ending)

    def _disclose(self) -> Reply:
        """Close the ways; what the agent does from its next turn on may not cross them."""
        scene = replace(self.task.scene(self.settings.pedestrians), closures=self.task.closures)
        reply = self._call(lambda: self._city.set_scene(scene))
        if not reply.accepted:
            self.finish(Outcome.CITY_ERROR, reply.message)
            raise CityError(f'the city refuses to close a way: {reply.message}')
        self._disclosed = True
        self._notices = self._closed()
        return reply

    def _closed(self) -> tuple[str, ...]:
        return tuple(f'Closed: {line.label or "a way"}. It is marked on the map and must not be '
                     'crossed.' for line in self.task.closures)

    def _stop(self, ending: Ending) -> None:
        """End as told, unless there is an answer to wait for or the place counts."""
        assert self.state is not None
        if self.task.kind.family is Family.QUESTION:
            self.asking = True
        else:
            self.finish(*(self._quest.settle(self.state) or ending))

    def _observe(self, message: str, picture: bytes) -> Observation:
        state = self.state
        assert state is not None
        return Observation(
            episode=self.id, step=self.steps, steps_left=self.settings.max_steps - self.steps,
            mode=state.mode, message=message, notices=self._notices,
            clock='' if self.task.clock is None else
            f'{show_time(state.time_of_day)}:{int(state.time_of_day % 60):02d}',
            progress=self._quest.progress, asking=self.asking and not self.finished,
            finished=self.finished, picture=picture)


def _was_meddled_with(before: Sample, reply: Reply) -> bool:
    """Tell whether the world was moved or loaded between an episode's own calls."""
    after = reply.state.body
    gap = bool(reply.samples) and reply.samples[0].sequence != before.sequence + 1
    loaded = after.stamp_ns - after.elapsed_ns != before.stamp_ns - before.elapsed_ns
    return gap or loaded or after.teleports != before.teleports
