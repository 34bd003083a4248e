"""A table for spreadsheets: CSV by RFC 4180, with a byte order mark, so that Excel detects UTF-8.

Cells that a spreadsheet would read as a formula start with an apostrophe, and all cells are quoted (OWASP,
CSV Injection).
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from indexer.corpora.own_exports import CSV_COLUMNS, CSV_FURTHER, CSV_SEPARATOR, FORMULA
from retriever.exports import Export, Record
from retriever.reference import one_line

FOUND = ("score", "why")  # of papers that were found for a question


def write(records: Iterable[Record]) -> Iterator[str]:
    """Yield the header and a line for each record; the first record decides about the columns `FOUND`."""
    records = iter(records)
    first = list(islice(records, 1))
    columns = (*CSV_COLUMNS, *(FOUND if first and all(name in first[0] for name in FOUND) else ()))
    yield "\ufeff" + _line((*columns, CSV_FURTHER))
    for record in chain(first, records):
        values = {**record, "id": record.get("doc_id") or record.get("id")}
        further = {key: record[key] for key in record if key not in {*columns, "doc_id"}}
        yield _line([_cell(values.get(name)) for name in columns] + [_cell(further or None)])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        parts = [one_line(part) for part in value]
        text = one_line(CSV_SEPARATOR.join(parts))
        if value and (text.startswith("[") or text.split(CSV_SEPARATOR) != parts):
            text = _json(parts)
    else:
        text = one_line(value) if isinstance(value, str) else _json(value)
    return f"'{text}" if FORMULA.match(text) else text


def _json(value: Any) -> str:
    """Return JSON on one line, in which characters that `one_line` would change are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    if text == one_line(text):
        return text
    return "".join(sign if sign in {" ", one_line(sign)} else json.dumps(sign)[1:-1] for sign in text)


def _line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue()


EXPORT = Export("text/csv; header=present", ".csv", write)
