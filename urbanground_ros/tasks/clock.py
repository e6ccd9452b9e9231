# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Times of day in the words of a task."""

from __future__ import annotations

from dataclasses import dataclass
import re

#: Seconds between the start of a schedule that states no time and its first appointment.
LEAD = 45 * 60.0

_HOURS = ('one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven',
          'twelve')
_TIME = re.compile(
    r'(?:(?<![\d:.])(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d))?(?![\d:])'
    rf'|\b(?P<word>{"|".join(_HOURS)})\b)'
    r"(?P<full>\s*o['’]clock\b)?"
    r'(?:\s*(?:(?P<early>a\.?m\b\.?|midnight\b|in the morning\b)'
    r'|(?P<late>p\.?m\b\.?|noon\b|in the (?:afternoon|evening)\b)))?'
    r'|\b(?P<noon>noon)\b|\b(?P<midnight>midnight)\b',
    re.IGNORECASE,
)
# "It is now 09:00", "The current time is 09:00", "It is 9:00 AM now"; so many characters before.
_REACH = 40
_NOW_BEFORE = re.compile(r'\b(?:now|current(?:ly)?|the time is)\b[^.;!?\d]*\Z', re.IGNORECASE)
_NOW_AFTER = re.compile(r'\s*(?:right )?now\b', re.IGNORECASE)


@dataclass(frozen=True)
class Times:
    """Appointments in the order they are told, and the time that is said to be now.

    All in seconds since local midnight.
    """

    appointments: tuple[float, ...]
    now: float | None


def find_times(text: str) -> Times:
    """Find times of day, such as 14:05, 2:05 p.m., two o'clock in the afternoon and noon."""
    appointments = []
    now = None
    for match in _TIME.finditer(text):
        seconds = _seconds(match)
        if seconds is None:
            continue
        if now is None and (_NOW_BEFORE.search(text, max(match.start() - _REACH, 0), match.start())
                            or _NOW_AFTER.match(text, match.end())):
            now = seconds
        else:
            appointments.append(seconds)
    return Times(tuple(appointments), now)


def _seconds(match: re.Match[str]) -> float | None:
    """Return seconds since midnight; None for a number that is no time."""
    if match['noon'] or match['midnight']:
        return 12 * 3600.0 if match['noon'] else 0.0
    if not (match['minute'] or match['full'] or match['early'] or match['late']):
        return None
    hour = int(match['hour'] or 1 + _HOURS.index(match['word'].lower()))
    if match['early']:
        hour %= 12
    elif match['late']:
        hour = hour % 12 + 12
    return hour * 3600.0 + int(match['minute'] or 0) * 60.0


def show_time(seconds: float) -> str:
    """Return a time of day as HH:MM."""
    return f'{int(seconds // 3600):02d}:{int(seconds % 3600 // 60):02d}'
