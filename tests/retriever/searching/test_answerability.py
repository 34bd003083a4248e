"""What speaks for an answer among the first passages of a search."""

import math
from dataclasses import replace

import pytest

from retriever.order.bm25 import Scale
from retriever.order.candidate_features import Measure
from retriever.order.features import BESIDE
from retriever.order.feedback import Feedback
from retriever.question.concepts import Concept
from retriever.searching.answerability import (
    EVIDENCE,
    LEAST_BASE,
    NOTHING,
    THRESHOLD,
    UNKNOWN_SUBJECT,
    answer_likelihood,
    answerability_features,
    asked_kind,
    tokens_of_kind,
)
from tests.generator.sample_index import found
from tests.retriever.order.by_hand import held_by, passage, question, read, word

STATISTICS = held_by(quokka=10, grass=10)
IDF = STATISTICS.idf("quokka")
CONCEPTS = [Concept("quokka", (word("quokka", IDF),)), Concept("grass", (word("grass", IDF),))]
# A passage of four tokens is as long as the average: a word that it holds once is half of the base.
BOTH, HALF, NONE = passage("quokka grass a b"), passage("quokka a b c"), passage("a b c d")


def features(*passages, asked="quokka grass", names=(), roles=None, concepts=CONCEPTS):
    analysed = replace(question(asked, names), roles=roles or {})
    by = Measure(analysed, concepts, STATISTICS, Scale(4.0, title_weight=0.0), Feedback({}, {}))
    return answerability_features(by, read(*passages))


def test_the_base_is_the_logarithm_of_the_first_passages_score():
    assert features(BOTH, HALF).base == pytest.approx(math.log(1 + LEAST_BASE))
    assert features(HALF, BOTH).base == pytest.approx(math.log(0.5 + LEAST_BASE))
    assert features(NONE).base == pytest.approx(math.log(LEAST_BASE))


def test_the_first_leads_by_its_score_over_the_mean_of_the_others():
    assert features(BOTH, HALF, NONE).lead == pytest.approx(1 - 0.25)
    assert features(HALF, BOTH).lead == pytest.approx(0.5 - 1)
    assert features(BOTH).lead == pytest.approx(1)


def test_concepts_are_counted_by_their_logarithm():
    assert features(BOTH).concepts == pytest.approx(math.log(2))
    assert features(BOTH, concepts=CONCEPTS[:1]).concepts == 0


def test_nouns_are_the_share_that_the_first_passage_holds():
    assert features(HALF, BOTH).nouns == pytest.approx(0.5)
    assert features(HALF, roles={"quokka": "noun", "grass": "asking"}).nouns == pytest.approx(1)
    assert features(HALF, roles={"quokka": "asking", "grass": "noun"}).nouns == 0


def test_a_word_that_the_index_does_not_hold_is_missed_like_the_rarest_one():
    unheard = Concept("unheard", (word("unheard", 3 * IDF, is_known=False),))

    assert features(BOTH, asked="quokka unheard", concepts=[CONCEPTS[0], unheard]).nouns == pytest.approx(
        0.25
    )


def test_the_best_window_of_any_passage_counts():
    assert features(NONE, HALF, passage("quokka _90 grass")).answer_window == pytest.approx(0.5)
    assert features(NONE, BOTH).answer_window == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("quokka in 1998 grass", 1),
        (f"quokka _{BESIDE} 1998 grass", 0.5),
        ("quokka grass", 0),
        ("quokka 12 grass", 0),  # no year
    ],
)
def test_where_a_year_is_asked_for_the_window_is_around_one(text, share):
    assert features(passage(text), asked="When quokka grass").answer_window == pytest.approx(share)


def test_a_year_of_the_question_answers_nothing():
    found = features(passage("quokka 1998 grass"), asked="when quokka grass 1998")

    assert found.answer_window == 0


@pytest.mark.parametrize(
    ("names", "share"),
    [([], 1), (["quokka"], 1), (["quokka", "unheard"], 0.5), (["quokka unheard"], 0), (["quokka grass"], 1)],
)
def test_names_are_the_share_of_the_questions_names_that_one_passage_holds(names, share):
    assert features(NONE, BOTH, names=names).names == share


def test_only_the_first_passages_are_evidence():
    assert features(*[NONE] * EVIDENCE, BOTH) == features(*[NONE] * EVIDENCE)


def test_without_passages_nothing_speaks_for_an_answer():
    assert features() == NOTHING
    assert answer_likelihood(NOTHING) < answer_likelihood(features(BOTH, NONE))


pytest_plugins = ["tests.generator.sample_index"]


@pytest.mark.parametrize(
    "question",
    ["quantum error correction", "coffee and sleep", "백신 부작용 보상 제도"],
    ids=["no other word in the title", "one of two words", "few other words in the title"],
)
def test_a_question_whose_subject_is_unknown_is_unlikely_to_be_answered(sample, question):
    result = found(sample, question)
    assert result.hits
    assert result.likelihood <= UNKNOWN_SUBJECT < THRESHOLD


@pytest.mark.parametrize(
    "question",
    [
        "AI reading chest xrays",
        "are monsoon downpours getting worse in korea?",
        "자율주행운전자개입시점",
        "How can the spread of thermal runaway from cell to cell in a battery pack be slowed?",
        "coffee and sleep of nurses on shift rotation in a hospital",
    ],
    ids=[
        "others in the title",
        "a word that any paper may hold",
        "one run",
        "marginal in a long question",
        "long",
    ],
)
def test_a_marginal_unknown_word_leaves_the_likelihood(sample, question):
    result = found(sample, question)
    assert result.unknown_words
    assert result.likelihood >= THRESHOLD


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was Seoul founded?", "date"),
        ("In which year did the trial end?", "date"),
        ("히틀러는 몇 년도에 사망했는가?", "date"),
        ("한국 전쟁은 언제 일어났나요?", "date"),
        ("How many patients took part?", "number"),
        ("아프리카의 총 인구는 얼마인가?", "number"),
        ("월드컵은 몇개국에서 개최되었는가?", "number"),
        ("How does drought act when it lasts?", None),
        ("스페인의 국화는 무엇인가?", None),
    ],
)
def test_the_wording_tells_whether_a_date_or_a_number_is_asked_for(question, kind):
    assert asked_kind(question) == kind


def test_years_and_centuries_are_dates_and_every_numeral_is_a_number():
    tokens = ["1998", "12", "3.5", "세기", "seven", "graph"]

    assert tokens_of_kind("date", tokens) == {"1998", "세기"}
    assert tokens_of_kind("number", tokens) == {"1998", "12", "3.5", "seven"}
