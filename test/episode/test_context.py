# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The digest of a region: another world has another one."""

import shutil

import pytest

from urbanground_ros.episode import RegionContext


@pytest.mark.parametrize('harm', ['cut', 'missing', 'other tileset', 'other network',
                                  'other places'])
def test_a_damaged_or_changed_region_has_another_digest(region, tmp_path, harm):
    folder = tmp_path / 'copy'
    shutil.copytree(region.path.parent, folder)
    path = folder / region.path.name
    (folder / 'notes.txt').write_text('of no account')
    assert RegionContext.load(region.name, path).digest == region.digest
    tile = max(folder.rglob('*.glb'), key=lambda p: p.stat().st_size)
    if harm == 'cut':
        tile.write_bytes(tile.read_bytes()[:-1])
    elif harm == 'missing':
        tile.unlink()
    elif harm == 'other places':
        file = folder / region.region.places
        file.write_text(file.read_text() + ' ')
    else:
        name = region.region.network if harm == 'other network' else region.region.tilesets[0]
        file = folder / name
        file.write_text(file.read_text() + ' ')
    assert RegionContext.load(region.name, path).digest != region.digest
