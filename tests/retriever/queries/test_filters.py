import pytest
from hypothesis import given
from hypothesis import strategies as st

from retriever.errors import BadFilter
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters, make_filters, parse_language, parse_years


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2019", Range(2019, 2019)),
        ("2019년", Range(2019, 2019)),
        ("2019..2024", Range(2019, 2024)),
        ("2019-2024", Range(2019, 2024)),
        ("2019–2024", Range(2019, 2024)),
        ("2019~2024", Range(2019, 2024)),
        ("2019년 ~ 2024년", Range(2019, 2024)),
        ("2024..2024", Range(2024, 2024)),
        ("..2024", Range(None, 2024)),
        ("2019..", Range(2019, None)),
        (" 2019 .. 2024 ", Range(2019, 2024)),
        ("1000..2100", Range(1000, 2100)),
    ],
)
def test_years_are_read(text, expected):
    assert parse_years(text) == expected


@given(st.text() | st.from_regex(r"[0-9]{0,5}[.~-]{0,3}[0-9]{0,5}", fullmatch=True))
def test_years_are_read_or_refused(text):
    try:
        years = parse_years(text)
    except BadFilter:
        return
    assert 1000 <= (years.low or 1000) <= (years.high or 2100) <= 2100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ko", "ko"),
        ("한국어", "ko"),
        ("Korean", "ko"),
        ("en", "en"),
        (" EN ", "en"),
        ("영어", "en"),
        ("English", "en"),
        ("other", "other"),
        ("\u110b\u1167\u11bc\u110b\u1165", "en"),  # 영어, decomposed
    ],
)
def test_languages_are_read(text, expected):
    assert parse_language(text) == expected


def test_filters_are_made_of_what_was_typed():
    made = make_filters("2019..2024", "한국어", " 정보관리학회지 ")

    assert made == Filters(years=Range(2019, 2024), lang="ko", journal="정보관리학회지")
