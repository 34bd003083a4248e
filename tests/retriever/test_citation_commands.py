"""`shrag citations` and what `indexes show` says of references."""

import json

import pytest
from click.testing import CliRunner

from indexer.settings import IndexerSettings
from retriever.citation_commands import citations
from retriever.errors import UnknownPaper
from tests.retriever.made_papers import indexed

pytest.register_assert_rewrite("tests.retriever.papers.test_citations")

from tests.retriever.papers.test_citations import PAPERS  # noqa: E402


@pytest.fixture
def call(tmp_path, monkeypatch):
    indexed(IndexerSettings(home=tmp_path, workers=1), PAPERS).close()
    monkeypatch.setenv("SHRAG_HOME", str(tmp_path))

    def call(command, *arguments):
        return CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)

    return call


def test_both_directions_are_told(call):
    answer = json.loads(call(citations, "NEW", "none", "OLD", "--json").stdout)

    assert (answer["name"], answer["version"], answer["absent"]) == ("papers", 1, ["none"])
    new, old = answer["papers"]
    assert (new["doc_id"], new["title"]) == ("NEW", "Walrus haulouts")
    assert [paper["doc_id"] for paper in new["cites"]] == ["SURVEY", "OLD"]
    assert new["unknown"] == ["A book that nobody has, 1950."]
    assert (new["reference_count"], new["cites_count"], new["citing_count"]) == (3, 2, 1)
    assert [paper["doc_id"] for paper in new["cited_by"]] == ["SURVEY"]
    assert (old["cites"], old["citing_count"]) == ([], 2)


def test_a_person_reads_lists_of_the_length_asked_for(call):
    shown = call(citations, "NEW", "-k", "1").stdout.splitlines()

    assert shown == [
        "NEW  Walrus haulouts",
        "  3 references, 2 to papers of the index",
        "    SURVEY  Counting from the air (2000)",
        "    A book that nobody has, 1950. (not in the index)",
        "  cited by 1 paper",
        "    SURVEY  Counting from the air (2000)",
    ]


@pytest.mark.parametrize("doc_id", ["none", "a" * 10_000, "\ud800", "\x1b[31m"])
def test_papers_that_are_not_there_are_told_in_a_line(call, doc_id):
    with pytest.raises(UnknownPaper, match="contains none of these papers") as told:
        call(citations, doc_id)
    assert len(str(told.value)) < 400
