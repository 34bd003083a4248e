"""Methods and answers score what is recorded in tests/golden/scores.jsonl.

After a change that is meant to change them: python -m eval.experiments.golden --home DIR --renew
"""

import pytest
from click.testing import CliRunner

from eval.experiments.golden import (
    EVERY,
    RECORDED,
    SAMPLE_COLLECTION,
    answer_rows,
    drift_table,
    find_drift,
    main,
    ranking_rows,
    read_rows,
    sample_rows,
)
from eval.experiments.ranking import COLLECTIONS, Bench
from eval.experiments.rows import Row
from indexer.requests import no_progress
from tests.conftest import SHARED

BY_NAME = {collection.name: collection for collection in COLLECTIONS}


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    """Keep the collections' indexes of the session; each is built when it is first opened."""
    return Bench(tmp_path_factory.mktemp("collections"), SHARED / "data", no_progress)


def assert_as_recorded(measured):
    drift = find_drift(read_rows(RECORDED), measured)
    assert not drift, "\n" + drift_table(drift)


def test_methods_rank_the_sample_as_recorded(bench):
    assert_as_recorded(ranking_rows(bench, SHARED / "data", "tantivy", SAMPLE_COLLECTION))


def test_the_sample_is_answered_and_its_claims_are_checked_as_recorded(bench):
    assert_as_recorded(sample_rows(bench))


@pytest.mark.parametrize("name", BY_NAME)
def test_methods_rank_a_shared_collection_as_recorded(bench, shared_data, name):
    assert_as_recorded(ranking_rows(bench, shared_data, "tantivy", BY_NAME[name]))


@pytest.mark.parametrize("name", ["tydi-ko", "tydi-en"])
def test_answers_hold_and_abstain_as_recorded(bench, shared_data, name):
    assert_as_recorded(answer_rows(bench, shared_data, BY_NAME[name], no_progress, every=EVERY))


def row(method, **figures):
    return Row({"collection": "sample", "method": method}, figures)


def test_a_figure_that_moves_by_more_than_the_tolerance_has_drifted():
    recorded = [row("or", ndcg=0.8, success=0.9)]

    assert find_drift(recorded, [row("or", ndcg=0.8005, success=0.8995)]) == []
    (drift,) = find_drift(recorded, [row("or", ndcg=0.8006, success=0.9)])
    assert (drift.figure, drift.recorded, drift.measured) == ("ndcg", 0.8, 0.8006)


def test_the_command_tells_drift_by_its_exit_code_until_it_is_recorded(tmp_path):
    arguments = ["--home", tmp_path / "home", "--data", tmp_path, "--scores", tmp_path / "scores.jsonl"]

    first, renewing, again = (
        CliRunner().invoke(main, [*map(str, arguments), *more]) for more in ([], ["--renew"], [])
    )

    assert [first.exit_code, renewing.exit_code, again.exit_code] == [1, 0, 0]
    assert "left out: tydi-ko, tydi-en, scifact" in first.stderr
