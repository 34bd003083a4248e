"""What every engine gives a reader to begin with, and to go on with where nothing was found.

tests/service/elasticsearch imports all of this; `settings_for` makes settings of the engine for a home.
"""

import asyncio
import json

import pytest

from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from retriever.views.example_questions import example_questions
from retriever.views.nothing_found import UnknownWord, WithoutFilter, nothing_found
from tests.indexer.made_corpora import ROOT
from tests.retriever.made_papers import PAPERS, contract_fixture, indexed

SETTINGS = RetrieverSettings()
SAMPLE = ROOT / "sample" / "papers.jsonl"


index = contract_fixture(PAPERS, "starting")


@pytest.fixture(scope="module")
def sample(tmp_path_factory, settings_for):
    papers = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    with indexed(settings_for(tmp_path_factory.mktemp("sample")), papers, "starting-sample") as index:
        yield index


def why(index, question, method="shrag", **request):
    return nothing_found(index, SearchRequest(question, method, **request), SETTINGS)


def hits(index, question, **request):
    return asyncio.run(search(index, SearchRequest(question, **request), SETTINGS)).hits


@pytest.mark.parametrize("language", ["ko", "en"])
def test_examples_ask_about_what_the_index_holds_in_its_language(sample, language):
    questions = example_questions(sample, language)

    assert len(set(questions)) == 3
    assert example_questions(sample, language) == questions
    for question in questions:
        assert any(hit.passage.lang == language for hit in hits(sample, question)[:3])


def test_unknown_words_come_with_near_spellings(index):
    found = why(index, "pangolim zyzzyva", "or")

    assert found.reason == "unknown words"
    assert found.unknown == (UnknownWord("pangolim", ("pangolin",)), UnknownWord("zyzzyva", ()))


def test_filters_that_leave_nothing_are_named_with_what_would_be_found(index):
    filters = Filters(years=Range(1990, 1999), lang="en", journal="none")
    found = why(index, "pangolin", filters=filters)

    assert found.reason == "filters"
    assert found.without_filters == 2
    assert found.without_filter == ()  # no single one is to blame
    only_years = why(index, "pangolin", filters=Filters(years=Range(1990, 1999)))
    assert only_years.without_filter == (WithoutFilter("year", 2),)


def test_what_the_other_language_would_find_is_counted(index):
    found = why(index, "환각", "or", filters=Filters(lang="other"))

    assert found.reason == "filters"
    assert [(each.text, each.passages) for each in found.other_language] == [("hallucination", 2)]
