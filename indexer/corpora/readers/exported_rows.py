"""Rows of a table that `--export csv` wrote, restored to records."""

import json
from collections.abc import Sequence
from typing import Any

from indexer.corpora.own_exports import CSV_FURTHER, CSV_SEPARATOR, FORMULA

LIST_FIELDS = frozenset({"authors", "keywords", "references"})
NUMBERS = frozenset({"year", "cited_by_count", "score"})


def restored(cells: Sequence[str], header: Sequence[str]) -> dict[str, Any]:
    """Return the record of a row. A value that cannot be restored stays text, which is refused later."""
    record: dict[str, Any] = {}
    for name, cell in zip(header, cells, strict=True):
        text = cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell
        if not text:
            continue
        if name == CSV_FURTHER:
            further = _parsed(text)
            record |= further if isinstance(further, dict) else {name: text}
        elif name in LIST_FIELDS:
            parts = _parsed(text) if text.startswith("[") else None
            record[name] = parts if isinstance(parts, list) else text.split(CSV_SEPARATOR)
        elif name in NUMBERS:
            number = _parsed(text)
            record[name] = number if isinstance(number, int | float) else text
        else:
            record[name] = text
    return record


def _parsed(text: str) -> Any:
    """Return the value of JSON text, None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
