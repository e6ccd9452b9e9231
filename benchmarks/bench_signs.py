# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Count the shop names that OCR reads in pictures taken at about 15 m (needs tesseract)."""

from __future__ import annotations

import argparse
import difflib
import math
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile

import cv2
import numpy as np
from panda3d.core import LVector3d

from urbanground_ros.city import Action
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Scene
from urbanground_ros.districts import district_names
from urbanground_ros.districts import resolve_region
from urbanground_ros.geo import Place
from urbanground_ros.geo import Region
from urbanground_ros.sim import CityRegion
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.sim import open_region

NEAREST, FARTHEST = 12.0, 15.0
#: A sign's height above its door, and the eye's above the ground (m).
SIGN, EYE = 3.3, 1.6


def viewpoint(region: CityRegion, door: np.ndarray) -> np.ndarray | None:
    """Return the place on the network, at the right distance and in sight, most in front."""
    network = region.network
    assert network is not None
    front = network.nearest(door[None]).point[0] - door
    solid = region.solid(door[0], door[1])
    best, most = None, 0.3
    for feature in network.features:
        if not feature.outdoor or abs(feature.points[:, 2] - door[2]).min() > 2.0:
            continue
        steps = max(2, int(feature.length / 2))
        for at in np.linspace(0.1, max(0.2, feature.length - 0.1), steps):
            point = feature.cut(max(0.0, at - 0.05), at)[0]
            way = point - door
            distance = float(np.linalg.norm(way))
            if not NEAREST <= distance <= FARTHEST:
                continue
            facing = float(way[:2] @ front[:2]) / (np.linalg.norm(way[:2])
                                                   * np.linalg.norm(front[:2]))
            sign = door + [0.0, 0.0, SIGN] + 0.8 * front / np.linalg.norm(front)
            if facing > most and solid.ray(LVector3d(*(point + [0.0, 0.0, EYE])),
                                           LVector3d(*sign)) is None:
                best, most = point, facing
    return best


def read(image: np.ndarray, language: str) -> str:
    """Return what OCR reads in an RGB picture."""
    large = cv2.resize(image, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'picture.png'
        cv2.imwrite(str(file), cv2.cvtColor(large, cv2.COLOR_RGB2BGR))
        return subprocess.run(
            ['tesseract', str(file), '-', '--psm', '11', '-l', language], check=True,
            capture_output=True, text=True).stdout


def found(name: str, text: str) -> bool:
    """Tell whether each word of an English name is in a text, give or take a letter in five."""
    words = re.findall(r'[a-z]+', text.lower())
    return all(difflib.get_close_matches(word, words, 1, 0.8)
               for word in re.findall(r'[a-z]{3,}', name.lower()))


def found_chinese(name: str, text: str) -> bool:
    """Tell whether half of the characters of a Chinese name are in a text."""
    return sum(character in text for character in name) * 2 >= len(name)


def visit(city: HeadlessCity, region: CityRegion, place: Place) -> np.ndarray | None:
    """Return the picture of a place's sign; None where none is in sight."""
    door = region.frame.from_geodetic(place.entrance.latitude, place.entrance.longitude,
                                      place.entrance.altitude)
    point = viewpoint(region, door)
    if point is None:
        return None
    way = door - point
    compass = math.degrees(math.atan2(way[0], way[1]))
    latitude, longitude, altitude = map(float, region.frame.to_geodetic(point))
    city.place(Placement(GeoPoint(latitude, longitude, altitude), compass))
    lift = math.atan2(SIGN - EYE, float(np.hypot(way[0], way[1])))
    city.act(Action('look', pitch=math.degrees(lift)))
    return city.render()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--signs', type=int, default=12, help='signs of each district')
    parser.add_argument('--hour', type=float, default=12.0, help='time of day')
    parser.add_argument('--pictures', type=Path, help='folder to write the pictures to')
    options = parser.parse_args()
    if shutil.which('tesseract') is None:
        sys.exit('tesseract is not installed, expected Debian packages tesseract-ocr and '
                 'tesseract-ocr-chi-tra')
    for width, height in ((640, 480), (1280, 720)):
        totals = np.zeros(3, int)
        for name in district_names():
            region = open_region(name)
            places = Region.load(resolve_region(name)).load_places()
            city = HeadlessCity(image_width=width, image_height=height,
                                open_region=lambda _, region=region: region)
            city.load(name, 0, Placement(places[0].entrance),
                      Scene(time_of_day=options.hour * 3600.0))
            counts = np.zeros(3, int)
            for place in places[::max(1, len(places) // (2 * options.signs))]:
                image = visit(city, region, place)
                if image is None or counts[0] == options.signs:
                    continue
                english = found(place.name, read(image, 'eng'))
                chinese = found_chinese(place.name_tc, read(image, 'chi_tra'))
                counts += [1, english, chinese]
                if options.pictures:
                    options.pictures.mkdir(parents=True, exist_ok=True)
                    cv2.imwrite(str(options.pictures / f'{name}_{place.id}_{width}_'
                                    f'{"en" if english else ""}{"tc" if chinese else ""}.png'),
                                image[..., ::-1])
            city.close()
            print(f'{width}x{height} {name:10} {counts[0]:3} signs, {counts[1]:3} names read in '
                  f'English, {counts[2]:3} in Chinese', flush=True)
            totals += counts
        print(f'{width}x{height} all        {totals[0]:3} signs, {totals[1] / totals[0]:.0%} read '
              f'in English, {totals[2] / totals[0]:.0%} in Chinese')


if __name__ == '__main__':
    main()
