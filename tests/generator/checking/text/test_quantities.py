"""Numbers and units as written, in both languages."""

import pytest

from generator.checking.text.quantities import quantities


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("총1,046건", 1046),
        ("총 1,046건", 1046),
        ("1046 cases", 1046),
        ("1,046.0", 1046),
        ("3400k", 3_400_000),
        ("3.4k", 3_400),
        ("2.5bn", 2_500_000_000),
        ("5M rows", 5_000_000),
        ("5M NaCl", 5),
        ("4K", 4),
        ("二十六%", 26),
        ("二〇二三年", 2023),
        ("two dozen", 24),
        ("half a dozen", 6),
    ],
)
def test_the_value_of_a_number(written, value):
    (quantity,) = quantities(written)
    assert quantity.value == value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p < .05", "p < 0.05"),
        ("9만 4천 쌍", "94,000 pairs"),
        ("3천억 원", "300 billion won"),
        ("thirty-six residents", "36명"),
        ("열두 분야", "twelve fields"),
        ("12월", "December"),
        ("3분의 2", "two thirds"),
        ("절반", "50%"),
        ("두 배", "twice"),
        ("1 year", "12개월"),
        ("0.005 g", "5 mg"),
        ("90분", "1.5 hours"),
        ("98.1퍼센트", "98.1 percent"),
        ("4.6 cm³", "4.6 cm3"),
        ("3.1 μg/m³", "3.1 µg/m³"),  # the Greek letter and the sign
        ("about 52 people", "51명"),
        ("이레 동안", "7 days"),
        ("3분이었다", "3 minutes"),
        ("6도에서는", "6 °C"),
        ("5주 이상", "5주이상의"),
        ("0 and a half hours", "half an hour"),
        ("a year and a half", "18 months"),
        ("구십구 퍼센트", "99%"),
        ("삼백 명씩", "300 people"),
        ("이천 명", "2,000명"),
        ("이천 원짜리", "2,000원"),
        ("천만 명", "10 million people"),
        ("십만 원", "100,000 won"),
        ("이조 원", "2조 원"),
        ("사천 건", "4천 건"),
        ("삼천 톤급", "3,000 t"),
        ("백오십 킬로와트", "150 kW"),
        ("만 년 전에", "10,000년 전"),
    ],
)
def test_equal_quantities(one, other):
    (first,), (second,) = quantities(one), quantities(other)
    assert first.same_as(second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 mg", "5 g"),
        ("12 months", "12 days"),
        ("3천 원", "3만 원"),
        ("2.8 °C", "2.8%"),
        ("4.6 cm", "4.6 cm³"),
        ("여섯 달", "6 weeks"),
        ("52 people", "51명"),
    ],
)
def test_different_quantities(one, other):
    (first,), (second,) = quantities(one), quantities(other)
    assert not first.same_as(second)


@pytest.mark.parametrize(
    "written",
    [
        *"구조 분석|구조 개선|구조 해석|구조개혁|구조대|구조도|구조주의|구조 회복|구조 시간".split("|"),
        *"일조 시간|일조시간|일조권|사조 분류|조 원장|오만 가지|일만 해도|천이 시간|공천 명단".split("|"),
        *"사천 대지진|사천 주민|사천 해전|사천도|이천 도자기|이천 주민|이천 회의에서".split("|"),
        *"삼백초|백일해|팔만대장경".split("|"),
        *"이레네|하루키|보름달|열하루".split("|"),
        *"一般|三國|十字架|百濟|dozens of hens".split("|"),
    ],
)
def test_words_that_contain_a_numeral_are_no_numbers(written):
    assert quantities(written) == []


@pytest.mark.parametrize("written", ["6 도시", "3 분야", "5 주민", "2 원인", "2 분기"])
def test_words_that_start_like_a_unit_are_no_units(written):
    (quantity,) = quantities(written)
    assert quantity.unit is None


@pytest.mark.parametrize(
    ("written", "share"),
    [
        ("six in ten", 60),
        ("one out of every four hens", 25),
        ("3 out of 5", 60),
        ("six hens in ten were", 60),
        ("열 마리 중 여섯 마리", 60),
        ("10명 중 6명", 60),
        ("넷 중 하나", 25),
    ],
)
def test_a_share_of_two_numbers(written, share):
    assert [each.value for each in quantities(written) if each.multiple] == [share]


@pytest.mark.parametrize(
    "written", ["two trials in ten villages", "4 in 5 days", "3 in 10% of", "5 in 2 plots", "2 in 2020"]
)
def test_two_numbers_without_a_share(written):
    assert not any(each.multiple for each in quantities(written))
