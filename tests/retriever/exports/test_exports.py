"""Exports as golden files and of whatever a record holds, and the metadata that pages embed."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pybtex.database import parse_string

from retriever.errors import BadFilter
from retriever.exports import export_named
from retriever.papers.embedded_metadata import citation_tags, coins
from tests.retriever.hostile_records import RECORD
from tests.retriever.reading_exports import by_rispy, written

NAMES = ["남궁 민재", "Ludwig van der Berg", "Martin Luther King Jr.", "World Health Organization"]
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
        "pages": "101-118",
    },
    {"id": "BARE-1", "title": "Untitled notes"},
    {
        "id": "A",
        "title": "t",
        "authors": [
            "남궁 민재",
            "Ludwig van der Berg",
            "Martin Luther King Jr.",
            "World Health Organization",
        ],
    },
]


@pytest.mark.parametrize("name", ["ris", "bibtex", "csl-json", "csv", "jsonl"])
def test_records_are_written_as_in_the_golden_file(name):
    golden = Path(__file__).parent / "golden" / f"records{export_named(name).extension}"

    assert written(name, RECORDS).replace("\r\n", "\n") == golden.read_text(encoding="utf-8")


def test_a_format_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(BadFilter, match="bibtex, csl-json, csv, jsonl, ris"):
        export_named("endnote")


def rows_of(records):
    csv.field_size_limit(10_000_000)  # of Python's reader it is 131,072 characters
    return [*csv.reader(io.StringIO(written("csv", records).removeprefix("\ufeff"), newline=""))]


@settings(max_examples=50)
@given(st.lists(RECORD, max_size=4))
def test_whatever_records_hold_each_is_read_as_one_reference(records):
    ris, bibtex = (
        by_rispy(written("ris", records)),
        parse_string(written("bibtex", records), "bibtex").entries,
    )
    csl = json.loads(written("csl-json", records))
    rows = rows_of(records)

    assert len(ris) == len(bibtex) == len(csl) == len(rows) - 1 == len(records)
    assert [paper.title for paper in ris] == [item.get("title", "") for item in csl]
    authors = [len(entry.persons.get("author", ())) for entry in bibtex.values()]
    assert authors == [len(item.get("author", ())) for item in csl]


@given(st.lists(RECORD, min_size=1, max_size=3))
def test_no_cell_is_a_formula(records):
    formulas = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
    assert not any(cell.lstrip(' \t"').startswith(formulas) for row in rows_of(records) for cell in row)


def test_keys_are_valid_unique_in_either_case_and_the_same_in_every_export():
    ids = ["SAMPLE-1", "sample-1", "논문1", "논문2", "a{b", "a}b", "%", "10.1/x#y"]
    text = written("bibtex", [{"id": key} for key in ids])
    keys = re.findall(r"^@misc\{(.*?),?$", text, re.MULTILINE)

    assert all(re.fullmatch(r"[A-Za-z0-9.:/+-]+", key) for key in keys)
    assert len({key.casefold() for key in keys}) == len(ids)
    assert [
        f"@misc{{{key}" in written("bibtex", [{"id": one}]) for key, one in zip(keys, ids, strict=True)
    ] == [key != "sample-1-2" for key in keys]


PAPER = {
    "doc_id": "A-1",
    "title": "논의 메탄 & <b>물</b>",
    "authors": ["곽소율", "Kim, Ada"],
    "year": 2023,
    "journal": "토양과 물",
    "volume": 12,
    "issue": "3",
    "pages": "101-118",
    "doi": "https://doi.org/10.5555/A.1",
    "url": "https://example.org/a?b=c&d",
    "keywords": ["메탄", "methane"],
    "lang": "ko",
}


def test_coins_is_a_context_object_of_a_journal_article():
    assert parse_qsl(coins(PAPER), strict_parsing=True) == [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", "info:ofi/fmt:kev:mtx:journal"),
        ("rft.genre", "article"),
        ("rft.atitle", "논의 메탄 & <b>물</b>"),
        ("rft.jtitle", "토양과 물"),
        ("rft.date", "2023"),
        ("rft.volume", "12"),
        ("rft.issue", "3"),
        ("rft.spage", "101"),
        ("rft.epage", "118"),
        ("rft.aulast", "곽"),
        ("rft.aufirst", "소율"),
        ("rft.au", "곽, 소율"),
        ("rft.au", "Kim, Ada"),
        ("rft_id", "info:doi/10.5555/A.1"),
        ("rft_id", "https://example.org/a?b=c&d"),
    ]


def test_citation_tags_are_those_of_scholarly_search_engines():
    assert citation_tags(PAPER) == [
        ("citation_title", "논의 메탄 & <b>물</b>"),
        ("citation_author", "곽, 소율"),
        ("citation_author", "Kim, Ada"),
        ("citation_publication_date", "2023"),
        ("citation_journal_title", "토양과 물"),
        ("citation_volume", "12"),
        ("citation_issue", "3"),
        ("citation_firstpage", "101"),
        ("citation_lastpage", "118"),
        ("citation_doi", "10.5555/A.1"),
        ("citation_language", "ko"),
        ("citation_keywords", "메탄; methane"),
        ("citation_public_url", "https://example.org/a?b=c&d"),
    ]
