# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The subcommand `region`, driven as a user does, against stand-ins on the loopback interface."""

import json
import logging
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from network_standin import NetworkStandIn
from network_standin import read_features
import numpy as np
import pytest
from standin import frame as tiles_frame
from standin import StandIn

from urbanground_ros.cli import main
from urbanground_ros.districts import resolve_region
from urbanground_ros.episode import RegionContext
from urbanground_ros.geo import added_regions
from urbanground_ros.geo import Envelope
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import Region
from urbanground_ros.geo import wgs84_to_hk80
from urbanground_ros.regions import ATTRIBUTION
from urbanground_ros.regions import LANDS_DEPARTMENT_TILES

KEY = 'SECRET-1'
AROUND = (22.3395, 114.1785)
JOINED = (200008109, 200008110)
PLACE = ['--around', '22.3395,114.1785', '--radius', '700']
TILESET = {'asset': {'version': '1.0'}, 'geometricError': 1, 'root': {
    'boundingVolume': {'region': [1.9927, 0.3898, 1.9929, 0.39, 0, 100]}, 'geometricError': 0}}


@pytest.fixture
def tileset(tmp_path):
    """Return a tileset that has nothing but bounds, those of the place."""
    path = tmp_path / 'tiles' / 'tileset.json'
    path.parent.mkdir()
    path.write_text(json.dumps(TILESET))
    return path


@pytest.fixture
def add(service, tileset):
    """Add a region from the stand-in; returns the status."""
    def run(*options, name='kowloon_tong', place=PLACE):
        words = [*options] if '--tiles' in options else ['--tiles', str(tileset), *options]
        if '--network' not in options:
            words += ['--network', service.url]
        return main(['region', 'add', name, *place, *words])
    return run


def said(capsys):
    return capsys.readouterr().err.splitlines()


def test_a_region_from_the_service_can_be_walked(add, service, samples, folders, tileset, capsys):
    service.limit = 7
    service.left_out = {48220, 49824}
    assert add() == 0
    out, err = capsys.readouterr()
    assert (out, err) == (f'{folders}/kowloon_tong/region.yaml written; urbanground region show '
                          'kowloon_tong tells what it is made of\nthe largest joined part of '
                          'its network has 7% of the junctions: few ways lead far\n', '')
    assert sorted(path.name for path in folders.rglob('*')) == [
        'kowloon_tong', 'network.json', 'region.yaml']

    envelope = Envelope.around(*AROUND, 700.0)
    inside = {
        attributes['PedestrianRouteID'] for attributes, paths in read_features(samples)
        if any(np.all(np.greater_equal(place, envelope[:2]) & np.less_equal(place, envelope[2:]))
               for path in paths
               for place in np.column_stack(wgs84_to_hk80(*np.array(path)[:, 1::-1].T)))}
    assert len(inside) == 24

    context = RegionContext.named('kowloon_tong')
    region, network = context.region, context.network
    assert {feature.id for feature in network.features} == inside
    assert network.left_out == ()
    assert region == Region(
        name='kowloon_tong', title='Kowloon Tong', synthetic=False, origin=region.origin,
        tilesets=(str(tileset),), network='network.json', places=None, height_offset=-2.2,
        attribution=ATTRIBUTION)
    assert (region.origin.latitude, region.origin.longitude) == AROUND

    # Of the sample's features these two are joined.
    first, second = (next(feature for feature in network.features if feature.id == id_)
                   for id_ in JOINED)
    ends = max(((a, b) for a in first.points[[0, -1]] for b in second.points[[0, -1]]),
               key=lambda pair: np.linalg.norm(pair[0] - pair[1]))
    route = network.route(*ends)
    assert [network.features[index].id for index in route.features] == list(JOINED)
    assert route.length == pytest.approx(first.length + second.length)


def test_the_origin_is_on_the_ground(add, samples):
    assert add('--height-offset', '-3') == 0
    region = Region.load(resolve_region('kowloon_tong'))
    heights = []
    for attributes, paths in read_features(samples):
        if attributes['Location'] == 1:
            for longitude, latitude, height in paths[0]:
                place = wgs84_to_hk80(latitude, longitude)
                heights.append((np.hypot(*np.subtract(place, wgs84_to_hk80(*AROUND))), height))
    nearest = [height for _, height in sorted(set(heights))[:16]]
    assert region.origin.altitude == pytest.approx(np.median(nearest) - 3, abs=0.02)
    assert region.height_offset == -3.0


def test_the_network_is_kept_as_it_was_published(add, service, folders):
    assert add() == 0
    document = json.loads((folders / 'kowloon_tong' / 'network.json').read_text())
    assert document['spatialReference']['latestWkid'] == 2326
    assert document['fields']
    for feature in document['features']:
        attributes, _, paths = service.features[feature['attributes']['OBJECTID']]
        assert feature == {'attributes': attributes, 'geometry': {'hasZ': True, 'paths': paths}}


@pytest.mark.parametrize('name', [
    'kowloon_tong_pedestrian_wgs84.geojson', 'esri_json_wgs84_mixed.json'])
def test_a_network_file_is_cropped(add, samples, folders, name):
    (path,) = [path for path in samples if path.name == name]
    document = json.loads(path.read_text())
    first = document['features'][0]
    geometry = first['geometry']
    longitude, latitude, _ = (geometry.get('paths') or [geometry['coordinates']])[0][0]
    place = ['--around', f'{latitude},{longitude}', '--radius', '30']
    assert add('--network', str(path), place=place) == 0
    (kept,) = folders.glob('kowloon_tong/network.*')
    cropped = json.loads(kept.read_text())
    assert kept.suffix == path.suffix
    assert {**cropped, 'features': 0} == {**document, 'features': 0}
    assert 0 < len(cropped['features']) < len(document['features'])
    assert cropped['features'][0] == first
    everything = PedestrianNetwork.load(path, Region.load(kept.parent / 'region.yaml').frame)
    near = {feature.id for feature in everything.features
            if np.abs(feature.points[:, :2]).max(axis=1).min() < 29.9}
    assert near <= {feature.id for feature in RegionContext.named('kowloon_tong').network.features}


def test_places_come_with_the_region(add, tmp_path, folders, caplog, capsys):
    places = tmp_path / 'mine.json'
    place = {'id': 'p1', 'type': 'cafe', 'name': 'Tea', 'name_tc': '', 'hours': ['09:00', '21:00'],
             'entrance': {'latitude': 22.3395, 'longitude': 114.1785, 'altitude': 30}}
    places.write_text(json.dumps([place, {**place, 'id': 'p2', 'type': 'castle'}]))
    assert add('--places', str(places), '--title', '九龍塘 Kowloon Tong') == 0
    (line,) = caplog.messages
    assert line.startswith(f"{places}: type 'castle' of 1 places (p2) is unknown")
    region = Region.load(resolve_region('kowloon_tong'))
    assert [place.id for place in region.load_places()] == ['p1']
    assert region.title == '九龍塘 Kowloon Tong'
    assert main(['region', 'show', 'kowloon_tong']) == 0
    assert 'places   1: 1 café\n' in capsys.readouterr().out


def test_show_tells_what_a_region_is_made_of(add, tileset, capsys):
    assert add() == 0
    tileset.unlink()
    capsys.readouterr()
    assert main(['region', 'show', 'kowloon_tong']) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines['title'] == 'Kowloon Tong'
    assert lines['origin'].startswith('22.339500,114.178500, 30.')
    assert lines['network'].startswith('24 features, 0.59 km, of which 0.59 km outdoors; ')
    assert lines['extent'] == '22.334016,114.171936 to 22.343807,114.180498'
    assert lines['heights'] == '14.0 to 84.2 m HKPD'
    assert lines['types'].startswith('14 footway, 4 staircase, 2 crossing others, ')
    assert lines['missing'] == '5 without a street'
    assert lines['tiles'] == f'{tileset} (missing)'
    assert lines['notice'] == ATTRIBUTION


def test_show_tells_of_a_built_in_district(monkeypatch, region, capsys):
    assert main(['region', 'show', str(region.path)]) == 0
    out = capsys.readouterr().out
    assert 'missing  10 without a street\n' in out
    assert 'the largest joined part has 100% of the junctions\n' in out


def test_a_list_has_built_in_districts_and_added_regions(add, folders, capsys):
    assert add() == 0
    (folders / 'broken').mkdir()
    (folders / 'broken' / 'region.yaml').write_text('name: [')
    capsys.readouterr()
    assert main(['region', 'list']) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith('ching_lam        Ching Lam, an invented district')
    assert lines[-2].startswith('broken           cannot be used: ')
    assert lines[-1] == f'kowloon_tong     Kowloon Tong ({folders / "kowloon_tong"})'


def test_a_region_is_removed(add, folders, capsys):
    assert add() == 0
    assert main(['region', 'remove', 'kowloon_tong']) == 0
    assert list(folders.iterdir()) == []
    assert main(['region', 'show', 'kowloon_tong']) == 1
    assert main(['region', 'remove', 'kowloon_tong']) == 1
    assert main(['region', 'remove', 'ching_lam']) == 1
    *_, unknown, gone, built_in = said(capsys)
    assert "'kowloon_tong' is neither a built-in district, an added region nor a file" in unknown
    assert "'kowloon_tong' was not added, expected one of those that were added" in gone
    assert "'ching_lam' is built in, expected" in built_in


def test_a_name_that_is_taken_is_refused_until_it_is_to_be_replaced(add, folders, capsys):
    assert add() == 0
    assert add('--title', 'Other') == 1
    assert said(capsys)[-1].endswith(
        'kowloon_tong: exists already, expected another name or --replace')
    assert Region.load(resolve_region('kowloon_tong')).title == 'Kowloon Tong'
    assert add('--title', 'Other', '--replace') == 0
    assert Region.load(resolve_region('kowloon_tong')).title == 'Other'
    assert add('--replace', '--network', '/nowhere.json') == 1
    assert Region.load(resolve_region('kowloon_tong')).title == 'Other'
    assert [path.name for path in folders.iterdir()] == ['kowloon_tong']


@pytest.mark.parametrize(('options', 'said_'), [
    ({'name': 'ching_lam'}, "name is 'ching_lam', which is a built-in district"),
    ({'name': 'Kowloon Tong'}, "name is 'Kowloon Tong', expected up to 64 lower-case letters"),
    ({'name': '../up'}, "name is '../up', expected up to 64 lower-case"),
    ({'name': 'a' * 300}, 'expected up to 64 lower-case'),
    ({'options': ['--timeout', 'inf']}, 'timeout is inf, expected seconds'),
    ({'place': ['--around', '22.34,114.18', '--radius', '5001']},
     'radius is 5001, expected metres, more than 0 and up to 5000'),
    ({'place': ['--around', '0,0', '--radius', '500']},
     'the place is 0, 0, outside Hong Kong, expected latitude 22.13 to 22.58, longitude'),
    ({'place': ['--around', '22.3,114.2', '--radius', '50']}, 'has no features there'),
    ({'options': ['--network', '/nowhere.json']}, '/nowhere.json: cannot be read: No such file'),
    ({'options': ['--network', 'http://host/FeatureServer']}, 'no layer of a map server'),
    ({'options': ['--places', '/nowhere.json']}, '/nowhere.json: cannot be read'),
    ({'options': ['--height-offset', '999']}, 'height offset is 999, expected metres within'),
    ({'options': ['--timeout', '0']}, 'timeout is 0, expected seconds, more than 0'),
])
def test_bad_input_is_one_line_and_leaves_nothing(add, folders, capsys, options, said_):
    assert add(*options.pop('options', ()), **options) == 1
    (line,) = said(capsys)
    assert line.startswith('error: ')
    assert said_ in line
    assert added_regions() == {}
    assert not folders.exists() or list(folders.iterdir()) == []


@pytest.mark.parametrize('radius', ['0', '-5', 'far'])
def test_a_radius_is_positive(add, capsys, radius):
    with pytest.raises(SystemExit):
        add(place=['--around', '22.34,114.18', '--radius', radius])
    assert 'expected metres, more than 0' in said(capsys)[-1]


@pytest.mark.parametrize(('kind', 'said_'), [
    ('error 400', 'Error performing query operation'), ('page', 'answered with a page'),
    (404, 'HTTP 404'),
])
def test_half_a_download_leaves_nothing(add, service, folders, capsys, kind, said_):
    service.limit = 7
    service.faults = [('page', kind, 1)]
    assert add() == 1
    (line,) = said(capsys)
    assert said_ in line
    assert list(folders.iterdir()) == []


def test_what_the_service_keeps_back_leaves_nothing(add, service, folders, capsys):
    service.kept_back = {48220}
    assert add() == 1
    assert 'gives 23 of 24 features, OBJECTID 48220 not even by id' in said(capsys)[0]
    assert list(folders.iterdir()) == []


def test_a_wrong_grid_is_told(add, samples, tmp_path, capsys):
    (path,) = [path for path in samples if path.name.startswith('kowloon')]
    document = json.loads(path.read_text())
    for feature in document['features']:
        feature['geometry']['coordinates'] = [
            [*wgs84_to_hk80(latitude, longitude), height]
            for longitude, latitude, height in feature['geometry']['coordinates']]
    wrong = tmp_path / 'grid.geojson'
    wrong.write_text(json.dumps(document))
    assert add('--network', str(wrong)) == 1
    assert said(capsys) == [
        f'error: {wrong}: feature 0 (PedestrianRouteID 200006375): position (836572, 822217, '
        '30.9291) is outside Hong Kong, expected longitude, latitude, height in 113.76 to 114.51, '
        '22.13 to 22.58, -150 to 1000 (EPSG:4326); it looks like easting, northing of EPSG:2326, '
        'which the file does not state']
    document['crs'] = {'type': 'name', 'properties': {'name': 'urn:ogc:def:crs:EPSG::2326'}}
    wrong.write_text(json.dumps(document))
    assert add('--network', str(wrong)) == 0
    assert len(RegionContext.named('kowloon_tong').network.features) == 24


def test_features_without_heights_are_left_out(add, samples, tmp_path, caplog, capsys):
    (path,) = [path for path in samples if path.name.startswith('kowloon')]
    document = json.loads(path.read_text())
    for feature in document['features'][:2]:
        coordinates = feature['geometry']['coordinates']
        coordinates[0] = coordinates[0][:2]
    holes = tmp_path / 'holes.geojson'
    holes.write_text(json.dumps(document))
    assert add('--network', str(holes)) == 0
    assert len(RegionContext.named('kowloon_tong').network.features) == 22
    assert caplog.messages == [
        f'{holes}: feature {number} (PedestrianRouteID {id_}): heights are missing, expected x, '
        'y, z (returnZ=true); the feature is left out'
        for number, id_ in enumerate((200006375, 200006391))]


def test_tiles_that_are_no_tileset_are_told_and_the_rest_goes_on(add, tileset, tmp_path, capsys):
    (tmp_path / 'empty').mkdir()
    (tmp_path / 'wrong.json').write_text('{"type": "FeatureCollection"}')
    mars = tmp_path / 'mars.json'
    mars.write_text(json.dumps({**TILESET, 'root': {
        'boundingVolume': {'sphere': [0, 0, 0, 10]}, 'geometricError': 0}}))
    away = 'http://127.0.0.1:9/f2/tileset.json'
    places = [str(tmp_path / 'empty'), str(tmp_path / 'wrong.json'), 'ftp://host/tiles',
              str(mars), f'{away}?key={KEY}', str(tileset.parent), str(tileset)]
    assert add(*[word for place in places for word in ('--tiles', place)]) == 0
    lines = said(capsys)
    assert len(lines) == 5
    assert all(line.startswith('warning: ') for line in lines)
    assert lines[0].startswith(f'warning: {tmp_path / "empty"}: no tileset, expected')
    assert lines[0].endswith('; the region goes without it')
    assert 'wrong.json' in lines[1]
    assert lines[2] == ("warning: 'ftp://host/tiles/tileset.json' is no URL, expected http:// or "
                        'https:// and a host; the region goes without it')
    assert f'{mars}: its nearest tile is 63' in lines[3]
    assert lines[4].startswith(f'warning: {away}: no connection')
    assert lines[4].endswith(', after 2 tries; it is kept in the region')
    region = Region.load(resolve_region('kowloon_tong'))
    assert region.tilesets == (str(mars), away, str(tileset))


@pytest.fixture
def tile_service():
    with StandIn(KEY) as running:
        yield running


def test_tiles_of_a_service_are_fetched_and_no_file_has_the_key(
        add, service, tile_service, samples, tmp_path, folders, capsys, caplog):
    caplog.set_level(logging.DEBUG)
    service.key = 'SECRET-2'
    words = ['--prefetch', '--tiles', tile_service.url, '--key', KEY, '--network-key',
             service.key]
    # The sample of features has nothing where the stand-in has tiles: a kilometre or two away.
    place = ['--around', '22.3117,114.1745', '--radius', '1500']
    assert add(*words, place=place) == 0
    out, err = capsys.readouterr()
    region = Region.load(resolve_region('kowloon_tong'))
    assert region.tilesets == (f'{tile_service.url}/f2/tileset.json',
                               f'{tile_service.url}/building/tileset.json')
    assert f'{tile_service.url}/f2/tileset.json: ' in out
    assert ' tiles, 0 of them broken\n' in out
    assert f'{tile_service.url}/building/tileset.json: no tile lies within 1500 m of' in out
    asked = len(tile_service.requests)
    assert main(['tiles', 'info', region.tilesets[0], '--offline', '--limit', '9']) == 1
    assert '  tiles      9 in 6 levels' in capsys.readouterr().out
    assert len(tile_service.requests) == asked
    written = b''.join(path.read_bytes() for path in folders.rglob('*') if path.is_file())
    for secret in (KEY, service.key):
        assert secret not in out + err + caplog.text
        assert secret.encode() not in written
    assert all(query.get('key') == [KEY] for query in tile_service.queries)


def test_keys_may_be_in_the_environment(add, service, tile_service, monkeypatch):
    service.key = 'SECRET-2'
    monkeypatch.setenv('URBANGROUND_NETWORK_KEY', service.key)
    monkeypatch.setenv('URBANGROUND_TILES_KEY', KEY)
    assert add('--tiles', f'{tile_service.url}/f2/') == 0
    region = Region.load(resolve_region('kowloon_tong'))
    assert region.tilesets == (f'{tile_service.url}/f2/tileset.json',)


def test_a_key_that_is_refused_is_told(add, service, capsys, folders):
    service.key = KEY
    assert add('--network-key', 'WRONG') == 1
    (line,) = said(capsys)
    assert "answered 'Invalid token ….' (code 498), is the key right?" in line
    assert 'WRONG' not in line
    assert list(folders.iterdir()) == []


def test_the_default_is_the_lands_department(monkeypatch, capsys):
    with pytest.raises(SystemExit):
        main(['region', 'add', '--help'])
    out = ''.join(capsys.readouterr().out.split())
    assert LANDS_DEPARTMENT_TILES[0] in out
    assert ('https://portal.csdi.gov.hk/server/rest/services/common/'
            'landsd_rcd_1637222018065_52265/FeatureServer/0') in out


@pytest.fixture
def district(region, tmp_path):
    """Return options that make a real region of a built-in district, heights off by a metre."""
    folder = region.path.parent
    middle = region.region.origin
    return ['--around', f'{middle.latitude},{middle.longitude}', '--radius', '400',
            '--network', str(folder / region.region.network), '--tiles', str(folder),
            '--height-offset', str(region.region.height_offset + 1.0)]


def test_a_region_is_calibrated_when_it_is_added_and_by_name(district, region, folders, capsys):
    right = region.region.height_offset
    assert main(['region', 'add', 'twin', *district, '--calibrate']) == 0
    assert f'(it was {right + 1:.3f})' in capsys.readouterr().out
    assert Region.load(resolve_region('twin')).height_offset == pytest.approx(right, abs=0.03)
    assert main(['calibrate', 'twin', '--dry-run']) == 0
    assert 'nothing written' in capsys.readouterr().out
    assert main(['calibrate', 'ching_lam']) == 1
    assert said(capsys) == [
        "error: region 'ching_lam' is built in and exact, expected --dry-run"]


def test_a_region_of_services_alone_is_calibrated(
        samples, tile_service, tmp_path, monkeypatch, capsys):
    # The sample's features are moved to where the stand-in has tiles, onto level ground that is
    # 5 m above the ellipsoid and is said to be 8 m above HKPD zero.
    monkeypatch.setenv('URBANGROUND_TILES_KEY', KEY)
    middle = tiles_frame()
    moved = [(attributes, [
        [[longitude + middle.longitude - AROUND[1], latitude + middle.latitude - AROUND[0], 8.0]
         for longitude, latitude, _ in path] for path in paths])
        for attributes, paths in read_features(samples)]
    with NetworkStandIn(moved) as service:
        assert main(['region', 'add', 'level', '--around', f'{middle.latitude},{middle.longitude}',
                     '--radius', '700', '--network', service.url, '--tiles',
                     f'{tile_service.url}/f2/tileset.json', '--calibrate']) == 0
    assert 'height_offset -3.0' in capsys.readouterr().out
    region = Region.load(resolve_region('level'))
    assert region.height_offset == pytest.approx(-3.0, abs=0.1)
    assert region.origin.altitude == pytest.approx(5.0, abs=0.1)  # on the ground
    assert all(query['key'] == [KEY] for query in tile_service.queries)


def test_a_region_is_found_by_name_where_one_is_named(district, tmp_path, folders, capsys):
    assert main(['region', 'add', 'twin', *district]) == 0
    tasks = tmp_path / 'tasks.json'
    assert main(['tasks', 'generate', '--kinds', 'SN', '--region', 'twin', '--count', '1', '--out',
                 str(tasks)]) == 0
    assert '"twin"' in tasks.read_text()
    assert main(['eval', '--in-process', '--region', 'twin', '--tasks', str(tasks), '--agents',
                 'oracle', '--pictures', 'false', '--out', str(tmp_path / 'run')]) == 0
    (record,) = (tmp_path / 'run' / 'episodes').glob('*.json')
    assert json.loads(record.read_text())['metrics']['arrived'] == 1.0


def urbanground(*words, **variables):
    return subprocess.Popen(
        [sys.executable, '-m', 'urbanground_ros', *words], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, **variables})


def test_an_interrupt_leaves_nothing(service, folders, tileset):
    service.faults, service.delay = [('page', 'slow', 9)], 20.0
    process = urbanground('region', 'add', 'kowloon_tong', *PLACE, '--network', service.url,
                          '--tiles', str(tileset))
    while 'page' not in service.questions and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == -signal.SIGINT, err
    assert list(folders.iterdir()) == []


def test_a_full_disk_leaves_nothing(service, folders, tileset):
    # A limit on the size of files stands for it.
    code = ('import resource, sys; from urbanground_ros.cli import main; resource.setrlimit('
            'resource.RLIMIT_FSIZE, (2000, 2000)); sys.exit(main(sys.argv[1:]))')
    result = subprocess.run(
        [sys.executable, '-c', code, 'region', 'add', 'kowloon_tong', *PLACE, '--network',
         service.url, '--tiles', str(tileset)], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith('error: ')
    assert result.stderr.endswith('network.json: cannot be written: File too large\n')
    assert list(folders.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told(add, tmp_path, monkeypatch, capsys):
    (tmp_path / 'file').write_text('')
    monkeypatch.setenv('URBANGROUND_DATA', str(tmp_path / 'file'))
    assert add() == 1
    assert said(capsys) == [
        f'error: {tmp_path}/file/regions: cannot be written: Not a directory']


def test_the_data_folder_is_where_the_environment_says(monkeypatch, tmp_path):
    from urbanground_ros.folders import data_folder
    assert data_folder() == tmp_path / 'data'
    monkeypatch.delenv('URBANGROUND_DATA')
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'xdg'))
    assert data_folder() == tmp_path / 'xdg' / 'urbanground'
    monkeypatch.delenv('XDG_DATA_HOME')
    assert data_folder() == Path.home() / '.local' / 'share' / 'urbanground'
