# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Become another program that is interrupted when its parent ends, however that ends.

`python leash.py PARENT COMMAND...`: a parent that is killed cannot stop its children, and they
would go on in the folder and DDS domain of the run that is started next. Run as a file, so that
it imports nothing but the standard library.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2)


def main() -> None:
    """Bind this process to its parent, then become the command."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == 'linux':
        # SIGINT, because `ros2 launch` stops its own children on that alone.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != parent:
        sys.exit('the parent has ended already')
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f'{command[0]}: cannot be started: {error.strerror}')


if __name__ == '__main__':
    main()
