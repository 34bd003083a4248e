import pytest

from base.errors import UnknownPath
from indexer.corpora.readers import hub, read_corpus
from indexer.errors import UnknownFormat
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.made_corpora import write_jsonl

RECORDS = [
    {"id": "A", "title": "논의 메탄", "abstract": "벼", "authors": ["김", "이"], "year": 2020, "grade": 1.5},
    {"id": "C C", "title": "no id", "abstract": "c", "authors": [], "year": 2022, "grade": 3.0},
]


@pytest.mark.parametrize("path", ["hub:", "hub:a", "hub:a/b", "hub:a//c"])
def test_a_path_without_owner_name_and_folder_is_refused_before_anything_is_opened(path):
    with pytest.raises(UnknownPath, match="hub:OWNER/NAME/FOLDER"):
        read_corpus([path])


def test_a_folder_is_read_as_the_same_records_in_a_file_are(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "ADDRESS", str(tmp_path))
    folder = tmp_path / "owner" / "name" / "folder"
    folder.mkdir(parents=True)
    alike = items_of(read_corpus([write_jsonl(folder / "docs-0.jsonl", RECORDS)]))

    paper, dead = items_of(read_corpus(["hub:owner/name/folder"]))

    assert paper.record() == alike[0].record()
    assert dead.file == "hub:owner/name/folder/docs-0.jsonl"
    assert (dead.line, dead.reason) == (alike[1].line, alike[1].reason)


@pytest.mark.parametrize("format_", ["csv", "pdf"])
def test_tables_and_documents_are_not_read_from_the_hub(format_):
    with pytest.raises(UnknownFormat, match="only JSON lines and Parquet"):
        read_corpus(["hub:a/b/c"], format=format_)
