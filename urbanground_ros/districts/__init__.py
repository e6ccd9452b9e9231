# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Built-in districts: invented cities as real 3D Tiles, with network and places.

A district is a folder of plain files, and any city made in this form is used in the same way:

- `region.yaml`: name, title, origin of the map frame, and the other files
  (`urbanground_ros.geo.Region`).
- `tileset.json`: 3D Tiles 1.0 or 1.1, REPLACE or ADD, glTF or b3dm; the finest level is both
  what is seen and what is walked on.
- `network.geojson`: lines in the schema of the 3D Pedestrian Network of the Lands Department,
  WGS84 and HKPD heights, joined where their ends are equal, on the surfaces of the tiles.
- `places.json`: what people want to go to (`urbanground_ros.geo.load_places`).

To write one of your own with this kit, declare a `DistrictPlan` - streets, terrain, uses of
blocks, stepped streets, footbridges and subways - and pass it to `write_district`::

    plan = DistrictPlan('mine', 'Mine, an invented district', GeoPoint(22.3, 114.2, 5.0), 1,
                        north=(Street(-60.0, 'West Road', '西道'), ...), east=(...))
    write_district(Path('mine'), plan)

Nothing carries a body in these districts. An escalator is a flight of steps that the network
lets be walked upwards only, with stairs beside it. A lift has a shaft that can be entered at
both levels, and a vertical feature that is not enabled, so that no route leads along it: routes
take the stairs, escalator or ramp of the same podium.
"""

from urbanground_ros.districts.catalog import DEFAULT_DISTRICT
from urbanground_ros.districts.catalog import district_names
from urbanground_ros.districts.catalog import ensure_district
from urbanground_ros.districts.catalog import resolve_region
from urbanground_ros.districts.errors import DistrictError
from urbanground_ros.districts.plan import Crossover
from urbanground_ros.districts.plan import DistrictPlan
from urbanground_ros.districts.plan import Stepped
from urbanground_ros.districts.plan import Street
from urbanground_ros.districts.plan import Use
from urbanground_ros.districts.plans import PLANS
from urbanground_ros.districts.writer import write_district

__all__ = [
    'DEFAULT_DISTRICT',
    'PLANS',
    'Crossover',
    'DistrictError',
    'DistrictPlan',
    'Stepped',
    'Street',
    'Use',
    'district_names',
    'ensure_district',
    'resolve_region',
    'write_district',
]
