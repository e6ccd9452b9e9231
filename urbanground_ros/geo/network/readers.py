# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Strict readers of polyline files: GeoJSON (RFC 7946) and Esri JSON feature sets.

Both give the same lines, whatever the reference system the file states.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import json
from os import PathLike
from pathlib import Path
import re
from typing import Any
from typing import NamedTuple

import numpy as np

from urbanground_ros.geo.errors import NetworkError
from urbanground_ros.geo.frames import FloatArray
from urbanground_ros.geo.frames import hk80_to_wgs84

ID_FIELD = 'PedestrianRouteID'
_WGS84 = 4326
_HK80 = 2326
_HKPD = 5738
#: Well-known ids that a file may state; Esri numbers the Hong Kong 1980 Grid on its own.
_REFERENCE_SYSTEMS = {_WGS84: _WGS84, _HK80: _HK80, 102140: _HK80}
_EXPECTED_SYSTEM = 'expected EPSG:4326 or EPSG:2326 (Esri 102140)'
# The area of use that EPSG registers for the grid, and its bounding box in the grid.
_BOUNDS = {
    _WGS84: ('longitude, latitude', (113.76, 114.51), (22.13, 22.58)),
    _HK80: ('easting, northing', (793_000.0, 871_500.0), (798_500.0, 849_500.0)),
}
# The deepest station is above the one, the highest summit below the other.
_HEIGHTS = (-150.0, 1000.0)
# Where, attributes, and the coordinates of each part.
_Parts = tuple[str, Mapping[str, Any], list[Any]]


class SourceLine(NamedTuple):
    """One part of a feature as a file gives it.

    Attributes:
        where: File and feature, for messages.
        attributes: Fields of the feature, values as in the file.
        part: Number of the part within its feature, from 0.
        positions: Latitude and longitude (WGS84 degrees) and height (HKPD metres), (N, 3).
    """

    where: str
    attributes: Mapping[str, Any]
    part: int
    positions: FloatArray


def read_lines(path: str | PathLike[str]) -> list[SourceLine]:
    """Read every part of every feature of a GeoJSON or Esri JSON file.

    GeoJSON without a `crs` member holds longitude and latitude; heights are HKPD metres in
    every reference system, as the Lands Department publishes them.

    Raises:
        NetworkError: the file cannot be read, is neither format, states another reference
            system, is empty, or a feature has no usable polyline with heights in Hong Kong.
    """
    document = _read_json(path)
    split: Callable[[str, Mapping[str, Any], bool], _Parts]
    if document.get('type') == 'FeatureCollection':
        system, split = _geojson_system(path, document), _geojson_parts
    elif 'geometryType' in document or 'spatialReference' in document:
        system, split = _esri_system(path, document), _esri_parts
    else:
        raise NetworkError(f'{path}: {_describe(document)}, expected a GeoJSON '
                           'FeatureCollection or an Esri JSON feature set')
    features = document.get('features')
    if not isinstance(features, list) or not features:
        raise NetworkError(f'{path}: no features, expected a list of polylines')
    has_z = document.get('hasZ', False)
    lines = [
        SourceLine(where, attributes, part, _positions(where, coordinates))
        for number, feature in enumerate(features)
        for where, attributes, parts in [split(_where(path, number, feature), feature, has_z)]
        for part, coordinates in enumerate(parts)
    ]
    return list(_to_wgs84(lines, system))


def _read_json(path: str | PathLike[str]) -> dict[str, Any]:
    try:
        document = json.loads(Path(path).read_text(encoding='utf-8-sig'))
    except OSError as error:
        raise NetworkError(f'{path}: cannot be read: {error.strerror}') from None
    except (ValueError, RecursionError) as error:
        raise NetworkError(f'{path}: not JSON: {error}') from None
    if not isinstance(document, dict):
        raise NetworkError(f'{path}: holds a {type(document).__name__}, expected a GeoJSON '
                           'FeatureCollection or an Esri JSON feature set')
    return document


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
    if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind not in 'iuf':
        raise NetworkError(f'{where}: coordinates are not a list of equally long positions of '
                           'numbers')
    if array.shape[1] == 2:
        raise NetworkError(f'{where}: heights are missing, expected x, y, z (returnZ=true)')
    if len(array) < 2:
        raise NetworkError(f'{where}: has {len(array)} position, expected two or more')
    positions = array[:, :3].astype(np.float64)
    if not np.isfinite(positions).all():
        raise NetworkError(f'{where}: a coordinate is not finite')
    if (positions == positions[0]).all():
        raise NetworkError(f'{where}: has no length, its positions are all the same')
    return positions


def _to_wgs84(lines: list[SourceLine], system: int) -> Iterator[SourceLine]:
    """Turn x, y of a reference system into latitude, longitude, all lines at once."""
    positions = np.concatenate([line.positions for line in lines])
    ends = np.cumsum([len(line.positions) for line in lines])
    axes, *horizontal = _BOUNDS[system]
    low, high = np.transpose([*horizontal, _HEIGHTS])
    outside = np.flatnonzero(((positions < low) | (positions > high)).any(axis=1))
    if outside.size:
        first = outside[0]
        line = lines[int(np.searchsorted(ends, first, side='right'))]
        values = ', '.join(f'{value:g}' for value in positions[first])
        ranges = ', '.join(f'{a:g} to {b:g}' for a, b in zip(low, high, strict=True))
        raise NetworkError(f'{line.where}: position ({values}) is outside Hong Kong, expected '
                           f'{axes}, height in {ranges} (EPSG:{system})')
    if system == _HK80:
        positions[:, 0], positions[:, 1] = hk80_to_wgs84(positions[:, 0], positions[:, 1])
    else:
        positions[:, :2] = positions[:, 1::-1]
    for line, part in zip(lines, np.split(positions, ends[:-1]), strict=True):
        yield line._replace(positions=part)
