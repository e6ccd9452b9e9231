# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Invented names: streets, shops and other places of the built-in district."""

from __future__ import annotations

from typing import NamedTuple

TITLE = 'Ching Lam, an invented district on a Kowloon hillside'

STREETS_NORTH = (
    ('Pine Ridge Road', '松嶺道'), ('Heron Road', '白鷺道'), ('Ching Lam Road', '青嵐道'),
    ('Kiln Lane', '瓦窰里'), ('Orchid Road', '蕙蘭道'),
)
"""Streets that run north, from west to east: English and traditional Chinese."""
STREETS_EAST = (
    ('Ferry View Street', '望渡街'), ('Lantern Street', '燈籠街'), ('Market Row', '墟里街'),
    ('Banyan Street', '榕蔭街'), ('Cloud Gate Street', '雲門街'),
)
"""Streets that run east, from south to north."""


class Shop(NamedTuple):
    """A shop: type in the vocabulary of places, names, opening hours as written in files."""

    type: str
    name: str
    name_tc: str
    opens: str
    closes: str


SHOPS = (
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

PARK = Shop('park', 'Banyan Park', '榕蔭公園', '06:00', '23:00')
