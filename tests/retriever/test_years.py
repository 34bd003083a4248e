"""The years a question asks for, and years that it is about."""

import pytest

from retriever.constraints import find_constraints

THIS_YEAR = 2026

RANGES = {
    "solid electrolytes since 2015": (2015, None),
    "What has been found since the year 2015 on sleep?": (2015, None),
    "from 2018 onwards, how are essays scored?": (2018, None),
    "papers published after 2010 on methane": (2011, None),
    "Which methods were used before 2010?": (None, 2009),
    "studies until 2012 on rice": (None, 2012),
    "Studies between 2010 and 2015 on hard carbon": (2010, 2015),
    "work from 2010 to 2015 on hard carbon": (2010, 2015),
    "published 2010-2015": (2010, 2015),
    "hallucination in the last five years": (2021, None),
    "What was found over the past 10 years?": (2016, None),
    "recent 3 years of progress": None,
    "progress in the most recent 3 years": (2023, None),
    "the past decade in translation": (2016, None),
    "the last two decades": (2006, None),
    "research since the 1950s": (1950, None),
    "Parsing in the 2010s": (2010, 2019),
    "studies before the 2000s": (None, 1999),
    "최근 5년간 환각에 대한 연구": (2021, None),
    "최근 10년 동안의 동향": (2016, None),
    "지난 삼 년간 발표된 논문": (2023, None),
    "2015년 이후 나온 고체 전해질 연구": (2015, None),
    "2018년부터의 연구": (2018, None),
    "2018년부터 제안된 방법": (2018, None),
    "2010년 이전의 방법": (None, 2010),
    "2012년까지 발표된 논문": (None, 2012),
    "2010년대의 딥러닝": (2010, 2019),
    "2000년대 이후의 연구": (2000, None),
    "1990년대까지의 연구": (None, 1999),
    "2010~2015년 논문": (2010, 2015),
    "2010년부터 2015년까지의 연구": (2010, 2015),
    "2010년과 2015년 사이에 나온 논문": (2010, 2015),
    "rice methane in the 2010s and 2020s": (2010, 2029),
    "Parsing in the 2000s, 2010s, or the 2020s": (2000, 2029),
    "2010년대와 2020년대의 메탄": (2010, 2029),
    "2010~2020년대의 메탄": (2010, 2029),
    "methane since 2015-2020": (2015, 2020),
    # Near misses
    "methane in the last 0 years": None,
    "최근 0년의 메탄": None,
    "Rice drought, not excluding papers before 2010": None,
    "Don't exclude papers before 2010. Rice drought": None,
    "capacity after 2000 cycles": None,
    "attendance at the 1998 World Cup": None,
    "Since 2000 cycles were run, what failed?": None,
    "between 1900 and 2000 rpm": None,
    "between 1910 and 1945, how was rice exported?": None,
    "in the 1980s, how did Seoul change?": None,
    "sea level by 2100": None,
    "warming from 2020 to 2100": None,
    "the last 10 years of life": None,
    "What happened in 2015?": None,
    "the crisis of 2008": None,
    "in recent years": None,
    "2008년 금융위기": None,
    "2008년 금융위기 이후의 고용": None,
    "2050년까지 탄소중립": None,
    "2019년까지 월드컵은 몇 개국에서 열렸는가?": None,
    "1945년 이후의 한국 정치": None,
    "1980년대 한국 영화": None,
    "2012년 이전한 공공기관": None,
    "2000회 이후의 용량": None,
    "최근 동향": None,
    "5년 생존율": None,
    "before 2005 and since 2015, how did it change?": None,
    # What is said of history is no range beside which another could not hold.
    "since 2015, who won wars between 1950 and 1960?": (2015, None),
    # Years that are not wanted
    "Rice drought, but not before 2010": (2010, None),
    "Rice drought, not published since 2015": (None, 2014),
    "Rice drought, excluding papers before 2005": (2005, None),
    "excluding studies after 2015": (None, 2015),
    "Do not include papers before 2005. Rice drought": (2005, None),
    "2010년 이전 논문은 제외하고 벼의 가뭄": (2011, None),
    "2010년 이전 제외, 벼의 가뭄": (2011, None),
    "2010년 이전은 제외하고 벼의 가뭄": (2011, None),
    "2010년 이전에 발표된 논문은 제외하고 벼의 가뭄": (2011, None),
    "2015년 이후의 연구를 빼고 벼의 가뭄": (None, 2014),
    "excluding studies from 2010 to 2015": None,
    "Rice drought, excluding studies from 2010 to 2015": None,
    "Rice drought, but not from 2010 to 2015": None,
    "2010~2015년 논문을 제외하고 벼의 가뭄": None,
    "Which methods, excluding sulfides before 2010, are used?": None,
    "2010년 이전에 발표된 동물실험은 제외하고 벼의 가뭄": None,
    "Papers since 2015, excluding reviews": (2015, None),
    "2015년 이후 딥러닝을 제외하고 쓰이는 방법": (2015, None),
}


@pytest.mark.parametrize(("question", "expected"), RANGES.items())
def test_a_question_asks_for_years(question, expected):
    found = find_constraints(question, THIS_YEAR).years

    assert [(years.first, years.last) for years in found] == ([expected] if expected else [])
    assert all(question[years.start : years.end] == years.text for years in found)


@pytest.mark.parametrize(
    ("question", "texts"),
    {
        "papers published between 2022 and 2019": ["between 2022 and 2019"],
        "2022년부터 2019년까지의 논문": ["2022년부터 2019년까지의"],
        "papers since 2015, between 2022 and 2019": ["since 2015", "between 2022 and 2019"],
        "papers published after 2026": [],  # nothing contradicts it
    }.items(),
)
def test_a_range_that_is_told_backwards_contradicts_itself(question, texts):
    found = find_constraints(question, THIS_YEAR)

    assert not found.years
    assert [years.text for years in found.contradicting] == texts


def test_the_last_years_count_from_the_year_given():
    assert [years.first for years in find_constraints("the last five years", 2020).years] == [2015]
