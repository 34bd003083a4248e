"""Quotable sentences of a text."""

import pytest

from generator.answers.extractive import is_statement, repeats_question


@pytest.mark.parametrize(
    "sentence",
    [
        "Flooded paddies emit most of the methane.",
        "물이 찬 논은 메탄의 주된 배출원이다.",
        "중간 물떼기에서 메탄이 37% 감소함.",
        "The effect was small (Kim and Lee, 2019).",
        "수량에는 차이가 없었다(그림 2).",
        "p53 binds the promoter of the gene.",
        "-5 ℃에서도 균주는 잘 자랐다.",
        "Apples, pears, plums, figs and quinces were stored for a year at two degrees.",
    ],
)
def test_whole_sentences_are_statements(sentence):
    assert is_statement(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        # Questions
        "Does flooding raise methane emissions?",
        "물을 빼면 메탄이 얼마나 줄어드는가.",
        # Headings, fragments and short sentences
        "2. Materials and methods",
        "논물 관리와 메탄 배출",
        "which was lower than in the flooded plots of the same farm.",
        "The plots were flooded until the end of",
        "Introduction\nFlooded paddies emit most of the methane.",
        # Lists and long sentences
        "- Plots were drained twice a week.",
        "• 논은 매주 두 번 물을 뺐다.",
        "(2) Plots were drained twice a week.",
        "Rice, methane, drainage, yield, Korea, soil.",
        "The plots " + "were drained " * 50 + "twice.",
        # References
        "Kim, J., Lee, S., and Park, H. (2019).",
        "Journal of Rice Research, 12(3), 45–67.",
        "한국작물학회지, 제12권 제3호, 45-67.",
        "The data are in the archive, doi:10.5555/12345.",
    ],
)
def test_other_texts_are_no_statements(sentence):
    assert not is_statement(sentence)


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Methane from rice paddies in Korea.", "methane from rice paddies in Korea"),
        ("논의 메탄 배출을 줄이는 물 관리 방법", "논의 메탄 배출을 줄이는 물 관리 방법?"),
    ],
)
def test_a_sentence_with_the_words_of_the_question_repeats_it(sentence, question):
    assert repeats_question(sentence, question)
