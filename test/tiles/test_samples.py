# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every tileset and every content of the samples loads, or is refused for the right reason."""

from pathlib import Path

import pytest

from urbanground_ros.tiles import FolderSource
from urbanground_ros.tiles import TilesError
from urbanground_ros.tiles import unwrap_b3dm
from urbanground_ros.tiles.gltf import decode_gltf
from urbanground_ros.tiles.gltf import Scene
from urbanground_ros.tiles.survey import survey

DATA = Path(__file__).resolve().parents[2].parent / 'shared' / 'data'
TABLE = [
    [cell.strip() for cell in line.split('|')]
    for line in Path(__file__).with_name('samples.txt').read_text().splitlines()
    if not line.startswith('#')
]
FOLDERS = ('3dtiles_samples', 'nasa_dingo_gap', 'f2_ho_man_tin_tileset')
# Contents that are refused, and why.
REFUSED = {
    'glTF1GlbWith5BytesBin.glb': 'glTF version 1, expected 2',
    'glTF1GlbWithoutBin.glb': 'glTF version 1, expected 2',
}
# Contents that no tileset of the samples refers to: meshes and triangles.
LOOSE = {
    '3d-tiles-tools_gltf/BoxDraco.glb': (1, 12),
    '3d-tiles-tools_gltf/BoxMeshopt.glb': (1, 12),
    '3d-tiles-tools_gltf/glTF2GlbWith5BytesBin.glb': (0, 0),
    'cesium-native_3dtiles/content/CesiumBalloonKTX2.glb': (5, 13224),
    'cesium-native_3dtiles/content/Duck-vp-12-vt-12-vn-12.glb': (1, 4212),
    'cesium-native_3dtiles/content/batchedWithBatchTable-draco.b3dm': (1, 120),
    'loadersgl_3dtiles/content/143.b3dm': (2, 28222),
    'loadersgl_3dtiles/content/BoxTextured_meshopt.glb': (1, 12),
    'loadersgl_3dtiles/content/frankfurt_osgb_draco.b3dm': (1, 49427),
    # Points, which are left out.
    'loadersgl_3dtiles/content/helsinki-meshopt_0.glb': (0, 0),
}


def decode(path: Path) -> Scene:
    data = path.read_bytes()
    if path.suffix == '.b3dm':
        data = unwrap_b3dm(data, path.name).gltf
    return decode_gltf(data, path.name, lambda uri: (path.parent / uri).read_bytes())


def sample(path: str) -> Path:
    for place in (DATA, DATA / '3dtiles_samples'):
        if (place / path).is_file():
            return place / path
    pytest.skip(f'sample {path} is not here')


@pytest.mark.parametrize('row', TABLE, ids=[row[0] for row in TABLE])
def test_every_tileset(row):
    path, *counts = row[:4]
    found = survey(FolderSource(sample(path)))
    assert [found.tiles, found.meshes, found.triangles] == [int(count) for count in counts]
    number, _, reason = (row[4] if row[4:] else '0 ').partition(' ')
    assert len(found.warnings) == int(number)
    assert all(reason in line and '\n' not in line for line in found.warnings)


def test_the_table_is_whole():
    if not DATA.is_dir():
        pytest.skip('the samples are not here')
    found = {
        path.relative_to(DATA).as_posix().removeprefix('3dtiles_samples/')
        for folder in FOLDERS for path in (DATA / folder).glob('**/tileset*.json')
    }
    assert found == {row[0] for row in TABLE}


@pytest.mark.parametrize('path', LOOSE)
def test_contents_that_no_tileset_has(path):
    scene = decode(sample(path))
    assert (len(scene.primitives), sum(len(p.faces) for p in scene.primitives)) == LOOSE[path]
    assert not scene.warnings


def test_every_content_decodes_whole_or_is_refused():
    if not DATA.is_dir():
        pytest.skip('the samples are not here')
    paths = [
        path for folder in FOLDERS for kind in ('glb', 'b3dm')
        for path in (DATA / folder).glob(f'**/*.{kind}')
    ]
    refused = {}
    for path in paths:
        # A file of no bytes stands for one that was left out of a sample.
        if not path.stat().st_size:
            continue
        try:
            assert not decode(path).warnings, path
        except TilesError as error:
            refused[path.name] = str(error)
    assert len(paths) > 500
    assert refused == {name: f'{name}: {why}' for name, why in REFUSED.items()}
