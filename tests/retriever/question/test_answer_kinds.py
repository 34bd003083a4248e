"""What kind of thing a question asks for."""

import pytest

from retriever.question.answer_kinds import asked_kind, tokens_of_kind


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
