"""Indexing a folder again: only new and changed files are read, only changed records are indexed."""

import json
import os
from typing import Any

import pytest

from indexer.ingest import IngestRequest, build_index, remove_records
from indexer.settings import EncoderSettings, IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import build, paper, write_jsonl


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    write(folder, A | B)
    (folder / "notes.txt").write_text("A title\nA text about methane.")
    return folder


def records(home):
    store = FolderStore(home, "papers")
    passages = store.stored_passages(store.manifest())
    return {passage.doc_id: passage.text for passage in passages if passage.record}


def counted(report):
    changes = report.files
    return (changes.new, changes.changed, changes.again, changes.unchanged, len(changes.gone))


A, B = {"a.jsonl": "0 1 2"}, {"b.jsonl": "3 4 5"}
LATER, CHANGED = {"b.jsonl": "0.2"}, {"a.jsonl": "0.1 1"}
# The files of a first build and of a second one, with their papers as number.version; how many files are new,
# changed, read again, unchanged and gone; a paper that the index then has.
AGAIN = {
    "new and changed files": (A | B, A | {"b.jsonl": "3 4.1 5", "c.jsonl": "6"}, (1, 1, 0, 2, 0), (4, 1)),
    "a file is gone": (A | B, A, (0, 0, 0, 2, 1), (5, 0)),
    "a later file still replaces": (A | LATER, CHANGED | LATER, (0, 1, 1, 1, 0), (0, 2)),
    "what replaced is gone": (A | LATER, A | {"b.jsonl": "9"}, (0, 1, 1, 1, 0), (0, 0)),
}


def write(folder, files):
    """Write the files that differ from what is there, and remove the others."""
    for path in folder.glob("*.jsonl"):
        if path.name not in files:
            path.unlink()
    for name, papers in files.items():
        numbers = [one.partition(".") for one in papers.split()]
        records = [paper(int(number), version=int(of or 0)) for number, _, of in numbers]
        text = "".join(f"{json.dumps(record)}\n" for record in records)
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)


@pytest.mark.parametrize(("before", "after", "files", "held"), AGAIN.values(), ids=AGAIN)
def test_only_what_may_have_changed_is_read(home, folder, before, after, files, held):
    write(folder, before)
    build(home, folder)
    write(folder, after)

    report = build(home, folder)

    number, version = held
    assert counted(report) == files
    assert records(home)[f"P{number:05}"] == paper(number, version=version)["abstract"]


def test_a_touched_file_changes_no_version(home, folder):
    build(home, folder)
    os.utime(folder / "a.jsonl", ns=(1, 1))

    report = build(home, folder)

    assert (counted(report), report.is_published) == ((0, 1, 0, 2, 0), False)
    assert report.manifest.counts["unchanged"] == 3
    assert FolderStore(home, "papers").versions() == [1]


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
