"""Versions side by side: publishing, going back, clearing away, fingerprints and foreign files."""

from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pytest

from base.errors import InvalidCall, Remedy
from indexer.errors import IndexBusy, IndexDamaged, IndexMismatch, UnknownIndex
from indexer.files.sums import FileSum
from indexer.settings import IndexerSettings
from indexer.versions.manifest import FORMAT, Manifest, check_analysis, lexical_fingerprint
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


def test_rollback_goes_back_one_by_one_and_what_it_left_is_cleared_away_by_the_next_version(store):
    for _ in range(3):
        publish(store)

    assert [store.rollback(), answering(store), store.rollback(), answering(store)] == [2, 2, 1, 1]
    with refusal(InvalidCall, "papers", "1"):
        store.rollback()
    assert [store.rollback(3), answering(store), store.rollback()] == [3, 3, 2]
    assert (publish(store), store.versions(), store.rollback()) == (4, [1, 2, 4], 2)


def test_a_version_that_this_program_cannot_read_is_not_made_the_current_one(store):
    for _ in range(3):
        publish(store)
    file = store.version_path(2) / "manifest.json"
    file.write_text(file.read_text().replace(f'"format": {FORMAT}', f'"format": {FORMAT - 1}'))

    for refused in (store.rollback, partial(store.rollback, 2)):
        with refusal(IndexMismatch, "papers", str(FORMAT - 1), remedies=Remedy.REBUILD):
            refused()
    assert (store.current(), store.rollback(1)) == (3, 1)


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


def test_a_deleted_index_and_a_first_build_that_broke_off_leave_nothing(store, tmp_path):
    for is_published in (True, False):
        if is_published:
            publish(store)
        else:
            with store.writing():
                prepare(store)
        store.delete()
        assert (list(tmp_path.iterdir()), index_names(IndexerSettings(home=tmp_path))) == ([], [])
    for refused in (store.delete, store.rollback):
        with refusal(UnknownIndex, "papers", remedies=Remedy.CREATE):
            refused()
    assert list(tmp_path.iterdir()) == []


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


def edit_text(path, edit):
    path.write_text(edit(path.read_text()))


def edit_manifest(store, edit):
    edit_text(store.version_path(1) / "manifest.json", edit)


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
    ("spoil", "name", "told"),
    [
        (lambda folder: (folder / "number").write_text("2"), "number", "checksum"),
        (lambda folder: (folder / "number").write_text("12"), "number", "has 2 bytes"),
        (lambda folder: (folder / "number").unlink(), "number", "is missing"),
    ],
    ids=["changed", "longer", "missing"],
)
def test_verifying_finds_each_byte_that_differs_and_opening_what_the_build_wrote(store, spoil, name, told):
    publish(store)
    manifest = store.manifest()
    store.check_files(manifest)
    spoil(store.version_path(1))

    (found,) = store.verify_files(1)
    assert found.startswith(f"{name} ")
    with refusal(IndexDamaged, name, told, remedies=ANEW_OR_BACK):
        store.check_files(manifest)


LOST = {
    "lost": (lambda pointer: pointer.unlink(), "is missing"),
    "empty": (lambda pointer: pointer.write_text(""), "contains no version number"),
    "x": (lambda pointer: pointer.write_text("x"), "contains no version number"),
    "a flipped bit": (
        lambda pointer: pointer.write_text(pointer.read_text().replace("3", "2", 1)),
        "contains no",
    ),
    "no such version": (lambda pointer: pointer.write_text("7\n"), "names version 7"),
}


@pytest.fixture(params=LOST)
def pointerless(store, request):
    """Return a store of three versions, nothing of which says which answers, and what is told of it."""
    for _ in range(3):
        publish(store)
    spoil, told = LOST[request.param]
    spoil(store.local.path / "CURRENT")
    return store, told


def test_versions_without_a_pointer_are_damage_until_one_is_named_or_the_index_deleted(pointerless):
    store, told = pointerless

    for refused in (partial(publish, store, keep=1), store.current, store.manifest, store.rollback):
        with refusal(IndexDamaged, told, "1, 2, 3", remedies=(Remedy.POINT_TO, Remedy.DELETE)):
            refused()
    assert [store.verify_files(version) for version in store.versions()] == [[], [], []]
    assert index_names(IndexerSettings(home=store.local.path.parent)) == ["papers"]
    with refusal(InvalidCall, "9", "1, 2, 3"):
        store.rollback(9)

    assert (store.rollback(2), store.current(), answering(store)) == (2, 2, 2)
    publish(store)
    assert store.rollback() == 2
    (store.local.path / "CURRENT").unlink()
    store.delete()
    assert not store.local.path.exists()


def test_a_damaged_version_is_not_made_to_answer(store):
    for _ in range(3):
        publish(store)
    (store.version_path(2) / "number").write_text("22")

    for number in (None, 2):
        with refusal(IndexDamaged, "version 2", "number", remedies=ANEW_OR_BACK):
            store.rollback(number)
    assert (store.current(), store.rollback(1), store.current()) == (3, 1, 1)


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ({}, None),
        (
            {"analysis": "0", "python-mecab-ko-dic": "0"},
            r"\(analysis: 0, now \d; python-mecab-ko-dic: 0, now ",
        ),
        ({"tokens": "1"}, "tokens: 1, now none"),
        ({"tantivy": "0.1"}, "tantivy: 0.1, now 0.27"),
    ],
)
def test_another_fingerprint_is_refused_with_both_values(stored, told):
    manifest = manifest_of(1)
    own = lexical_fingerprint(manifest.analyzer, manifest.decompound)
    with pytest.raises(IndexMismatch, match=told) if told else nullcontext():
        check_analysis(replace(manifest, fingerprint=own | stored), None)


NOTES = "do not delete"


@pytest.fixture
def publish_two(home, tmp_path):
    path = write_jsonl(tmp_path / "papers.jsonl", [paper(1), paper(2)])
    return lambda: build(home, path, keep_versions=1, rebuild=True).manifest.version


def test_foreign_files_and_links_outlive_versions_and_the_index(home, publish_two, tmp_path):
    publish_two()
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

    assert [publish_two(), publish_two()] == [2, 3]
    assert FolderStore(home, "papers").versions() == [3]
    assert {path.read_text() for path in (*strays, *of_versions, elsewhere)} == {NOTES}

    FolderStore(home, "papers").delete()
    assert index_names(IndexerSettings(home=home)) == []
    assert {path.read_text() for path in (*strays, elsewhere)} == {NOTES}
