# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The episode node: runs episodes in the world domain, and is an agent's only door."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
import json
from pathlib import Path
import threading
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionServer
from rclpy.action import CancelResponse
from rclpy.action import GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import MultiThreadedExecutor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from sensor_msgs.msg import NavSatFix
from urbanground.action import Act
from urbanground.action import RunEpisode
from urbanground.msg import CityState
from urbanground.msg import EpisodeEvent
from urbanground.msg import Observation as ObservationMsg
from urbanground.msg import Outcome as OutcomeMsg
from urbanground.msg import Score
from urbanground.msg import Task as TaskMsg
from urbanground.srv import AbortEpisode
from urbanground.srv import Answer
from urbanground.srv import ListTasks
from urbanground.srv import LoadTask

from urbanground_ros.bridge import commands
from urbanground_ros.bridge.commands import CommandSource
from urbanground_ros.bridge.convert import action_from
from urbanground_ros.bridge.convert import brief_to
from urbanground_ros.bridge.convert import observation_to
from urbanground_ros.bridge.convert import state_to
from urbanground_ros.bridge.convert import to_time
from urbanground_ros.bridge.qos import latched
from urbanground_ros.bridge.qos import reliable
from urbanground_ros.bridge.ros_city import RosCity
from urbanground_ros.bridge.spin import initialized
from urbanground_ros.bridge.spin import run
from urbanground_ros.bridge.spin import spinning
from urbanground_ros.city import ActionError
from urbanground_ros.city import CityError
from urbanground_ros.city import Reply
from urbanground_ros.episode import check_drivable
from urbanground_ros.episode import Episode
from urbanground_ros.episode import Observation
from urbanground_ros.episode import RegionContext
from urbanground_ros.episode import Regions
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.parameters import declare
from urbanground_ros.parameters import Parameter
from urbanground_ros.scoring import episode_id
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.scoring import StepRecord
from urbanground_ros.tasks import read_tasks
from urbanground_ros.tasks import Task

PARAMETERS = (
    Parameter('tasks', '', 'task file or folder'),
    Parameter('region', '', 'region of tasks that name none: a district or a region file'),
    Parameter(
        'agent_domain',
        0,
        'DDS domain of the door, where an agent lives; it must differ from '
        'the domain of the world',
        0,
        232,
    ),
    Parameter('want_image', True, 'give the agent pictures'),
    Parameter('connect_timeout', 60.0, 'wall seconds to wait for a city', 1.0, 3600.0),
    Parameter(
        'agent_timeout', 120.0, 'wall seconds that an agent or stack may be silent', 1.0, 86400.0
    ),
    Parameter(
        'step_period', 0.1, 'robotics track: simulated seconds between two commands', 0.02, 1.0
    ),
    Parameter(
        'command_timeout',
        5.0,
        'robotics track: wall seconds to wait for the command of a '
        'step; the world stands still meanwhile',
        0.01,
        60.0,
    ),
    *commands.PARAMETERS,
)


#: How an episode may be ended from outside; success and failure are the rules' alone.
ABORTS = (Outcome.AGENT_ERROR, Outcome.CITY_ERROR, Outcome.TIMED_OUT, Outcome.CANCELLED)


class Door:
    """What an agent of the vision track sees of the world: task, observation, act, answer.

    It lives in a DDS domain of its own, without parameter services or logs, so that nothing
    else can be read there.
    """

    def __init__(self, domain: int, act: Callable[[Any], Observation | None],
                 answer: Callable[[int], Observation | None]) -> None:
        """Open the domain.

        Args:
            domain: Where agents live.
            act: Executes an action message; returns None between episodes.
            answer: Takes the index of an option, as `Episode.answer` does; None between episodes.
        """
        self._act = act
        self._take_answer = answer
        context = Context()
        self._stack = ExitStack()
        self._stack.enter_context(initialized(context, domain_id=domain))
        self._node = Node(
            'door',
            context=context,
            enable_rosout=False,
            start_parameter_services=False,
            parameter_overrides=[RosParameter('start_type_description_service', value=False)],
        )
        self._task = self._node.create_publisher(TaskMsg, 'task', latched())
        self._observation = self._node.create_publisher(ObservationMsg, 'observation', latched())
        self._server = ActionServer(
            self._node, Act, 'act', self._execute, cancel_callback=lambda _: CancelResponse.REJECT
        )
        self._node.create_service(Answer, 'answer', self._answer)
        self._stack.enter_context(spinning(self._node, SingleThreadedExecutor(context=context)))

    def show(self, observation: Observation) -> None:
        """Publish an observation."""
        self._observation.publish(observation_to(observation))

    def open(self, episode: Episode, observation: Observation) -> None:
        """Begin an episode: the observation first, so that whoever sees the task has it."""
        self.show(observation)
        self._task.publish(brief_to(episode.brief))

    def _execute(self, goal: Any) -> Act.Result:
        observation = self._act(goal.request.action)
        if observation is None:
            goal.abort()
            return Act.Result(outcome=OutcomeMsg.FAILED, message='no episode is running')
        self.show(observation)
        goal.succeed()
        return Act.Result(
            outcome=OutcomeMsg.SUCCEEDED,
            message=observation.message,
            observation=observation_to(observation),
        )

    def _answer(self, request: Answer.Request, response: Answer.Response) -> Answer.Response:
        try:
            observation = self._take_answer(request.option)
        except ActionError as error:
            response.message = str(error)
            return response
        response.accepted = observation is not None
        response.message = 'no episode is running' if observation is None else observation.message
        if observation is not None:
            self.show(observation)
        return response

    def close(self) -> None:
        """Leave the domain."""
        self._stack.close()


class RosSink:
    """Tells the scoring node of an episode by `episode/events`."""

    def __init__(self, node: Node) -> None:
        """Advertise."""
        # Latched for privileged agents that join late; the scoring node wants no history.
        self._publisher = node.create_publisher(EpisodeEvent, 'episode/events', latched(1000))
        self._state = node.create_publisher(CityState, 'episode/state', latched())
        self._episode = ''
        self._events = 0

    def begin(self, task: Task, agent: str, track: str, settings: Settings, reply: Reply) -> None:
        """Tell that the body was placed at the task's start."""
        self._episode = episode_id(task, agent, track, settings)
        self._events = len(reply.events)
        self._publish(
            EpisodeEvent.BEGIN,
            reply,
            agent=agent,
            track=track,
            task=json.dumps(task.to_json()),
            settings=json.dumps(asdict(settings)),
        )

    def step(self, step: StepRecord, reply: Reply) -> None:
        """Tell that an action was executed (or refused)."""
        self._events += len(reply.events)
        self._publish(
            EpisodeEvent.STEP,
            reply,
            action=json.dumps(step.action),
            message=step.message,
            mode=step.mode,
            seconds=step.seconds,
        )

    def end(self, outcome: Outcome, reason: str) -> None:
        """Tell how the episode ended."""
        self._publisher.publish(
            EpisodeEvent(
                kind=EpisodeEvent.END,
                episode=self._episode,
                events=self._events,
                outcome=int(outcome),
                reason=reason,
            )
        )

    def _publish(self, kind: int, reply: Reply, **values: Any) -> None:
        body = reply.state.body
        self._state.publish(state_to(reply.state))
        self._publisher.publish(
            EpisodeEvent(
                kind=kind,
                episode=self._episode,
                stamp=to_time(body.stamp_ns),
                sequence=body.sequence,
                events=self._events,
                **values,
            )
        )


class EpisodeNode(Node):
    """Serves `run_episode`, `load_task`, `list_tasks` and `abort_episode`."""

    #: Wall seconds for the scoring node to finish a record.
    SCORE_TIMEOUT = 60.0
    #: Wall seconds for the scoring node to hear of an episode before it is begun again.
    BEGIN_TIMEOUT = 5.0
    #: Wall seconds for subscribers to confirm a goal.
    ACK_TIMEOUT = 2.0
    #: Wall seconds for a running episode to break off when the node ends.
    END_TIMEOUT = 2.0

    def __init__(self, **kwargs: Any) -> None:
        """Read the tasks and open the door.

        Raises:
            UrbanGroundError: a bad parameter or task file.
        """
        self._door: Door | None = None
        self._ending = False
        super().__init__('episode', **kwargs)
        self._p = p = declare(self, PARAMETERS)
        if not p['tasks']:
            raise UrbanGroundError("node episode: parameter tasks is '', expected a task file")
        if p['agent_domain'] == self.context.get_domain_id():
            raise UrbanGroundError(
                f'node episode: agent_domain is {p["agent_domain"]}, which is the domain of the '
                'world; expected another one, or an agent could read its own pose'
            )
        self._tasks = {task.id: task for task in read_tasks(Path(p['tasks']))}
        self._regions = Regions()
        group = ReentrantCallbackGroup()
        # What answers many times a second has a node and a thread of its own: an executor of
        # several threads costs more for each message than all the rest of a step.
        self._client = Node('episode_client', context=self.context)
        self._city = RosCity(self._client, p['connect_timeout'])
        self._sink = RosSink(self)
        self._commands = CommandSource(
            self._client, stamped=p['stamped_cmd_vel'], silence=p['cmd_vel_silence']
        )
        self._goal = self.create_publisher(PoseStamped, 'goal', latched())
        self._goal_fix = self.create_publisher(NavSatFix, 'goal/fix', latched())
        self._scores: dict[str, Score] = {}
        self._followed = ''  # the episode that the scoring node follows
        self._scored = threading.Condition()
        self.create_subscription(
            Score, 'score/final', self._take_score, latched(10), callback_group=group
        )
        self.create_subscription(
            Score, 'score/begun', self._take_begun, reliable(10), callback_group=group
        )
        # Guards the episode: its agent, its watchdog and its runner live in threads of their own.
        self._lock = threading.RLock()
        self._episode: Episode | None = None
        self._heard = 0.0
        self._busy = threading.Lock()
        self.create_service(ListTasks, 'list_tasks', self._list, callback_group=group)
        self.create_service(LoadTask, 'load_task', self._load, callback_group=group)
        self.create_service(AbortEpisode, 'abort_episode', self._abort, callback_group=group)
        self._server = ActionServer(
            self,
            RunEpisode,
            'run_episode',
            self._run,
            callback_group=group,
            goal_callback=self._accept,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )
        self._stack = ExitStack()
        self._stack.enter_context(
            spinning(self._client, SingleThreadedExecutor(context=self.context))
        )
        self._door = Door(p['agent_domain'], self._act, self._answer)

    # -- services -------------------------------------------------------------------------

    def _list(self, request: ListTasks.Request, response: ListTasks.Response) -> Any:
        tasks = [t for t in self._tasks.values() if t.id.startswith(request.prefix)]
        response.ids = [t.id for t in tasks]
        response.kinds = [t.kind.label for t in tasks]
        return response

    def _load(self, request: LoadTask.Request, response: LoadTask.Response) -> Any:
        if not self._busy.acquire(blocking=False):
            response.accepted, response.message = False, 'an episode is running'
            return response
        try:
            task = self._task(request.task)
            context = self._context_of(task)
            self._show_goal(task, context)
            reply = self._city.load(
                context.name, request.seed ^ task.seed, task.start,
                task.scene(Settings.pedestrians), task.markers
            )
            response.accepted, response.message = reply.accepted, reply.message
        except UrbanGroundError as error:
            response.accepted, response.message = False, str(error)
        finally:
            self._busy.release()
        return response

    def _abort(self, request: AbortEpisode.Request, response: AbortEpisode.Response) -> Any:
        if request.outcome not in ABORTS:
            response.accepted = False
            response.message = (
                f'outcome is {request.outcome}, expected one of '
                f'{", ".join(f"{int(code)} ({code.label})" for code in ABORTS)}'
            )
            return response
        with self._lock:
            response.accepted = self._episode is not None and not self._episode.finished
            if self._episode is not None and response.accepted:
                self._episode.finish(Outcome(request.outcome), request.reason)
            else:
                response.message = 'no episode is running'
        return response

    def _task(self, task: str) -> Task:
        if task not in self._tasks:
            raise UrbanGroundError(
                f'task {task!r} is unknown, {self._p["tasks"]} has '
                f'{len(self._tasks)} tasks such as {next(iter(self._tasks))}'
            )
        return self._tasks[task]

    def _context_of(self, task: Task) -> RegionContext:
        return self._regions[task.region or self._p['region']]

    def _take_score(self, score: Score) -> None:
        with self._scored:
            self._scores[score.episode] = score
            self._scored.notify_all()

    def _take_begun(self, score: Score) -> None:
        with self._scored:
            self._followed = score.episode
            self._scored.notify_all()

    # -- episodes -------------------------------------------------------------------------

    def _accept(self, request: RunEpisode.Goal) -> GoalResponse:
        if self._ending:
            return GoalResponse.REJECT
        if not self._busy.acquire(blocking=False):
            self.get_logger().warning('run_episode: an episode is running, another is rejected')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _run(self, goal: Any) -> RunEpisode.Result:
        try:
            request = goal.request
            drive = {'vision': self._watch, 'robotics': self._drive}.get(request.track)
            if drive is None:
                raise UrbanGroundError(f'track is {request.track!r}, expected vision or robotics')
            task = self._task(request.task)
            if request.track == 'robotics':
                check_drivable(task)
            context = self._context_of(task)
            settings = Settings(
                region=context.name,
                region_digest=context.digest,
                seed=request.seed,
                max_steps=request.max_steps or Settings.max_steps,
                max_seconds=request.max_seconds or Settings.max_seconds,
            )
            episode = Episode(
                self._city,
                context,
                task,
                request.agent,
                request.track,
                settings,
                self._sink,
                want_image=self._p['want_image'] and request.track == 'vision',
            )
            with self._scored:
                self._scores.pop(episode.id, None)
                self._followed = ''
            self._city.wait_until_connected()
            # Before the first odometry of the episode: a stack then answers it for this goal.
            self._show_goal(task, context)
            observation = self._begin(episode)
            with self._lock:
                self._episode = episode
                self._heard = time.monotonic()
            drive(goal, episode, observation)
            score = self._wait_for_score(episode.id)
            # What could not be scored whole is no result, whatever the rules saw.
            result = RunEpisode.Result(outcome=score.outcome, reason=score.reason, score=score)
            if episode.outcome is Outcome.CANCELLED and goal.is_cancel_requested:
                goal.canceled()
            else:
                goal.succeed()
            return result
        except UrbanGroundError as error:
            self._complain(error)
            goal.abort()
            code = Outcome.CITY_ERROR if isinstance(error, CityError) else Outcome.UNDEFINED
            return RunEpisode.Result(outcome=int(code), reason=str(error))
        finally:
            with self._lock:
                self._episode = None
            self._busy.release()

    def _begin(self, episode: Episode) -> Observation:
        """Begin an episode, again until the scoring node follows it.

        What is published before the scoring node is discovered never reaches it.
        """
        deadline = time.monotonic() + self.SCORE_TIMEOUT
        while True:
            observation = episode.begin()
            if self._wait_for_scoring(lambda: self._followed == episode.id, self.BEGIN_TIMEOUT):
                return observation
            if time.monotonic() > deadline:
                raise UrbanGroundError(
                    f'episode {episode.id}: nobody follows it after {self.SCORE_TIMEOUT:g} s, is '
                    'the scoring node up?'
                )

    def _wait_for_score(self, episode: str) -> Score:
        if not self._wait_for_scoring(lambda: episode in self._scores, self.SCORE_TIMEOUT):
            raise UrbanGroundError(
                f'episode {episode}: no score after {self.SCORE_TIMEOUT:g} s, is the scoring '
                'node up?'
            )
        with self._scored:
            return self._scores.pop(episode)

    def _wait_for_scoring(self, ready: Callable[[], bool], timeout: float) -> bool:
        with self._scored:
            heard = self._scored.wait_for(lambda: self._ending or ready(), timeout)
        self._check_running()
        return heard

    def _show_goal(self, task: Task, context: RegionContext) -> None:
        """Publish the goal of a task that has one; its stamp is 0, for it holds at any time."""
        if task.goal is None:
            return
        goal = task.goal
        point = context.to_map(goal)
        pose = PoseStamped()
        pose.header.frame_id = 'map'
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = map(float, point)
        pose.pose.orientation.w = 1.0
        fix = NavSatFix(
            latitude=goal.latitude, longitude=goal.longitude, altitude=goal.altitude
        )
        fix.header.frame_id = 'earth'
        for publisher, message in ((self._goal, pose), (self._goal_fix, fix)):
            publisher.publish(message)
            publisher.wait_for_all_acked(Duration(seconds=self.ACK_TIMEOUT))

    def _stopped(self, goal: Any, episode: Episode, silent: float) -> bool:
        """End an episode that was cancelled or whose agent is silent; say whether it is over."""
        self._check_running()
        with self._lock:
            if goal.is_cancel_requested:
                episode.finish(Outcome.CANCELLED, 'cancelled by the runner')
            elif silent > self._p['agent_timeout']:
                hint = self._commands.other_types() if episode.track == 'robotics' else ''
                episode.finish(
                    Outcome.TIMED_OUT,
                    f'no word of the agent for {self._p["agent_timeout"]:g} s'
                    + (f': {hint}' if hint else ''),
                )
            return episode.finished

    def _check_running(self) -> None:
        if self._ending:
            raise UrbanGroundError('the episode node ends: the episode is broken off, unscored')

    def _complain(self, error: UrbanGroundError) -> None:
        if not self._ending:
            self.get_logger().error(str(error))

    # -- vision ---------------------------------------------------------------------------

    def _watch(self, goal: Any, episode: Episode, observation: Observation) -> None:
        """Leave the episode to the agent behind the door, and watch over it."""
        assert self._door is not None
        self._door.open(episode, observation)
        shown = -1
        # The lock is held while an action runs, so an agent that waits for one is not silent.
        while not self._stopped(goal, episode, time.monotonic() - self._heard):
            if episode.steps != shown:
                shown = episode.steps
                goal.publish_feedback(RunEpisode.Feedback(step=shown, elapsed=episode.elapsed))
            time.sleep(0.005)

    def _act(self, message: Any) -> Observation | None:
        return self._take_turn(lambda episode: episode.act(action_from(message)))

    def _answer(self, option: int) -> Observation | None:
        return self._take_turn(lambda episode: episode.answer(option))

    def _take_turn(self, turn: Callable[[Episode], Observation]) -> Observation | None:
        with self._lock:
            episode = self._episode
            if episode is None or episode.finished or episode.track != 'vision':
                return None
            try:
                return turn(episode)
            except CityError as error:
                self._complain(error)
                return None
            finally:
                self._heard = time.monotonic()

    # -- robotics -------------------------------------------------------------------------

    def _drive(self, goal: Any, episode: Episode, observation: Observation) -> None:
        """Step the world under the stack's commands; it stands still until each has come."""
        period = self._p['step_period']
        heard = time.monotonic()
        while not self._stopped(goal, episode, time.monotonic() - heard):
            assert episode.state is not None
            now = episode.state.body.stamp_ns
            if episode.steps == 0:
                self._commands.reset(now)
            fresh = self._commands.wait(now, self._p['command_timeout'])
            if fresh:
                heard = time.monotonic()
            command = self._commands.at(now)
            with self._lock:
                if episode.finished:
                    return
                try:
                    if episode.steps == 0 and not fresh:
                        # A stack that joined late missed the only odometry there was, and
                        # nothing moves before its first command: begin again for it to hear.
                        episode.begin()
                    else:
                        episode.drive(
                            command.linear_x, command.linear_y, command.angular_z, period
                        )
                except CityError as error:
                    self._complain(error)
                    return
            if episode.steps % 10 == 0:
                goal.publish_feedback(
                    RunEpisode.Feedback(step=episode.steps, elapsed=episode.elapsed)
                )

    def destroy_node(self) -> None:
        """Break off a running episode, close the door, then the node."""
        if self._door is not None:
            with self._scored:
                self._ending = True
                self._scored.notify_all()
            self._commands.close()
            self._city.close()
            self._busy.acquire(timeout=self.END_TIMEOUT)
            self._door.close()
            self._stack.close()
        super().destroy_node()


def main(ros_args: Sequence[str]) -> int:
    """Run the episode node until it is told to stop."""
    return run(EpisodeNode, lambda: MultiThreadedExecutor(6), ros_args)
