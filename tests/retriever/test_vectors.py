"""The contract of vectors on the embedded engine, and what only it can do."""

import sys

import pytest

from indexer.ingest import encode_passages
from indexer.settings import IndexerSettings
from indexer.versions.store.engines import open_store
from retriever.queries.boolean import Range
from tests.retriever.vector_contract import *  # noqa: F403
from tests.retriever.vector_contract import PAPERS, build, found, ids, nearest, with_encoder


@pytest.fixture(scope="session")
def settings_for():
    return lambda home: IndexerSettings(home=home, workers=1)


def test_another_encoder_encodes_all_passages_anew(settings, server, tmp_path):
    build(settings, PAPERS, tmp_path)
    other = with_encoder(settings, server, model="other-counts")

    manifest, encoded = encode_passages("papers", other)

    assert encoded == 6
    assert manifest.vectors
    assert manifest.vectors["fingerprint"]["model"] == "other-counts"
    assert nearest(other, "axolotl", 1) == [("AXOLOTL", 1.0)]


def test_a_build_killed_behind_its_vectors_ends_as_if_nothing_had_been(settings, tmp_path, monkeypatch):
    with monkeypatch.context() as killed:
        killed.setattr("indexer.building.summary.CorpusSummary.complete", lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            build(settings, PAPERS, tmp_path)
    manifest = build(settings, PAPERS, tmp_path)

    assert manifest.vector_count == 6
    with open_store(settings, "papers") as folder:
        rows = folder.local.version_path(1) / "vectors" / "000000000000" / "vectors"
        assert rows.stat().st_size == 6 * 8 * 4
    assert nearest(settings, "pangolin", 2)[0] == ("PANGOLIN", 1.0)


@pytest.mark.parametrize("few", [1, 5_000])
def test_filters_are_satisfied_whether_they_let_few_or_many_through(settings, tmp_path, monkeypatch, few):
    monkeypatch.setattr("retriever.engines.tantivy_search.FEW", few)
    years = [{"id": f"Y{number:03}", "title": "rice", "year": 2000 + number % 2} for number in range(100)]
    build(settings, [*years, *PAPERS], tmp_path)

    found = nearest(settings, "axolotl", 3, years=Range(2000, 2021, "year"))

    assert [name for name, _ in found] == ["AXOLOTL", "BOTH", "Y000"]


@pytest.mark.parametrize("refused", [False, True])
def test_what_a_second_search_brings_is_ordered_with_the_others(settings, server, tmp_path, refused):
    papers = [
        {"id": "NAMED", "title": "Silberberg Tower", "abstract": "Built on a hill by Marta Quillon."},
        {"id": "ANSWER", "title": "Marta Quillon", "abstract": "Marta Quillon drew maps."},
        {"id": "BESIDE", "title": "Income", "abstract": "The profession has an income."},
        *({"id": f"F{number:03}", "title": f"F{number}", "abstract": "rice"} for number in range(120)),
    ]
    build(settings, papers, tmp_path)
    if refused:
        server.refused = server.left = 0

    result = found(settings, "the profession of the builder of Silberberg Tower", method="shrag", k=5)

    assert bool(result.applied.vectors) is not refused
    assert {"NAMED", "ANSWER"} <= set(ids(result)[:3])
    [answer] = [hit for hit in result.hits if hit.passage_id == "ANSWER"]
    assert "bridges" in answer.found_by
