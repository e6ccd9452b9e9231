# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The open service of the pedestrian network: one layer of an ArcGIS server, asked in pages.

What it says is not trusted to be whole. A page may be cut at the server's own limit or leave
features out without a word, and errors come with status 200: so the ids of all features are
asked for first, checked against their count, and every page against the ids; what is missing
is asked for by id, and where something stays missing there is no result.

Queries follow the ArcGIS REST API, "Query (Feature Service/Layer)". Geometry is asked for in
the grid that it is kept in, so that nobody transforms it on the way, and as Esri JSON: the
server's GeoJSON is known to lack features.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import json
import re
from typing import Any
from urllib.parse import urlencode
from urllib.parse import urlsplit

from urbanground_ros.geo.errors import NetworkError
from urbanground_ros.geo.extent import Envelope
from urbanground_ros.http import gunzip
from urbanground_ros.http import HttpClient
from urbanground_ros.http import HttpError
from urbanground_ros.http import HttpLimits
from urbanground_ros.http import PassingError

#: Layer PedestrianRoute of the 3D Pedestrian Network, Lands Department, on the CSDI portal.
PEDESTRIAN_ROUTES = (
    'https://portal.csdi.gov.hk/server/rest/services/common/'
    'landsd_rcd_1637222018065_52265/FeatureServer/0'
)
#: More features than this are refused: Nav2's route graph numbers its edges with 16 bits.
MAX_FEATURES = 65_535

# How many features are asked for at once. The service gives up to 3,000; a server that fails on
# a page may manage a shorter one.
_PAGES = (1000, 250)
# So many ids keep a URL below 2,000 characters, which every server takes.
_IDS = 150
_ROUNDS = 3
_GRIDS = frozenset({2326, 102140})
# Codes of errors that another try does not change.
_LASTING = frozenset({400, 401, 403, 404, 498, 499})
_REFUSED = frozenset({401, 403, 498, 499})
_Features = dict[int, dict[str, Any]]


class NetworkService:
    """A layer that has the schema of PedestrianRoute."""

    def __init__(self, url: str = PEDESTRIAN_ROUTES, key: str | None = None,
                 limits: HttpLimits | None = None) -> None:
        """Take the URL of a layer, `…/FeatureServer/0` or `…/MapServer/0`.

        Args:
            url: What query it has goes with every question, and is kept secret.
            key: Sent as `token`; the Lands Department's service wants none.
            limits: How to ask.

        Raises:
            NetworkError: not the URL of a layer.
        """
        try:
            self._client = HttpClient(url, key, limits or HttpLimits(timeout=30.0, deadline=180.0),
                                      key_name='token', expected='JSON of a map server')
        except HttpError as error:
            raise NetworkError(str(error)) from None
        #: The layer, without anything secret.
        self.url = self._client.url.rstrip('/')
        if not re.search(r'/(Feature|Map)Server/\d+$', urlsplit(self.url).path):
            raise NetworkError(f'{self.url}: no layer of a map server, expected a URL that ends '
                               'as …/FeatureServer/0 does')

    def download(self, envelope: Envelope,
                 show: Callable[[float, str], None] | None = None) -> dict[str, Any]:
        """Return every feature that meets an envelope, as one Esri JSON feature set.

        Args:
            envelope: In the Hong Kong 1980 Grid.
            show: Told the share that has come, from 0 to 1, and what comes next.

        Returns:
            Attributes as the service has them; geometry in EPSG:2326, heights in HKPD.

        Raises:
            NetworkError: the service does not answer, answers with an error or without
                heights, or keeps something back; or there is no feature, or there are too many.
        """
        try:
            return self._download(envelope, show or (lambda *_: None))
        except HttpError as error:
            raise NetworkError(str(error)) from None

    def _download(self, envelope: Envelope,
                  show: Callable[[float, str], None]) -> dict[str, Any]:
        show(0.0, 'ids')
        within = {
            'where': '1=1', 'geometry': ','.join(f'{value:.3f}' for value in envelope),
            'geometryType': 'esriGeometryEnvelope', 'inSR': '2326',
            'spatialRel': 'esriSpatialRelIntersects',
        }
        field, ids = self._ids(within)
        header: dict[str, Any] = {}
        features: _Features = {}

        def take(page: dict[str, Any]) -> int:
            if page['features']:
                header.update({k: v for k, v in page.items()
                               if k not in ('features', 'exceededTransferLimit')})
            features.update(self._numbered(page['features'], field))
            show(min(len(features) / len(ids), 1.0), f'{len(features)} of {len(ids)} features')
            return len(page['features'])

        self._take_pages({**within, 'orderByFields': f'{field} ASC'}, len(ids), take)
        missing = self._take_by_id(ids, features, take)
        if missing:
            named = ', '.join(map(str, missing[:5])) + (', …' if missing[5:] else '')
            raise NetworkError(f'{self.url}: gives {len(ids) - len(missing)} of {len(ids)} '
                               f'features, {field} {named} not even by id')
        return {**header, 'features': [features[number] for number in ids]}

    def _ids(self, within: dict[str, str]) -> tuple[str, list[int]]:
        """Return the field that has the ids, and all ids in order."""
        for _ in range(_ROUNDS):
            listed = self._ask({**within, 'returnIdsOnly': 'true'}, 'objectIdFieldName')
            counted = self._ask({**within, 'returnCountOnly': 'true'}, 'count')['count']
            ids = self._whole_numbers(listed.get('objectIds') or [])
            if len(ids) == counted:
                break
        else:
            raise NetworkError(f'{self.url}: lists {len(ids)} features and counts {counted}, '
                               'expected the same')
        if not ids:
            raise NetworkError(f'{self.url}: has no features there, expected ways to walk on')
        if len(ids) > MAX_FEATURES:
            raise NetworkError(f'{self.url}: has {len(ids)} features there, expected up to '
                               f'{MAX_FEATURES}; take a smaller radius')
        return str(listed['objectIdFieldName']), ids

    def _whole_numbers(self, values: Any) -> list[int]:
        if not isinstance(values, list) or not all(type(value) is int for value in values):
            raise HttpError(f'{self.url}: lists ids that are no whole numbers')
        return sorted(set(values))

    def _take_pages(self, query: dict[str, str], total: int,
                    take: Callable[[dict[str, Any]], int]) -> None:
        """Give `take`, which returns how many they are, the features of one page after another.

        A page that has fewer than was asked for is followed by one that begins where it ended:
        it may have been cut, or have left some out, and then the two overlap.
        """
        sizes = list(_PAGES)
        offset = 0
        while offset < total:
            try:
                page = self._ask_features({
                    **query, 'resultOffset': str(offset), 'resultRecordCount': str(sizes[0])})
            except PassingError:
                if len(sizes) == 1 or total <= sizes[1]:
                    raise
                del sizes[0]
                continue
            count = take(page)
            if not count:
                # Whether anything follows an empty page, the API leaves open.
                break
            offset += count

    def _take_by_id(self, ids: Sequence[int], features: _Features,
                    take: Callable[[dict[str, Any]], int]) -> list[int]:
        """Give `take` the features that are still missing, and return what stays so."""
        fruitless = 0
        while fruitless < _ROUNDS:
            missing = [number for number in ids if number not in features]
            if not missing:
                break
            for start in range(0, len(missing), _IDS):
                batch = ','.join(map(str, missing[start:start + _IDS]))
                take(self._ask_features({'objectIds': batch}))
            fruitless = 0 if any(number in features for number in missing) else fruitless + 1
        return [number for number in ids if number not in features]

    def _ask_features(self, query: dict[str, str]) -> dict[str, Any]:
        page = self._ask({
            **query, 'outFields': '*', 'outSR': '2326', 'returnGeometry': 'true',
            'returnZ': 'true',
        }, 'features')
        if not isinstance(page['features'], list):
            raise HttpError(f'{self.url}: features are no list')
        if not page['features']:
            return page
        kind = page.get('geometryType')
        if kind != 'esriGeometryPolyline':
            raise HttpError(f'{self.url}: geometry is {kind!r}, expected esriGeometryPolyline')
        if page.get('hasZ') is not True:
            raise HttpError(f'{self.url}: features have no heights (hasZ is {page.get("hasZ")}), '
                            'expected what returnZ=true asks for')
        reference = page.get('spatialReference')
        stated = reference if isinstance(reference, dict) else {}
        if not any(stated.get(name) in _GRIDS for name in ('wkid', 'latestWkid')
                   if isinstance(stated.get(name), int)):
            raise HttpError(f'{self.url}: reference system is {reference!r}, expected what '
                            'outSR=2326 asks for')
        return page

    def _numbered(self, features: Sequence[Any], field: str) -> _Features:
        numbered: _Features = {}
        for feature in features:
            try:
                numbered[int(feature['attributes'][field])] = feature
            except (KeyError, TypeError, ValueError, OverflowError):
                raise HttpError(f'{self.url}: a feature has no {field}, expected an id') from None
        return numbered

    def _ask(self, query: dict[str, str], expected: str) -> dict[str, Any]:
        """Return an answer that has the member `expected`."""
        def read(data: bytes) -> dict[str, Any]:
            try:
                answer = json.loads(gunzip(data))
            except (ValueError, RecursionError):
                raise PassingError('an answer that is not whole JSON') from None
            if not isinstance(answer, dict):
                raise PassingError(f'an answer that is a {type(answer).__name__}')
            if isinstance(answer.get('error'), dict):
                raise self._error(answer['error'])
            if expected not in answer:
                raise PassingError(f'an answer without {expected!r}')
            return answer

        text = urlencode({**query, 'f': 'json'}, safe=',=*')
        return self._client.fetch(f'{self.url}/query?{text}', read)

    def _error(self, error: dict[str, Any]) -> HttpError:
        """Return what an error object says as an error."""
        code = error.get('code')
        code = code if isinstance(code, int) else None
        text = self._client.hide(' '.join(str(error.get('message', error)).split())[:160])
        said = f'the map server answered {text!r} (code {code})'
        if code in _REFUSED:
            said += ', is the key right?'
        return HttpError(f'{self.url}: {said}') if code in _LASTING else PassingError(said)
