# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""How an episode ends: one numbered table for messages, records and documentation."""

from enum import IntEnum


class Outcome(IntEnum):
    """Outcome codes of `urbanground/msg/Outcome`; 50 to 80 are unsuccessful, shown apart."""

    UNDEFINED = 0
    SUCCEEDED = 10
    FAILED = 20
    VIOLATED = 30
    TRUNCATED = 40
    AGENT_ERROR = 50
    CITY_ERROR = 60
    TIMED_OUT = 70
    CANCELLED = 80

    @property
    def label(self) -> str:
        """Return the name as it is printed."""
        return self.name.lower().replace('_', ' ')


#: The agent broke down or fell silent: a result, but seldom the one that was asked for.
FAILURES = frozenset({Outcome.AGENT_ERROR, Outcome.TIMED_OUT})
#: Nothing that the agent did: such an episode is to be run again, and never counted.
NO_RESULTS = frozenset({Outcome.UNDEFINED, Outcome.CITY_ERROR, Outcome.CANCELLED})
