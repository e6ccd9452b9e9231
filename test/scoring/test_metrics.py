# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Metrics against values that are worked out by hand on a made-up walk."""

import json
import math

import numpy as np
import pytest

from urbanground_ros.city import Event
from urbanground_ros.city import EventKind
from urbanground_ros.city import GeoPoint
from urbanground_ros.city import Placement
from urbanground_ros.city import Sample
from urbanground_ros.files import FileError
from urbanground_ros.geo import LocalFrame
from urbanground_ros.geo import PedestrianNetwork
from urbanground_ros.scoring import compute_metrics
from urbanground_ros.scoring import DEFINITIONS
from urbanground_ros.scoring import EpisodeRecorder
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import read_record
from urbanground_ros.scoring import RecordError
from urbanground_ros.scoring import rescore
from urbanground_ros.scoring import Settings
from urbanground_ros.scoring import StepRecord
from urbanground_ros.scoring import write_record
from urbanground_ros.tasks import Kind
from urbanground_ros.tasks import Task

FRAME = LocalFrame(22.3, 114.17, 10.0)


def geo(x, y, z=0.0):
    return GeoPoint(*(float(v) for v in FRAME.to_geodetic(np.array([x, y, z]))))


@pytest.fixture
def network(tmp_path):
    """A street of 100 m to the east, and a footbridge 6 m above its middle, across it."""
    def feature(number, kind, points):
        coordinates = []
        for point in points:
            place = geo(*point)
            coordinates.append([place.longitude, place.latitude, place.altitude])
        return {'type': 'Feature', 'geometry': {'type': 'LineString', 'coordinates': coordinates},
                'properties': {'PedestrianRouteID': number, 'FeatureType': kind, 'Location': 1,
                               'WeatherProof': 2, 'Direction': 0}}
    path = tmp_path / 'network.geojson'
    path.write_text(json.dumps({'type': 'FeatureCollection', 'features': [
        feature(1, 1, [(0, 0, 0), (100, 0, 0)]),
        feature(2, 2, [(50, -30, 6), (50, 30, 6)])]}))
    return PedestrianNetwork.load(path, FRAME, height_offset=0.0)


def walk(points, period=0.04):
    """Samples at points (x, y, z), one a period."""
    return [Sample(round(k * period * 1e9), k, round(k * period * 1e9), 0, 0, float(x), float(y),
                   float(z), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, True)
            for k, (x, y, z) in enumerate(points)]


def step(sequence, seconds, mode='first_person', name='move'):
    return StepRecord({'name': name}, '', mode, seconds, sequence)


def task(goal=(90.0, 0.0), start=(0.0, 0.0)):
    return Task('SN1', Kind.SHORT_RANGE, 'Walk.', Placement(geo(*start)), geo(*goal))


def test_straight_walk_to_the_goal(network):
    samples = walk([(x, 0, 0) for x in np.linspace(0, 80, 81)])
    metrics = compute_metrics(task(), network, samples, [step(40, 2.0), step(80, 2.0)], [],
                              Outcome.SUCCEEDED)
    assert set(metrics) == set(DEFINITIONS)
    assert metrics['arrived'] == 1.0
    assert metrics['pna'] == metrics['pna_states'] == metrics['pna_sampled'] == 1.0
    # The great circle of a sphere is within 0.5 % of the ellipsoid's distance here.
    assert metrics['initial_distance'] == pytest.approx(90, rel=5e-3)
    assert metrics['final_distance'] == pytest.approx(10, rel=5e-3)
    assert metrics['remaining_distance_ratio'] == pytest.approx(10 / 90, rel=1e-2)
    assert metrics['path_length'] == pytest.approx(80)
    assert metrics['path_length_sampled'] == pytest.approx(80)
    assert metrics['network_distance'] == pytest.approx(90, abs=1e-3)
    assert metrics['spl'] == 1.0
    assert metrics['duration'] == pytest.approx(3.2)
    assert (metrics['steps'], metrics['map_steps']) == (2.0, 0.0)


def test_paper_parity_looks_at_step_states_and_samples_at_the_way(network):
    # Out to y = 20 and back within one action: the step state alone does not show it.
    out = [(10 + k, min(k, 40 - k), 0) for k in range(41)]
    metrics = compute_metrics(task(), network, walk(out), [step(40, 1.6)], [], Outcome.FAILED)
    assert metrics['pna'] == 1.0
    assert 0.1 < metrics['pna_sampled'] < 0.3
    assert metrics['path_length'] == pytest.approx(40)
    assert metrics['path_length_sampled'] == pytest.approx(40 * math.sqrt(2))


def test_pna_weights_by_duration(network):
    samples = walk([(0, 0, 0), (10, 20, 0), (20, 0, 0)])
    metrics = compute_metrics(task(), network, samples, [step(1, 1.5), step(2, 0.5)], [],
                              Outcome.TRUNCATED)
    assert metrics['pna'] == pytest.approx(0.25)
    assert metrics['pna_states'] == pytest.approx(0.5)


def test_footbridge_is_not_the_street_under_it(network):
    on_deck = walk([(50, y, 6) for y in range(-20, 21)])
    under = walk([(50, y, 0) for y in range(-20, 21)])
    assert compute_metrics(task(), network, on_deck, [step(40, 1.6)], [],
                           Outcome.FAILED)['pna_sampled'] == 1.0
    assert compute_metrics(task(), network, under, [step(40, 1.6)], [],
                           Outcome.FAILED)['pna_sampled'] < 0.2


def test_standing_and_no_steps(network):
    samples = walk([(0, 0, 0), (0, 0, 0)])
    metrics = compute_metrics(task(), network, samples, [], [], Outcome.TIMED_OUT)
    assert math.isnan(metrics['pna'])
    assert math.isnan(metrics['pna_sampled'])
    assert metrics['arrived'] == metrics['spl'] == metrics['path_length'] == 0.0
    assert metrics['remaining_distance_ratio'] == 1.0


def test_map_steps_and_contacts(network):
    samples = walk([(x, 0, 0) for x in range(4)])
    steps = [step(0, 0.04, 'map', 'open_map'), step(1, 0.04, 'map', 'map_zoom'),
             step(2, 0.04, 'first_person', 'close_map'), step(3, 1.0)]
    events = [Event(0, 1, EventKind.CONTACT_BUILDING, '', 0.0, 0.0, 0.0)]
    metrics = compute_metrics(task(), network, samples, steps, events, Outcome.FAILED)
    assert metrics['map_steps'] == 3.0
    assert metrics['first_person_steps'] == 1.0
    assert metrics['building_contacts'] == 1.0


def test_arrival_is_fifteen_metres_and_horizontal(network):
    for x, arrived in ((90 - 14.9, 1.0), (90 - 15.2, 0.0)):
        samples = walk([(0, 0, 0), (x, 0, 0)])
        assert compute_metrics(task(), network, samples, [step(1, 1.0)], [],
                               Outcome.FAILED)['arrived'] == arrived
    high = walk([(0, 0, 0), (90, 0, 40)])
    assert compute_metrics(task(), network, high, [step(1, 1.0)], [],
                           Outcome.FAILED)['arrived'] == 1.0


def test_record_is_the_same_bytes_and_scores_to_the_same_digits(network, tmp_path):
    def record():
        recorder = EpisodeRecorder(task(), 'x', 'vision', Settings('r', 'd'), network)
        recorder.add(walk([(x, 0.1 * x, 0) for x in np.linspace(0, 77.7, 90)]))
        recorder.steps.append(step(89, 2.0))
        return recorder.record(Outcome.FAILED, 'a reason, with "quotes" and 街')
    path = write_record(tmp_path, record())
    first = path.read_bytes()
    assert write_record(tmp_path, record()) == path
    assert path.read_bytes() == first
    assert not list(tmp_path.glob('.*'))
    again = read_record(path)
    assert rescore(again, network) == again['metrics']


@pytest.mark.parametrize(
    'change',
    [
        {'outcome': 99},
        {'outcome': None},
        {'task': {}},
        {'settings': {}},
        {'agent': 'another'},
        {'agent': '../x'},
        {'episode': 'x-SN001-000000000000'},
        {'metrics': {'arrived': 'yes'}},
        {'metrics': {'unheard_of': 1.0}},
        {'steps': [{}]},
        {'events': [{'kind': 77}]},
        {'trajectory': {'columns': [], 'rows': []}},
        {'reason': 7},
    ],
)
def test_a_record_that_is_not_whole_is_told(network, tmp_path, change):
    recorder = EpisodeRecorder(task(), 'x', 'vision', Settings('r', 'd'), network)
    recorder.add(walk([(x, 0, 0) for x in range(9)]))
    recorder.steps.append(step(8, 2.0))
    path = write_record(tmp_path, recorder.record(Outcome.FAILED, ''))
    whole = json.loads(path.read_text())
    assert read_record(path) == whole
    for damaged in ({**whole, **change}, {k: v for k, v in whole.items() if k not in change}):
        path.write_text(json.dumps(damaged))
        with pytest.raises(RecordError, match=r'json: .*expected a whole episode record') as error:
            read_record(path)
        assert '\n' not in str(error.value)


@pytest.mark.parametrize('limit', [{'max_seconds': math.nan}, {'max_seconds': -1.0},
                                   {'max_steps': 0}, {'max_seconds': math.inf}])
def test_settings_have_positive_limits(limit):
    with pytest.raises(RecordError, match='expected a positive number'):
        Settings('r', 'd', **limit)


@pytest.mark.parametrize('agent', ['', '../x', 'a/b', '.x', 'x' * 65, 'a b'])
def test_an_agent_is_named_like_a_file(network, agent):
    with pytest.raises(RecordError, match='agent is'):
        EpisodeRecorder(task(), agent, 'vision', Settings('r', 'd'), network)


@pytest.mark.parametrize('text', ['', '{', '[]', '{"schema": "other/1"}', '[' * 100_000,
                                  '{"schema": NaN}'])
def test_damaged_records_are_told(tmp_path, text):
    path = tmp_path / 'x.json'
    path.write_text(text)
    with pytest.raises(RecordError, match=r'x\.json'):
        read_record(path)


def test_unwritable_folder_is_told(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(FileError, match='cannot be written'):
        write_record(tmp_path / 'file', {'episode': 'x'})
