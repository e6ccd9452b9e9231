# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Finds the Python class of a message or service that is named `pkg/Type` on the wire.

A name comes from a peer and decides what is imported, so it is first looked up in the ament
index (resource type `rosidl_interfaces`): only installed interface packages are ever imported.
"""

from __future__ import annotations

from functools import lru_cache
import importlib
import os
from pathlib import Path
import re
import sys
from typing import Any

from urbanground_ros.bridge.protocol import EndpointError

_NAME = re.compile(r'([a-z][a-z0-9_]*)/([A-Z][A-Za-z0-9]*)', re.ASCII)


def message_class(name: str) -> Any:
    """The message class of `pkg/Type`.

    Raises:
        EndpointError: no such name or no such message installed.
    """
    return _load(name, 'msg')


def service_class(name: str) -> Any:
    """The service class of `pkg/Type`.

    Raises:
        EndpointError: no such name or no such service installed.
    """
    return _load(name, 'srv')


def wire_name(ros_name: str) -> str | None:
    """`pkg/Type` of a topic type `pkg/msg/Type`; None for what the wire cannot name."""
    parts = ros_name.split('/')
    return f'{parts[0]}/{parts[2]}' if len(parts) == 3 and parts[1] == 'msg' else None


@lru_cache(maxsize=512)
def _load(name: str, kind: str) -> Any:
    what = {'msg': 'message', 'srv': 'service'}[kind]
    match = _NAME.fullmatch(name)
    if match is None:
        raise EndpointError(f'{what} type {name!r}: expected package/Type')
    package, type_name = match.groups()
    listed = _interfaces_of(package)
    if not listed:
        raise EndpointError(f'{what} type {name}: no interface package {package} is installed')
    if f'{kind}/{type_name}.{kind}' not in listed and f'{kind}/{type_name}.idl' not in listed:
        raise EndpointError(f'{what} type {name}: package {package} has no such {what}')
    return getattr(importlib.import_module(f'{package}.{kind}'), type_name)


def _interfaces_of(package: str) -> set[str]:
    """Interface files that `package` has registered, over all ament prefixes."""
    # A virtual environment that holds ROS is an ament prefix that no set-up file names.
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    found: set[str] = set()
    for prefix in filter(None, prefixes):
        resource = Path(prefix, 'share/ament_index/resource_index/rosidl_interfaces', package)
        if resource.is_file():
            found.update(resource.read_text(encoding='utf-8').split())
    return found
