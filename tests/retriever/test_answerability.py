"""The likelihood that the first passages answer a question."""

import pytest

from retriever.answerability import (
    THRESHOLD,
    answerability_features,
)
from retriever.search import SearchRequest, open_search, run_stages
from retriever.settings import RetrieverSettings
from tests.generator.sample_index import ENGLISH, KOREAN, UNANSWERABLE_ENGLISH, UNANSWERABLE_KOREAN, found
from tests.retriever.made_papers import index_fixture

# Each of quokka, grass and 섬 is in two of the passages, so they are equally important.
PAPERS = [
    {"id": "BOTH", "title": "Quokkas", "abstract": "Grass feeds a quokka."},
    {"id": "GRASS", "title": "Meadows", "abstract": "Grass grows."},
    {"id": "APART", "title": "", "abstract": f"Quokka {'word ' * 40} 섬."},
    {"id": "KOREAN", "title": "섬", "abstract": "섬의 기후."},
    *({"id": f"F{n}", "title": f"연습 {n}", "abstract": f"평범한 말 {n}."} for n in range(6)),
]


index = index_fixture(*PAPERS)


def terms_of(index, question="quokka grass", **request):
    context = open_search(index, SearchRequest(question, **request), RetrieverSettings())
    return run_stages(context, upto="terms").terms


def features(index, *passages, **request):
    return answerability_features(terms_of(index, **request), rows(index, *passages))


def rows(index, *passages):
    return index.engine.rows(passages)


def test_coverage_is_the_best_share_of_the_question_that_a_passage_holds(index):
    assert features(index, "GRASS", "BOTH").coverage == pytest.approx(1)
    assert features(index, "GRASS", "F0").coverage == pytest.approx(0.5)
    assert features(index, "F0").coverage == 0


@pytest.mark.parametrize(
    "question",
    ["quantum error correction", "bitcoin price volatility", UNANSWERABLE_KOREAN, UNANSWERABLE_ENGLISH],
)
def test_a_question_on_an_unknown_subject_is_unlikely_to_be_answered(sample, question):
    assert found(sample, question).likelihood < THRESHOLD


@pytest.mark.parametrize(
    "question",
    [ENGLISH, KOREAN, "AI reading chest xrays", "are monsoon downpours getting worse in korea?"],
)
def test_a_question_with_a_marginal_unknown_word_is_likely_to_be_answered(sample, question):
    assert found(sample, question).likelihood >= THRESHOLD
