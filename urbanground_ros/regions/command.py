# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The subcommand `region`: adds regions of the real Hong Kong, lists, shows and removes them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import sys

from urbanground_ros.districts import district_names
from urbanground_ros.districts import PLANS
from urbanground_ros.districts import resolve_region
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.geo import added_regions
from urbanground_ros.geo import DEFAULT_HKPD_OFFSET
from urbanground_ros.geo import PEDESTRIAN_ROUTES
from urbanground_ros.geo import Region
from urbanground_ros.http import HttpLimits
from urbanground_ros.regions.adding import add_region
from urbanground_ros.regions.adding import ATTRIBUTION
from urbanground_ros.regions.adding import LANDS_DEPARTMENT_TILES
from urbanground_ros.regions.adding import MAX_RADIUS
from urbanground_ros.regions.adding import NewRegion
from urbanground_ros.regions.adding import remove_region
from urbanground_ros.regions.summary import joined_share
from urbanground_ros.regions.summary import summarize
from urbanground_ros.tiles import open_sources
from urbanground_ros.tiles import TilesError
from urbanground_ros.tiles.command import metres_argument
from urbanground_ros.tiles.command import place_argument
from urbanground_ros.tiles.command import prefetch_and_tell
from urbanground_ros.tiles.opening import KEY_VARIABLE

#: The environment variable that has the key of the map server.
NETWORK_KEY_VARIABLE = 'URBANGROUND_NETWORK_KEY'
# Where less of a network is joined, that is worth a word.
_JOINED = 0.5
_LONGEST = 3600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands `add`, `list`, `show` and `remove` with their options."""
    commands = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    add = commands.add_parser('add', help='download a network and set a region up')
    add.add_argument('name', metavar='NAME', help='lower-case letters, digits, - and _')
    add.add_argument('--around', type=place_argument, required=True, metavar='LAT,LON',
                     help='the middle, and the origin of the map frame, degrees')
    add.add_argument('--radius', type=metres_argument, required=True, metavar='M',
                     help=f'half the side of the square, metres, up to {MAX_RADIUS:g}')
    add.add_argument('--network', default=PEDESTRIAN_ROUTES, metavar='URL_OR_FILE',
                     help='layer of a map server (…/FeatureServer/0), or a GeoJSON or Esri JSON '
                          'file (default: %(default)s)')
    add.add_argument('--network-key', metavar='KEY',
                     help=f'of the map server, by default what {NETWORK_KEY_VARIABLE} has')
    add.add_argument('--timeout', type=float, default=30.0, metavar='S',
                     help='seconds without a byte of the map server after which a try has '
                          'failed (default: %(default)s)')
    add.add_argument('--tiles', action='append', metavar='URL_OR_PATH',
                     help='tileset.json, its folder or a mirror; may be given several times '
                          f'(default: {", ".join(LANDS_DEPARTMENT_TILES)})')
    add.add_argument('--key', metavar='KEY',
                     help=f'of the tile service, by default what {KEY_VARIABLE} has, where later '
                          'commands look for it: no file has it')
    add.add_argument('--places', type=Path, metavar='FILE', help='JSON file of places')
    add.add_argument('--title', default='', help='what people call it')
    add.add_argument('--height-offset', type=float, default=DEFAULT_HKPD_OFFSET, metavar='M',
                     help='ellipsoidal height of HKPD zero (default: %(default)s)')
    add.add_argument('--attribution', default=ATTRIBUTION, metavar='TEXT',
                     help='notice that the data\'s owners ask for (default: %(default)s)')
    add.add_argument('--replace', action='store_true', help='replace a region of that name')
    add.add_argument('--prefetch', action='store_true',
                     help='fetch the tiles of the region into the cache, for use offline')
    add.add_argument('--calibrate', action='store_true',
                     help='measure the height offset from the tiles')
    commands.add_parser('list', help='list built-in districts and added regions')
    show = commands.add_parser('show', help='tell what a region is made of')
    show.add_argument('name', metavar='NAME', help='a name or a region file')
    remove = commands.add_parser('remove', help='remove an added region')
    remove.add_argument('name', metavar='NAME', help='name of an added region')


def run(options: argparse.Namespace) -> int:
    """Do what the options say, and return the exit status.

    Raises:
        UrbanGroundError: what is asked for cannot be done.
    """
    if options.action == 'add':
        return _add(options)
    if options.action == 'list':
        return _list()
    if options.action == 'show':
        for name, value in summarize(resolve_region(options.name)):
            print(f'{name:8} {value}')
        return 0
    print(f'{remove_region(options.name)} removed')
    return 0


def tell_calibration(path: Path, *, write: bool, with_origin: bool = False) -> None:
    """Measure the height offset of a region file, and print it; see `calibrate`.

    Raises:
        UrbanGroundError: the region cannot be read or written, or too little can be measured.
    """
    from urbanground_ros.sim.calibration import calibrate
    before, measured = calibrate(path, write=write, with_origin=with_origin)
    print(f'height_offset {measured.offset:.3f} m (it was {before:.3f}), spread '
          f'{measured.spread:.3f} m of {measured.vertices} vertices; '
          f'{path if write else "nothing"} written')


def _add(options: argparse.Namespace) -> int:
    if not 0 < options.timeout <= _LONGEST:
        raise UrbanGroundError(f'timeout is {options.timeout:g}, expected seconds, more than 0 '
                               f'and up to {_LONGEST:g}')
    if options.key:
        # Here it is looked for by whatever opens the tiles of a region.
        os.environ[KEY_VARIABLE] = options.key
    latitude, longitude = options.around
    new = NewRegion(
        name=options.name, latitude=latitude, longitude=longitude, radius=options.radius,
        network=options.network, tiles=tuple(options.tiles or LANDS_DEPARTMENT_TILES),
        places=options.places, title=options.title, height_offset=options.height_offset,
        attribution=options.attribution)
    limits = HttpLimits(timeout=options.timeout, deadline=6 * options.timeout)
    path = add_region(
        new, network_key=options.network_key or os.environ.get(NETWORK_KEY_VARIABLE),
        limits=limits, replace=options.replace, warn=_warn)
    print(f'{path} written; urbanground region show {new.name} tells what it is made of')
    joined = joined_share(Region.load(path).load_network())
    if joined < _JOINED:
        print(f'the largest joined part of its network has {joined:.0%} of the junctions: few '
              'ways lead far')
    status = 0
    if options.prefetch:
        status = _prefetch(Region.load(path), new)
    if options.calibrate:
        tell_calibration(path, write=True, with_origin=True)
    return status


def _prefetch(region: Region, new: NewRegion) -> int:
    status = 0
    for reference in region.tilesets:
        if '://' not in reference:
            continue
        for source in open_sources(reference):
            try:
                status |= prefetch_and_tell(source, new.latitude, new.longitude, new.radius)
            except TilesError as error:
                _warn(str(error))
                status = 1
    return status


def _list() -> int:
    for name in district_names():
        print(f'{name:16} {PLANS[name].title}')
    for name, path in added_regions().items():
        try:
            title = Region.load(path).title
        except UrbanGroundError as error:
            title = f'cannot be used: {error}'
        print(f'{name:16} {title} ({path.parent})')
    return 0


def _warn(line: str) -> None:
    print(f'warning: {line}', file=sys.stderr)
