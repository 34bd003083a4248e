"""Methods and answers score what is recorded in tests/golden/scores.jsonl.

After a change that is meant to change them: python -m eval.experiments.golden --home DIR --renew
"""

import pytest
from click.testing import CliRunner

from eval.experiments.golden import (
    EVERY,
    RECORDED,
    SAMPLE_COLLECTION,
    Row,
    answer_rows,
    drift_table,
    find_drift,
    main,
    ranking_rows,
    read_rows,
    renewed,
    rows_about,
    rows_to_measure,
    sample_rows,
)
from eval.experiments.ranking import COLLECTIONS, Bench
from indexer.requests import no_progress
from tests.conftest import SHARED

BY_NAME = {collection.name: collection for collection in COLLECTIONS}


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    """Keep the collections' indexes of the session; each is built when it is first opened."""
    return Bench(tmp_path_factory.mktemp("collections"), SHARED / "data", no_progress)


def assert_as_recorded(measured, **subject):
    """Compare with all recorded rows about the subject, so that none may be missing either."""
    drift = find_drift(rows_about(read_rows(RECORDED), **subject), measured)
    assert not drift, "\n" + drift_table(drift)


def test_methods_rank_the_sample_as_recorded(bench):
    rows = ranking_rows(bench, SHARED / "data", "tantivy", SAMPLE_COLLECTION)
    assert_as_recorded(rows, table="ranking", collection="sample", engine="tantivy")


def test_the_sample_is_answered_and_its_claims_are_checked_as_recorded(bench):
    assert_as_recorded(sample_rows(bench), table="sample")


@pytest.mark.parametrize("name", BY_NAME)
def test_methods_rank_a_shared_collection_as_recorded(bench, shared_data, name):
    rows = ranking_rows(bench, shared_data, "tantivy", BY_NAME[name])
    assert_as_recorded(rows, table="ranking", collection=name, engine="tantivy")


@pytest.mark.parametrize("name", ["tydi-ko", "tydi-en"])
def test_answers_hold_and_abstain_as_recorded(bench, shared_data, name):
    rows = answer_rows(bench, shared_data, BY_NAME[name], no_progress, every=EVERY)
    assert_as_recorded(rows, table="answers", collection=name, questions=f"every {EVERY}")


def row(method, **figures):
    return Row({"collection": "sample", "method": method}, figures)


def test_a_figure_that_moves_by_more_than_the_tolerance_has_drifted():
    recorded = [row("or", ndcg=0.8, success=0.9)]

    assert find_drift(recorded, [row("or", ndcg=0.8005, success=0.8995)]) == []
    (drift,) = find_drift(recorded, [row("or", ndcg=0.8006, success=0.9)])
    assert (drift.figure, drift.recorded, drift.measured) == ("ndcg", 0.8, 0.8006)


def test_what_is_not_recorded_or_not_measured_has_drifted():
    drift = find_drift([row("or", ndcg=0.8)], [row("or", map=0.5), row("paper", ndcg=0.7)])

    assert [(found.figure, found.recorded, found.measured) for found in drift] == [
        ("ndcg", 0.8, None),
        ("map", None, 0.5),
        ("ndcg", None, 0.7),
    ]


def test_a_recorded_method_that_is_not_measured_any_more_has_drifted():
    recorded = [row("or", ndcg=0.8), row("paper", ndcg=0.7)]

    (drift,) = find_drift(recorded, [row("or", ndcg=0.8)])
    assert (drift.subject["method"], drift.recorded, drift.measured) == ("paper", 0.7, None)
    assert len(find_drift(recorded, [])) == 2


def test_what_another_engine_or_an_absent_collection_scored_need_not_be_measured():
    ranked = [
        Row({"table": "ranking", "collection": name, "engine": engine, "method": "or"}, {"ndcg": 0.8})
        for name in ("sample", "scifact")
        for engine in ("tantivy", "elasticsearch")
    ]
    claims = Row({"table": "sample", "of": "claims", "kind": "within"}, {"supported": 50})
    recorded = [*ranked, claims]

    assert rows_to_measure(recorded, "tantivy", [SAMPLE_COLLECTION]) == [ranked[0], claims]
    assert rows_to_measure(recorded, "elasticsearch", [BY_NAME["scifact"]]) == [ranked[1], ranked[3]]


def test_renewing_keeps_the_rows_that_were_not_measured():
    recorded = [row("or", ndcg=0.8), row("paper", ndcg=0.7)]

    assert renewed(recorded, [row("paper", ndcg=0.75), row("shrag", ndcg=0.9)]) == [
        row("or", ndcg=0.8),
        row("paper", ndcg=0.75),
        row("shrag", ndcg=0.9),
    ]


def test_renewing_drops_what_does_not_come_out_any_more():
    recorded = [row("or", ndcg=0.8), row("gone", ndcg=0.7), row("elsewhere", ndcg=0.6)]

    kept = renewed(recorded, [row("or", ndcg=0.8)], compared=recorded[:2])
    assert kept == [row("or", ndcg=0.8), row("elsewhere", ndcg=0.6)]


def test_the_command_tells_drift_by_its_exit_code_until_it_is_recorded(tmp_path):
    arguments = ["--home", tmp_path / "home", "--data", tmp_path, "--scores", tmp_path / "scores.jsonl"]

    first, renewing, again = (
        CliRunner().invoke(main, [*map(str, arguments), *more]) for more in ([], ["--renew"], [])
    )

    assert [first.exit_code, renewing.exit_code, again.exit_code] == [1, 0, 0]
    assert "left out: tydi-ko, tydi-en, scifact" in first.stderr
