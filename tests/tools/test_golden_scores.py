"""Methods and answers score what is recorded in tests/golden/scores.jsonl, and keywords decide the order.

After a change that is meant to change them: python -m tools.golden --home DIR --renew
"""

import json
from itertools import pairwise
from typing import Any

import pytest
from click.testing import CliRunner

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
    read_lines,
    recorded_strategies,
    scores_of,
)
from tools.golden import (
    EVERY,
    RECORDED,
    figures_by_kind,
    find_drift,
    main,
    ranking_rows,
)

OWN = {collection.name: collection for collection in (OF_SAMPLE, HELD_OUT)}
BY_NAME = OWN | {collection.name: collection for collection in (*TRAINING, CROSSING, *COLLECTIONS)}
SHARED_NAMES = [collection.name for collection in COLLECTIONS]
WITHOUT_STRATEGIES = {"cranfield", "lisa", "npl", "korquad-500", "musique-100"}
WITH_STRATEGIES = [name for name in BY_NAME if name not in WITHOUT_STRATEGIES]
DATA = SHARED / "data"
MEASURE, LEAST_LOSS, LEAST_CHANGED, FIRST = "nDCG@10", 0.02, 0.8, 10


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    """Keep the collections' indexes of the session; each is built when it is first opened."""
    return Bench(tmp_path_factory.mktemp("collections"), DATA, no_progress)


def assert_as_recorded(measured):
    drift = find_drift(read_lines(RECORDED), measured)
    assert not drift, "\n".join(drift)


def test_held_out_questions_are_counted_by_what_their_kind_asks_for():
    topics: list[dict[str, Any]] = [
        {"query_id": "1", "kind": "time", "excluded": ["old"]},
        {"query_id": "2", "kind": "time", "excluded": ["far"]},
        {"query_id": "3", "kind": "two-step"},
    ]
    qrels = {"1": {"new": 2, "old": 0}, "2": {"new": 2, "far": 0}, "3": {"a": 2, "b": 2}}
    run = {
        "1": [("new", 2.0), ("old", 1.0)],
        "2": [(doc_id, 1.0) for doc_id in ("x1", "x2", "x3", "x4", "x5", "new", "far")],
        "3": [("a", 2.0), ("c", 1.0)],
    }
    assert figures_by_kind(topics, qrels, run) == {
        "time": {"Success@5": 0.5, "excluded@5": 0.5},
        "two-step": {"both@10": 0.0},
    }


@pytest.mark.parametrize("every", [EVERY, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", mostly_nightly(SHARED_NAMES, by_day={"tydi-ko", "hotpotqa-100"}))
def test_methods_rank_a_shared_collection_as_recorded(bench, shared_data, name, every):
    assert_as_recorded(ranking_rows(bench, shared_data, "tantivy", BY_NAME[name], every=every))


@pytest.mark.parametrize("name", mostly_nightly((each.name for each in TRAINING), by_day={"cacm"}))
def test_methods_rank_a_training_collection_as_recorded(bench, shared_data, name):
    folder = shared_data / "training" / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not present")

    assert_as_recorded(ranking_rows(bench, shared_data, "tantivy", BY_NAME[name]))


def row(method, **figures):
    return {"collection": "sample", "method": method, **figures}


def test_a_figure_that_moves_by_more_than_the_tolerance_has_drifted():
    recorded = [row("or", ndcg=0.8, success=0.9)]

    assert find_drift(recorded, [row("or", ndcg=0.8005, success=0.8995)]) == []
    drift = find_drift(recorded, [row("or", ndcg=0.8006)])
    assert drift == [
        "sample or.ndcg: 0.8 ≠ 0.8006",
        "sample or.success: 0.9 ≠ null",
    ]
    assert find_drift(recorded, [{"collection": "other", "ndcg": 0.8}])[0].startswith("other: ")


@pytest.mark.slow
def test_the_sample_and_the_held_out_questions_score_as_recorded_until_a_figure_drifts(tmp_path):
    scores = tmp_path / "scores.jsonl"
    of_sample, *others = RECORDED.read_text("utf-8").splitlines()
    drifted = json.dumps(json.loads(of_sample) | {"nDCG@10": 0.1234})
    scores.write_text("\n".join([drifted, *others]), "utf-8")
    arguments = ["--home", tmp_path / "home", "--data", tmp_path, "--scores", scores]

    first, renewing = (CliRunner().invoke(main, [*map(str, arguments), *more]) for more in ([], ["--renew"]))

    assert (first.exit_code, renewing.exit_code) == (1, 0)
    assert ", 1 figures differ" in first.stdout, first.stdout
    assert " 0.1234 " in first.stdout
    assert ": tydi-ko, tydi-en, scifact" in first.stderr
    assert_as_recorded(read_lines(scores))


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


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_nightly(WITH_STRATEGIES, by_day={*OWN, "cacm"}))
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


@pytest.mark.slow
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
