"""What lies in the home and in an index's folder and is not ours: it stays, whatever is done to the index."""

import pytest

from indexer.errors import IndexNotWritten
from indexer.settings import IndexerSettings
from indexer.versions.store.folder import FolderStore, index_names
from tests.indexer.made_corpora import build, paper, write_jsonl

NOTES = "do not delete"


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def publish(home, tmp_path):
    path = write_jsonl(tmp_path / "papers.jsonl", [paper(1), paper(2)])
    return lambda: build(home, path, keep_versions=1, rebuild=True).manifest.version


def put(*paths):
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOTES)


def test_files_and_folders_of_others_outlive_every_version(home, publish):
    publish()
    folder = home / "papers"
    strays = [
        folder / "notes.txt",
        folder / "drafts" / "one.txt",
        folder / "versions" / "7",
        folder / "versions" / "000009" / "notes.txt",
        folder / "versions" / "backup" / "notes.txt",
        folder / "versions" / ".git" / "HEAD",
        folder / "versions" / ".000077" / "notes.txt",
        folder / "versions" / "²" / "notes.txt",
        home / ".deleted-photos-2019" / "one.txt",
    ]
    put(*strays)

    assert [publish(), publish()] == [10, 11]
    assert FolderStore(home, "papers").versions() == [11]
    assert [path.read_text() for path in strays] == [NOTES] * len(strays)


def test_a_folder_that_holds_what_is_not_ours_is_not_deleted(home, publish):
    publish()
    stray = home / "papers" / "versions" / "notes.txt"
    put(stray)
    store = FolderStore(home, "papers")

    with pytest.raises(IndexNotWritten, match=r"'papers' .*notes\.txt"):
        store.delete()
    assert (store.versions(), stray.read_text()) == ([1], NOTES)

    stray.unlink()
    store.delete()
    assert list(home.iterdir()) == []


def test_a_build_that_is_given_up_leaves_the_folder_of_others(home):
    stray = home / "papers" / "notes.txt"
    put(stray)
    store = FolderStore(home, "papers")
    with store.writing():
        store.local.start()
        store.discard_building()

    assert stray.read_text() == NOTES


def test_deleting_follows_no_link_out_of_the_home(home, publish, tmp_path):
    publish()
    elsewhere = tmp_path / "elsewhere"
    put(elsewhere / "000001" / "manifest.json", elsewhere / "notes.txt")
    (home / "papers" / "dead-letters").symlink_to(elsewhere)
    (home / "papers" / "versions" / "000002").symlink_to(elsewhere / "000001")
    store = FolderStore(home, "papers")

    with pytest.raises(IndexNotWritten, match="is not deleted"):
        store.delete()
    assert publish() == 3
    assert (
        (elsewhere / "notes.txt").read_text() == (elsewhere / "000001" / "manifest.json").read_text() == NOTES
    )


def test_a_link_among_the_versions_is_no_build_that_broke_off(home, publish, tmp_path):
    publish()
    elsewhere = tmp_path / "elsewhere"
    put(elsewhere / "plan.json", elsewhere / "manifest.json")
    link = home / "papers" / "versions" / "000009"
    link.symlink_to(elsewhere)

    assert [publish(), publish()] == [10, 11]
    assert FolderStore(home, "papers").versions() == [11]
    assert link.is_symlink()
    assert (elsewhere / "plan.json").read_text() == (elsewhere / "manifest.json").read_text() == NOTES


def test_what_a_version_that_answers_by_a_link_holds_stays(home, publish, tmp_path):
    publish()
    (home / "papers" / "versions" / "000001").rename(tmp_path / "disk")
    (home / "papers" / "versions" / "000001").symlink_to(tmp_path / "disk")
    put(tmp_path / "disk" / "plan.json")
    store = FolderStore(home, "papers")

    with store.writing():
        assert (store.current(), store.versions()) == (1, [1])
    assert (tmp_path / "disk" / "plan.json").read_text() == NOTES


def test_an_index_whose_folder_is_a_link_is_searched_and_not_deleted(home, publish, tmp_path):
    publish()
    (home / "papers").rename(tmp_path / "disk")
    (home / "papers").symlink_to(tmp_path / "disk")

    assert index_names(IndexerSettings(home=home)) == ["papers"]
    with pytest.raises(IndexNotWritten, match=f"{home}/papers"):
        FolderStore(home, "papers").delete()
    assert FolderStore(tmp_path, "disk").versions() == [1]


def test_what_a_deletion_that_was_killed_left_goes_with_the_next(home, publish):
    publish()
    (home / "papers").rename(home / ".deleted-papers-1")
    publish()
    FolderStore(home, "papers").delete()

    assert list(home.iterdir()) == []
