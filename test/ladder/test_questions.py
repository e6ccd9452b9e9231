# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Questions of the first level hold in the city, and cannot be answered without looking."""

from collections import Counter
from dataclasses import replace
from itertools import islice
import math
import re

import numpy as np
import pytest

from urbanground_ros.agents import make_agent
from urbanground_ros.agents import play
from urbanground_ros.city import CityError
from urbanground_ros.city import Placement
from urbanground_ros.districts import DEFAULT_DISTRICT
from urbanground_ros.episode import RegionContext
from urbanground_ros.ladder import questions
from urbanground_ros.ladder.look import LEGIBLE
from urbanground_ros.ladder.look import Look
from urbanground_ros.scoring import Outcome
from urbanground_ros.scoring import Settings
from urbanground_ros.sim import HeadlessCity
from urbanground_ros.tasks import Task
from urbanground_ros.tiles import Instance

DISTRICTS = (DEFAULT_DISTRICT, 'kwun_lei')
MAKERS = (questions.visual_recognition, questions.orientation, questions.active_exploration)
COUNT = 12


@pytest.fixture(scope='module')
def look():
    try:
        look = Look()
    except CityError as error:
        pytest.skip(str(error))
    yield look
    look.close()


@pytest.fixture(scope='module')
def contexts():
    return {name: RegionContext.named(name) for name in DISTRICTS}


@pytest.fixture(scope='module')
def tasks(look, contexts):
    """Return `COUNT` tasks of each kind in each district, by prefix."""
    found = {}
    for number, context in enumerate(contexts.values()):
        for maker in MAKERS:
            made = list(islice(maker(context, np.random.default_rng([7, number]), look), COUNT))
            assert len(made) == COUNT
            found.setdefault(made[0].kind.prefix, []).extend(made)
    return found


def everything(tasks):
    return [task for each in tasks.values() for task in each]


def right(task):
    return task.options[task.answer]


def thing(task):
    return Instance(task.evidence['kind'], task.evidence['name'])


def test_a_question_is_a_task_of_the_released_format(tasks):
    for number, task in enumerate(everything(tasks)):
        named = replace(task, id=f'{task.kind.prefix}{number:03d}')
        assert Task.from_json(named.to_json(), 'here') == named
        assert not re.search(r'\d\.\d', task.description + ' '.join(task.options))
        assert task.verification['steps'] < 30


def test_what_is_asked_shows_in_the_first_picture(tasks, contexts, look):
    words = {**questions.PLACE_TYPES, **{
        kind.name.lower(): told for kind, told in questions.WAYS.items()}}
    for task in tasks['LQ']:
        kinds = {place.name: place.type for place in contexts[task.region].region.load_places()}
        name = thing(task).name
        if right(task) not in questions.COLOURS:
            assert right(task) in (name, words.get(name), words.get(kinds.get(name)))
    for task in [task for task in tasks['LQ'] if thing(task).kind != 'way'][::2]:
        assert look.stand(contexts[task.region], task.start)
        mask = look.mask()
        assert mask.ids.shape == (480, 640)
        assert mask.pixels(*thing(task)) >= LEGIBLE[thing(task).kind]
        assert not {each.name for each in mask.instances} & (set(task.options) - {right(task)})


def test_the_way_asked_for_leads_on_ahead(tasks, contexts, look):
    made = [task for task in tasks['LQ'] if thing(task).kind == 'way']
    assert made
    for task in made:
        context = contexts[task.region]
        assert look.stand(context, task.start)
        ahead = np.array([math.cos(look.yaw), math.sin(look.yaw), 0.0])
        line = look.feet + np.arange(0.0, 8.0, 0.5)[:, None] * ahead
        found = context.network.nearest(line).feature.tolist()
        assert task.evidence['name'] in {
            context.network.features[k].feature_type.name.lower() for k in found}
        look.turn(180.0)
        assert look.shows(line) == 0.0


def test_directions_are_those_of_the_map(tasks, contexts):
    for task in tasks['OQ']:
        context = contexts[task.region]
        yaw = task.start.yaw
        if task.evidence['kind'] == 'sign':
            place = next(place for place in context.region.load_places()
                         if place.name == task.evidence['name'])
            way = context.to_map(place.entrance) - context.to_map(task.start.point)
            yaw = math.degrees(math.atan2(way[0], way[1]))
        if set(task.options) == set(questions.COMPASS):
            wanted, offset = questions.COMPASS, yaw
        elif set(task.options) == set(questions.TURNS):
            to = questions.COMPASS.index(re.search(r'walk (\w+)', task.description)[1])
            wanted, offset = questions.TURNS, 90 * to - yaw
        else:
            quarters = set(task.options) == set(questions.QUARTERS)
            wanted = questions.QUARTERS if quarters else questions.SIDES
            offset = yaw - task.start.yaw - (45 if quarters else 0)
        middle = 90 * wanted.index(right(task))
        # A sign is beside its door.
        assert abs(math.remainder(offset - middle, 360)) < 45 - 10, task.description


def test_what_is_searched_shows_at_the_end_only(tasks, contexts, look):
    for task in tasks['SQ'][::4]:
        context = contexts[task.region]
        assert look.stand(context, task.start)
        assert look.mask().pixels(*thing(task)) <= questions.UNSEEN
        way = context.network.route(context.to_map(task.start.point), context.to_map(task.goal))
        assert way.length == pytest.approx(task.route_length, abs=0.01)
        goal = context.to_map(task.goal)
        look.stand(context, Placement(task.goal))
        look.turn(look.bearing(look.things(context, thing(task).kind, goal, 15.0)[
            task.evidence['name']]))
        assert look.sight(thing(task)).legible


def test_the_oracle_finds_what_is_searched(tasks, contexts):
    city = HeadlessCity(pictures=False)
    for task in tasks['SQ'][::3]:
        task = replace(task, id='SQ001')
        record = play(city, contexts[task.region], task, make_agent('oracle'),
                      Settings(task.region, contexts[task.region].digest))
        assert record['outcome'] == Outcome.SUCCEEDED
        assert len(record['steps']) < 50
    city.close()


def test_the_same_seed_gives_the_same_tasks_whatever_was_before(tasks, contexts):
    look = Look()
    context = contexts[DEFAULT_DISTRICT]
    for maker in reversed(MAKERS):
        again = list(islice(maker(context, np.random.default_rng([7, 0]), look), 4))
        assert again == tasks[again[0].kind.prefix][:4]
    other = next(questions.orientation(context, np.random.default_rng([8, 0]), look))
    assert other != again[0]
    look.close()


def test_forms_take_turns_and_letters_are_dealt(tasks):
    for made in tasks.values():
        assert Counter(task.answer for task in made) == dict.fromkeys(range(4), 2 * COUNT // 4)
    assert len({task.description for task in tasks['LQ']}) == 5
    assert len({frozenset(task.options) for task in tasks['OQ']}) == 4
    assert len({task.description.split('. ')[-1][:9] for task in tasks['SQ']}) == 3


def words_of(text):
    return set(re.findall(r'\w+', text.lower()))


def blind(tasks):
    """Return how often each way to guess from words alone is right, ties as their share."""
    common = Counter(word for task in tasks for option in task.options
                     for word in words_of(option))
    ways = {
        'first': lambda task, k: -k,
        'last': lambda task, k: k,
        'longest': lambda task, k: len(task.options[k]),
        'shortest': lambda task, k: -len(task.options[k]),
        'commonest': lambda task, k: sum(common[w] for w in words_of(task.options[k])),
        'rarest': lambda task, k: -sum(common[w] for w in words_of(task.options[k])),
        'told': lambda task, k: len(words_of(task.options[k]) & words_of(task.description)),
        'alike': lambda task, k: sum(len(words_of(task.options[k]) & words_of(other))
                                     for other in task.options),
        'odd': lambda task, k: -sum(len(words_of(task.options[k]) & words_of(other))
                                    for other in task.options),
    }
    rates = {}
    for name, score in ways.items():
        hits = 0.0
        for task in tasks:
            scores = [score(task, k) for k in range(4)]
            best = [k for k in range(4) if scores[k] == max(scores)]
            hits += (task.answer in best) / len(best)
        rates[name] = hits / len(tasks)
    return rates


def test_words_alone_do_not_tell(tasks):
    # 72 questions: chance is 25 +- 5.1 percent, and three times that is allowed.
    for way, rate in blind(everything(tasks)).items():
        assert rate < 0.25 + 3 * 0.051, way


def test_a_blind_guess_is_found_out(tasks):
    told = [replace(task, description=f'{task.description} {right(task)}')
            for task in everything(tasks)]
    assert blind(told)['told'] > 0.5
    long = [replace(task, options=tuple(
        option + ' indeed' * (k == task.answer) for k, option in enumerate(task.options)))
        for task in everything(tasks)]
    assert blind(long)['longest'] > 0.5


def test_a_name_hides_among_longer_and_shorter_ones(contexts):
    rng = np.random.default_rng(3)
    names = [place.name for place in contexts['kwun_lei'].region.load_places()]
    places = Counter()
    for name in names * 8:
        wrong = questions._like(name, names, rng)
        assert len(set(wrong)) == 3
        assert name not in wrong
        places[sum((len(each), each) < (len(name), name) for each in wrong)] += 1
    for count in places.values():
        assert 0.2 < count / (8 * len(names)) < 0.3


def test_types_among_the_options_are_not_alike(contexts):
    rng = np.random.default_rng(3)
    places = contexts['kwun_lei'].region.load_places()
    types = {words: kind for kind, words in questions.PLACE_TYPES.items()}
    for place in places:
        wrong = [types[words] for words in questions._other_types(place, places, rng)]
        assert len({questions._group(kind) for kind in (place.type, *wrong)}) == 4


@pytest.mark.parametrize(('rgb', 'colour'), [
    ((176, 28, 30), 'red'), ((250, 214, 60), 'yellow'), ((20, 78, 140), 'blue'),
    ((22, 104, 66), 'green'), ((250, 248, 240), 'white'), ((34, 34, 38), 'black'),
    ((232, 110, 30), 'orange'), ((128, 128, 128), ''), ((180, 30, 140), '')])
def test_colours_have_words(rgb, colour):
    for shade in (1.0, 0.72):
        assert questions._colour_of(np.array(rgb) * shade) == colour


def test_a_sign_is_not_read_from_afar_or_behind_or_cut_by_the_edge(tasks, contexts, look):
    for task in [task for task in tasks['LQ'] if thing(task).kind != 'way'][:6]:
        context = contexts[task.region]
        look.stand(context, task.start)
        before = look.sight(thing(task))
        assert before.legible
        assert before.pixels == pytest.approx(task.evidence['pixels'])
        look.turn(before.bearing + 37.5)
        cut = look.sight(thing(task))
        assert cut is None or not cut.legible
        look.turn(120.0)
        assert look.sight(thing(task)) is None
