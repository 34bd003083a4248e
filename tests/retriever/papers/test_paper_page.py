"""What a paper's page promises on every engine: tests for whatever `settings_for` of a module sets.

tests/service/elasticsearch imports all of this; `settings_for` makes settings of the engine for a home.
"""

from typing import Any

import pytest

from retriever.errors import UnknownPaper, UnknownPassage
from retriever.papers.page import paper_page, passage
from tests.indexer.embedding_server import embedding_server
from tests.retriever.made_papers import contract_fixture, indexed
from tests.retriever.vector_contract import with_encoder

BODY = " ".join(f"Sentence number {n} tells of walrus tusks and of ice floes at length." for n in range(60))
PAPERS: list[dict[str, Any]] = [
    {
        "id": "WALRUS",
        "title": "Walrus haulouts",
        "abstract": "Walrus haulouts on ice floes were counted from the air.",
        "title2": "바다코끼리의 휴식지",
        "abstract2": "얼음 위 바다코끼리를 항공 사진으로 세었다.",
        "body": BODY,
        "authors": ["Ada Kim"],
        "year": 2020,
        "journal": "Polar Notes",
        "references": ["elsewhere-2", "OLD", "elsewhere-1", "OLDER"],
        "own": {"kept": True},
    },
    {"id": "OLD", "title": "Sea ice", "abstract": "Ice floes drift.", "year": 1990},
    {"id": "OLDER", "title": "Air surveys", "abstract": "Counting from aeroplanes.", "year": 1980},
    {"id": "NEW-1", "title": "Walrus tusks", "abstract": "Walrus tusks grow.", "references": ["WALRUS"]},
    {"id": "NEW-2", "title": "Seals", "abstract": "Haulouts of seals.", "references": ["OLD", "WALRUS"]},
    {"id": "해마", "title": "Sea horses", "abstract": "No relation.", "year": 2001},
]


index = contract_fixture(PAPERS, "pages")


def ids(papers):
    return [paper.doc_id for paper in papers]


def test_a_page_holds_the_record_and_all_passages_in_order(index):
    found = paper_page(index, "WALRUS")

    assert found.record == {
        name: value for name, value in PAPERS[0].items() if name not in {"abstract", "body"}
    } | {"lang": "en"}
    names = [passage.passage_id for passage in found.passages]
    assert names[:2] == ["WALRUS", "WALRUS@ko"]
    assert names[2:] == [f"WALRUS#{number}" for number in range(1, len(names) - 1)]
    assert len(names) == found.passage_count > 11  # of which #10 is behind #9
    assert [passage.part for passage in found.passages[:3]] == ["abstract", "abstract2", "body"]
    assert found.passages[0].text == PAPERS[0]["abstract"]


def test_similar_papers_share_the_strongest_terms(index):
    found = paper_page(index, "NEW-1", similar=2)

    assert found.similar_by == "terms"
    assert found.similar[0].doc_id == "WALRUS"
    assert found.similar[0].title == "Walrus haulouts"
    scores = [paper.score or 0.0 for paper in found.similar]
    assert scores == sorted(scores, reverse=True)
    assert "NEW-1" not in ids(paper_page(index, "NEW-1").similar)


@pytest.mark.parametrize("doc_id", ["none", "WALRUS@ko", "", "a" * 10_000, "../x", "\x00", "\ud800"])
def test_what_is_not_there_is_told_in_a_line(index, doc_id):
    with pytest.raises(UnknownPaper, match="contains no paper") as told:
        paper_page(index, doc_id)
    with pytest.raises(UnknownPassage, match="contains no passage"):
        passage(index, f"{doc_id}#77")

    assert len(str(told.value)) < 400
    assert str(told.value).isprintable()


@pytest.mark.parametrize("storage", ["float32", "int8"])
def test_with_vectors_the_nearest_are_similar(tmp_path, settings_for, storage):
    papers = [
        {"id": "A", "title": "axolotl", "abstract": "axolotl", "abstract2": "axolotl axolotl"},
        {"id": "B", "title": "axolotl pangolin", "abstract": "Words."},
        {"id": "C", "title": "pangolin", "abstract": "axolotl."},
        {"id": "D", "title": "pangolin", "abstract": "pangolin"},
    ]
    with embedding_server() as server:
        settings = with_encoder(settings_for(tmp_path), server, storage=storage)
        with indexed(settings, papers, f"near-{storage}") as index:
            vectors = index.engine.vectors(["A", "none"])
            similarities = index.engine.similarities(vectors["A"], ["A", "B"])
            found = paper_page(index, "A", similar=3)

    assert set(vectors) == {"A"}
    assert similarities["A"] == pytest.approx(1.0, abs=1e-6)
    assert found.similar_by == "vectors"
    assert ids(found.similar)[-1] == "D"
    assert sorted(ids(found.similar)) == ["B", "C", "D"]
    assert dict(zip(ids(found.similar), found.similar, strict=True))["B"].score == similarities["B"]
