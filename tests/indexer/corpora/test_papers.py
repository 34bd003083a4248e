"""A paper: its record and bounds, sections of its body, names of its authors."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from indexer.corpora.cleaning import Section, split_sections
from indexer.corpora.names import AuthorName, names_in, split_name
from indexer.corpora.papers import Paper, language_of_question, why_invalid
from tests.hostile import TEXTS


def refusal(**record):
    with pytest.raises(ValidationError) as error:
        Paper.model_validate(record)
    return why_invalid(error.value)


@pytest.mark.parametrize("key", ["id", "_id", "docid"])
@pytest.mark.parametrize("text", ["abstract", "text", "contents"])
def test_aliases_are_read(key, text):
    paper = Paper.model_validate({key: "A", text: "methane"})

    assert (paper.id, paper.abstract) == ("A", "methane")


def test_what_is_absent_stays_absent_and_what_is_unknown_is_kept():
    record = {"id": "A", "title": "t", "funder": {"name": "x"}, "body": "left out"}

    kept = {"id": "A", "title": "t", "lang": "en", "funder": {"name": "x"}}
    assert Paper.model_validate(record).record() == kept


@pytest.mark.parametrize(
    ("record", "begins"),
    [
        ({"id": "A" * 513}, "id: "),
        ({"id": "A\u0085"}, "id: "),
        ({"id": 3}, "id: "),
        ({"id": "A", "year": 999}, "year: "),
        ({"id": "A", "year": 2101}, "year: "),
        ({"id": "A", "cited_by_count": 10**400}, "cited_by_count: "),
        ({"id": "A", "authors": "Kim"}, "authors: "),
        ({"id": "A", "references": ["B C"]}, "references.0: "),
        ({"id": "A", "title": None}, "title: "),
        ({"id": "A", "note": "\ud800"}, "a lone surrogate"),
    ],
)
def test_what_is_out_of_bounds_is_refused_in_one_line(record, begins):
    assert refusal(**record).startswith(begins)


def test_sections_carry_their_headings_as_they_stand():
    assert split_sections("Preface.\n# Title\n1.2 Method of Search\nText.\n3. 결론\n끝이다.") == [
        Section("", "Preface."),
        Section("# Title", ""),
        Section("1.2 Method of Search", "Text."),
        Section("3. 결론", "끝이다."),
    ]
    assert split_sections("**Note** this is text") == [Section("", "**Note** this is text")]


def rows(name):
    _, *lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [(first, rest) for first, *rest in (line.split("\t") for line in lines)]


NAMES = rows("names.tsv")


@pytest.mark.parametrize(
    ("text", "parts"), [*NAMES, ("World Health Organization,", ["World Health Organization"])]
)
def test_a_name_is_split_into_family_given_particle_and_suffix_or_stays_whole(text, parts):
    assert split_name(text) == AuthorName(*parts)


@pytest.mark.parametrize(("text", "names"), rows("lists_of_names.tsv"))
def test_a_list_of_names_is_split_composed_or_decomposed(text, names):
    decomposed = [unicodedata.normalize("NFC", name) for name in names_in(unicodedata.normalize("NFD", text))]

    assert (names_in(text), decomposed) == (names, [unicodedata.normalize("NFC", name) for name in names])


@given(TEXTS | st.text(st.sampled_from("김철수,;|·() ABae.외저박")))
def test_no_text_stops_the_splitting_of_names(text):
    assert all(split_name(name).family for name in names_in(text))


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("knowledge graph와 hallucination의 관계", "ko"),
        ("hard carbon 음극의 capacity", "ko"),
        ("Helicobacter pylori 제균 regimen", "ko"),
        ("in vitro fertilization 성공률은?", "ko"),
        ("deep learning을 이용한 protein folding (AlphaFold)", "ko"),
        ("rice paddy methane 감축", "ko"),
        ("SGLT2 inhibitor와 heart failure", "ko"),
        ("Explain 황사 layers over Seoul", "en"),
        ("Changma (장마) extreme hourly rain causes", "en"),
        ("Haenyeo (해녀) oral histories", "en"),
        ("Korean 인삼 cultivation and soil fumigation", "en"),
        ("How is the Korean word 정 translated in English papers?", "en"),
        ("What is 효 in Confucian families", "en"),
        ("knowledge graph and hallucination", "en"),
        ("2 + 2", "other"),
    ],
)
def test_the_share_of_korean_words_tells_the_language_of_a_question(question, language):
    assert language_of_question(question) == language
