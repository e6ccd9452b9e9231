# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Answers arrive though responses are lost, and nothing is executed twice."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from action_msgs.msg import GoalStatus
from action_msgs.msg import GoalStatusArray
from action_msgs.srv import CancelGoal
import pytest
from rclpy.action import ActionClient
from rclpy.action import ActionServer
from rclpy.action import GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger
from urbanground.action import Act

from urbanground_ros.bridge import asking
from urbanground_ros.bridge.asking import ask_until_answered
from urbanground_ros.bridge.asking import PendingGoal
from urbanground_ros.bridge.qos import latched


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask again soon."""
    monkeypatch.setattr(asking, '_FIRST', 0.1)


def act_client(spin: Callable[..., Node]) -> ActionClient:
    """Returns a client of `act` on a node of its own, once the server is there."""
    made: list[ActionClient] = []
    spin('client', prepare=lambda node: made.append(ActionClient(node, Act, 'act')))
    assert made[0].wait_for_server(10.0)
    return made[0]


class HalfDeafServer:
    """An action server by its parts, whose answers to goals (and first results) are lost."""

    def __init__(self, node: Node, knows: bool = True, lost_results: int = 0) -> None:
        self.goals: list[Any] = []
        self._knows = knows
        self._lost = lost_results
        kinds = Act.Impl
        for kind, name, callback in (
            (kinds.SendGoalService, 'send_goal', self._take_goal),
            (kinds.GetResultService, 'get_result', self._give_result),
            (CancelGoal, 'cancel_goal', lambda _, response: response),
        ):
            node.create_service(
                kind, f'act/_action/{name}', callback, callback_group=ReentrantCallbackGroup()
            )
        node.create_publisher(kinds.FeedbackMessage, 'act/_action/feedback', 10)
        node.create_publisher(GoalStatusArray, 'act/_action/status', latched())

    async def _take_goal(self, request: Any, _: Any) -> Any:
        self.goals.append(request.goal_id)
        await Future()

    async def _give_result(self, request: Any, response: Any) -> Any:
        if self._lost > 0:
            self._lost -= 1
            await Future()
        if self._knows and request.goal_id in self.goals:
            response.status = GoalStatus.STATUS_SUCCEEDED
            response.result.message = 'walked'
        return response


@pytest.mark.parametrize('lost_results', [0, 2])
def test_a_goal_whose_acceptance_is_lost_has_its_result_and_is_sent_once(
    spin: Callable[..., Node], lost_results: int
) -> None:
    server = HalfDeafServer(spin('half_deaf'), lost_results=lost_results)
    client = act_client(spin)
    goal = PendingGoal(client, Act.Goal())
    assert goal.wait(20.0)
    assert goal.result.message == 'walked'
    assert len(server.goals) == 1


def test_a_goal_that_its_server_never_knows_was_rejected(spin: Callable[..., Node]) -> None:
    server = HalfDeafServer(spin('half_deaf'), knows=False)
    client = act_client(spin)
    goal = PendingGoal(client, Act.Goal())
    assert goal.wait(30.0)
    assert goal.result is None
    assert len(server.goals) == 1


@pytest.mark.parametrize('accept', [True, False])
def test_a_slow_goal_is_asked_for_again_without_harm(
    spin: Callable[..., Node], accept: bool
) -> None:
    runs = []

    def execute(goal: Any) -> Act.Result:
        runs.append(goal)
        time.sleep(1.0)
        goal.succeed()
        return Act.Result(message='at last')

    def serve(node: Node) -> None:
        ActionServer(
            node,
            Act,
            'act',
            execute,
            goal_callback=lambda _: GoalResponse.ACCEPT if accept else GoalResponse.REJECT,
        )

    spin('server', prepare=serve)
    client = act_client(spin)
    goal = PendingGoal(client, Act.Goal())
    assert accept != goal.wait(0.3)
    assert goal.wait(20.0)
    assert (goal.result.message if goal.result else None) == ('at last' if accept else None)
    assert len(runs) == accept


def test_a_question_is_asked_until_its_answer_is_not_lost(
    spin: Callable[..., Node], ros: Node
) -> None:
    asked = []

    async def answer(_: Any, response: Any) -> Any:
        asked.append(True)
        if len(asked) < 3:
            await Future()
        response.message = f'asked {len(asked)} times'
        return response

    spin('server').create_service(
        Trigger, 'question', answer, callback_group=ReentrantCallbackGroup()
    )
    client = ros.create_client(Trigger, 'question')
    assert ask_until_answered(client, Trigger.Request(), 20.0).message == 'asked 3 times'


def test_a_question_that_nobody_answers_ends(ros: Node) -> None:
    client = ros.create_client(Trigger, 'nobody')
    assert ask_until_answered(client, Trigger.Request(), 0.3) is None
    assert ask_until_answered(client, Trigger.Request(), 60.0, lambda: True) is None
