# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""URIs that hold their data."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import unquote_to_bytes

from urbanground_ros.tiles.errors import TilesError


def data_uri(uri: str) -> bytes:
    """Return the bytes that a `data:` URI holds (RFC 2397).

    Raises:
        TilesError: its base64 is damaged.
    """
    header, _, body = uri.partition(',')
    if not header.endswith(';base64'):
        return unquote_to_bytes(body)
    try:
        return base64.b64decode(unquote_to_bytes(body))
    except binascii.Error as error:
        raise TilesError(f'{header}: damaged base64 ({error}), expected data') from error
