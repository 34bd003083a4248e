"""The embedded engine keeps what every engine promises."""

import pytest

from indexer.errors import IndexDamaged
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.queries.filters import Filters
from tests.indexer.made_corpora import build, write_jsonl

pytest.register_assert_rewrite(
    *(f"tests.retriever.{name}_contract" for name in ("engine", "phrase", "reader"))
)

from tests.retriever.engine_contract import *  # noqa: E402, F403 - its tests and fixtures
from tests.retriever.phrase_contract import *  # noqa: E402, F403
from tests.retriever.reader_contract import *  # noqa: E402, F403


def test_the_first_passage_of_an_article_that_is_indexed_by_passages_is_its_paper(tmp_path):
    passages = [
        {"docid": f"7#{number}", "title": "Axolotl", "text": f"part {number}"} for number in range(30)
    ]
    build(tmp_path, write_jsonl(tmp_path / "a.jsonl", passages))
    with open_index(IndexerSettings(home=tmp_path), "papers") as index:
        papers = index.engine.papers(["7", "8", "7"])

    assert {doc_id: passage.passage_id for doc_id, passage in papers.items()} == {"7": "7#0"}


def test_an_error_over_a_file_that_was_changed_is_damage(tmp_path):
    build(tmp_path, write_jsonl(tmp_path / "a.jsonl", [{"id": "A", "title": "Axolotl"}]))
    with open_index(IndexerSettings(home=tmp_path), "papers") as index:
        path = tmp_path / "papers" / "versions" / "000001" / "glossary.sqlite"
        path.write_bytes(path.read_bytes() + b"more")
        with pytest.raises(IndexDamaged, match=r"glossary\.sqlite has [\d,]+ bytes instead of [\d,]+"):
            index.engine.counts([(3, Filters())])  # type: ignore[list-item]
