# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The score table: one row an agent, made from records alone."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import math
from typing import Any

from urbanground_ros.scoring import Outcome

#: Column title, metric (mean over episodes), format. Failed episodes stay in every rate.
COLUMNS: Sequence[tuple[str, str, str]] = (
    ('arrived', 'arrived', '{:.0%}'),
    ('PNA', 'pna', '{:.3f}'),
    ('PNA sampled', 'pna_sampled', '{:.3f}'),
    ('remaining', 'remaining_distance_ratio', '{:.2f}'),
    ('closer', 'closer_than_start', '{:.0%}'),
    ('SPL', 'spl', '{:.3f}'),
    ('path m', 'path_length_sampled', '{:.0f}'),
    ('steps', 'steps', '{:.1f}'),
    ('time s', 'duration', '{:.1f}'),
    ('contacts', 'building_contacts', '{:.1f}'),
)


def mean(records: Iterable[Mapping[str, Any]], metric: str) -> float:
    """Return the mean of a metric over the episodes where it applies, NaN for none."""
    values = [r['metrics'][metric] for r in records if r['metrics'].get(metric) is not None]
    return sum(values) / len(values) if values else math.nan


def rows(records: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Return the table's rows with a heading first."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault((record['agent'], record['track']), []).append(record)
    table = [['agent', 'track', 'succeeded', *(title for title, _, _ in COLUMNS), 'other endings']]
    for (agent, track), group in groups.items():
        count = len(group)
        won = sum(r['outcome'] == Outcome.SUCCEEDED for r in group)
        endings: dict[str, int] = {}
        for record in group:
            if record['outcome'] != Outcome.SUCCEEDED:
                label = Outcome(record['outcome']).label
                endings[label] = endings.get(label, 0) + 1
        cells = []
        # One that ended before it began counts as not arrived.
        begun = [r if r['metrics'] else {**r, 'metrics': {'arrived': 0.0}} for r in group]
        for _, metric, form in COLUMNS:
            value = mean(begun, metric)
            cells.append(form.format(value) if math.isfinite(value) else '-')
        table.append([agent, track, f'{won}/{count}', *cells,
                      ', '.join(f'{n} {label}' for label, n in sorted(endings.items())) or '-'])
    return table


def render(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the table as text."""
    table = rows(records)
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    lines = ['  '.join(cell.ljust(w) if k < 2 else cell.rjust(w)
                       for k, (cell, w) in enumerate(zip(row, widths, strict=True))).rstrip()
             for row in table]
    lines.insert(1, '  '.join('-' * w for w in widths))
    return '\n'.join(lines)
