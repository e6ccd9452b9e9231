# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Score records again from their trajectories, and say whether the digits are the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
import sys
from typing import Any

from urbanground_ros.episode import RegionContext
from urbanground_ros.episode import Regions
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.evaluate.table import render
from urbanground_ros.scoring import read_record
from urbanground_ros.scoring import rescore


def rescore_path(path: Path) -> int:
    """Score a record or a folder of them; return 0 if every metric has its recorded digits.

    A record that cannot be scored here is told, and the others go on.

    Raises:
        UrbanGroundError: there are no records.
    """
    files = sorted(path.rglob('*.json')) if path.is_dir() else [path]
    if not files:
        raise UrbanGroundError(f'{path}: no records, expected *.json')
    regions = Regions()
    records, differing, unscored = [], 0, 0
    for file in files:
        try:
            record = read_record(file)
            again = rescore(record, _region_of(record, file, regions).network)
        except UrbanGroundError as error:
            unscored += 1
            print(f'error: {error}', file=sys.stderr)
            continue
        if again != record['metrics']:
            differing += 1
            changed = [k for k in again if again[k] != record['metrics'].get(k)]
            print(f'{file}: other digits now: {", ".join(changed)}', file=sys.stderr)
        records.append({**record, 'metrics': again})
    if records:
        print(render(records))
    print(f'{len(records)} records, {differing} with other digits'
          + (f'; {unscored} could not be scored' if unscored else ''))
    return 1 if differing or unscored else 0


def _region_of(record: Mapping[str, Any], file: Path, regions: Regions) -> RegionContext:
    """Return the region that a record was made in.

    Raises:
        UrbanGroundError: it is not here, or something of it has changed since.
    """
    settings = record['settings']
    region = regions[settings['region']]
    if region.digest != settings['region_digest']:
        raise UrbanGroundError(
            f'{file}: region file, network, places or tiles of {region.name} have changed: '
            f'digest {region.digest} now, the record was made with {settings["region_digest"]}')
    return region
