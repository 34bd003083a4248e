import sys

import pytest

from indexer.errors import LibraryMissing, UnknownFormat, UnknownPath
from indexer.readers import hub, miracl, read_corpus


def items_of(corpus):
    return list(corpus)


@pytest.mark.parametrize(
    ("path", "data_files"),
    [
        ("hub:miracl/miracl-corpus/docs-ko", "hf://datasets/miracl/miracl-corpus/docs-ko/*.jsonl*"),
        ("hub:BeIR/scifact/corpus.jsonl.gz", "hf://datasets/BeIR/scifact/corpus.jsonl.gz"),
        ("hub:a/b/c/d/", "hf://datasets/a/b/c/d/*.jsonl*"),
    ],
)
def test_a_path_stands_for_the_json_lines_of_its_folder(path, data_files):
    assert hub.data_files_of(path) == data_files


@pytest.mark.parametrize("path", ["hub:", "hub:a", "hub:a/b", "hub:a//c"])
def test_a_path_without_owner_name_and_folder_is_refused_before_anything_is_opened(path):
    with pytest.raises(UnknownPath, match="is named hub:OWNER/NAME/FOLDER"):
        read_corpus([path])


def test_without_the_library_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)

    with pytest.raises(LibraryMissing, match=r"pip install -e '\.\[hub\]'"):
        read_corpus(["hub:miracl/miracl-corpus/docs-ko"])


def test_tables_are_not_read_from_the_hub():
    with pytest.raises(UnknownFormat, match="only JSON lines"):
        read_corpus(["hub:a/b/c"], format="csv")


def test_rows_are_streamed_as_papers(tmp_path, monkeypatch):
    pytest.importorskip("datasets", reason="the optional library datasets is not installed")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "docs-0.jsonl").write_text(
        '{"docid": "1#0", "title": "T", "text": "A"}\n{"docid": "1 1", "title": "T"}\n{"docid": "1#2"}\n'
    )

    first, dead, third = items_of(hub.read_rows("hub:a/b/c", f"{tmp_path}/*.jsonl*", miracl.named_as_paper))

    assert first.record() == {"id": "1#0", "title": "T", "abstract": "A", "lang": "en"}
    assert (dead.file, dead.line) == ("hub:a/b/c", 2)
    assert third.record() == {"id": "1#2", "lang": "other"}


def test_a_folder_that_is_not_there_is_told(tmp_path):
    pytest.importorskip("datasets", reason="the optional library datasets is not installed")

    with pytest.raises(UnknownPath, match="nothing to read at"):
        next(hub.rows_of("hub:a/b/c", f"{tmp_path}/*.jsonl*"))
