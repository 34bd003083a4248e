"""Reference lists: where an entry begins, and what it names."""

import pytest

from indexer.corpora.full_text.references import entries_in, parse_reference, parse_references
from tests.indexer.corpora.full_text.page_lines import (
    heading,
    headings,
    paragraph,
    record_of,
    set_page,
    table,
    title,
)


def test_a_preprint_has_its_registered_doi_and_missing_fields_are_omitted():
    assert parse_reference("Doe. 2021. Rank. arXiv:2101.00001v2")["doi"] == "10.48550/arXiv.2101.00001"
    assert parse_reference("Census of rice") == {"text": "Census of rice", "title": "Census of rice"}
    assert parse_references(["—", "12.", ""]) == []


LISTS = """
labels | [1] Kim, A. One./More of one, 1999./[2] Lee, B. Two. | 2
numbers | 1. Kim A. One./2001. Not an entry./2. Lee B. Two./3. Cho C. | 3
bullets | - Kim, A. (2001). One - a./- Lee, B. (2002). Two. | 2
blocks | Kim, A. (2001). One.//Lee, B. (2002)./Two.//홍길동 (2003). 셋. | 3
hanging | Kim, A. (2001). One./    More of one./Lee, B. (2002). Two./    More. | 2
authors | Kim, A. (2001). One. Soil, 3./Lee, B. (2002). Two of/them. Soil, 4./홍길동(2003). 셋. | 3
"""


@pytest.mark.parametrize(("kind", "lines", "count"), table(LISTS))
def test_entries_begin_at_labels_blank_lines_indentations_or_authors(kind, lines, count):
    entries = entries_in(lines.split("/"))

    assert len(entries) == int(count)
    assert not any(entry.startswith("- ") for entry in entries)


TEXT = (title("Methane and water"), heading("1. Introduction"), *paragraph())
ENTRIES = [
    f"Lee, A. ({year}). Water in the paddies of {year - 2000}. Fields, 3, 1-9." for year in range(2001, 2009)
]
REPORT = ["Department of Health. (2010). Water in the paddies of the station.", "London: Fields."]


@pytest.mark.parametrize(
    "name", ["References", "참 고 문 헌", "Ⅳ. 참고 문헌", "참고문헌 - References", "5장 참고문헌"]
)
def test_a_list_is_found_under_each_of_its_headings_and_ends_at_an_appendix(name):
    record = record_of(
        set_page(*TEXT, heading(name), *ENTRIES, heading("Appendix A. Stations"), *paragraph())
    )

    assert [entry["text"] for entry in record["reference_list"]] == ENTRIES
    assert "Appendix A. Stations" in headings(record)


@pytest.mark.parametrize(
    ("first", "following"),
    [({"left": 60}, {"left": 75}), ({"left": 75}, {"left": 60}), ({"gap": 1}, {})],
    ids=["hanging", "indented", "apart"],
)
def test_entries_on_a_page_begin_at_their_indentation_or_at_a_gap(first, following):
    lines = [
        line
        for number in range(6)
        for line in ((f"Lee, A. and Kim, B. Water {number}.", first), ("Fields, 2018.", following))
    ]

    assert len(record_of(set_page(*TEXT, heading("References"), *lines))["reference_list"]) == 6


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (
            ["[Lee20] A. Lee. Water in the", "paddies. 2020.", "[Kim and Cho, 2019] B. Kim and", "Cho."],
            2,
        ),
        ([*ENTRIES, ("Affiliation:", {"gap": 3}), "Ann Lee"], 8),
        ([*ENTRIES, "Department of Rice, University of the Fields", "Seoul"], 8),
        ([*ENTRIES[:4], *REPORT, *ENTRIES[4:]], 8),
    ],
    ids=["labels", "address", "department", "department within"],
)
def test_a_list_ends_at_an_address_and_not_at_a_department_within_it(lines, count):
    assert len(record_of(set_page(*TEXT, heading("References"), *lines))["reference_list"]) == count
