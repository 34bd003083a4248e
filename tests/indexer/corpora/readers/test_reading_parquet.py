"""Parquet: rows of papers and passages, with the values that tables of pandas have."""

import datetime as dt
from decimal import Decimal

import pytest

from indexer.corpora.readers import read_corpus
from tests.indexer.corpora.readers.items import items_of

pytestmark = pytest.mark.needs_libraries

ROWS = [
    {
        "id": "A",
        "title": "논의 메탄",
        "authors": ["강가은"],
        "year": 2023.0,
        "score": 0.5,
        "grade": {"a": [1]},
    },
    {"id": "B", "title": "Methane", "authors": [], "year": None, "score": float("nan"), "grade": None},
    {"id": None, "title": "no id", "authors": None, "year": 1999.0, "score": None, "grade": None},
]


def written(path, rows, **options):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), path, **options)
    return path


def test_rows_are_records_without_missing_values(tmp_path):
    corpus = read_corpus([written(tmp_path / "papers.parquet", ROWS)])
    first, second, dead = items_of(corpus)

    assert (corpus.format, corpus.unit) == ("jsonl", "paper")
    assert first.record() == {
        "id": "A",
        "title": "논의 메탄",
        "lang": "ko",
        "authors": ["강가은"],
        "year": 2023,
        "score": 0.5,
        "grade": {"a": [1]},
    }
    assert second.record() == {"id": "B", "title": "Methane", "lang": "en", "authors": []}
    assert (dead.line, "id: " in dead.reason) == (3, True)


def test_dates_decimal_numbers_and_bytes_become_text(tmp_path):
    row = {"id": "A", "date": dt.date(2023, 8, 1), "price": Decimal("1.50"), "hash": "가".encode()}

    (paper,) = items_of(read_corpus([written(tmp_path / "a.parquet", [row])]))

    assert paper.model_extra == {"date": "2023-08-01", "price": "1.50", "hash": "가"}
