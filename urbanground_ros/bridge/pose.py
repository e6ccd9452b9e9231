# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""From trajectory samples to the standard robot interfaces: tf, odom, fix, path."""

from __future__ import annotations

import math
from typing import Any
from typing import NamedTuple
from typing import TYPE_CHECKING

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from nav_msgs.msg import Path
import numpy as np
from sensor_msgs.msg import NavSatFix
from sensor_msgs.msg import NavSatStatus
from tf2_msgs.msg import TFMessage

from urbanground_ros.bridge.qos import latched
from urbanground_ros.bridge.qos import reliable
from urbanground_ros.city import SCAN_HEIGHT

if TYPE_CHECKING:
    from rclpy.node import Node

    from urbanground_ros.geo import LocalFrame

#: Metres and radians, one standard deviation: the simulator's pose is exact, but a covariance
#: of zeros would read as unknown.
_SIGMA = 1e-3


class Pose2(NamedTuple):
    """A position and a yaw: all that a walking body's frame needs."""

    x: float
    y: float
    z: float
    yaw: float

    def compose(self, other: Pose2) -> Pose2:
        """Return this pose followed by another one."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return Pose2(self.x + c * other.x - s * other.y, self.y + s * other.x + c * other.y,
                     self.z + other.z, math.remainder(self.yaw + other.yaw, math.tau))

    def inverse(self) -> Pose2:
        """Return the pose that undoes this one."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return Pose2(-c * self.x - s * self.y, s * self.x - c * self.y, -self.z, -self.yaw)


def yaw_quaternion(yaw: float) -> Quaternion:
    """Return a rotation about z."""
    return Quaternion(z=math.sin(yaw / 2), w=math.cos(yaw / 2))


def matrix_quaternion(m: np.ndarray) -> Quaternion:
    """Return a rotation matrix (3, 3) as a quaternion, by its largest component (Shepperd)."""
    diagonal = np.array([np.trace(m), m[0, 0], m[1, 1], m[2, 2]])
    k = int(np.argmax(diagonal))
    if k == 0:
        q = np.array([1 + diagonal[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    else:
        i = k - 1
        j, n = (i + 1) % 3, (i + 2) % 3
        q = np.empty(4)
        q[0] = m[n, j] - m[j, n]
        q[1 + i] = 1 + m[i, i] - m[j, j] - m[n, n]
        q[1 + j] = m[j, i] + m[i, j]
        q[1 + n] = m[n, i] + m[i, n]
    q = q / np.linalg.norm(q)
    return Quaternion(w=float(q[0]), x=float(q[1]), y=float(q[2]), z=float(q[3]))


def transform(stamp: Any, parent: str, child: str, pose: Pose2) -> TransformStamped:
    """Return a transform of a pose with yaw alone."""
    msg = TransformStamped(child_frame_id=child)
    msg.header.stamp = stamp
    msg.header.frame_id = parent
    t = msg.transform.translation
    t.x, t.y, t.z = pose.x, pose.y, pose.z
    msg.transform.rotation = yaw_quaternion(pose.yaw)
    return msg


class PoseConverter:
    """Publishes `/tf`, `odom`, `fix` and `trajectory/path` for each trajectory sample (REP-105).

    A teleport moves `map -> odom`; the pose in `odom` is continuous. A load is a robot switched
    on anew, whose odometry starts at zero: what a stack computes depends on no earlier episode.
    """

    #: Metres between two poses of the path, which is for eyes.
    PATH_SPACING = 0.5

    def __init__(self, node: Node, eye_height: float) -> None:
        """Advertise the topics; `eye_height` in metres above the feet."""
        self._eye = eye_height
        self._tf = node.create_publisher(TFMessage, '/tf', reliable(100))
        self._tf_static = node.create_publisher(TFMessage, '/tf_static', latched())
        self._odom = node.create_publisher(Odometry, 'odom', reliable(10))
        self._fix = node.create_publisher(NavSatFix, 'fix', reliable(10))
        self._path = node.create_publisher(Path, 'trajectory/path', latched())
        self._frame: LocalFrame | None = None
        self._map_to_odom = Pose2(0.0, 0.0, 0.0, 0.0)
        self._in_odom = Pose2(0.0, 0.0, 0.0, 0.0)
        self._last: Any = None
        self._poses: list[PoseStamped] = []

    def set_frame(self, frame: LocalFrame) -> None:
        """Take the origin of `map`, and publish the static transforms."""
        self._frame = frame
        earth = TransformStamped(child_frame_id='map')
        earth.header.frame_id = 'earth'
        matrix = frame.matrix
        t = earth.transform.translation
        t.x, t.y, t.z = (float(v) for v in matrix[:3, 3])
        earth.transform.rotation = matrix_quaternion(matrix[:3, :3])
        optical = TransformStamped(child_frame_id='camera_optical_frame')
        optical.header.frame_id = 'camera_link'
        # REP-103: z forward, x right, y down.
        optical.transform.rotation = Quaternion(x=-0.5, y=0.5, z=-0.5, w=0.5)
        scanner = TransformStamped(child_frame_id='base_scan')
        scanner.header.frame_id = 'base_link'
        scanner.transform.translation.z = SCAN_HEIGHT
        self._tf_static.publish(TFMessage(transforms=[earth, optical, scanner]))

    def add(self, sample: Any) -> None:
        """Publish what follows from a `TrajectorySample`."""
        here = Pose2(sample.x, sample.y, sample.z, sample.yaw)
        last = self._last
        begins = last is None or sample.sequence == 0
        if begins:
            self._in_odom = Pose2(0.0, 0.0, 0.0, 0.0)
            self._poses = []
        if begins or sample.teleports != last.teleports:
            self._map_to_odom = here.compose(self._in_odom.inverse())
        self._last = sample
        self._in_odom = self._map_to_odom.inverse().compose(here)
        self._publish_tf(sample)
        self._publish_odom(sample)
        self._publish_fix(sample)
        self._extend_path(sample, here)

    def _publish_tf(self, sample: Any) -> None:
        camera = transform(sample.stamp, 'base_link', 'camera_link', Pose2(0., 0., self._eye, 0.))
        # Pitch is positive up for the camera, and a rotation about y (left) is positive down.
        camera.transform.rotation = Quaternion(
            y=math.sin(-sample.pitch / 2), w=math.cos(sample.pitch / 2))
        self._tf.publish(TFMessage(transforms=[
            transform(sample.stamp, 'map', 'odom', self._map_to_odom),
            transform(sample.stamp, 'odom', 'base_link', self._in_odom), camera]))

    def _publish_odom(self, sample: Any) -> None:
        msg = Odometry(child_frame_id='base_link')
        msg.header.stamp = sample.stamp
        msg.header.frame_id = 'odom'
        p = msg.pose.pose
        p.position.x, p.position.y, p.position.z = self._in_odom[:3]
        p.orientation = yaw_quaternion(self._in_odom.yaw)
        c, s = math.cos(sample.yaw), math.sin(sample.yaw)
        v = msg.twist.twist
        v.linear.x = c * sample.vx + s * sample.vy
        v.linear.y = c * sample.vy - s * sample.vx
        v.linear.z = sample.vz
        v.angular.z = sample.yaw_rate
        diagonal = np.diag(np.full(6, _SIGMA ** 2)).ravel()
        msg.pose.covariance = diagonal
        msg.twist.covariance = diagonal
        self._odom.publish(msg)

    def _publish_fix(self, sample: Any) -> None:
        if self._frame is None:
            return
        latitude, longitude, altitude = self._frame.to_geodetic(
            np.array([sample.x, sample.y, sample.z]))
        msg = NavSatFix(latitude=float(latitude), longitude=float(longitude),
                        altitude=float(altitude))
        msg.header.stamp = sample.stamp
        msg.header.frame_id = 'base_link'
        msg.status.status = NavSatStatus.STATUS_FIX
        msg.status.service = NavSatStatus.SERVICE_GPS
        msg.position_covariance = np.diag(np.full(3, _SIGMA ** 2)).ravel()
        msg.position_covariance_type = NavSatFix.COVARIANCE_TYPE_DIAGONAL_KNOWN
        self._fix.publish(msg)

    def _extend_path(self, sample: Any, here: Pose2) -> None:
        if self._poses:
            p = self._poses[-1].pose.position
            if math.dist((p.x, p.y, p.z), here[:3]) < self.PATH_SPACING:
                return
        pose = PoseStamped()
        pose.header.stamp = sample.stamp
        pose.header.frame_id = 'map'
        q = pose.pose.position
        q.x, q.y, q.z = here[:3]
        pose.pose.orientation = yaw_quaternion(here.yaw)
        self._poses.append(pose)
        if self._path.get_subscription_count():
            msg = Path(poses=self._poses)
            msg.header = pose.header
            self._path.publish(msg)
