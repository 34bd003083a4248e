"""MIRACL corpora: JSON lines with docid, title and text, one Wikipedia passage per line.

Layout: https://huggingface.co/datasets/miracl/miracl-corpus; a docid is ARTICLE#PASSAGE.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from indexer.corpora.readers.items import Item
from indexer.corpora.readers.jsonl import read_records
from indexer.corpora.readers.streams import Stream


def read_miracl(stream: Stream) -> Iterator[Item]:
    """Read passages: `docid` is the id, `text` the abstract."""
    return read_records(stream, named_as_paper)


def named_as_paper(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Rename the keys of a MIRACL record to Paper's."""
    if "docid" not in record:
        return record
    return {key: value for key, value in record.items() if key != "docid"} | {"id": record["docid"]}
