"""What is taken along comes back equal, from whatever a record holds."""

import csv
import io
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retriever.errors import BadFilter
from retriever.exports import export_named
from tests.retriever import reading_exports as reading
from tests.retriever.hostile_records import RECORD

READERS = {
    "rispy": ("ris", reading.by_rispy),
    "pybtex": ("bibtex", reading.by_pybtex),
}
RECORDS: list[dict[str, Any]] = [
    {
        "id": "KO-1",
        "doc_id": "KO-1",
        "title": "지식 그래프(knowledge graph)를 이용한 학술 검색",
        "title2": "Scholarly search by knowledge graphs",
        "abstract": "지식 그래프는\n개체와 관계를 담는다.",
        "lang": "ko",
        "authors": ["곽소율", "남궁민재"],
        "year": 2023,
        "journal": "정보과학회논문지",
        "doi": "10.5555/ko.1_a",
        "keywords": ["지식 그래프", "knowledge graph"],
    },
    {
        "id": "EN-1",
        "title": "Costs & gains: 50% of $5, #1_a",
        "authors": ["Kim, Ada", "Ferreira, Daniel João"],
        "year": 1999,
        "journal": "Annals of Retrieval & Use",
        "doi": "10.1002/(SICI)1097-4636(199823)43:4<338::AID-JBM16>3.0.CO;2-B",
        "url": "https://example.org/a_b?c=%20&d#e",
        "volume": 7,
    },
    {"id": "BARE-1", "title": "Untitled notes"},
]


SPLIT = {"곽소율": "곽, 소율", "남궁민재": "남궁, 민재"}


@pytest.mark.parametrize("reader", READERS)
def test_title_authors_year_journal_and_doi_come_back(reader):
    name, read = READERS[reader]
    expected = [
        paper._replace(authors=tuple(SPLIT.get(author, author) for author in paper.authors))
        for paper in map(reading.as_given, RECORDS)
    ]

    assert read(reading.written(name, RECORDS)) == expected


def test_a_format_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(BadFilter, match="bibtex, csl-json, csv, jsonl, ris"):
        export_named("endnote")


NAMES = {
    "id": "A",
    "title": "t",
    "authors": ["남궁 민재", "Ludwig van der Berg", "Martin Luther King Jr.", "World Health Organization"],
}


def test_names_in_ris_are_family_given_and_suffix():
    authors = [line for line in reading.written("ris", [NAMES]).split("\r\n") if line.startswith("AU")]

    assert authors == [
        "AU  - 남궁, 민재",
        "AU  - van der Berg, Ludwig",
        "AU  - King, Martin Luther, Jr.",
        "AU  - World Health Organization,",
    ]


def test_names_in_bibtex_are_read_as_their_parts():
    (entry,) = reading.bibliography(reading.written("bibtex", [NAMES])).entries.values()

    assert [
        (
            person.prelast_names,
            person.last_names,
            person.first_names,
            person.middle_names,
            person.lineage_names,
        )
        for person in entry.persons["author"]
    ] == [
        ([], ["남궁"], ["민재"], [], []),
        (["van", "der"], ["Berg"], ["Ludwig"], [], []),
        ([], ["King"], ["Martin"], ["Luther"], ["Jr."]),
        ([], ["{World Health Organization}"], [], [], []),
    ]


def rows_of(records):
    """Return the rows of a CSV file, the header first."""
    csv.field_size_limit(10_000_000)  # of Python's reader it is 131,072 characters
    return [*csv.reader(io.StringIO(reading.written("csv", records).removeprefix("\ufeff"), newline=""))]


@settings(max_examples=50)
@given(st.lists(RECORD, max_size=4))
def test_whatever_records_hold_each_is_read_as_one_reference(records):
    ris, bibtex = (read(reading.written(name, records)) for name, read in READERS.values())
    csl = json.loads(reading.written("csl-json", records))
    rows = rows_of(records)

    assert len(ris) == len(bibtex) == len(csl) == len(rows) - 1 == len(records)
    titles = [item.get("title", "") for item in csl]
    assert [paper.title for paper in ris] == [paper.title for paper in bibtex] == titles
    assert [len(paper.authors) for paper in bibtex] == [len(item.get("author", ())) for item in csl]


@given(st.lists(RECORD, min_size=1, max_size=3))
def test_no_cell_is_a_formula(records):
    formulas = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
    assert not any(cell.lstrip(' \t"').startswith(formulas) for row in rows_of(records) for cell in row)


def test_keys_are_valid_unique_in_either_case_and_the_same_in_every_export():
    ids = ["SAMPLE-1", "sample-1", "논문1", "논문2", "a{b", "a}b", "%", "10.1/x#y"]
    text = reading.written("bibtex", [{"id": key} for key in ids])
    keys = re.findall(r"^@misc\{(.*?),?$", text, re.MULTILINE)

    assert all(re.fullmatch(r"[A-Za-z0-9.:/+-]+", key) for key in keys)
    assert len({key.casefold() for key in keys}) == len(ids)
    assert [
        f"@misc{{{key}" in reading.written("bibtex", [{"id": one}])
        for key, one in zip(keys, ids, strict=True)
    ] == [key != "sample-1-2" for key in keys]
