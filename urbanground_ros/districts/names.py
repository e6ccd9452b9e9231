# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Invented names: shops and other places, in English and traditional Chinese."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from urbanground_ros.tiles import Instance


class Shop(NamedTuple):
    """A shop: type in the vocabulary of places, names, opening hours as written in files."""

    type: str
    name: str
    name_tc: str
    opens: str
    closes: str

    @property
    def sign(self) -> Instance:
        """What its sign is called, as the place is."""
        return Instance('sign', self.name)


CHING_LAM_SHOPS = (
    Shop('bakery', 'Golden Crust Bakery', '金脆麵包', '07:00', '20:00'),
    Shop('bakery', 'Moon Lane Bakery', '月里餅家', '06:30', '19:30'),
    Shop('bakery', 'Sesame Bakery', '芝麻餅店', '07:00', '21:00'),
    Shop('restaurant', 'Red Lantern Kitchen', '紅燈籠小廚', '11:00', '23:00'),
    Shop('restaurant', 'Jade Garden Noodles', '翠園麵家', '08:00', '22:00'),
    Shop('restaurant', 'Lucky Wok', '好運小炒', '11:30', '22:30'),
    Shop('restaurant', 'Harbour Congee', '海港粥店', '06:00', '15:00'),
    Shop('restaurant', 'Pine Hill Dumplings', '松山餃子', '11:00', '21:30'),
    Shop('cafe', 'Blue Heron Cafe', '藍鷺咖啡', '08:00', '19:00'),
    Shop('cafe', 'Stairway Coffee', '石階咖啡', '07:30', '18:30'),
    Shop('cafe', 'Cha Chaan Corner', '街角冰室', '06:30', '21:00'),
    Shop('cafe', 'Cloud Gate Tea', '雲門茶舍', '10:00', '20:00'),
    Shop('pharmacy', 'Good Health Pharmacy', '安健藥房', '09:00', '22:00'),
    Shop('pharmacy', 'Evergreen Pharmacy', '常青藥房', '09:30', '21:30'),
    Shop('pharmacy', 'Banyan Pharmacy', '榕樹藥房', '10:00', '20:30'),
    Shop('convenience', 'Daily Mart', '日日便利店', '00:00', '24:00'),
    Shop('convenience', 'Corner Express', '轉角便利店', '00:00', '24:00'),
    Shop('convenience', 'Sunrise Store', '晨光士多', '06:00', '23:00'),
    Shop('bank', 'Peak View Bank', '峰景銀行', '09:00', '17:00'),
    Shop('bank', 'Union Hill Bank', '聯山銀行', '09:00', '16:30'),
    Shop('books', 'Paper Boat Books', '紙船書店', '11:00', '21:00'),
    Shop('books', 'Lantern Books', '燈下書屋', '10:30', '20:00'),
    Shop('clothes', 'Silk Thread Tailor', '絲線洋服', '10:00', '19:00'),
    Shop('clothes', 'Orchid Fashion', '蕙蘭時裝', '11:00', '21:00'),
    Shop('clothes', 'Happy Kids Wear', '開心童裝', '11:00', '20:00'),
    Shop('florist', 'Spring Flowers', '春日花店', '09:00', '19:00'),
    Shop('florist', 'Lotus Florist', '荷香花藝', '09:30', '19:30'),
    Shop('hairdresser', 'Mirror Hair Salon', '鏡子髮廊', '10:30', '20:30'),
    Shop('hairdresser', 'Uncle Wing Barber', '榮叔理髮', '09:00', '18:00'),
    Shop('hardware', 'Iron Gate Hardware', '鐵門五金', '09:00', '18:30'),
    Shop('hardware', 'Kiln Lane Tools', '瓦窰工具', '09:00', '18:00'),
    Shop('clinic', 'Hillside Clinic', '山邊診所', '09:00', '19:00'),
    Shop('clinic', 'Dr Fong Clinic', '方醫生診所', '10:00', '18:00'),
    Shop('optician', 'Clear View Optical', '明視眼鏡', '10:00', '20:00'),
    Shop('optician', 'Owl Optical', '貓頭鷹眼鏡', '11:00', '20:30'),
    Shop('electronics', 'Bright Spark Electrical', '光明電器', '10:00', '20:00'),
    Shop('electronics', 'Pixel Phones', '像素電話', '11:00', '21:30'),
    Shop('supermarket', 'Green Basket Market', '綠籃超市', '08:00', '22:30'),
    Shop('supermarket', 'Family Fresh', '家家鮮', '07:30', '23:00'),
    Shop('laundry', 'Snow White Laundry', '雪白洗衣', '08:30', '19:30'),
    Shop('laundry', 'Bubble Laundry', '泡泡洗衣', '00:00', '24:00'),
    Shop('stationery', 'Ink Stone Stationery', '墨硯文具', '09:30', '19:30'),
    Shop('post_office', 'Ching Lam Post Office', '青嵐郵政局', '09:30', '17:00'),
    Shop('library', 'Ching Lam Library', '青嵐圖書館', '10:00', '19:00'),
    Shop('hotel', 'Terrace Hotel', '台階酒店', '00:00', '24:00'),
    Shop('fast_food', 'Speedy Burger', '飛快漢堡', '10:00', '23:30'),
)

_OWNERS = (
    ('Golden', '金'), ('Lucky', '好運'), ('Jade', '翡翠'), ('Harbour', '海港'),
    ('Sunrise', '旭日'),
    ('Evergreen', '常青'), ('Red Bean', '紅豆'), ('Silver', '銀'), ('Bamboo', '竹'),
    ('Pearl', '明珠'),
    ('Moonlight', '月光'), ('Orchid', '蘭花'), ('Little Swallow', '小燕'), ('Grand', '大'),
    ('Happy', '開心'), ('Good Fortune', '福'), ('Peony', '牡丹'), ('Rainbow', '彩虹'),
    ('Phoenix', '鳳凰'), ('Nine Dragons', '九龍'), ('Blue Sky', '藍天'), ('Old Well', '老井'),
    ('Double Joy', '雙喜'), ('Sea Breeze', '海風'), ('Uncle Keung', '強叔'),
    ('Auntie Mei', '美姨'),
    ('Star', '星'), ('Plum', '梅'), ('Crane', '仙鶴'), ('Amber', '琥珀'), ('Lotus', '蓮'),
    ('Cloud', '雲'), ('Stone Bridge', '石橋'), ('Wing Lok', '永樂'), ('Man Fung', '萬豐'),
    ('Tai Shing', '大成'), ('Kam Wah', '金華'), ('Yee Hing', '義興'), ('Shun Lee', '順利'),
    ('Fook Kee', '福記'),
)
# Type: what follows the owner's name in both languages, and the hours.
_TRADES: dict[str, tuple[str, str, str, str]] = {
    'bakery': ('Bakery', '麵包', '07:00', '20:00'),
    'restaurant': ('Kitchen', '小廚', '11:00', '23:00'),
    'cafe': ('Cafe', '冰室', '07:00', '20:00'),
    'pharmacy': ('Pharmacy', '藥房', '09:30', '22:00'),
    'convenience': ('Store', '便利店', '00:00', '24:00'),
    'bank': ('Bank', '銀行', '09:00', '17:00'),
    'clothes': ('Fashion', '時裝', '11:00', '21:00'),
    'hardware': ('Hardware', '五金', '09:00', '18:30'),
    'supermarket': ('Supermarket', '超市', '08:00', '22:30'),
    'fast_food': ('Fast Food', '快餐', '07:30', '23:00'),
    'hairdresser': ('Hair Salon', '髮廊', '10:30', '20:30'),
    'clinic': ('Clinic', '診所', '09:00', '19:00'),
    'books': ('Books', '書店', '11:00', '21:00'),
    'florist': ('Florist', '花店', '09:00', '19:00'),
    'optician': ('Optical', '眼鏡', '10:00', '20:00'),
    'electronics': ('Electrical', '電器', '10:30', '21:00'),
    'laundry': ('Laundry', '洗衣', '08:30', '19:30'),
    'stationery': ('Stationery', '文具', '09:30', '19:30'),
    'dentist': ('Dental', '牙科', '09:30', '18:30'),
    'bar': ('Bar', '酒吧', '17:00', '02:00'),
    'hotel': ('Hotel', '酒店', '00:00', '24:00'),
    'atm': ('Cash Machine', '櫃員機', '00:00', '24:00'),
    'veterinary': ('Animal Clinic', '動物診所', '10:00', '20:00'),
    'fitness_centre': ('Gym', '健身', '06:30', '23:00'),
    'office': ('Trading Office', '貿易行', '09:00', '18:00'),
    'kindergarten': ('Kindergarten', '幼稚園', '08:30', '17:00'),
}
# What a district has one of: it is called after the district.
_CIVIC: dict[str, tuple[str, str, str, str]] = {
    'post_office': ('Post Office', '郵政局', '09:30', '17:00'),
    'library': ('Library', '圖書館', '10:00', '19:00'),
    'police': ('Police Station', '警署', '00:00', '24:00'),
    'fire_station': ('Fire Station', '消防局', '00:00', '24:00'),
    'government': ('Government Offices', '政府合署', '09:00', '17:30'),
    'community_centre': ('Community Centre', '社區中心', '09:00', '22:00'),
    'station': ('Station', '站', '05:30', '01:00'),
    'marketplace': ('Market', '街市', '06:00', '20:00'),
    'toilets': ('Public Toilet', '公廁', '00:00', '24:00'),
    'school': ('Primary School', '小學', '08:00', '17:30'),
    'place_of_worship': ('Temple', '古廟', '08:00', '17:00'),
    'sports_centre': ('Sports Centre', '體育館', '07:00', '23:00'),
    'parking': ('Car Park', '停車場', '00:00', '24:00'),
    'hospital': ('Hospital', '醫院', '00:00', '24:00'),
    'cinema': ('Cinema', '戲院', '11:00', '01:00'),
    'theatre': ('Theatre', '劇場', '10:00', '22:30'),
    'museum': ('Museum', '博物館', '10:00', '18:00'),
    'arts_centre': ('Arts Centre', '藝術中心', '10:00', '20:00'),
    'mall': ('Plaza', '商場', '10:00', '22:00'),
    'college': ('College', '書院', '08:30', '18:30'),
    'university': ('University', '大學', '08:00', '22:00'),
}
OUTDOOR: dict[str, tuple[str, str, str, str]] = {
    'park': ('Garden', '花園', '06:00', '23:00'),
    'playground': ('Playground', '遊樂場', '07:00', '22:00'),
    'residential': ('Court', '閣', '00:00', '24:00'),
    'bus_stop': ('Bus Stop', '巴士站', '05:30', '00:30'),
    'taxi': ('Taxi Stand', '的士站', '00:00', '24:00'),
}
"""Outdoor types of place: what follows a street's name in both languages, and the hours."""


def shops(
    rng: np.random.Generator, district: tuple[str, str], count: int, civic: Sequence[str] = ()
) -> list[Shop]:
    """Return places with shop fronts: the civic ones, then trades in turn, no name twice.

    Raises:
        KeyError: a civic type is not known.
    """
    found = [
        Shop(kind, f'{district[0]} {words[0]}', f'{district[1]}{words[1]}', *words[2:])
        for kind in civic for words in [_CIVIC[kind]]
    ]
    trades = list(_TRADES.items())
    owners: dict[str, list[int]] = {}
    for number in range(count - len(found)):
        # The first trades are the common ones: every second round leaves out the others.
        round_, place = divmod(number, len(trades))
        kind, words = trades[place if round_ % 2 == 0 else place % 12]
        order = owners.setdefault(kind, rng.permutation(len(_OWNERS)).tolist())
        english, chinese = _OWNERS[order.pop()]
        found.append(Shop(kind, f'{english} {words[0]}', f'{chinese}{words[1]}', *words[2:]))
    return found


def outdoor(kind: str, where: tuple[str, str], number: int = 0) -> Shop:
    """Return an outdoor place called after a street or district, numbered where that is said."""
    words = OUTDOOR[kind]
    suffix = f' {number}' if number else ''
    return Shop(kind, f'{where[0]} {words[0]}{suffix}', f'{where[1]}{words[1]}{number or ""}',
                *words[2:])
