# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Run nodes until they are told to stop, and end with status 0 then."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
import sys
from typing import Any
from typing import TYPE_CHECKING

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future as SpinFuture

from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.interrupts import interrupts

if TYPE_CHECKING:
    from rclpy.context import Context
    from rclpy.executors import Executor
    from rclpy.node import Node


@contextmanager
def initialized(context: Context | None = None, ros_args: Sequence[str] = (),
                **options: Any) -> Iterator[None]:
    """Initialise a context, or the default one, for a block (in Jazzy `rclpy.init` does not).

    The signal handlers of rclpy are left out: they would end the context before its nodes.
    """
    rclpy.init(args=['--ros-args', *ros_args] if ros_args else [], context=context,
               signal_handler_options=SignalHandlerOptions.NO, **options)
    try:
        yield
    finally:
        rclpy.try_shutdown(context=context)


@contextmanager
def spinning(node: Node, executor: Executor) -> Iterator[Future[None]]:
    """Spin a node in a thread of its own while a block runs, then destroy it.

    The future given to the block ends with the exception of a callback. The context outlives
    the node, so what a node does and logs at its end is still heard.
    """
    stop: SpinFuture = SpinFuture()

    def spin() -> None:
        try:
            executor.spin_until_future_complete(stop)
        except Exception as error:
            node.get_logger().fatal(f'a callback failed: {error!r}')
            raise

    executor.add_node(node)
    pool = ThreadPoolExecutor(1, thread_name_prefix=node.get_name())
    future = pool.submit(spin)
    try:
        yield future
    finally:
        stop.set_result(None)
        pool.shutdown()
        node.destroy_node()
        executor.shutdown()


def run(make_node: Callable[[], Node], make_executor: Callable[[], Executor],
        ros_args: Sequence[str] = ()) -> int:
    """Spin a node until SIGINT or SIGTERM; bad input is one line and status 1."""
    try:
        with interrupts(), initialized(ros_args=ros_args), \
                spinning(make_node(), make_executor()) as spin:
            spin.result()
    except KeyboardInterrupt:
        return 0
    except (UrbanGroundError, RCLError) as error:
        print(f'error: {" ".join(str(error).split())}', file=sys.stderr, flush=True)
        return 1
    return 0
