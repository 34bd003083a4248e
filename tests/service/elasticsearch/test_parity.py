"""A cluster ranks real collections as the embedded engine does, and as recorded.

Of a shared collection every twelfth question is asked. SHRAG_TEST_ALL_QUESTIONS=1 asks all and compares the
scores with those recorded, as `.ci/run nightly` does, which has all collections too.
"""

import os

import pytest

from base.progress import no_progress
from eval.statistics import mean_overlap, mean_rank_biased_overlap
from tests.needs import mostly_nightly
from tests.service.elasticsearch.cluster import environment_of, own_prefix
from tools.bench import METHODS, bench_of
from tools.collections import COLLECTIONS, OF_SAMPLE, questions, read_lines
from tools.golden import RECORDED as SCORES
from tools.golden import find_drift, ranking_rows

BY_NAME = {collection.name: collection for collection in COLLECTIONS}
STEP = 1 if os.environ.get("SHRAG_TEST_ALL_QUESTIONS") else 12  # read before the user's settings are hidden


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", mostly_nightly(BY_NAME, by_day={"tydi-ko"}))
def test_a_cluster_ranks_a_shared_collection_as_the_embedded_engine(
    elasticsearch, shared_data, tmp_path, monkeypatch, name
):
    assert_ranked_alike(elasticsearch, shared_data, tmp_path, monkeypatch, BY_NAME[name], STEP)


def test_a_cluster_ranks_the_sample_as_recorded(elasticsearch, tmp_path, monkeypatch):
    assert_ranked_alike(elasticsearch, tmp_path, tmp_path, monkeypatch, OF_SAMPLE, 1)


def assert_ranked_alike(elasticsearch, data, tmp_path, monkeypatch, collection, step):
    """Compare the rankings of both engines, and with all questions the cluster's scores with the record."""
    topics, _ = questions(data, collection, "dev", step)
    with own_prefix(elasticsearch) as settings_for:
        settings = settings_for(tmp_path)
        for variable, value in environment_of(settings).items():
            monkeypatch.setenv(variable, value)
        prefix = settings.elasticsearch.prefix
        cluster, embedded = (
            bench_of(engine, tmp_path, data, no_progress, prefix) for engine in ("elasticsearch", "tantivy")
        )
        with cluster.open(collection) as there, embedded.open(collection) as here:
            for method in METHODS:
                runs = embedded.rank(here, topics, method), cluster.rank(there, topics, method)
                assert mean_overlap(*runs, 10) >= 0.98
                assert mean_rank_biased_overlap(*runs) >= 0.98
        if step == 1:
            rows = ranking_rows(cluster, data, "elasticsearch", collection)
            drift = find_drift(read_lines(SCORES), [row for row in rows if row["method"] in METHODS])
            assert not drift, "\n".join(drift)
