# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The report: one self-contained HTML file with the table and every episode's picture."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from collections.abc import Sequence
import html
from pathlib import Path
from typing import Any

from urbanground_ros import __version__
from urbanground_ros.evaluate.table import rows
from urbanground_ros.files import write_atomically
from urbanground_ros.scoring import DEFINITIONS
from urbanground_ros.scoring import Outcome

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .35rem .7rem; text-align: right; border-bottom: 1px solid #8885 }
th:first-child, td:first-child { text-align: left }
.episodes { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)) }
figure { margin: 0 } img { width: 100%; border-radius: .4rem } figcaption { font-size: .85rem }
.bad { color: #c33 }
"""


def write_report(
    path: Path, records: Sequence[Mapping[str, Any]], pictures: Path, title: str
) -> None:
    """Write the report of finished episodes; episodes that failed come first.

    Raises:
        RecordError: the file cannot be written.
    """
    head, *body = rows(records)
    table = '<tr>' + ''.join(f'<th scope="col">{html.escape(c)}</th>' for c in head) + '</tr>'
    table += ''.join(
        '<tr>' + ''.join(f'<td>{html.escape(c)}</td>' for c in row) + '</tr>' for row in body
    )
    ordered = sorted(
        records, key=lambda r: (r['outcome'] == Outcome.SUCCEEDED, r['agent'], r['task']['id'])
    )
    figures = ''.join(_figure(record, pictures) for record in ordered)
    definitions = ''.join(
        f'<tr><td>{html.escape(name)}</td><td>{html.escape(d.unit)}</td>'
        f'<td style="text-align:left">{html.escape(d.text)}</td></tr>'
        for name, d in DEFINITIONS.items()
    )
    page = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>
<h1>{html.escape(title)}</h1>
<p>{len(records)} episodes, UrbanGround for ROS 2 {__version__}. Each number is computed from the
records beside this file.</p>
<div class="wide"><table>{table}</table></div>
<h2>Episodes</h2><div class="episodes">{figures}</div>
<h2>Definitions</h2><div class="wide"><table>{definitions}</table></div>
</body></html>
"""
    write_atomically(path, page.encode())


def _figure(record: Mapping[str, Any], pictures: Path) -> str:
    file = pictures / f'{record["episode"]}.png'
    source = base64.b64encode(file.read_bytes()).decode() if file.is_file() else ''
    outcome = Outcome(record['outcome'])
    shade = '' if outcome is Outcome.SUCCEEDED else ' class="bad"'
    name = html.escape(f'{record["agent"]} {record["task"]["id"]}')
    ending = html.escape(f'{outcome.label}: {record["reason"]}')
    image = f'<img loading="lazy" alt="Trajectory of {name}" src="data:image/png;base64,{source}">'
    return (
        f'<figure>{image}<figcaption><a href="episodes/{html.escape(record["episode"])}.json">'
        f'{name}</a> <span{shade}>{ending}</span></figcaption></figure>'
    )
