# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Score records again from their trajectories, and say whether the digits are the same."""

from __future__ import annotations

from pathlib import Path
import sys

from urbanground_ros.episode import Regions
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.table import render
from urbanground_ros.scoring import read_record
from urbanground_ros.scoring import rescore


def rescore_path(path: Path) -> int:
    """Score a record or a folder of them; return 0 if every metric has its recorded digits.

    Raises:
        UrbanGroundError: no records, a bad one, or one of another region's content.
    """
    files = sorted(path.rglob('*.json')) if path.is_dir() else [path]
    if not files:
        raise UrbanGroundError(f'{path}: no records, expected *.json')
    regions = Regions()
    records, differing = [], 0
    for file in files:
        record = read_record(file)
        settings = record['settings']
        region = regions[settings['region']]
        if region.digest != settings['region_digest']:
            raise UrbanGroundError(
                f'{file}: region {region.name} has digest {region.digest} now, the record was '
                f'made with {settings["region_digest"]}')
        again = rescore(record, region.network)
        if again != record['metrics']:
            differing += 1
            changed = [k for k in again if again[k] != record['metrics'].get(k)]
            print(f'{file}: other digits now: {", ".join(changed)}', file=sys.stderr)
        records.append({**record, 'metrics': again})
    print(render(records))
    print(f'{len(records)} records, {differing} with other digits')
    return 1 if differing else 0
