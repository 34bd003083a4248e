"""Versions side by side: publishing, going back, clearing away, and what an ended process leaves."""

import json
import sys

import pytest

from indexer.durable import write_durably
from indexer.errors import IndexBusy, IndexDamaged, IndexMismatch, InvalidCall, Remedy, UnknownIndex
from indexer.manifest import FORMAT, Manifest
from indexer.remedies import describe_error
from indexer.settings import IndexerSettings
from indexer.store.folder import FolderStore, index_names
from tests.indexer.corpora import build, paper, write_jsonl


@pytest.fixture
def store(tmp_path):
    return FolderStore(tmp_path, "papers")


def publish(store, *, keep=3):
    """Publish the next version, which holds its own number."""
    with store.writing():
        version = prepare(store)
        store.publish(manifest_of(version), keep=keep)
    return version


def manifest_of(version):
    return Manifest(
        name="papers",
        version=version,
        engine="tantivy",
        analyzer="bilingual",
        decompound="discard",
        unit="paper",
        papers=0,
        passages=0,
        published="",
        fingerprint={},
    )


def prepare(store):
    version = store.next_version()
    store.local.building.mkdir()
    (store.local.building / "plan.json").write_text("{}")
    (store.local.building / "number").write_text(str(version))
    return version


def answering(store):
    return int((store.version_path(store.require_current()) / "number").read_text())


def test_the_version_published_last_answers_and_the_last_three_are_kept(store):
    for _ in range(5):
        publish(store)

    assert (answering(store), store.versions()) == (5, [3, 4, 5])
    assert sorted(path.name for path in store.local.path.iterdir()) == ["CURRENT", "versions", "writer.lock"]


def test_with_one_version_kept_the_one_before_is_cleared_away(store):
    publish(store, keep=1)
    publish(store, keep=1)

    assert (answering(store), store.versions()) == (2, [2])


def test_rollback_goes_back_one_by_one(store):
    for _ in range(3):
        publish(store)

    assert [store.rollback(), answering(store), store.rollback(), answering(store)] == [2, 2, 1, 1]
    with pytest.raises(InvalidCall, match="index 'papers' has no version before 1 to go back to"):
        store.rollback()


def test_what_was_rolled_back_from_is_cleared_away_by_the_next_version(store):
    for _ in range(3):
        publish(store)
    store.rollback()

    assert publish(store) == 4
    assert store.versions() == [1, 2, 4]
    assert store.rollback() == 2


def test_dead_letters_move_beside_their_version_and_go_with_it(store):
    with store.writing():
        version = prepare(store)
        (store.local.building / "dead-letters.jsonl").write_text("{}\n")
        store.publish(manifest_of(version), keep=1)

    assert store.local.dead_letter_path(1).read_text() == "{}\n"
    assert not (store.version_path(1) / "dead-letters.jsonl").exists()
    publish(store, keep=1)
    assert not store.local.dead_letter_path(1).exists()


def test_a_version_whose_pointer_was_never_moved_is_a_build_that_broke_off(store):
    publish(store)
    with store.writing():
        version = prepare(store)
        store.local.building.rename(store.version_path(version))  # and here the process was killed

    assert (store.current(), store.versions()) == (1, [1])
    with pytest.raises(InvalidCall):
        store.rollback()
    with store.writing():
        assert (store.local.is_unfinished(), store.next_version()) == (True, 2)


def test_a_process_killed_after_the_pointer_was_moved_has_published(store):
    publish(store)
    with store.writing():
        version = prepare(store)
        store.local.building.rename(store.version_path(version))
        store.point_to(version)  # and here the process was killed

    assert (store.current(), store.versions()) == (2, [1, 2])
    assert publish(store) == 3
    assert not (store.version_path(2) / "plan.json").exists()


def test_what_a_killed_process_did_not_clear_away_goes_with_the_next_writer(store, monkeypatch):
    for _ in range(4):
        publish(store)
    store.rollback()  # to 3
    with monkeypatch.context() as killed:
        killed.setattr(FolderStore, "_clear_away", lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            publish(store)

    assert (store.current(), store.versions()) == (5, [2, 3, 4, 5])
    with store.writing():
        assert store.versions() == [2, 3, 5]
    assert not (store.local.path / "clearing.json").exists()


def test_a_version_half_cleared_away_is_none(store):
    publish(store)
    publish(store)
    store.version_path(1).rename(store.local.versions / ".000001")

    assert store.versions() == [2]
    publish(store)
    assert sorted(path.name for path in store.local.versions.iterdir()) == ["000002", "000003"]


def test_rolling_back_or_deleting_beside_a_writer_is_refused(store):
    publish(store)
    publish(store)
    other = FolderStore(store.local.path.parent, "papers")

    with store.writing():
        with pytest.raises(IndexBusy):
            other.rollback()
        with pytest.raises(IndexBusy):
            other.delete()
    assert store.current() == 2


def test_a_deleted_index_leaves_nothing(store, tmp_path):
    publish(store)

    store.delete()

    assert (list(tmp_path.iterdir()), index_names(IndexerSettings(home=tmp_path))) == ([], [])
    with pytest.raises(UnknownIndex):
        store.delete()


def test_a_first_build_that_broke_off_can_be_deleted(store, tmp_path):
    with store.writing():
        prepare(store)

    store.delete()

    assert list(tmp_path.iterdir()) == []


def test_asking_for_what_is_not_there_makes_nothing(store, tmp_path):
    with pytest.raises(UnknownIndex) as error:
        store.rollback()

    assert describe_error(error.value).endswith("make it first (shrag index PATH --name papers)")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "-x", "a" * 65, "a b", "a\n"])
def test_a_name_that_is_no_plain_word_is_refused(tmp_path, name):
    with pytest.raises(InvalidCall, match="cannot name an index"):
        FolderStore(tmp_path, name)


@pytest.mark.parametrize("name", ["papers", "논문", "a.b-c_1", "9"])
def test_a_plain_word_names_an_index(tmp_path, name):
    assert FolderStore(tmp_path, name).local.path == tmp_path / name


def edit_manifest(store, edit):
    path = store.version_path(1) / "manifest.json"
    path.write_text(edit(path.read_text()))


def test_a_changed_manifest_is_a_damaged_index_with_two_ways_out(store):
    publish(store)
    edit_manifest(store, lambda text: text.replace('"papers": 0', '"papers": 1'))

    with pytest.raises(IndexDamaged) as error:
        store.manifest()
    assert error.value.remedies == (Remedy.REBUILD, Remedy.ROLL_BACK)
    assert describe_error(error.value) == (
        "the manifest of index 'papers' cannot be read (it is not what was written); build it again "
        "(shrag index PATH --name papers --rebuild), or go back to the version before "
        "(shrag indexes rollback papers)"
    )


@pytest.mark.parametrize("stored", [1, 99])
def test_an_index_of_another_format_is_to_be_rebuilt(store, stored):
    publish(store)
    edit_manifest(store, lambda text: text.replace(f'"format": {FORMAT}', f'"format": {stored}'))

    with pytest.raises(
        IndexMismatch, match=rf"is of format {stored}, .* reads and writes {FORMAT}; build it"
    ):
        store.manifest()
    assert publish(store) == 2  # as a rebuild does
    assert store.manifest().version == 2


def test_an_index_from_before_formats_is_to_be_rebuilt(store):
    publish(store)
    edit_manifest(store, lambda _: json.dumps({"name": "papers", "version": 1}))

    with pytest.raises(IndexMismatch, match="is of format 1,"):
        store.manifest()


def test_a_manifest_holds_the_size_and_the_sum_of_each_file(store):
    publish(store)

    assert store.manifest().files == {
        "number": {"bytes": 1, "sha256": "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"}
    }  # printf 1 | sha256sum
    assert store.verify_files(1) == []


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lambda folder: (folder / "number").write_text("2"), "number: other bytes than were written"),
        (lambda folder: (folder / "number").unlink(), "number: missing"),
        (lambda folder: (folder / "more").touch(), "more: not written by the build"),
        (
            lambda folder: (folder / "manifest.json").write_text(
                (folder / "manifest.json").read_text() + " "
            ),
            "manifest.json: other bytes than were written",
        ),
    ],
    ids=["changed", "missing", "added", "manifest"],
)
def test_verifying_finds_each_byte_that_differs(store, spoil, found):
    publish(store)
    spoil(store.version_path(1))

    assert store.verify_files(1) == [found]


def test_opening_notices_a_file_of_another_size_and_a_missing_one(store):
    publish(store)
    path = store.version_path(1) / "number"
    store.check_files(store.manifest())

    path.write_text("12")
    with pytest.raises(IndexDamaged, match=r"number has 2 bytes, 1 were written; build it again, or go back"):
        store.check_files(store.manifest())
    path.unlink()
    with pytest.raises(FileNotFoundError, match="number"):
        store.check_files(store.manifest())


def test_an_update_takes_over_the_sums_of_files_that_it_shares(tmp_path):
    build(tmp_path, write_jsonl(tmp_path / "one.jsonl", [paper(1)]))
    store = FolderStore(tmp_path, "papers")
    before = store.manifest().files
    name = next(name for name in before if name.endswith(".fieldnorm"))
    path = store.version_path(1) / name
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])

    build(tmp_path, write_jsonl(tmp_path / "two.jsonl", [paper(2)]))

    assert store.manifest().files[name] == before[name]
    assert store.verify_files(2) == [f"{name}: other bytes than were written"]


def test_a_text_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "text"
    write_durably(path, "old")

    with pytest.raises(UnicodeEncodeError):
        write_durably(path, "new \ud800")

    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["text"]


def test_indexes_are_listed_by_name_without_unfinished_ones(tmp_path):
    for name in ("b", "a"):
        publish(FolderStore(tmp_path, name))
    with FolderStore(tmp_path, "c").writing():
        prepare(FolderStore(tmp_path, "c"))

    assert index_names(IndexerSettings(home=tmp_path)) == ["a", "b"]
    assert json.loads((tmp_path / "a" / "CURRENT").read_text()) == 1
