"""Fields, headings, abstracts and paragraphs of documents whose pages are given as lines."""

from dataclasses import replace

import pytest

from indexer.corpora.full_text.joining import join_lines
from indexer.corpora.full_text.layout import Line
from indexer.corpora.full_text.pages import Fragment, Page
from tests.indexer.corpora.full_text.page_lines import (
    HEIGHT,
    heading,
    headings,
    line,
    paragraph,
    record_of,
    set_page,
    table,
    title,
)

KOREAN = "논에서 물을 빼면 메탄이 줄어든다는 것을 관측소 네 곳의 자료로 보였다."
NAME = "Methane and Water in Rice Paddies"
TITLE = title(NAME)
KOREAN_TITLE = title("논의 물 관리와 메탄")
TEXT = (heading("Abstract"), *paragraph(), heading("1 Introduction"), *paragraph())
INTRODUCTION = heading("1. Introduction")
METHODS = heading("2. Flooded fields")


def test_raised_marks_separate_names_and_rows_of_institutions_have_none():
    page = set_page(TITLE, "", "", *TEXT)
    names = [
        line("Ann Lee", 145, left=60),
        line("1,2", 144, left=95, size=6),
        line("Bo von Berg", 145, left=110),
        line("2", 144, left=165, size=6),
        line("and Cho Min", 145, left=172),
        line("Institute of Rice, University of the Fields", 157),
    ]
    record = record_of(replace(page, fragments=[*page.fragments, *names]))

    assert record["authors"] == ["Ann Lee", "Bo von Berg", "Cho Min"]


def test_the_stamp_of_arxiv_counts_and_a_doi_in_the_margin_and_none_of_the_references():
    entry = "[1] Lee, A. Water. Fields, 2018. https://doi.org/10.5555/water.1"
    page = set_page(TITLE, *TEXT, heading("References"), entry)
    footer = line("https://doi.org/10.5555/water.9", HEIGHT - 20)
    stamped = record_of(replace(page, turned="arXiv:2101.00001v2 [cs.IR] 4 Jan 2021"))

    assert (stamped["arxiv"], stamped["year"], stamped.get("doi")) == ("2101.00001", 2021, None)
    assert record_of(replace(page, fragments=[*page.fragments, footer]))["doi"] == "10.5555/water.9"


def column(text: str, first: float, count: int, left: float = 60, pitch: float = 12, **how):
    return [line(f"{text} " * 7, first + pitch * number, left=left, **how) for number in range(count)]


COLUMNS = [*column("left", 380, 9), *column("right", 380, 9, 310)]


@pytest.mark.parametrize(
    ("fragments", "order"),
    [
        (COLUMNS, "left right"),
        ([*column("across across", 120, 20), *COLUMNS], "across left right"),
        ([*column("note", 303, 6, 20, 17, size=4), *column("text and text", 300, 12, 180)], "note text"),
    ],
    ids=["columns", "below", "margin notes"],
)
def test_lines_are_read_column_by_column(fragments, order):
    body = record_of(Page([line(NAME, 120, size=18), *fragments], HEIGHT))["body"]

    assert list(dict.fromkeys(word for word in body.split() if word in order.split())) == order.split()
    assert body.rindex(order.split()[0]) < body.index(order.split()[-1])


NO_HEADINGS = "E = mc + 2k (3)|∑ x i ≤ y|x y z|T (1)".split("|")


@pytest.mark.parametrize(
    ("parts", "level1", "level2"),
    [
        ([INTRODUCTION, METHODS, heading("2.1. Stations", size=11), heading("3. Results")], 3, 1),
        ([INTRODUCTION, METHODS, heading("A note on words")], 3, 0),
        ([heading("I. Paddies"), "1. Water is let in.", "2. Rice is cut.", heading("II. Fields")], 2, 0),
        *(([INTRODUCTION, METHODS, heading(text)], 2, 0) for text in NO_HEADINGS),
        ([(f"제 {number} 장 물과 논", {"gap": 1.5}) for number in (1, 2, 3)], 3, 0),
        ([(f"{number}. 물과 논", {"gap": 1.5}) for number in "ⅠⅡⅢ"], 3, 0),
        ([heading("Chapter 1. Water"), heading("Chapter 2. Paddies")], 2, 0),
        ([heading("Introduction"), heading("Rice and water"), heading("Conclusion")], 3, 0),
        ([INTRODUCTION, "본 연구는 DNDC 모형과 IPCC 방법으로 메탄을 추정", METHODS], 2, 0),
    ],
)
def test_headings_are_one_sequence_in_one_style_and_not_formulas(parts, level1, level2):
    record = record_of(set_page(TITLE, *(item for part in parts for item in (part, *paragraph(6)))))

    assert (len(headings(record)), len(headings(record, level=2))) == (level1, level2), record["sections"]


ABOVE = "초 록|요 약|국문초록|‹국문초록 ›|<요약>|국문요지|초록(Abstract)|Abstract".split("|")
WITHIN = "한글 요약: |요약 - |국문초록：|[요약] ".split("|")
BELOW = "주제어: 논, 메탄|Keywords rice|© 2020 Society of Fields".split("|")


@pytest.mark.parametrize(
    "front",
    [
        *([(name, {"gap": 1}), KOREAN] for name in ABOVE),
        *([f"{name}{KOREAN}"] for name in WITHIN),
        *([heading("초록"), KOREAN, end] for end in BELOW),
        [heading("Abstract"), "1 Introduction 2", "2 Fields 9", heading("초록"), KOREAN],
        [heading("초록"), KOREAN, heading("요약"), "메탄이 줄었다."],
    ],
)
def test_an_abstract_follows_its_heading_and_ends_at_keywords_or_a_heading(front):
    record = record_of(set_page(KOREAN_TITLE, "홍길동", *front, heading("1. 서론"), *[KOREAN] * 5))

    assert record["abstract"] == KOREAN


def set_lines(*texts, spaced=False):
    parts = [Fragment(text, 0, 100, 0, 10, spaced=spaced) for text in texts]
    return [Line(part, part.text, None, left=0, right=100, pitch=12, page=0) for part in parts]


SPLIT_WORDS = """
an exam-/ple of it | an example of it
state-of-the-/art systems | state-of-the-art systems
after COVID-/19 came | after COVID-19 came
a dash -/like this | a dash - like this
co\u00ad/operate | cooperate
a cross-/lingual index | a cross-lingual index
정보검색 시스/템의 성능 | 정보검색 시스템의 성능
시스템의 성능/을 평가하였다 | 시스템의 성능을 평가하였다
두 시간을 넘으면/정확도가 떨어진다 | 두 시간을 넘으면 정확도가 떨어진다
참여자 12/명을 모았다 | 참여자 12명을 모았다
순환 신경망/(recurrent network) | 순환 신경망(recurrent network)
"""


@pytest.mark.parametrize(("lines", "joined"), table(SPLIT_WORDS))
def test_words_split_at_line_ends_are_joined(lines, joined):
    words = {"cross-lingual"}

    assert join_lines(set_lines(*lines.split("/")), words) == joined
    assert join_lines(set_lines("https://doi.org/10.1/", "abc"), words) == "https://doi.org/10.1/abc"
