"""Answers that contain an accepted string."""

import pytest

from eval.accepted import compared_form, contains_accepted


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


def test_no_string_is_contained_in_no_answer():
    assert not contains_accepted("Anything.", [])


def test_the_compared_form_keeps_decimal_points_and_percent_signs_of_numbers():
    assert compared_form("  A rise (of 1,234.5 %), e.g. in “Seoul”. ") == "a rise of 1234.5% e g in seoul"
