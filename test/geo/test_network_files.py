# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files of the pedestrian network: real ones whole, their variants alike, bad ones refused."""

import copy
import json

import numpy as np
import pytest

from urbanground_ros.geo import crop_file
from urbanground_ros.geo import CrossingFeature
from urbanground_ros.geo import DEFAULT_HKPD_OFFSET
from urbanground_ros.geo import Direction
from urbanground_ros.geo import Envelope
from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import Location
from urbanground_ros.geo import NetworkError
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import WeatherProof
from urbanground_ros.geo import wgs84_to_hk80

KOWLOON_TONG = '3dpn_sample/kowloon_tong_pedestrian_wgs84.geojson'
# Descriptions as the converted publication spells them.
WORDS = {
    'Location': {1: 'Outdoor', 2: 'Indoor'},
    'FeatureType': {
        1: 'Footway', 2: 'Footbridge', 5: 'Service Lane', 7: 'RunIn', 12: 'Staircase',
        23: 'Generalized Walkway Inside Park', 32: 'Crossing - Cautionary',
        33: 'Crossing - Others'},
    'CrossingFeature': {1: 'Road', None: None},
    'WeatherProof': {1: 'Covered', 2: 'NonCovered'},
    'WheelchairBarrier': {1: 'True', 2: 'False'},
    'WheelchairAccess': {1: 'True', 2: 'False'},
    'Direction': {0: 'Both Ways'},
    'Enabled': {1: 'True'},
}


def write(path, document):
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def properties(**changes):
    return {'PedestrianRouteID': 7, 'Location': 1, 'FeatureType': 1, 'WeatherProof': 2,
            'Direction': 0, **changes}


POSITIONS = [[114.17, 22.33, 5.0], [114.171, 22.33, 6.0]]


def collection(coordinates=POSITIONS, kind='LineString', more=(), **changes):
    return {'type': 'FeatureCollection', **dict(more), 'features': [{
        'type': 'Feature', 'properties': properties(**changes),
        'geometry': {'type': kind, 'coordinates': coordinates}}]}


def esri(coordinates=POSITIONS, wkid=4326, has_z=True, **changes):
    return {'geometryType': 'esriGeometryPolyline', 'spatialReference': {'wkid': wkid},
            'hasZ': has_z, 'features': [{
                'attributes': properties(**changes), 'geometry': {'paths': [coordinates]}}]}


def to_grid(coordinates):
    return [[*wgs84_to_hk80(latitude, longitude), height]
            for longitude, latitude, height in coordinates]


def assert_same(one, other, tolerance=0.0):
    assert len(one.features) == len(other.features)
    for a, b in zip(one.features, other.features, strict=True):
        assert np.abs(a.points - b.points).max() <= tolerance
        assert vars(a) | {'points': 0, 'offsets': 0} == vars(b) | {'points': 0, 'offsets': 0}
    assert list(one.graph.edges(keys=True)) == list(other.graph.edges(keys=True))


def test_every_real_feature_is_loaded_as_it_is(samples, frame):
    total = 0
    for path in samples:
        document = json.loads(path.read_text())
        network = PedestrianNetwork.load(path, frame)
        assert len(network.features) == len(document['features'])
        total += len(network.features)
        for feature, source in zip(network.features, document['features'], strict=True):
            attributes = source.get('properties') or source['attributes']
            geometry = source['geometry']
            coordinates = np.array(geometry.get('coordinates') or geometry['paths'][0])
            assert feature.id == attributes['PedestrianRouteID']
            assert feature.feature_type == attributes['FeatureType']
            assert feature.outdoor == (attributes['Location'] == 1)
            assert feature.covered == (attributes['WeatherProof'] == 1)
            assert feature.direction is Direction.BOTH_WAYS
            assert feature.crossing == attributes['CrossingFeature']
            assert feature.street == (attributes['StreetNameEN'] or '')
            assert feature.street_tc == (attributes['StreetNameTC'] or '')
            assert feature.name == attributes['AliasNameEN'].strip()
            assert feature.wheelchair_barrier == (attributes['WheelchairBarrier'] == 1)
            latitude, longitude, altitude = frame.to_geodetic(feature.points)
            assert np.abs(longitude - coordinates[:, 0]).max() < 1e-11
            assert np.abs(latitude - coordinates[:, 1]).max() < 1e-11
            assert np.abs(altitude - DEFAULT_HKPD_OFFSET - coordinates[:, 2]).max() < 1e-6
    assert total == 43


def test_plan_length_in_the_grid_is_the_published_one(samples, frame):
    for path in samples:
        network = PedestrianNetwork.load(path, frame)
        sources = json.loads(path.read_text())['features']
        for feature, source in zip(network.features, sources, strict=True):
            latitude, longitude, _ = frame.to_geodetic(feature.points)
            grid = np.stack(wgs84_to_hk80(latitude, longitude), axis=-1)
            length = np.hypot(*np.diff(grid, axis=0).T).sum()
            published = (source.get('properties') or source['attributes'])['Shape__Length']
            assert length == pytest.approx(published, abs=1e-6)
            assert feature.length >= length * 0.9999


def test_files_together_make_one_network_in_their_order(samples, frame):
    together = PedestrianNetwork.load(samples, frame)
    apart = [PedestrianNetwork.load(path, frame) for path in samples]
    assert [f.id for f in together.features] == [f.id for n in apart for f in n.features]
    assert_same(PedestrianNetwork.load([str(p) for p in samples], frame), together)


def test_words_and_codes_make_the_same_network(data, frame, tmp_path):
    document = json.loads(data(KOWLOON_TONG).read_text())
    for source in document['features']:
        attributes = source['properties']
        for field, words in WORDS.items():
            attributes[field] = words[attributes[field]]
        for field in ('CreationDate', 'LastAmendmentDate'):
            attributes[field] = '2021/02/28 00:00:00+00'
        for field in ('StreetNameEN', 'StreetNameTC'):
            attributes[field] = attributes[field] or ''
        attributes['Shape_Length'] = attributes.pop('Shape__Length')
        attributes['BuildingID_1'] = str(attributes['BuildingID_1'] or '')
    words = PedestrianNetwork.load(write(tmp_path / 'words.geojson', document), frame)
    assert_same(words, PedestrianNetwork.load(data(KOWLOON_TONG), frame))


def test_esri_and_geojson_make_the_same_network(data, frame, tmp_path):
    document = json.loads(data(KOWLOON_TONG).read_text())
    features = [{'attributes': source['properties'],
                 'geometry': {'hasZ': True, 'paths': [source['geometry']['coordinates']]}}
                for source in document['features']]
    for name, reference in (('a', {'wkid': 4326, 'latestWkid': 4326}), ('b', {'wkid': 4326})):
        path = write(tmp_path / f'{name}.json', {
            'geometryType': 'esriGeometryPolyline', 'spatialReference': reference,
            'features': features})
        assert_same(PedestrianNetwork.load(path, frame),
                    PedestrianNetwork.load(data(KOWLOON_TONG), frame))


@pytest.mark.parametrize('reference', [
    'EPSG:2326', 'urn:ogc:def:crs:EPSG::2326', 'urn:ogc:def:crs,crs:EPSG::2326,crs:EPSG::5738',
    'ESRI:102140', 2326, 102140])
def test_grid_coordinates_are_taken_where_the_file_says_so(data, frame, tmp_path, reference):
    document = json.loads(data(KOWLOON_TONG).read_text())
    for source in document['features']:
        source['geometry']['coordinates'] = to_grid(source['geometry']['coordinates'])
    if isinstance(reference, str):
        document['crs'] = {'type': 'name', 'properties': {'name': reference}}
    else:
        document = {'spatialReference': {'wkid': reference}, 'hasZ': True, 'features': [
            {'attributes': s['properties'], 'geometry': {'paths': [s['geometry']['coordinates']]}}
            for s in document['features']]}
    grid = PedestrianNetwork.load(write(tmp_path / 'grid.json', document), frame)
    assert_same(grid, PedestrianNetwork.load(data(KOWLOON_TONG), frame), tolerance=1e-3)


@pytest.mark.parametrize('name', [
    'EPSG:4326', 'urn:ogc:def:crs:EPSG::4326', 'urn:ogc:def:crs:OGC:1.3:CRS84'])
def test_longitude_comes_first_however_wgs84_is_named(frame, tmp_path, name):
    more = {'crs': {'type': 'name', 'properties': {'name': name}}}
    named = PedestrianNetwork.load(write(tmp_path / 'a', collection(more=more)), frame)
    assert_same(named, PedestrianNetwork.load(write(tmp_path / 'b', collection()), frame))


def test_height_offset_lifts_everything(frame, tmp_path):
    path = write(tmp_path / 'a.geojson', collection())
    altitudes = [frame.to_geodetic(
        PedestrianNetwork.load(path, frame, height_offset=offset).features[0].points)[2]
        for offset in (0.0, -3.1)]
    assert altitudes[0] == pytest.approx([5.0, 6.0], abs=1e-6)
    assert altitudes[1] == pytest.approx([1.9, 2.9], abs=1e-6)


def test_parts_of_one_feature_are_told_apart(frame, tmp_path):
    second = [[114.172, 22.33, 7.0], [114.173, 22.33, 7.0]]
    network = PedestrianNetwork.load(write(tmp_path / 'a.geojson', collection(
        [POSITIONS, second], 'MultiLineString')), frame)
    assert [(f.id, f.part, len(f.points)) for f in network.features] == [(7, 0, 2), (7, 1, 2)]
    assert len(network.components()) == 2


def test_measures_and_a_byte_order_mark_do_no_harm(frame, tmp_path):
    plain = PedestrianNetwork.load(write(tmp_path / 'a', collection()), frame)
    measured = collection([[*position, 9.0] for position in POSITIONS])
    marked = write(tmp_path / 'b', '\ufeff' + json.dumps(measured))
    assert_same(PedestrianNetwork.load(marked, frame), plain)


@pytest.mark.parametrize(('field', 'value', 'attribute', 'expected'), [
    ('FeatureType', 'Crossing-Zebra', 'feature_type', FeatureType.CROSSING_ZEBRA),
    ('FeatureType', 'M_stairlift', 'feature_type', FeatureType.M_STAIRLIFT),
    ('FeatureType', 8.0, 'feature_type', FeatureType.ESCALATOR),
    ('Location', 'Indoor', 'location', Location.INDOOR),
    ('WeatherProof', 3, 'covered', None),
    ('WeatherProof', 'Covered', 'covered', True),
    ('WeatherProof', None, 'weather_proof', WeatherProof.UNCLASSIFIED),
    ('Direction', -1, 'direction', Direction.ONE_WAY_BACKWARD),
    ('Direction', 'One Way Forward', 'direction', Direction.ONE_WAY_FORWARD),
    ('Direction', None, 'direction', Direction.BOTH_WAYS),
    ('CrossingFeature', 'LightRail', 'crossing', CrossingFeature.LIGHT_RAIL),
    ('WheelchairAccess', 'False', 'wheelchair_access', False),
    ('WheelchairAccess', None, 'wheelchair_access', None),
    ('StreetNameEN', '', 'street', ''),
    ('StreetNameEN', None, 'street', ''),
    ('StreetNameEN', 'Lane beside  ', 'street', 'Lane beside'),
    ('FloorID', '1108245235', 'floor_id', 1108245235),
    ('BuildingID_2', 12.0, 'building_ids', (12,)),
])
def test_values_are_read(frame, tmp_path, field, value, attribute, expected):
    path = write(tmp_path / 'a.geojson', collection(**{field: value}))
    assert getattr(PedestrianNetwork.load(path, frame).features[0], attribute) == expected


def test_features_switched_off_are_listed_and_not_walked(frame, tmp_path):
    document = collection()
    document['features'].append({
        'type': 'Feature', 'properties': properties(PedestrianRouteID=8, Enabled=2),
        'geometry': {'type': 'LineString', 'coordinates': [POSITIONS[1], [114.172, 22.33, 6.0]]}})
    network = PedestrianNetwork.load(write(tmp_path / 'a.geojson', document), frame)
    assert [f.enabled for f in network.features] == [True, False]
    assert {key for _, _, key in network.graph.edges(keys=True)} == {0}
    assert network.nearest(network.features[1].points[-1:]).feature.tolist() == [0]
    assert not network.on_network(network.features[1].points[-1:]).any()


def renamed(document, old, new):
    document = copy.deepcopy(document)
    attributes = document['features'][0]['properties']
    attributes[new] = attributes.pop(old)
    return document


def crs(name):
    return collection(more={'crs': {'type': 'name', 'properties': {'name': name}}})


BAD_FILES = [
    ('', 'not JSON'),
    ('{"type": "FeatureColl', 'not JSON'),
    ('<html>busy</html>', 'not JSON'),
    ('[' * 100_000, 'not JSON'),
    ('[]', 'holds a list, expected a GeoJSON'),
    ('{}', 'members are none, expected a GeoJSON'),
    ({'type': 'Feature'}, "type is 'Feature', expected a GeoJSON"),
    ({'error': {'code': 400, 'message': 'Invalid\nquery'}}, "answered 'Invalid.*query'"),
    ({'type': 'FeatureCollection', 'features': []}, 'no features'),
    ({'type': 'FeatureCollection'}, 'no features'),
    ({'type': 'FeatureCollection', 'features': [3]}, 'feature 0: holds a int'),
    ({'type': 'FeatureCollection', 'features': [{'geometry': None}]}, 'feature 0: has no attri'),
    (crs('EPSG:3857'), "'EPSG:3857', expected EPSG:4326 or EPSG:2326"),
    (crs('EPSG:4979'), "'EPSG:4979', expected EPSG:4326 or EPSG:2326"),
    (crs('here'), "'here', expected EPSG:4326 or EPSG:2326"),
    (collection(more={'crs': 'EPSG:2326'}), "crs 'EPSG:2326' has no name"),
    (esri(wkid=3857), '3857.*expected EPSG:4326 or EPSG:2326'),
    ({'geometryType': 'esriGeometryPolyline', 'features': []}, 'spatialReference is missing'),
    (esri(has_z=False), r'feature 0 \(PedestrianRouteID 7\): hasZ is not true'),
    (collection('x', kind='Polygon'), "geometry is 'Polygon', expected LineString"),
    (collection(None), 'coordinates are not'),
    (collection([]), 'geometry is empty|coordinates are not'),
    (collection([], kind='MultiLineString'), 'geometry is empty'),
    (collection([POSITIONS[0]]), 'has 1 position, expected two'),
    (collection([[114.17, 22.33], [114.171, 22.33]]), 'heights are missing'),
    (collection([[114.17, 22.33, 5], [114.171, 22.33]]), 'heights are missing'),
    (collection([[114.17, 22.33, None], [114.171, 22.33, 5]]), 'heights are missing'),
    (esri([[114.17, 22.33, 'NaN'], [114.171, 22.33, 5]]), 'heights are missing'),
    (collection([[114.17, '22', None], [114.171, 22.33, 5]]), 'coordinates are not'),
    (collection([['114.17', '22.33', '5'], ['114.171', '22.33', '5']]), 'coordinates are not'),
    (collection([POSITIONS[0], POSITIONS[0]]), 'has no length'),
    (collection([POSITIONS[0], [114.17, 22.33, float('nan')]]), 'a coordinate is not finite'),
    (collection([POSITIONS[0], [float('inf'), 22.33, 5]]), 'a coordinate is not finite'),
    (collection([POSITIONS[0], [10 ** 400, 22.33, 5]]), 'coordinates are not'),
    (collection([POSITIONS[0], [1e308, 22.33, 5]]), 'outside Hong Kong'),
    (collection([POSITIONS[0], [22.33, 114.17, 5]]), r'\(22.33, 114.17, 5\) is outside Hong'),
    (collection([POSITIONS[0], [114.17, 22.33, -9999]]), r'-9999\) is outside Hong Kong'),
    (collection(to_grid(POSITIONS)), r'outside Hong Kong.*\(EPSG:4326\); it looks like easting, '
     r'northing of EPSG:2326, which the file does not state'),
    (esri(POSITIONS, wkid=2326), r'outside Hong Kong.*\(EPSG:2326\); it looks like longitude, '
     r'latitude of EPSG:4326'),
    (collection([POSITIONS[0], [22.33, 114.17, 5]]), 'the first two look exchanged'),
    (collection([POSITIONS[0], [2.3, 48.9, 5]]), r'\(EPSG:4326\)$'),
    (renamed(collection(), 'FeatureType', 'FeatureTyp'), 'attribute FeatureType is missing'),
    (renamed(collection(), 'Direction', 'direction'), 'attribute Direction is missing'),
    (collection(FeatureType=3), 'FeatureType is 3, expected one of 1 FOOTWAY, 2 FOOTBRIDGE'),
    (collection(FeatureType='Footwy'), "FeatureType is 'Footwy', expected one of"),
    (collection(FeatureType=1.5), 'FeatureType is 1.5, expected one of'),
    (collection(FeatureType=None), 'FeatureType is None, expected'),
    (collection(Direction=2), 'Direction is 2, expected one of -1 ONE_WAY_BACKWARD'),
    (collection(Location=[1]), r'Location is \[1\], expected one of'),
    (collection(PedestrianRouteID=None), 'PedestrianRouteID is None, expected'),
    (collection(PedestrianRouteID='x7'), "PedestrianRouteID is 'x7', expected an integer"),
    (collection(PedestrianRouteID=1.5), 'PedestrianRouteID is 1.5, expected an integer'),
    (collection(StreetNameEN=5), 'StreetNameEN is 5, expected text'),
    (collection(Enabled=2), 'no feature of the network is enabled'),
]


@pytest.mark.parametrize(('document', 'text'), BAD_FILES)
def test_bad_files_are_refused_in_one_line(frame, tmp_path, document, text):
    path = write(tmp_path / 'bad.geojson', document)
    with pytest.raises(NetworkError, match=text) as caught:
        PedestrianNetwork.load(path, frame)
    message = str(caught.value)
    assert '\n' not in message
    assert message.startswith(f'{path}: ')


def test_an_id_that_occurs_twice_counts_once_and_both_places_are_told(frame, tmp_path):
    paths = [write(tmp_path / name, collection()) for name in ('a.geojson', 'b.geojson')]
    network = PedestrianNetwork.load(paths, frame)
    assert len(network.features) == 1
    assert network.left_out == (
        f'{paths[1]}: feature 0 (PedestrianRouteID 7): the id occurs twice, first in {paths[0]}: '
        'feature 0 (PedestrianRouteID 7)',)


def test_files_that_cannot_be_read_are_named(frame, tmp_path):
    with pytest.raises(NetworkError, match=r'absent\.geojson: cannot be read: No such file'):
        PedestrianNetwork.load(tmp_path / 'absent.geojson', frame)
    with pytest.raises(NetworkError, match='cannot be read: Is a directory'):
        PedestrianNetwork.load(tmp_path, frame)
    (tmp_path / 'binary').write_bytes(b'PK\x03\x04\xff\xfe')
    with pytest.raises(NetworkError, match='binary: not JSON'):
        PedestrianNetwork.load(tmp_path / 'binary', frame)
    with pytest.raises(NetworkError, match='no network files'):
        PedestrianNetwork.load([], frame)


def several(*features):
    return {'type': 'FeatureCollection', 'features': [
        {**collection(PedestrianRouteID=number, **changes)['features'][0],
         'geometry': {'type': 'LineString', 'coordinates': coordinates}}
        for number, (coordinates, changes) in enumerate(features)]}


def test_a_feature_that_cannot_be_used_is_left_out_and_told(frame, tmp_path, caplog):
    flat = [position[:2] for position in POSITIONS]
    path = write(tmp_path / 'mixed.geojson', several(
        (POSITIONS, {}), (flat, {}), (POSITIONS, {'FeatureType': 99}), (POSITIONS, {}),
        ([[0, 0, 0], [0, 1, 0]], {})))
    network = PedestrianNetwork.load(path, frame)
    assert [feature.id for feature in network.features] == [0, 3]
    told = [
        f'{path}: feature 1 (PedestrianRouteID 1): heights are missing',
        f'{path}: feature 4 (PedestrianRouteID 4): position (0, 0, 0) is outside Hong Kong',
        f'{path}: feature 2 (PedestrianRouteID 2): attribute FeatureType is 99',
    ]
    assert all(line.startswith(start)
               for line, start in zip(network.left_out, told, strict=True))
    assert [record.getMessage() for record in caplog.records] == [
        f'{line}; the feature is left out' for line in network.left_out]


def test_many_faults_are_not_told_one_by_one(frame, tmp_path, caplog):
    path = write(tmp_path / 'flat.geojson', several(
        (POSITIONS, {}), *[([position[:2] for position in POSITIONS], {})] * 8))
    assert len(PedestrianNetwork.load(path, frame).left_out) == 8
    assert len(caplog.messages) == 6
    assert caplog.messages[-1] == f'{path}: 3 more features are left out'


def test_of_two_files_neither_may_be_without_a_feature(frame, tmp_path):
    good = write(tmp_path / 'good.geojson', collection(PedestrianRouteID=1))
    bad = write(tmp_path / 'bad.geojson', several(*[(to_grid(POSITIONS), {})] * 2))
    for paths in ([good, bad], [bad, good]):
        with pytest.raises(NetworkError, match=r'bad.geojson: feature 0 .* outside Hong Kong'):
            PedestrianNetwork.load(paths, frame)


def test_a_crop_has_what_meets_the_envelope_as_the_file_has_it(tmp_path):
    around = Envelope.around(22.33, 114.17, 100.0)
    across = [[114.16, 22.33, 5], [114.18, 22.33, 5]]
    beside = [[114.16, 22.34, 5], [114.18, 22.34, 5]]
    features = several((across, {'Odd': 'x'}), (beside, {}), (POSITIONS, {}))
    path = write(tmp_path / 'all.geojson', {'name': 'PedestrianRoute', **features})
    document = json.loads(path.read_text())
    cropped = crop_file(path, around)
    assert cropped == {**document, 'features': [document['features'][k] for k in (0, 2)]}
    grid = write(tmp_path / 'grid.json', esri(to_grid(across), wkid=102140))
    assert crop_file(grid, around) == json.loads(grid.read_text())
    with pytest.raises(NetworkError, match=r'all\.geojson: has no features there'):
        crop_file(path, Envelope.around(22.2, 114.17, 100.0))
