# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The scoring node: trajectories and events in, scores and records out."""

from __future__ import annotations

from collections.abc import Sequence
import json
import math
from pathlib import Path
import time
from typing import Any

from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from urbanground.msg import EpisodeEvent
from urbanground.msg import Event as EventMsg
from urbanground.msg import Metric
from urbanground.msg import Score
from urbanground.msg import TrajectorySample

from urbanground_ros.bridge.convert import event_from
from urbanground_ros.bridge.convert import sample_from
from urbanground_ros.bridge.convert import to_nanoseconds
from urbanground_ros.bridge.convert import to_time
from urbanground_ros.bridge.qos import latched
from urbanground_ros.bridge.qos import reliable
from urbanground_ros.bridge.spin import run
from urbanground_ros.city import Event
from urbanground_ros.city import Sample
from urbanground_ros.episode import Regions
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.files import make_folder
from urbanground_ros.parameters import declare
from urbanground_ros.parameters import Parameter
from urbanground_ros.scoring import DEFINITIONS
from urbanground_ros.scoring import EpisodeRecorder
from urbanground_ros.scoring import NO_RESULTS
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.scoring import StepRecord
from urbanground_ros.scoring import write_record
from urbanground_ros.tasks import Task

PARAMETERS = (
    Parameter('records', '', 'folder that receives one record an episode, none if empty'),
    Parameter('settle_timeout', 10.0, 'wall seconds to wait for samples that are still under way '
              'when an episode ends', 0.1, 600.0),
    Parameter('live_every', 5, 'actions between two messages on score/live', 1, 1000),
)


class ScoringNode(Node):
    """Collects each episode from its topics and scores it by the same code as in process.

    Samples, events and the episode's own messages travel on topics of their own: nothing is
    assumed of their order across topics. A load begins a new trajectory (sequence 0);
    `score/begun` says that an episode's beginning and first sample have come; an episode ends
    when every sample and event that its last message counts has come.
    """

    def __init__(self, **kwargs: Any) -> None:
        """Subscribe.

        Raises:
            UrbanGroundError: a bad parameter, or a folder that cannot be written.
        """
        super().__init__('scoring', **kwargs)
        p = declare(self, PARAMETERS)
        self._folder = Path(p['records']) if p['records'] else None
        if self._folder is not None:
            make_folder(self._folder)
        self._settle = p['settle_timeout']
        self._live_every = p['live_every']
        self._regions = Regions()
        self._samples: list[Sample] = []
        self._events: list[Event] = []
        self._recorder: EpisodeRecorder | None = None
        self._begin: EpisodeEvent | None = None
        self._acknowledged = False
        self._end: tuple[EpisodeEvent, float] | None = None
        self._sequence = 0
        self._begun = self.create_publisher(Score, 'score/begun', reliable(10))
        self._live = self.create_publisher(Score, 'score/live', reliable(10))
        self._final = self.create_publisher(Score, 'score/final', latched(10))
        self.create_subscription(TrajectorySample, 'trajectory/sample', self._take_sample,
                                 reliable(1000))
        self.create_subscription(EventMsg, 'events', self._take_event, reliable(100))
        self.create_subscription(EpisodeEvent, 'episode/events', self._take_episode,
                                 reliable(1000))
        self.create_timer(0.05, self._check, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _take_sample(self, msg: TrajectorySample) -> None:
        sample = sample_from(msg)
        if sample.sequence == 0:
            self._samples = []
            self._events = [e for e in self._events if e.stamp_ns >= sample.stamp_ns]
        self._samples.append(sample)
        self._acknowledge()
        self._check()

    def _take_event(self, msg: EventMsg) -> None:
        self._events.append(event_from(msg))
        self._check()

    def _take_episode(self, msg: EpisodeEvent) -> None:
        if msg.kind == EpisodeEvent.BEGIN:
            try:
                self._start(msg)
            except (UrbanGroundError, ValueError, TypeError) as error:
                self.get_logger().error(f'episode {msg.episode} cannot be scored: {error}')
                self._recorder = None
        elif self._recorder is None or msg.episode != self._recorder.id:
            self.get_logger().warning(f'episode {msg.episode}: its beginning was not heard')
        elif msg.kind == EpisodeEvent.STEP:
            self._sequence = msg.sequence
            self._recorder.steps.append(StepRecord(
                json.loads(msg.action), msg.message, msg.mode, msg.seconds, msg.sequence))
            if len(self._recorder.steps) % self._live_every == 0 \
                    and self._live.get_subscription_count() and self._own_samples():
                self._recorder.samples = self._own_samples()
                self._recorder.events = self._events
                self._live.publish(self._score(self._recorder.metrics(), Outcome.UNDEFINED, ''))
        else:
            self._end = msg, time.monotonic() + self._settle
            self._check()

    def _start(self, msg: EpisodeEvent) -> None:
        task = Task.from_json(json.loads(msg.task), f'episode {msg.episode}')
        settings = Settings(**json.loads(msg.settings))
        self._recorder = EpisodeRecorder(task, msg.agent, msg.track, settings,
                                         self._regions[settings.region].network)
        self._begin, self._end = msg, None
        self._sequence = msg.sequence
        self._acknowledged = False
        self._acknowledge()

    def _acknowledge(self) -> None:
        """Tell the episode node once that the running episode is followed."""
        if self._recorder is not None and not self._acknowledged and self._own_samples():
            self._acknowledged = True
            self._begun.publish(Score(episode=self._recorder.id))

    def _own_samples(self) -> list[Sample]:
        """Return the trajectory if it is this episode's: its load came before or after BEGIN."""
        assert self._begin is not None
        begun = to_nanoseconds(self._begin.stamp)
        whole = [s for s in self._samples if s.sequence <= self._sequence]
        return whole if whole and whole[0].sequence == 0 and self._samples[0].stamp_ns <= begun \
            and any(s.stamp_ns == begun for s in whole[:self._begin.sequence + 1]) else []

    def _check(self) -> None:
        """Score the episode that has ended, once all that belongs to it has come."""
        if self._end is None or self._recorder is None:
            return
        end, deadline = self._end
        late = time.monotonic() > deadline
        if not late and (len(self._samples) <= self._sequence or len(self._events) < end.events):
            return
        samples = self._own_samples()
        complete = len(samples) == self._sequence + 1 and len(self._events) >= end.events
        if not complete and not late:
            return
        self._end = None
        outcome, reason = Outcome(end.outcome), end.reason
        if not complete:
            outcome = Outcome.CITY_ERROR
            reason = (f'{len(samples)} of {self._sequence + 1} trajectory samples and '
                      f'{len(self._events)} of {end.events} events arrived')
        recorder = self._recorder
        recorder.samples, recorder.events = samples, self._events[:end.events]
        last = samples[-1].sequence if samples else -1
        recorder.steps = [s for s in recorder.steps if s.sequence <= last]
        try:
            if self._folder is not None and outcome not in NO_RESULTS:
                write_record(self._folder, recorder.record(outcome, reason))
        except UrbanGroundError as error:
            self.get_logger().error(str(error))
            outcome, reason = Outcome.CITY_ERROR, str(error)
        self._final.publish(self._score(recorder.metrics(outcome), outcome, reason))
        self._recorder = None

    def _score(self, metrics: dict[str, float], outcome: Outcome, reason: str) -> Score:
        assert self._recorder is not None
        score = Score(episode=self._recorder.id, task=self._recorder.task.id,
                      agent=self._recorder.agent, outcome=int(outcome), reason=reason)
        if self._samples:
            score.stamp = to_time(self._samples[-1].stamp_ns)
        score.metrics = [
            Metric(name=name, value=value if math.isfinite(value) else math.nan,
                   unit=DEFINITIONS[name].unit, definition=name)
            for name, value in metrics.items()]
        return score


def main(ros_args: Sequence[str]) -> int:
    """Run the scoring node until it is told to stop."""
    return run(ScoringNode, SingleThreadedExecutor, ros_args)
