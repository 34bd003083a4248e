"""A table for spreadsheets: CSV by RFC 4180, with a byte order mark, so that Excel detects UTF-8.

Cells that a spreadsheet would read as a formula start with an apostrophe, and all cells are quoted (OWASP,
CSV Injection).
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from retriever.exports import Export, Record
from retriever.reference import one_line

COLUMNS = (
    *("id", "title", "title2", "authors", "year", "journal", "publisher", "keywords", "doi", "url", "lang"),
    *("abstract", "abstract2", "references", "cited_by_count", "source"),
)
FOUND = ("score", "why")  # of papers that were found for a question
FURTHER = "further"  # keys of the record that have no column, as JSON
FORMULA = re.compile("[\"'\\s]*[=+\\-@＝＋－＠]")  # also after quotes, which some readers drop


def write(records: Iterable[Record]) -> Iterator[str]:
    """Yield the header and a line for each record; the first record decides about the columns `FOUND`."""
    records = iter(records)
    first = list(islice(records, 1))
    columns = (*COLUMNS, *(FOUND if first and all(name in first[0] for name in FOUND) else ()))
    yield "\ufeff" + _line((*columns, FURTHER))
    for record in chain(first, records):
        values = {**record, "id": record.get("doc_id") or record.get("id")}
        further = {key: record[key] for key in record if key not in {*columns, "doc_id"}}
        yield _line([_cell(values.get(name)) for name in columns] + [_cell(further or None)])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        text = "; ".join(value)
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = one_line(text)
    return f"'{text}" if FORMULA.match(text) else text


def _line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue()


EXPORT = Export("text/csv; header=present", ".csv", write)
