# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The bridge node: the endpoint for cities, and the standard ROS interfaces made from it."""

from __future__ import annotations

from collections.abc import Sequence
import threading
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from urbanground.msg import TrajectorySample
from urbanground.srv import CityCapabilities
from urbanground.srv import CitySensors

from urbanground_ros.bridge import commands
from urbanground_ros.bridge.act_server import ActServer
from urbanground_ros.bridge.drive import RealtimeDrive
from urbanground_ros.bridge.endpoint import Endpoint
from urbanground_ros.bridge.pose import PoseConverter
from urbanground_ros.bridge.qos import CITY_TOPICS
from urbanground_ros.bridge.qos import reliable
from urbanground_ros.bridge.spin import run
from urbanground_ros.bridge.views import CameraConverter
from urbanground_ros.bridge.views import NetworkPublisher
from urbanground_ros.bridge.views import PeopleConverter
from urbanground_ros.districts import resolve_region
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import Region
from urbanground_ros.parameters import declare
from urbanground_ros.parameters import Parameter

PARAMETERS = (
    Parameter('host', '127.0.0.1', 'address that the endpoint listens on'),
    Parameter(
        'port', 10000, 'TCP port that the endpoint listens on, 0 for any free one', 0, 65535
    ),
    Parameter(
        'service_timeout', 60.0, 'wall seconds that a service call to a city may take', 0.1, 3600.0
    ),
    Parameter(
        'drive',
        'realtime',
        'who advances the world under cmd_vel: this node in real time, '
        'or nobody (an episode does)',
        choices=('realtime', 'off'),
    ),
    *commands.PARAMETERS,
    Parameter(
        'camera_period',
        0.5,
        'simulated seconds between pictures of a moving body, while '
        'somebody subscribes to the camera',
        0.04,
        60.0,
    ),
    Parameter(
        'scan_period',
        0.1,
        'simulated seconds between laser scans, while somebody subscribes to them',
        0.02,
        60.0,
    ),
    Parameter('eye_height', 1.6, 'metres from the feet to the camera', 0.1, 3.0),
)


#: Camera period, depth and scan period of a city that nobody has asked for any.
SENSORS_OFF = (0.0, False, 0.0)


class BridgeNode(Node):
    """Accepts cities, passes their topics and services on, and adds the standard interfaces."""

    def __init__(self, **kwargs: Any) -> None:
        """Start to listen.

        Raises:
            UrbanGroundError: a bad parameter, or an address that cannot be listened on.
        """
        self._endpoint: Endpoint | None = None
        super().__init__('bridge', **kwargs)
        p = declare(self, PARAMETERS)
        self._camera_period = p['camera_period']
        self._scan_period = p['scan_period']
        group = ReentrantCallbackGroup()
        self._pose = PoseConverter(self, p['eye_height'])
        self._camera = CameraConverter(self)
        self._people = PeopleConverter(self)
        self._network = NetworkPublisher(self)
        self._act = ActServer(self, group)
        if p['drive'] == 'realtime':
            self._drive = RealtimeDrive(
                self, group, stamped=p['stamped_cmd_vel'], silence=p['cmd_vel_silence']
            )
        self._lock = threading.Lock()
        self._pending: list[TrajectorySample] = []
        self._known = False
        self._asked = False
        self._region = ''
        self._sensors = SENSORS_OFF
        self._capabilities = self.create_client(
            CityCapabilities, 'city/capabilities', callback_group=group
        )
        self._city_sensors = self.create_client(CitySensors, 'city/sensors', callback_group=group)
        self.create_subscription(
            TrajectorySample, 'trajectory/sample', self._sample, reliable(1000)
        )
        self.create_timer(
            0.5,
            self._check_sensors,
            callback_group=group,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        self._endpoint = Endpoint(
            self,
            host=p['host'],
            port=p['port'],
            service_timeout=p['service_timeout'],
            qos=CITY_TOPICS,
            on_client_lost=self._lost,
        )
        self._endpoint.start()

    def _lost(self, client: str) -> None:
        self.get_logger().warning(f'city {client} left')
        self._known = False
        self._sensors = SENSORS_OFF

    def _sample(self, sample: TrajectorySample) -> None:
        """Convert a sample once its map frame is known; each load may have changed it."""
        with self._lock:
            if sample.sequence == 0:
                self._known = False
            self._pending.append(sample)
            if self._known:
                self._flush()
                return
            if self._asked or not self._capabilities.service_is_ready():
                return
            self._asked = True
        future = self._capabilities.call_async(CityCapabilities.Request())
        future.add_done_callback(self._take_capabilities)

    def _take_capabilities(self, future: Any) -> None:
        answer = future.result()
        with self._lock:
            self._asked = False
            if answer is not None and answer.region:
                self._enter(answer)
                self._known = True
                self._flush()

    def _enter(self, answer: CityCapabilities.Response) -> None:
        if answer.region != self._region:
            self._region = answer.region
            self._pose.set_frame(
                LocalFrame(answer.origin_latitude, answer.origin_longitude, answer.origin_altitude)
            )
            self._camera.set_field_of_view(answer.horizontal_fov)
            try:
                region = Region.load(resolve_region(answer.region))
                self._network.publish(region.load_network())
            except UrbanGroundError as error:
                self.get_logger().warning(
                    f'the network of region {answer.region} is not shown: {error}'
                )

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        for sample in pending:
            self._pose.add(sample)

    async def _check_sensors(self) -> None:
        """Have the city measure while it moves only what somebody looks at."""
        camera = self.count_subscribers('camera/image_raw/compressed')
        depth = self.count_subscribers('camera/depth/image_raw') > 0
        scan = self.count_subscribers('scan')
        wanted = (
            self._camera_period if camera or depth else 0.0,
            depth,
            self._scan_period if scan else 0.0,
        )
        if wanted != self._sensors and self._city_sensors.service_is_ready():
            self._sensors = wanted
            period, depth, scan_period = wanted
            await self._city_sensors.call_async(
                CitySensors.Request(camera_period=period, depth=depth, scan_period=scan_period)
            )

    def destroy_node(self) -> None:
        """Close the endpoint, then the node."""
        if self._endpoint is not None:
            self._endpoint.close()
        super().destroy_node()


def main(ros_args: Sequence[str]) -> int:
    """Run the bridge until it is told to stop."""
    return run(BridgeNode, SingleThreadedExecutor, ros_args)
