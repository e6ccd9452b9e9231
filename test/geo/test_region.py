# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Region files and places files."""

import json
import os

import pytest
import yaml

from urbanground_ros.city import GeoPoint
from urbanground_ros.geo import DEFAULT_HKPD_OFFSET
from urbanground_ros.geo import load_places
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import Place
from urbanground_ros.geo import PLACE_TYPES
from urbanground_ros.geo import Region
from urbanground_ros.geo import RegionError
from urbanground_ros.geo import save_places

REGION = {
    'name': 'harbour-2',
    'title': '海旁 Harbour',
    'synthetic': True,
    'origin': {'latitude': 22.3, 'longitude': 114.17, 'altitude': 3},
    'tilesets': ['tiles/tileset.json', 'https://example.org/f2/tileset.json?key=k'],
    'network': 'network.geojson',
    'places': 'places.json',
    'height_offset': 0,
    'attribution': 'Invented.',
}
PLACE = {
    'id': 'p1', 'type': 'cafe', 'name': 'Tea House', 'name_tc': '茶室',
    'entrance': {'latitude': 22.3, 'longitude': 114.17, 'altitude': 4.5},
    'hours': ['09:00', '21:30'],
}


def without(data, key):
    return {k: v for k, v in data.items() if k != key}


def write_region(folder, data):
    path = folder / 'region.yaml'
    path.write_text(data if isinstance(data, str) else yaml.safe_dump(data, allow_unicode=True),
                    encoding='utf-8')
    return path


def write_places(folder, data):
    path = folder / 'places.json'
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding='utf-8')
    return path


def test_a_region_is_read_as_written(tmp_path):
    region = Region.load(write_region(tmp_path, REGION))
    assert region == Region(
        name='harbour-2', title='海旁 Harbour', synthetic=True,
        origin=GeoPoint(22.3, 114.17, 3.0), tilesets=tuple(REGION['tilesets']),
        network='network.geojson', places='places.json', height_offset=0.0,
        attribution='Invented.')
    assert region.frame == LocalFrame(22.3, 114.17, 3.0)
    assert region.resolve(region.network) == str(tmp_path / 'network.geojson')
    assert region.resolve(region.tilesets[1]) == region.tilesets[1]
    assert region.resolve('file:///x/tileset.json') == 'file:///x/tileset.json'
    assert region.resolve(str(tmp_path / 'x')) == str(tmp_path / 'x')


def test_what_may_be_left_out_has_its_default(tmp_path):
    data = REGION
    for key in ('places', 'height_offset', 'attribution'):
        data = without(data, key)
    region = Region.load(write_region(tmp_path, data))
    assert (region.places, region.height_offset, region.attribution) == (
        None, DEFAULT_HKPD_OFFSET, '')
    assert region.load_places() == ()


def test_a_region_is_found_from_any_folder(tmp_path, monkeypatch):
    write_region(tmp_path, REGION)
    monkeypatch.chdir(tmp_path)
    region = Region.load('region.yaml')
    monkeypatch.chdir('/')
    assert region.resolve('network.geojson') == str(tmp_path / 'network.geojson')


def test_a_saved_region_is_read_back_the_same(tmp_path):
    region = Region.load(write_region(tmp_path, REGION))
    (tmp_path / 'b').mkdir()
    region.save(tmp_path / 'b' / 'copy.yaml')
    assert Region.load(tmp_path / 'b' / 'copy.yaml') == region
    assert os.listdir(tmp_path / 'b') == ['copy.yaml']


def test_a_region_brings_its_network_and_places(tmp_path):
    write_places(tmp_path, [PLACE])
    (tmp_path / 'network.geojson').write_text(json.dumps({
        'type': 'FeatureCollection', 'features': [{
            'type': 'Feature',
            'properties': {'PedestrianRouteID': 1, 'FeatureType': 1, 'Location': 1,
                           'WeatherProof': 2, 'Direction': 0},
            'geometry': {'type': 'LineString',
                         'coordinates': [[114.17, 22.3, 5], [114.17, 22.301, 5]]}}]}))
    region = Region.load(write_region(tmp_path, {**REGION, 'height_offset': -2}))
    network = region.load_network()
    assert network.frame == region.frame
    assert network.features[0].points[0] == pytest.approx([0, 0, 0], abs=1e-6)
    assert [place.id for place in region.load_places()] == ['p1']


@pytest.mark.parametrize(('data', 'text'), [
    ('a: [', 'not YAML'),
    ('[' * 10_000, 'not YAML'),
    ('title: 2026-99-99', 'not YAML'),
    ('name: a\nname: b', 'not YAML: a key is there twice'),
    ('a: &a [1]\nb: *a', 'not YAML: aliases are not taken'),
    ('a: !!bool foo', 'a value is not of its YAML tag'),
    ('a: !!int ""', 'a value is not of its YAML tag'),
    ('a: !!timestamp foo', 'a value is not of its YAML tag'),
    ('', 'holds a NoneType, expected a mapping'),
    ('- 1', 'holds a list, expected a mapping'),
    ({**REGION, 'colour': 1}, "key 'colour' is unknown, expected name, title, .*attribution"),
    (without(REGION, 'network'), "key 'network' is missing"),
    ({**REGION, 'name': 'Harbour 2'}, "name is 'Harbour 2', expected lower-case"),
    ({**REGION, 'name': 3}, 'name is 3, expected text'),
    (yaml.safe_dump({**REGION, 'name': 7}).replace('name: 7', f'name: 0x{"F" * 6000}'),
     'name is a huge number, expected text'),
    ({**REGION, 'title': 'a\x1b[2J'}, 'title is .* expected text without control characters'),
    ({**REGION, 'title': '\ud800'}, 'title is .* expected text without control characters'),
    ({**REGION, 'title': ' '}, "title is ' ', expected text that is not empty"),
    ({**REGION, 'synthetic': 'yes'}, "synthetic is 'yes', expected true or false"),
    ({**REGION, 'tilesets': 'a.json'}, "tilesets is 'a.json', expected a list"),
    ({**REGION, 'tilesets': [1]}, 'tilesets is 1, expected a path or URL'),
    ({**REGION, 'origin': [1, 2]}, 'origin: holds a list, expected a mapping'),
    ({**REGION, 'origin': without(REGION['origin'], 'altitude')}, "key 'altitude' is missing"),
    ({**REGION, 'origin': {**REGION['origin'], 'lat': 1}},
     "origin: key 'lat' is unknown, expected latitude, longitude, altitude"),
    ({**REGION, 'origin': {**REGION['origin'], 'latitude': 91}}, 'latitude is 91, expected'),
    ({**REGION, 'origin': {**REGION['origin'], 'altitude': float('nan')}}, 'altitude is nan'),
    ({**REGION, 'origin': dict.fromkeys(REGION['origin'], 0)},
     'origin is 0, 0, outside Hong Kong, expected latitude 22.13 to 22.58, longitude 113.76 to'),
    ({**REGION, 'origin': {**REGION['origin'], 'latitude': 22.6}}, 'origin is 22.6, 114.17, out'),
    ({**REGION, 'origin': {**REGION['origin'], 'longitude': True}}, 'longitude is True'),
    ({**REGION, 'height_offset': '1'}, "height_offset is '1', expected a number within ±200"),
    ({**REGION, 'places': None}, 'places is None, expected text'),
])
def test_bad_regions_are_refused_in_one_line(tmp_path, data, text):
    path = write_region(tmp_path, data)
    with pytest.raises(RegionError, match=text) as caught:
        Region.load(path)
    assert str(caught.value).startswith(f'{path}: ')
    assert '\n' not in str(caught.value)


def test_files_that_cannot_be_read_or_written_are_named(tmp_path):
    region = Region.load(write_region(tmp_path, REGION))
    (tmp_path / 'no').touch()
    with pytest.raises(RegionError, match=r'no/region\.yaml: cannot be written: '):
        region.save(tmp_path / 'no' / 'region.yaml')
    os.mkfifo(tmp_path / 'pipe')
    with pytest.raises(RegionError, match='pipe: cannot be read: not a regular file'):
        Region.load(tmp_path / 'pipe')
    with pytest.raises(RegionError, match='cannot be read: File name too long'):
        Region.load(tmp_path / ('a' * 300))
    with pytest.raises(RegionError, match=r'absent\.yaml: cannot be read: No such file'):
        Region.load(tmp_path / 'absent.yaml')
    with pytest.raises(RegionError, match='cannot be read: Is a directory'):
        load_places(tmp_path)
    (tmp_path / 'latin').write_bytes(b'caf\xe9')
    with pytest.raises(RegionError, match='latin: not UTF-8'):
        load_places(tmp_path / 'latin')


def test_places_are_read_and_written(tmp_path):
    night = {**PLACE, 'id': 'p2', 'type': 'bar', 'name_tc': '', 'hours': ['18:00', '02:00']}
    always = {**PLACE, 'id': 'p3', 'type': 'park', 'hours': ['00:00', '24:00']}
    places = load_places(write_places(tmp_path, [PLACE, night, always]))
    assert places[0] == Place('p1', 'cafe', 'Tea House', '茶室', GeoPoint(22.3, 114.17, 4.5),
                              (9 * 3600, 21 * 3600 + 1800))
    assert [place.hours for place in places[1:]] == [(18 * 3600, 26 * 3600), (0, 24 * 3600)]
    save_places(tmp_path / 'copy.json', places)
    assert load_places(tmp_path / 'copy.json') == places
    assert json.loads((tmp_path / 'copy.json').read_text()) == [PLACE, night, always]


@pytest.mark.parametrize(('hours', 'open_at', 'closed_at'), [
    ((9 * 3600, 18 * 3600), (9, 12, 17.99), (8.99, 18, 0, 23)),
    ((18 * 3600, 26 * 3600), (18, 23, 0, 1.99), (2, 12, 17.99)),
    ((0, 24 * 3600), (0, 12, 23.99), ()),
    ((9 * 3600, 33 * 3600), (9, 8.99, 0), ()),
])
def test_opening_hours_may_pass_midnight(hours, open_at, closed_at):
    place = Place('p', 'cafe', 'n', '', GeoPoint(0, 0, 0), hours)
    assert all(place.is_open(hour * 3600) for hour in open_at)
    assert not any(place.is_open(hour * 3600) for hour in closed_at)


@pytest.mark.parametrize(('data', 'text'), [
    ('[', 'not JSON'),
    ({}, 'holds a dict, expected a list of places'),
    ([1], 'place 0: holds a int, expected a mapping'),
    ([PLACE, {**PLACE, 'id': 'p2', 'floor': 1}], "place 1: key 'floor' is unknown, expected id"),
    ([without(PLACE, 'hours')], "place 0: key 'hours' is missing"),
    ([{**PLACE, 'type': ''}], "type is '', expected text that is not empty"),
    ([{**PLACE, 'id': ''}], "id is '', expected text that is not empty"),
    ([PLACE, PLACE], "place 1: id is 'p1', expected an id that no place before it has"),
    ([{**PLACE, 'name_tc': None}], 'name_tc is None, expected text'),
    ([{**PLACE, 'entrance': {}}], "place 0: entrance: key 'latitude' is missing"),
    ([{**PLACE, 'hours': ['9:00', '21:00']}], r'hours is .*expected opening and closing time'),
    ([{**PLACE, 'hours': ['09:00', '24:01']}], 'hours is'),
    ([{**PLACE, 'hours': ['09:60', '12:00']}], 'hours is'),
    ([{**PLACE, 'hours': [9, 12]}], 'hours is'),
    ([{**PLACE, 'hours': '09:00'}], 'hours is'),
])
def test_bad_places_are_refused_in_one_line(tmp_path, data, text):
    path = write_places(tmp_path, data)
    with pytest.raises(RegionError, match=text) as caught:
        load_places(path)
    assert str(caught.value).startswith(f'{path}: ')
    assert '\n' not in str(caught.value)


def test_places_of_unknown_types_are_left_out_and_told(tmp_path, caplog):
    types = ['castle', 'cafe', 'moat', 'castle', 'castle', 'castle']
    path = write_places(tmp_path, [
        {**PLACE, 'id': f'p{number}', 'type': kind} for number, kind in enumerate(types)])
    assert [place.id for place in load_places(path)] == ['p1']
    castle, moat = caplog.messages
    assert castle.startswith(f"{path}: type 'castle' of 4 places (p0, p3, p4, …) is unknown, "
                             'expected one of arts_centre, atm')
    assert moat.startswith(f"{path}: type 'moat' of 1 places (p2) is unknown")
    assert '\n' not in castle


def test_place_types_have_a_name_for_people():
    assert all(key == key.lower() and name for key, name in PLACE_TYPES.items())
    assert list(PLACE_TYPES) == sorted(PLACE_TYPES)
