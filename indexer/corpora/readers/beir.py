"""BEIR's corpora: corpus.jsonl with _id, title, text and metadata, one passage each.

The layout is that of Thakur et al., BEIR (NeurIPS 2021); queries.jsonl and qrels/ lie beside it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from indexer.corpora.readers.items import Item
from indexer.corpora.readers.jsonl import read_records
from indexer.corpora.readers.streams import Stream


def read_beir(stream: Stream) -> Iterator[Item]:
    """Read passages as they are: `_id` is the id, `text` the abstract; `metadata` is kept."""
    return read_records(stream, named_as_paper)


def named_as_paper(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Name the keys of a BEIR record as Paper does."""
    if "_id" not in record:
        return record
    return {key: value for key, value in record.items() if key != "_id"} | {"id": record["_id"]}
