"""Writer for a cluster: bulk requests with the client's helper.

The helper repeats documents with the status 429, 502, 503 or 504, and the client repeats whole requests, both
with growing pauses up to `patience_s`. Documents are not duplicated: their id is that of the passage.
"""

# ruff: noqa: D102 - `tantivy.py` describes the methods

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch
from elasticsearch.helpers import streaming_bulk

from base.windows import windows
from indexer.analysis.analysed import AnalysedPassage
from indexer.encoders import Stored, VectorFingerprint
from indexer.errors import EngineRefused
from indexer.files.schema import StoredPassage
from indexer.forward.building import packed_row
from indexer.forward.lexicon import Lexicon, LexiconBuilder
from indexer.settings import ElasticsearchSettings
from indexer.versions.cluster.connection import FIRST_PAUSE_S, LONGEST_PAUSE_S, NOT_FOUND, TRANSIENT, cause_in
from indexer.versions.cluster.documents import (
    PAGE,
    count,
    document_id,
    passages_of_index,
    to_document,
    vector_field,
)
from indexer.versions.writers import VectorKey

MAX_TERMS = 10_000  # of a query
SETTLING_S = 3.0  # pause between merges that drop deleted passages
MERGE_S = 24 * 3600.0
VECTOR = "vector"
WITH: dict[str, Any] = {"exists": {"field": VECTOR}}


class ElasticsearchWriter:
    """A version in a cluster being written; see `indexer.versions.writers.tantivy`."""

    def __init__(
        self,
        client: Elasticsearch,
        settings: ElasticsearchSettings,
        index: str,
        *,
        base: str | None,
        lexicon: Path | None,
    ) -> None:
        """Write to `index`, which is a clone of `base` with the lexicon in a file, or empty."""
        self.replaced = 0
        self._client, self._settings, self._index, self._base = client, settings, index, base
        self._lexicon = LexiconBuilder(Lexicon.open(lexicon) if lexicon else ())
        self._new_batch()

    def _new_batch(self) -> None:
        self._actions: list[dict[str, Any]] = []
        self._gone: set[str] = set()  # passages that are deleted first
        self._size = 0  # bytes, approximate

    def close(self) -> None:
        return

    def add(self, passage: StoredPassage, analysed: AnalysedPassage, sequence: int) -> bytes:
        row = packed_row(passage, analysed, self._lexicon)
        document = to_document(passage, analysed.tokens, row, sequence)
        self._actions.append(self._action(passage.passage_id, _source=document))
        self._grow(5 * (len(passage.title) + len(passage.text)) + 300)
        return row

    def remove(self, record: Sequence[StoredPassage]) -> None:
        self.replaced += 1
        self._gone |= {passage.passage_id for passage in record}
        self._grow(sum(len(passage.passage_id) for passage in record))

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size >= self._settings.request_bytes:
            self._send_batch()

    def _send_batch(self) -> None:
        """Send deletions and documents; a repeated deletion would remove a new document of the same id."""
        added = {action["_id"] for action in self._actions}
        deletions = [self._action(passage_id, _op_type="delete") for passage_id in self._gone]
        self._bulk([*(action for action in deletions if action["_id"] not in added), *self._actions])
        self._new_batch()

    def _action(self, passage_id: str, **what: Any) -> dict[str, Any]:
        return {"_index": self._index, "_id": document_id(passage_id), **what}

    def _bulk(self, actions: Sequence[dict[str, Any]]) -> None:
        """Send actions; EngineRefused if the cluster does not take one of them."""
        for _, item in streaming_bulk(
            self._client,
            actions,
            max_chunk_bytes=self._settings.request_bytes,
            raise_on_error=False,
            yield_ok=False,
            max_retries=4 + int(self._settings.patience_s // LONGEST_PAUSE_S),
            initial_backoff=FIRST_PAUSE_S,
            max_backoff=LONGEST_PAUSE_S,
            retry_on_status=TRANSIENT,
        ):
            [(kind, answer)] = item.items()
            if kind == "index" or answer["status"] != NOT_FOUND:  # deleted by an earlier attempt
                reason = cause_in(answer.get("error"))[1]
                raise EngineRefused(
                    f"Elasticsearch at {self._settings.url} does not take passage {answer['_id']!r} "
                    f"({answer['status']}: {reason}). The published version remains in use",
                    remedy=("free disk space, or wait if it is busy", "repeat the command, which resumes"),
                )

    def stored_records(self, field: str, values: Sequence[str]) -> dict[str, list[StoredPassage]]:
        records: dict[str, list[StoredPassage]] = {}
        for some in windows(values, MAX_TERMS):
            for passage in passages_of_index(self._client, str(self._base), {"terms": {field: some}}):
                records.setdefault(str(getattr(passage, field)), []).append(passage)
        return records

    def next_sequence(self) -> int:
        if self._base is None:
            return 0
        newest: dict[str, Any] = {"sort": [{"sequence": "desc"}], "allow_partial_search_results": False}
        found = self._client.search(index=self._base, size=1, source=False, **newest)["hits"]["hits"]
        return int(found[0]["sort"][0]) + 1 if found else 0

    def commit(self) -> None:
        """Wait for the acknowledgement of all added passages."""
        self._send_batch()
        self._client.indices.refresh(index=self._index)

    def finish(self) -> None:
        """Commit, and merge each shard to one segment, so that BM25 statistics exclude deleted passages.

        The cluster retains deleted passages for replicas of the shard, and releases them every 30 seconds.
        This is waited for up to `settle_s` seconds after the first merge.
        """
        self.commit()
        patient, deadline = self._client.options(request_timeout=MERGE_S).indices, None
        while True:
            patient.flush(index=self._index)
            patient.forcemerge(index=self._index, max_num_segments=1)
            patient.refresh(index=self._index)
            deadline = deadline or time.monotonic() + self._settings.settle_s
            left = patient.stats(index=self._index, metric="docs")["_all"]["primaries"]["docs"]["deleted"]
            if not left or time.monotonic() > deadline:
                return
            time.sleep(SETTLING_S)

    @property
    def terms(self) -> list[str]:
        return self._lexicon.terms

    def start_vectors(
        self, fingerprint: VectorFingerprint, *, keep: bool
    ) -> Iterator[tuple[VectorKey, StoredPassage]]:
        """Yield the id of each passage without a vector, and the passage; a cluster keeps all vectors."""
        del keep
        kind = self._settings.vector_index
        field = vector_field(fingerprint.dimensions, index=kind, storage=fingerprint.storage)
        self._client.indices.put_mapping(index=self._index, properties={VECTOR: field})
        found = passages_of_index(self._client, self._index, {"bool": {"must_not": [WITH]}})
        return ((passage.passage_id, passage) for passage in found)

    def put_vectors(self, keys: Sequence[VectorKey], vectors: Stored) -> None:
        for some in windows(zip(keys, vectors.tolist(), strict=True), PAGE):
            self._bulk([self._action(name, _op_type="update", doc={VECTOR: vector}) for name, vector in some])

    def finish_vectors(self) -> int:
        self._client.indices.refresh(index=self._index)
        return count(self._client, self._index, WITH)

    @property
    def passage_count(self) -> int:
        return count(self._client, self._index)
