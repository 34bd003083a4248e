"""JSON lines: each unchanged record, with all its keys, on a line (jsonlines.org)."""

from collections.abc import Iterable, Iterator

from base.terminal.output import json_text
from retriever.exports import Export, Record


def write(records: Iterable[Record]) -> Iterator[str]:
    """Yield a line for each record."""
    for record in records:
        yield json_text(dict(record)) + "\n"


EXPORT = Export("application/jsonl", ".jsonl", write)
