"""Versions side by side: publishing, going back, clearing away, and what an ended process leaves."""

import json
import sys

import pytest

from indexer.durable import write_durably
from indexer.errors import IndexBusy, IndexDamaged, InvalidCall, UnknownIndex
from indexer.versions import IndexFolder, list_indexes


@pytest.fixture
def folder(tmp_path):
    return IndexFolder(tmp_path, "papers")


def publish(folder, *, keep=3):
    """Publish the next version, which holds its own number."""
    with folder.writing():
        version = prepare(folder)
        folder.publish(version, keep=keep)
    return version


def prepare(folder):
    version = folder.next_version()
    folder.building.mkdir()
    (folder.building / "plan.json").write_text("{}")
    (folder.building / "number").write_text(str(version))
    return version


def answering(folder):
    return int((folder.version_path(folder.require_current()) / "number").read_text())


def test_the_version_published_last_answers_and_the_last_three_are_kept(folder):
    for _ in range(5):
        publish(folder)

    assert (answering(folder), folder.versions()) == (5, [3, 4, 5])
    assert sorted(path.name for path in folder.path.iterdir()) == ["CURRENT", "versions", "writer.lock"]


def test_with_one_version_kept_the_one_before_is_cleared_away(folder):
    publish(folder, keep=1)
    publish(folder, keep=1)

    assert (answering(folder), folder.versions()) == (2, [2])


def test_rollback_goes_back_one_by_one(folder):
    for _ in range(3):
        publish(folder)

    assert [folder.rollback(), answering(folder), folder.rollback(), answering(folder)] == [2, 2, 1, 1]
    with pytest.raises(InvalidCall, match="index 'papers' has no version before 1 to go back to"):
        folder.rollback()


def test_what_was_rolled_back_from_is_cleared_away_by_the_next_version(folder):
    for _ in range(3):
        publish(folder)
    folder.rollback()

    assert publish(folder) == 4
    assert folder.versions() == [1, 2, 4]
    assert folder.rollback() == 2


def test_dead_letters_move_beside_their_version_and_go_with_it(folder):
    with folder.writing():
        version = prepare(folder)
        (folder.building / "dead-letters.jsonl").write_text("{}\n")
        folder.publish(version, keep=1)

    assert folder.dead_letter_path(1).read_text() == "{}\n"
    assert not (folder.version_path(1) / "dead-letters.jsonl").exists()
    publish(folder, keep=1)
    assert not folder.dead_letter_path(1).exists()


def test_a_version_whose_pointer_was_never_moved_is_a_build_that_broke_off(folder):
    publish(folder)
    with folder.writing():
        version = prepare(folder)
        folder.building.rename(folder.version_path(version))  # and here the process was killed

    assert (folder.current(), folder.versions()) == (1, [1])
    with pytest.raises(InvalidCall):
        folder.rollback()
    with folder.writing():
        assert (folder.is_broken_off(), folder.next_version()) == (True, 2)


def test_a_process_killed_after_the_pointer_was_moved_has_published(folder):
    publish(folder)
    with folder.writing():
        version = prepare(folder)
        folder.building.rename(folder.version_path(version))
        folder.point_to(version)  # and here the process was killed

    assert (folder.current(), folder.versions()) == (2, [1, 2])
    assert publish(folder) == 3
    assert not (folder.version_path(2) / "plan.json").exists()


def test_what_a_killed_process_did_not_clear_away_goes_with_the_next_writer(folder, monkeypatch):
    for _ in range(4):
        publish(folder)
    folder.rollback()  # to 3
    with monkeypatch.context() as killed:
        killed.setattr(IndexFolder, "_clear_away", lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            publish(folder)

    assert (folder.current(), folder.versions()) == (5, [2, 3, 4, 5])
    with folder.writing():
        assert folder.versions() == [2, 3, 5]
    assert not (folder.path / "clearing.json").exists()


def test_a_version_half_cleared_away_is_none(folder):
    publish(folder)
    publish(folder)
    folder.version_path(1).rename(folder.versions_path / ".000001")

    assert folder.versions() == [2]
    publish(folder)
    assert sorted(path.name for path in folder.versions_path.iterdir()) == ["000002", "000003"]


def test_a_second_writer_is_refused(folder):
    with (
        folder.writing(),
        pytest.raises(IndexBusy, match="another process is writing to index 'papers'; wait for it"),
        IndexFolder(folder.path.parent, "papers").writing(),
    ):
        pass


def test_rolling_back_or_deleting_beside_a_writer_is_refused(folder):
    publish(folder)
    publish(folder)
    other = IndexFolder(folder.path.parent, "papers")

    with folder.writing():
        with pytest.raises(IndexBusy):
            other.rollback()
        with pytest.raises(IndexBusy):
            other.delete()
    assert folder.current() == 2


def test_a_deleted_index_leaves_nothing(folder, tmp_path):
    publish(folder)

    folder.delete()

    assert (list(tmp_path.iterdir()), list_indexes(tmp_path)) == ([], [])
    with pytest.raises(UnknownIndex):
        folder.delete()


def test_a_first_build_that_broke_off_can_be_deleted(folder, tmp_path):
    with folder.writing():
        prepare(folder)

    folder.delete()

    assert list(tmp_path.iterdir()) == []


def test_asking_for_what_is_not_there_makes_nothing(folder, tmp_path):
    with pytest.raises(UnknownIndex, match="make it with: shrag index PATH --name papers"):
        folder.rollback()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "-x", "a" * 65, "a b", "a\n"])
def test_a_name_that_is_no_plain_word_is_refused(tmp_path, name):
    with pytest.raises(InvalidCall, match="cannot name an index"):
        IndexFolder(tmp_path, name)


@pytest.mark.parametrize("name", ["papers", "논문", "a.b-c_1", "9"])
def test_a_plain_word_names_an_index(tmp_path, name):
    assert IndexFolder(tmp_path, name).path == tmp_path / name


def test_a_pointer_or_manifest_that_cannot_be_read_is_told_with_the_next_step(folder):
    publish(folder)
    with pytest.raises(IndexDamaged, match=r"build the index again .*--rebuild.* or go back"):
        folder.manifest()

    (folder.path / "CURRENT").write_text("x")
    with pytest.raises(IndexDamaged, match="CURRENT holds no version number"):
        folder.current()


def test_a_text_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "text"
    write_durably(path, "old")

    with pytest.raises(UnicodeEncodeError):
        write_durably(path, "new \ud800")

    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["text"]


def test_indexes_are_listed_by_name_without_unfinished_ones(tmp_path):
    for name in ("b", "a"):
        publish(IndexFolder(tmp_path, name))
    with IndexFolder(tmp_path, "c").writing():
        prepare(IndexFolder(tmp_path, "c"))

    assert list_indexes(tmp_path) == ["a", "b"]
    assert json.loads((tmp_path / "a" / "CURRENT").read_text()) == 1
