"""The loop over items with one key each."""

import io
import sys

import pytest

from eval.judging.keyboard import typed_keys, work_through

CHOICES = {"y": "keep", "n": "drop"}


def worked(items, keys, done=()):
    """Work through items; return the chosen keys in their order, and the items as they were shown."""
    chosen, shown, finished = [], [], set(done)

    def choose(item, key):
        chosen.append((item, key))
        finished.add(item)

    work_through(
        items,
        finished.__contains__,
        lambda item, place: shown.append((place, item)),
        CHOICES,
        choose,
        iter(keys),
    )
    return chosen, shown


def test_each_item_gets_a_key():
    assert worked("abc", "yny") == (
        [("a", "y"), ("b", "n"), ("c", "y")],
        [(1, "a"), (2, "b"), (3, "c")],
    )


def test_items_that_are_done_are_left_out():
    assert worked("abcd", "yy", done="ac")[0] == [("b", "y"), ("d", "y")]


def test_other_keys_are_refused():
    assert worked("a", "x1?y")[0] == [("a", "y")]


def test_back_returns_to_the_item_before_and_its_last_key_counts():
    chosen, shown = worked("abc", "ybnyy")
    assert chosen == [("a", "y"), ("a", "n"), ("b", "y"), ("c", "y")]
    assert [item for _, item in shown] == ["a", "b", "a", "b", "c"]


def test_back_reaches_items_of_an_earlier_session():
    assert worked("abc", "bny", done="a")[0] == [("a", "n"), ("b", "y")]


def test_back_at_the_first_item_stays():
    assert worked("ab", "bbyy")[0] == [("a", "y"), ("b", "y")]


@pytest.mark.parametrize("keys", ["yq", "y"])
def test_quit_or_the_end_of_the_keys_ends_the_loop(keys):
    assert worked("abc", keys)[0] == [("a", "y")]


def test_nothing_is_shown_if_all_is_done():
    assert worked("ab", "y", done="ab") == ([], [])


@pytest.mark.parametrize(
    ("typed", "keys"),
    [("y n\n q\n", "ynq"), ("Y", "y"), ("ㅛㅜㅠㅂ", "ynbq"), ("", ""), ("0\x1b1", "0\x1b1")],
)
def test_the_keys_of_a_pipe_are_its_characters(monkeypatch, typed, keys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with typed_keys() as typed_by:
        assert "".join(typed_by) == keys
