"""Text, Markdown and PDF: a file is a paper."""

import unicodedata
from contextlib import closing
from typing import cast

import pytest

from base.errors import LibraryMissing, Remedy
from indexer.building.plan import IngestRequest
from indexer.citation_graph.graph import CitationGraph
from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus
from indexer.corpora.readers.documents import markdown_record
from indexer.ingest import build_index
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import CITATIONS
from indexer.versions.store.engines import open_store
from tests.indexer.corpora.full_text.pdf_files import SENTENCE, page_of, text

MARKDOWN = """---
title: "Methane and water"
author: [Ann Lee, 홍길동]
date: 2021-05-04
doi: 10.5555/x.1
references:
  - P-1
  - P-2
status: draft
---
# Methane

## Abstract

Water decides, as [others](https://example.org/a) say.

## 1. Introduction

Rice grows in paddies.

## References

1. Kim J. Methane from rice. Nature. 2001. [link](https://doi.org/10.1000/abc)
2. 홍길동 (2018). 벼와 메탄. 농학회지, 3(2).
"""


TEXT = """벼와 메탄

초록
물이 정한다.

주제어: 벼, 메탄

1. 서론
벼는 논에서 자란다.

참고문헌
[1] 김 (2001). 벼. 농학, 3.
"""


def papers_of(*paths, **options) -> list[Paper]:
    read = list(read_corpus(paths, **options))
    assert all(isinstance(item, Paper) for item in read)
    return cast("list[Paper]", read)


def letters_of(*paths) -> list[DeadLetter]:
    read = list(read_corpus(paths))
    assert all(isinstance(item, DeadLetter) for item in read)
    return cast("list[DeadLetter]", read)


def paper_of(folder, name, content):
    (folder / name).write_text(content, encoding="utf-8")
    return papers_of(folder / name)[0]


def test_markdown_has_its_front_matter_sections_and_references(tmp_path):
    paper = paper_of(tmp_path, "a b.md", MARKDOWN)

    assert (paper.id, paper.title, paper.authors) == ("a_b", "Methane and water", ["Ann Lee", "홍길동"])
    assert (paper.year, paper.doi, paper.references) == (2021, "10.5555/x.1", ["P-1", "P-2"])
    assert paper.abstract == "Water decides, as others https://example.org/a say."
    assert "## 1. Introduction\nRice grows in paddies." in paper.body
    assert [entry.get("doi") for entry in paper.model_extra["reference_list"]] == ["10.1000/abc", None]
    assert paper.model_extra["reference_list"][1]["title"] == "벼와 메탄"
    assert paper.model_extra["status"] == "draft"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_the_first_line_of_a_text_is_its_title(tmp_path, form):
    paper = paper_of(tmp_path, "a.txt", unicodedata.normalize(form, TEXT))

    assert (paper.title, paper.abstract, paper.lang) == (
        *(unicodedata.normalize(form, "벼와 메탄"), "물이 정한다.", "ko"),
    )
    assert paper.keywords == ["벼", "메탄"]
    assert paper.body.startswith("1. 서론\n벼는 논에서 자란다.")
    assert len(paper.model_extra["reference_list"]) == 1


def test_a_file_is_named_by_its_place_below_the_folder(tmp_path):
    (tmp_path / "2021").mkdir()
    (tmp_path / "2021" / "Kim et al.v2.pdf").write_bytes(page_of(text(SENTENCE)))

    assert [paper.id for paper in papers_of(tmp_path)] == ["2021/Kim_et_al.v2"]


FRONT_MATTER = {
    "a folded block": (
        "abstract: >-\n  Rice: a crop.\n  - It grows.\nyear: 2020",
        {"abstract": "Rice: a crop. - It grows."},
    ),
    "a literal block": ("abstract: |\n  One.\n  Two.", {"abstract": "One. Two."}),
    "a quoted value over lines": ('title: "A long\n  title"', {"title": "A long title"}),
    "a colon": ("title: Rice: a crop", {"title": "Rice: a crop"}),
    "names on one line": ("author: Lee, A.; Kim, B.", {"authors": ["Lee", "A.", "Kim", "B."]}),
    "names in brackets": ("authors: ['Ann Lee', \"홍길동\"]", {"authors": ["Ann Lee", "홍길동"]}),
    "names one per line": ("authors:\n  - Ann Lee\n  - 홍길동", {"authors": ["Ann Lee", "홍길동"]}),
    "tags and other keys": ("tags: [a, b]\nstatus: draft", {"keywords": ["a", "b"], "status": "draft"}),
    "a date": ("date: 2021-05-04", {"year": 2021}),
}


@pytest.mark.parametrize(("lines", "values"), FRONT_MATTER.values(), ids=FRONT_MATTER)
def test_front_matter_gives_values(lines, values):
    record = markdown_record(f"---\n{lines}\n---\nText.\n")

    assert {key: record[key] for key in values} == values


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"", "the file is empty"),
        ("a.md", b" \n \n", "the file is empty"),
        (
            "a.md",
            "제목".encode("cp949"),
            "invalid UTF-8 at byte 1: convert the file to UTF-8 (iconv -f CP949",
        ),
        ("a.md", b"---\nyear: 3021\n---\n# T\n", "year: Input should be less than"),
    ],
)
def test_what_is_no_paper_is_a_dead_letter(tmp_path, name, data, reason):
    (tmp_path / name).write_bytes(data)

    (letter,) = read_corpus([tmp_path], format={"a.txt": "text", "a.md": "markdown"}[name])

    assert isinstance(letter, DeadLetter)
    assert letter.reason.startswith(reason)


@pytest.mark.parametrize("piece", ["<!-- ", "[a](", "# ", "**", "Abstract", "Keywords:  ", " ", "http://"])
@pytest.mark.parametrize("joint", ["", "\n"], ids=["one line", "lines"])
def test_a_text_made_to_be_slow_is_read_in_time(piece, joint):
    many = joint.join([piece] * (60_000 // len(piece)))

    assert markdown_record(f"# T\n{many}\n## References\n{many}")["title"] == "T"


def test_without_the_library_that_reads_pdfs_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    monkeypatch.setattr("indexer.corpora.readers.documents.find_spec", lambda _: None)

    with pytest.raises(LibraryMissing, match="make install-pdf") as alone:
        read_corpus([tmp_path])
    (tmp_path / "b.jsonl").write_text('{"id": "b"}')
    with pytest.raises(LibraryMissing, match="make install-pdf") as beside_records:
        read_corpus([tmp_path])

    assert Remedy.NAME_FORMAT not in alone.value.remedies
    assert Remedy.NAME_FORMAT in beside_records.value.remedies


def test_a_folder_of_pdfs_becomes_passages_of_its_sections(tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(
        page_of(text(b"Abstract", SENTENCE, b"1. Introduction", b"Rice grows in paddies."))
    )
    (folder / "b.pdf").write_bytes(b"no PDF")
    settings = IndexerSettings(home=tmp_path / "home", workers=1)

    report = build_index(IngestRequest("p", [str(folder)]), settings)

    assert report.manifest.papers == 1
    (letter,) = report.dead_letters
    assert "header" in letter.reason


def test_a_paper_of_the_folder_is_found_among_the_references_of_another(tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    listed = b"[1] Kim, J. Water in the paddies of Jeolla. Rice Letters, 3, 2018. doi:10.5555/paddies.1."
    (folder / "new.pdf").write_bytes(page_of(text(b"Introduction", SENTENCE, b"References", listed)))
    (folder / "old.pdf").write_bytes(
        page_of(
            text(b"https://doi.org/10.5555/PADDIES.1", b"Abstract", SENTENCE, b"1. Introduction", SENTENCE)
        )
    )
    settings = IndexerSettings(home=tmp_path / "home", workers=1)

    manifest = build_index(IngestRequest("p", [str(folder)]), settings).manifest

    with open_store(settings, "p") as store:
        graph = CitationGraph.open(store.companion_path(manifest, CITATIONS))
    with closing(graph):
        assert graph.references(["new"]) == {"new": ["old"]}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Rice " + " " * 5_000 + "fields ##\nx", "Rice fields"),
        ("# Rice\n" + "<!-- a --> " + "<!--" * 30_000, "Rice"),
        ("# Rice<!-- x\ny --> B\n", "Rice B"),
        ("---\ntitle: Rice\nnote: a\n" + " b\n" * 100_000 + "---\nx", "Rice"),
        ("# ##\nx", "##"),
    ],
)
def test_markdown_is_read_in_time_that_grows_with_its_length(text, title):
    assert " ".join(markdown_record(text)["title"].split()) == title


def test_a_copy_is_read_where_the_pdf_is_refused(tmp_path):
    (tmp_path / "scan.pdf").write_bytes(page_of(b""))
    (tmp_path / "scan.md").write_text("")
    (tmp_path / "scan.txt").write_text("Rice\n\nText that OCR read.")
    (tmp_path / "good.pdf").write_bytes(page_of(text(SENTENCE)))
    (tmp_path / "good.txt").write_text("A copy")
    corpus = read_corpus([tmp_path])

    assert [(paper.id, paper.origin.file) for paper in cast("list[Paper]", list(corpus))] == [
        ("good", f"{tmp_path}/good.pdf"),
        ("scan", f"{tmp_path}/scan.txt"),
    ]
    assert corpus.formats == {"pdf": 2}
    assert corpus.left_out.copies == (
        f"{tmp_path}/good.txt",
        f"{tmp_path}/scan.md",
        f"{tmp_path}/scan.txt",
    )
    assert corpus.left_out.endings == {}


def test_a_pdf_and_its_copy_that_are_both_refused_are_dead_letters(tmp_path):
    (tmp_path / "scan.pdf").write_bytes(page_of(b""))
    (tmp_path / "scan.txt").write_text(" ")

    assert [letter.file for letter in letters_of(tmp_path)] == [
        f"{tmp_path}/scan.pdf",
        f"{tmp_path}/scan.txt",
    ]


def test_authors_of_a_front_matter_may_have_further_keys():
    text = "---\nauthor:\n  - name: Ann Lee\n    affiliation: Rice Lab\n  - name: 홍길동\n---\nText"

    assert markdown_record(text)["authors"] == ["Ann Lee", "홍길동"]
