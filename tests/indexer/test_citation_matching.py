"""Which paper a reference names: by id, DOI, or title with year and authors."""

import unicodedata

import pytest

from indexer.citation_graph.gathering import Gathered, labels
from indexer.citation_graph.graph import CitationGraph, write_citations
from indexer.corpora.papers import Paper
from indexer.files.stored import stored_passages

OLD = {
    "id": "OLD",
    "title": "Sea ice and its floes",
    "title2": "해빙과 그 부빙에 관하여",
    "year": 1990,
    "authors": ["Ada Kim", "김철수"],
    "doi": "https://doi.org/10.5555/Sea.1",
}


def add(gathered, record, unit="paper"):
    for passage in stored_passages(Paper.model_validate(record), unit):
        gathered.add(passage)


@pytest.fixture
def graph_of(tmp_path):
    opened: list[CitationGraph] = []

    def graph_of(*records):
        gathered = Gathered()
        for record in records:
            add(gathered, record)
        counts = write_citations(tmp_path / f"{len(opened)}.sqlite", gathered)
        opened.append(CitationGraph(tmp_path / f"{len(opened)}.sqlite"))
        return opened[-1], counts

    yield graph_of
    for graph in opened:
        graph.close()


def named(graph_of, *entries, others=(), references=()):
    record = {"id": "NEW", "references": list(references), "reference_list": list(entries)}
    graph, _ = graph_of(OLD, *others, record)
    return graph.references(["NEW"])["NEW"]


@pytest.mark.parametrize(
    "doi", ["10.5555/sea.1", "doi:10.5555/SEA.1", "https://dx.doi.org/10.5555/sea.1", " 10.5555/sea.1 "]
)
def test_a_reference_is_matched_by_its_doi(graph_of, doi):
    assert named(graph_of, {"doi": doi, "title": "Another title altogether"}) == ["OLD"]
    assert doi != doi.strip() or named(graph_of, references=[doi]) == ["OLD"]


@pytest.mark.parametrize(
    ("entry", "is_named"),
    [
        ({"title": "Sea-Ice, and its Floes.", "year": 1990}, True),
        ({"title": "해빙과 그 부빙에  관하여", "year": 1991}, True),
        ({"title": unicodedata.normalize("NFD", "해빙과 그 부빙에 관하여"), "year": "1989"}, True),
        ({"title": "Sea ice and its floes", "year": 1992}, False),
        ({"title": "Sea ice and its floes"}, False),  # neither year nor author
        ({"title": "Sea ice and its floes", "authors": ["Kim, A."]}, True),
        ({"title": "Sea ice and its floes", "year": 1990, "authors": ["A. Park"]}, False),
        ({"title": "Sea ice and its floes", "year": 1990, "authors": ["Park, B.", "김 철수"]}, True),
        ({"title": "Sea ice and its floes", "year": 1990, "authors": "Ada KIM"}, True),
        ({"title": "Sea ice", "year": 1990}, False),
        ({"title": "", "year": 1990}, False),
        ({"text": "Kim, A. (1990). Sea ice and its floes."}, False),
    ],
)
def test_a_reference_is_matched_by_title_with_year_and_authors(graph_of, entry, is_named):
    assert named(graph_of, entry) == (["OLD"] if is_named else [])


def test_a_short_title_names_no_paper(graph_of):
    preface = OLD | {"id": "PREFACE", "title": "Preface", "title2": "", "doi": ""}

    assert named(graph_of, {"title": "Preface", "year": 1990}, others=[preface]) == []


def test_what_may_be_several_papers_is_matched_to_none(graph_of):
    twin = OLD | {"id": "TWIN", "year": 1991}
    entries = [{"title": OLD["title"], "year": 1990}, {"title": OLD["title"], "year": 1989}]
    graph, counts = graph_of(
        OLD, twin, {"id": "NEW", "references": ["10.5555/sea.1", "OLD"], "reference_list": entries}
    )

    assert graph.references(["NEW"])["NEW"] == ["OLD"]  # by its id, and then by the year of the last
    assert (counts["ambiguous"], counts["duplicates"]) == (2, 1)


@pytest.mark.parametrize(
    "entries",
    [
        "a text",
        {"title": "Sea ice and its floes"},
        [None, 3, "a text", [], {}, {"title": ["a"], "year": [1990], "doi": 5, "authors": {"a": 1}}],
        [{"title": "", "year": True, "authors": [None, 3]}, {"doi": "10." * 10_000}],
        [{"title": "\x00\ufffe" * 5_000, "year": 10**30, "text": "\u202e"}],
    ],
)
def test_a_bibliography_of_any_shape_is_read(graph_of, entries):
    graph, counts = graph_of(OLD, {"id": "NEW", "reference_list": entries})

    assert counts["matched"] == 0
    assert counts["references"] == (len(entries) if isinstance(entries, list) else 0)
    assert len(graph.outcomes("NEW")) == counts["references"]
    assert len(labels({"reference_list": entries})) == counts["references"]
