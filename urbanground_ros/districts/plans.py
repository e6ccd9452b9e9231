# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The built-in districts, declared: seven invented places at real coordinates in Hong Kong.

Each differs in its streets, its terrain and how its levels are joined. To add one, declare a
`DistrictPlan` and list it in `PLANS`, or pass it to `write_district`.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np

from urbanground_ros.city import GeoPoint
from urbanground_ros.districts.names import CHING_LAM_SHOPS
from urbanground_ros.districts.names import Shop
from urbanground_ros.districts.names import shops
from urbanground_ros.districts.plan import Crossover
from urbanground_ros.districts.plan import DistrictPlan
from urbanground_ros.districts.plan import Stepped
from urbanground_ros.districts.plan import Street
from urbanground_ros.districts.plan import Use

_STEMS = (
    ('Pine', '松'), ('Heron', '白鷺'), ('Lantern', '燈籠'), ('Banyan', '榕樹'), ('Ferry', '渡船'),
    ('Indigo', '靛藍'), ('Kapok', '木棉'), ('Drum', '鼓'), ('Willow', '柳'), ('Copper', '銅'),
    ('Plover', '千鳥'), ('Camphor', '樟樹'), ('Anchor', '鐵錨'), ('Lychee', '荔枝'),
    ('Silk', '絲綢'), ('Egret', '鷺'), ('Tea', '茶'), ('Granite', '花崗'),
    ('Magpie', '喜鵲'), ('Ginger', '薑'),
    ('Bauhinia', '紫荊'), ('Salt', '鹽'), ('Kite', '風箏'), ('Maple', '楓'), ('Rice', '米'),
    ('Carp', '鯉魚'), ('Chime', '鐘'), ('Jasmine', '茉莉'), ('Rope', '繩'), ('Sandal', '檀香'),
)
_ROADS = (('Road', '道'), ('Street', '街'))
_LANE = ('Lane', '里')


def _streets(
    axis: int,
    spots: Sequence[float],
    first: int,
    lanes: Iterable[int] = (),
    lane_width: float = 2.6,
    canopied: Iterable[int] = (),
    signals: Iterable[int] = (),
) -> tuple[Street, ...]:
    """Return streets at places of the plan, named from `_STEMS` on: roads, or lanes by number."""
    lanes, canopied, signals = set(lanes), set(canopied), set(signals)
    found = []
    for number, at in enumerate(spots):
        english, chinese = _STEMS[(first + number) % len(_STEMS)]
        suffix = _LANE if number in lanes else _ROADS[axis]
        size = {'carriageway': 0.0, 'sidewalk': lane_width} if number in lanes else {}
        found.append(Street(
            at, f'{english} {suffix[0]}', f'{chinese}{suffix[1]}',
            canopied=0.92 if number in canopied else 0.15, signals=number in signals, **size,
        ))
    return tuple(found)


def _spread(reach: float, count: int) -> list[float]:
    return np.linspace(-reach, reach, count).round(2).tolist()


CHING_LAM = DistrictPlan(
    name='ching_lam',
    title='Ching Lam, an invented district on a Kowloon hillside',
    origin=GeoPoint(22.3272, 114.1786, 20.0),
    seed=852,
    north=(
        Street(-148.0, 'Pine Ridge Road', '松嶺道'), Street(-74.0, 'Heron Road', '白鷺道'),
        Street(0.0, 'Ching Lam Road', '青嵐道', signals=True), Street(72.0, 'Kiln Lane', '瓦窰里'),
        Street(146.0, 'Orchid Road', '蕙蘭道'),
    ),
    east=(
        Street(-147.0, 'Ferry View Street', '望渡街'), Street(-73.0, 'Lantern Street', '燈籠街'),
        Street(1.0, 'Market Row', '墟里街', canopied=0.9, signals=True),
        Street(74.0, 'Banyan Street', '榕蔭街'), Street(147.0, 'Cloud Gate Street', '雲門街'),
    ),
    climb=(
        (-300.0, -22.0), (-240.0, -9.0), (-200.0, -1.5), (-147.0, 1.5), (-73.0, 7.0), (1.0, 13.5),
        (74.0, 19.0), (147.0, 24.0), (200.0, 28.5), (240.0, 43.0), (300.0, 76.0),
    ),
    swell=1.0,
    warp=1.0,
    uses={(2, 1): Use.PARK},
    stepped=(Stepped(3, 1),),
    crossovers=(Crossover(2, 3),),
    shops=len(CHING_LAM_SHOPS),
)

KAM_TONG = DistrictPlan(
    name='kam_tong',
    title='Kam Tong, an invented grid of shops on the Kowloon plain',
    origin=GeoPoint(22.3262, 114.1640, 4.0),
    seed=101,
    north=_streets(0, _spread(440, 9), 0, lanes=(3,), lane_width=4.0, signals=(2, 6)),
    east=_streets(1, _spread(390, 8), 9, canopied=(2, 3, 5), signals=(1, 4)),
    uses={(1, 1): Use.PARK, (6, 5): Use.PARK},
    crossovers=(Crossover(2, 2), Crossover(6, 3)),
    tall=0.22,
    shops=104,
    stalls=True,
)

YUEN_LING = DistrictPlan(
    name='yuen_ling',
    title='Yuen Ling, an invented hillside of stairs and escalators on Hong Kong Island',
    origin=GeoPoint(22.2803, 114.1468, 60.0),
    seed=202,
    north=(
        *_streets(0, (-420, -315, -210, -105), 17, lanes=(1, 3), lane_width=3.4, signals=(2,)),
        Street(0.0, 'Long Ladder Street', '長梯街', 0.0, 4.2),
        *_streets(0, (105, 210, 315, 420), 22, lanes=(1,), lane_width=3.4, signals=(0,)),
    ),
    east=_streets(1, _spread(352, 9), 4, canopied=(1, 2), signals=(0, 4)),
    climb=(
        (-600.0, -60.0), (-405.0, -46.0), (-352.0, -40.0), (-264.0, -33.0), (-176.0, -25.0),
        (-88.0, -16.0), (0.0, -7.0), (88.0, 3.0), (176.0, 12.0), (264.0, 21.0), (352.0, 29.0),
        (405.0, 35.0), (460.0, 60.0), (520.0, 110.0),
    ),
    swell=0.8,
    warp=1.0,
    uses={(1, 2): Use.PARK, (6, 5): Use.PARK},
    stepped=(
        *(Stepped(4, row, half=3.2, escalator=True) for row in range(8)),
        *(Stepped(1, row) for row in (0, 2, 3, 5, 7)),
        *(Stepped(3, row) for row in (1, 4, 6)),
        *(Stepped(6, row) for row in (0, 2, 4, 5, 6)),
    ),
    crossovers=(Crossover(7, 1), Crossover(7, 3)),
    storeys=((4, 8), (14, 26)),
    tall=0.3,
    shops=72,
)

_PODIUMS = {(column, row): Use.PODIUM for column in range(1, 5) for row in range(1, 5)}
WAH_KIU = DistrictPlan(
    name='wah_kiu',
    title='Wah Kiu, an invented new town of podiums joined by footbridges',
    origin=GeoPoint(22.3706, 114.1142, 5.0),
    seed=303,
    north=_streets(0, _spread(372, 7), 6, signals=(1, 3, 5)),
    east=_streets(1, _spread(372, 7), 19, canopied=(1,), signals=(0, 3)),
    uses={**_PODIUMS, (0, 3): Use.PARK, (5, 1): Use.PARK, (2, 5): Use.ESTATE},
    crossovers=(Crossover(1, 0), Crossover(5, 5)),
    storeys=((5, 10), (18, 30)),
    tall=0.3,
    shops=84,
)

KWUN_LEI = DistrictPlan(
    name='kwun_lei',
    title='Kwun Lei, an invented old town of lanes in the New Territories',
    origin=GeoPoint(22.4446, 114.0290, 6.0),
    seed=404,
    north=_streets(
        0, (-352, -291, -226, -168, -100, -42, 24, 82, 151, 212, 286, 352), 2,
        lanes=(1, 2, 3, 5, 6, 7, 9, 10), signals=(4,),
    ),
    east=_streets(
        1, (-350, -285, -228, -163, -96, -30, 31, 97, 158, 224, 290, 350), 14,
        lanes=(1, 2, 3, 4, 6, 7, 8, 10), canopied=(5, 9), signals=(5,),
    ),
    climb=((-350.0, 0.0), (0.0, 1.5), (350.0, 3.5), (460.0, 12.0)),
    swell=0.4,
    warp=1.35,
    uses={(2, 7): Use.PARK, (6, 3): Use.PARK, (9, 8): Use.PARK},
    crossovers=(Crossover(4, 6),),
    storeys=((2, 5), (6, 9)),
    tall=0.12,
    pieces=(1, 2),
    thinning=0.16,
    shops=92,
    stalls=True,
)

_HARBOUR = Street(250.0, 'Harbour Parade', '海港大道', 7.2, 4.4, signals=True)
_PROMENADE = Street(400.0, 'Breakwater Promenade', '堤岸長廊', 0.0, 6.5)
HOI_TIN = DistrictPlan(
    name='hoi_tin',
    title='Hoi Tin, an invented waterfront with subways under its roads',
    origin=GeoPoint(22.3052, 114.1906, 2.0),
    seed=505,
    north=(
        *_streets(0, (-400, -292, -184, -76, 32, 140), 11, signals=(2,)),
        _HARBOUR, _PROMENADE,
    ),
    east=_streets(1, _spread(390, 9), 24, canopied=(2, 6), signals=(4,)),
    uses={(6, row): Use.PARK for row in (0, 2, 3, 5, 7)} | {(2, 3): Use.PARK},
    crossovers=(
        *(Crossover(6, row, subway=True) for row in (1, 4, 6)),
        Crossover(2, 2, subway=True), Crossover(2, 5),
    ),
    sea=True,
    storeys=((5, 10), (14, 24)),
    tall=0.25,
    shops=76,
)

_ESTATES = {
    (column, row): Use.ESTATE for column in range(1, 6) for row in (1, 2, 4, 5)
} | {(column, row): Use.ESTATE for column in (0, 6) for row in (2, 4)}
SHING_LAM = DistrictPlan(
    name='shing_lam',
    title='Shing Lam, an invented estate with covered walkways',
    origin=GeoPoint(22.3868, 114.1962, 8.0),
    seed=606,
    north=_streets(0, _spread(413, 8), 8, signals=(2, 5)),
    east=_streets(1, _spread(413, 8), 21, canopied=(3, 4), signals=(3,)),
    climb=(
        (-470.0, -3.0), (-413.0, -1.0), (0.0, 5.0), (413.0, 14.0), (470.0, 18.0), (560.0, 60.0),
    ),
    swell=0.6,
    warp=0.7,
    gaps=frozenset(
        {(1, line, row) for line in (2, 4) for row in (1, 4)}
        | {(0, line, column) for line in (2, 5) for column in (1, 2, 4)}
    ),
    uses={**_ESTATES, (3, 3): Use.PARK, (0, 0): Use.PARK},
    crossovers=(Crossover(2, 3), Crossover(5, 3), Crossover(5, 0)),
    storeys=((4, 9), (20, 36)),
    tall=0.15,
    shops=60,
)

PLANS: Mapping[str, DistrictPlan] = {
    plan.name: plan
    for plan in (CHING_LAM, KAM_TONG, YUEN_LING, WAH_KIU, KWUN_LEI, HOI_TIN, SHING_LAM)
}
"""The built-in districts by name, the small one first."""

# What each has of things that a district has one of, and how it is called in both languages.
_CIVIC: Mapping[str, tuple[tuple[str, str], tuple[str, ...]]] = {
    'kam_tong': (('Kam Tong', '錦塘'), (
        'post_office', 'police', 'station', 'marketplace', 'cinema', 'toilets', 'mall',
    )),
    'yuen_ling': (('Yuen Ling', '苑嶺'), (
        'library', 'hospital', 'place_of_worship', 'university', 'arts_centre', 'parking',
    )),
    'wah_kiu': (('Wah Kiu', '華橋'), (
        'mall', 'station', 'government', 'theatre', 'post_office', 'sports_centre', 'parking',
    )),
    'kwun_lei': (('Kwun Lei', '觀里'), (
        'marketplace', 'place_of_worship', 'school', 'toilets', 'community_centre', 'police',
    )),
    'hoi_tin': (('Hoi Tin', '海天'), (
        'museum', 'theatre', 'toilets', 'station', 'fire_station', 'college',
    )),
    'shing_lam': (('Shing Lam', '盛林'), (
        'school', 'library', 'community_centre', 'sports_centre', 'post_office', 'fire_station',
        'parking',
    )),
}


def shops_of(district: DistrictPlan, rng: np.random.Generator) -> Sequence[Shop]:
    """Return the shops of a district; one that is not built in has trades only."""
    if district.name == CHING_LAM.name:
        return CHING_LAM_SHOPS
    name, civic = _CIVIC.get(district.name, (('', ''), ()))
    return shops(rng, name, district.shops, civic)
