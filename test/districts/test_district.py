# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The built-in district: what is drawn, what can be walked and what is listed agree."""

import json

import numpy as np
from PIL import ImageFont
import pytest

from urbanground_ros.districts.fonts import chinese_font_file
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plans import CHING_LAM
from urbanground_ros.districts.plans import PLANS
from urbanground_ros.districts.textures import sign_atlas
from urbanground_ros.geo import FeatureType
from urbanground_ros.geo import PLACE_TYPES
from urbanground_ros.geo import WeatherProof
from urbanground_ros.geo import wgs84_to_hk80
from urbanground_ros.tiles import read_tileset

UP = np.array([0.0, 0.0, 1.0])
CROSSINGS = {FeatureType.CROSSING_SIGNALIZED, FeatureType.CROSSING_ZEBRA}

FIELDS = [
    'OBJECTID', 'PedestrianRouteID', 'Location', 'FeatureType', 'AliasNameEN', 'AliasNameTC',
    'CrossingFeature', 'WeatherProof', 'WheelchairBarrier', 'WheelchairAccess', 'ObstaclesType',
    'Gradient', 'Direction', 'PositionCertainty', 'Enabled', 'DataSource', 'LevelSource',
    'StreetNameEN', 'StreetNameTC', 'ST_CODE', 'FloorID', 'BuildingID_1', 'BuildingID_2',
    'SiteID', 'TerminalID', 'AccessTimeID', 'CreationDate', 'ModifiedBy', 'LastAmendmentDate',
    'Shape__Length',
]


def along(network, step=1.0):
    """Yield (feature, point) every `step` metres along every edge."""
    for feature in network.features:
        for start, end in zip(feature.points[:-1], feature.points[1:], strict=True):
            count = max(2, int(np.ceil(np.linalg.norm(end - start) / step)) + 1)
            for share in np.linspace(0, 1, count):
                yield feature, start + (end - start) * share


def test_it_says_plainly_that_it_is_invented(region):
    assert region.synthetic
    assert 'invented' in region.title
    tileset = json.loads((region.directory / 'tileset.json').read_text())
    assert tileset['asset']['extras']['synthetic'] is True
    network = json.loads((region.directory / region.network).read_text())
    assert network['note'].startswith('Invented')
    assert 'invented' in (region.directory / 'README.txt').read_text()


def test_it_is_small(region, meshes):
    assert sum(file.stat().st_size for file in region.directory.iterdir()) < 15.5e6
    assert 50_000 < sum(len(mesh.faces) for mesh in meshes) < 150_000


def test_volumes_hold_their_contents_and_children(region, meshes):
    root = read_tileset(region.directory / 'tileset.json')
    to_map = np.linalg.inv(region.frame.matrix)

    def bounds(tile):
        box = np.reshape(tile.volume['box'], (4, 3))
        center = (to_map @ tile.transform @ [*box[0], 1])[:3]
        return np.array([center - np.diag(box[1:]), center + np.diag(box[1:])])

    assert len(root.children) > 1
    outer = bounds(root)
    for child in root.children:
        (leaf,) = child.children
        assert root.geometric_error > child.geometric_error > leaf.geometric_error == 0
        points = np.concatenate([
            mesh.positions for mesh in meshes if mesh.name.startswith(leaf.contents[0])
        ])
        np.testing.assert_allclose(
            bounds(leaf), [points.min(axis=0), points.max(axis=0)], atol=1e-3
        )
        for inside, around in ((bounds(leaf), bounds(child)), (bounds(child), outer)):
            assert (inside[0] >= around[0] - 1e-3).all()
            assert (inside[1] <= around[1] + 1e-3).all()


def test_coarser_levels_have_less(region):
    root = read_tileset(region.directory / 'tileset.json')
    sizes = [
        sum((region.directory / tile.contents[0]).stat().st_size for tile in tiles)
        for tiles in (
            [root], root.children, [leaf for child in root.children for leaf in child.children]
        )
    ]
    assert 4 * sizes[0] < 2 * sizes[1] < sizes[2]


def test_the_network_is_one_piece_with_every_kind_of_way(network):
    assert len(network.components()) == 1
    kinds = {feature.feature_type for feature in network.features}
    assert kinds >= {
        FeatureType.FOOTWAY, FeatureType.STAIRCASE, FeatureType.FOOTBRIDGE, *CROSSINGS,
    }
    covered = sum(f.weather_proof == WeatherProof.COVERED for f in network.features)
    assert 3 < covered < len(network.features) / 2


def test_the_network_file_keeps_the_schema(region):
    features = json.loads((region.directory / region.network).read_text())['features']
    identifiers = [feature['properties']['PedestrianRouteID'] for feature in features]
    assert len(set(identifiers)) == len(identifiers)
    for feature in features:
        properties = feature['properties']
        assert list(properties) == FIELDS
        coordinates = np.array(feature['geometry']['coordinates'])
        easting, northing = wgs84_to_hk80(coordinates[:, 1], coordinates[:, 0])
        length = np.hypot(np.diff(easting), np.diff(northing)).sum()
        assert properties['Shape__Length'] == pytest.approx(length, abs=1e-6)
        assert isinstance(properties['FeatureType'], int)
        kind = FeatureType(properties['FeatureType'])
        assert (properties['CrossingFeature'] == 1) == (kind in CROSSINGS)
        assert (properties['WheelchairBarrier'] == 1) == (kind == FeatureType.STAIRCASE)


def test_a_surface_lies_under_every_metre_of_the_network(network, surfaces):
    for feature, point in along(network):
        height = surfaces.below(point + UP * 1.5)
        assert height is not None, (feature.id, point)
        assert height == pytest.approx(point[2], abs=0.1), (feature.id, point)


def test_a_body_passes_along_every_edge(network, surfaces):
    for feature in network.features:
        for start, end in zip(feature.points[:-1], feature.points[1:], strict=True):
            # The lower end clears the steps that a body climbs.
            assert surfaces.is_free(start, end, 0.35, 0.3, 1.75), (feature.id, start)


def test_the_free_way_test_can_fail(surfaces, region):
    place = region.load_places()[0]
    door = region.frame.from_geodetic(
        place.entrance.latitude, place.entrance.longitude, place.entrance.altitude
    )
    assert not all(
        surfaces.is_free(door, door + np.array(way), 0.35, 0.3, 1.75)
        for way in ((4, 0, 0), (-4, 0, 0), (0, 4, 0), (0, -4, 0))
    )


def test_nobody_falls_through(surfaces):
    rng = np.random.default_rng(11)
    for x, y in rng.uniform(-205, 205, (4000, 2)):
        assert surfaces.below((x, y, 200.0), 400.0) is not None, (x, y)


def test_nobody_leaves(surfaces):
    plan = StreetPlan(CHING_LAM)
    edge = min(plan.edges)
    along = np.linspace(-edge, edge, 101)
    for side in (-1, 1):
        for swap in (False, True):
            limit = plan.edges[0 if swap else 1]
            across = [np.full(101, side * (limit + offset)) for offset in (-2.0, 2.0)]
            inside, outside = (
                plan.point(line, along) if swap else plan.point(along, line) for line in across
            )
            for start, end in zip(inside, outside, strict=True):
                # A body jumps 1 m and climbs 0.3 m more.
                assert not surfaces.is_free(start, end, 0.3, 1.3, 3.05), start


def test_faces_look_outwards(network, surfaces):
    rng = np.random.default_rng(5)
    points = [point for _, point in along(network, 7.0)]
    seen = 0
    for point in points:
        turn = rng.uniform(0, 2 * np.pi)
        tilt = rng.uniform(-0.5, 0.6)
        direction = np.array(
            [np.cos(turn) * np.cos(tilt), np.sin(turn) * np.cos(tilt), np.sin(tilt)]
        )
        cosine = surfaces.facing(point + UP * 1.6, direction)
        if cosine is not None:
            seen += 1
            assert cosine < 1e-3, (point, direction)
    assert seen > 500


def test_the_stepped_lane_joins_two_levels(network, surfaces):
    stairs = [f for f in network.features if f.feature_type == FeatureType.STAIRCASE]
    lane = max(stairs, key=lambda f: f.points[-1][2] - f.points[0][2])
    assert lane.points[-1][2] - lane.points[0][2] > 4.0
    points = np.concatenate([
        np.linspace(*ends, 200) for ends in zip(lane.points[:-1], lane.points[1:], strict=True)
    ])
    heights = np.round([surfaces.below(p + UP * 1.0) for p in points], 3)
    risers = np.diff(np.unique(heights))
    risers = risers[risers > 0.01]
    assert len(risers) > 15
    assert ((risers > 0.16) & (risers < 0.18)).all()


def test_the_footbridge_clears_the_street_and_has_parapets(network, surfaces):
    (bridge,) = [f for f in network.features if f.feature_type == FeatureType.FOOTBRIDGE]
    start, end = bridge.points[0], bridge.points[-1]
    middle = (start + end) / 2
    street = surfaces.below(middle - UP * 0.5, 20.0)
    assert middle[2] - 0.35 - street >= 4.5
    across = np.cross((end - start) / np.linalg.norm(end - start), UP)
    for side in (-1, 1):
        assert surfaces.is_free(middle, middle + across * side * 1.2, 0.3, 0.3, 1.0)
        assert not surfaces.is_free(middle, middle + across * side * 2.5, 0.3, 0.4, 1.1)


def test_places_are_shops_with_doors_on_the_network(region, network, surfaces):
    places = region.load_places()
    assert len(places) >= 40
    assert len({place.type for place in places}) >= 12
    assert len({place.name for place in places}) == len(places)
    for place in places:
        assert place.type in PLACE_TYPES
        assert place.name_tc
        entrance = region.frame.from_geodetic(
            place.entrance.latitude, place.entrance.longitude, place.entrance.altitude
        )
        assert network.nearest(entrance[None]).distance[0] < 6.0
        ground = surfaces.below(entrance + UP * 1.0)
        assert ground == pytest.approx(entrance[2], abs=0.15)


def test_signs_fill_their_panels():
    atlas = sign_atlas([('Lucky Wok', '', (0, 0, 0), (255, 255, 255))])
    ink = (atlas[8:144, 10:694] > 128).all(axis=-1)
    rows, columns = np.nonzero(ink)
    # 0.86 m on the wall are 152 pixels: capitals of a third of it read at 15 m.
    assert np.ptp(rows) > 40
    assert np.ptp(columns) > 250


def test_signs_are_in_both_languages():
    if chinese_font_file() is None:
        pytest.skip('no Chinese font is installed')
    both, english = (
        sign_atlas([('Lucky Wok', chinese, (0, 0, 0), (255, 255, 255))])
        for chinese in ('好運小炒', '')
    )
    upper = (slice(8, 76), slice(20, 680))
    assert (both[upper] != english[upper]).any()
    written = {*'好運小炒', *(c for plan in PLANS.values() for street in (*plan.north, *plan.east)
                          for c in street.name_tc)}
    path, face = chinese_font_file()
    font = ImageFont.truetype(path, 32, index=face)
    missing = font.getmask('\U0010ffff').getbbox(), bytes(font.getmask('\U0010ffff'))
    for sign in sorted(written):
        mask = font.getmask(sign)
        assert (mask.getbbox(), bytes(mask)) != missing, sign


def test_lamps_stand_along_every_street(network, meshes):
    lamps = np.array([lamp.position for mesh in meshes for lamp in mesh.lamps])
    assert len(lamps) > 150
    distances = []
    for feature, point in along(network, 5.0):
        if feature.outdoor and feature.feature_type == FeatureType.FOOTWAY:
            gaps = lamps - point
            near = (gaps[:, 2] > 2.0) & (gaps[:, 2] < 9.0)
            distances.append(np.hypot(*gaps[near, :2].T).min())
    assert np.mean(np.array(distances) < 15.0) > 0.98
    assert max(distances) < 40.0


def test_windows_signs_and_lamps_shine_after_dark(meshes):
    def share(mesh):
        return float((mesh.emission.texture.max(axis=2) > 90).mean())
    glowing = [mesh for mesh in meshes if mesh.emission is not None]
    windows = [mesh for mesh in glowing if mesh.emission.uvs is not None]
    assert windows
    assert all(0.05 < share(mesh) < 0.4 for mesh in windows)
    signs = [mesh for mesh in glowing if mesh.emission.texture is mesh.texture]
    assert len(signs) >= 9
    assert not any(mesh.unlit for mesh in meshes)
    dark = [mesh for mesh in meshes if mesh.emission is None]
    assert len(dark) > len(meshes) / 2


def test_hardly_two_walls_have_the_same_windows_lit(meshes):
    quads = np.concatenate([
        mesh.emission.uvs.reshape(-1, 4, 2) * 4 for mesh in meshes
        if mesh.emission is not None and mesh.emission.uvs is not None])
    # Where tiles meet walls are cut, into what has a corner twice or starts within a window.
    whole = (quads[:, 2] != quads[:, 3]).any(axis=1) & (
        abs(quads[:, 0] - np.round(quads[:, 0])) < 1e-3).all(axis=1)
    assert whole.mean() > 0.5
    starts = np.round(quads[whole, 0])
    _, counts = np.unique(starts, axis=0, return_counts=True)
    assert len(counts) == 16
    assert counts.max() < 2.5 * len(starts) / 16
