"""Parquet: rows of papers and passages, with the values that tables of pandas have."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from indexer.corpora.readers import read_corpus
from tests.indexer.corpora.readers.items import items_of

pytestmark = pytest.mark.needs_libraries

ROWS: list[dict[str, Any]] = [
    {
        "id": "A",
        "title": "논",
        "authors": ["강가은"],
        "year": 2023.0,
        "score": float("nan"),
        "grade": {"a": [1]},
    },
    {"id": "B", "authors": [], "date": dt.date(2023, 8, 1), "price": Decimal("1.50")},
    {"id": None, "title": "no id", "year": 1999.0},
]


def test_rows_are_records_without_missing_values_and_dates_and_decimal_numbers_are_texts(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = dict.fromkeys({*ROWS[0], *ROWS[1]})
    parquet.write_table(pa.Table.from_pylist([columns | row for row in ROWS]), tmp_path / "a.parquet")
    first, second, dead = items_of(read_corpus([tmp_path / "a.parquet"]))

    present = {key: value for key, value in ROWS[0].items() if key != "score"}
    assert first.record() == present | {"year": 2023, "lang": "ko"}
    assert second.record() == ROWS[1] | {"date": "2023-08-01", "price": "1.50", "lang": "other"}
    assert (dead.line, "id: " in dead.reason) == (3, True)
