# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command line `urbanground`: each subcommand imports only what it needs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
import os
from pathlib import Path
import signal
import sys
from typing import TYPE_CHECKING

from urbanground_ros import __version__
from urbanground_ros.errors import UrbanGroundError
from urbanground_ros.parameters import add_arguments
from urbanground_ros.parameters import Table

if TYPE_CHECKING:
    from urbanground_ros.evaluate.config import EvalConfig

Run = Callable[[argparse.Namespace, list[str]], int]


@dataclass(frozen=True)
class Command:
    """A subcommand: what it says of itself, its options, and what it does."""

    help: str
    add: Callable[[argparse.ArgumentParser], None]
    run: Run
    is_node: bool = False


def _values(options: argparse.Namespace, table: Table) -> dict[str, object]:
    return {p.name: getattr(options, p.name) for p in table}


# -- eval and runner ----------------------------------------------------------------------

def _add_eval(parser: argparse.ArgumentParser) -> None:
    from urbanground_ros.evaluate.config import PARAMETERS
    add_arguments(parser, PARAMETERS)
    parser.add_argument('--in-process', action='store_true',
                        help='run the scripted agents without ROS, in this process')


def _config(options: argparse.Namespace) -> EvalConfig:
    from urbanground_ros.evaluate.config import EvalConfig
    from urbanground_ros.evaluate.config import PARAMETERS
    return EvalConfig(_values(options, PARAMETERS))


def _run_eval(options: argparse.Namespace, _: list[str]) -> int:
    from urbanground_ros.evaluate.plan import load_context
    from urbanground_ros.evaluate.plan import make_plan
    from urbanground_ros.evaluate.prepare import prepare_tasks
    config = _config(options)
    context = load_context(config)
    tasks = prepare_tasks(config, context)
    if options.in_process:
        from urbanground_ros.evaluate.local import evaluate
        return evaluate(config, context, tasks)
    from urbanground_ros.evaluate.domains import Domains
    from urbanground_ros.evaluate.graph import build_graph
    from urbanground_ros.evaluate.session import held
    from urbanground_ros.evaluate.supervise import supervise
    with held(config.out):
        # Whoever comes second learns it before anything of the first is touched; the runner
        # holds the folder while it runs.
        pass
    # What cannot be run is told before anything is started.
    make_plan(config, context, tasks)
    domains = Domains()
    try:
        graph = build_graph(config, str(tasks), domains)
        world = graph[0].environment['ROS_DOMAIN_ID']
        print(f'{len(config.agents)} agents on {config["region"]}; watch with ROS_DOMAIN_ID='
              f'{world}; logs in {config.out / "logs"}', file=sys.stderr, flush=True)
        return supervise(graph, config.out / 'logs')
    finally:
        domains.close()


def _add_runner(parser: argparse.ArgumentParser) -> None:
    from urbanground_ros.evaluate.config import PARAMETERS
    add_arguments(parser, PARAMETERS)
    parser.add_argument('--agent-domain', type=int, required=True,
                        help='DDS domain of the door')
    parser.add_argument('--interrupt-status', type=int, default=130,
                        help='exit status after SIGINT or SIGTERM (default: %(default)s)')


def _run_runner(options: argparse.Namespace, _: list[str]) -> int:
    from urbanground_ros.evaluate.runner import main
    return main(_config(options), options.agent_domain, options.interrupt_status)


# -- city ---------------------------------------------------------------------------------

def _add_city(parser: argparse.ArgumentParser) -> None:
    from urbanground_ros.sim.parameters import PARAMETERS
    add_arguments(parser, PARAMETERS)


def _run_city(options: argparse.Namespace, _: list[str]) -> int:
    from urbanground_ros.sim.parameters import PARAMETERS
    from urbanground_ros.sim.serve import run_city
    return run_city(**_values(options, PARAMETERS))


# -- nodes --------------------------------------------------------------------------------

def _list_parameters(module: str) -> Callable[[argparse.ArgumentParser], None]:
    """Return what tells a node's ROS parameters in the help of its command."""
    def add(parser: argparse.ArgumentParser) -> None:
        table: Table = import_module(f'urbanground_ros.bridge.nodes.{module}').PARAMETERS
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.usage = f'{parser.prog} [-h] [--ros-args -p NAME:=VALUE ...]'
        parser.epilog = 'ROS parameters:\n' + '\n'.join(
            f'  {p.name} ({p.expected}; default {str(p.default) or "none"})\n'
            f'      {p.description}' for p in table)
    return add


def _run_bridge(_: argparse.Namespace, ros_args: list[str]) -> int:
    from urbanground_ros.bridge.nodes.bridge import main
    return main(ros_args)


def _run_episode(_: argparse.Namespace, ros_args: list[str]) -> int:
    from urbanground_ros.bridge.nodes.episode import main
    return main(ros_args)


def _run_scoring(_: argparse.Namespace, ros_args: list[str]) -> int:
    from urbanground_ros.bridge.nodes.scoring import main
    return main(ros_args)


def _add_agent(parser: argparse.ArgumentParser) -> None:
    from urbanground_ros.districts import DEFAULT_DISTRICT
    parser.add_argument('name', help='which agent')
    parser.add_argument('--agent-domain', type=int, required=True, help='DDS domain of the door')
    parser.add_argument('--region', default=DEFAULT_DISTRICT,
                        help='region, for privileged agents (default: %(default)s)')
    parser.add_argument('--seed', type=int, default=0, help='seed of its draws (default: 0)')


def _run_agent(options: argparse.Namespace, ros_args: list[str]) -> int:
    from urbanground_ros.bridge.nodes.agent import main
    return main(options.name, options.agent_domain, options.region, options.seed, ros_args)


# -- tasks and records --------------------------------------------------------------------

def _add_tasks(parser: argparse.ArgumentParser) -> None:
    from urbanground_ros.ladder.command import add_arguments
    add_arguments(parser)


def _run_tasks(options: argparse.Namespace, _: list[str]) -> int:
    from urbanground_ros.ladder.command import run
    return run(options)


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('records', type=Path, help='a record, or a folder of them')


def _run_score(options: argparse.Namespace, _: list[str]) -> int:
    from urbanground_ros.evaluate.rescore import rescore_path
    return rescore_path(options.records)


# -- tiles --------------------------------------------------------------------------------

def _add_tiles(parser: argparse.ArgumentParser) -> None:
    from urbanground_ros.tiles.command import add_arguments
    add_arguments(parser)


def _run_tiles(options: argparse.Namespace, _: list[str]) -> int:
    from urbanground_ros.tiles.command import run
    return run(options)


# -- regions ------------------------------------------------------------------------------

def _add_region(parser: argparse.ArgumentParser) -> None:
    from urbanground_ros.regions.command import add_arguments
    add_arguments(parser)


def _run_region(options: argparse.Namespace, _: list[str]) -> int:
    from urbanground_ros.regions.command import run
    return run(options)


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('region', help='region whose height_offset is measured: a name or a file')
    parser.add_argument('--dry-run', action='store_true', help='measure, and leave the file')


def _run_calibrate(options: argparse.Namespace, _: list[str]) -> int:
    from urbanground_ros.districts import district_names
    from urbanground_ros.districts import resolve_region
    from urbanground_ros.regions.command import tell_calibration
    if options.region in district_names() and not options.dry_run:
        raise UrbanGroundError(f'region {options.region!r} is built in and exact, expected '
                               '--dry-run')
    tell_calibration(resolve_region(options.region), write=not options.dry_run)
    return 0


COMMANDS: dict[str, Command] = {
    'eval': Command('evaluate agents and navigation stacks: city, bridge, scoring, table, report',
                    _add_eval, _run_eval),
    'city': Command('run the headless city', _add_city, _run_city),
    'bridge': Command('run the bridge from cities to ROS 2', _list_parameters('bridge'),
                      _run_bridge, True),
    'episode': Command('run the episode node', _list_parameters('episode'), _run_episode, True),
    'scoring': Command('run the scoring node', _list_parameters('scoring'), _run_scoring, True),
    'agent': Command('run an agent behind the door', _add_agent, _run_agent, True),
    'runner': Command('drive running nodes through an evaluation', _add_runner, _run_runner, True),
    'tasks': Command('generate tasks that the oracle proves, verify, show and export them',
                     _add_tasks, _run_tasks),
    'region': Command('add regions of the real Hong Kong from open data, list, show, remove',
                      _add_region, _run_region),
    'calibrate': Command('measure the height of the network above the tiles of a region',
                         _add_calibrate, _run_calibrate),
    'score': Command('score records again from their trajectories', _add_score, _run_score),
    'tiles': Command('look into 3D Tiles, and fetch them for use offline',
                     _add_tiles, _run_tiles),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; bad input is one line on standard error and a status that is not 0."""
    if arguments is None:
        # Until a command has something to tidy up, an interrupt just ends the process.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    words = list(sys.argv[1:] if arguments is None else arguments)
    ros_args: list[str] = []
    if '--ros-args' in words:
        k = words.index('--ros-args')
        words, ros_args = words[:k], words[k + 1:]
    parser = argparse.ArgumentParser(prog='urbanground', description=__doc__)
    parser.add_argument('--version', action='version', version=__version__)
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.help, description=command.help)
        if words[:1] == [name]:
            command.add(subparser)
    try:
        options = parser.parse_args(words)
        command = COMMANDS[options.command]
        if ros_args and not command.is_node:
            parser.error(f'{options.command} is not a node and takes no --ros-args')
        return command.run(options, ros_args)
    except UrbanGroundError as error:
        print(f'error: {error}', file=sys.stderr, flush=True)
        return 1
    except BrokenPipeError:
        # Whoever read the output has enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
