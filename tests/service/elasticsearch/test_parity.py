"""A cluster ranks real collections as the embedded engine does, and as recorded."""

import pytest

from eval.experiments.engines import MEASURES, benches, run_experiment
from eval.experiments.golden import RECORDED as SCORES
from eval.experiments.golden import SAMPLE_COLLECTION, drift_table, find_drift, ranking_row, read_rows
from eval.experiments.ranking import COLLECTIONS
from indexer.requests import no_progress
from tests.service.elasticsearch.own_prefix import environment_of, own_prefix

BY_NAME = {collection.name: collection for collection in COLLECTIONS}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", BY_NAME)
def test_a_cluster_ranks_a_shared_collection_as_recorded(
    elasticsearch, shared_data, tmp_path, monkeypatch, name
):
    assert_ranked_as_recorded(elasticsearch, shared_data, tmp_path, monkeypatch, BY_NAME[name])


def test_a_cluster_ranks_the_sample_as_recorded(elasticsearch, tmp_path, monkeypatch):
    assert_ranked_as_recorded(elasticsearch, tmp_path, tmp_path, monkeypatch, SAMPLE_COLLECTION)


def assert_ranked_as_recorded(elasticsearch, data, tmp_path, monkeypatch, collection):
    """The scores are the recorded ones, and the first tens those of the embedded engine."""
    with own_prefix(elasticsearch) as settings_for:
        settings = settings_for(tmp_path)
        for variable, value in environment_of(settings).items():
            monkeypatch.setenv(variable, value)
        engines = benches(tmp_path, data, no_progress, settings.elasticsearch.prefix)
        ranked = run_experiment(engines, data, [collection], settings=["alone"])

    of_cluster = [row for row in ranked if row.subject["engine"] == "elasticsearch"]
    rows = [
        ranking_row(
            row.subject["collection"],
            "elasticsearch",
            row.subject["method"],
            {measure: row.figures[measure] for measure in MEASURES},
        )
        for row in of_cluster
    ]
    drift = find_drift(read_rows(SCORES), rows)
    assert not drift, "\n".join(drift_table(drift))
    assert min(row.figures["overlap@10"] for row in of_cluster) >= 0.98
