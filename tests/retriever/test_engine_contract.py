"""The embedded engine keeps what every engine promises."""

import asyncio

import pytest

from indexer.settings import IndexerSettings
from retriever.index import open_index
from tests.indexer.corpora import build, write_jsonl

pytest.register_assert_rewrite("tests.retriever.engine_contract", "tests.retriever.phrase_contract")

from tests.retriever.engine_contract import *  # noqa: E402, F403 - its tests and fixtures
from tests.retriever.phrase_contract import *  # noqa: E402, F403


@pytest.fixture(scope="module")
def settings_for():
    return lambda home: IndexerSettings(home=home, workers=1)


def test_of_more_terms_than_may_be_looked_through_the_rare_ones_of_that_length_are_kept(tmp_path):
    words = [f"p{'x' * length}" for length in range(9, 60)]
    text = " ".join(words) + " pangolin"
    build(
        tmp_path,
        write_jsonl(
            tmp_path / "a.jsonl",
            [{"id": "A", "abstract": text}]
            + [{"id": f"B{number}", "abstract": " ".join(words)} for number in range(3)],
        ),
    )
    with open_index(IndexerSettings(home=tmp_path), "papers") as index:
        found = asyncio.run(index.engine.terms_near("pangolim", 5))

    assert ("pangolin", 1) in found
    assert len(found) <= 5


def test_the_first_passage_of_an_article_that_is_indexed_by_passages_is_its_paper(tmp_path):
    passages = [
        {"docid": f"7#{number}", "title": "Axolotl", "text": f"part {number}"} for number in range(30)
    ]
    build(tmp_path, write_jsonl(tmp_path / "a.jsonl", passages))
    with open_index(IndexerSettings(home=tmp_path), "papers") as index:
        papers = asyncio.run(index.engine.papers(["7", "8", "7"]))

    assert {doc_id: passage.passage_id for doc_id, passage in papers.items()} == {"7": "7#0"}
