#!/usr/bin/env python3
# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Set up the environment that `make` uses; prints what it does, does nothing twice."""

from __future__ import annotations

import argparse
import hashlib
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import time
import venv

ROOT = Path(__file__).resolve().parent.parent
GUARD = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'


def say(text: str) -> None:
    """Print one line of progress at once."""
    print(f'[setup] {text}', flush=True)


def fail(text: str) -> None:
    """End with one line and a status that is not 0."""
    sys.exit(f'[setup] error: {text}')


def clean_environment() -> dict[str, str]:
    """Return the environment without what another environment's wheels left in it."""
    env = {k: v for k, v in os.environ.items() if k not in (GUARD, 'PYTHONPATH', 'PYTHONHOME')}
    if GUARD in os.environ:
        for name in ('LD_LIBRARY_PATH', 'AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
            env.pop(name, None)
    return env


def digest(*paths: Path, text: str = '') -> str:
    """Hash files and folders by name and content."""
    h = hashlib.sha256(text.encode())
    for path in paths:
        for file in sorted(path.rglob('*')) if path.is_dir() else [path]:
            if file.is_file():
                h.update(str(file.relative_to(ROOT)).encode() + b'\0' + file.read_bytes())
    return h.hexdigest()


class Step:
    """One part of the set-up, done again only when what it depends on changed."""

    def __init__(self, folder: Path, name: str, key: str) -> None:
        """Name the part and what it depends on."""
        self.stamp = folder / f'.urbanground-{name}'
        self.key = key

    @property
    def done(self) -> bool:
        """Whether the part was completed with the same key."""
        return self.stamp.is_file() and self.stamp.read_text() == self.key

    def finish(self) -> None:
        """Mark the part as completed."""
        self.stamp.write_text(self.key)


def run(command: list[str | Path], env: dict[str, str], log: Path) -> None:
    """Run a command, its output in a log; show the log's end when it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open('w') as out:
        code = subprocess.run(
            [str(c) for c in command], env=env, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT,
            check=False).returncode
    if code:
        print('\n'.join(log.read_text(errors='replace').splitlines()[-25:]), file=sys.stderr)
        fail(f'{Path(str(command[0])).name} ended with status {code}; all of its output: '
             f'{log.relative_to(ROOT)}')


def graphics() -> None:
    """Install the two system libraries that headless rendering needs, or say how to."""
    probe = 'import ctypes; ctypes.CDLL("libEGL.so.1"); ctypes.CDLL("libGL.so.1")'
    if subprocess.run([sys.executable, '-c', probe], stderr=subprocess.DEVNULL,
                      check=False).returncode == 0:
        return
    line = 'apt-get install --no-install-recommends libegl1 libgl1 libegl-mesa0 libgl1-mesa-dri'
    if os.geteuid() == 0 and shutil.which('apt-get'):
        say(line)
        env = dict(os.environ, DEBIAN_FRONTEND='noninteractive')
        for command in (['apt-get', '-q', 'update'], [*line.split(' '), '-y', '-q']):
            if subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=False).returncode:
                break
        else:
            return
    say(f'no OpenGL here: episodes run without pictures until you run: sudo {line}')


def sourced_ros() -> str | None:
    """Return the distro of a sourced ROS 2, none of whose packages come from wheels."""
    if GUARD in os.environ or not os.environ.get('AMENT_PREFIX_PATH'):
        return None
    return os.environ.get('ROS_DISTRO')


def rewrite_build_paths(prefix: Path, python: Path) -> None:
    """Replace include folders of the machine that built the wheels by those of this one.

    The wheels' CMake files name `/opt/python/...` for the Python and numpy headers, which
    stops CMake's generate step.
    """
    query = ('import sysconfig, numpy; '
             'print(sysconfig.get_paths()["include"]); print(numpy.get_include())')
    include, numpy = subprocess.run(
        [python, '-c', query], capture_output=True, text=True, check=True,
        env=clean_environment()).stdout.split()
    count = 0
    for file in (prefix / 'share').rglob('*.cmake'):
        text = file.read_text(errors='surrogateescape')
        new = re.sub(r'/opt/python/[^;"\s>]*?/numpy/(?:_core|core)/include', numpy, text)
        new = re.sub(r'/opt/python/[^;"\s>]*?/include/python3\.\d+', include, new)
        if new != text:
            file.write_text(new, errors='surrogateescape')
            count += 1
    say(f'adapted the include folders of {count} CMake files')


def build_interfaces(source: Path, prefix: Path, python: Path, env: dict[str, str],
                     options: list[str]) -> None:
    """Configure, build and install one interface package by CMake."""
    build = prefix / 'build' / source.name
    shutil.rmtree(build, ignore_errors=True)
    cmake = prefix / 'bin' / 'cmake'
    tool = str(cmake) if cmake.exists() else 'cmake'
    run([tool, '-S', source, '-B', build, '-DCMAKE_BUILD_TYPE=Release',
         f'-DCMAKE_INSTALL_PREFIX={prefix}', f'-DPython3_EXECUTABLE={python}',
         '-DBUILD_TESTING=OFF', *options], env, prefix / 'log' / f'{source.name}-configure.txt')
    run([tool, '--build', build, '--target', 'install', '--parallel', str(os.cpu_count() or 2)],
        env, prefix / 'log' / f'{source.name}-build.txt')
    shutil.rmtree(build, ignore_errors=True)


TF2_MSGS = r"""
import pathlib, sys
from rosbags.typesys import Stores, get_typestore
folder = pathlib.Path(sys.argv[1])
(folder / 'msg').mkdir(parents=True, exist_ok=True)
store = get_typestore(Stores.ROS2_JAZZY)
text = store.generate_msgdef('tf2_msgs/msg/TFMessage', ros_version=2)[0]
(folder / 'msg' / 'TFMessage.msg').write_text(text.split('=' * 80)[0])
(folder / 'package.xml').write_text('''<?xml version="1.0"?>
<package format="3"><name>tf2_msgs</name><version>0.0.0</version>
<description>The TFMessage type, generated at set-up.</description>
<maintainer email="maintainers@urbanground.example">generated</maintainer>
<license>Apache-2.0</license><buildtool_depend>ament_cmake</buildtool_depend>
<buildtool_depend>rosidl_default_generators</buildtool_depend>
<depend>geometry_msgs</depend><exec_depend>rosidl_default_runtime</exec_depend>
<member_of_group>rosidl_interface_packages</member_of_group>
<export><build_type>ament_cmake</build_type></export></package>
''')
(folder / 'CMakeLists.txt').write_text('''cmake_minimum_required(VERSION 3.16)
project(tf2_msgs C CXX)
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
find_package(geometry_msgs REQUIRED)
rosidl_generate_interfaces(tf2_msgs msg/TFMessage.msg DEPENDENCIES geometry_msgs)
ament_export_dependencies(rosidl_default_runtime)
ament_package()
''')
"""


def main() -> None:
    """Create or refresh the environment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--ros', default=os.environ.get('ROS', 'kilted'),
                        choices=['kilted', 'jazzy'],
                        help='distro of the wheels, where no ROS 2 is sourced')
    parser.add_argument('--venv', type=Path, required=True)
    args = parser.parse_args()
    start = time.monotonic()
    prefix = args.venv if args.venv.is_absolute() else ROOT / args.venv
    python = prefix / 'bin' / 'python'
    distro = sourced_ros()
    env = dict(os.environ) if distro else clean_environment()
    wheels = [] if distro else [ROOT / 'requirements' / f'{args.ros}.txt']
    lists = [*wheels, *(ROOT / 'requirements' / f'{n}.txt' for n in ('base', 'build', 'test'))]
    kind = f'ROS 2 {distro} of this machine' if distro else f'ROS 2 {args.ros} wheels'

    packages = Step(prefix, 'packages', digest(*lists, text=kind + sys.version))
    interfaces = Step(prefix, 'interfaces', packages.key + digest(
        ROOT / 'msg', ROOT / 'srv', ROOT / 'action', ROOT / 'CMakeLists.txt',
        ROOT / 'package.xml', Path(__file__).resolve()))
    project = Step(prefix, 'project', packages.key + digest(ROOT / 'setup.py'))
    if packages.done and interfaces.done and project.done:
        return
    graphics()
    if not packages.done:
        say(f'{prefix.name}: {kind}, Python {sys.version.split()[0]}')
        shutil.rmtree(prefix, ignore_errors=True)
        venv.EnvBuilder(with_pip=True, symlinks=True,
                        system_site_packages=bool(distro)).create(prefix)
        say('installing packages (a minute or two)')
        run([python, '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input',
             *(x for file in lists for x in ('-r', file))], env, prefix / 'log' / 'pip.txt')
        if not distro:
            rewrite_build_paths(prefix, python)
        packages.finish()
    if not interfaces.done:
        build_env = dict(env)
        build_env['PATH'] = f'{prefix / "bin"}{os.pathsep}{env.get("PATH", "")}'
        if not distro:
            for name in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
                build_env[name] = str(prefix)
        present = subprocess.run([python, '-c', 'import tf2_msgs.msg'], env=env,
                                 stderr=subprocess.DEVNULL, check=False).returncode == 0
        if not present:
            say('building tf2_msgs')
            source = prefix / 'src' / 'tf2_msgs'
            run([python, '-c', TF2_MSGS, source], env, prefix / 'log' / 'tf2_msgs.txt')
            build_interfaces(source, prefix, python, build_env, [])
        say('building the interfaces of urbanground')
        build_interfaces(ROOT, prefix, python, build_env, ['-DURBANGROUND_PYTHON=OFF'])
        interfaces.finish()
    if not project.done:
        run([python, '-m', 'pip', 'install', '--disable-pip-version-check', '--no-deps',
             '--no-build-isolation', '-e', ROOT], env, prefix / 'log' / 'project.txt')
        # Where `ros2 run` and launch files look for a package's programs.
        programs = prefix / 'lib' / 'urbanground'
        programs.mkdir(parents=True, exist_ok=True)
        shutil.copy2(prefix / 'bin' / 'urbanground', programs / 'urbanground')
        project.finish()
    say(f'ready after {time.monotonic() - start:.0f} s')


if __name__ == '__main__':
    main()
