"""Which paper a reference names: by id, DOI, or title with year and authors."""

import random
import unicodedata

import pytest

from indexer.citation_graph.gathering import Gathered, labels
from indexer.citation_graph.graph import CitationCounts, CitationGraph, write_citations
from indexer.corpora.papers import Paper
from indexer.errors import IndexClosed, IndexDamaged
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
    """Return which papers a paper with such references names."""
    record = {"id": "NEW", "references": list(references), "reference_list": list(entries)}
    graph, _ = graph_of(OLD, *others, record)
    return graph.references(["NEW"])["NEW"]


def test_papers_are_linked_in_both_directions(graph_of):
    papers = {"A": ["B", "elsewhere", "C"], "B": ["C"], "C": [], "ALONE": []}
    graph, counts = graph_of(*({"id": name, "references": cited} for name, cited in papers.items()))

    asked = ["C", "A", "ALONE", "none"]
    assert graph.references(asked) == {"C": [], "A": ["B", "C"], "ALONE": [], "none": []}
    assert graph.cited_by(asked) == {"C": ["A", "B"], "A": [], "ALONE": [], "none": []}
    assert graph.references(["A"], limit=1) == {"A": ["B"]}
    assert graph.cited_by(["C"], limit=1) == {"C": ["A"]}
    expected = {"A": CitationCounts(3, 2, 0), "C": CitationCounts(0, 0, 2), "none": CitationCounts()}
    assert graph.counts(list(expected)) == expected
    none = {"duplicates": 0, "itself": 0, "ambiguous": 0}
    assert counts == {"references": 4, "citing": 2, "matched": 3} | none


def test_a_paper_that_names_itself_or_another_twice_is_counted_and_not_linked(graph_of):
    graph, counts = graph_of(
        {"id": "A", "references": ["A", "B", "B", "B"]}, {"id": "B", "references": ["A"]}
    )

    assert graph.references(["A", "B"]) == {"A": ["B"], "B": ["A"]}
    assert graph.counts(["A"])["A"] == CitationCounts(references=4, cites=1, cited_by=1)
    assert (counts["matched"], counts["itself"], counts["duplicates"]) == (2, 1, 2)


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


def test_thousands_of_references_of_one_title_end_in_time(graph_of):
    known = {"title": "Foreword to the volume", "year": 2000, "authors": ["Ada Kim", "Bo Lee"] * 20}
    ids = [f"P{number % 500}" for number in range(5_000)]
    papers = [known | {"id": name} for name in ids[:500]]
    graph, counts = graph_of(*papers, {"id": "NEW", "references": ids, "reference_list": [known] * 5_000})

    assert (counts["matched"], counts["duplicates"], counts["ambiguous"]) == (500, 4_500, 5_000)
    assert graph.references(["NEW"])["NEW"] == ids[:500]


def test_a_graph_depends_on_the_records_and_not_on_their_order(tmp_path):
    records = [
        OLD
        | {
            "id": f"논문-{number}",
            "title": f"Paper number {number}",
            "doi": f"10.5555/{number}",
            "references": [f"논문-{number // 2}", f"10.5555/{number // 3}", "absent"],
            "reference_list": [{"title": f"paper NUMBER {number // 5}", "year": 1991}],
        }
        for number in range(300)
    ]
    written = set()
    for seed in range(3):
        random.Random(seed).shuffle(records)
        gathered = Gathered()
        for record in records:
            add(gathered, record)
        write_citations(tmp_path / "graph", gathered)
        written.add((tmp_path / "graph").read_bytes())

    assert len(written) == 1


def test_an_article_of_several_records_is_one_paper(graph_of, tmp_path):
    gathered = Gathered()
    for number, cited in ((0, "B"), (1, "C")):
        record = {"id": f"A#{number}", "text": "Words.", "references": [cited, "B"]}
        add(gathered, record, "passage")
    for name in ("B", "C"):
        add(gathered, {"id": f"{name}#0", "text": "Words."}, "passage")
    write_citations(tmp_path / "graph", gathered)
    graph = CitationGraph(tmp_path / "graph")

    assert graph.references(["A"]) == {"A": ["B", "C"]}
    assert graph.cited_by(["B", "C"]) == {"B": ["A"], "C": ["A"]}
    graph.close()
    with pytest.raises(IndexClosed):
        graph.references(["A"])


def test_a_broken_graph_is_damage(tmp_path):
    path = tmp_path / "graph"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(IndexDamaged, match="citation graph"):
        CitationGraph(path)
    with pytest.raises(FileNotFoundError):
        CitationGraph(tmp_path / "none")
