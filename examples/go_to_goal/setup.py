# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Install the example as a ROS package."""

from setuptools import setup

setup(
    name='go_to_goal',
    version='0.1.0',
    packages=['go_to_goal'],
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/go_to_goal']),
        ('share/go_to_goal', ['package.xml']),
        ('share/go_to_goal/launch', ['launch/go_to_goal.launch.py']),
    ],
    license='Apache-2.0',
    entry_points={'console_scripts': ['go_to_goal = go_to_goal.node:main']},
)
