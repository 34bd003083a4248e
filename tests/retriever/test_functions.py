"""Functions of texts and values, each by the table of its name in `functions/`."""

from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from indexer.analysis import make_analyzer
from indexer.analysis.packing import PassageTokens
from indexer.corpora.papers import Paper
from indexer.files.schema import StoredPassage
from retriever.citing.styles import chicago_range, minimal_range, two_digit_range
from retriever.conditions import find_conditions, without_words
from retriever.duplicates import without_duplicates
from retriever.errors import BadExpression
from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Range, Term
from retriever.queries.expert import parse_expression
from retriever.queries.filters import parse_language, parse_years
from retriever.reference import web_address
from retriever.relevance.paper_ranking import highest_expected_f
from retriever.sources import SourceAnswer
from retriever.sources.kinds.elasticsearch import Settings, paper_in
from retriever.sources.merging import merge
from retriever.sources.web.boolean import plain_words
from retriever.stages.highlights import found_in, snippet
from retriever.stages.hits import Hit
from tests.retriever.sources.test_elasticsearch import FIELDS
from tests.tables import as_json, cases

BILINGUAL = make_analyzer("bilingual")


def shape(query):
    """Return a query as its tokens: `a,b` any of them, `a@0 b@1` at positions, `-a` not, `field=value`."""
    match query:
        case Or(clauses):
            return f"({' | '.join(map(shape, clauses))})"
        case And(clauses):
            return f"({' & '.join(map(shape, clauses))})"
        case Not(clause):
            return f"-{shape(clause)}"
        case Range(low, high):
            return f"{low or ''}..{high or ''}"
        case Exact(field, values):
            return f"{field}={','.join(values)}"
        case Term(_, tokens):
            words = ",".join(tokens)
        case Phrase(_, tokens):
            near = f" ~{query.slop}" if query.slop else ""
            words = " ".join(f"{token}@{position}" for position, token in tokens) + near
        case None:
            return "nothing"
    searched = "" if query.field == "text" else f"{query.field}:"
    return f"{searched}{words}" + ("" if query.weight == 1 else f" ^{query.weight:g}")


def place_of_error(expression):
    with pytest.raises(BadExpression) as caught:
        parse_expression(expression, BILINGUAL)
    assert caught.value.expression == expression
    return caught.value.position, caught.value.reason


def caret(expression, position):
    return str(BadExpression("reason", expression, position)).removeprefix("reason\n")


def marked(text, weights, length):
    tokens = PassageTokens.of("", text, "", BILINGUAL.analyze)
    passage = StoredPassage("P", "P", "", text, "en", "abstract", tokens=tokens)
    shown = snippet(passage, weights, found_in(passage, weights), length=length)
    text = shown.text
    for start, end in reversed(shown.spans):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


def hit(name, record):
    title, text, year = record.get("title", ""), record.get("text", ""), record.get("year")
    return Hit(0, StoredPassage(name, name, title, text, "en", "abstract", year), 1.0, paper=record)


def answer(record):
    return SourceAnswer(((Paper.model_validate(record),),))


def are_merged(one, other):
    return len(merge({"a": answer(one), "b": answer(other)}, {}, several=True).papers) == 1


def from_elasticsearch(record, names):
    """Return some fields of the paper that is made of a record of a library's Elasticsearch."""
    values = {"kind": "elasticsearch", "url": "http://127.0.0.1:9200", "index": "books", "fields": FIELDS}
    found = paper_in(Settings.model_validate(values), "library", {"_id": "B1", "_source": record})
    assert found
    return [getattr(found, name) for name in names.split()]


def fields_and_phrases(question):
    found = find_conditions(question)
    return found.remaining, [value.text for value in found.fields], found.phrases, found.expression


FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "caret": (caret, 2),
    "conditions": (lambda question: astuple(find_conditions(question))[:3], 1),
    "fields": (fields_and_phrases, 1),
    "elasticsearch_record": (from_elasticsearch, 2),
    "expected_f": (highest_expected_f, 1),
    "expression": (lambda expression: shape(parse_expression(expression, BILINGUAL)), 1),
    "language": (parse_language, 1),
    "page_range": (lambda text: (minimal_range(text), two_digit_range(text), chicago_range(text)), 1),
    "plain_words": (plain_words, 1),
    "refused_expression": (place_of_error, 1),
    "same_hit": (lambda one, other: len(without_duplicates([hit("A", one), hit("B", other)])) == 1, 2),
    "same_record": (are_merged, 2),
    "snippet": (marked, 3),
    "web_address": (web_address, 1),
    "without_words": (lambda question, things: without_words(question, things, BILINGUAL), 2),
    "years": (lambda text: astuple(parse_years(text))[:2], 1),
}


@pytest.mark.parametrize(
    ("function", "given", "expected"), cases(Path(__file__).with_name("functions"), FUNCTIONS)
)
def test_a_function_returns_what_its_table_says(function, given, expected):
    assert as_json(function(*given)) == expected
