"""Parquet: rows of papers and passages, with the values that tables of pandas have."""

import datetime as dt
import sys
import zipfile
from decimal import Decimal

import pytest

from base.errors import LibraryMissing
from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus
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


def test_row_groups_and_archives_are_read_in_order(tmp_path):
    rows = [{"id": f"P{number}", "title": "x" * 1000} for number in range(1000)]
    path = written(tmp_path / "a.parquet", rows, row_group_size=300)
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, "inner/a.parquet")

    for corpus in (read_corpus([path]), read_corpus([tmp_path / "b.zip"])):
        assert [item.id for item in items_of(corpus)] == [row["id"] for row in rows]


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "page"])
def test_a_damaged_file_is_one_dead_letter(tmp_path, damage):
    rows = [{"id": f"P{number}", "title": f"{number}" * 50} for number in range(2000)]
    path = written(tmp_path / "a.parquet", rows, row_group_size=500, compression="zstd", use_dictionary=False)
    content = bytearray(path.read_bytes())
    if damage == "page":
        content[len(content) // 2 : len(content) // 2 + 50] = b"\0" * 50
    changed = {"cut": content[:-100], "garbage": b"x" * 1000, "empty": b"", "page": content}[damage]
    path.write_bytes(changed)

    items = items_of(read_corpus([path], format="jsonl"))

    letters = [item for item in items if isinstance(item, DeadLetter)]
    assert len(letters) == (0 if damage == "empty" else 1)
    assert all(isinstance(item, Paper) for item in items if item not in letters)


def test_without_the_library_the_command_that_installs_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.write(tmp_path / "a.parquet", "a.parquet")

    for name in ("a.parquet", "b.zip"):
        with pytest.raises(LibraryMissing, match=r"`make install-parquet` \(pip: the extra `parquet`\)"):
            read_corpus([tmp_path / name])
