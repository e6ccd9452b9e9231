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
from contextlib import ExitStack
import itertools
from pathlib import Path
from typing import Any

from connector import Connector
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from urbanground_ros.bridge.endpoint import Endpoint
from urbanground_ros.bridge.spin import initialized
from urbanground_ros.bridge.spin import spinning

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
    with initialized():
        yield


@pytest.fixture
def spin(context: None) -> Iterator[Callable[..., Node]]:
    """Makes a node that an executor spins in a thread of its own.

    What a callback raises is raised when the test ends. What an executor must not see half made,
    as actions in rclpy, `prepare` adds before.
    """
    with ExitStack() as stack:

        def make(
            name: str,
            executor_class: type[Executor] = SingleThreadedExecutor,
            prepare: Callable[[Node], object] = lambda _: None,
        ) -> Node:
            node = rclpy.create_node(f'{name}_{next(_numbers)}')
            prepare(node)
            future = stack.enter_context(spinning(node, executor_class()))
            stack.callback(lambda: future.done() and future.result())
            return node

        yield make


@pytest.fixture
def ros(spin: Callable[..., Node]) -> Node:
    """A ROS node on the far side of the endpoint."""
    return spin('far_side')


@pytest.fixture
def stranger() -> Iterator[Node]:
    """A ROS node in a DDS participant of its own, as in another process."""
    own = Context()
    with initialized(own):
        node = rclpy.create_node(f'stranger_{next(_numbers)}', context=own)
        with spinning(node, SingleThreadedExecutor(context=own)):
            yield node


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
