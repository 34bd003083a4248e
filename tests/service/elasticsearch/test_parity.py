"""A cluster ranks real collections as the embedded engine does, and as recorded.

Of a shared collection every twelfth question is asked. SHRAG_TEST_ALL_QUESTIONS=1 asks all and compares the
scores with those recorded, as `.ci/run nightly` does, which has all collections too.
"""

import os

import pytest

from base.progress import no_progress
from tests.needs import mostly_nightly
from tests.service.elasticsearch.own_prefix import environment_of, own_prefix
from tools.bench import benches
from tools.collections import BOTH, COLLECTIONS, OF_SAMPLE, RECALL
from tools.golden import RECORDED as SCORES
from tools.golden import drift_table, find_drift, ranking_row, read_rows
from tools.ranking import MEASURES, rank_by_engines

BY_NAME = {collection.name: collection for collection in COLLECTIONS}
STEP = 1 if os.environ.get("SHRAG_TEST_ALL_QUESTIONS") else 12  # read before the user's settings are hidden


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", mostly_nightly(BY_NAME, by_day={"tydi-ko"}))
def test_a_cluster_ranks_a_shared_collection_as_the_embedded_engine(
    elasticsearch, shared_data, tmp_path, monkeypatch, name
):
    rows = ranked_by_cluster(elasticsearch, shared_data, tmp_path, monkeypatch, BY_NAME[name], STEP)
    if STEP == 1:
        assert_scored_as_recorded(rows)


def test_a_cluster_ranks_the_sample_as_recorded(elasticsearch, tmp_path, monkeypatch):
    assert_scored_as_recorded(ranked_by_cluster(elasticsearch, tmp_path, tmp_path, monkeypatch, OF_SAMPLE))


def ranked_by_cluster(elasticsearch, data, tmp_path, monkeypatch, collection, step=1):
    """Return the cluster's rows, whose rankings begin as those of the embedded engine."""
    with own_prefix(elasticsearch) as settings_for:
        settings = settings_for(tmp_path)
        for variable, value in environment_of(settings).items():
            monkeypatch.setenv(variable, value)
        engines = benches(tmp_path, data, no_progress, settings.elasticsearch.prefix)
        ranked = list(rank_by_engines(engines, data, [collection], settings=["alone"], step=step))
    of_cluster = [row for row in ranked if row["engine"] == "elasticsearch"]
    assert min(row["overlap@10"] for row in of_cluster) >= 0.98
    assert min(row["rank_biased_overlap"] for row in of_cluster) >= 0.98
    return of_cluster


def assert_scored_as_recorded(of_cluster):
    rows = [
        ranking_row(
            row["collection"],
            "elasticsearch",
            row["method"],
            {name: value for name, value in row.items() if name in {*MEASURES, RECALL, BOTH}},
        )
        for row in of_cluster
    ]
    drift = find_drift(read_rows(SCORES), rows)
    assert not drift, "\n".join(drift_table(drift))
