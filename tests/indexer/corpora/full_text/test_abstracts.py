"""Abstracts: under the headings of both languages, beside them, or without one."""

import pytest

from tests.indexer.corpora.full_text.page_lines import FILLER, heading, paragraph, record_of, set_page, title

KOREAN = "논에서 물을 빼면 메탄이 줄어든다는 것을 관측소 네 곳의 자료로 보였다."
TITLE = title("논의 물 관리와 메탄")
INTRODUCTION = heading("1. 서론")


@pytest.mark.parametrize(
    "name",
    [
        "초 록",
        "요 약",
        "국문초록",
        "‹국문초록 ›",
        "국 문 요 약",
        "<요약>",
        "국문요지",
        "초록(Abstract)",
        "Abstract",
    ],
)
def test_an_abstract_is_found_under_each_of_its_headings(name):
    record = record_of(set_page(TITLE, "홍길동", (name, {"gap": 1}), KOREAN, INTRODUCTION, *paragraph()))

    assert record["abstract"] == KOREAN


@pytest.mark.parametrize("name", ["한글 요약: ", "요약 - ", "국문초록：", "요 약 ", "초록 "])
def test_an_abstract_may_begin_behind_its_heading(name):
    record = record_of(set_page(TITLE, "홍길동", f"{name}{KOREAN}", INTRODUCTION, *paragraph()))

    assert record["abstract"] == KOREAN


def test_a_block_of_smaller_text_above_the_first_heading_is_the_abstract():
    small = [(FILLER, {"size": 8})] * 5
    record = record_of(
        set_page(title("Methane and Water"), "Ann Lee", *small, heading("1. Introduction"), *paragraph(8))
    )

    assert record["abstract"] == " ".join([FILLER] * 5)


def test_a_notice_of_copyright_above_the_first_heading_is_no_abstract():
    notice = [
        ("Copyright © 2020 Society of Fields. Permission is granted to copy this text.", {"size": 8})
    ] * 5
    record = record_of(
        set_page(title("Methane and Water"), *notice, heading("1. Introduction"), *paragraph(8))
    )

    assert "abstract" not in record


@pytest.mark.parametrize(
    "end", ["Keywords rice, water", "주제어: 논, 메탄", "General Terms", "© 2020 Society of Fields"]
)
def test_an_abstract_ends_where_keywords_or_terms_begin(end):
    record = record_of(
        set_page(TITLE, heading("Abstract"), FILLER, end, "and more of it", INTRODUCTION, *paragraph())
    )

    assert record["abstract2" if "abstract2" in record else "abstract"] == FILLER


def test_the_title_and_the_name_below_the_heading_of_a_thesis_are_not_its_abstract():
    record = record_of(
        set_page(TITLE, "홍길동"),
        set_page(
            heading("국문초록"),
            ("논의 물 관리와 메탄", {"size": 14}),
            ("홍길동", {"left": 400, "gap": 2}),
            (KOREAN * 2, {"gap": 3}),
            KOREAN * 2,
            KOREAN,
        ),
        set_page(INTRODUCTION, *paragraph(9)),
    )

    assert record["abstract"].startswith(KOREAN)


def test_entries_of_a_table_of_contents_are_no_abstract():
    record = record_of(
        set_page(TITLE, heading("Abstract"), "1 Introduction 2", "2 Fields 9", "3 Conclusion 14"),
        set_page(heading("초록"), KOREAN),
        set_page(INTRODUCTION, *paragraph(9)),
    )

    assert record["abstract"] == KOREAN


def test_the_text_above_an_abstract_at_the_end_is_kept():
    record = record_of(
        set_page(TITLE, "홍길동", INTRODUCTION, *paragraph(5)),
        set_page(heading("2. 결론"), KOREAN, heading("Abstract"), FILLER),
    )

    assert record["abstract"] == FILLER
    assert KOREAN in record["body"]


def test_a_closing_summary_in_the_titles_language_is_a_part_of_the_text():
    record = record_of(
        set_page(title("Methane and Water"), heading("Abstract"), FILLER),
        set_page(heading("1. Introduction"), *paragraph(9), heading("Summary"), "Drained paddies emit less."),
    )

    assert record["abstract"] == FILLER
    assert "## Summary\n\nDrained paddies emit less." in record["body"]
    assert {"title": "Summary", "level": 1} in record["sections"]


def test_a_summary_in_the_other_language_at_the_end_is_the_second_abstract():
    record = record_of(
        set_page(TITLE, heading("초록"), KOREAN, INTRODUCTION, *[KOREAN] * 9, heading("Summary"), FILLER)
    )

    assert (record["abstract"], record["abstract2"]) == (KOREAN, FILLER)


def test_a_second_abstract_in_the_same_language_is_kept_in_the_text():
    record = record_of(
        set_page(
            TITLE, heading("초록"), KOREAN, heading("요약"), "메탄이 줄었다.", INTRODUCTION, *[KOREAN] * 5
        )
    )

    assert record["abstract"] == KOREAN
    assert "abstract2" not in record
    assert record["body"].startswith("## 요약\n\n메탄이 줄었다.")


def test_an_abstract_at_the_end_does_not_begin_the_text():
    record = record_of(
        set_page(TITLE, "홍길동", heading("물을 뺀 논"), *[KOREAN] * 5, "표 1"),
        set_page(heading("결론"), "메탄이 줄었다.", heading("Abstract"), FILLER),
    )

    assert record["abstract"] == FILLER
    assert KOREAN in record["body"]
    assert "## 결론\n\n메탄이 줄었다." in record["body"]
