"""References and citations as each style prints them; `entries.tsv` is written by hand from the manuals."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retriever.citing.reference_list import reference_list
from retriever.citing.styles import STYLES
from retriever.errors import BadFilter
from retriever.reference import csl_item
from tests.retriever.hostile_records import RECORD

FAMILY = (
    "Kim Lee Park Ferreira Müller Smith Jones Brown Davis Wilson Moore Taylor Thomas White Harris Martin "
    "Clark Lewis Young Hall Allen King Wright Scott Green"
).split()
GIVEN = ("Ada", "Boram Jane", "C. D.", "Daniel", "Eva-Maria")
AUTHORS = [f"{family}, {GIVEN[place % 5]}" for place, family in enumerate(FAMILY)]
PAPER = {
    "id": "A",
    "title": "Wetting and drying of rice paddies: Methane and yield",
    "year": 2023,
    "journal": "Annals of Retrieval",
    "volume": 7,
    "issue": "2",
    "pages": "101–118",
    "doi": "10.5555/abc.1",
    "lang": "en",
}
KOREAN = {
    "id": "K",
    "title": "지식 그래프(knowledge graph)를 이용한 학술 검색",
    "authors": ["곽소율", "남궁민재"],
    "year": 2021,
    "journal": "정보과학회논문지",
    "volume": "12",
    "issue": "3",
    "pages": "1-10",
    "lang": "ko",
}
BY_ONE = PAPER | {"authors": AUTHORS[:1], "url": "https://example.org/a"}
WITH_PARTS = {"title": "T", "authors": ["Ludwig van der Berg", "Martin Luther King Jr."], "year": 2020}
PAPERS = {
    **{f"{count} authors": PAPER | {"authors": AUTHORS[:count]} for count in (1, 3, 25)},
    **{f"without {field}": BY_ONE | {field: None} for field in ("journal", "doi", "authors")},
    "Korean": KOREAN,
    "particle and suffix": WITH_PARTS | {"id": "P", "journal": "J", "lang": "en"},
}
_, *ROWS = Path(__file__).with_name("entries.tsv").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row.split("\t")[:2]))
def test_a_paper_has_the_entry_and_the_citation_of_the_style(row):
    style, name, entry, citation = row.split("\t")
    titled = {"id": "P", "title": name.removeprefix("title "), "journal": "J", "lang": "en"}
    record = PAPERS.get(name, titled)

    made = reference_list(style, [csl_item(record)], [[record["id"]]])

    assert (made.entries[0].text, made.citations[0]) == (entry, citation)


def test_papers_with_the_same_authors_and_year_get_letters_in_the_order_of_the_list():
    by_kim = {"authors": ["Ada Kim"], "lang": "en"}
    records = [
        {"id": "2", "title": "Weeds", "year": 2020} | by_kim,
        {"id": "1", "title": "Rice", "year": 2020} | by_kim,
        {"id": "3", "title": "Soil", "year": 2021} | by_kim,
    ]
    made = reference_list("apa", map(csl_item, records), [["2", "1"], ["3"]])

    entries = ["Kim, A. (2020a). Rice.", "Kim, A. (2020b). Weeds.", "Kim, A. (2021). Soil."]
    assert [entry.text for entry in made.entries] == entries
    assert made.citations == ("(Kim, 2020a; Kim, 2020b)", "(Kim, 2021)")


@pytest.mark.parametrize(
    ("style", "order", "citation"),
    [
        ("ieee", ["K", "A"], "[1], [2]"),  # in the order that is given
        ("vancouver", ["K", "A"], "(1, 2)"),
        ("korean", ["K", "A"], None),  # Korean papers first
        ("apa", ["A", "K"], None),
    ],
)
def test_papers_come_in_the_order_of_the_style(style, order, citation):
    made = reference_list(style, map(csl_item, [KOREAN, PAPER]), [["A", "K"], ["unknown"]])

    assert [entry.id for entry in made.entries] == order
    assert citation is None or made.citations == (citation, "")


def test_an_unknown_style_is_refused_with_the_known_ones():
    with pytest.raises(BadFilter, match="apa, chicago, ieee, korean, mla, vancouver"):
        reference_list("harvard", [])


@settings(max_examples=40)
@given(
    st.sampled_from(list(STYLES)), st.lists(RECORD, max_size=4, unique_by=lambda record: str(record["id"]))
)
def test_each_paper_has_one_entry_whatever_its_record_holds(style, records):
    references = list(map(csl_item, records))
    made = reference_list(style, references, [[item["id"]] for item in references])

    assert {entry.id for entry in made.entries} == {item["id"] for item in references}
    assert all(entry.text and "\n" not in entry.text for entry in made.entries)
    assert all(made.citations)
