"""Functions of texts and values, each by the table of its name in `functions/`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexer.analysis import make_analyzer
from indexer.analysis.hanja import read_hanja
from indexer.analysis.names import names_in
from indexer.analysis.normal_form import normal_form
from indexer.analysis.porter import porter_stem
from indexer.corpora.chunking import chunk_text, split_sentences
from indexer.corpora.cleaning import clean_body
from indexer.corpora.full_text.references import doi_in, parse_reference
from indexer.corpora.full_text.title_page import names_in as names_in_row
from indexer.corpora.full_text.title_page import year_of
from indexer.corpora.papers import language_of
from indexer.corpora.readers.bibliography import year_within
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.tex import text_of
from indexer.files.schema import StoredPassage
from indexer.files.sums import unsealed
from indexer.glossary.abbreviations import expanded_abbreviations
from indexer.glossary.mined import Evidence, find_mentions
from tests.tables import as_json, cases

BILINGUAL = make_analyzer("bilingual")
CHAINS = {
    **{name: make_analyzer(name) for name in ("bilingual", "korean", "english")},
    "mixed": make_analyzer("korean", "mixed"),
    "none": make_analyzer("korean", "none"),
}


def tokens(chain, text):
    found = CHAINS[chain].analyze(text)
    return " ".join(f"{term}@{position}:{start}-{end}" for term, position, start, end in found)


def tags(chain, text):
    return " ".join(f"{token[0]}/{tag}" for token, tag in CHAINS[chain].tagged_tokens(text))


def names(text, title):
    whole = f"{title}\n{text}" if title else text
    return list(names_in(whole, BILINGUAL.tagged_tokens(whole), title_end=len(title)).values())


def brackets(text):
    passage, evidence = StoredPassage("P1", "P1", "", text, "ko", "abstract", record="{}"), Evidence()
    evidence.add(passage, find_mentions(passage, BILINGUAL))
    return [(pair.korean, pair.english) for pair in evidence.choose_pairs(BILINGUAL)]


FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "abbreviation": (lambda text: list(expanded_abbreviations(text)), 1),
    "body": (clean_body, 1),
    "bracket": (brackets, 1),
    "chunks": (chunk_text, 1),
    "doi": (doi_in, 1),
    "hanja": (read_hanja, 1),
    "language": (language_of, 1),
    "markup": (without_markup, 1),
    "names": (names, 2),
    "normal_form": (lambda text: normal_form(text, hanja=True).text, 1),
    "reference": (parse_reference, 1),
    "row_of_names": (names_in_row, 1),
    "sentences": (lambda text: [text[start:end] for start, end in split_sentences(text)], 1),
    "stem": (porter_stem, 1),
    "tags": (tags, 2),
    "tex": (text_of, 1),
    "tokens": (tokens, 2),
    "unsealed": (unsealed, 1),
    "year": (year_within, 1),
    "year_of_page": (lambda lines: year_of(lines, ""), 1),
}


@pytest.mark.parametrize(
    ("function", "given", "expected"), cases(Path(__file__).with_name("functions"), FUNCTIONS)
)
def test_a_function_returns_what_its_table_says(function, given, expected):
    assert as_json(function(*given)) == expected
