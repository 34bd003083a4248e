"""Title, authors, year, DOI and arXiv number as the first pages print them."""

from dataclasses import replace

import pytest

from indexer.corpora.full_text.pages import Fragment, Page
from indexer.corpora.full_text.layout import lines_of
from indexer.corpora.full_text.title_page import names_in, year_of
from tests.indexer.corpora.full_text.page_lines import (
    HEIGHT,
    WIDTH,
    Set,
    heading,
    line,
    paragraph,
    record_of,
    set_page,
    title,
)

TITLE = title("Methane and Water in Rice Paddies")
TEXT: tuple[Set, ...] = (heading("Abstract"), *paragraph(), heading("1 Introduction"), *paragraph())


def test_a_title_in_the_metadata_counts_only_where_whole_lines_of_the_page_say_it():
    page = set_page(("Annals of Fields", {"size": 24}), TITLE, *TEXT)

    told = record_of(page, metadata={"Title": "methane and water in rice paddies"})
    wrong = record_of(set_page(TITLE, *TEXT), metadata={"Title": "Microsoft Word - final2.doc"})
    part = record_of(set_page(TITLE, *TEXT), metadata={"Title": "Water"})

    assert told["title"] == wrong["title"] == part["title"] == "Methane and Water in Rice Paddies"


def test_a_cover_with_a_licence_and_an_empty_page_stand_before_the_title_page():
    cover = set_page(
        ("저작자표시-비영리-변경금지 2.0 대한민국", {"size": 24}),
        "이용자는 아래의 조건을 따르는 경우에 한하여",
        "이것은 이용허락규약을 이해하기 쉽게 요약한 것입니다.",
    )
    record = record_of(
        cover, set_page("- 1 -"), set_page(title("논의 물 관리와 메탄"), "홍길동", *paragraph())
    )

    assert record["title"] == "논의 물 관리와 메탄"
    assert record["authors"] == ["홍길동"]
    assert "이용허락" not in str(record)


def test_a_title_that_is_drawn_twice_is_given_once():
    record = record_of(set_page(TITLE, TITLE, *TEXT))

    assert record["title"] == "Methane and Water in Rice Paddies"


def test_raised_marks_part_names_and_rows_of_addresses_are_no_names():
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


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ("홍길동*, 김철수**, 이영희", ["홍길동", "김철수", "이영희"]),
        ("홍 길 동", ["홍길동"]),
        ("홍길동 (Gil-Dong Hong) 1", ["홍길동"]),
        ("로라(Laura Smith), 토마스(Thomas Kuhn)", ["로라", "토마스"]),
        ("홍 길동, 김 철수", ["홍길동", "김철수"]),
        ("홍길동 김철수 이영희", ["홍길동", "김철수", "이영희"]),
        ("Ann Lee* Bo Kim†", ["Ann Lee", "Bo Kim"]),
        ("By C. D. SMITH", ["C. D. SMITH"]),
        ("Ann Lee, Institute of Rice", ["Ann Lee"]),
        ("Ann Lee, Ph.D. and Bo Kim", ["Ann Lee", "Bo Kim"]),
        ("Department of Rice Science", []),
        ("4676 Paddy Way", []),
        ("서울대학교 대학원", []),
        ("지도교수 홍길동", []),
        ("The Fields of Rice", []),
        ("user", []),
        ("IEEE", []),
    ],
)
def test_a_row_holds_names_or_it_holds_none(row, names):
    assert names_in(row) == names


def test_an_author_in_the_metadata_is_taken_only_as_a_name_that_the_page_prints():
    page = set_page(TITLE, *TEXT, ("written by Ann Lee in the fields of the station", {}))

    assert "authors" not in record_of(page, metadata={"Author": "alee"})
    assert "authors" not in record_of(page, metadata={"Author": "Bo Kim"})
    assert record_of(page, metadata={"Author": "Ann Lee"})["authors"] == ["Ann Lee"]


@pytest.mark.parametrize(
    ("lines", "year"),
    [
        (["Annals of Fields, Vol. 12, No. 3, 2019, pp. 1-9"], 2019),
        (["2021년 8월"], 2021),
        (["August 2014, Volume 59"], 2014),
        (["RICE '08, June 3-5"], 2008),
        (["Copyright © 1975, Society of Fields"], 1975),
        (["June 19–20, 2014 • Seoul, Korea"], 2014),
        (["제출일: 2021. 6. 4"], 2021),
        (["접수일: 2021. 6. 4"], None),
        (["Preprint submitted to Fields, June 3, 2020"], 2020),
        (["본 논문은 2023년 2월에 제출된 졸업논문이다", "Copyright © 2021 by the authors"], 2023),
        (["Received 3 May 2018; accepted 9 June 2019"], None),
        (["Received 3 May 2018; published online 9 June 2020"], 2020),
        (["We counted 2016 paddies"], None),
        (["Proceedings of the 2020 Conference, pp. 2051"], 2020),
        (["Proceedings of the 2020 Conference, pp. 1899-1910"], 2020),
        (["Journal of Things (2019) 12:1899"], 2019),
        (["Journal of Things 2019, 12(3): 1899–1910"], 2019),
        (["Journal of Things, Vol. 2099"], None),
        (["Published online 9 June 2099"], None),
    ],
)
def test_the_year_is_that_of_the_publication_the_issue_or_the_cover(lines, year):
    assert year_of(lines, "") == year


def test_the_head_of_a_page_names_its_year_before_the_publications_that_its_notes_name():
    head, notes = (
        ["Annals of Fields, Vol. 27, 1948"],
        ["1. Lee, Annals, vol. 3, 1928", "2. Kim, Annals, vol. 4, 1928"],
    )

    assert year_of([*head, *notes], "") == 1948


def test_the_stamp_of_arxiv_at_the_edge_gives_its_number_and_else_the_year():
    page = replace(set_page(TITLE, *TEXT), turned="arXiv:2101.00001v2 [cs.IR] 4 Jan 2021")

    record = record_of(page)

    assert record["arxiv"] == "2101.00001"
    assert record["year"] == 2021
    assert "doi" not in record


def test_a_doi_of_the_reference_list_is_not_the_papers():
    page = set_page(
        TITLE,
        *TEXT,
        heading("References"),
        "[1] Lee, A. Water. Fields, 2018. https://doi.org/10.5555/water.1",
    )

    assert "doi" not in record_of(page)


def test_notes_in_a_margin_are_a_column_of_their_own():
    text = [
        line("The fields of the station were flooded for forty days in", 300 + 12 * n, left=180)
        for n in range(12)
    ]
    notes = [line(f"Note {n} of the margin", 303 + 17 * n, left=40, size=7) for n in range(6)]
    page = Page([line("Methane and Water", 120, size=18), *text, *notes], HEIGHT, WIDTH)

    assert "Note 0 of the margin Note 1 of the margin" in record_of(page)["body"]


def test_names_above_two_columns_of_text_are_read_before_both():
    names = [
        line(name, 170, left=left)
        for name, left in (("Ann Lee of the Station", 120), ("Bo Kim of the Fields", 380))
    ]
    rows = [
        line(text, 182 + 12 * n, left=left)
        for text, left in (("address address address", 120), ("place place place place", 380))
        for n in range(3)
    ]
    left = [line("left left left left left left left left left", 300 + 12 * n) for n in range(20)]
    right = [line("right right right right right right right", 300 + 12 * n, left=310) for n in range(20)]

    body = record_of(
        Page([line("Methane and Water", 120, size=18), *names, *rows, *left, *right], HEIGHT, WIDTH)
    )["body"]

    assert body.index("left") > body.rindex("place")


def test_columns_may_begin_below_text_that_goes_across():
    across = [line(" ".join(["across"] * 13), 120 + 12 * n) for n in range(20)]
    left = [line("left left left left left left left left", 380 + 12 * n) for n in range(9)]
    right = [line("right right right right right right", 380 + 12 * n, left=310) for n in range(9)]

    body = record_of(Page([*across, *left, *right], HEIGHT, WIDTH))["body"]

    assert body.index("right") > body.rindex("left")


@pytest.mark.parametrize(
    "name",
    [
        "Learning by Doing in Rice Paddies",
        "The Amyloid Hypothesis for Rice",
        "Photosynthesis for Beginners",
        "The Piano. A History",
    ],
)
def test_a_title_may_hold_the_letters_of_words_that_no_title_holds(name):
    assert record_of(set_page(title(name), *TEXT))["title"] == name


@pytest.mark.parametrize(
    "row",
    [
        "Fields, Vol. 12, No. 3",
        "Fields No. 3",
        "DOI 10.5555/water.1",
        "ISSN 1234-5678",
        "A thesis for a degree",
    ],
)
def test_a_large_row_with_a_volume_or_an_identifier_is_no_title(row):
    assert record_of(set_page((row, {"size": 24}), TITLE, *TEXT))["title"] == TITLE[0]


def test_fragments_without_a_width_at_one_place_have_no_gutter():
    points = [Fragment("", 60, 60, 10 * number, 10 * number + 10) for number in range(9)]

    assert len({id(line.column) for line in lines_of(points)}) == 1
