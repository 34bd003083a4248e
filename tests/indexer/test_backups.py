"""Backups of embedded indexes: complete, verified, and usable as SHRAG_HOME."""

import json
import re
import shutil
import sqlite3
from contextlib import closing

import pytest

from base.errors import InvalidCall
from indexer.backups import SERVER_STORE, back_up, list_backups
from indexer.errors import IndexNotWritten
from indexer.settings import IndexerSettings
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


@pytest.fixture
def writer(home):
    """Return a connection that writes to the server's store, in the journal mode of the server."""
    with closing(sqlite3.connect(home / SERVER_STORE, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE keys (id)")
        yield writer


def test_a_backup_is_a_home_with_the_current_version_and_the_data_of_the_server(home, tmp_path, writer):
    (home / "papers" / "building").mkdir()
    writer.execute("INSERT INTO keys VALUES (1)")
    writer.execute("BEGIN")
    writer.execute("INSERT INTO keys VALUES (2)")  # not committed
    made = back_up(IndexerSettings(home=home), tmp_path / "backups", "first")
    copy = tmp_path / "backups" / "first"
    assert names(copy) == [SERVER_STORE, "backup.json", "papers"]
    assert names(copy / "papers") == ["CURRENT", "versions"]
    assert (made.name, made.indexes, made.copied) == ("first", ("papers",), made.bytes)
    with open_index(IndexerSettings(home=copy), "papers") as index:
        assert index.engine.passage_count == 1
    assert (copy / SERVER_STORE).stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(copy / SERVER_STORE)) as restored:
        assert restored.execute("SELECT id FROM keys").fetchall() == [(1,)]


@pytest.fixture
def three(home, tmp_path):
    """Return a home with keys and three indexes, of which one is damaged and one of an older format."""
    with sqlite3.connect(home / SERVER_STORE) as keys:
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
    assert names(tmp_path / "backups" / "1") == [SERVER_STORE, "backup.json", "papers"]
    again = back_up(IndexerSettings(home=three), tmp_path / "backups", "2", keep=1)
    assert list_backups(tmp_path / "backups") == [made, again]  # an incomplete one removes none


def test_renamed_backups_links_and_foreign_files_are_never_removed(home, tmp_path):
    settings, backups = IndexerSettings(home=home), tmp_path / "backups"
    back_up(settings, backups, "1")
    (backups / "1").rename(backups / "mine")
    back_up(settings, tmp_path / "elsewhere", "2")
    (backups / "2").symlink_to(tmp_path / "elsewhere" / "2")
    (backups / ".note.partial").write_text("a file")
    (backups / ".old.partial" / "papers").mkdir(parents=True)  # of a killed backup
    back_up(settings, backups, "3", keep=1)
    back_up(settings, backups, "4", keep=1)
    assert names(backups) == [".lock", ".note.partial", "2", "4", "mine"]
    assert lexicon(backups / "mine").is_file()
    assert lexicon(backups / "2").is_file()


def test_a_backup_links_what_the_previous_one_has_and_removes_the_oldest_of_its_home(home, tmp_path):
    settings, backups = IndexerSettings(home=home), tmp_path / "backups"
    other = IndexerSettings(home=tmp_path / "other")
    shutil.copytree(home, other.home)
    back_up(other, backups, "0")
    kept = []
    for name in "1234":
        made = back_up(settings, backups, name, keep=2)
        kept.append("".join(backup.name for backup in list_backups(backups)))
    assert kept == ["01", "012", "023", "034"]
    assert made.copied == 0
    assert lexicon(backups / "3").stat().st_ino == lexicon(backups / "4").stat().st_ino
    assert FolderStore(backups / "4", "papers").verify_files(1) == []


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


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        *(("backups", "../1"), ("backups", ".hidden"), ("backups", "a/b")),
        *(("home/backups", ""), ("", "1"), ("link", "1")),
    ],
)
def test_a_backup_stays_outside_of_the_home_and_inside_its_folder(home, tmp_path, folder, name):
    (tmp_path / "link").symlink_to(home / "backups")
    with refusal(InvalidCall):
        back_up(IndexerSettings(home=home), tmp_path / folder, name)


def test_the_commands_make_and_list_backups_and_exit_with_1_naming_what_is_missing(three, tmp_path):
    (three / SERVER_STORE).write_bytes(b"damage" * 100)
    done = shrag("indexes", "backup", "1", home=three, backups=tmp_path / "backups")
    assert done.returncode == 1
    left = re.findall("^not backed up: ([a-z.]+): ", done.stderr, re.MULTILINE)
    assert left == ["damaged", "older", SERVER_STORE]
    listed = shrag("indexes", "backups", home=three, backups=tmp_path / "backups").stdout
    assert re.fullmatch(rf"1  20.*, without damaged, older, {SERVER_STORE}\n", listed)
    assert shrag("indexes", "backup", home=three).returncode == 2
    for name in ("damaged", "older"):
        shutil.rmtree(three / name)
    assert shrag("indexes", "verify", "--all", home=three).stdout == "index 'papers', version 1: intact\n"
    lexicon(three).write_bytes(b"damage")
    done = shrag("indexes", "verify", "--all", home=three)
    assert (done.returncode, "damaged" in done.stdout) == (1, True)
