"""Mirrors: what a page changes, and what a build takes."""

import sqlite3
from dataclasses import replace

import pytest

from indexer.errors import IndexDamaged
from indexer.harvesting.answer_parser import ListedRecord
from indexer.harvesting.answers import Page
from indexer.harvesting.mirror import ListState
from indexer.harvesting.mirror_files import open_mirror
from indexer.harvesting.repository import Repository

REPOSITORY = Repository("https://repository.example.ac.kr/oai")
LIST = ListState("", first_pass=1, pass_=1)


@pytest.fixture
def mirror(tmp_path):
    with open_mirror(tmp_path, REPOSITORY, "x") as opened:
        yield opened


def live(identifier, content="a", datestamp="2024-01-01"):
    return ListedRecord(identifier, datestamp, metadata=f"<a>{content}</a>".encode())


def gone(identifier, datestamp="2024-01-02"):
    return ListedRecord(identifier, datestamp, deleted=True)


def changes(mirror, since=0):
    return {identifier: metadata for identifier, metadata, _ in mirror.changed(since)}


def test_a_page_and_its_token_are_stored_together(mirror, tmp_path):
    mirror.store(Page((live("b"), live("a"))), replace(LIST, token="t", pages=1))

    with open_mirror(tmp_path, REPOSITORY, "x") as again:
        assert again.state.list
        assert (again.state.list.token, again.state.list.listed) == ("t", 2)
        assert list(changes(again).items()) == [("a", b"<a>a</a>"), ("b", b"<a>a</a>")]


def test_only_changes_of_content_belong_to_a_later_generation(mirror):
    mirror.store(Page((live("a"), live("b"), live("c"))), LIST)
    last = mirror.close_generation()
    second = replace(LIST, first_pass=2, pass_=2)
    mirror.store(Page((live("a", "new"), live("b", datestamp="2024-02-02"), gone("c"))), second)

    assert changes(mirror, last) == {"a": b"<a>new</a>"}
    assert list(mirror.deleted(last)) == ["c"]
    assert mirror.close_generation() == last + 1
    assert mirror.close_generation() == last + 1  # nothing has changed since


def test_the_deletion_of_an_unknown_record_is_no_change(mirror):
    mirror.store(Page((gone("a"),)), LIST)

    assert list(mirror.deleted(0)) == []
    assert list(mirror.deleted(-1)) == ["a"]  # for an index of another mirror


def test_an_outdated_page_of_the_same_list_changes_nothing(mirror):
    mirror.store(Page((live("a", "new", "2024-02-02"),)), LIST)
    mirror.store(Page((live("a", "old", "2024-01-01"), live("a", "old", "2024-01-01"))), LIST)

    assert changes(mirror) == {"a": b"<a>new</a>"}


def test_an_earlier_datestamp_in_another_list_is_a_change(mirror):
    mirror.store(Page((live("a", "new", "2024-02-02"),)), LIST)
    mirror.store(Page((live("a", "restored", "2024-01-01"),)), replace(LIST, first_pass=2, pass_=2))

    assert changes(mirror) == {"a": b"<a>restored</a>"}


def test_records_are_counted_once_per_list_and_pass(mirror):
    assert mirror.store(Page((live("a"), live("b"), live("a"))), LIST) == 2
    assert mirror.store(Page((live("a"), live("c"))), replace(mirror.state.list, pass_=2, new_in_pass=0)) == 2
    assert (mirror.state.list.listed, mirror.state.list.new_in_pass) == (3, 1)


def test_a_mirror_of_a_later_version_is_refused(tmp_path):
    with open_mirror(tmp_path, REPOSITORY, "x") as mirror:
        path = mirror.path
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()

    with pytest.raises(IndexDamaged, match="format 9"), open_mirror(tmp_path, REPOSITORY, "x"):
        pass


def test_a_damaged_state_is_refused(tmp_path):
    with open_mirror(tmp_path, REPOSITORY, "x") as mirror:
        path = mirror.path
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE state SET value = '{}'")
    connection.close()

    with pytest.raises(IndexDamaged, match=path.name), open_mirror(tmp_path, REPOSITORY, "x"):
        pass
