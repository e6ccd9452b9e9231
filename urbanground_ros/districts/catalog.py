# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The built-in districts: written once into a cache, found by name."""

from __future__ import annotations

from contextlib import suppress
import hashlib
import json
from pathlib import Path
import shutil
import tempfile
import zlib

import numpy as np
import PIL
import pyproj

from urbanground_ros.districts.errors import DistrictError
from urbanground_ros.districts.fonts import font_signature
from urbanground_ros.districts.plans import CHING_LAM
from urbanground_ros.districts.plans import PLANS
from urbanground_ros.districts.writer import write_district
from urbanground_ros.folders import cache_folder
from urbanground_ros.geo import added_regions
from urbanground_ros.progress import Bar

DEFAULT_DISTRICT = CHING_LAM.name
"""The district that everything uses where no region is named."""

_MANIFEST = 'manifest.json'


def district_names() -> tuple[str, ...]:
    """Return the names of the built-in districts."""
    return tuple(PLANS)


def ensure_district(name: str = DEFAULT_DISTRICT, cache: Path | None = None) -> Path:
    """Return the region file of a built-in district, writing the district where needed.

    It is written into a folder of its own, named after a hash of what writes it, and appears
    there whole or not at all; processes may do this at the same time. One that has lost files
    is written anew.

    Raises:
        DistrictError: no such district, or the cache cannot be written.
    """
    if name not in PLANS:
        raise DistrictError(
            f'district {name!r} is unknown, expected one of {", ".join(district_names())}'
        )
    parent = (cache_folder() if cache is None else cache) / 'districts'
    folder = parent / f'{name}-{_generator_hash()}'
    region = folder / 'region.yaml'
    if _is_whole(folder):
        return region
    try:
        parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            # Somebody has deleted or cut something: it is written anew.
            away = Path(tempfile.mkdtemp(prefix=f'.{name}-', dir=parent))
            folder.rename(away / 'damaged')
            shutil.rmtree(away)
        temporary = Path(tempfile.mkdtemp(prefix=f'.{name}-', dir=parent))
        try:
            with Bar(f'writing district {name}') as bar:
                write_district(temporary, PLANS[name], bar.show)
            _write_manifest(temporary)
            temporary.chmod(0o755)
            temporary.rename(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        # Another process may have been first.
        if not _is_whole(folder):
            raise DistrictError(
                f'{parent}: district {name} cannot be written ({error.strerror}), expected a '
                'writable folder; URBANGROUND_CACHE names another'
            ) from error
    return region


def resolve_region(name_or_path: str) -> Path:
    """Return the region file that a name or a path means.

    A name is that of a built-in district, else of a region that the user has added.

    Raises:
        DistrictError: it is neither, or the district cannot be written.
    """
    if name_or_path in PLANS:
        return ensure_district(name_or_path)
    added = added_regions()
    if name_or_path in added:
        return added[name_or_path]
    with suppress(OSError, RuntimeError, ValueError):  # what cannot be a path
        path = Path(name_or_path).expanduser()
        for file in (path, path / 'region.yaml'):
            if file.is_file():
                return file
    raise DistrictError(
        f'region {name_or_path!r:.80} is neither a built-in district, an added region nor a file, '
        f'expected a region.yaml, its folder or one of {", ".join((*district_names(), *added))}'
    )


def _write_manifest(folder: Path) -> None:
    seals = {str(file.relative_to(folder)): _seal(file)
             for file in sorted(folder.rglob('*')) if file.is_file()}
    (folder / _MANIFEST).write_text(json.dumps(seals, indent=1))


def _seal(file: Path) -> list[int]:
    """Return the size of a file, and the checksum of one that is text."""
    seal = [file.stat().st_size]
    if file.suffix in ('.json', '.geojson', '.yaml'):
        seal.append(zlib.crc32(file.read_bytes()))
    return seal


def _is_whole(folder: Path) -> bool:
    """Tell whether a written district has all its files, and they are as they were."""
    try:
        seals = json.loads((folder / _MANIFEST).read_text())
        return all(_seal(folder / name) == seal for name, seal in seals.items())
    except (OSError, ValueError, AttributeError, TypeError):
        return False


def _generator_hash() -> str:
    """Return a hash of the code that writes districts and of the libraries it draws with."""
    package = Path(__file__).parents[1]
    parts = [f'{np.__version__} {PIL.__version__} {pyproj.__proj_version__} '
             f'{font_signature()}'.encode()]
    for name in ('districts', 'geo', 'tiles'):
        parts += [source.read_bytes() for source in sorted((package / name).glob('*.py'))]
    return hashlib.sha256(b'\0'.join(parts)).hexdigest()[:12]
