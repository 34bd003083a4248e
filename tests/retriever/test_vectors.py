"""The contract of vectors on the embedded engine, and what only it can do."""

import pytest

from indexer.ingest import encode_passages
from retriever.queries.boolean import Range
from tests.retriever.vector_contract import *  # noqa: F403
from tests.retriever.vector_contract import PAPERS, build, nearest, with_encoder


def test_another_encoder_encodes_all_passages_anew(built, server):
    other = with_encoder(built, server, model="other-counts")

    manifest, encoded = encode_passages("papers", other)

    assert encoded == 6
    assert manifest.vectors
    assert manifest.vectors["fingerprint"]["model"] == "other-counts"
    assert nearest(other, "axolotl", 1) == [("AXOLOTL", 1.0)]


@pytest.mark.parametrize("few", [1, 5_000])
def test_filters_are_satisfied_whether_they_let_few_or_many_through(settings, tmp_path, monkeypatch, few):
    monkeypatch.setattr("retriever.engines.nearest.FEW", few)
    years = [{"id": f"Y{number:03}", "title": "rice", "year": 2000 + number % 2} for number in range(100)]
    build(settings, [*years, *PAPERS], tmp_path)

    found = nearest(settings, "axolotl", 3, years=Range(2000, 2021, "year"))

    assert [name for name, _ in found] == ["AXOLOTL", "BOTH", "Y000"]
