# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The open service of the pedestrian network: every feature comes, or one line tells why not."""

import json
import logging

from network_standin import NetworkStandIn
from network_standin import read_features
import numpy as np
import pytest

from urbanground_ros.geo import Envelope
from urbanground_ros.geo import GeoError
from urbanground_ros.geo import NetworkError
from urbanground_ros.geo import NetworkService
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.http import HttpLimits

QUICK = HttpLimits(timeout=0.5, deadline=2.0, tries=3, backoff=0.01)
KEY = 'SECRET-1'
#: Kowloon Tong: 24 of the sample's 27 features are there.
PLACE = (22.3395, 114.1785, 700.0)


@pytest.fixture
def service(samples):
    with NetworkStandIn(read_features(samples)) as running:
        yield running


@pytest.fixture
def ids(service):
    """Return the ids of the features around the place."""
    envelope = Envelope.around(*PLACE)
    found = service.within({'geometry': ','.join(map(str, envelope)), 'inSR': '2326'})
    assert len(found) == 24
    return found


def download(service, key=None, limits=QUICK, place=PLACE):
    return NetworkService(service.url, key, limits).download(Envelope.around(*place))


def ids_of(document):
    return [feature['attributes']['OBJECTID'] for feature in document['features']]


def test_what_comes_is_what_the_samples_have(service, ids, samples, tmp_path, frame):
    document = download(service)
    assert ids_of(document) == ids
    assert 'exceededTransferLimit' not in document
    (tmp_path / 'network.json').write_text(json.dumps(document))
    network = PedestrianNetwork.load(tmp_path / 'network.json', frame)
    published = {feature.id: feature for path in samples
                 for feature in PedestrianNetwork.load(path, frame).features}
    assert len(network.features) == 24
    for feature in network.features:
        other = published[feature.id]
        assert np.abs(feature.points - other.points).max() < 1e-3
        assert {**vars(feature), 'points': 0, 'offsets': 0} == {
            **vars(other), 'points': 0, 'offsets': 0}


def test_the_map_server_answers_alike(samples, service):
    with NetworkStandIn(read_features(samples), 'MapServer') as other:
        assert download(other) == download(service)


def test_a_limit_of_the_server_makes_more_pages(service, ids):
    service.limit = 4
    assert ids_of(download(service)) == ids
    assert service.questions == ['ids', 'count', *['page'] * 6]
    assert [query['resultOffset'] for query in service.queries[2:]] == [
        '0', '4', '8', '12', '16', '20']


@pytest.mark.parametrize('limit', [5, 3000])
def test_what_pages_leave_out_is_asked_for_by_id(service, ids, limit):
    service.limit = limit
    service.left_out = {ids[0], ids[7], ids[-1]}
    assert ids_of(download(service)) == ids
    asked = [query['objectIds'] for query in service.queries if 'objectIds' in query]
    assert asked == [','.join(map(str, sorted(service.left_out)))]


def test_a_page_with_nothing_left_is_not_the_end(service, ids):
    service.limit = 4
    service.left_out = set(ids[4:8])
    assert ids_of(download(service)) == ids
    assert service.questions.count('page') == 2
    assert service.questions.count('by id') == 5


def test_what_is_kept_back_is_told(service, ids):
    service.kept_back = set(ids[2:9])
    with pytest.raises(NetworkError, match='gives 17 of 24 features, OBJECTID') as error:
        download(service)
    assert f'{ids[2]}, {ids[3]}' in str(error.value)
    assert str(error.value).endswith(', … not even by id')


def test_a_count_that_differs_is_no_answer(service):
    service.miscounted = 1
    with pytest.raises(NetworkError, match='lists 24 features and counts 25, expected the same'):
        download(service)


FAULTS = [
    (500, 'HTTP 500, after 3 tries'),
    (503, 'HTTP 503, after 3 tries'),
    ('slow', 'no answer in 0.5 s, after 3 tries'),
    ('truncated', 'bytes of .*, after 3 tries'),
    ('cut', 'not whole JSON, after 3 tries'),
    ('list', 'an answer that is a list, after 3 tries'),
    ('empty', 'an answer without .*, after 3 tries'),
    ('error 500', r"answered 'Error performing query operation' \(code 500\), after 3 tries"),
]


@pytest.mark.parametrize('question', ['ids', 'count', 'page', 'by id'])
@pytest.mark.parametrize(('kind', 'said'), FAULTS)
def test_faults_that_stay_are_told_in_one_line(service, ids, question, kind, said):
    service.left_out = {ids[0]}
    service.faults = [(question, kind, 99)]
    with pytest.raises(NetworkError, match=said) as error:
        download(service)
    assert '\n' not in str(error.value)
    assert str(error.value).startswith(f'{service.url}/query: ')
    assert service.questions.count(question) == 3


@pytest.mark.parametrize('question', ['ids', 'count', 'page', 'by id'])
@pytest.mark.parametrize('kind', [kind for kind, _ in FAULTS])
def test_faults_that_pass_do_no_harm(service, ids, question, kind):
    service.left_out = {ids[0]}
    service.faults = [(question, kind, 2)]
    assert ids_of(download(service)) == ids


@pytest.mark.parametrize(('kind', 'said'), [
    ('error 400', r"answered 'Error performing query operation' \(code 400\)"),
    ('page', r'answered with a page \(text/html\), expected JSON of a map server'),
    (404, 'HTTP 404, expected 200'), (403, 'HTTP 403 .*want a key'),
])
def test_faults_that_last_are_not_tried_again(service, kind, said):
    service.faults = [('page', kind, 1)]
    with pytest.raises(NetworkError, match=said):
        download(service)
    assert service.questions == ['ids', 'count', 'page']


def test_a_server_that_fails_on_long_pages_is_asked_for_shorter_ones(service, monkeypatch):
    monkeypatch.setattr('urbanground_ros.geo.network.service._PAGES', (20, 5))
    service.faults = [('page', 'error 500', 3)]
    assert len(download(service)['features']) == 24
    assert [query['resultRecordCount'] for query in service.queries[2:]] == [
        *['20'] * 3, *['5'] * 5]


def test_heights_that_are_missing_are_told(service):
    service.heights = False
    with pytest.raises(NetworkError, match=r'no heights \(hasZ is None\), expected what returnZ'):
        download(service)


def test_another_grid_than_asked_for_is_told(service):
    service.grid = 4326
    with pytest.raises(NetworkError, match=r"'wkid': 4326.* expected what outSR=2326 asks for"):
        download(service)


def test_a_key_is_sent_and_never_told(service, ids, caplog):
    caplog.set_level(logging.DEBUG)
    service.key = KEY
    assert ids_of(download(service, KEY)) == ids
    assert all(query['token'] == KEY for query in service.queries)
    assert ids_of(NetworkService(f'{service.url}?token={KEY}', limits=QUICK).download(
        Envelope.around(*PLACE))) == ids
    service.faults = [('page', 500, 99)]
    errors = []
    for key in (KEY, 'WRONG', None):
        with pytest.raises(NetworkError) as error:
            download(service, key)
        errors.append(str(error.value))
    assert 'HTTP 500' in errors[0]
    assert "'Invalid token ….' (code 498), is the key right?" in errors[1]
    assert "'Token Required' (code 499), is the key right?" in errors[2]
    assert KEY not in ''.join(errors) + caplog.text
    assert 'WRONG' not in ''.join(errors)


def test_nothing_there_is_told(service):
    with pytest.raises(NetworkError, match='no features there, expected ways to walk on'):
        download(service, place=(22.3, 114.2, 50.0))


def test_too_much_is_told(service, monkeypatch):
    monkeypatch.setattr('urbanground_ros.geo.network.service.MAX_FEATURES', 23)
    with pytest.raises(NetworkError, match=r'has 24 features there, .* a smaller radius'):
        download(service)


def test_nobody_there():
    nobody = NetworkService('http://127.0.0.1:9/x/FeatureServer/0', limits=QUICK)
    with pytest.raises(NetworkError, match=r'no connection .*, after 3 tries'):
        nobody.download(Envelope.around(*PLACE))


@pytest.mark.parametrize('url', ['ftp://host/x/FeatureServer/0', 'http://', 'host'])
def test_what_is_no_url(url):
    with pytest.raises(NetworkError, match='is no URL'):
        NetworkService(url)


@pytest.mark.parametrize('path', ['', '/x/FeatureServer', '/x/FeatureServer/0/query?f=json'])
def test_what_is_no_layer(path):
    with pytest.raises(NetworkError, match='no layer of a map server, expected') as error:
        NetworkService(f'http://host{path}')
    assert 'f=json' not in str(error.value)


def test_progress_goes_from_nothing_to_everything(service):
    service.limit = 9
    shares = []
    NetworkService(service.url, limits=QUICK).download(
        Envelope.around(*PLACE), lambda share, text: shares.append((round(share, 2), text)))
    assert shares == [(0.0, 'ids'), (0.38, '9 of 24 features'), (0.75, '18 of 24 features'),
                      (1.0, '24 of 24 features')]


def test_a_place_outside_hong_kong_is_refused():
    with pytest.raises(GeoError, match=r'the place is 48.8, 2.3, outside Hong Kong, expected'):
        Envelope.around(48.8, 2.3, 500.0)
