# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""A city behind ROS, as episode rules see it."""

from __future__ import annotations

from collections.abc import Sequence
import threading
import time
from typing import Any
from typing import TYPE_CHECKING

from urbanground.srv import CityAct
from urbanground.srv import CityCapabilities
from urbanground.srv import CityLoad
from urbanground.srv import CityPlace
from urbanground.srv import CitySetScene
from urbanground.srv import CityStep

from urbanground_ros.bridge.asking import ask_until_answered
from urbanground_ros.bridge.convert import action_to
from urbanground_ros.bridge.convert import capabilities_from
from urbanground_ros.bridge.convert import floats
from urbanground_ros.bridge.convert import markers_to
from urbanground_ros.bridge.convert import reply_from
from urbanground_ros.bridge.convert import scene_to
from urbanground_ros.city import Action
from urbanground_ros.city import Capabilities
from urbanground_ros.city import CityError
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Reply
from urbanground_ros.city import Scene

if TYPE_CHECKING:
    from rclpy.node import Node


class RosCity:
    """Implements `City` by the services `city/…` that the bridge offers for the city.

    Its calls block: the node's executor must spin in another thread.
    """

    #: Wall seconds for one call. A load may stream a region, an action is quick.
    CALL_TIMEOUT = 60.0
    LOAD_TIMEOUT = 300.0

    def __init__(self, node: Node, connect_timeout: float = 30.0) -> None:
        """Make the clients; `connect_timeout` in wall seconds bounds the wait for a city."""
        self._connect_timeout = connect_timeout
        self._closed = False
        self._clients = {
            name: node.create_client(kind, f'city/{name}')
            for name, kind in (('act', CityAct), ('step', CityStep), ('load', CityLoad),
                               ('set_scene', CitySetScene), ('place', CityPlace),
                               # The last: whoever has its answer is known by all of them.
                               ('capabilities', CityCapabilities))}

    def close(self) -> None:
        """Wait for no answer any more: whoever does gets a CityError."""
        self._closed = True

    def wait_until_connected(self) -> None:
        """Wait for the city's services.

        Raises:
            CityError: no city connected in time.
        """
        deadline = time.monotonic() + self._connect_timeout
        for name, client in self._clients.items():
            while not client.wait_for_service(0.2):
                if time.monotonic() > deadline or self._closed:
                    raise CityError(f'no city: nobody serves city/{name} after '
                                    f'{self._connect_timeout:g} s, expected a city connected to '
                                    'the bridge')
        self._capabilities()

    def _capabilities(self) -> CityCapabilities.Response:
        deadline = time.monotonic() + self._connect_timeout
        while True:
            answer = ask_until_answered(
                self._clients['capabilities'], CityCapabilities.Request(),
                deadline - time.monotonic(), lambda: self._closed)
            if answer is None:
                raise CityError('the city did not answer capabilities: it left or is stuck')
            if answer.city:
                return answer
            # The bridge answers for a city that has left; it may be back soon.
            time.sleep(0.2)

    def _call(self, name: str, request: Any, timeout: float = CALL_TIMEOUT) -> Any:
        client = self._clients[name]
        if not client.service_is_ready():
            self.wait_until_connected()
        done = threading.Event()
        future = client.call_async(request)
        future.add_done_callback(lambda _: done.set())
        deadline = time.monotonic() + timeout
        while not done.wait(0.5):
            # A service that went away never answers.
            if self._closed or not client.service_is_ready() or time.monotonic() > deadline:
                if done.wait(0.5):
                    break
                client.remove_pending_request(future)
                raise CityError(f'the city did not answer {name}: it left or is stuck')
        response = future.result()
        if response is None or (hasattr(response, 'state') and not response.state.mode):
            reason = getattr(response, 'message', '') or 'no answer'
            raise CityError(f'the city failed at {name}: {reason}')
        return response

    def capabilities(self) -> Capabilities:
        """Return what the city can do."""
        return capabilities_from(self._capabilities())

    def load(self, region: str, seed: int, placement: Placement, scene: Scene,
             markers: Sequence[GeoPoint] = (), *, want_image: bool = False) -> Reply:
        """Begin anew in a region with the body placed and all totals zero."""
        point = placement.point
        return reply_from(self._call('load', CityLoad.Request(
            region=region, seed=seed, scene=scene_to(scene), markers=markers_to(markers),
            want_image=want_image, **floats(
                latitude=point.latitude, longitude=point.longitude, altitude=point.altitude,
                yaw=placement.yaw)), self.LOAD_TIMEOUT))

    def act(self, action: Action, *, want_image: bool = False) -> Reply:
        """Execute one structured action."""
        return reply_from(self._call('act', CityAct.Request(
            action=action_to(action), want_image=want_image)))

    def step(self, linear_x: float, linear_y: float, angular_z: float, seconds: float, *,
             want_image: bool = False) -> Reply:
        """Advance under a constant body velocity for simulated seconds."""
        return reply_from(self._call('step', CityStep.Request(
            want_image=want_image, **floats(
                linear_x=linear_x, linear_y=linear_y, angular_z=angular_z, seconds=seconds))))

    def set_scene(self, scene: Scene) -> Reply:
        """Change weather, clock and people of the running world."""
        return reply_from(self._call('set_scene', CitySetScene.Request(scene=scene_to(scene))))

    def place(self, placement: Placement) -> Reply:
        """Put the body somewhere else."""
        point = placement.point
        return reply_from(self._call('place', CityPlace.Request(**floats(
            latitude=point.latitude, longitude=point.longitude, altitude=point.altitude,
            yaw=placement.yaw))))
