# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Count the shop names that OCR reads in pictures taken at about 15 m (needs tesseract)."""

from __future__ import annotations

import argparse
import difflib
import math
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys

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
#: The board of a sign above its door: edges, middle and half its length, and how far behind the
#: entrance it is; and the eye above the ground (m).
BOTTOM, TOP, SIGN, HALF, FRONT = 2.8, 3.66, 3.23, 2.1, 0.42
EYE = 1.6
#: Of the camera.
FOV = math.radians(75.0)
#: Pixels; a board has two lines, and OCR wants letters of some 30.
BOARD = 120


def outward(region: CityRegion, door: np.ndarray) -> np.ndarray:
    """Return the direction (2,) from a door to the way in front of it, of length one."""
    assert region.network is not None
    front = (region.network.nearest(door[None]).point[0] - door)[:2]
    return front / np.linalg.norm(front)


def viewpoint(region: CityRegion, door: np.ndarray, out: np.ndarray) -> np.ndarray | None:
    """Return the place on the network, at the right distance and in sight, most in front."""
    network = region.network
    assert network is not None
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
            facing = float(way[:2] @ out) / float(np.linalg.norm(way[:2]))
            if facing <= most:
                continue
            eye = LVector3d(*point[:2], point[2] + EYE)
            ends = (door[:2] + 0.5 * out + side * 0.9 * HALF * np.array([-out[1], out[0]])
                    for side in (-1, 0, 1))
            if not any(solid.ray(eye, LVector3d(*end, door[2] + SIGN)) for end in ends):
                best, most = point, facing
    return best


def read(board: np.ndarray, language: str) -> str:
    """Return what OCR reads on a board, RGB."""
    # Letters and ground differ most in one of the colours.
    plane = max(cv2.split(board), key=np.std)
    _, letters = cv2.threshold(plane, 0, 255, cv2.THRESH_OTSU)
    dark = letters if letters.mean() > 127 else 255 - letters
    done, png = cv2.imencode('.png', cv2.copyMakeBorder(dark, 20, 20, 20, 20,
                                                        cv2.BORDER_CONSTANT, value=255))
    assert done
    return subprocess.run(
        ['tesseract', '-', '-', '--psm', '6', '-l', language], check=True,
        input=png.tobytes(), capture_output=True,
        env={**os.environ, 'OMP_THREAD_LIMIT': '1'}).stdout.decode()


def found(name: str, text: str) -> bool:
    """Tell whether each word of an English name is in a text, give or take a letter in five."""
    words = re.findall(r'[a-z]+', text.lower())
    return all(difflib.get_close_matches(word, words, 1, 0.8)
               for word in re.findall(r'[a-z]{3,}', name.lower()))


def found_chinese(name: str, text: str) -> bool:
    """Tell whether half of the characters of a Chinese name are in a text."""
    return sum(character in text for character in name) * 2 >= len(name)


def visit(city: HeadlessCity, region: CityRegion, place: Place) -> np.ndarray | None:
    """Return a place's sign as a picture has it, straightened, RGB; None where none is in sight.

    The picture is taken from where people walk; the straightened board is `BOARD` pixels high.
    """
    network = region.network
    assert network is not None
    door = region.frame.from_geodetic(place.entrance.latitude, place.entrance.longitude,
                                      place.entrance.altitude)
    out = outward(region, door)
    point = viewpoint(region, door, out)
    if point is None:
        return None
    way = door - point
    latitude, longitude, altitude = map(float, region.frame.to_geodetic(point))
    city.place(Placement(GeoPoint(latitude, longitude, altitude),
                         math.degrees(math.atan2(way[0], way[1]))))
    lift = math.degrees(math.atan2(SIGN - EYE, float(np.hypot(way[0], way[1]))))
    state = city.act(Action('look', pitch=lift)).state
    image = city.render()
    assert image is not None
    height, width = image.shape[:2]
    yaw, pitch = state.body.yaw, state.body.pitch
    eye = np.array([state.body.x, state.body.y, state.body.z + EYE])
    right = np.array([math.sin(yaw), -math.cos(yaw), 0.0])
    forward = np.array([math.cos(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw),
                        math.sin(pitch)])
    along = np.array([-out[1], out[0], 0.0])
    middle = door - FRONT * np.array([*out, 0.0])
    corners = np.array([middle + side * HALF * along + [0.0, 0.0, level]
                        for side, level in ((-1, TOP), (1, TOP), (1, BOTTOM), (-1, BOTTOM))])
    seen = (corners - eye) @ np.array([right, np.cross(right, forward), forward]).T
    focal = width / 2 / math.tan(FOV / 2)
    pixels = seen[:, :2] / seen[:, 2:] * [focal, -focal] + [width / 2, height / 2]
    wide = BOARD * 2 * HALF / (TOP - BOTTOM)
    onto = np.array([[wide, 0], [0, 0], [0, BOARD], [wide, BOARD]], np.float32)
    onto[:, 0] = wide - onto[:, 0]
    straight = cv2.getPerspectiveTransform(pixels.astype(np.float32), onto)
    return cv2.warpPerspective(image, straight, (round(wide), BOARD), flags=cv2.INTER_CUBIC)


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
            city = HeadlessCity(image_width=width, image_height=height, horizontal_fov=FOV,
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
