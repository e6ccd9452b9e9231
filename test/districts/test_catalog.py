# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The catalog: districts are the same everywhere, written once, and found by name."""

import hashlib
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.districts import district_names
from urbanground_ros.districts import DistrictError
from urbanground_ros.districts import ensure_district
from urbanground_ros.districts import resolve_region
from urbanground_ros.folders import cache_folder

WRITE = (
    'import sys; from pathlib import Path; from urbanground_ros.districts import ensure_district;'
    'print(ensure_district(cache=Path(sys.argv[1])))'
)


def digest(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
    }


def test_two_processes_at_once_write_one_district_to_the_byte(tmp_path, region):
    writers = [
        subprocess.Popen([sys.executable, '-c', WRITE, str(tmp_path)], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    outputs = [writer.communicate()[0].decode().strip() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert outputs[0] == outputs[1]
    assert digest(Path(outputs[0]).parent) == digest(region.directory)
    # Nothing of the one that came second is left.
    assert len(list((tmp_path / 'districts').iterdir())) == 1


def test_a_written_district_is_used_again(cache, region):
    before = {f.name: f.stat().st_mtime_ns for f in region.directory.iterdir()}
    assert ensure_district(cache=cache) == region.directory / 'region.yaml'
    assert {f.name: f.stat().st_mtime_ns for f in region.directory.iterdir()} == before


@pytest.mark.parametrize('harm', ['cut', 'gone', 'zeroed', 'no manifest'])
def test_a_district_that_has_lost_something_is_written_anew(tmp_path, region, harm):
    folder = tmp_path / 'districts' / region.directory.name
    shutil.copytree(region.directory, folder)
    tile = max(folder.rglob('*.glb'), key=lambda file: file.stat().st_size)
    if harm == 'cut':
        tile.write_bytes(tile.read_bytes()[:100])
    elif harm == 'gone':
        (folder / 'region.yaml').unlink()
    elif harm == 'zeroed':
        network = folder / 'network.geojson'
        network.write_bytes(bytes(network.stat().st_size))
    else:
        (folder / 'manifest.json').write_text('{')
    assert ensure_district(cache=tmp_path) == folder / 'region.yaml'
    assert digest(folder) == digest(region.directory)
    assert len(list((tmp_path / 'districts').iterdir())) == 1


def test_a_cache_that_cannot_be_written_is_told_in_one_line(tmp_path):
    occupied = tmp_path / 'file'
    occupied.write_text('not a folder')
    with pytest.raises(DistrictError, match='cannot be written') as error:
        ensure_district(cache=occupied)
    assert str(occupied) in str(error.value)
    assert 'URBANGROUND_CACHE' in str(error.value)
    assert '\n' not in str(error.value)


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'xdg'))
    monkeypatch.delenv('URBANGROUND_CACHE', raising=False)
    assert cache_folder() == tmp_path / 'xdg' / 'urbanground'
    monkeypatch.setenv('URBANGROUND_CACHE', str(tmp_path / 'own'))
    assert cache_folder() == tmp_path / 'own'
    monkeypatch.delenv('URBANGROUND_CACHE')
    monkeypatch.delenv('XDG_CACHE_HOME')
    assert cache_folder() == Path.home() / '.cache' / 'urbanground'


def test_names_and_paths_resolve(monkeypatch, cache, region):
    monkeypatch.setenv('URBANGROUND_CACHE', str(cache))
    assert DEFAULT_DISTRICT in district_names()
    assert resolve_region(DEFAULT_DISTRICT) == region.directory / 'region.yaml'
    own = region.directory / 'region.yaml'
    assert resolve_region(str(own)) == own


@pytest.mark.parametrize('call', [resolve_region, ensure_district])
def test_an_unknown_name_lists_the_known_ones(call):
    with pytest.raises(DistrictError, match=DEFAULT_DISTRICT) as error:
        call('atlantis')
    assert 'atlantis' in str(error.value)
    assert '\n' not in str(error.value)
