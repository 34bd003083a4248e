"""BEIR corpora: corpus.jsonl with _id, title, text and metadata, one passage per line.

Layout: Thakur et al., BEIR (NeurIPS 2021); queries.jsonl and qrels/ are in the same folder.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from indexer.corpora.readers.items import Item
from indexer.corpora.readers.jsonl import read_records
from indexer.corpora.readers.streams import Stream


def read_beir(stream: Stream) -> Iterator[Item]:
    """Read passages: `_id` is the id, `text` the abstract; `metadata` is kept."""
    return read_records(stream, named_as_paper)


def named_as_paper(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Rename the keys of a BEIR record to Paper's."""
    if "_id" not in record:
        return record
    return {key: value for key, value in record.items() if key != "_id"} | {"id": record["_id"]}
