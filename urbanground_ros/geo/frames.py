# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coordinate frames: WGS84, ECEF, the local ENU tangent plane, and the Hong Kong 1980 Grid.

Every transformation is a PROJ pipeline written out in full: it reads no database, no grid and
no network, so the same input gives the same bytes whatever data is installed, and in any
thread or process. NaN stays NaN, in every component of its point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
import math
import os
import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from numpy.typing import NDArray
from pyproj import Transformer
from pyproj.enums import TransformDirection

from urbanground_ros.geo.errors import GeoError

FloatArray = NDArray[np.float64]

#: Ellipsoidal (WGS84) height of the zero of the Hong Kong Principal Datum, in metres:
#: `ellipsoidal = HKPD + offset`. No authoritative value is published; this is the EGM96 geoid
#: undulation in Kowloon, and a region may state a calibrated one.
DEFAULT_HKPD_OFFSET = -2.2
#: Radius in metres of the sphere that great-circle distances are measured on.
SPHERE_RADIUS = 6_371_000.0

_CART = (
    '+proj=pipeline +step +proj=unitconvert +xy_in=deg +xy_out=rad +step +proj=cart +ellps=WGS84'
)
# EPSG:2326 to EPSG:4326, longitude first. The grid is EPSG:19978; the datum shift is EPSG:1825,
# the only one registered, with an accuracy of 1 m. Where a vertical datum is given as well,
# PROJ ranks a ballpark offset first, 300 m away: hence two dimensions only.
_HK80 = (
    '+proj=pipeline'
    ' +step +inv +proj=tmerc +lat_0=22.3121333333333 +lon_0=114.178555555556 +k=1'
    ' +x_0=836694.05 +y_0=819069.8 +ellps=intl'
    ' +step +proj=push +v_3'
    ' +step +proj=cart +ellps=intl'
    ' +step +proj=helmert +x=-162.619 +y=-276.959 +z=-161.764 +rx=-0.067753 +ry=2.243648'
    ' +rz=1.158828 +s=-1.094246 +convention=coordinate_frame'
    ' +step +inv +proj=cart +ellps=WGS84'
    ' +step +proj=pop +v_3'
    ' +step +proj=unitconvert +xy_in=rad +xy_out=deg'
)
# A power of two, so that scaling the axes by it and back is exact.
_AXIS_LENGTH = 2.0 ** 23

_local = threading.local()


def _forget_transformers() -> None:
    global _local
    _local = threading.local()


# PROJ objects must be shared neither by threads nor with a forked child.
os.register_at_fork(after_in_child=_forget_transformers)


def _transformer(pipeline: str) -> Transformer:
    try:
        transformers = _local.transformers
    except AttributeError:
        transformers = _local.transformers = {}
    if pipeline not in transformers:
        transformers[pipeline] = Transformer.from_pipeline(pipeline)
    return transformers[pipeline]


def _transform(pipeline: str, *components: ArrayLike, inverse: bool = False) -> list[FloatArray]:
    """Apply a pipeline to broadcast components, each of any shape."""
    arrays = np.broadcast_arrays(*(np.asarray(c, dtype=np.float64) for c in components))
    direction = TransformDirection.INVERSE if inverse else TransformDirection.FORWARD
    flat = np.stack(arrays).reshape(len(arrays), -1)
    transform: Callable[..., ArrayLike] = _transformer(pipeline).transform
    # pyproj takes an array of one value for a scalar, in a way that NumPy deprecates.
    columns = flat if flat.shape[1] != 1 else flat[:, 0].tolist()
    # Adding zero turns the -0.0 of some steps into 0.0.
    results = np.array(transform(*columns, direction=direction)).reshape(flat.shape) + 0.0
    unknown = np.isnan(flat).any(axis=0)
    results[:, unknown] = np.nan
    failed = np.flatnonzero(~unknown & ~np.isfinite(results).all(axis=0))
    if failed.size:
        point = ', '.join(f'{value:g}' for value in flat[:, failed[0]])
        raise GeoError(f'point {failed[0]} ({point}) cannot be transformed, expected finite '
                       'coordinates within the range of their frame')
    return [r.reshape(arrays[0].shape) for r in results]


def _split(points: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    array = np.asarray(points, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise GeoError(f'points have shape {array.shape}, expected (..., 3)')
    return array[..., 0], array[..., 1], array[..., 2]


def _scalar(array: FloatArray) -> Any:
    """Return a float for a single value, the array otherwise."""
    return array if array.ndim else float(array)


def geodetic_to_ecef(latitude: ArrayLike, longitude: ArrayLike,
                     altitude: ArrayLike) -> FloatArray:
    """Convert WGS84 geodetic coordinates to ECEF (EPSG:4979 to EPSG:4978).

    Args:
        latitude: Degrees, any shape.
        longitude: Degrees; the three broadcast against each other.
        altitude: Metres above the ellipsoid.

    Returns:
        Metres, shape (..., 3).

    Raises:
        GeoError: a latitude is out of [-90, 90], or a value is infinite.
    """
    return np.stack(_transform(_CART, longitude, latitude, altitude), axis=-1)


def ecef_to_geodetic(xyz: ArrayLike) -> tuple[Any, Any, Any]:
    """Convert ECEF metres of shape (..., 3) to WGS84 latitude, longitude (degrees), altitude.

    Returns:
        Three arrays of shape (...), or three floats for a single point of shape (3,).

    Raises:
        GeoError: wrong shape, or an infinite value.
    """
    longitude, latitude, altitude = _transform(_CART, *_split(xyz), inverse=True)
    return _scalar(latitude), _scalar(longitude), _scalar(altitude)


def hk80_to_wgs84(easting: ArrayLike, northing: ArrayLike) -> tuple[Any, Any]:
    """Convert Hong Kong 1980 Grid (EPSG:2326) metres to WGS84 latitude, longitude in degrees.

    Horizontal only; a height in HKPD becomes ellipsoidal by adding an offset
    (`DEFAULT_HKPD_OFFSET`). Absolute accuracy of the datum shift is 1 m (EPSG:1825).

    Returns:
        Two arrays of the broadcast shape, or two floats for scalars.

    Raises:
        GeoError: a value is infinite or far outside the projection.
    """
    longitude, latitude = _transform(_HK80, easting, northing)
    return _scalar(latitude), _scalar(longitude)


def wgs84_to_hk80(latitude: ArrayLike, longitude: ArrayLike) -> tuple[Any, Any]:
    """Convert WGS84 degrees to Hong Kong 1980 Grid (EPSG:2326) easting, northing in metres.

    The inverse of `hk80_to_wgs84`, with the same shapes and errors.
    """
    easting, northing = _transform(_HK80, longitude, latitude, inverse=True)
    return _scalar(easting), _scalar(northing)


@dataclass(frozen=True)
class LocalFrame:
    """The ENU tangent plane at a WGS84 origin: the `map` frame of REP-105, axes as in REP-103.

    Attributes:
        latitude: Of the origin, degrees.
        longitude: Of the origin, degrees.
        altitude: Of the origin, metres above the ellipsoid.

    Frames are values: equal, hashable, picklable, and safe to use from any thread or forked
    process.

    Raises:
        GeoError: a coordinate of the origin is not finite or out of range.
    """

    latitude: float
    longitude: float
    altitude: float

    def __post_init__(self) -> None:
        """Check the origin."""
        limits = {'latitude': 90.0, 'longitude': 180.0, 'altitude': 1e5}
        for name, limit in limits.items():
            value = getattr(self, name)
            if not math.isfinite(value) or abs(value) > limit:
                raise GeoError(f'origin: {name} is {value}, expected a number within ±{limit:g}')

    @cached_property
    def _topocentric(self) -> str:
        origin = (f'+lon_0={float(self.longitude)!r} +lat_0={float(self.latitude)!r}'
                  f' +h_0={float(self.altitude)!r}')
        return f'+proj=pipeline +step +proj=topocentric +ellps=WGS84 {origin}'

    @cached_property
    def _from_geodetic(self) -> str:
        return _CART + self._topocentric.removeprefix('+proj=pipeline')

    def from_geodetic(self, latitude: ArrayLike, longitude: ArrayLike,
                      altitude: ArrayLike) -> FloatArray:
        """Convert WGS84 degrees and ellipsoidal metres, broadcast, to ENU of shape (..., 3).

        Raises:
            GeoError: a latitude is out of [-90, 90], or a value is infinite.
        """
        return np.stack(_transform(self._from_geodetic, longitude, latitude, altitude), axis=-1)

    def to_geodetic(self, enu: ArrayLike) -> tuple[Any, Any, Any]:
        """Convert ENU metres of shape (..., 3) to WGS84 latitude, longitude, altitude.

        Returns:
            Three arrays of shape (...), or three floats for a single point of shape (3,).

        Raises:
            GeoError: wrong shape, or an infinite value.
        """
        longitude, latitude, altitude = _transform(
            self._from_geodetic, *_split(enu), inverse=True)
        return _scalar(latitude), _scalar(longitude), _scalar(altitude)

    def from_ecef(self, xyz: ArrayLike) -> FloatArray:
        """Convert ECEF metres of shape (..., 3) to ENU of the same shape."""
        return np.stack(_transform(self._topocentric, *_split(xyz)), axis=-1)

    def to_ecef(self, enu: ArrayLike) -> FloatArray:
        """Convert ENU metres of shape (..., 3) to ECEF of the same shape."""
        return np.stack(_transform(self._topocentric, *_split(enu), inverse=True), axis=-1)

    @cached_property
    def matrix(self) -> FloatArray:
        """Homogeneous transform (4, 4) from `map` to `earth` (ECEF): REP-105's static link."""
        matrix = np.eye(4)
        matrix[:3, 3] = self.to_ecef(np.zeros(3))
        axes = self.to_ecef(np.eye(3) * _AXIS_LENGTH) - matrix[:3, 3]
        matrix[:3, :3] = axes.T / _AXIS_LENGTH
        matrix.setflags(write=False)
        return matrix


def compass_to_enu(degrees: ArrayLike) -> Any:
    """Convert compass degrees (0 north, clockwise) to ENU yaw in radians (0 east, REP-103).

    Returns:
        Radians in (-pi, pi], a float for a scalar or an array of the same shape.
    """
    yaw = np.mod(90.0 - np.asarray(degrees, dtype=np.float64), 360.0)
    return _scalar(np.radians(np.where(yaw > 180.0, yaw - 360.0, yaw)))


def enu_to_compass(radians: ArrayLike) -> Any:
    """Convert ENU yaw in radians to compass degrees, the inverse of `compass_to_enu`.

    Returns:
        Degrees in [0, 360), a float for a scalar or an array of the same shape.
    """
    heading = np.mod(90.0 - np.degrees(np.asarray(radians, dtype=np.float64)), 360.0)
    # The remainder of a tiny negative angle rounds up to a full turn.
    return _scalar(np.where(heading >= 360.0, 0.0, heading))


def great_circle_distance(latitude1: ArrayLike, longitude1: ArrayLike,
                          latitude2: ArrayLike, longitude2: ArrayLike) -> Any:
    """Measure along a sphere of `SPHERE_RADIUS` by the haversine formula, degrees to metres.

    The distance of the published metrics; the arguments broadcast, scalars give a float.
    """
    phi1, lambda1, phi2, lambda2 = (
        np.radians(np.asarray(a, dtype=np.float64))
        for a in (latitude1, longitude1, latitude2, longitude2))
    haversine = (np.sin((phi2 - phi1) / 2) ** 2
                 + np.cos(phi1) * np.cos(phi2) * np.sin((lambda2 - lambda1) / 2) ** 2)
    return _scalar(2 * SPHERE_RADIUS * np.arcsin(np.sqrt(np.minimum(haversine, 1.0))))
