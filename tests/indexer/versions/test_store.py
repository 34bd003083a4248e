"""Versions side by side: publishing, going back, clearing away, and what an ended process leaves."""

import sys
from errno import EIO
from functools import partial

import pytest

from base.errors import InvalidCall, Remedy
from indexer.errors import IndexBusy, IndexDamaged, IndexMismatch, UnknownIndex
from indexer.files.sums import FileSum
from indexer.settings import IndexerSettings
from indexer.versions.manifest import FORMAT, Manifest
from indexer.versions.store.engines import index_names
from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import build, paper, write_jsonl
from tests.refusals import ANEW_OR_BACK, refusal


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


def test_rollback_goes_back_one_by_one(store):
    for _ in range(3):
        publish(store)

    assert [store.rollback(), answering(store), store.rollback(), answering(store)] == [2, 2, 1, 1]
    with refusal(InvalidCall, "papers", "1"):
        store.rollback()
    assert [store.rollback(3), answering(store), store.rollback()] == [3, 3, 2]


def test_a_version_that_this_program_cannot_read_is_not_made_the_current_one(store):
    for _ in range(3):
        publish(store)
    file = store.version_path(2) / "manifest.json"
    file.write_text(file.read_text().replace(f'"format": {FORMAT}', f'"format": {FORMAT - 1}'))

    for refused in (store.rollback, partial(store.rollback, 2)):
        with refusal(IndexMismatch, "papers", str(FORMAT - 1), remedies=Remedy.REBUILD):
            refused()
    assert (store.current(), store.rollback(1)) == (3, 1)


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


@pytest.mark.parametrize("versions", [0, 1])
@pytest.mark.parametrize("is_moved", [False, True])
def test_a_version_whose_pointer_was_not_moved_is_published_by_the_next_writer(store, versions, is_moved):
    for _ in range(versions):
        publish(store)
    with store.writing():
        version = prepare(store)
        store.local.versions.mkdir(exist_ok=True)
        store.local.building.rename(store.version_path(version))
        if is_moved:
            store.point_to(version)  # and here the process was killed

    there = versions + is_moved
    assert (store.current(), store.versions()) == (there or None, list(range(1, there + 1)))
    with store.writing():
        assert (store.current(), answering(store)) == (version, version)
    assert not (store.version_path(version) / "plan.json").exists()


def test_versions_that_a_killed_process_did_not_prune_are_pruned_by_the_next(store, monkeypatch):
    for _ in range(4):
        publish(store)
    with monkeypatch.context() as killed:
        killed.setattr(FolderStore, "_prune", lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            publish(store)

    assert (store.current(), store.versions()) == (5, [2, 3, 4, 5])
    publish(store)
    assert store.versions() == [4, 5, 6]


def test_a_version_half_cleared_away_is_none(store):
    publish(store)
    publish(store)
    store.version_path(1).rename(store.local.versions / ".000001")

    assert store.versions() == [2]
    publish(store)
    assert sorted(path.name for path in store.local.versions.iterdir()) == ["000002", "000003"]


def test_a_deleted_index_and_a_first_build_that_broke_off_leave_nothing(store, tmp_path):
    for prepared in (publish, begin):
        prepared(store)
        store.delete()
        assert (list(tmp_path.iterdir()), index_names(IndexerSettings(home=tmp_path))) == ([], [])
    for refused in (store.delete, store.rollback):
        with refusal(UnknownIndex, "papers", remedies=Remedy.CREATE):
            refused()
    assert list(tmp_path.iterdir()) == []


def begin(store):
    with store.writing():
        prepare(store)


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


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "-x", "a" * 65, "a b", "a\n"])
def test_a_name_that_is_no_plain_word_is_refused(tmp_path, name):
    with pytest.raises(InvalidCall):
        FolderStore(tmp_path, name)
    assert FolderStore(tmp_path, f"논문.a-b_c{len(name)}").local.path.parent == tmp_path


def edit_manifest(store, edit):
    path = store.version_path(1) / "manifest.json"
    path.write_text(edit(path.read_text()))


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace('"papers": 0', '"papers": 1'),
        lambda _: "[" * 100_000,
        lambda _: '{"format": 3, "a": ' + "[" * 100_000,
        lambda _: "null",
    ],
    ids=["changed", "deep", "deep value", "null"],
)
def test_a_manifest_of_anything_else_is_a_damaged_index_with_two_ways_out(store, edit):
    publish(store)
    edit_manifest(store, edit)

    with refusal(IndexDamaged, "papers", remedies=ANEW_OR_BACK):
        store.manifest()


@pytest.mark.parametrize("stored", [1, 99])
def test_an_index_of_another_format_is_to_be_rebuilt(store, stored):
    publish(store)
    edit_manifest(store, lambda text: text.replace(f'"format": {FORMAT}', f'"format": {stored}'))

    with refusal(IndexMismatch, f"format {stored}", str(FORMAT), remedies=Remedy.REBUILD):
        store.manifest()
    assert publish(store) == 2  # as a rebuild does
    assert store.manifest().version == 2


def test_a_manifest_holds_the_size_and_the_sum_of_each_file(store):
    publish(store)

    assert store.manifest().files == {
        "number": FileSum(1, "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b")
    }  # printf 1 | sha256sum
    assert store.verify_files(1) == []


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lambda folder: (folder / "number").write_text("2"), "number"),
        (lambda folder: (folder / "number").unlink(), "number"),
        (
            lambda folder: ((folder / "number").unlink(), (folder / "number").symlink_to("number")),
            "number",
        ),
        (lambda folder: (folder / "more").touch(), "more"),
        (
            lambda folder: (folder / "manifest.json").write_text(
                (folder / "manifest.json").read_text() + " "
            ),
            "manifest.json",
        ),
    ],
    ids=["changed", "missing", "unreadable", "added", "manifest"],
)
def test_verifying_finds_each_byte_that_differs(store, spoil, found):
    publish(store)
    spoil(store.version_path(1))

    (told,) = store.verify_files(1)
    assert told.startswith(f"{found} ")


def test_an_unreadable_file_is_named(store, monkeypatch):
    def refuse(path):
        raise OSError(EIO, "Input/output error", str(path))

    publish(store)
    monkeypatch.setattr("indexer.files.sums.sum_file", refuse)

    (found,) = store.verify_files(1)
    assert found.startswith("number ")
    with refusal(IndexDamaged, "number", remedies=ANEW_OR_BACK):
        store.check_files(store.manifest())


def test_a_version_that_is_cleared_away_while_it_is_verified_is_no_error(store):
    publish(store)

    store.verify_files(1, lambda *_: publish(store, keep=1))

    assert 1 not in store.versions()


def test_opening_reads_the_smaller_files_and_verifying_the_others_too(store, monkeypatch):
    publish(store)
    path = store.version_path(1) / "number"
    store.check_files(store.manifest())
    for spoil, told in (
        (path.unlink, "is missing"),
        (lambda: path.write_text("12"), "has 2 bytes"),
        (lambda: path.write_text("2"), "checksum"),
    ):
        spoil()
        with refusal(IndexDamaged, "number", told, remedies=ANEW_OR_BACK):
            store.check_files(store.manifest())

    monkeypatch.setattr("indexer.versions.store.folder.READ_ON_OPENING", 0)
    store.check_files(store.manifest())
    (found,) = store.verify_files(1)
    assert "checksum" in found
    with pytest.raises(IndexDamaged):
        store.check_files(store.manifest(), every_byte=True)


def test_nothing_is_made_from_a_version_that_is_not_what_was_written(tmp_path):
    build(tmp_path, write_jsonl(tmp_path / "one.jsonl", [paper(1)]))
    store = FolderStore(tmp_path, "papers")
    name = next(name for name in store.manifest().files if name.endswith(".fieldnorm"))
    path = store.version_path(1) / name
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])

    with refusal(IndexDamaged, name, "checksum", remedies=ANEW_OR_BACK):
        build(tmp_path, write_jsonl(tmp_path / "two.jsonl", [paper(2)]))
    assert store.versions() == [1]
    assert build(tmp_path, tmp_path / "two.jsonl", rebuild=True).manifest.version == 2


def lose(pointer):
    pointer.unlink()


LOST = {
    "lost": (lose, "is missing"),
    "empty": (lambda pointer: pointer.write_text(""), "contains no version number"),
    "x": (lambda pointer: pointer.write_text("x"), "contains no version number"),
    "a flipped bit": (
        lambda pointer: pointer.write_text(pointer.read_text().replace("3", "2", 1)),
        "contains no",
    ),
    "a version that is not there": (
        lambda pointer: pointer.write_text("7\n"),
        "names version 7",
    ),
}


@pytest.fixture(params=LOST)
def pointerless(store, request):
    """Return a store of three versions, nothing of which says which answers, and what is told of it."""
    for _ in range(3):
        publish(store)
    spoil, told = LOST[request.param]
    spoil(store.local.path / "CURRENT")
    return store, told


def test_versions_without_a_pointer_are_damage_and_nothing_is_written_beside_them(pointerless):
    store, told = pointerless

    for refused in (partial(publish, store, keep=1), store.current, store.manifest, store.rollback):
        with refusal(IndexDamaged, told, "1, 2, 3", remedies=(Remedy.POINT_TO, Remedy.DELETE)):
            refused()
    assert store.versions() == [1, 2, 3]
    assert [store.verify_files(version) for version in store.versions()] == [[], [], []]
    assert index_names(IndexerSettings(home=store.local.path.parent)) == ["papers"]


def test_a_pointer_is_set_again_by_naming_a_version(pointerless):
    store, _ = pointerless
    with refusal(InvalidCall, "9", "1, 2, 3"):
        store.rollback(9)

    assert (store.rollback(2), store.current(), answering(store)) == (2, 2, 2)
    publish(store)
    assert store.rollback() == 2


def test_an_index_without_a_pointer_can_be_deleted(pointerless):
    store, _ = pointerless

    store.delete()

    assert not store.local.path.exists()


def test_a_damaged_version_is_not_made_to_answer(store):
    for _ in range(3):
        publish(store)
    (store.version_path(2) / "number").write_text("22")

    for version in (None, 2):
        with refusal(IndexDamaged, "version 2", "number", remedies=ANEW_OR_BACK):
            store.rollback(version)
    assert (store.current(), store.rollback(1), store.current()) == (3, 1, 1)


def test_indexes_are_listed_by_name_without_unfinished_ones(tmp_path):
    for name in ("b", "a"):
        publish(FolderStore(tmp_path, name))
    with FolderStore(tmp_path, "c").writing():
        prepare(FolderStore(tmp_path, "c"))

    assert index_names(IndexerSettings(home=tmp_path)) == ["a", "b"]
    assert (tmp_path / "a" / "CURRENT").read_text().splitlines()[0] == "1"
