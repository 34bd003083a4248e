"""A paper's record is whole again, from whichever passage it was found by."""

import pytest

from retriever.papers.records import records_of_hits, records_of_papers
from tests.retriever.made_papers import PAPERS, found, index_of


def test_a_hit_by_any_passage_gives_the_record_that_was_indexed(index):
    given = {paper["id"]: paper for paper in PAPERS}

    result = found(index, "nonlinear regression hallucination", "or")

    assert "BOTH@en" in [hit.passage_id for hit in result.hits]
    for hit, record in zip(result.hits, records_of_hits(index, result.hits), strict=True):
        assert record.pop("doc_id") == hit.doc_id
        assert {"lang": record["lang"], **given[hit.doc_id]} == record


def test_papers_come_by_their_ids_in_the_order_asked_for_and_unknown_ones_are_left_out(index):
    records = records_of_papers(index, ["KG-EN", "none", "KG-KO", "KG-EN"])

    assert [record["title"] for record in records] == [PAPERS[1]["title"], PAPERS[0]["title"]]


@pytest.mark.parametrize("sentence", ["Banana plants number {} grow at length. ", "바나나 {}그루가 자랐다. "])
def test_a_long_abstract_that_was_chunked_is_whole(tmp_path, sentence):
    abstract = "".join(sentence.format(number) for number in range(3_000)).strip()
    paper = {"id": "LONG", "title": "Bananas", "abstract": abstract, "body": "Bodies are no abstracts."}

    with index_of(tmp_path / "home", paper) as index:
        (record,) = records_of_papers(index, ["LONG"])

    assert record["abstract"] == abstract
