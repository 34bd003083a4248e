"""What the citation graph of an index promises on every engine: tests for whatever `settings_for` sets.

tests/service/elasticsearch imports all of this; `settings_for` makes settings of the engine for a home.
"""

import asyncio
from typing import Any

import pytest

from indexer.citation_graph.graph import CitationCounts
from indexer.ingest import IngestRequest, build_index, remove_records
from indexer.versions.store.build_folder import CITATIONS
from indexer.versions.store.engines import open_store
from retriever.index import open_index
from retriever.papers.linked import (
    citation_counts,
    cited_by,
    named_references,
    references,
)
from retriever.sources.kinds.index import IndexSource
from tests.indexer.made_corpora import write_jsonl
from tests.retriever.made_papers import indexed

NAME = "cited"
PAPERS: list[dict[str, Any]] = [
    {"id": "OLD", "title": "Sea ice and its floes", "abstract": "Ice floes drift.", "year": 1990},
    {
        "id": "SURVEY",
        "title": "Counting from the air",
        "abstract": "Counts were made from aeroplanes.",
        "doi": "10.5555/air",
        "year": 2000,
        "references": ["OLD", "absent", "NEW", "SURVEY", "OLD"],
    },
    {
        "id": "NEW",
        "title": "Walrus haulouts",
        "abstract": "Walrus haulouts on ice floes were counted.",
        "references": ["https://doi.org/10.5555/AIR"],
        "reference_list": [
            {"text": "Sea ice and its floes, 1991.", "title": "Sea ice and its floes.", "year": 1991},
            {"text": "A book that nobody has, 1950."},
        ],
    },
    {"id": "해마", "title": "Sea horses", "abstract": "No relation.", "year": 2001},
]
MORE = [
    {"id": "LATER", "title": "Walrus tusks", "abstract": "Tusks grow.", "references": ["NEW", "해마"]},
    {"id": "SURVEY", "title": "Counting from the air", "abstract": "Anew.", "references": ["absent"]},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory, settings_for):
    with indexed(settings_for(tmp_path_factory.mktemp("cited")), PAPERS, NAME) as index:
        yield index


def links(index):
    """Return what each paper refers to, and is referred to by."""
    ids = [paper["id"] for paper in (*PAPERS, *MORE)]
    return references(index, ids), cited_by(index, ids)


def graph_file(settings, name):
    """Return the bytes of the graph of the version that answers."""
    with open_store(settings, name) as store:
        return store.companion_path(store.manifest(), CITATIONS).read_bytes()


def counts_told(settings, name):
    with open_store(settings, name) as store:
        return store.manifest().citations


def index_more(settings, name, papers, **options):
    path = write_jsonl(settings.home / "more.jsonl", papers)
    return build_index(IngestRequest(name, [str(path)], **options), settings)


def test_papers_tell_what_they_cite_and_what_cites_them(index):
    asked = ["NEW", "SURVEY", "해마", "none"]

    assert references(index, asked) == {
        "NEW": ["SURVEY", "OLD"],
        "SURVEY": ["OLD", "NEW"],
        "해마": [],
        "none": [],
    }
    assert cited_by(index, ["OLD", "NEW", "none"]) == {
        "OLD": ["NEW", "SURVEY"],
        "NEW": ["SURVEY"],
        "none": [],
    }
    assert references(index, ["NEW"], 1) == {"NEW": ["SURVEY"]}
    assert cited_by(index, ["OLD"], 1) == {"OLD": ["NEW"]}
    assert citation_counts(index, ["SURVEY", "OLD"]) == {
        "SURVEY": CitationCounts(references=5, cites=2, cited_by=1),
        "OLD": CitationCounts(references=0, cites=0, cited_by=2),
    }
    counts = {"references": 8, "citing": 2, "matched": 4, "duplicates": 1, "itself": 1, "ambiguous": 0}
    assert index.manifest.citations == counts


def test_references_are_named_in_the_order_of_the_record(index):
    firsts = index.engine.papers(["NEW", "SURVEY"])

    assert named_references(index, firsts["NEW"]) == [
        ("https://doi.org/10.5555/AIR", "SURVEY"),
        ("Sea ice and its floes.", "OLD"),
        ("A book that nobody has, 1950.", None),
    ]
    assert named_references(index, firsts["SURVEY"]) == [
        ("OLD", "OLD"),
        ("absent", None),
        ("NEW", "NEW"),
    ]


def test_a_source_that_is_an_index_follows_the_graph(index):
    source = IndexSource(NAME, index)
    cited = asyncio.run(source.references(["NEW", "해마"], 10))
    citing = asyncio.run(source.citing(["OLD"], 10))

    assert {name: [each.paper.title for each in of] for name, of in cited.papers.items()} == {
        "NEW": ["Counting from the air", "Sea ice and its floes"],
        "해마": [],
    }
    assert [each.paper.id for each in citing.papers["OLD"]] == ["NEW", "SURVEY"]
    assert max(cited.requests, citing.requests) <= 2
    assert asyncio.run(source.citation_counts(["OLD", "해마", "none"])) == {"OLD": 2, "해마": 0, "none": 0}


def test_updates_removals_and_rollbacks_keep_the_graph_of_their_records(tmp_path, settings_for):
    settings = settings_for(tmp_path)
    indexed(settings, PAPERS, "updated").close()
    first = graph_file(settings, "updated")
    index_more(settings, "updated", MORE)
    updated, told = graph_file(settings, "updated"), counts_told(settings, "updated")
    with open_index(settings, "updated") as index:
        cites, citing = links(index)
    assert (cites["SURVEY"], cites["LATER"]) == ([], ["NEW", "해마"])
    assert cites["NEW"] == ["OLD"]  # the survey has no DOI any more
    assert (citing["OLD"], citing["NEW"], citing["해마"]) == (["NEW"], ["LATER"], ["LATER"])

    remove_records("updated", ["OLD"], settings)
    with open_index(settings, "updated") as index:
        cites, citing = links(index)
    assert (cites["NEW"], citing["OLD"]) == ([], [])
    with open_store(settings, "updated") as store:
        store.rollback()
    assert graph_file(settings, "updated") == updated
    with open_store(settings, "updated") as store:
        store.rollback()
    assert graph_file(settings, "updated") == first

    index_more(settings, "updated", [*PAPERS[:1], *PAPERS[2:], *MORE], rebuild=True)
    assert (graph_file(settings, "updated"), counts_told(settings, "updated")) == (updated, told)
