"""Methods and answers score what is recorded in tests/golden/scores.jsonl.

After a change that is meant to change them: python -m tools.golden --home DIR --renew
"""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from base.progress import no_progress
from tests.conftest import SHARED
from tests.needs import mostly_nightly
from tools.bench import Bench
from tools.collections import COLLECTIONS, TRAINING, read_lines
from tools.golden import (
    EVERY,
    RECORDED,
    drift_table,
    figures_by_kind,
    find_drift,
    main,
    ranking_rows,
)

BY_NAME = {collection.name: collection for collection in (*COLLECTIONS, *TRAINING)}
SHARED_NAMES = [collection.name for collection in COLLECTIONS]


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    """Keep the collections' indexes of the session; each is built when it is first opened."""
    return Bench(tmp_path_factory.mktemp("collections"), SHARED / "data", no_progress)


def assert_as_recorded(measured):
    drift = find_drift(read_lines(RECORDED), measured)
    assert not drift, "\n".join(drift_table(drift))


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
        ("sample or", "ndcg", "0.8000", "0.8006", "+0.0006"),
        ("sample or", "success", "0.9000", "–", ""),
    ]
    assert find_drift(recorded, [{"collection": "other", "ndcg": 0.8}])[0][0] == "other"


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
