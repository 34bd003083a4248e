"""The likelihood of an answer where the subject of a short question is a word that no paper contains."""

import pytest

from retriever.searching.confidence import THRESHOLD
from retriever.searching.unknown_subject import LIKELIHOOD
from tests.generator.sample_index import found

pytest_plugins = ["tests.generator.sample_index"]


@pytest.mark.parametrize(
    "question",
    ["quantum error correction", "coffee and sleep", "백신 부작용 보상 제도"],
    ids=["no other word in the title", "one of two words", "few other words in the title"],
)
def test_a_question_whose_subject_is_unknown_is_unlikely_to_be_answered(sample, question):
    result = found(sample, question)
    assert result.hits
    assert result.likelihood <= LIKELIHOOD < THRESHOLD


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
