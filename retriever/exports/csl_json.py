"""CSL-JSON for citation processors and Zotero (csl-data.json of CSL 1.0.2)."""

from collections.abc import Iterable, Iterator

from base.terminal.output import json_text
from retriever.citing.csl_items import csl_item
from retriever.exports import Export, Record
from retriever.reference import reference_of


def write(records: Iterable[Record]) -> Iterator[str]:
    """Yield a JSON array, one item per line."""
    separator = "[\n"
    for record in records:
        yield separator + json_text(csl_item(reference_of(record)))
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


EXPORT = Export("application/vnd.citationstyles.csl+json", ".json", write)
