"""Text, Markdown and PDF: a file is a paper."""

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


def test_a_file_is_named_by_its_place_below_the_folder(tmp_path):
    (tmp_path / "2021").mkdir()
    (tmp_path / "2021" / "Kim et al.v2.pdf").write_bytes(page_of(text(SENTENCE)))

    assert [paper.id for paper in papers_of(tmp_path)] == ["2021/Kim_et_al.v2"]


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
        graph = CitationGraph(store.companion_path(manifest, CITATIONS))
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
    assert corpus.left_out.copies == [
        f"{tmp_path}/good.txt",
        f"{tmp_path}/scan.md",
        f"{tmp_path}/scan.txt",
    ]
    assert corpus.left_out.endings == {}


def test_a_pdf_and_its_copy_that_are_both_refused_are_dead_letters(tmp_path):
    (tmp_path / "scan.pdf").write_bytes(page_of(b""))
    (tmp_path / "scan.txt").write_text(" ")

    assert [letter.file for letter in letters_of(tmp_path)] == [
        f"{tmp_path}/scan.pdf",
        f"{tmp_path}/scan.txt",
    ]
