# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the open service of the pedestrian network, on the loopback interface.

It serves features that it is given, the real samples, in the formats that the ArcGIS server of
the CSDI portal answers with: Esri JSON and GeoJSON, ids, counts, error objects with status 200.
It fails on demand.
"""

from collections import Counter
from collections.abc import Iterable
import json
from pathlib import Path
import time
from urllib.parse import urlsplit

from http_standin import HttpStandIn
from http_standin import StandInHandler
import numpy as np
import shapely

from urbanground_ros.geo import wgs84_to_hk80

SERVICE = '/server/rest/services/common/landsd_rcd_1637222018065_52265'
#: References as the server states them.
REFERENCES = {4326: {'wkid': 4326, 'latestWkid': 4326},
              2326: {'wkid': 102140, 'latestWkid': 2326}}


def read_features(paths: Iterable[Path]) -> list[tuple[dict, list]]:
    """Return attributes and paths, in longitude, latitude and height, of sample files."""
    features = []
    for path in paths:
        for feature in json.loads(path.read_text())['features']:
            geometry = feature['geometry']
            features.append((
                feature.get('properties') or feature['attributes'],
                geometry.get('paths') or [geometry['coordinates']]))
    return sorted(features, key=lambda feature: feature[0]['OBJECTID'])


def to_grid(paths: list) -> list:
    """Return paths in the Hong Kong 1980 Grid, on the grid of 0.1 mm that it is kept in."""
    result = []
    for path in paths:
        array = np.array(path, dtype=float)
        east, north = wgs84_to_hk80(array[:, 1], array[:, 0])
        result.append(np.column_stack(
            [np.round(east, 4), np.round(north, 4), array[:, 2:]]).tolist())
    return result


class NetworkStandIn(HttpStandIn):
    """The service; a context manager.

    Attributes:
        url: Of the layer.
        limit: Features in an answer, at most.
        key: The `token` that it wants.
        heights: False where it has none.
        grid: The reference system that it answers in, whatever is asked for; None obeys.
        left_out: OBJECTIDs that pages do not have, though it counts and lists them.
        kept_back: OBJECTIDs that are not given by id either.
        miscounted: Added to each count.
        faults: (question, kind, times): so many questions of a kind (`ids`, `count`, `page`,
            `by id`) fail as said: a status, `slow`, `truncated`, `cut`, `page`, `list`,
            `error 500`, `error 400`, `empty`.
        questions: The kind of each question, in order.
        queries: What it was asked.
    """

    def __init__(self, features: list[tuple[dict, list]], server: str = 'FeatureServer') -> None:
        super().__init__(_Handler)
        self.features = {attributes['OBJECTID']: (attributes, paths, to_grid(paths))
                         for attributes, paths in features}
        self.limit = 3000
        self.key: str | None = None
        self.heights = True
        self.grid: int | None = None
        self.left_out: set[int] = set()
        self.kept_back: set[int] = set()
        self.miscounted = 0
        self.faults: list[tuple[str, int | str, int]] = []
        self.delay = 2.0
        self.questions: list[str] = []
        self.queries: list[dict[str, str]] = []
        self._seen: Counter = Counter()
        self.url = f'{self.origin}{SERVICE}/{server}/0'

    def fault(self, question: str) -> int | str | None:
        """Return how this question fails."""
        with self._lock:
            for number, (pattern, kind, times) in enumerate(self.faults):
                if pattern == question:
                    self._seen[number] += 1
                    if self._seen[number] <= times:
                        return kind
        return None

    def within(self, query: dict[str, str]) -> list[int]:
        """Return the ids of the features that meet the envelope of a query."""
        west, south, east, north = map(float, query['geometry'].split(','))
        kind = 2 if query.get('inSR') == '2326' else 1
        area = shapely.box(west, south, east, north)
        return [number for number, feature in self.features.items() if any(
            shapely.LineString(np.array(path)[:, :2]).intersects(area)
            for path in feature[kind])]

    def answer(self, query: dict[str, str]) -> dict:
        """Return what the server says to a query."""
        if 'objectIds' in query:
            ids = [int(number) for number in query['objectIds'].split(',')]
            found = [number for number in ids if number in self.features]
        elif query.get('geometryType') == 'esriGeometryEnvelope' and query.get('where') == '1=1':
            found = self.within(query)
        else:
            return _error(400, 'Cannot perform query. Invalid query parameters.')
        if query.get('returnCountOnly') == 'true':
            return {'count': len(found) + self.miscounted}
        if query.get('returnIdsOnly') == 'true':
            return {'objectIdFieldName': 'OBJECTID', 'objectIds': found or None}
        if query.get('outFields') != '*':
            return _error(400, 'Cannot perform query. Invalid query parameters.')
        first = int(query.get('resultOffset', 0))
        size = min(int(query.get('resultRecordCount', self.limit)), self.limit)
        page = found[first:first + size]
        more = len(found) > first + size
        hidden = self.kept_back if 'objectIds' in query else self.left_out | self.kept_back
        system = self.grid or int(query.get('outSR', 2326))
        has_z = self.heights and query.get('returnZ') == 'true'
        chosen = [(self.features[number][0], [
            [position if has_z else position[:2] for position in path]
            for path in self.features[number][1 if system == 4326 else 2]])
            for number in page if number not in hidden]
        if query['f'] == 'geojson':
            return self._geojson(chosen, more)
        return {
            'objectIdFieldName': 'OBJECTID', 'globalIdFieldName': '',
            'geometryType': 'esriGeometryPolyline', 'spatialReference': REFERENCES[system],
            **({'hasZ': True} if has_z else {}),
            'fields': [{'name': 'OBJECTID', 'alias': 'OBJECTID', 'type': 'esriFieldTypeOID'}],
            'features': [{
                'attributes': attributes,
                'geometry': {**({'hasZ': True} if has_z else {}), 'paths': paths},
            } for attributes, paths in chosen],
            **({'exceededTransferLimit': True} if more else {}),
        }

    @staticmethod
    def _geojson(chosen: list[tuple[dict, list]], more: bool) -> dict:
        # The last feature of a page is not in it: that the format loses some is known.
        return {
            'type': 'FeatureCollection', 'features': [{
                'type': 'Feature', 'id': attributes['OBJECTID'], 'properties': attributes,
                'geometry': {'type': 'LineString', 'coordinates': paths[0]},
            } for attributes, paths in chosen[:-1]],
            **({'properties': {'exceededTransferLimit': True}} if more else {}),
        }


def _error(code: int, message: str) -> dict:
    return {'error': {'code': code, 'message': message, 'details': []}}


class _Handler(StandInHandler):
    standin: NetworkStandIn

    def _answer(self, status: int, body: bytes, kind: str = 'application/json; charset=utf-8',
                **more: object) -> None:
        self.answer(status, body, kind, **more)

    def serve(self, path: str, queries: dict[str, list[str]]) -> None:
        query = {name: values[-1] for name, values in queries.items()}
        standin = self.standin
        question = 'by id' if 'objectIds' in query else 'ids' if 'returnIdsOnly' in query else \
            'count' if 'returnCountOnly' in query else 'page'
        with standin._lock:
            standin.questions.append(question)
            standin.queries.append(query)
        if path != urlsplit(standin.url).path + '/query':
            self._answer(404, b'<html>not found', 'text/html')
            return
        if query.get('f') not in ('json', 'geojson'):
            self._answer(200, b'<html>a form', 'text/html')
            return
        fault = standin.fault(question)
        if standin.key is not None and query.get('token') != standin.key:
            said = f'Invalid token {query["token"]}.' if 'token' in query else 'Token Required'
            body = _error(498 if 'token' in query else 499, said)
        elif fault in ('error 500', 'error 400'):
            body = _error(int(str(fault)[-3:]), 'Error performing\nquery operation')
        elif fault == 'list':
            body = []
        elif fault == 'empty':
            body = {}
        else:
            body = standin.answer(query)
        data = json.dumps(body, ensure_ascii=False).encode()
        if fault == 'slow':
            time.sleep(standin.delay)
        if isinstance(fault, int):
            self._answer(fault, b'no', 'text/plain')
        elif fault == 'page':
            self._answer(200, b'<!DOCTYPE html><p>sorry', 'text/html; charset=utf-8')
        elif fault == 'truncated':
            self._answer(200, data[:len(data) // 2], length=len(data))
            self.close_connection = True
        elif fault == 'cut':
            self._answer(200, data[:len(data) // 2])
        else:
            self._answer(200, data, 'application/geo+json' if query['f'] == 'geojson'
                         else 'application/json; charset=utf-8')

