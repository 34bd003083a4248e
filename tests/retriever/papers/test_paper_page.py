"""The contract of a paper's page on the embedded engine."""

import pytest

from indexer.settings import IndexerSettings
from retriever.papers.linked import NamedPaper

pytest.register_assert_rewrite("tests.retriever.paper_page_contract")

from tests.retriever.paper_page_contract import *  # noqa: E402, F403 - its tests and fixtures


@pytest.fixture(scope="module")
def settings_for():
    return lambda home: IndexerSettings(home=home, workers=1)


def test_a_list_names_twenty_authors_of_a_paper_and_says_how_many_there_are():
    authors = [f"Author {number}" for number in range(10_000)]
    listed = NamedPaper("crowd", {"title": "By many", "authors": authors}).as_record()
    assert (listed["authors"], listed["author_count"]) == (authors[:20], 10_000)
    assert "author_count" not in NamedPaper("few", {"authors": authors[:20]}).as_record()
