# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Run an agent behind the door: its own domain, its own process."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
import json
import queue
import sys
import threading
from typing import Any

from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from urbanground.action import Act
from urbanground.msg import CityState as CityStateMsg
from urbanground.msg import EpisodeEvent
from urbanground.msg import Observation as ObservationMsg
from urbanground.msg import Task as TaskMsg
from urbanground.srv import Answer

from urbanground_ros.agents import Agent
from urbanground_ros.agents import make_agent
from urbanground_ros.agents import World
from urbanground_ros.bridge.asking import ask_until_answered
from urbanground_ros.bridge.asking import PendingGoal
from urbanground_ros.bridge.convert import action_to
from urbanground_ros.bridge.convert import brief_from
from urbanground_ros.bridge.convert import observation_from
from urbanground_ros.bridge.convert import state_from
from urbanground_ros.bridge.convert import to_nanoseconds
from urbanground_ros.bridge.qos import latched
from urbanground_ros.bridge.spin import initialized
from urbanground_ros.bridge.spin import spinning
from urbanground_ros.city import Action
from urbanground_ros.city import CityState
from urbanground_ros.episode import Observation
from urbanground_ros.episode import Regions
from urbanground_ros.episode import TaskBrief
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.interrupts import interrupts
from urbanground_ros.tasks import Task


class PrivilegedView:
    """What a privileged agent reads in the world domain: the goal, the state after each step."""

    #: Wall seconds for a state that is known to be under way.
    TIMEOUT = 30.0

    def __init__(self, context: Context, region: str) -> None:
        """Subscribe in the world domain; read the region's network."""
        self._regions = Regions()
        self._region = region
        _ = self._regions[region]
        self._changed = threading.Condition()
        self._states: dict[int, CityState] = {}
        self._stamps: dict[tuple[str, int], int] = {}
        self._steps = 0
        self._tasks: dict[str, str] = {}
        self.node = Node('privileged_agent', context=context)
        self.node.create_subscription(CityStateMsg, 'episode/state', self._take_state, latched(10))
        self.node.create_subscription(EpisodeEvent, 'episode/events', self._take_event,
                                      latched(1000))

    def _take_state(self, msg: CityStateMsg) -> None:
        state = state_from(msg)
        with self._changed:
            self._states[state.body.stamp_ns] = state
            while len(self._states) > 200:
                del self._states[next(iter(self._states))]
            self._changed.notify_all()

    def _take_event(self, msg: EpisodeEvent) -> None:
        with self._changed:
            if msg.kind == EpisodeEvent.BEGIN:
                self._steps = 0
                self._stamps = {}
                self._tasks = {msg.episode: msg.task}
            elif msg.kind == EpisodeEvent.STEP:
                self._steps += 1
            else:
                return
            self._stamps[msg.episode, self._steps] = to_nanoseconds(msg.stamp)
            self._changed.notify_all()

    def _wait(self, ready: Any, what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(ready, self.TIMEOUT):
                raise UrbanGroundError(f'{what} did not come within {self.TIMEOUT:g} s')

    def state(self, episode: str, step: int) -> CityState:
        """Return the city's state after a step of an episode."""
        self._wait(lambda: self._stamps.get((episode, step)) in self._states,
                   f'the state after step {step} of episode {episode}')
        return self._states[self._stamps[episode, step]]

    def world(self, episode: str) -> World:
        """Return the network, and the goal of an episode that has just begun."""
        self._wait(lambda: episode in self._tasks, f'the beginning of episode {episode}')
        task = Task.from_json(json.loads(self._tasks[episode]), f'episode {episode}')
        context = self._regions[task.region or self._region]
        return World.of(task, context)


class AgentRunner:
    """Plays every episode that the door offers, one structured action a turn."""

    #: Wall seconds for an answer to be taken.
    ANSWER_TIMEOUT = 30.0

    def __init__(self, agent: Agent, seed: int, context: Context,
                 view: PrivilegedView | None) -> None:
        """Join the agent's domain by a context."""
        self._agent = agent
        self._seed = seed
        self._view = view
        self._briefs: queue.Queue[TaskBrief] = queue.Queue()
        self._latest: dict[str, Observation] = {}
        self._seen = threading.Condition()
        self.node = Node('agent', context=context, enable_rosout=False,
                         start_parameter_services=False)
        self.node.create_subscription(TaskMsg, 'task', lambda m: self._briefs.put(brief_from(m)),
                                      latched())
        self.node.create_subscription(ObservationMsg, 'observation', self._observe, latched())
        self._act = ActionClient(self.node, Act, 'act')
        self._answer = self.node.create_client(Answer, 'answer')

    def _observe(self, msg: ObservationMsg) -> None:
        with self._seen:
            self._latest = {msg.episode: observation_from(msg)}
            self._seen.notify_all()

    def run(self) -> None:
        """Play for ever."""
        while True:
            brief = self._briefs.get()
            observation = self._wait_for_first(brief.episode)
            if observation is None:
                continue
            world = self._view.world(brief.episode) if self._view else None
            self._agent.begin(brief, self._seed, world)
            while not observation.finished:
                state = self._view.state(brief.episode, observation.step) if self._view else None
                if observation.asking:
                    following = self._give_answer(self._agent.answer(observation), observation)
                else:
                    following = self._take_step(self._agent.act(observation, state), observation)
                if following is None:
                    break
                observation = following

    def _take_step(self, action: Action, observation: Observation) -> Observation | None:
        """Execute an action and return what is seen then; None when the episode is over."""
        while True:
            self._act.wait_for_server()
            goal = PendingGoal(self._act, Act.Goal(action=action_to(action)))
            goal.wait()
            if goal.result is not None:
                seen = observation_from(goal.result.observation)
                return seen if seen.episode else None
            # The door knows of no such goal: if nothing has happened, it never came there.
            with self._seen:
                latest = self._latest.get(observation.episode)
            if latest is None or latest.step != observation.step:
                return latest

    def _give_answer(self, option: int, observation: Observation) -> Observation | None:
        """Answer the question; return what is seen then, None when the episode is over.

        Raises:
            UrbanGroundError: the door takes none.
        """
        response = ask_until_answered(self._answer, Answer.Request(option=option),
                                      self.ANSWER_TIMEOUT, lambda: False)
        with self._seen:
            # One that was asked again finds the episode over.
            if not self._seen.wait_for(lambda: self._over(observation), self.ANSWER_TIMEOUT):
                raise UrbanGroundError('the door takes no answer'
                                       + (f': {response.message}' if response else ''))
            return self._latest.get(observation.episode)

    def _over(self, observation: Observation) -> bool:
        latest = self._latest.get(observation.episode)
        return latest is None or latest.finished

    def _wait_for_first(self, episode: str) -> Observation | None:
        """Return an episode's first observation; a door amid an episode shows none."""
        with self._seen:
            self._seen.wait_for(lambda: episode in self._latest, 5.0)
            latest = self._latest.get(episode)
        return latest if latest is not None and latest.step == 0 else None


def main(name: str, agent_domain: int, region: str, seed: int,
         ros_args: Sequence[str] = ()) -> int:
    """Run an agent by name until it is told to stop; bad input is one line and status 1."""
    try:
        with interrupts(), ExitStack() as stack:
            agent = make_agent(name)
            inside = Context()
            stack.enter_context(initialized(inside, domain_id=agent_domain))
            view = None
            if agent.privileged:
                outside = Context()
                stack.enter_context(initialized(outside, ros_args))
                view = PrivilegedView(outside, region)
                stack.enter_context(spinning(view.node, SingleThreadedExecutor(context=outside)))
            runner = AgentRunner(agent, seed, inside, view)
            stack.enter_context(spinning(runner.node, SingleThreadedExecutor(context=inside)))
            runner.run()
    except KeyboardInterrupt:
        return 0
    except UrbanGroundError as error:
        print(f'error: agent {name}: {error}', file=sys.stderr, flush=True)
        return 1
    return 0
