"""Reference lists: where an entry begins, and what it names."""

import pytest

from indexer.corpora.full_text.references import doi_in, parse_reference, parse_references
from indexer.corpora.full_text.references import entries_in
from tests.indexer.corpora.full_text.page_lines import (
    Set,
    heading,
    headings,
    paragraph,
    record_of,
    set_page,
    title,
)

IEEE = "[1] J. Kim, S. Lee, and H. Park, “A study of rice paddies,” J. Agric., vol. 3, pp. 1–10, 2019."
APA = "Kim, J., & Lee, S. (2020). A study of things: part two. Journal of Things, 12(3), 1–10."
VANCOUVER = "3. Kim J, Lee S. Methane from rice. Nature. 2001;12:1-3."
ACL = "Jane Doe and John Smith. 2021. Learning to rank. In Proceedings of ACL, pages 1–10."
QUESTION = "(4) Jane Doe (2018). How early should a car ask? Requests and workload. Vehicles, 3(2), 4–13."
KOREAN_APA = "홍길동, 김철수 (2018). 한국어 검색의 성능. 정보학회지, 12(3), 1-10."
KOREAN_COMMAS = "홍길동, 김철수, 한국어 검색의 성능에 관한 연구, 정보학회지, 12(3), 2018."
KOREAN_QUOTED = "홍길동·김철수(2018), 「한국어 검색」, 『정보학회지』, 3-9."
QUOTES_IN_TITLE = "[2] 송서윤, “『조선왕조실록』 기우제 기록으로 복원한 가뭄 지수,” 기록과 사료, 2016."
EXPECTED = [
    (IEEE, ["J. Kim", "S. Lee", "H. Park"], "A study of rice paddies", 2019),
    (APA, ["Kim, J", "Lee, S"], "A study of things: part two", 2020),
    (VANCOUVER, ["Kim J", "Lee S"], "Methane from rice", 2001),
    (ACL, ["Jane Doe", "John Smith"], "Learning to rank", 2021),
    (QUESTION, ["Jane Doe"], "How early should a car ask? Requests and workload", 2018),
    (KOREAN_APA, ["홍길동", "김철수"], "한국어 검색의 성능", 2018),
    (KOREAN_COMMAS, ["홍길동", "김철수"], "한국어 검색의 성능에 관한 연구", 2018),
    (KOREAN_QUOTED, ["홍길동", "김철수"], "한국어 검색", 2018),
    (QUOTES_IN_TITLE, ["송서윤"], "『조선왕조실록』 기우제 기록으로 복원한 가뭄 지수", 2016),
]


@pytest.mark.parametrize(("text", "authors", "title", "year"), EXPECTED)
def test_authors_title_and_year_are_told_apart_in_the_common_styles(text, authors, title, year):
    assert parse_reference(text) == {"text": text, "authors": authors, "title": title, "year": year}


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("See https://doi.org/10.1234/abc.5.", "10.1234/abc.5"),
        ("doi:10.1016/S0140-6736(20)30183-5).", "10.1016/S0140-6736(20)30183-5"),
        ("(DOI 10.1000/x-1), 2020", "10.1000/x-1"),
        ("version 10.2 of 2020/21", ""),
    ],
)
def test_a_doi_ends_before_the_punctuation_of_its_sentence(text, doi):
    assert doi_in(text) == doi


def test_a_preprint_has_the_doi_that_is_registered_for_it():
    reference = parse_reference("Jane Doe. 2021. Learning to rank. arXiv:2101.00001v2")

    assert reference["doi"] == "10.48550/arXiv.2101.00001"


def test_what_is_not_told_is_left_out():
    assert parse_reference("Census of rice") == {"text": "Census of rice", "title": "Census of rice"}
    assert parse_references(["—", "12.", ""]) == []


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (["[1] Kim, A. One.", "More of one, 1999.", "[2] Lee, B. Two."], 2),
        (["1. Kim A. One.", "2001. Not an entry.", "2. Lee B. Two."], 2),
        (["- Kim, A. (2001). One.", "- Lee, B. (2002). Two."], 2),
        (["Kim, A. (2001). One.", "", "Lee, B. (2002).", "Two.", "", "홍길동 (2003). 셋."], 3),
        (["Kim, A. (2001). One.", "    More of one.", "Lee, B. (2002). Two.", "    More."], 2),
        (
            [
                "Kim, A. (2001). One. Things, 3.",
                "Lee, B. (2002). Two of",
                "them. Things, 4.",
                "홍길동(2003). 셋.",
            ],
            3,
        ),
    ],
    ids=["labels", "numbers", "bullets", "blocks", "hanging", "authors"],
)
def test_entries_begin_at_labels_blank_lines_indentations_or_authors(lines, count):
    assert len(entries_in(lines)) == count


def test_a_list_made_to_be_slow_is_read_in_time():
    for text in (
        "A. " * 700,
        "Aa Bb " * 400,
        "((((" * 500,
        "Kim A, " * 300,
        "가나, " * 500,
        "10.1234/" + ")" * 1900,
        f"가나다, J. {'A' * 1900}!",
    ):
        parse_reference(text)
    entries_in(["A. " * 20_000])


def test_a_bullet_stands_before_an_entry_alone():
    lines = ["- Kim, A. (2019). Rice - a review. Soil, 3, 1-9.", "- Lee, B. (2020). Methane. Soil, 4, 1-9."]
    assert entries_in(lines) == [line.removeprefix("- ") for line in lines]
    assert entries_in(["[1] Kim, A. (2019). Rice - a review."]) == ["[1] Kim, A. (2019). Rice - a review."]


TEXT: tuple[Set, ...] = (title("Methane and water"), heading("1. Introduction"), *paragraph())
ENTRIES = [
    f"Lee, A. ({year}). Water in the paddies of station {year - 2000}. Fields, 3, 1-9."
    for year in range(2001, 2009)
]


@pytest.mark.parametrize(
    "name",
    [
        "References",
        "Reference",
        "참 고 문 헌",
        "Ⅳ. 참고 문헌",
        "참고문헌 - References",
        "참고자료",
        "5장 참고문헌",
    ],
)
def test_a_list_is_found_under_each_of_its_headings_and_ends_at_an_appendix(name):
    record = record_of(
        set_page(
            *(title("Methane and water"), heading("1. Introduction"), *paragraph()),
            *(heading(name), *ENTRIES, heading("Appendix A. Stations"), *paragraph()),
        )
    )

    assert [entry["text"] for entry in record["reference_list"]] == ENTRIES
    assert "Appendix A. Stations" in headings(record)


@pytest.mark.parametrize(
    ("first", "following"),
    [({"left": 60}, {"left": 75}), ({"left": 75}, {"left": 60}), ({"gap": 1}, {})],
    ids=["hanging", "indented", "set apart"],
)
def test_entries_begin_at_their_indentation_or_at_a_gap(first, following):
    lines = [
        line
        for number in range(6)
        for line in ((f"Lee, A. and Kim, B. Water {number}.", first), ("Fields, 2018.", following))
    ]

    record = record_of(set_page(*TEXT, heading("References"), *lines))

    assert len(record["reference_list"]) == 6


def test_labels_of_names_begin_entries():
    lines = [
        "[Lee20] A. Lee. Water in the",
        "paddies. 2020.",
        "[Kim and Cho, 2019] B. Kim and",
        "C. Cho. Fields. 2019.",
    ]

    record = record_of(set_page(*TEXT, heading("References"), *lines))

    assert [entry["text"][:5] for entry in record["reference_list"]] == ["[Lee2", "[Kim "]


def test_a_table_and_an_address_behind_a_list_are_no_entries():
    record = record_of(
        set_page(
            *TEXT,
            heading("References"),
            *ENTRIES,
            ("Affiliation:", {"gap": 3}),
            "Ann Lee",
        )
    )

    assert len(record["reference_list"]) == len(ENTRIES)


REPORT = ["Department of Health. (2010). Water in the paddies of the station.", "London: Fields."]


@pytest.mark.parametrize("place", [4, len(ENTRIES)], ids=["between", "last"])
def test_a_department_may_be_the_author_of_an_entry(place):
    lines = [*ENTRIES[:place], *REPORT, *ENTRIES[place:]]

    record = record_of(set_page(*TEXT, heading("References"), *lines))

    texts = " ".join(entry["text"] for entry in record["reference_list"])
    assert "Department of Health" in texts
    assert ENTRIES[-1] in texts


@pytest.mark.parametrize("address", ["Department of Rice, University of the Fields", "Corresponding author"])
def test_an_address_behind_the_last_entry_ends_the_list(address):
    record = record_of(set_page(*TEXT, heading("References"), *ENTRIES, address, "Seoul"))

    assert [entry["text"] for entry in record["reference_list"]] == ENTRIES
