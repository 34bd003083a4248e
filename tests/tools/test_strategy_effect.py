"""The keywords of a strategy decide the order: other ones, or no k1, change it; k does not."""

from itertools import pairwise

import pytest

from base.progress import no_progress
from retriever.strategy import LANGUAGES
from tests.conftest import SHARED
from tests.needs import mostly_nightly
from tools import bench as settings
from tools.bench import TUNED, Bench
from tools.collections import (
    COLLECTIONS,
    CROSSING,
    HELD_OUT,
    OF_SAMPLE,
    TRAINING,
    questions,
    recorded_strategies,
    scores_of,
)

DATA = SHARED / "data"
OWN = {collection.name: collection for collection in (OF_SAMPLE, HELD_OUT)}
BY_NAME = OWN | {collection.name: collection for collection in (*TRAINING, CROSSING, *COLLECTIONS)}
WITHOUT_STRATEGIES = {"cranfield", "lisa", "npl", "korquad-500", "musique-100"}
RECORDED = [name for name in BY_NAME if name not in WITHOUT_STRATEGIES]
MEASURE, LEAST_LOSS, LEAST_CHANGED, FIRST = "nDCG@10", 0.02, 0.8, 10

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("collections"), DATA, no_progress)


def asked(name):
    """Return the questions of a collection that have a strategy, their judgements and strategies."""
    collection = BY_NAME[name]
    if not (DATA / collection.corpus).exists():
        pytest.skip(f"shared evaluation data: {DATA / collection.corpus} is not present")
    strategies = recorded_strategies(DATA, collection)
    topics, qrels = questions(DATA, collection, "dev")
    topics = {key: text for key, text in topics.items() if key in strategies and key in qrels}
    return topics, {key: qrels[key] for key in topics}, strategies


def first_of(run):
    return {key: [found for found, _ in ranking[:FIRST]] for key, ranking in run.items()}


@pytest.mark.parametrize("name", mostly_nightly(RECORDED, by_day={*OWN, "cacm"}))
def test_the_keywords_of_another_question_and_a_missing_k1_change_the_order(bench, name):
    topics, qrels, strategies = asked(name)
    others = {one: strategies[other] for one, other in pairwise([*topics, next(iter(topics))])}
    without = {
        key: strategies[key].changed(**{each: strategies[key].keywords(each)[1:] for each in LANGUAGES})
        for key in topics
    }
    with bench.open(BY_NAME[name]) as index:
        whole, swapped, shorter = (
            bench.rank(index, topics, TUNED, strategies=of) for of in (strategies, others, without)
        )
    means = [scores_of(qrels, run, [MEASURE])[MEASURE] for run in (whole, swapped)]
    assert means[0] - means[1] >= LEAST_LOSS
    before, after = map(first_of, (whole, shorter))
    assert sum(before[key] != after[key] for key in topics) / len(topics) >= LEAST_CHANGED


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "statistics"])
def test_scores_are_the_same_for_ten_hits_and_two_hundred(bench, monkeypatch, name, recorded):
    topics, _, strategies = asked(name)
    runs = []
    with bench.open(BY_NAME[name]) as index:
        for depth in (10, 200):
            monkeypatch.setattr(settings, "DEPTH", depth)
            runs.append(bench.rank(index, topics, TUNED, strategies=strategies if recorded else None))
    few, many = runs
    assert few == {key: ranking[:10] for key, ranking in many.items()}
