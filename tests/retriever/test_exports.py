"""What is taken along comes back equal, from whatever a record holds."""

import json

import pytest

from retriever.errors import BadFilter
from retriever.exports import export_named, export_names
from tests.retriever import reading_exports as reading

READERS = {
    "rispy": ("ris", reading.by_rispy),
    "ris2xml": ("ris", lambda text: reading.by_bibutils("ris2xml", text)),
    "pybtex": ("bibtex", reading.by_pybtex),
    "bib2xml": ("bibtex", lambda text: reading.by_bibutils("bib2xml", text)),
    "json": ("csl-json", reading.by_json),
    "citeproc": ("csl-json", reading.by_citeproc),
    "csv": ("csv", reading.by_csv),
    "pandas": ("csv", reading.by_pandas),
}
RECORDS = [
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


@pytest.mark.parametrize("reader", READERS)
def test_title_authors_year_journal_and_doi_come_back(reader):
    name, read = READERS[reader]

    assert read(reading.written(name, RECORDS)) == [reading.as_given(record) for record in RECORDS]


@pytest.mark.parametrize("name", export_names())
def test_the_same_records_give_the_same_bytes(name):
    assert reading.written(name, RECORDS) == reading.written(name, [dict(record) for record in RECORDS])


def test_json_lines_are_the_records_as_they_are():
    lines = reading.written("jsonl", RECORDS).splitlines()

    assert [json.loads(line) for line in lines] == RECORDS


def test_a_format_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(BadFilter, match="bibtex, csl-json, csv, jsonl, ris"):
        export_named("endnote")


def test_a_korean_name_with_a_space_stays_whole():
    record = {"id": "A", "title": "t", "authors": ["남궁 민재"]}

    assert "AU  - 남궁 민재,\r\n" in reading.written("ris", [record])
    assert reading.by_pybtex(reading.written("bibtex", [record]))[0].authors == ("남궁 민재",)
    assert reading.by_citeproc(reading.written("csl-json", [record]))[0].authors == ("남궁 민재",)
