"""Sentences of a model without Markdown, and sentences of a paper that can be quoted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.answers.answer import without_markup
from generator.answers.extractive import is_statement, repeats_question


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("- Methane fell by 37%.", "Methane fell by 37%."),
        ("* • **Methane** fell.", "Methane fell."),
        ("### The result", "The result"),
        ("**메탄**은 *37%* 줄었다.", "메탄은 37% 줄었다."),
        ("It (**not** rice) is ***dry***.", "It (not rice) is dry."),
        ("-30 ℃ is cold.", "-30 ℃ is cold."),
        ("SARS-CoV-2 spreads 5 - 6 days.", "SARS-CoV-2 spreads 5 - 6 days."),
        ("A* and B* search, C*-algebras.", "A* and B* search, C*-algebras."),
        ("3 * 4 * 5 is 60.", "3 * 4 * 5 is 60."),
        ("-", "-"),
        ("#1 of 3", "#1 of 3"),
    ],
)
def test_bullets_headings_and_emphasis_are_removed_and_other_signs_stay(written, read):
    assert without_markup(written) == read


@given(st.text(alphabet="*_- #a가", max_size=40))
def test_nothing_but_marks_and_spaces_is_lost(text):
    kept = [[each for each in of if each not in "*_- #"] for of in (text, without_markup(text))]
    assert kept[0] == kept[1]


STATEMENTS = [
    "Flooded paddies emit most of the methane.",
    "물이 찬 논은 메탄의 주된 배출원이다.",
    "중간 물떼기에서 메탄이 37% 감소함.",
    "수량에는 차이가 없었다(그림 2).",
    "p53 binds the promoter of the gene.",
    "-5 ℃에서도 균주는 잘 자랐다.",
    "Apples, pears, plums, figs and quinces were stored for a year at two degrees.",
]
OTHERS = [
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
]


@pytest.mark.parametrize("sentence", STATEMENTS + OTHERS)
def test_whole_sentences_are_statements(sentence):
    assert is_statement(sentence) is (sentence in STATEMENTS)


def test_a_sentence_with_the_words_of_the_question_repeats_it():
    assert repeats_question("Methane from rice paddies in Korea.", "methane from rice paddies in Korea")
    assert repeats_question("논의 메탄 배출을 줄이는 물 관리 방법", "논의 메탄 배출을 줄이는 물 관리 방법?")
