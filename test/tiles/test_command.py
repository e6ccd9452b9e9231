# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The subcommand `tiles`: info and prefetch, on files and on a service."""

import json
from pathlib import Path
import struct

import pytest
from standin import frame
from standin import StandIn

from urbanground_ros.cli import main

DATA = Path(__file__).resolve().parents[2].parent / 'shared' / 'data'
KEY = 'SECRET-1'


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv('URBANGROUND_CACHE', str(tmp_path / 'cache'))
    monkeypatch.setenv('TILES_KEY', KEY)
    return tmp_path / 'cache' / 'tiles'


@pytest.fixture
def service():
    with StandIn(KEY) as running:
        yield running


def test_info_on_a_file(capsys):
    path = DATA / 'nasa_dingo_gap' / 'tileset.json'
    if not path.is_file():
        pytest.skip('sample nasa_dingo_gap is not here')
    assert main(['tiles', 'info', str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(path)
    assert '  tiles      293 in 5 levels' in lines
    assert '  meshes     293, 298357 triangles' in lines
    assert any('293 b3dm, 1 tileset; 10.' in line for line in lines)
    assert '  extensions KHR_materials_unlit' in lines
    assert '  extent     not on the Earth' in lines


def test_info_on_a_mirror(service, capsys):
    assert main(['tiles', 'info', service.url, '--key-env', 'TILES_KEY', '--limit', '40']) == 1
    out, err = capsys.readouterr()
    assert f'{service.url}/f2/tileset.json\n' in out
    assert f'{service.url}/building/tileset.json\n' in out
    assert '40 in 8 levels, and more beyond --limit' in out
    assert '22.290103,114.174273 to 22.311779,114.197566' in out
    assert err == f'warning: {service.url}/f2/12/tileset.json: HTTP 404, expected 200\n'
    assert KEY not in out + err


def test_prefetch_makes_a_place_usable_offline(service, capsys, cache):
    place = f'{frame().latitude},{frame().longitude}'
    words = ['tiles', 'prefetch', f'{service.url}/f2', '--around', place, '--radius', '100',
             '--key-env', 'TILES_KEY']
    assert main(words) == 0
    out, err = capsys.readouterr()
    # Two that lead to files, one L4, and four each of L3, L2, L1 and the finest.
    assert out == f'{service.url}/f2/tileset.json: 19 tiles, 0 of them broken\n'
    assert '[########################] 17/17' in err
    assert KEY not in out + err
    kept = [path for path in cache.rglob('*') if path.is_file()]
    assert len(kept) == 3 + 17
    asked = len(service.requests)
    assert main([*words, '--offline']) == 0
    assert len(service.requests) == asked


def prefetch(service, radius, place=None):
    """Fetch around a place, by default where the stand-in has tiles; return the status."""
    place = place or f'{frame().latitude},{frame().longitude}'
    return main(['tiles', 'prefetch', f'{service.url}/f2', '--around', place, '--radius',
                 radius, '--key-env', 'TILES_KEY'])


def test_a_prefetch_without_end_is_cut(service, capsys, monkeypatch):
    monkeypatch.setattr('urbanground_ros.tiles.prefetch.MAX_TILES', 10)
    assert prefetch(service, '100') == 1
    out, err = capsys.readouterr()
    assert out.endswith(': 2 tiles, 0 of them broken\n')
    assert 'leads to more than 10 tiles, of which no more are opened' in err


def test_a_place_without_tiles_is_told(service, capsys):
    assert prefetch(service, '50', '1.0,1.0') == 0
    assert capsys.readouterr().out == (
        f'{service.url}/f2/tileset.json: no tile lies within 50 m of 1,1\n')


def test_broken_tiles_are_counted(service, capsys):
    service.faults = [('_L15_', 404, 99)]
    assert prefetch(service, '300') == 1
    out, err = capsys.readouterr()
    assert out.endswith('31 tiles, 16 of them broken\n')
    assert 'warning: and ' in err


@pytest.mark.parametrize(('words', 'said'), [
    (['info', '/nowhere/tileset.json'], 'No such file'),
    (['info', '.', '--key-env', 'NO_SUCH_KEY'], 'environment variable NO_SUCH_KEY is not set'),
    (['info', 'ftp://host/'], 'is no URL'),
    (['prefetch', 'FOLDER', '--around', '22,114', '--radius', '9'], 'is here already'),
])
def test_bad_input_is_one_line(words, said, tmp_path, capsys):
    (tmp_path / 'tileset.json').write_text(json.dumps({}))
    assert main(['tiles', *(str(tmp_path) if word == 'FOLDER' else word for word in words)]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count('\n') == 1


@pytest.mark.parametrize('text', [
    '{"a": ' + '[' * 100_000 + ']' * 100_000 + '}', 'COMPOSITES',
    '{"asset": {"version": "1.1"}, "root": ' + '{"children": [' * 5000 + ']}' * 5000 + '}',
])
def test_what_is_nested_for_ever_is_one_line(text, tmp_path, capsys):
    data = b'glTF' + bytes(12)
    for _ in range(3000):
        data = struct.pack('<4sIII', b'cmpt', 1, 16 + len(data), 1) + data
    path = tmp_path / 'tileset.json'
    path.write_bytes(data if text == 'COMPOSITES' else text.encode())
    assert main(['tiles', 'info', str(path)]) == 1
    assert capsys.readouterr().err.count('\n') == 1


@pytest.mark.parametrize(('names', 'shown'), [
    ([1], 'none'), ([1, 'a'], 'a'), (['a\nerror: x\x1b[31m'], 'a\\nerror: x\\x1b[31m'),
])
def test_names_of_extensions_are_shown_printable(names, shown, tmp_path, capsys):
    path = tmp_path / 'tileset.json'
    path.write_text(json.dumps({'asset': {'version': '1.1'}, 'extensionsUsed': names, 'root': {
        'boundingVolume': {'sphere': [0, 0, 0, 9]}, 'geometricError': 1}}))
    assert main(['tiles', 'info', str(path)]) == 0
    assert f'  extensions {shown}\n' in capsys.readouterr().out


@pytest.mark.parametrize('words', [
    ['--around', '22', '--radius', '9'], ['--around', '95,114', '--radius', '9'],
    ['--around', '22,114', '--radius', '-9'], ['--around', '22,114', '--radius', 'far'],
])
def test_bad_places_are_refused(words, capsys):
    with pytest.raises(SystemExit):
        main(['tiles', 'prefetch', 'http://host/', *words])
    assert 'expected' in capsys.readouterr().err
