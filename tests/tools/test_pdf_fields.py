"""The table of fields that the PDF reader finds: what counts as right."""

import json

import pytest

from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from tests.conftest import BY_NIGHT
from tools.pdf_fields import begins, main_headings, names, scores

GOLD = {
    "file": "a.pdf",
    "language": "en",
    "title": "Methane: and Water",
    "authors": ["José Lee", "Bo Kim"],
    "year": 2019,
    "doi": None,
    "arxiv": None,
    "abstract_begins": "Drained paddies emit less",
    "abstract_ends": "than flooded ones.",
    "headings": ["1 Introduction", "References"],
    "references": 0,
}
RECORD = {
    "title": "METHANE AND WATER",
    "authors": ["Jose Lee"],
    "year": 2018,
    "abstract": "Drained paddies emit less methane than flooded ones.",
    "sections": [{"title": "Introduction", "level": 1}, {"title": "Fields", "level": 2}],
    "reference_list": [],
}


def test_fields_are_scored_where_the_document_prints_them():
    rows = scores([GOLD], {"a.pdf": RECORD})
    assert {row["field"]: row["en"] for row in rows} == {
        "title": 1,
        "authors": pytest.approx(2 / 3),
        "year": 0,
        "doi": 0,
        "arxiv": 0,
        "abstract": 1,
        "headings": 1,
        "references": 1,
    }
    assert [row["all, papers"] for row in rows if row["field"] == "doi"] == [0]
    assert sum(row["all"] for row in scores([GOLD | {"references": 3}], {})) == 0  # it was not read


def test_an_abstract_may_begin_a_few_letters_early_or_late_and_not_a_sentence():
    assert begins("Drained paddies emit less", "Abstract. Drained paddies emit less")
    assert begins("Drained paddies emit less methane", "paddies emit less methane than flooded ones")
    assert not begins(
        "Drained paddies emit less", "Rice grows in water and needs it. Drained paddies emit less"
    )


def test_headings_are_compared_without_numbers_and_names_without_accents_and_second_scripts():
    headings = "Ⅱ. 논과 물|제 3 장 결론|2.1 Fields|Appendix A. Tools|참 고 문 헌|ABSTRACT|Vision".split("|")

    assert main_headings(headings) == ["논과물", "결론", "fields", "tools", "vision"]
    assert names(["José Pérez", "홍 길동 (Gil-Dong Hong)"]) == ["joseperez", "홍길동"]


def test_the_fields_of_real_papers_are_found_in_both_languages(shared_data):
    folder = shared_data / "pdfs"
    golds = [json.loads(line) for line in (folder / "gold.jsonl").read_text("utf-8").splitlines()]
    if not BY_NIGHT:
        golds = golds[1::2]
    files = [folder / "files" / gold["file"] for gold in golds]
    read = [item for item in read_corpus(files, workers=2) if isinstance(item, Paper)]

    rows = scores(golds, {f"{paper.id}.pdf": paper.record() for paper in read})

    least = {"title": 0.85, "authors": 0.8, "year": 0.9, "doi": 0.9, "arxiv": 0.9, "abstract": 0.75}
    least |= {"headings": 0.75, "references": 0.75}
    shares = {row["field"]: row["all"] for row in rows}
    assert {field: share for field, share in shares.items() if share < least[field]} == {}
    assert [row["ko"] for row in rows if row["field"] == "abstract"] >= [0.65]
