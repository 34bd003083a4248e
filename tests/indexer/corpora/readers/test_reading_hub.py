import socket

import pytest

from base.errors import UnknownPath
from indexer.corpora.readers import hub, read_corpus
from indexer.errors import UnknownFormat
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.made_corpora import write_jsonl

FOLDER = "hub:owner/name/folder"


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    """Return the library, which keeps nothing but in a folder of the tests."""
    import datasets

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(datasets.config, "TORCH_AVAILABLE", False)  # seconds to import, for no tensor
        yield datasets


@pytest.fixture
def at_the_hub(datasets, tmp_path, monkeypatch):
    """Let paths of the hub stand for folders below the test's own."""
    monkeypatch.setattr(hub, "ADDRESS", str(tmp_path))
    folder = tmp_path / "owner" / "name" / "folder"
    folder.mkdir(parents=True)
    return folder


def as_json_lines(datasets, folder, records):
    write_jsonl(folder / "docs-0.jsonl", records)


def as_parquet(datasets, folder, records):
    datasets.Dataset.from_list(records).to_parquet(folder / "docs-0.parquet")


WRITERS = {"JSON lines": as_json_lines, "Parquet": as_parquet}
RECORDS = [
    {"id": "A", "title": "논의 메탄", "abstract": "벼", "authors": ["김", "이"], "year": 2020, "grade": 1.5},
    {"id": "B", "title": "Rice", "abstract": "b", "authors": ["Lee"], "year": 2021, "grade": 2.0},
    {"id": "C C", "title": "no id", "abstract": "c", "authors": [], "year": 2022, "grade": 3.0},
    {"id": "D", "title": "Last", "abstract": "d", "authors": ["Yi"], "year": 1, "grade": 4.0},
    {"id": "E", "title": "End", "abstract": "e", "authors": ["Yi"], "year": 2023, "grade": 5.0},
]


@pytest.mark.parametrize("path", ["hub:", "hub:a", "hub:a/b", "hub:a//c"])
def test_a_path_without_owner_name_and_folder_is_refused_before_anything_is_opened(path):
    with pytest.raises(UnknownPath, match="hub:OWNER/NAME/FOLDER"):
        read_corpus([path])


@pytest.mark.parametrize("kind", WRITERS)
def test_a_folder_is_read_as_the_same_records_in_a_file_are(datasets, at_the_hub, tmp_path, kind):
    WRITERS[kind](datasets, at_the_hub, RECORDS)
    alike = items_of(read_corpus([write_jsonl(tmp_path / "alike.jsonl", RECORDS)]))

    first, second, third, fourth, fifth = items_of(read_corpus([FOLDER]))

    assert [item.record() for item in (first, second, fifth)] == [alike[at].record() for at in (0, 1, 4)]
    for found, same in ((third, alike[2]), (fourth, alike[3])):
        assert found.file.startswith(f"{FOLDER}/docs-0.")
        assert (found.line, found.reason) == (same.line, same.reason)


def test_no_address_is_asked_for_but_that_of_the_path(datasets, at_the_hub, monkeypatch):
    as_json_lines(datasets, at_the_hub, RECORDS)
    asked = []

    def look_up(host, *_, **__):
        asked.append(host)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    assert len(items_of(read_corpus([FOLDER]))) == len(RECORDS)
    assert asked == []


@pytest.mark.parametrize("format_", ["csv", "pdf"])
def test_tables_and_documents_are_not_read_from_the_hub(format_):
    with pytest.raises(UnknownFormat, match="only JSON lines and Parquet"):
        read_corpus(["hub:a/b/c"], format=format_)
