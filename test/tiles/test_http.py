# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tilesets behind HTTP: the service's layout, its faults, the key, the cache."""

from contextlib import suppress
import gzip
import json
import logging
import os
import socket
import threading
import time

import numpy as np
import pytest
from standin import b3dm
from standin import frame
from standin import L4
from standin import StandIn

from urbanground_ros.tiles import DiskCache
from urbanground_ros.tiles import encode_image
from urbanground_ros.tiles import HttpOptions
from urbanground_ros.tiles import HttpSource
from urbanground_ros.tiles import load_tileset
from urbanground_ros.tiles import open_sources
from urbanground_ros.tiles import TilesError
from urbanground_ros.tiles.survey import survey

KEY = 'SECRET-1'
ROOT = '/f2/tileset.json'
TILE = f'/f2/11/Data/temp0/Tile_{L4[0]}_{L4[1]}_L4.b3dm'
QUICK = HttpOptions(timeout=0.5, deadline=2.0, tries=3, backoff=0.01)


@pytest.fixture
def service():
    with StandIn(KEY) as running:
        yield running


def source(service: StandIn, cache: DiskCache | None = None, **options: object) -> HttpSource:
    return HttpSource(
        service.url + ROOT, KEY, cache, HttpOptions(**{**vars(QUICK), **options})
    )


def test_the_layout_of_the_service_loads(service):
    found = survey(source(service))
    assert (found.tiles, found.meshes, found.depth) == (346, 341, 9)
    assert found.extensions == {'KHR_materials_unlit', 'KHR_texture_basisu'}
    assert found.warnings == [f'{service.url}/f2/12/tileset.json: HTTP 404, expected 200']


def test_the_finest_level_lies_on_the_ground(service):
    meshes = list(load_tileset(source(service), frame(), []))
    assert len(meshes) == 256
    assert all(abs(mesh.positions[:, 2]).max() < 0.3 for mesh in meshes)
    assert all(mesh.unlit and mesh.texture[0, 0].tolist() == [0, 90, 200] for mesh in meshes)
    assert meshes[0].name == '11/Data/temp0/Tile_120_56_L15_00.b3dm:0'


def test_every_request_has_the_key_and_no_name_has_it(service, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    service.faults = [('L3', 404, 9), ('L2', 'truncated', 1), ('L1', 'garbage', 9)]
    warnings = []
    place = source(service, DiskCache(tmp_path))
    meshes = list(load_tileset(place, frame(), warnings))
    warnings += survey(place).warnings
    assert all(query['key'] == [KEY] for query in service.queries)
    assert len(warnings) > 10
    kept = [name for _, folders, files in os.walk(tmp_path) for name in folders + files]
    said = '\n'.join([*warnings, *kept, caplog.text, *(mesh.name for mesh in meshes)])
    assert KEY not in said
    assert 'key' not in said


def test_a_key_in_the_address_is_a_key(service):
    place = HttpSource(f'{service.url}{ROOT}?key={KEY}', options=QUICK)
    assert place.root == service.url + ROOT
    assert survey(place, limit=9).meshes
    assert KEY not in place.resolve(place.root, f'11/tileset.json?key={KEY}&v=2')
    assert place.resolve(place.root, f'11/tileset.json?key={KEY}&v=2').endswith('.json?v=2')


@pytest.mark.parametrize('key', ['wrong', None])
def test_a_refused_key_is_told_once_and_not_tried_again(service, key):
    with pytest.raises(TilesError, match='HTTP 403') as error:
        survey(HttpSource(service.url + ROOT, key, options=QUICK))
    assert str(error.value).startswith(f'{service.url}{ROOT}: HTTP 403')
    assert 'wrong' not in str(error.value)
    assert len(service.requests) == 1


def test_the_key_goes_to_no_other_host(service):
    service.faults = [('L4.b3dm', 'elsewhere', 1)]
    with pytest.raises(TilesError, match='HTTP 403') as error:
        source(service).read(service.url + TILE)
    assert service.queries[0] == {'key': [KEY]}
    assert service.queries[1] == {}
    assert KEY not in str(error.value)


@pytest.mark.parametrize(('kind', 'said', 'tries'), [
    (404, 'HTTP 404, expected 200', 1), (500, 'HTTP 500, after 3 tries', 3),
    (503, 'HTTP 503, after 3 tries', 3), ('truncated', 'bytes of', 3),
    ('slow', 'no answer in 0.5 s, after 3 tries', 3),
    ('page', r'answered with a page \(text/html\)', 1),
])
def test_faults_that_stay(service, kind, said, tries):
    service.faults = [('L4.b3dm', kind, 9)]
    with pytest.raises(TilesError, match=said) as error:
        source(service).read(service.url + TILE)
    assert '\n' not in str(error.value)
    assert error.value.__cause__ is None
    assert KEY not in repr(error.value.__context__)
    assert service.requests.count(TILE) == tries


@pytest.mark.parametrize('kind', [500, 'truncated', 'slow'])
def test_faults_that_pass(service, kind):
    service.faults = [('L4.b3dm', kind, 2)]
    assert source(service).read(service.url + TILE) == b3dm(*L4, 4)


class Speaker:
    """Sends bytes, one piece after another, to whoever asks for anything."""

    def __init__(self, *pieces: bytes, pause: float = 0.0) -> None:
        self._pieces, self._pause = pieces, pause
        self._server = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self._server.getsockname()[1]}/tileset.json'
        self.asked = 0

    def __enter__(self):
        """Begin to speak."""
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._server.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self.asked += 1
                with connection, suppress(OSError):
                    connection.recv(9999)
                    for piece in self._pieces:
                        connection.sendall(piece)
                        time.sleep(self._pause)


OK = b'HTTP/1.1 200 OK\r\n'


@pytest.mark.parametrize('pieces', [
    [OK, b'X: ', *[b'a'] * 99], [b'HTTP/1.1 100 Continue\r\n\r\n'] * 99,
    [OK, b'Transfer-Encoding: chunked\r\n\r\n', *[b'0'] * 99],
    [OK, b'\r\n', *[b'a'] * 99],
])
def test_a_trickle_of_any_part_ends_at_the_deadline(pieces):
    began = time.monotonic()
    with Speaker(*pieces, pause=0.05) as speaker, \
            pytest.raises(TilesError, match=r'not whole in 0.3 s, after 1 tries'):
        HttpSource(speaker.url, options=HttpOptions(timeout=0.2, deadline=0.3, tries=1)).read(
            speaker.url)
    assert time.monotonic() - began < 2.0


@pytest.mark.parametrize('cut', [b'Content-Le', b'Content-Type: text/plain\r\n', b''])
def test_headers_that_end_early_are_no_answer(cut, tmp_path):
    cache = DiskCache(tmp_path)
    with Speaker(OK + cut) as speaker, \
            pytest.raises(TilesError, match=r'its headers end early\), after 3 tries'):
        HttpSource(speaker.url, None, cache, QUICK).read(speaker.url)
    assert cache.get(speaker.url) is None
    with Speaker(OK + b'\r\nwhole') as speaker:
        assert HttpSource(speaker.url, options=QUICK).read(speaker.url) == b'whole'


@pytest.mark.parametrize('after', [b'1000000000', b'9' * 500, b'\xb2', b'nan', b'-5'])
def test_waiting_for_one_answer_is_bounded_in_all(after, monkeypatch):
    waits = []
    with Speaker(b'HTTP/1.1 503 No\r\nRetry-After: ' + after
                 + b'\r\nContent-Length: 0\r\nConnection: close\r\n\r\n') as speaker:
        place = HttpSource(speaker.url, options=QUICK)
        monkeypatch.setattr(place._client._closed, 'wait', waits.append)
        with pytest.raises(TilesError, match=r'HTTP 503, after [23] tries'):
            place.read(speaker.url)
    assert sum(waits) <= 30.0


def test_a_service_that_is_away_is_not_asked_for_every_name(tmp_path):
    cache = DiskCache(tmp_path)
    with Speaker(b'HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n') as speaker:
        place = speaker.url.removesuffix('/tileset.json')
        with pytest.raises(TilesError, match='HTTP 503'):
            open_sources(place, KEY, cache, QUICK)
        assert speaker.asked == QUICK.tries
        cache.put(f'{place}/f2/tileset.json', b'{}')
        (kept,) = open_sources(place, KEY, cache, QUICK)
        assert kept.root == f'{place}/f2/tileset.json'


@pytest.mark.parametrize('uri', [
    'http://127.0.0.1:abc/x', 'http://127.0.0.1:99999999/x', 'http://a b/x', 'http://[x/',
    'http://[zz]/x', 'http:///x', f'ftp://h/p?key={KEY}', f'file:///p?key={KEY}',
    f'ftp://u:{KEY}@h/p', f'ftp://h/{KEY}', f'http://127.0.0.1:9/{KEY}', '\ud800',
    f'http://{"a" * 70}.x/',
])
def test_a_uri_that_leads_nowhere_is_one_line_without_the_key(uri, caplog):
    moved = f'HTTP/1.1 302 Found\r\nLocation: {uri}\r\nContent-Length: 0\r\n\r\n'
    with Speaker(moved.encode('latin-1', 'replace')) as speaker:
        place = HttpSource(speaker.url, KEY, options=QUICK)
        for act in (lambda: place.read(place.root), lambda: place.fetch(place.root, uri)):
            with pytest.raises(TilesError) as error:
                act()
            assert KEY not in f'{error.value}{caplog.text}'
            assert '\n' not in str(error.value)


def test_nobody_there():
    place = HttpSource('http://127.0.0.1:9/tileset.json', KEY, options=QUICK)
    with pytest.raises(TilesError, match=r'no connection .*, after 3 tries') as error:
        place.read(place.root)
    assert KEY not in str(error.value)


@pytest.mark.parametrize('url', [
    'ftp://host/tileset.json', 'http:///tileset.json', 'http://host:port/x', 'http://[/',
])
def test_what_is_no_url(url):
    with pytest.raises(TilesError, match='is no URL'):
        HttpSource(url)


def test_what_was_fetched_is_not_fetched_again(service, tmp_path):
    survey(source(service, DiskCache(tmp_path)), limit=30)
    first = len(service.requests)
    found = survey(source(service, DiskCache(tmp_path)), limit=30)
    assert found.meshes
    # What failed is asked for again.
    assert service.requests[first:] == ['/f2/12/tileset.json']


@pytest.mark.parametrize('kind', ['garbage', 'empty', 'message'])
def test_what_turns_out_damaged_is_not_kept(service, tmp_path, kind):
    service.faults = [('L4', kind, 1), ('/f2/tileset.json', kind, 1)]
    with pytest.raises(TilesError, match=r'not JSON|not a tileset'):
        survey(source(service, DiskCache(tmp_path)))
    # One for what is never there, one for the file of the L4 tile, then for its content.
    for warnings in (2, 2, 1):
        found = survey(source(service, DiskCache(tmp_path)), limit=20)
        assert len(found.warnings) == warnings
    assert found.meshes == 15


def test_files_of_every_sort_are_not_kept_when_damaged(tmp_path):
    box = {'box': [0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 9]}
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], '<f4').tobytes()
    picture = encode_image(np.zeros((2, 2, 3), np.uint8))
    site = {
        'tileset.json': {'asset': {'version': '1.1'}, 'root': {
            'boundingVolume': box, 'geometricError': 1, 'content': {'uri': 'a.gltf'},
            'implicitTiling': {'subdivisionScheme': 'QUADTREE', 'availableLevels': 1,
                               'subtreeLevels': 1, 'subtrees': {'uri': 's.subtree'}}}},
        's.subtree': {'tileAvailability': {'bitstream': 0}, 'contentAvailability': [
            {'constant': 1}], 'childSubtreeAvailability': {'constant': 0},
            'buffers': [{'uri': 'bits', 'byteLength': 100}],
            'bufferViews': [{'buffer': 0, 'byteLength': 100}]},
        'a.gltf': {
            'asset': {'version': '2.0'}, 'buffers': [{'uri': 'points', 'byteLength': 36}],
            'bufferViews': [{'buffer': 0, 'byteLength': 36}], 'accessors': [
                {'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3'}],
            'images': [{'uri': 'picture'}], 'textures': [{'source': 0}],
            'materials': [{'pbrMetallicRoughness': {'baseColorTexture': {'index': 0}}}],
            'meshes': [{'primitives': [{'attributes': {'POSITION': 0}, 'material': 0}]}],
            'nodes': [{'mesh': 0}]},
        'bits': b'\xff' * 100, 'points': points, 'picture': picture,
    }
    files = {name: body if isinstance(body, bytes) else json.dumps(body).encode()
             for name, body in site.items()}
    host = 'http://127.0.0.1:9/'
    for name in ('s.subtree', 'bits', 'a.gltf', 'points', 'picture'):
        cache = DiskCache(tmp_path / name)
        for round_files in ({**files, name: b'{"e": 1}'}, files):
            place = HttpSource(f'{host}tileset.json', None, cache)
            place._client.fetch = lambda address, read, there=round_files: read(
                there[address.removeprefix(host)])
            found = survey(place)
            assert bool(found.warnings) == (round_files is not files), found.warnings
        assert found.meshes == 1


def test_offline_uses_the_cache_and_nothing_else(service, tmp_path):
    survey(source(service, DiskCache(tmp_path)), limit=30)
    first = len(service.requests)
    found = survey(source(service, DiskCache(tmp_path), offline=True))
    assert len(service.requests) == first
    assert found.meshes == 25
    assert all('not in the cache, and offline' in line for line in found.warnings)
    with pytest.raises(TilesError, match='not in the cache, and offline'):
        survey(source(service, DiskCache(tmp_path / 'empty'), offline=True))


def test_an_old_copy_serves_when_the_service_is_away(service, tmp_path, caplog):
    survey(source(service, DiskCache(tmp_path)), limit=30)
    service.faults = [('.', 503, 99)]
    found = survey(source(service, DiskCache(tmp_path), max_age=0.0, tries=1), limit=30)
    assert found.meshes == 25
    assert len([line for line in caplog.messages if 'what the cache has is used' in line]) == 1


def test_no_more_connections_at_once_than_allowed(service):
    service.faults, service.delay = [('b3dm', 'slow', 9)], 0.1
    place = source(service, connections=2)
    most = []
    client = place._client
    serve = client._get

    def get(address: str) -> bytes:
        most.append(2 - client._slots._value)
        return serve(address)

    client._get = get
    threads = [threading.Thread(target=place.read, args=(service.url + TILE,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 2


def test_mirrors_have_a_folder_each(service, tmp_path):
    places = open_sources(service.url, KEY, DiskCache(tmp_path), QUICK)
    assert [place.root for place in places] == [
        f'{service.url}/f2/tileset.json', f'{service.url}/building/tileset.json',
    ]
    (only,) = open_sources(f'{service.url}/f2/', KEY, DiskCache(tmp_path), QUICK)
    assert only.root == service.url + ROOT
    with pytest.raises(TilesError, match='HTTP 404'):
        open_sources(f'{service.url}/elsewhere', KEY, DiskCache(tmp_path), QUICK)


def test_the_key_is_the_given_one_else_that_of_the_url_else_of_the_environment(
        service, tmp_path, monkeypatch):
    def asked(url, key=None):
        service.queries.clear()
        (place,) = open_sources(url, key, DiskCache(tmp_path), QUICK)
        with suppress(TilesError):
            place.read(place.root)
        return service.queries[-1].get('key')

    root = service.url + ROOT
    monkeypatch.delenv('URBANGROUND_TILES_KEY', raising=False)
    assert asked(root) is None
    monkeypatch.setenv('URBANGROUND_TILES_KEY', 'environment')
    assert asked(root) == ['environment']
    assert asked(f'{root}?key=url') == ['url']
    assert asked(f'{root}?key=url', 'given') == ['given']


def test_folders_are_opened_alike(tmp_path):
    with pytest.raises(TilesError, match=r'no tileset, expected tileset.json in it or in one of'):
        open_sources(tmp_path)
    for name in ('f2', 'infrastructure'):
        (tmp_path / name).mkdir()
        (tmp_path / name / 'tileset.json').write_text('{}')
    assert [place.root for place in open_sources(tmp_path)] == [
        str(tmp_path / 'f2' / 'tileset.json'), str(tmp_path / 'infrastructure' / 'tileset.json'),
    ]
    (only,) = open_sources(tmp_path / 'f2')
    assert only.root == str(tmp_path / 'f2' / 'tileset.json')


def test_the_cache_finds_what_was_put(tmp_path):
    cache = DiskCache(tmp_path / 'new' / 'folder')
    assert cache.get('a') is None
    cache.put('a', b'1')
    cache.put('a', b'22')
    assert cache.get('a').data == b'22'
    assert cache.get('a').age < 60


def test_a_damaged_entry_is_told_and_forgotten(tmp_path, caplog):
    cache = DiskCache(tmp_path)
    cache.put('a', b'whole')
    (path,) = (path for path in tmp_path.rglob('*') if path.is_file())
    for damage in (b'', path.read_bytes()[:-1], path.read_bytes()[:-1] + b'?'):
        path.write_bytes(damage)
        assert cache.get('a') is None
        assert not path.exists()
    assert len([line for line in caplog.messages if 'damaged entry' in line]) == 1


def test_a_cache_that_is_read_only_serves(tmp_path, monkeypatch):
    cache = DiskCache(tmp_path)
    cache.put('a', b'whole')

    def refuse(*_: object) -> None:
        raise OSError(30, 'Read-only file system')

    monkeypatch.setattr(os, 'utime', refuse)
    assert cache.get('a').data == b'whole'


def test_what_is_least_recently_used_goes_first(tmp_path):
    cache = DiskCache(tmp_path, limit=10_000)
    for number in range(9):
        cache.put(str(number), bytes(1000))
    paths = {str(number): cache._path(str(number)) for number in range(9)}
    for number, path in paths.items():
        os.utime(path, (int(number), int(number)))
    cache.get('0')
    cache.put('new', bytes(1000))
    left = {number for number in paths if cache.get(number)}
    assert '0' in left
    assert '1' not in left
    assert '8' in left
    assert cache.get('new')
    assert sum(path.stat().st_size for path in tmp_path.rglob('*') if path.is_file()) <= 10_000
    cache.put('huge', bytes(20_000))
    assert cache.get('huge') is None


def test_a_folder_that_cannot_be_written_is_told_once(tmp_path, caplog):
    (tmp_path / 'file').write_bytes(b'')
    cache = DiskCache(tmp_path / 'file')
    cache.put('a', b'1')
    cache.put('b', b'1')
    assert cache.get('a') is None
    assert len([line for line in caplog.messages if 'cannot be written' in line]) == 1


def test_packed_files_are_unpacked(tmp_path):
    from urbanground_ros.tiles.limits import unpacked
    assert unpacked(gzip.compress(b'tile'), 'x') == b'tile'
    with pytest.raises(TilesError, match='gzip ends early'):
        unpacked(gzip.compress(b'tile' * 99)[:20], 'x')
    with pytest.raises(TilesError, match='unpacks to more than'):
        unpacked(gzip.compress(bytes((256 << 20) + 1), 1), 'x')
