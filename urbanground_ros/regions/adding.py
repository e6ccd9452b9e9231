# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Set a region up: its network is downloaded, its tiles are named, and one YAML joins them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import json
from pathlib import Path
import shutil
import tempfile
from typing import Any

import numpy as np

from urbanground_ros.city import GeoPoint
from urbanground_ros.districts import district_names
from urbanground_ros.files import FileError
from urbanground_ros.files import make_folder
from urbanground_ros.files import write_atomically
from urbanground_ros.geo import added_regions
from urbanground_ros.geo import crop_file
from urbanground_ros.geo import DEFAULT_HKPD_OFFSET
from urbanground_ros.geo import Envelope
from urbanground_ros.geo import is_region_name
from urbanground_ros.geo import load_places
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import NetworkService
from urbanground_ros.geo import PEDESTRIAN_ROUTES
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import Region
from urbanground_ros.geo import RegionError
from urbanground_ros.geo import regions_folder
from urbanground_ros.http import HttpLimits
from urbanground_ros.progress import Bar
from urbanground_ros.regions.tilesets import find_tilesets

#: The photogrammetric model of Hong Kong, "3D Visualisation Map, Tile-based f2".
LANDS_DEPARTMENT_TILES = ('https://data.map.gov.hk/api/3d-data/3dtiles/f2/tileset.json',)
#: The notice that the terms of DATA.GOV.HK and of the CSDI portal ask for.
ATTRIBUTION = ('Map and data from the Lands Department. © The Government of the Hong Kong SAR. '
               'Terms of use: DATA.GOV.HK and the CSDI Portal.')
#: Metres; a square of this half side in the densest quarters is what a simulator can hold.
MAX_RADIUS = 5000.0

# The ground at the origin is where the middle one of so many vertices lies.
_GROUND_VERTICES = 16


@dataclass(frozen=True)
class NewRegion:
    """What a region is to be made of.

    Attributes:
        name: Lower-case letters, digits, - and _.
        latitude: Of the place in its middle and the origin of the map frame, WGS84 degrees.
        longitude: The same.
        radius: Half the side of the square that the network is taken from, metres.
        network: Layer of a map server, or a network file.
        tiles: Places of tilesets, as `open_sources` takes them.
        places: File of places, None for none.
        title: What it is called in text for people; made from the name by default.
        height_offset: Ellipsoidal height of HKPD zero, metres.
        attribution: The notice that the data's owners ask for.
    """

    name: str
    latitude: float
    longitude: float
    radius: float
    network: str = PEDESTRIAN_ROUTES
    tiles: tuple[str, ...] = LANDS_DEPARTMENT_TILES
    places: Path | None = None
    title: str = ''
    height_offset: float = DEFAULT_HKPD_OFFSET
    attribution: str = ATTRIBUTION


def add_region(new: NewRegion, *, network_key: str | None = None,
               limits: HttpLimits | None = None, replace: bool = False,
               warn: Callable[[str], None] = lambda _: None) -> Path:
    """Set a region up in a folder of its own, whole or not at all, and return its region file.

    The origin is the given place on the ground: as high as the median of the 16 outdoor
    vertices of the network that are nearest in plan. The network is kept as it was published.

    Args:
        new: What it is made of.
        network_key: Of the map server, where it wants one.
        limits: How to ask the map server.
        replace: Take the place of a region of that name.
        warn: Told what cannot be used and is done without.

    Raises:
        UrbanGroundError: something of it is no good, or cannot be had or written.
    """
    _check(new, replace)
    envelope = Envelope.around(new.latitude, new.longitude, new.radius)
    folder = regions_folder()
    make_folder(folder)
    if new.places is not None:
        load_places(new.places)
    if '://' in new.network:
        service = NetworkService(new.network, network_key, limits)
        with Bar(f'network of {new.name}') as bar:
            source, document = service.url, service.download(envelope, bar.show)
    else:
        path = Path(new.network).expanduser()
        source, document = str(path), crop_file(path, envelope)
    frame = LocalFrame(new.latitude, new.longitude, 0.0)
    ways = PedestrianNetwork.from_documents({source: document}, frame, new.height_offset)
    ground = round(_ground(ways), 2)
    tilesets = tuple(dict.fromkeys(find_tilesets(new.tiles, frame, new.radius, warn)))
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f'.{new.name}-', dir=folder))
        try:
            _write(temporary, new, document, ground, tilesets)
            temporary.chmod(0o755)
            _put(temporary, folder / new.name, replace)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise FileError(f'{folder}: region {new.name} cannot be written ({error.strerror}), '
                        'expected a writable folder; URBANGROUND_DATA names another') from error
    return added_regions()[new.name]


def remove_region(name: str) -> Path:
    """Remove an added region, and return the folder that it had.

    Raises:
        RegionError: there is none of that name.
        FileError: it cannot be removed.
    """
    added = added_regions()
    if name not in added:
        built_in = 'is built in' if name in district_names() else 'was not added'
        raise RegionError(f'region {name!r} {built_in}, expected one of '
                          f'{", ".join(added) or "those that were added, which are none"}')
    folder = added[name].parent
    try:
        away = Path(tempfile.mkdtemp(prefix=f'.{name}-', dir=folder.parent))
        folder.rename(away / name)
        shutil.rmtree(away)
    except OSError as error:
        raise FileError(f'{folder}: cannot be removed: {error.strerror}') from error
    return folder


def _check(new: NewRegion, replace: bool) -> None:
    if not is_region_name(new.name):
        raise RegionError(f'name is {new.name!r:.80}, expected up to 64 lower-case letters, '
                          'digits, - and _')
    if new.name in district_names():
        raise RegionError(f'name is {new.name!r}, which is a built-in district, expected another')
    if not 0 < new.radius <= MAX_RADIUS:
        raise RegionError(f'radius is {new.radius:g}, expected metres, more than 0 and up to '
                          f'{MAX_RADIUS:g}')
    if not abs(new.height_offset) <= 200:
        raise RegionError(f'height offset is {new.height_offset:g}, expected metres within ±200')
    if not replace and (regions_folder() / new.name).exists():
        raise RegionError(f'{regions_folder() / new.name}: exists already, expected another name '
                          'or --replace')


def _write(folder: Path, new: NewRegion, document: dict[str, Any], ground: float,
           tilesets: tuple[str, ...]) -> None:
    geojson = document.get('type') == 'FeatureCollection'
    network = folder / ('network.geojson' if geojson else 'network.json')
    text = json.dumps(document, ensure_ascii=False, separators=(',', ':'))
    write_atomically(network, text.encode(errors='replace'))
    if new.places is not None:
        shutil.copyfile(new.places, folder / 'places.json')
    Region(
        name=new.name,
        title=new.title or new.name.replace('_', ' ').replace('-', ' ').title(),
        synthetic=False,
        origin=GeoPoint(new.latitude, new.longitude, ground),
        tilesets=tilesets,
        network=network.name,
        places=None if new.places is None else 'places.json',
        height_offset=new.height_offset,
        attribution=new.attribution,
    ).save(folder / 'region.yaml')


def _ground(network: PedestrianNetwork) -> float:
    """Return the height of the ground at the origin, metres above the ellipsoid."""
    features = [feature for feature in network.features if feature.enabled]
    outdoor = [feature for feature in features if feature.outdoor] or features
    points = np.unique(np.concatenate([feature.points for feature in outdoor]), axis=0)
    nearest = np.argsort(np.hypot(points[:, 0], points[:, 1]), kind='stable')[:_GROUND_VERTICES]
    return float(np.median(network.frame.to_geodetic(points[nearest])[2]))


def _put(written: Path, folder: Path, replace: bool) -> None:
    """Move a folder to where it belongs, that which is there out of the way."""
    if replace and folder.exists():
        away = Path(tempfile.mkdtemp(prefix=written.name, dir=written.parent))
        folder.rename(away / folder.name)
        written.rename(folder)
        shutil.rmtree(away, ignore_errors=True)
    else:
        written.rename(folder)
