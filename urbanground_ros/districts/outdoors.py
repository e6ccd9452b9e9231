# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Places that are not shops: parks, towers of estates, bus stops and taxi stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from urbanground_ros.districts.names import outdoor
from urbanground_ros.districts.names import Shop
from urbanground_ros.districts.plan import Segment
from urbanground_ros.districts.plan import StreetPlan
from urbanground_ros.districts.plan import Use
from urbanground_ros.districts.soup import bar
from urbanground_ros.districts.soup import FloatArray
from urbanground_ros.districts.soup import oriented_box
from urbanground_ros.districts.soup import prism
from urbanground_ros.districts.soup import Soup
from urbanground_ros.districts.structures import path_arms
from urbanground_ros.districts.textures import Color

_STOPS = 6
_SIGN_COLOR: tuple[Color, Color] = ((20, 60, 110), (255, 255, 255))


@dataclass(frozen=True)
class PostSign:
    """A place with its sign on a post: where one goes (3,), the post's foot (3,), its board.

    `along` is the unit vector (2,) of the board.
    """

    shop: Shop
    entrance: FloatArray
    foot: FloatArray
    along: FloatArray
    ground: Color = _SIGN_COLOR[0]
    ink: Color = _SIGN_COLOR[1]


def post_signs(plan: StreetPlan, rng: np.random.Generator) -> list[PostSign]:
    """Return the outdoor places of a district."""
    found = []
    counts: dict[str, int] = {}
    for block in plan.blocks:
        use = plan.use(*block)
        if use not in (Use.PARK, Use.ESTATE):
            continue
        arms = [arm for arm in path_arms(plan, *block) if arm.segment is Segment.LEVEL]
        kinds = ('park', 'playground') if use is Use.PARK else ('residential', 'playground')
        street = plan.district.east[block[1]]
        for kind, arm in zip(kinds, arms, strict=False):
            counts[kind] = counts.get(kind, 0) + 1
            if kind == 'playground' and counts[kind] > 3:
                continue
            at = arm.edge - arm.side * 2.5
            pair = (at, arm.across) if arm.axis == 0 else (arm.across, at)
            beside = (at, arm.across + 2.2) if arm.axis == 0 else (arm.across + 2.2, at)
            found.append(PostSign(
                outdoor(kind, (street.name, street.name_tc), block[0] + 1), plan.point(*pair),
                plan.point(*beside), plan.direction(*pair, 1 - arm.axis), (24, 84, 54),
            ))
    return found + _stops(plan, rng)


def _stops(plan: StreetPlan, rng: np.random.Generator) -> list[PostSign]:
    """Return bus stops and a taxi stand along the streets with signals."""
    spots = [
        (axis, line, part)
        for axis in (0, 1) for line, street in enumerate(plan.streets[1 - axis])
        for part in range(len(plan.streets[axis]) - 1)
        if street.signals and plan.segment(axis, line, part) is Segment.LEVEL
    ]
    found = []
    for number, pick in enumerate(rng.permutation(len(spots))[:_STOPS]):
        axis, line, part = spots[pick]
        street = plan.streets[1 - axis][line]
        near, far = plan.streets[axis][part:part + 2]
        side = 1 if number % 2 else -1
        at = near.at + 0.3 * (far.at - near.at)
        kind = 'taxi' if number == 0 else 'bus_stop'
        (walk_u, walk_v), (kerb_u, kerb_v) = (
            (at, across) if axis == 0 else (across, at)
            for across in (street.at + side * offset
                           for offset in (street.centre, street.carriageway + 0.45))
        )
        found.append(PostSign(
            outdoor(kind, (street.name, street.name_tc), number if number else 0),
            plan.point(walk_u, walk_v), plan.point(kerb_u, kerb_v),
            plan.direction(kerb_u, kerb_v, axis),
        ))
    return found


def build_post_sign(soup: Soup, material: str, sign: PostSign, fascia: FloatArray) -> None:
    """Add a post with a board that reads from both sides."""
    foot, along = sign.foot, sign.along
    post = oriented_box(foot[:2], along, 0.1, 0.1)
    soup.paint('steel', prism(post, foot[2] - 0.4, foot[2] + 3.3))
    board = bar(foot[:2] - along * 1.15, foot[:2] + along * 1.15, 0.16)
    quads = prism(board, foot[2] + 2.75, foot[2] + 3.25)
    soup.add(material, quads[[0, 2]], np.stack([fascia, fascia]), sign.shop.sign)
    soup.paint('charcoal', quads[[1, 3, 4, 5]])
