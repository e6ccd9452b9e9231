# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Let an agent play a task in this process."""

from __future__ import annotations

from typing import Any

from urbanground_ros.agents.base import Agent
from urbanground_ros.agents.base import World
from urbanground_ros.city import City
from urbanground_ros.city import CityError
from urbanground_ros.episode import Episode
from urbanground_ros.episode import RecorderSink
from urbanground_ros.episode import RegionContext
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.tasks import Task


def play(city: City, context: RegionContext, task: Task, agent: Agent,
         settings: Settings, *, want_image: bool = False) -> dict[str, Any]:
    """Play one task with one agent, and return the episode's record."""
    sink = RecorderSink(context)
    episode = Episode(city, context, task, agent.name, 'vision', settings, sink,
                      want_image=want_image)
    try:
        observation = episode.begin()
        world = World.of(task, context) if agent.privileged else None
        agent.begin(episode.brief, settings.seed, world)
        while not episode.finished:
            state = episode.state if agent.privileged else None
            observation = episode.answer(agent.answer(observation)) if observation.asking \
                else episode.act(agent.act(observation, state))
    except CityError as error:
        if sink.recorder is None:
            raise
        episode.finish(Outcome.CITY_ERROR, str(error))
    assert sink.recorder is not None
    return sink.recorder.record(sink.outcome, sink.reason)
