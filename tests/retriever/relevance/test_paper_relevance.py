"""Papers compared with a question: the words that they share, and what papers lose to exclusions."""

import asyncio
import math

import pytest

from indexer.corpora.papers import Paper
from indexer.settings import IndexerSettings
from retriever.conditions import find_conditions
from retriever.relevance.authority import Cited, authorities, citations
from retriever.relevance.papers import PaperRelevance
from retriever.strategy import Strategy


@pytest.fixture(scope="module")
def relevance():
    with PaperRelevance(IndexerSettings()) as opened:
        yield opened


def shared(relevance, question, *papers):
    return asyncio.run(relevance.shared(question, papers))


def losses(relevance, question, *papers):
    async def measure():
        found = find_conditions(question)
        strategy = Strategy().excluding(found.exclude)
        return await relevance.losses(await relevance.excluded(found.remaining, strategy), papers)

    return asyncio.run(measure())


def paper(title, abstract="", **fields):
    return Paper.model_validate({"id": "P1", "title": title, "abstract": abstract, **fields})


def test_the_words_of_a_question_are_those_that_title_or_abstract_hold(relevance):
    papers = (paper("Methane of rice", "Paddies were flooded."), paper("Rice prices"), paper("Neutron stars"))
    assert shared(relevance, "methane emission of rice paddies", *papers) == [
        ("methane", "rice", "paddies"),
        ("rice",),
        (),
    ]


def test_a_word_that_only_a_counterpart_stands_for_is_named_with_it(relevance):
    [words] = shared(relevance, "메탄 배터리", paper("Methane and bees", lang="en"))
    assert words == ("메탄 (methane)",)


@pytest.mark.parametrize(
    ("question", "about", "other"),
    [
        ("methane of wetlands, except paddies", "Methane of paddies", "Methane of lakes"),
        ("호수를 제외한 습지의 메탄", "호수의 메탄", "습지의 메탄"),
    ],
)
def test_a_paper_about_what_is_excluded_loses_relevance(relevance, question, about, other):
    lost, kept = losses(relevance, question, paper(about), paper(other))
    assert 0 < lost <= 1
    assert kept == 0


def test_authority_counts_citations_by_age():
    young, old = paper("", year=2025, cited_by_count=20), paper("", year=2005, cited_by_count=20)
    counted = citations([young, old])
    assert authorities([young, old], counted, 2026)[0] == 1.0
    assert authorities([young, old], counted, 2026)[1] < 0.5


@pytest.mark.parametrize(
    ("in_index", "cited", "authority"),
    [
        # A record's count goes before the index's, which goes before the references of the papers found.
        (
            {"A": 9, "B": 9},
            [Cited(2, "record"), Cited(9, "index"), None],
            [math.log(2) / math.log(5.5), 1.0, 0.0],
        ),
        ({}, [Cited(2, "record"), None, None], [1.0, 0.0, 0.0]),
    ],
)
def test_an_index_counts_where_a_record_does_not(in_index, cited, authority):
    records = {"A": {"cited_by_count": 2}, "B": {}, "C": {}}
    papers = [Paper.model_validate({"id": id_, "year": 2025} | more) for id_, more in records.items()]
    assert citations(papers, in_index, {"C": 5}) == cited
    assert authorities(papers, cited, 2026) == pytest.approx(authority)


def test_references_of_the_papers_found_count_where_nobody_else_counted_any():
    papers = [Paper.model_validate({"id": "A"}), Paper.model_validate({"id": "B"})]
    assert citations(papers, {}, {"B": 3}) == [Cited(0, "found"), Cited(3, "found")]
    assert authorities(papers, citations(papers, {}, {"B": 3}), 2026) == [0.0, 1.0]
