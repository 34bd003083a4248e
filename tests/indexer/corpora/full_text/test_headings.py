"""Headings: one sequence of numbers in one style; formulas, captions and contents are none."""

import pytest

from tests.indexer.corpora.full_text.page_lines import (
    FILLER,
    heading,
    headings,
    paragraph,
    record_of,
    set_page,
    title,
)

INTRODUCTION = heading("1. Introduction")
METHODS = heading("2. Flooded fields")
RESULTS = heading("3. What was measured")


def test_the_numbered_headings_of_one_style_are_the_parts_and_deeper_numbers_are_below_them():
    record = record_of(
        set_page(
            *(title("Methane and water"), INTRODUCTION, *paragraph(), METHODS, *paragraph()),
            *(heading("2.1. Stations", size=11), *paragraph(), RESULTS, *paragraph()),
        )
    )

    assert headings(record) == ["1. Introduction", "2. Flooded fields", "3. What was measured"]
    assert headings(record, level=2) == ["2.1. Stations"]


def test_a_heading_without_a_number_is_a_part_where_it_has_the_style_of_those_with_one():
    record = record_of(
        set_page(
            *(title("Methane and water"), INTRODUCTION, *paragraph(), METHODS, *paragraph()),
            *(heading("A note on words"), *paragraph()),
        )
    )

    assert headings(record) == ["1. Introduction", "2. Flooded fields", "A note on words"]


@pytest.mark.parametrize(
    "text",
    [
        "E = mc + 2k (3)",
        "∑ x i ≤ y",
        "Figure 3. The stations",
        "표 2. 관측소",
        "x y z",
        "f(x) = 1 2 3",
        "T (1)",
    ],
)
def test_formulas_and_captions_are_no_headings_however_they_are_set(text):
    record = record_of(
        set_page(INTRODUCTION, *paragraph(), METHODS, *paragraph(), heading(text), *paragraph())
    )

    assert headings(record) == ["1. Introduction", "2. Flooded fields"]
    assert headings(record, level=2) == []


def test_items_of_a_list_on_one_page_do_not_number_the_parts():
    items = ["1. Water is let in.", "2. Water is let out.", "3. Rice is cut."]
    record = record_of(
        set_page(heading("I. Introduction"), *paragraph(), *items, *paragraph()),
        set_page(heading("II. Flooded fields"), *paragraph(12)),
        set_page(heading("III. Conclusion"), *paragraph(12)),
    )

    assert headings(record) == ["I. Introduction", "II. Flooded fields", "III. Conclusion"]


@pytest.mark.parametrize(
    "numbered",
    [
        ["제 1 장 서 론", "제 2 장 물과 논", "제 3 장 결 론"],
        ["Ⅰ. 서 론", "Ⅱ. 물과 논", "Ⅲ. 결 론"],
        ["1장 서론", "2장 물과 논", "3장 결론"],
        ["Chapter 1. Water", "Chapter 2. Paddies", "Chapter 3. Harvest"],
    ],
)
def test_chapters_are_counted_in_both_languages(numbered):
    pages = [set_page((text, {"gap": 1.5}), *paragraph(12)) for text in numbered]

    assert len(headings(record_of(set_page(title("논의 물 관리와 메탄")), *pages))) == 3


def test_lines_of_a_table_of_contents_are_no_headings():
    contents = ["1. Introduction ........ 2", "2. Flooded fields ........ 3"]
    record = record_of(
        set_page(title("Methane and water"), heading("Contents"), *contents),
        set_page(INTRODUCTION, *paragraph(12)),
        set_page(METHODS, *paragraph(12)),
    )

    assert headings(record) == ["1. Introduction", "2. Flooded fields"]


def test_a_heading_goes_on_in_a_second_line_that_hangs_below_its_first_word():
    record = record_of(
        set_page(
            *(title("Methane"), INTRODUCTION, *paragraph(), heading("2. Fields that were flooded twice and")),
            *(("left dry in between", {"size": 12, "bold": True, "left": 74}), (FILLER, {"gap": 1})),
        )
    )

    assert headings(record)[1] == "2. Fields that were flooded twice and left dry in between"


def test_the_sequence_that_spans_the_document_wins_over_a_longer_one_in_its_appendix():
    parts = [
        set_page(heading(f"{n}. Part of the {word}"), *paragraph(40))
        for n, word in enumerate(("field", "water", "rice"), 1)
    ]
    terms = [text for n in range(1, 10) for text in (heading(f"{n}. TERM OF THE LICENCE", size=10), FILLER)]

    record = record_of(*parts, set_page(*terms))

    assert headings(record)[:3] == ["1. Part of the field", "2. Part of the water", "3. Part of the rice"]


def test_a_heading_that_later_pages_repeat_at_their_top_is_given_once():
    pages = [
        set_page(heading("A Story of Water", gap=0), *paragraph(9), heading("Rice", gap=0), *paragraph(2 + n))
        for n in range(3)
    ]

    assert headings(record_of(set_page(title("Methane")), *pages)).count("A Story of Water") <= 1


def test_a_running_line_with_abbreviations_in_capitals_is_no_heading():
    korean = "본 연구는 DNDC 모형과 IPCC 방법으로 논에서 나오는 메탄을 추정"
    record = record_of(set_page(INTRODUCTION, *[korean] * 3, METHODS, *[korean] * 3))

    assert headings(record, level=2) == []


def test_a_letter_with_no_heading_but_that_of_its_references_keeps_its_text():
    record = record_of(
        set_page(title("Methane"), *paragraph(), "Ann Lee, Seoul", heading("References"), "[1] Kim, A. Rice.")
    )

    assert record["body"].startswith(FILLER)


@pytest.mark.parametrize("known", ["결론", "감사의 글", "Ⅳ. 참고문헌"])
def test_a_closing_heading_does_not_begin_the_text(known):
    text = ["논에서 물을 빼면 메탄이 줄어든다"] * 9
    record = record_of(
        set_page(title("논의 물 관리와 메탄")),
        set_page(heading("물을 뺀 논"), *text),
        set_page(heading(known), *text),
    )

    assert record["body"].startswith("물을 뺀 논 논에서 물을 빼면")


def test_a_cover_above_the_introduction_is_dropped():
    record = record_of(
        set_page(title("Methane and water"), "Station of the Fields"),
        set_page(heading("Introduction"), *paragraph(9), heading("Conclusion"), *paragraph(9)),
    )

    assert record["body"].startswith("## Introduction")
