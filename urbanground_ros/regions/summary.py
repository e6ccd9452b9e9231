# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a region is made of, in lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

import numpy as np

from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.geo import PLACE_TYPES
from urbanground_ros.geo import Region
from urbanground_ros.geo import WeatherProof


def summarize(path: Path) -> list[tuple[str, str]]:
    """Return names and values of what there is to say about a region.

    Raises:
        GeoError: a file of it cannot be used.
    """
    region = Region.load(path)
    network = region.load_network()
    places = region.load_places()
    origin = region.origin
    lines = [
        ('title', region.title),
        ('file', str(path)),
        ('origin', f'{origin.latitude:.6f},{origin.longitude:.6f}, {origin.altitude:.2f} m above '
                   'the ellipsoid'),
        ('datum', f'HKPD zero is at {region.height_offset:.3f} m above the ellipsoid'),
        *_network_lines(network, region.height_offset),
        ('places', f'{len(places)}' + _counts(PLACE_TYPES[place.type] for place in places)),
    ]
    lines += [('tiles', _tileset(region.resolve(reference))) for reference in region.tilesets]
    if not region.tilesets:
        lines.append(('tiles', 'none'))
    return [*lines, ('notice', region.attribution or 'none')]


def joined_share(network: PedestrianNetwork) -> float:
    """Return the share of the junctions that the largest joined part of a network has."""
    return len(network.components()[0]) / network.graph.number_of_nodes()


def _network_lines(network: PedestrianNetwork, offset: float) -> list[tuple[str, str]]:
    features = network.features
    points = np.concatenate([feature.points for feature in features])
    latitude, longitude, altitude = network.frame.to_geodetic(points)
    joined = joined_share(network)
    outdoor = sum(feature.length for feature in features if feature.outdoor)
    length = sum(feature.length for feature in features)
    lacks = [
        (len(network.left_out), 'left out as unusable'),
        (sum(not feature.enabled for feature in features), 'switched off'),
        (sum(not feature.street for feature in features), 'without a street'),
        (sum(feature.weather_proof is WeatherProof.UNCLASSIFIED for feature in features),
         'of unknown shelter'),
    ]
    return [
        ('network', f'{len(features)} features, {length / 1000:.2f} km, of which '
                    f'{outdoor / 1000:.2f} km outdoors; the largest joined part has '
                    f'{joined:.0%} of the junctions'),
        ('extent', f'{latitude.min():.6f},{longitude.min():.6f} to '
                   f'{latitude.max():.6f},{longitude.max():.6f}'),
        ('heights', f'{(altitude - offset).min():.1f} to {(altitude - offset).max():.1f} m HKPD'),
        ('types', _listed(_word(feature.feature_type) for feature in features)),
        ('missing', ', '.join(f'{count} {what}' for count, what in lacks if count) or 'nothing'),
    ]


def _word(code: IntEnum) -> str:
    return code.name.lower().replace('_', ' ')


def _listed(words: Iterable[str]) -> str:
    """Return different words with how many there are of each, the most frequent first."""
    counts = sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))
    return ', '.join(f'{count} {word}' for word, count in counts)


def _counts(words: Iterable[str]) -> str:
    listed = _listed(words)
    return f': {listed}' if listed else ''


def _tileset(address: str) -> str:
    return address if '://' in address or Path(address).exists() else f'{address} (missing)'
