"""Relevance of papers to a question by the words that they share."""

import asyncio
import math

import pytest

from indexer.papers import Paper
from indexer.settings import IndexerSettings
from retriever.asked_words import subject_text
from retriever.authority import Cited, authorities, citations, timeliness
from retriever.paper_relevance import Asked, PaperRelevance


@pytest.fixture(scope="module")
def relevance():
    with PaperRelevance(IndexerSettings()) as opened:
        yield opened


def measured(relevance, question, *papers, found=()):
    async def measure():
        excluded = await relevance.excluded(question, 2026)
        asked = Asked(subject_text(question, 2026), found=found, excluded=excluded)
        return await relevance.scores(asked, papers)

    return asyncio.run(measure())


def scores(relevance, question, *papers, found=()):
    return measured(relevance, question, *papers, found=found).scores


def paper(title, abstract="", **fields):
    return Paper.model_validate({"id": "P1", "title": title, "abstract": abstract, **fields})


def test_a_paper_with_all_words_is_relevant_and_one_with_none_is_not(relevance):
    papers = (
        paper("Methane emission of rice paddies", "Methane was measured over rice paddies."),
        paper("Rice prices"),
        paper("Neutron stars"),
    )
    full, part, none = scores(relevance, "methane emission of rice paddies", *papers, found=papers[:2])
    assert full > 0.9
    assert 0 < part < 0.5
    assert none == 0


def test_counterparts_of_the_general_glossary_stand_for_a_word(relevance):
    english, other = scores(
        relevance, "메탄 배터리", paper("Methane and battery", lang="en"), paper("Rice and bees", lang="en")
    )
    assert english > 0.5
    assert other == 0


def test_words_that_name_the_kind_of_paper_say_little(relevance):
    subject, kind = scores(
        relevance, "a survey of recent methane studies", paper("Methane"), paper("A survey of recent studies")
    )
    assert subject > kind


def test_what_others_hold_of_a_question_too_says_less(relevance):
    question, part = "methane emission of rice paddies", paper("Methane of paddies")
    others, alike = ([paper(f"{title} {number}") for number in range(9)] for title in ("Stars", "Rice"))
    [alone] = scores(relevance, question, part, found=(part, *others))
    [among] = scores(relevance, question, part, found=(part, *alike))
    assert alone > among


def test_papers_that_all_hold_most_of_a_question_share_its_subject(relevance):
    alike = [paper(f"Methane emission of rice paddies {number}") for number in range(20)]
    assert min(scores(relevance, "methane emission of rice paddies", *alike, found=tuple(alike))) > 0.5


def test_what_the_question_finds_first_is_more_relevant_and_its_equals_are_as_relevant(relevance):
    question, papers = "methane emission of rice paddies", [paper(f"Methane {n}") for n in range(3)]
    first, *equals = scores(relevance, question, *papers, found=tuple(papers))
    assert set(equals) == {first}
    assert first > scores(relevance, question, papers[0])[0]


@pytest.mark.parametrize(
    ("question", "about", "other"),
    [
        ("methane of wetlands, excluding paddies", "Methane of paddies", "Methane of lakes"),
        ("벼논을 제외한 습지의 메탄", "벼논의 메탄", "습지의 메탄"),
    ],
)
def test_a_paper_about_what_is_excluded_loses_relevance(relevance, question, about, other):
    lost, kept = measured(relevance, question, paper(about), paper(other)).excluded
    assert 0 < lost <= 1
    assert kept == 0


def test_a_paper_without_text_and_a_question_without_words_are_no_error(relevance):
    assert scores(relevance, "methane", paper("")) == (0.0,)
    assert scores(relevance, "🙂", paper("Methane")) == (0.0,)
    assert scores(relevance, "methane") == ()


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("methane papers since 2020", "methane papers"),
        ("methane published before 2001 and published after 2020", "methane published and published"),
        ("methane", "methane"),
    ],
)
def test_years_are_no_part_of_the_subject(question, subject):
    assert subject_text(question, 2026) == subject


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


def test_timeliness_halves_in_six_years():
    assert timeliness(paper("", year=2026), 2026) == 1.0
    assert timeliness(paper("", year=2020), 2026) == 0.5
    assert timeliness(paper("", year=2030), 2026) == 1.0
    assert timeliness(paper(""), 2026) == 0.0
