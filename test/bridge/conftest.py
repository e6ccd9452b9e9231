# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""One ROS domain for this process, and real nodes, executors and endpoints for its tests."""

from __future__ import annotations

import os

# Before rclpy is imported: nothing is heard beyond this machine or by another test process.
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import suppress
import itertools
from pathlib import Path
import threading
from typing import Any

from connector import Connector
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.executors import ExternalShutdownException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from urbanground_ros.bridge.endpoint import Endpoint

_numbers = itertools.count()


@pytest.fixture(scope='session')
def transcripts() -> Path:
    """Recordings of the real C# connector."""
    shared = Path(__file__).resolve().parents[2].parent / 'shared' / 'data'
    folder = shared / 'ros_tcp_transcripts'
    if not folder.is_dir():
        pytest.skip('the recordings of the ROS-TCP-Connector are not here')
    return folder


@pytest.fixture(scope='session')
def context() -> Iterator[None]:
    """ROS, for as long as the tests run."""
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def spin(context: None) -> Iterator[Callable[..., Node]]:
    """Makes a node that an executor spins in a thread of its own.

    What the executor raises is raised by its thread, which pytest turns into an error.
    """
    stops: list[Callable[[], None]] = []

    def make(
        name: str,
        executor_class: type[Executor] = SingleThreadedExecutor,
        context: Context | None = None,
    ) -> Node:
        node = rclpy.create_node(f'{name}_{next(_numbers)}', context=context)
        executor = executor_class(context=context)
        executor.add_node(node)

        def run() -> None:
            with suppress(ExternalShutdownException):
                executor.spin()

        thread = threading.Thread(target=run)
        thread.start()

        def stop() -> None:
            executor.shutdown(timeout_sec=2.0)
            thread.join(5.0)
            node.destroy_node()
            assert not thread.is_alive()

        stops.append(stop)
        return node

    yield make
    for stop in reversed(stops):
        stop()


@pytest.fixture
def ros(spin: Callable[..., Node]) -> Node:
    """A ROS node on the far side of the endpoint."""
    return spin('far_side')


@pytest.fixture
def stranger(spin: Callable[..., Node]) -> Iterator[Node]:
    """A ROS node in a DDS participant of its own, as in another process."""
    own = Context()
    rclpy.init(context=own)
    yield spin('stranger', context=own)
    own.try_shutdown()


@pytest.fixture
def serve(spin: Callable[..., Node]) -> Iterator[Callable[..., Endpoint]]:
    """Starts endpoints with given parameters."""
    endpoints: list[Endpoint] = []

    def make(executor_class: type[Executor] = SingleThreadedExecutor, **kwargs: Any) -> Endpoint:
        node = spin('endpoint', executor_class)
        endpoint = Endpoint(node, **{'port': 0, **kwargs})
        endpoint.start()
        endpoints.append(endpoint)
        return endpoint

    yield make
    for endpoint in endpoints:
        endpoint.close()


@pytest.fixture
def endpoint(serve: Callable[..., Endpoint]) -> Endpoint:
    """An endpoint with its defaults, on a free port."""
    return serve()


@pytest.fixture
def connect() -> Iterator[Callable[[Endpoint], Connector]]:
    """Connects clients that have seen the handshake."""
    clients: list[Connector] = []

    def make(endpoint: Endpoint) -> Connector:
        client = Connector(endpoint.address, endpoint.port)
        clients.append(client)
        client.expect('__handshake')
        return client

    yield make
    for client in clients:
        client.close()
