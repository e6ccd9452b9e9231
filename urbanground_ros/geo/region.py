# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Regions: one YAML file that names the tiles, network, places and datum of a piece of city."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
import json
import logging
import math
from os import PathLike
from pathlib import Path
import re
from typing import Any
from typing import NoReturn

import yaml

from urbanground_ros.city import GeoPoint
from urbanground_ros.errors import show
from urbanground_ros.files import FileError
from urbanground_ros.files import read_file
from urbanground_ros.files import write_atomically
from urbanground_ros.geo.errors import GeoError
from urbanground_ros.geo.errors import RegionError
from urbanground_ros.geo.extent import check_in_hong_kong
from urbanground_ros.geo.frames import DEFAULT_HKPD_OFFSET
from urbanground_ros.geo.frames import LocalFrame
from urbanground_ros.geo.network import PedestrianNetwork

#: Types a place may have, with what people call one. The names are OpenStreetMap's values of
#: amenity, shop, leisure, tourism, office and public transport.
PLACE_TYPES: Mapping[str, str] = {
    'arts_centre': 'arts centre',
    'atm': 'cash machine',
    'bakery': 'bakery',
    'bank': 'bank',
    'bar': 'bar',
    'books': 'bookshop',
    'bus_stop': 'bus stop',
    'cafe': 'café',
    'cinema': 'cinema',
    'clinic': 'clinic',
    'clothes': 'clothes shop',
    'college': 'college',
    'community_centre': 'community centre',
    'convenience': 'convenience store',
    'dentist': 'dentist',
    'electronics': 'electronics shop',
    'fast_food': 'fast food restaurant',
    'fire_station': 'fire station',
    'fitness_centre': 'gym',
    'florist': 'flower shop',
    'government': 'government office',
    'hairdresser': 'hairdresser',
    'hardware': 'hardware shop',
    'hospital': 'hospital',
    'hotel': 'hotel',
    'kindergarten': 'kindergarten',
    'laundry': 'laundry',
    'library': 'library',
    'mall': 'shopping centre',
    'marketplace': 'market',
    'museum': 'museum',
    'office': 'office',
    'optician': 'optician',
    'park': 'park',
    'parking': 'car park',
    'pharmacy': 'pharmacy',
    'place_of_worship': 'place of worship',
    'playground': 'playground',
    'police': 'police station',
    'post_office': 'post office',
    'residential': 'residential building',
    'restaurant': 'restaurant',
    'school': 'school',
    'sports_centre': 'sports centre',
    'station': 'railway station',
    'stationery': 'stationery shop',
    'supermarket': 'supermarket',
    'taxi': 'taxi stand',
    'theatre': 'theatre',
    'toilets': 'public toilet',
    'university': 'university',
    'veterinary': 'animal clinic',
}
_DAY = 24 * 3600
_LOG = logging.getLogger(__name__)


def is_region_name(text: str) -> bool:
    """Tell whether a region may be called so: it is a folder's name too."""
    return re.fullmatch(r'[a-z0-9][a-z0-9_-]{0,63}', text) is not None


@dataclass(frozen=True)
class Place:
    """Somewhere people want to go.

    Attributes:
        id: Unique in its file.
        type: One of `PLACE_TYPES`.
        name: In English.
        name_tc: In traditional Chinese, '' where it has none.
        entrance: Where one enters, on the ground outside; altitude above the ellipsoid.
        hours: Opening and closing time in seconds since local midnight, the second from the
            first up to 24 h later; `(0, 86400)` is always open. Written `"09:00"` in files.
    """

    id: str
    type: str
    name: str
    name_tc: str
    entrance: GeoPoint
    hours: tuple[int, int] = (0, _DAY)

    def is_open(self, time_of_day: float) -> bool:
        """Tell whether it is open at a number of seconds since local midnight."""
        opening, closing = self.hours
        return (time_of_day - opening) % _DAY < closing - opening


@dataclass(frozen=True)
class Region:
    """A piece of city: what to draw, where to walk, and the datum that joins the two.

    Paths and URLs are as written in the file; relative ones start from its folder.

    Attributes:
        name: What it is called in task files and on the command line.
        title: What it is called in text for people.
        synthetic: True where the place is invented, False where it is real.
        origin: Origin of the map frame, altitude above the ellipsoid.
        tilesets: 3D Tiles tileset.json files or URLs.
        network: File of the pedestrian network.
        places: File of places, None where there is none.
        height_offset: Ellipsoidal height of HKPD zero, metres.
        attribution: The notice that the data's owners ask for.
        directory: Folder that relative references start from.
    """

    name: str
    title: str
    synthetic: bool
    origin: GeoPoint
    tilesets: tuple[str, ...]
    network: str
    places: str | None = None
    height_offset: float = DEFAULT_HKPD_OFFSET
    attribution: str = ''
    directory: Path = field(default=Path(), compare=False)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Region:
        """Read a region file strictly.

        Raises:
            RegionError: the file cannot be read, a key is unknown or missing, a value is not
                what it must be, or the origin is not in Hong Kong, where every network is.
        """
        try:
            data = yaml.load(_read(path), _Loader)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise RegionError(f'{path}: not YAML: {_one_line(error)}') from None
        except (LookupError, AttributeError, TypeError, ArithmeticError) as error:
            # What PyYAML makes of a value that is not of its tag.
            raise RegionError(f'{path}: a value is not of its YAML tag '
                              f'({type(error).__name__})') from None
        record = _Record(str(path), data, required=_REGION_REQUIRED, optional=_REGION_OPTIONAL)
        name = record.text('name')
        if not is_region_name(name):
            record.fail('name', name, 'lower-case letters, digits, - and _')
        origin = record.point('origin')
        try:
            check_in_hong_kong(f'{path}: origin', origin.latitude, origin.longitude)
        except GeoError as error:
            raise RegionError(str(error)) from None
        tilesets = record.get('tilesets', list, 'a list of paths or URLs')
        for entry in tilesets:
            if not isinstance(entry, str) or not entry:
                record.fail('tilesets', entry, 'a path or URL')
        return cls(
            name=name,
            title=record.text('title'),
            synthetic=record.get('synthetic', bool, 'true or false'),
            origin=origin,
            tilesets=tuple(tilesets),
            network=record.text('network'),
            places=record.text('places') if 'places' in record.data else None,
            height_offset=record.number('height_offset', 200.0)
            if 'height_offset' in record.data else DEFAULT_HKPD_OFFSET,
            attribution=record.text('attribution', empty=True)
            if 'attribution' in record.data else '',
            directory=Path(path).resolve().parent,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write a region file whole or not at all, relative references as they stand.

        Raises:
            RegionError: the file cannot be written.
        """
        data: dict[str, Any] = {
            'name': self.name,
            'title': self.title,
            'synthetic': self.synthetic,
            'origin': _point_data(self.origin),
            'tilesets': list(self.tilesets),
            'network': self.network,
            'height_offset': float(self.height_offset),
            'attribution': self.attribution,
        }
        if self.places is not None:
            data['places'] = self.places
        _write(path, yaml.safe_dump(data, sort_keys=False, allow_unicode=True))

    def resolve(self, reference: str) -> str:
        """Return a reference as a URL, unchanged, or as an absolute path."""
        return reference if '://' in reference else str(self.directory / reference)

    @cached_property
    def frame(self) -> LocalFrame:
        """The map frame."""
        return LocalFrame(self.origin.latitude, self.origin.longitude, self.origin.altitude)

    def load_network(self) -> PedestrianNetwork:
        """Read the pedestrian network into the map frame.

        Raises:
            NetworkError: the file cannot be used.
        """
        return PedestrianNetwork.load(
            self.resolve(self.network), self.frame, self.height_offset)

    def load_places(self) -> tuple[Place, ...]:
        """Read the places; none where the region names no file.

        Raises:
            RegionError: the file cannot be used.
        """
        return () if self.places is None else load_places(self.resolve(self.places))


def load_places(path: str | PathLike[str]) -> tuple[Place, ...]:
    """Read a JSON list of places strictly.

    Each is `{"id", "type", "name", "name_tc", "entrance": {"latitude", "longitude",
    "altitude"}, "hours": ["09:00", "21:30"]}`; a closing time not after the opening time is of
    the next day, and `24:00` is the end of the day. Places of a type that is not in
    `PLACE_TYPES` are left out, and each such type is logged.

    Raises:
        RegionError: the file cannot be read, a key is unknown or missing, a value is not what
            it must be, or an id occurs twice.
    """
    try:
        data = json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise RegionError(f'{path}: not JSON: {error}') from None
    if not isinstance(data, list):
        raise RegionError(f'{path}: holds a {type(data).__name__}, expected a list of places')
    places: dict[str, Place] = {}
    unknown: dict[str, list[str]] = {}
    for number, entry in enumerate(data):
        record = _Record(f'{path}: place {number}', entry, required=_PLACE_REQUIRED)
        place = Place(
            id=record.text('id'),
            type=record.text('type'),
            name=record.text('name'),
            name_tc=record.text('name_tc', empty=True),
            entrance=record.point('entrance'),
            hours=record.hours('hours'),
        )
        if place.id in places:
            record.fail('id', place.id, 'an id that no place before it has')
        places[place.id] = place
        if place.type not in PLACE_TYPES:
            unknown.setdefault(place.type, []).append(place.id)
    for kind, ids in unknown.items():
        named = ', '.join(ids[:3]) + (', …' if ids[3:] else '')
        _LOG.warning('%s: type %r of %d places (%s) is unknown, expected one of %s; they are '
                     'left out', path, kind, len(ids), named, ', '.join(PLACE_TYPES))
    return tuple(place for place in places.values() if place.type in PLACE_TYPES)


def save_places(path: str | PathLike[str], places: Iterable[Place]) -> None:
    """Write places for `load_places`, whole or not at all.

    Raises:
        RegionError: the file cannot be written.
    """
    data = [{
        'id': place.id,
        'type': place.type,
        'name': place.name,
        'name_tc': place.name_tc,
        'entrance': _point_data(place.entrance),
        'hours': [_clock(place.hours[0]), _clock(place.hours[1])],
    } for place in places]
    _write(path, json.dumps(data, ensure_ascii=False, indent=1) + '\n')


_REGION_REQUIRED = ('name', 'title', 'synthetic', 'origin', 'tilesets', 'network')
_REGION_OPTIONAL = ('places', 'height_offset', 'attribution')
_PLACE_REQUIRED = ('id', 'type', 'name', 'name_tc', 'entrance', 'hours')
_POINT_LIMITS = {'latitude': 90.0, 'longitude': 180.0, 'altitude': 1e5}


class _Record:
    """Strict access to one mapping of a file."""

    def __init__(self, where: str, data: Any, required: Iterable[str],
                 optional: Iterable[str] = ()) -> None:
        if not isinstance(data, dict):
            raise RegionError(f'{where}: holds a {type(data).__name__}, expected a mapping')
        self.data = data
        self._where = where
        known = (*required, *optional)
        for key in data:
            if key not in known:
                raise RegionError(f'{where}: key {show(key)} is unknown, expected '
                                  f'{", ".join(known)}')
        for key in required:
            if key not in data:
                raise RegionError(f'{where}: key {key!r} is missing')

    def fail(self, key: str, value: Any, expected: str) -> NoReturn:
        raise RegionError(f'{self._where}: {key} is {show(value)}, expected {expected}')

    def get(self, key: str, kind: type, expected: str) -> Any:
        value = self.data[key]
        if not isinstance(value, kind):
            self.fail(key, value, expected)
        return value

    def text(self, key: str, *, empty: bool = False) -> str:
        value: str = self.get(key, str, 'text')
        if not value.strip() and not empty:
            self.fail(key, value, 'text that is not empty')
        if not value.isprintable():
            self.fail(key, value, 'text without control characters')
        return value

    def number(self, key: str, limit: float) -> float:
        value = self.data[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not (
                abs(value) <= limit):
            self.fail(key, value, f'a number within ±{limit:g}')
        return float(value)

    def point(self, key: str) -> GeoPoint:
        inner = _Record(f'{self._where}: {key}', self.data[key], required=_POINT_LIMITS)
        values = {name: inner.number(name, limit) for name, limit in _POINT_LIMITS.items()}
        return GeoPoint(values['latitude'], values['longitude'], values['altitude'])

    def hours(self, key: str) -> tuple[int, int]:
        value = self.data[key]
        expected = 'opening and closing time as ["HH:MM", "HH:MM"]'
        if not isinstance(value, list) or len(value) != 2:
            self.fail(key, value, expected)
        times = []
        for entry in value:
            match = re.fullmatch(r'(\d\d):([0-5]\d)', entry) if isinstance(entry, str) else None
            seconds = int(match[1]) * 3600 + int(match[2]) * 60 if match else math.inf
            if seconds > _DAY:
                self.fail(key, value, expected)
            times.append(int(seconds))
        opening, closing = times
        return opening, closing if closing > opening else closing + _DAY


def _point_data(point: GeoPoint) -> dict[str, float]:
    return {name: float(getattr(point, name)) for name in _POINT_LIMITS}


def _clock(seconds: int) -> str:
    minutes = round(seconds / 60)
    if minutes > 24 * 60:
        minutes -= 24 * 60
    return f'{minutes // 60:02d}:{minutes % 60:02d}'


def _one_line(error: Exception) -> str:
    return ' '.join(str(error).split())


def _read(path: str | PathLike[str]) -> str:
    try:
        return read_file(Path(path)).decode()
    except FileError as error:
        raise RegionError(str(error)) from None
    except UnicodeDecodeError as error:
        raise RegionError(f'{path}: not UTF-8: {error.reason}') from None


def _write(path: str | PathLike[str], text: str) -> None:
    try:
        write_atomically(Path(path), text.encode())
    except FileError as error:
        raise RegionError(str(error)) from None


class _Loader(yaml.SafeLoader):
    """Reads YAML without aliases, which can unfold without end, and without a key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError('aliases are not taken')
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        values = super().construct_mapping(node, deep)
        if len(values) != len(node.value):
            raise yaml.YAMLError(f'a key is there twice:{node.start_mark}')
        return values
