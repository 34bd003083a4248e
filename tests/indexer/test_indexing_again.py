"""Indexing a folder again: only new and changed files are read, only changed records are indexed."""

import json
import os
from typing import Any

import pytest

from indexer.ingest import IngestRequest, build_index, encode_passages, remove_records
from indexer.settings import EncoderSettings, IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import build, paper, write_jsonl


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with two files of records and a text."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", [paper(number) for number in range(3)])
    write_jsonl(folder / "b.jsonl", [paper(number) for number in range(3, 6)])
    (folder / "notes.txt").write_text("A title\nA text about methane.")
    return folder


def records(home):
    """Return the first texts of the papers by id."""
    store = FolderStore(home, "papers")
    passages = store.stored_passages(store.manifest())
    return {passage.doc_id: passage.text for passage in passages if passage.record}


def counted(report):
    changes = report.files
    return (changes.new, changes.changed, changes.again, changes.unchanged, len(changes.gone))


def test_only_new_and_changed_files_are_read(home, folder):
    build(home, folder)
    write_jsonl(folder / "b.jsonl", [paper(3), paper(4, version=1), paper(5)])
    write_jsonl(folder / "c.jsonl", [paper(6)])

    report = build(home, folder)

    counts = report.manifest.counts
    assert counted(report) == (1, 1, 0, 2, 0)
    assert (counts["records"], counts["unchanged"], counts["replaced"]) == (2, 2, 1)
    assert records(home)["P00004"] == paper(4, version=1)["abstract"]
    assert len(records(home)) == 8


def test_a_touched_file_is_read_and_its_records_are_unchanged(home, folder):
    build(home, folder)
    os.utime(folder / "a.jsonl", ns=(1, 1))

    report = build(home, folder)

    assert (counted(report), report.is_published) == ((0, 1, 0, 2, 0), False)
    assert report.manifest.counts["unchanged"] == 3
    assert FolderStore(home, "papers").versions() == [1]


def test_papers_of_a_deleted_file_remain_and_are_reported(home, folder):
    build(home, folder)
    (folder / "b.jsonl").unlink()

    report = build(home, folder)

    assert report.files.gone == (str(folder / "b.jsonl"),)
    assert "1 gone" in report.files.described()
    assert "P00005" in records(home)


def test_a_skipped_file_still_replaces_records_of_earlier_files(home, folder):
    write_jsonl(folder / "b.jsonl", [paper(0, version=2)])
    build(home, folder)
    write_jsonl(folder / "a.jsonl", [paper(0, version=1), paper(1)])

    build(home, folder)

    assert records(home)["P00000"] == paper(0, version=2)["abstract"]


def test_an_unchanged_file_is_read_if_its_record_was_replaced_by_one_that_is_gone(home, folder):
    write_jsonl(folder / "b.jsonl", [paper(0, version=2)])
    build(home, folder)
    write_jsonl(folder / "b.jsonl", [paper(9)])

    report = build(home, folder)

    assert counted(report) == (0, 1, 1, 1, 0)
    assert records(home)["P00000"] == paper(0)["abstract"]


def test_another_corpus_with_the_same_ids_is_replaced_again(home, folder, tmp_path):
    build(home, folder)
    build(home, write_jsonl(tmp_path / "other.jsonl", [paper(0, version=3)]))

    report = build(home, folder)

    assert counted(report)[2:4] == (1, 2)
    assert records(home)["P00000"] == paper(0)["abstract"]


def test_a_file_with_dead_letters_is_read_again_and_they_are_reported(home, folder):
    write_jsonl(folder / "bad.jsonl", ["no JSON", paper(7)])
    build(home, folder)

    report = build(home, folder)

    assert (counted(report), report.is_published) == ((0, 0, 1, 3, 0), False)
    assert [letter.line for letter in report.dead_letters] == [1]
    assert json.loads(report.dead_letter_file.read_text())["line"] == 1


@pytest.mark.parametrize("change", ["remove", "rollback", "columns", "damage", "rebuild"])
def test_all_files_are_read_if_the_version_or_the_options_are_others(home, folder, change):
    build(home, folder)
    store = FolderStore(home, "papers")
    options: dict[str, Any] = {}
    if change == "remove":
        remove_records("papers", ["P00001"], IndexerSettings(home=home))
    if change == "rollback":
        write_jsonl(folder / "c.jsonl", [paper(7)])
        build(home, folder)
        store.rollback()
    if change == "columns":
        (folder / "t.csv").write_text("Number,title\nT1,T\n")
        options = {"columns": {"id": "Number"}}
    if change == "damage":
        store.local.sources.write_bytes(store.local.sources.read_bytes()[:-1])
    if change == "rebuild":
        options = {"rebuild": True}

    report = build(home, folder, **options)

    assert report.files.unchanged == 0
    assert set(records(home)) >= {f"P0000{number}" for number in range(6)}


def test_archives_and_copies_are_compared_as_files(home, tmp_path):
    import zipfile

    folder = tmp_path / "corpus"
    folder.mkdir()
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("x.md", "# X\nText of x.")
        archive.writestr("y.jsonl", json.dumps(paper(1)))
    (folder / "d.md").write_text("# D\nText of d.")
    (folder / "d.txt").write_text("D\nText of a copy.")
    build(home, folder)

    again = build(home, folder)
    (folder / "d.txt").write_text("D\nAnother text of a copy.")
    changed = build(home, folder)

    assert counted(again) == (0, 0, 0, 2, 0)
    assert counted(changed) == (0, 1, 0, 1, 0)


def test_vectors_that_are_missing_are_encoded_although_no_record_changed(home, folder):
    build(home, folder)
    with embedding_server() as server:
        settings = IndexerSettings(
            home=home, workers=1, encoder=EncoderSettings.model_validate(server.settings())
        )
        report = build_index(IngestRequest(name="papers", paths=[str(folder)]), settings)
        again = build_index(IngestRequest(name="papers", paths=[str(folder)]), settings)

    assert (report.is_published, report.manifest.vector_count) == (True, report.manifest.passages)
    assert (again.is_published, again.manifest.version) == (False, 2)


def test_vectors_alone_leave_the_files_known(home, folder):
    build(home, folder)
    with embedding_server() as server:
        encode_passages(
            "papers",
            IndexerSettings(home=home, workers=1, encoder=EncoderSettings.model_validate(server.settings())),
        )

    assert counted(build(home, folder)) == (0, 0, 0, 3, 0)
