"""Rows: the tokens of a passage packed in 16-bit words, and unpacked as arrays."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.names import Name
from indexer.analysis.packing import PassageTokens
from indexer.files.schema import StoredPassage
from indexer.forward.building import packed_row
from indexer.forward.lexicon import LexiconBuilder
from indexer.forward.rows import (
    GAPS,
    HEADER,
    LANGUAGES,
    LARGEST,
    LAST_PLACE,
    LONGEST_NAME,
    TWO_WORDS,
    PassageRows,
    RowTokens,
    pack_row,
    tokens_of_row,
)

ANALYZER = make_analyzer("bilingual")
PASSAGE = StoredPassage("P1", "P1", "A title", "A text", "en", "abstract", 2024)


def packed(body=(), *, other_title=(), title=(), names=(), passage=PASSAGE, title_name=0):
    return pack_row(passage, RowTokens(body, other_title, title, [Name(*name) for name in names], title_name))


def words(numbers):
    return [*numbers, *[0] * GAPS]


def test_a_row_has_the_language_the_year_and_the_kind_of_its_passage():
    passages = [
        replace(PASSAGE, lang="ko", year=None),
        replace(PASSAGE, lang="other", year=9999, text=" \n"),
        replace(PASSAGE, lang="en", year=1, text=""),
    ]
    named = [0, LONGEST_NAME, LONGEST_NAME + 1]
    given_rows = zip(passages, named, strict=True)
    rows = PassageRows.of([packed([1] * 9, passage=one, title_name=size) for one, size in given_rows])
    assert [LANGUAGES[language] for language in rows.language.tolist()] == ["ko", "other", "en"]
    assert (rows.year.tolist(), rows.has_text.tolist()) == ([0, 9999, 1], [True, False, False])
    assert rows.title_name.tolist() == [0, LONGEST_NAME, 0]
    assert (len(PassageRows.of([])), PassageRows.of([]).in_text.tolist()) == (0, [])


def test_a_long_name_is_cut_and_a_far_one_left_out():
    body = [1] * (LAST_PLACE + 3)
    rows = PassageRows.of([packed(body, names=[(0, LONGEST_NAME + 5), (LAST_PLACE, 1), (LAST_PLACE + 1, 1)])])

    assert rows.name_place.tolist() == [0, LAST_PLACE]
    assert rows.name_length.tolist() == [LONGEST_NAME, 1]


def test_equal_titles_have_equal_numbers_and_no_title_has_none():
    titles = ["one", "other", "one", ""]
    rows = PassageRows.of([packed(passage=replace(PASSAGE, title=title)) for title in titles])

    one, other, again, none = rows.same_title.tolist()
    assert one == again != other
    assert none == 0


def changed(row, place, word):
    found = np.frombuffer(row, np.uint16).copy()
    found[place] = word
    return found.tobytes()


ROW = packed([1, 2, TWO_WORDS], other_title=[3], title=[1], names=[(1, 2)])
DAMAGED = {
    "nothing": b"",
    "an odd number of bytes": ROW[:-1],
    "less than a header": ROW[: 2 * HEADER - 2],
    "cut": ROW[:-2],
    "longer": ROW + b"\0\0",
    "another size": changed(ROW, 3, 5),
    "a size beyond the end": changed(ROW, 4, 1),
    "no room for the other title": changed(ROW, 7, 9),
    "an unknown language": changed(ROW, 0, 0b11),
    "half of a number at the end": packed()[: 2 * (HEADER + GAPS - 1)] + b"\xff\xff",
    "a name beyond the end": changed(ROW, -1, 0xFFFF),
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_row_is_an_error(how):
    with pytest.raises(ValueError, match="damaged"):
        PassageRows.of([packed([7]), DAMAGED[how]])


@pytest.mark.parametrize("place", range(len(ROW)))
def test_a_row_with_any_bit_flipped_is_unpacked_or_an_error(place):
    for bit in range(8):
        damaged = bytearray(ROW)
        damaged[place] ^= 1 << bit
        try:
            rows = PassageRows.of([bytes(damaged), packed([7])])
        except ValueError:
            continue
        assert rows.in_text.shape == rows.body.shape
        assert rows.name_place.max(initial=0) < len(rows.body)


NUMBER = st.integers(0, 1 << 18) | st.sampled_from([0, TWO_WORDS - 1, TWO_WORDS, LARGEST])
NUMBERS = st.lists(NUMBER, max_size=30)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=4))
def test_any_numbers_come_back(passages):
    rows = PassageRows.of([packed(body, other_title=other, title=title) for body, other, title in passages])

    bodies = [words(body) + (words(other) if other else []) for body, other, _ in passages]
    assert [rows.body_of(row).tolist() for row in range(len(rows))] == bodies
    assert rows.title.tolist() == [number for *_, title in passages for number in title if number]


TERM = st.text(st.sampled_from("가나b웨 "), min_size=1, max_size=3)
# (position after the one before, letters after the end of the one before, letters, term)
TOKENS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 300), st.integers(1, 40), TERM), max_size=12)


def tokens_at(given_tokens):
    tokens, position, end = [], 0, 0
    for number, (further, apart, length, term) in enumerate(given_tokens):
        position += further if number else 0
        tokens.append((term, position, end + apart, end + apart + length))
        end += apart + length
    return tokens


@given(TOKENS, TOKENS, TOKENS)
def test_any_tokens_of_a_passage_come_back_from_its_row_and_layout(text, title, title2):
    tokens = PassageTokens.pack(*map(tokens_at, (text, title, title2)))
    terms = ["."]

    def numbers(packed_tokens):
        terms.extend(word for word in packed_tokens.words() if word not in terms)
        return [terms.index(word) for word in packed_tokens.words()]

    row = packed(numbers(tokens.text), other_title=numbers(tokens.title2), title=numbers(tokens.title))
    found = tokens_of_row(row, tokens.layout, lambda asked: [terms[number] for number in asked])

    assert found == tokens


@pytest.mark.parametrize(
    ("title", "tokens"),
    [
        ("Mercury (planet)", 1),
        ("The planet Mercury (element)", 2),
        ("Mercury (planet) today", 3),
        ("Mercury", 1),
        ("(planet)", 1),
        ("", 0),
    ],
)
def test_a_title_names_its_subject_before_a_bracket_that_ends_it(title, tokens):
    passage = replace(PASSAGE, title=title)
    row = packed_row(passage, AnalysedPassage.of(title, passage.text, "", ANALYZER), LexiconBuilder())

    assert PassageRows.of([row]).title_name.tolist() == [tokens]
