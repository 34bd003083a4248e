"""Backups of embedded indexes: complete, verified, and usable as SHRAG_HOME."""

import errno
import json
import os
import re
import shutil
import sqlite3

import pytest

from base.errors import InvalidCall
from indexer.errors import IndexBusy, IndexNotWritten, UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.cluster.snapshots import Snapshot
from indexer.versions.folder_backups import back_up, list_backups
from indexer.versions.store.folder import FolderStore
from retriever.index import open_index
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import build, write_jsonl
from tests.refusals import refusal


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    build(home, write_jsonl(tmp_path / "papers.jsonl", [{"id": "A", "title": "River"}]), name="papers")
    return home


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def lexicon(folder, version=1):
    return folder / "papers" / "versions" / f"{version:06}" / "lexicon.bin"


def test_a_backup_is_a_home_with_the_current_version_and_the_keys(home, tmp_path):
    with sqlite3.connect(home / ".server.sqlite") as keys:
        keys.execute("CREATE TABLE keys (id)")
    (home / "papers" / "building").mkdir()
    made = back_up(IndexerSettings(home=home), tmp_path / "backups", "first")
    copy = tmp_path / "backups" / "first"
    assert names(copy) == [".server.sqlite", "backup.json", "papers"]
    assert names(copy / "papers") == ["CURRENT", "versions"]
    assert (made.name, made.indexes, made.copied) == ("first", ("papers",), made.bytes)
    with open_index(IndexerSettings(home=copy), "papers") as index:
        assert index.engine.passage_count == 1


def test_a_backup_has_the_files_of_the_server_without_locks(home, tmp_path):
    for name in (".judgements/readers.jsonl", ".feeds/1.json", ".find-papers/local/2.json"):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(name)
    (home / ".feeds" / "1.lock").touch()
    (home / ".feeds" / "link.json").symlink_to(tmp_path / "papers.jsonl")
    os.utime(home / ".find-papers" / "local" / "2.json", (5, 5))
    with sqlite3.connect(home / ".sign-in.sqlite") as writer, sqlite3.connect(home / ".statistics.sqlite"):
        writer.execute("CREATE TABLE secret (value)")
        writer.commit()
        writer.execute("INSERT INTO secret VALUES (1)")  # not committed
        back_up(IndexerSettings(home=home), tmp_path / "backups", "1")
    copy = tmp_path / "backups" / "1"
    saved = [".feeds", ".find-papers", ".judgements", ".sign-in.sqlite", ".statistics.sqlite"]
    assert names(copy) == [*saved, "backup.json", "papers"]
    assert names(copy / ".feeds") == ["1.json"]
    assert (copy / ".judgements" / "readers.jsonl").read_text() == ".judgements/readers.jsonl"
    assert (copy / ".find-papers" / "local" / "2.json").stat().st_mtime == 5
    with sqlite3.connect(copy / ".sign-in.sqlite") as secrets:
        assert secrets.execute("SELECT * FROM secret").fetchall() == []


def test_a_damaged_file_of_the_server_is_named_and_the_others_are_backed_up(home, tmp_path):
    (home / ".sign-in.sqlite").write_bytes(b"damage" * 100)
    (home / ".feeds").mkdir()
    made = back_up(IndexerSettings(home=home), tmp_path / "backups", "1")
    assert made.failed == {".sign-in.sqlite": f"{home / '.sign-in.sqlite'}: file is not a database"}
    assert names(tmp_path / "backups" / "1") == [".feeds", "backup.json", "papers"]


@pytest.fixture
def three(home, tmp_path):
    """Return a home with keys and three indexes, of which one is damaged and one of an older format."""
    with sqlite3.connect(home / ".server.sqlite") as keys:
        keys.execute("CREATE TABLE keys (id)")
    for name in ("damaged", "older"):
        shutil.copytree(home / "papers", home / name)
    (home / "damaged" / "versions" / "000001" / "lexicon.bin").unlink()
    manifest = home / "older" / "versions" / "000001" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 1}))
    return home


def test_a_damaged_and_an_older_index_are_named_and_the_others_and_the_keys_are_backed_up(three, tmp_path):
    made = back_up(IndexerSettings(home=three), tmp_path / "backups", "1")
    assert made.indexes == ("papers",)
    assert "lexicon.bin" in made.failed["damaged"]
    assert "format" in made.failed["older"]
    assert names(tmp_path / "backups" / "1") == [".server.sqlite", "backup.json", "papers"]
    assert list_backups(tmp_path / "backups") == [made]


def test_an_incomplete_backup_removes_no_earlier_one(three, tmp_path):
    settings, backups = IndexerSettings(home=three), tmp_path / "backups"
    for name in ("1", "2"):
        back_up(settings, backups, name, keep=1)
    assert [backup.name for backup in list_backups(backups)] == ["1", "2"]


def test_the_command_exits_with_1_and_names_each_part_that_was_not_backed_up(three, tmp_path):
    done = shrag("indexes", "backup", "1", home=three, backups=tmp_path / "backups")
    assert done.returncode == 1
    assert re.findall("^not backed up: ([a-z]+): ", done.stderr, re.MULTILINE) == ["damaged", "older"]
    assert shrag("indexes", "backups", home=three, backups=tmp_path / "backups").stdout.endswith(
        ", without damaged, older\n"
    )


def test_a_server_without_indexes_has_its_keys_backed_up(three, tmp_path):
    shutil.copytree(three, tmp_path / "server", ignore=lambda *_: {"papers", "damaged", "older"})
    back_up(IndexerSettings(home=tmp_path / "server"), tmp_path / "backups", "1")
    assert names(tmp_path / "backups" / "1") == [".server.sqlite", "backup.json"]


@pytest.mark.parametrize("backups", ["backups", None])
def test_in_a_cluster_the_keys_are_backed_up_to_the_folder_or_named(three, tmp_path, monkeypatch, backups):
    taken = Snapshot("1", "SUCCESS", "2026-11-28", ("papers",), 1, 1.0)
    monkeypatch.setattr("indexer.versions.cluster.snapshots.backup", lambda *_, **__: taken)
    given = {"backups": tmp_path / backups} if backups else {}
    done = shrag("indexes", "backup", "1", "--keep", "1", home=three, engine="elasticsearch", **given)
    assert done.stdout.startswith("snapshot '1': 1 index")
    if backups:
        assert (done.returncode, names(tmp_path / "backups" / "1")) == (0, [".server.sqlite", "backup.json"])
    else:
        assert done.returncode == 1
        assert done.stderr.startswith("not backed up: .server.sqlite: no folder of backups is given")


def test_a_full_disk_ends_the_backup(home, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(IndexNotWritten, match="the disk is full"):
        back_up(IndexerSettings(home=home), tmp_path / "backups", "1")
    assert list_backups(tmp_path / "backups") == []


def test_renamed_backups_links_and_foreign_files_are_never_removed(home, tmp_path):
    settings, backups = IndexerSettings(home=home), tmp_path / "backups"
    back_up(settings, backups, "1")
    (backups / "1").rename(backups / "mine")
    back_up(settings, tmp_path / "elsewhere", "2")
    (backups / "2").symlink_to(tmp_path / "elsewhere" / "2")
    (backups / ".note.partial").write_text("a file")
    back_up(settings, backups, "3", keep=1)
    back_up(settings, backups, "4", keep=1)
    assert names(backups) == [".lock", ".note.partial", "2", "4", "mine"]
    assert lexicon(backups / "mine").is_file()
    assert lexicon(backups / "2").is_file()


def test_a_second_backup_links_what_the_first_has_and_a_third_removes_it(home, tmp_path):
    settings, backups = IndexerSettings(home=home), tmp_path / "backups"
    back_up(settings, backups, "1")
    assert back_up(settings, backups, "2", keep=2).copied == 0
    assert lexicon(backups / "1").stat().st_ino == lexicon(backups / "2").stat().st_ino
    back_up(settings, backups, "3", keep=2)
    assert [backup.name for backup in list_backups(backups)] == ["2", "3"]
    assert FolderStore(backups / "3", "papers").verify_files(1) == []


def test_no_backup_is_removed_before_there_are_more_than_to_be_kept(home, tmp_path):
    settings, backups = IndexerSettings(home=home), tmp_path / "backups"
    kept = []
    for name in "123456":
        back_up(settings, backups, name, keep=4)
        kept.append("".join(backup.name for backup in list_backups(backups)))
    assert kept == ["1", "12", "123", "1234", "2345", "3456"]


def test_a_damaged_earlier_backup_is_not_linked(home, tmp_path):
    settings, backups = IndexerSettings(home=home), tmp_path / "backups"
    back_up(settings, backups, "1")
    lexicon(backups / "1").write_bytes(b"damage")
    assert back_up(settings, backups, "2").copied > 0
    assert FolderStore(backups / "2", "papers").verify_files(1) == []


def test_if_nothing_can_be_copied_there_is_no_backup_and_the_earlier_ones_stay(home, tmp_path):
    settings, backups = IndexerSettings(home=home), tmp_path / "backups"
    back_up(settings, backups, "1")
    lexicon(home).write_bytes(b"damage")
    lexicon(backups / "1").write_bytes(b"damage too")
    with pytest.raises(IndexNotWritten, match=r"lexicon\.bin"):
        back_up(settings, backups, "2", keep=1)
    assert [backup.name for backup in list_backups(backups)] == ["1"]


def test_only_backups_of_the_same_home_are_counted_and_removed(home, tmp_path):
    other, backups = tmp_path / "other", tmp_path / "backups"
    shutil.copytree(home, other)
    for name in ("a1", "a2"):
        back_up(IndexerSettings(home=home), backups, name)
    back_up(IndexerSettings(home=other), backups, "b1", keep=1)
    assert {backup.name for backup in list_backups(backups)} == {"a1", "a2", "b1"}


def test_remains_of_a_killed_backup_are_removed_and_foreign_folders_kept(home, tmp_path):
    backups = tmp_path / "backups"
    (backups / ".old.partial" / "papers").mkdir(parents=True)
    (backups / "mine").mkdir()
    back_up(IndexerSettings(home=home), backups, "1", keep=1)
    assert names(backups) == [".lock", "1", "mine"]


def test_two_backups_at_once_are_refused(home, tmp_path):
    from filelock import FileLock

    backups = tmp_path / "backups"
    backups.mkdir()
    with FileLock(backups / ".lock"), pytest.raises(IndexBusy):
        back_up(IndexerSettings(home=home), backups)


def test_a_home_without_an_index_has_nothing_to_back_up(tmp_path):
    with pytest.raises(UnknownIndex):
        back_up(IndexerSettings(home=tmp_path / "home"), tmp_path / "backups")


@pytest.mark.parametrize("name", ["../1", ".hidden", "a/b", ""])
def test_a_backup_stays_outside_of_the_home_and_inside_its_folder(home, tmp_path, name):
    with refusal(InvalidCall):
        back_up(IndexerSettings(home=home), tmp_path / "backups" if name else home / "backups", name)


def test_a_folder_that_contains_the_home_or_links_into_it_is_refused(home, tmp_path):
    (tmp_path / "link").symlink_to(home / "backups")
    for folder in (tmp_path, tmp_path / "link"):
        with refusal(InvalidCall):
            back_up(IndexerSettings(home=home), folder, "1")


def test_the_commands_make_and_list_backups_and_verify_all_indexes(home, tmp_path):
    done = shrag("indexes", "backup", "1", home=home, backups=tmp_path / "backups")
    assert done.returncode == 0, done.stderr
    assert shrag("indexes", "backups", home=home, backups=tmp_path / "backups").stdout.startswith("1  20")
    assert shrag("indexes", "backup", home=home).returncode == 2
    assert shrag("indexes", "verify", "--all", home=home).stdout == "index 'papers', version 1: intact\n"
    lexicon(home).write_bytes(b"damage")
    done = shrag("indexes", "verify", "--all", home=home)
    assert (done.returncode, "damaged" in done.stdout) == (1, True)
