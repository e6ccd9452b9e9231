# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What people look at: decoded pictures, people as points and markers, the network."""

from __future__ import annotations

import math
from typing import Any
from typing import TYPE_CHECKING

import cv2
from cv_bridge import CvBridge
from geometry_msgs.msg import Point
import numpy as np
from rclpy.event_handler import PublisherEventCallbacks
from sensor_msgs.msg import CameraInfo
from sensor_msgs.msg import CompressedImage
from sensor_msgs.msg import Image
from sensor_msgs.msg import PointCloud2
from sensor_msgs.msg import PointField
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from urbanground_ros.bridge.qos import latched
from urbanground_ros.bridge.qos import reliable
from urbanground_ros.palette import FEATURE_COLORS
from urbanground_ros.palette import OTHER_FEATURE

if TYPE_CHECKING:
    from rclpy.node import Node
    from urbanground.msg import PedestrianArray

    from urbanground_ros.geo import PedestrianNetwork

#: rviz_rendering keeps at most this many points in a line list (65536 / 4); more vanish.
MAX_LINE_POINTS = 16384


class CameraConverter:
    """Publishes `camera/image_raw` and `camera/camera_info` while somebody subscribes to them."""

    def __init__(self, node: Node) -> None:
        """Advertise; the city's JPEG is subscribed to only on demand."""
        self._node = node
        self._bridge = CvBridge()
        self._fov = math.nan
        self._subscription: Any = None
        events = PublisherEventCallbacks(matched=lambda _: self._match())
        self._raw = node.create_publisher(
            Image, 'camera/image_raw', reliable(2), event_callbacks=events
        )
        self._info = node.create_publisher(
            CameraInfo, 'camera/camera_info', reliable(2), event_callbacks=events
        )

    @property
    def active(self) -> bool:
        """Whether this converter itself subscribes to the city's pictures."""
        return self._subscription is not None

    def set_field_of_view(self, radians: float) -> None:
        """Take the camera's horizontal field of view."""
        self._fov = radians

    def _match(self) -> None:
        wanted = bool(self._raw.get_subscription_count() or self._info.get_subscription_count())
        if wanted and self._subscription is None:
            self._subscription = self._node.create_subscription(
                CompressedImage, 'camera/image_raw/compressed', self._convert, reliable(2)
            )
        elif not wanted and self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _convert(self, msg: CompressedImage) -> None:
        picture = cv2.imdecode(np.frombuffer(msg.data, np.uint8), cv2.IMREAD_COLOR)
        if picture is None:
            self._node.get_logger().warning(
                f'camera/image_raw/compressed: {len(msg.data)} bytes of format {msg.format!r} do '
                'not decode, expected a JPEG or PNG',
                throttle_duration_sec=10.0,
            )
            return
        if self._raw.get_subscription_count():
            image = self._bridge.cv2_to_imgmsg(picture, 'bgr8')
            image.header = msg.header
            self._raw.publish(image)
        if math.isfinite(self._fov):
            self._info.publish(
                camera_info(msg.header, picture.shape[1], picture.shape[0], self._fov)
            )


def camera_info(header: Any, width: int, height: int, horizontal_fov: float) -> CameraInfo:
    """Return a pinhole camera without distortion, square pixels (sensor_msgs/CameraInfo)."""
    f = width / (2 * math.tan(horizontal_fov / 2))
    cx, cy = width / 2, height / 2
    return CameraInfo(
        header=header,
        width=width,
        height=height,
        distortion_model='plumb_bob',
        d=[0.0] * 5,
        k=[f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[f, 0.0, cx, 0.0, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


class PeopleConverter:
    """Publishes `pedestrians/points` for stock costmaps and `pedestrians/markers` for RViz."""

    #: Metres: heights of the points on a person, so that any obstacle layer's band has some.
    POINT_HEIGHTS = (0.2, 0.6, 1.0, 1.4)
    POINTS_AROUND = 12

    def __init__(self, node: Node) -> None:
        """Advertise, and subscribe to `pedestrians`."""
        from urbanground.msg import PedestrianArray

        self._points = node.create_publisher(PointCloud2, 'pedestrians/points', reliable(5))
        self._markers = node.create_publisher(MarkerArray, 'pedestrians/markers', reliable(5))
        node.create_subscription(PedestrianArray, 'pedestrians', self._convert, reliable(5))

    def _convert(self, msg: PedestrianArray) -> None:
        self._points.publish(people_cloud(msg))
        if self._markers.get_subscription_count():
            clear = Marker(action=Marker.DELETEALL, header=msg.header)
            clear.pose.orientation.w = 1.0
            self._markers.publish(
                MarkerArray(
                    markers=[clear, *(_person(msg.header, p) for p in msg.pedestrians)]
                )
            )


def people_cloud(msg: PedestrianArray) -> PointCloud2:
    """Return people as points on their outlines; width 0, to clear costmaps, without people."""
    angles = np.linspace(0, 2 * np.pi, PeopleConverter.POINTS_AROUND, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = [
        np.column_stack(
            [
                p.pose.position.x + p.radius * ring[:, 0],
                p.pose.position.y + p.radius * ring[:, 1],
                np.full(len(ring), p.pose.position.z + height),
            ]
        )
        for p in msg.pedestrians
        for height in PeopleConverter.POINT_HEIGHTS
    ]
    data = np.concatenate(points).astype('<f4') if points else np.empty((0, 3), '<f4')
    cloud = PointCloud2(
        header=msg.header,
        height=1,
        width=len(data),
        point_step=12,
        row_step=12 * len(data),
        is_dense=True,
        fields=[
            PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
            for i, name in enumerate('xyz')
        ],
    )
    cloud.data = data.tobytes()
    return cloud


def _person(header: Any, person: Any) -> Marker:
    marker = Marker(
        header=header,
        ns='pedestrians',
        id=int(person.id),
        type=Marker.CYLINDER,
        action=Marker.ADD,
        color=ColorRGBA(r=0.9, g=0.4, b=0.1, a=0.9),
    )
    p = person.pose.position
    marker.pose.position = Point(x=p.x, y=p.y, z=p.z + person.height / 2)
    marker.pose.orientation.w = 1.0
    marker.scale.x = marker.scale.y = 2.0 * person.radius
    marker.scale.z = float(person.height)
    return marker


def network_markers(network: PedestrianNetwork) -> MarkerArray:
    """Return the network in `map` as few line lists, one or more a feature type."""
    markers = []
    for kind, lines in network.lines().items():
        ends = np.concatenate([np.repeat(line, 2, axis=0)[1:-1] for line in lines])
        red, green, blue = FEATURE_COLORS.get(kind.name, OTHER_FEATURE)
        for start in range(0, len(ends), MAX_LINE_POINTS - 2):
            part = ends[start : start + MAX_LINE_POINTS - 2]
            marker = Marker(
                ns=f'network/{kind.name.lower()}',
                id=start,
                type=Marker.LINE_LIST,
                action=Marker.ADD,
            )
            marker.header.frame_id = 'map'
            marker.pose.orientation.w = 1.0
            marker.scale.x = 0.4
            marker.color = ColorRGBA(r=red / 255, g=green / 255, b=blue / 255, a=1.0)
            marker.points = [Point(x=float(x), y=float(y), z=float(z) + 0.1) for x, y, z in part]
            markers.append(marker)
    return MarkerArray(markers=markers)


class NetworkPublisher:
    """Publishes `network/markers`, latched, once a region."""

    def __init__(self, node: Node) -> None:
        """Advertise."""
        self._publisher = node.create_publisher(MarkerArray, 'network/markers', latched())

    def publish(self, network: PedestrianNetwork) -> None:
        """Replace what was shown by a network."""
        clear = Marker(action=Marker.DELETEALL)
        clear.header.frame_id = 'map'
        clear.pose.orientation.w = 1.0
        markers = network_markers(network)
        markers.markers.insert(0, clear)
        self._publisher.publish(markers)
