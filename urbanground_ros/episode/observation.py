# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What an agent perceives: nothing here tells a pose, a distance or a route."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TaskBrief:
    """What an agent is told of its task; `options` has four texts for questions, else none."""

    episode: str
    kind: str
    text: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Observation:
    """What an agent perceives after an action.

    `asking` says that nothing is left to do but to answer the question. `picture` is a JPEG,
    empty without pictures.
    """

    episode: str
    step: int
    steps_left: int
    mode: str
    message: str = ''
    notices: tuple[str, ...] = ()
    clock: str = ''
    progress: str = ''
    asking: bool = False
    finished: bool = False
    picture: bytes = b''
