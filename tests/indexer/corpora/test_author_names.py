"""Names of authors, split into their parts by the tables `names.tsv` and `lists_of_names.tsv`."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.names import AuthorName, names_in, split_name
from tests.hostile import TEXTS


def rows(name):
    _, *lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [(first, rest) for first, *rest in (line.split("\t") for line in lines)]


NAMES = rows("names.tsv")


@pytest.mark.parametrize(
    ("text", "parts"), [*NAMES, ("World Health Organization,", ["World Health Organization"])]
)
def test_a_name_is_split_into_family_given_particle_and_suffix_or_stays_whole(text, parts):
    assert split_name(text) == AuthorName(*parts)


def test_decomposed_hangul_is_split_by_syllables():
    assert split_name("\u1100\u116a\u11a8\u1109\u1169\u110b\u1172\u11af") == AuthorName("곽", "소율")


@pytest.mark.parametrize(("text", "names"), rows("lists_of_names.tsv"))
def test_a_list_of_names_is_split_composed_or_decomposed(text, names):
    decomposed = [unicodedata.normalize("NFC", name) for name in names_in(unicodedata.normalize("NFD", text))]

    assert (names_in(text), decomposed) == (names, [unicodedata.normalize("NFC", name) for name in names])


@given(TEXTS | st.text(st.sampled_from("김철수,;|·() ABae.외저박")))
def test_no_text_stops_the_splitting_of_names(text):
    assert all(split_name(name).family for name in names_in(text))
