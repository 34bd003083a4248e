"""What the citation graph of an index promises on every engine: tests for whatever `settings_for` sets.

tests/service/elasticsearch imports all of this; `settings_for` makes settings of the engine for a home.
"""

import asyncio
from typing import Any

import pytest

from indexer.citation_graph.graph import CitationCounts
from retriever.papers.linked import (
    citation_counts,
    cited_by,
    named_references,
    references,
)
from retriever.sources.kinds.index import IndexSource
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


@pytest.fixture(scope="module")
def index(tmp_path_factory, settings_for):
    with indexed(settings_for(tmp_path_factory.mktemp("cited")), PAPERS, NAME) as index:
        yield index


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
    cited = asyncio.run(source.linked("reference", ["NEW", "해마"], 10))
    citing = asyncio.run(source.linked("citing", ["OLD"], 10))

    assert {name: [each.title for each in of] for name, of in cited.papers.items()} == {
        "NEW": ["Counting from the air", "Sea ice and its floes"],
        "해마": [],
    }
    assert [each.id for each in citing.papers["OLD"]] == ["NEW", "SURVEY"]
    assert max(cited.requests, citing.requests) <= 2
    assert asyncio.run(source.citation_counts(["OLD", "해마", "none"])) == {"OLD": 2, "해마": 0, "none": 0}
