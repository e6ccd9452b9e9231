# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Take DDS domains that nobody on this machine uses, and hold them."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
import socket
import tempfile

from urbanground_ros.errors import UrbanGroundError

# RTPS 2.2, 9.6.1: a domain's first ports. Above 101 they reach into Linux's ephemeral range.
_PORT_BASE, _DOMAIN_GAIN, _UNICAST = 7400, 250, 10
_RANGE = range(1, 102)


class Domains:
    """Distinct free domains, held until `close`: two runs on a machine never hear each other."""

    def __init__(self) -> None:
        """Hold none yet."""
        self._locks: list[int] = []
        self._taken: set[int] = set()

    def take(self, wanted: int = 0) -> int:
        """Return a free domain, or hold the wanted one, where others may look on.

        Raises:
            UrbanGroundError: none is free, or another run holds the wanted one.
        """
        if wanted:
            if not self._lock(wanted, alone=False):
                raise UrbanGroundError(f'DDS domain {wanted}: another run on this machine uses '
                                       'it; choose another ROS_DOMAIN_ID or domain')
            self._taken.add(wanted)
            return wanted
        # Different runs begin at different places, so that they seldom meet at all.
        start = os.getpid() % len(_RANGE)
        for k in range(len(_RANGE)):
            domain = _RANGE[(start + k) % len(_RANGE)]
            if domain not in self._taken and self._lock(domain):
                self._taken.add(domain)
                return domain
        raise UrbanGroundError('no DDS domain from 1 to 101 is free on this machine')

    def _lock(self, domain: int, *, alone: bool = True) -> bool:
        path = Path(tempfile.gettempdir()) / f'urbanground-domain-{domain}.lock'
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if alone:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                    probe.bind(('127.0.0.1', _PORT_BASE + _DOMAIN_GAIN * domain + _UNICAST))
        except OSError:
            os.close(lock)
            return False
        self._locks.append(lock)
        return True

    def close(self) -> None:
        """Let them go."""
        for lock in self._locks:
            os.close(lock)
        self._locks = []
