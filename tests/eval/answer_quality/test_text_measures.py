"""Accepted strings, and ROUGE-L of English and Korean texts.

`rouge_scores.jsonl` contains scores of rouge-score 0.1.2 with nltk 3.10.4. These are no dependencies, as
rouge-score has no wheel of this release. The scores are the F-measures of

    RougeScorer(["rougeL"]).score_multi(references, answer)["rougeL"]
"""

import json
from pathlib import Path

import pytest

from eval.accepted import contains_accepted
from eval.answer_quality.rouge import korean_tokens, rouge_l


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("Runaway was delayed by 14 minutes.", "14 minutes"),
        ("It grew to 1,200 plots.", "1200"),
        ("It fell to 21.4 %.", "21.4%"),
        ("The “Silica Aerogel”-sheets held.", "silica aerogel"),
        ("ＣＯ２ fell", "CO2"),
        ("메탄 배출이 48%로 줄었다", "48%"),
        ("이온전도도는 두 배가 되었다", "이온 전도도"),
        ("이온 전도도는 두 배가 되었다", "두배"),
        ("LATP로 만든 고체 전해질", "LATP"),
        ("20세기 이전의 전해질", "전해질"),
    ],
)
def test_an_answer_contains_a_string_in_another_form(answer, accepted):
    assert contains_accepted(answer, ["something else", accepted])


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("It was 18.5.", "8.5"),
        ("It was 8.57.", "8.5"),
        ("It was 3.8.", "8"),
        ("It was 8.3.", "8"),
        ("It was 21,200.", "200"),
        ("in the mortar", "art"),
        ("an aerogel", "aerogels"),
        ("메탄이 줄었다", "아산화질소"),
        ("Anything at all.", "…"),
        ("", "8"),
    ],
)
def test_part_of_a_number_or_word_does_not_count(answer, accepted):
    assert not contains_accepted(answer, [accepted])


SCORES = Path(__file__).with_name("rouge_scores.jsonl")


def test_scores_equal_those_of_rouge_score():
    records = [json.loads(line) for line in SCORES.read_text(encoding="utf-8").splitlines()]
    assert len(records) == 60
    for record in records:
        assert rouge_l(record["answer"], record["references"]) == pytest.approx(record["plain"], abs=1e-9)


def test_stems_of_english_words_are_compared_by_choice():
    assert rouge_l("Dams failed.", ["The dam fails"]) == 0
    assert rouge_l("Dams failed.", ["Dams fail often"], stem=True) == 2 * 2 / 5


def test_words_out_of_order_are_not_common():
    # common: "the cat sat" of 3 and 5 tokens, "cat the" in the reverse order
    assert rouge_l("The cat sat.", ["the cat sat down there"]) == 2 * 3 / 8
    assert rouge_l("Sat cat the!", ["the cat sat down there"]) == 2 * 1 / 8


def test_a_korean_text_consists_of_morphemes_without_particles_and_endings():
    assert korean_tokens("논물을 빼면 메탄이 줄어든다.") == ["논", "물", "빼", "메탄", "줄어들"]


def test_particles_and_spaces_do_not_change_a_korean_score():
    # 고체 · 전해 · 질 · 이온 · 전도 · 도 · 높 in both
    assert rouge_l("고체전해질은 이온전도도가 높다", ["고체 전해질의 이온 전도도는 높았다."]) == 1
    # 메탄 · 줄어들 of 2 and 5 morphemes
    assert rouge_l("메탄이 줄어든다", ["논물을 빼서 메탄이 줄어든다."]) == pytest.approx(4 / 7)


def test_an_answer_in_the_other_language_shares_its_numbers_and_names_only():
    # 21 and 4 of "methane fell by 21 4" and of 메탄 · 21 · 4 · 줄어들
    assert rouge_l("methane fell by 21.4 %", ["메탄이 21.4% 줄어들었다"]) == pytest.approx(4 / 9)
