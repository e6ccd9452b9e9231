# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Listening TCP sockets for host names and addresses."""

from __future__ import annotations

import errno
import socket
from typing import Any

from urbanground_ros.bridge.protocol import EndpointError

_BACKLOG = 64
# A name may stand for an address that this machine does not have, such as `::1`.
_ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def listen(hosts: str, port: int) -> list[socket.socket]:
    """Sockets that listen on each address of each of `hosts`, all on one port.

    Args:
        hosts: names or addresses, separated by commas.
        port: TCP port, 0 to let the system choose.

    Raises:
        EndpointError: a host is empty, unknown or none of this machine, or the port is taken.
    """
    if not 0 <= port <= 65535:
        raise EndpointError(f'cannot listen on {hosts} port {port}: expected a port up to 65535')
    listeners: list[socket.socket] = []
    try:
        for host in map(str.strip, hosts.split(',')):
            _listen_on(host, port, listeners)
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def address_text(address: tuple[Any, ...]) -> str:
    """`host:port` of a socket address, an IPv6 host in brackets."""
    host, port = address[:2]
    return f'[{host}]:{port}' if ':' in host else f'{host}:{port}'


def _listen_on(host: str, port: int, listeners: list[socket.socket]) -> None:
    """Add a socket for each address of `host`; they share the port of the first."""
    if not host:
        raise EndpointError(f'cannot listen on port {port}: the address is empty')
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise _failure(host, port, error) from None
    absent: OSError | None = None
    for family, *_, address in dict.fromkeys(found):
        shared_port = listeners[0].getsockname()[1] if listeners else port
        try:
            listeners.append(_bind(family, (address[0], shared_port, *address[2:])))
        except OSError as error:
            if error.errno not in _ABSENT:
                raise _failure(host, port, error) from None
            absent = error
    if not listeners and absent is not None:
        raise _failure(host, port, absent)


def _bind(family: int, address: tuple[Any, ...]) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # Apart from IPv4, so that both can listen on one port.
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def _failure(host: str, port: int, error: Exception) -> EndpointError:
    reason = getattr(error, 'strerror', None) or str(error)
    return EndpointError(f'cannot listen on {host} port {port}: {reason}')
