"""The table of fields that the PDF reader finds: what counts as right."""

import json

import pytest
from click.testing import CliRunner

from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from tests.conftest import BY_NIGHT
from tests.indexer.corpora.full_text.pdf_files import SENTENCE, page_of, text
from tools.pdf_fields import begins, f1, main, main_headings, names, scores

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
    rows = {row.field: row.share for row in scores([GOLD], {"a.pdf": RECORD}) if row.language == "en"}

    assert rows == {
        "title": 1,
        "authors": pytest.approx(2 / 3),
        "year": 0,
        "doi": 0,
        "arxiv": 0,
        "abstract": 1,
        "headings": 1,
        "references": 1,
    }
    assert [row.papers for row in scores([GOLD], {}) if row.field == "doi"] == [0, 0, 0]


def test_a_paper_that_was_not_read_has_nothing_right():
    rows = scores([GOLD | {"references": 3}], {})

    assert sum(row.share for row in rows) == 0


def test_an_abstract_may_begin_a_few_letters_early_or_late_and_not_a_sentence():
    assert begins("Drained paddies emit less", "Abstract. Drained paddies emit less")
    assert begins("Drained paddies emit less methane", "paddies emit less methane than flooded ones")
    assert not begins(
        "Drained paddies emit less", "Rice grows in water and needs it. Drained paddies emit less"
    )


def test_numbers_of_headings_are_left_out_and_those_of_every_paper():
    headings = [
        "Ⅱ. 논과 물",
        "제 3 장 결론",
        "2.1 Fields",
        "Appendix A. Tools",
        "참 고 문 헌",
        "ABSTRACT",
        "Vision",
    ]

    assert main_headings(headings) == ["논과물", "결론", "fields", "tools", "vision"]


def test_names_are_compared_without_accents_and_second_scripts():
    assert names(["José Pérez", "홍 길동 (Gil-Dong Hong)"]) == ["joseperez", "홍길동"]
    assert f1(["a", "b"], ["b", "c"]) == 0.5


def test_the_command_reads_a_folder_and_writes_its_records(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.pdf").write_bytes(page_of(text(b"Methane and Water", SENTENCE)))
    (tmp_path / "gold.jsonl").write_text(json.dumps(GOLD) + "\n", "utf-8")

    result = CliRunner().invoke(main, ["--data", str(tmp_path), "--records", str(tmp_path / "out"), "--json"])

    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["papers_per_second"] > 0
    assert "methane" in json.loads((tmp_path / "out" / "a.json").read_text("utf-8"))["body"]


def test_a_folder_without_labels_is_named():
    result = CliRunner().invoke(main, ["--data", "/nowhere"])

    assert result.exit_code == 2
    assert "no gold.jsonl in /nowhere" in result.output


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
    assert {
        row.field: row.share for row in rows if row.language == "all" and row.share < least[row.field]
    } == {}
    assert [row.share for row in rows if (row.field, row.language) == ("abstract", "ko")] >= [0.65]
