# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Times of day that are found in words."""

import pytest

from urbanground_ros.tasks.clock import find_times
from urbanground_ros.tasks.clock import show_time


@pytest.mark.parametrize(
    ('text', 'appointments', 'now'),
    [
        ('Be there by 09:30, then at 14:05.', ['09:30', '14:05'], None),
        ('At 9:30 AM, 2:05 p.m. and 11pm.', ['09:30', '14:05', '23:00'], None),
        ('At 12 noon, at 12:15 a.m., at noon, at midnight, at 12 midnight',
         ['12:00', '00:15', '12:00', '00:00', '00:00'], None),
        ('At 8 in the morning and 2:10 in the afternoon; 7 in the evening.',
         ['08:00', '14:10', '19:00'], None),
        ("Two o'clock in the afternoon, 4 o’clock, five pm, one more stop and three of us",
         ['14:00', '04:00', '17:00'], None),
        ('It is now 09:10. The bank at 09:30.', ['09:30'], '09:10'),
        ('It is 9:10 a.m. now; the bank at 09:30.', ['09:30'], '09:10'),
        ('The current time is 09:10. The bank at 09:30.', ['09:30'], '09:10'),
        ("It's currently 9:10 and 20 minutes to the bank, at 09:30.", ['09:30'], '09:10'),
        ('I know the bank: 09:30.', ['09:30'], None),
        ('Now go. The bank closes at 09:30.', ['09:30'], None),
        ('Spend 20 minutes on 3 errands in 2 hours, by 24:00 or 25:10 or 9:75.', [], None),
        ('Bus 104:30, part 1.15 am, 10:00:00, this afternoon, 3 amber lights', [], None),
        ('', [], None),
    ],
)
def test_times_in_words(text, appointments, now):
    times = find_times(text)
    assert [show_time(seconds) for seconds in times.appointments] == appointments
    assert (None if times.now is None else show_time(times.now)) == now


def test_long_words_are_read_fast():
    assert find_times('now ' * 200_000 + '. 10:00').appointments == (36_000.0,)
