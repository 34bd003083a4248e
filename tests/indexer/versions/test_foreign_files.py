"""Foreign files in the home and in an index's folder: they stay, whatever is done to the index."""

import pytest

from indexer.settings import IndexerSettings
from indexer.versions.store.engines import index_names
from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import build, paper, write_jsonl

NOTES = "do not delete"


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def publish(home, tmp_path):
    path = write_jsonl(tmp_path / "papers.jsonl", [paper(1), paper(2)])
    return lambda: build(home, path, keep_versions=1, rebuild=True).manifest.version


def test_foreign_files_and_links_outlive_versions_and_the_index(home, publish, tmp_path):
    publish()
    folder = home / "papers"
    strays = [
        folder / "notes.txt",
        folder / "drafts" / "one.txt",
        home / ".deleted-photos-2019" / "one.txt",
    ]
    of_versions = [folder / "versions" / name for name in ("7", "notes.txt", "000009")]
    elsewhere = tmp_path / "elsewhere" / "manifest.json"
    for path in (*strays, *of_versions, elsewhere):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOTES)
    (folder / "versions" / "000008").symlink_to(elsewhere.parent)

    assert [publish(), publish()] == [2, 3]
    assert FolderStore(home, "papers").versions() == [3]
    assert {path.read_text() for path in (*strays, *of_versions, elsewhere)} == {NOTES}

    FolderStore(home, "papers").delete()
    assert index_names(IndexerSettings(home=home)) == []
    assert {path.read_text() for path in (*strays, elsewhere)} == {NOTES}


def test_an_index_whose_folder_is_a_link_is_deleted_where_it_is(home, publish, tmp_path):
    publish()
    (home / "papers").rename(tmp_path / "disk")
    (home / "papers").symlink_to(tmp_path / "disk")

    FolderStore(home, "papers").delete()

    assert list((tmp_path / "disk").iterdir()) == []
    assert index_names(IndexerSettings(home=home)) == []


def test_the_files_of_a_killed_deletion_are_removed_by_the_next(home, publish):
    publish()
    (home / "papers").rename(home / ".deleted-papers-1")
    publish()
    FolderStore(home, "papers").delete()

    assert list(home.iterdir()) == []
