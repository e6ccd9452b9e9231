# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Python side of the package: `pip install .` in an environment that has ROS 2."""

from glob import glob

from setuptools import find_packages
from setuptools import setup

NAME = 'urbanground'

setup(
    # Not the ROS package's name: the interface generator installs a distribution of that name,
    # which pip would take for an older version of this one and remove.
    name='urbanground_ros',
    version='0.1.0',
    description='Measures embodied agents and navigation stacks in a city, on ROS 2',
    license='Apache-2.0',
    packages=find_packages(include=['urbanground_ros', 'urbanground_ros.*']),
    package_data={'urbanground_ros': ['py.typed', '**/*.json', '**/*.glsl']},
    data_files=[
        (f'share/{NAME}', ['package.xml']),
        *((f'share/{NAME}/{folder}', glob(f'{folder}/*'))
          for folder in ('launch', 'config', 'rviz', 'msg', 'srv', 'action')),
    ],
    python_requires='>=3.10',
    entry_points={'console_scripts': [f'{NAME} = urbanground_ros.cli:main']},
)
