# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Strict readers of polyline files: GeoJSON (RFC 7946) and Esri JSON feature sets.

Both give the same lines, whatever the reference system the file states. A feature that cannot
be used, such as one without heights, is left out and told; the others stay.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import json
import logging
from os import PathLike
from pathlib import Path
import re
from typing import Any
from typing import NamedTuple

import numpy as np

from urbanground_ros.files import FileError
from urbanground_ros.files import read_file
from urbanground_ros.geo.errors import NetworkError
from urbanground_ros.geo.extent import EASTINGS
from urbanground_ros.geo.extent import LATITUDES
from urbanground_ros.geo.extent import LONGITUDES
from urbanground_ros.geo.extent import NORTHINGS
from urbanground_ros.geo.frames import FloatArray
from urbanground_ros.geo.frames import hk80_to_wgs84

ID_FIELD = 'PedestrianRouteID'
_LOG = logging.getLogger(__name__)
# So many faults are told one by one.
_TOLD = 5
_WGS84 = 4326
_HK80 = 2326
_HKPD = 5738
#: Well-known ids that a file may state; Esri numbers the Hong Kong 1980 Grid on its own.
_REFERENCE_SYSTEMS = {_WGS84: _WGS84, _HK80: _HK80, 102140: _HK80}
_EXPECTED_SYSTEM = 'expected EPSG:4326 or EPSG:2326 (Esri 102140)'
_BOUNDS = {
    _WGS84: ('longitude, latitude', LONGITUDES, LATITUDES),
    _HK80: ('easting, northing', EASTINGS, NORTHINGS),
}
# The deepest station is above the one, the highest summit below the other.
_HEIGHTS = (-150.0, 1000.0)
# Where, attributes, and the coordinates of each part.
_Parts = tuple[str, Mapping[str, Any], list[Any]]


class SourceLine(NamedTuple):
    """One part of a feature as a file gives it.

    Attributes:
        where: File and feature, for messages.
        number: Of its feature in the file, from 0.
        attributes: Fields of the feature, values as in the file.
        part: Number of the part within its feature, from 0.
        positions: Latitude and longitude (WGS84 degrees) and height (HKPD metres), (N, 3).
    """

    where: str
    number: int
    attributes: Mapping[str, Any]
    part: int
    positions: FloatArray


def tell_faults(faults: list[NetworkError], path: str | PathLike[str]) -> None:
    """Log what is wrong with features that are left out, a line each for the first of them."""
    for fault in faults[:_TOLD]:
        _LOG.warning('%s; the feature is left out', fault)
    if faults[_TOLD:]:
        _LOG.warning('%s: %d more features are left out', path, len(faults) - _TOLD)


def read_document(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Raises:
        NetworkError: it cannot be read, or holds something else.
    """
    try:
        document = json.loads(read_file(Path(path)).decode('utf-8-sig'))
    except FileError as error:
        raise NetworkError(str(error)) from None
    except (ValueError, RecursionError) as error:
        raise NetworkError(f'{path}: not JSON: {error}') from None
    if not isinstance(document, dict):
        raise NetworkError(f'{path}: holds a {type(document).__name__}, expected a GeoJSON '
                           'FeatureCollection or an Esri JSON feature set')
    return document


def lines_of(document: Mapping[str, Any], name: str | PathLike[str],
             faults: list[NetworkError]) -> list[SourceLine]:
    """Return every part of every feature of a GeoJSON or Esri JSON document.

    GeoJSON without a `crs` member holds longitude and latitude; heights are HKPD metres in
    every reference system, as the Lands Department publishes them.

    Args:
        document: As `read_document` gives it.
        name: What errors call it.
        faults: Gets what is wrong with each feature that is left out: one that has no usable
            polyline with heights in Hong Kong.

    Raises:
        NetworkError: it is neither format, states another reference system, is empty, or no
            feature of it can be used, and then what the first lacks.
    """
    split: Callable[[str, Mapping[str, Any], bool], _Parts]
    if document.get('type') == 'FeatureCollection':
        system, split = _geojson_system(name, document), _geojson_parts
    elif 'geometryType' in document or 'spatialReference' in document:
        system, split = _esri_system(name, document), _esri_parts
    else:
        raise NetworkError(f'{name}: {_describe(document)}, expected a GeoJSON '
                           'FeatureCollection or an Esri JSON feature set')
    features = document.get('features')
    if not isinstance(features, list) or not features:
        raise NetworkError(f'{name}: no features, expected a list of polylines')
    has_z = document.get('hasZ', False)
    lines = []
    own: list[NetworkError] = []
    for number, feature in enumerate(features):
        try:
            where, attributes, parts = split(_where(name, number, feature), feature, has_z)
            arrays = [_positions(where, coordinates) for coordinates in parts]
            _check_range(where, np.concatenate(arrays), system)
        except NetworkError as error:
            own.append(error)
            continue
        lines += [SourceLine(where, number, attributes, part, array)
                  for part, array in enumerate(arrays)]
    if not lines:
        raise own[0]
    faults += own
    return _to_wgs84(lines, system)


def _describe(document: Mapping[str, Any]) -> str:
    error = document.get('error')
    if isinstance(error, dict):
        return f'the map server answered {error.get("message", error)!r}'
    if 'type' in document:
        return f'type is {document["type"]!r}'
    return f'members are {", ".join(map(repr, document)) or "none"}'


def _where(path: str | PathLike[str], number: int, feature: Any) -> str:
    where = f'{path}: feature {number}'
    if not isinstance(feature, dict):
        raise NetworkError(f'{where}: holds a {type(feature).__name__}, expected an object')
    attributes = feature.get('properties', feature.get('attributes'))
    if not isinstance(attributes, dict):
        raise NetworkError(f'{where}: has no attributes')
    return f'{where} ({ID_FIELD} {attributes.get(ID_FIELD)})'


def _geojson_system(path: str | PathLike[str], document: Mapping[str, Any]) -> int:
    crs = document.get('crs')
    if crs is None:
        return _WGS84
    try:
        name = str(crs['properties']['name'])
    except (KeyError, TypeError):
        raise NetworkError(f'{path}: crs {crs!r} has no name, {_EXPECTED_SYSTEM}') from None
    if re.fullmatch(r'urn:ogc:def:crs:OGC:[\d.]*:CRS84', name):
        return _WGS84
    codes = {int(code) for code in re.findall(r'\b(?:EPSG|ESRI):(?:[\d.]*:)?(\d+)', name)}
    return _known_system(path, name, codes - {_HKPD})


def _esri_system(path: str | PathLike[str], document: Mapping[str, Any]) -> int:
    reference = document.get('spatialReference')
    if not isinstance(reference, dict):
        raise NetworkError(f'{path}: spatialReference is missing, {_EXPECTED_SYSTEM}')
    return _known_system(path, reference, {reference.get('wkid')})


def _known_system(path: str | PathLike[str], stated: Any, codes: set[Any]) -> int:
    if len(codes) == 1 and codes <= _REFERENCE_SYSTEMS.keys():
        return _REFERENCE_SYSTEMS[codes.pop()]
    raise NetworkError(f'{path}: reference system is {stated!r}, {_EXPECTED_SYSTEM}')


def _geojson_parts(where: str, feature: Mapping[str, Any], _has_z: bool) -> _Parts:
    geometry = feature.get('geometry')
    kind = geometry.get('type') if isinstance(geometry, dict) else geometry
    if kind not in ('LineString', 'MultiLineString'):
        raise NetworkError(f'{where}: geometry is {kind!r}, expected LineString or '
                           'MultiLineString')
    coordinates = geometry.get('coordinates') if isinstance(geometry, dict) else None
    parts = [coordinates] if kind == 'LineString' else coordinates
    return where, feature['properties'], _checked_parts(where, parts)


def _esri_parts(where: str, feature: Mapping[str, Any], has_z: bool) -> _Parts:
    geometry = feature.get('geometry')
    if not isinstance(geometry, dict) or 'paths' not in geometry:
        raise NetworkError(f'{where}: geometry has no paths, expected a polyline')
    # Without Z the third number would be a measure.
    if not geometry.get('hasZ', has_z):
        raise NetworkError(f'{where}: hasZ is not true, expected heights (returnZ=true)')
    return where, feature['attributes'], _checked_parts(where, geometry['paths'])


def _checked_parts(where: str, parts: Any) -> list[Any]:
    if not isinstance(parts, list) or not parts:
        raise NetworkError(f'{where}: geometry is empty, expected a polyline')
    return parts


def _positions(where: str, coordinates: Any) -> FloatArray:
    """Return x, y, height as the file has them, shape (N, 3)."""
    try:
        array = np.array(coordinates)
    except ValueError:
        array = np.empty(0, dtype=object)
    numbers = array.ndim == 2 and array.shape[1] >= 2 and array.dtype.kind in 'iuf'
    if (numbers and array.shape[1] == 2) or (not numbers and _lacks_heights(coordinates)):
        raise NetworkError(f'{where}: heights are missing, expected x, y, z (returnZ=true)')
    if not numbers:
        raise NetworkError(f'{where}: coordinates are not a list of equally long positions of '
                           'numbers')
    if len(array) < 2:
        raise NetworkError(f'{where}: has {len(array)} position, expected two or more')
    positions = array[:, :3].astype(np.float64)
    if not np.isfinite(positions).all():
        raise NetworkError(f'{where}: a coordinate is not finite')
    if (positions == positions[0]).all():
        raise NetworkError(f'{where}: has no length, its positions are all the same')
    return positions


def _lacks_heights(coordinates: Any) -> bool:
    """Tell whether positions are sound but for some heights, which are absent or null.

    A map server writes the height of a vertex that has none as `"NaN"`.
    """
    sound = isinstance(coordinates, list) and all(
        isinstance(position, list) and len(position) >= 2
        and all(isinstance(value, (int, float)) for value in position[:2])
        for position in coordinates)
    return sound and any(
        len(position) == 2 or position[2] in (None, 'NaN') for position in coordinates)


def _check_range(where: str, positions: FloatArray, system: int) -> None:
    axes, *horizontal = _BOUNDS[system]
    low, high = np.transpose([*horizontal, _HEIGHTS])
    outside = ((positions < low) | (positions > high)).any(axis=1)
    if not outside.any():
        return
    first = positions[np.argmax(outside)]
    values = ', '.join(f'{value:g}' for value in first)
    ranges = ', '.join(f'{a:g} to {b:g}' for a, b in zip(low, high, strict=True))
    raise NetworkError(f'{where}: position ({values}) is outside Hong Kong, expected {axes}, '
                       f'height in {ranges} (EPSG:{system}){_hint(first, system)}')


def _hint(position: FloatArray, system: int) -> str:
    """Return what a position that is outside of its reference system seems to be."""
    x, y = position[:2].tolist()
    for other, (axes, first, second) in _BOUNDS.items():
        if other != system and first[0] <= x <= first[1] and second[0] <= y <= second[1]:
            return f'; it looks like {axes} of EPSG:{other}, which the file does not state'
    _, first, second = _BOUNDS[system]
    if first[0] <= y <= first[1] and second[0] <= x <= second[1]:
        return '; the first two look exchanged'
    return ''


def _to_wgs84(lines: list[SourceLine], system: int) -> list[SourceLine]:
    """Turn x, y of a reference system into latitude, longitude, all lines at once."""
    positions = np.concatenate([line.positions for line in lines])
    ends = np.cumsum([len(line.positions) for line in lines])
    if system == _HK80:
        positions[:, 0], positions[:, 1] = hk80_to_wgs84(positions[:, 0], positions[:, 1])
    else:
        positions[:, :2] = positions[:, 1::-1]
    return [line._replace(positions=part)
            for line, part in zip(lines, np.split(positions, ends[:-1]), strict=True)]
