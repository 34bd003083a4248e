"""Writer for a cluster: concurrent bulk requests, with retries per document.

Retries: the client's helper retries documents and whole requests with the status 429, 502, 503 or 504, with
growing pauses; this writer retries requests that reach no server. Both end after `patience_s`. The
transport's own retries are switched off here, so that the numbers do not multiply. Repeated documents are not
duplicated: their id is the passage's.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from elastic_transport import TransportError
from elasticsearch import ApiError

from base.files.durable import write_durably
from indexer.analysis.analysed import AnalysedPassage
from indexer.corpora.papers import Unit
from indexer.corpora.readers import DeadLetter
from indexer.encoders import VectorFingerprint
from indexer.errors import EngineRefused, EngineUnreachable
from indexer.files.schema import StoredPassage
from indexer.files.stored import key_of
from indexer.forward.building import BaseForward, ForwardWriter
from indexer.vectors.store import VectorStore
from indexer.versions.cluster import vectors
from indexer.versions.cluster.connection import (
    BAD_REQUEST,
    FORBIDDEN,
    TRANSIENT,
    UNAUTHORIZED,
    Cluster,
    cause_in,
    growing_pauses,
    is_transient,
    map_client_errors,
)
from indexer.versions.cluster.documents import document_id, to_document
from indexer.versions.cluster.loading import merge
from indexer.versions.cluster.reading import PAGE, count, page_of, passages_of_index, refresh
from indexer.versions.cluster.vectors import send_in_bulk
from indexer.versions.store.build_folder import PARTS, PLAN

COMMITTED = "committed.json"
# The request size grows while responses are fast, and shrinks while they are slow.
FIRST_BYTES = 1_000_000
LEAST_BYTES = 50_000
QUICK_S, SLOW_S = 1.0, 4.0
HEAD_BYTES = 200


@dataclass(slots=True)
class Batch:
    """Documents of complete records to send."""

    documents: list[tuple[dict[str, Any], int]] = field(
        default_factory=list
    )  # with the sequence of the record
    replaced: dict[str, list[str]] = field(default_factory=dict)  # values of an exact field to delete first
    size: int = 0  # bytes, approximate


@dataclass(slots=True)
class Outcome:
    """Result of a batch."""

    refused: list[DeadLetter]
    deleted: int
    replaced: int
    seconds: float
    retried: bool


class ElasticsearchWriter:
    """A version in a cluster being written; see `indexer.versions.writers.Writer`."""

    def __init__(
        self,
        cluster: Cluster,
        index: str,
        *,
        base: str | None,
        unit: Unit,
        building: Path,
        lexicon: BaseForward | None,
        refuse: Callable[[DeadLetter], None],
        still_held: Callable[[], None],
    ) -> None:
        """Write to `index`, which is based on `base` or empty; `still_held` raises if the lease is lost.

        `lexicon` is the lexicon of the base. Passages written by an interrupted build after its last commit
        are written again.

        """
        self.replaced = 0
        self._cluster = cluster
        self._client = cluster.client
        self._settings = cluster.settings
        self._index = index
        self._unit: Unit = unit
        self._note = building / COMMITTED
        self._forward = ForwardWriter(building / PARTS, lexicon)
        self._refuse = refuse
        self._refused: list[DeadLetter] = []
        self._still_held = still_held
        self._base = base
        self._batch = Batch()
        self._pending: deque[Future[Outcome]] = deque()
        self._most_bytes = min(FIRST_BYTES, self._settings.request_bytes)
        self._newest: tuple[int, str | None] = (-1, None)
        self._replacing = False  # `replace` started a record without passages so far
        self._expected = self.passage_count if base else 0
        if self._note.exists():
            note = self._read_note()
            self._expected = note["passages"]
            self._refused = [DeadLetter(**letter) for letter in note["refused"]]

    def __enter__(self) -> Self:
        """Return the writer; report passages refused before the last commit again."""
        for letter in self._refused:
            self._refuse(letter)
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel pending requests."""
        for future in self._pending:
            future.cancel()
        self._pending.clear()

    def add(self, passage: StoredPassage, analysed: AnalysedPassage, sequence: int) -> bytes:
        """Add a passage, and return its row; `sequence` is its record's place in the corpus."""
        row = self._forward.row(passage, analysed)
        if sequence != self._newest[0] and not self._replacing:
            self._begin_record()
        self._replacing = False
        self._newest = sequence, key_of(passage, self._unit)
        self._batch.documents.append((to_document(passage, analysed.tokens, row, sequence), sequence))
        self._batch.size += 5 * (len(passage.title) + len(passage.text)) + 300
        return row

    def replace(self, field: str, value: str) -> None:
        """Delete a record of the base, before its passages are added."""
        self._begin_record()
        self._replacing = True
        self._batch.replaced.setdefault(field, []).append(value)
        self._batch.size += len(value)

    def _begin_record(self) -> None:
        """Send the batch if it is large enough; deletions and passages of a record are in one batch."""
        if self._batch.size >= self._most_bytes:
            self._send_batch()

    def held(self, field: str, values: Iterable[str]) -> set[str]:
        """Return the values that are in an exact field of the base."""
        asked = list(values)
        found: set[str] = set()
        for start in range(0, len(asked), PAGE):
            some = asked[start : start + PAGE]
            answer = self._cluster.run(
                self._client.search(
                    index=self._base or self._index,
                    size=0,
                    allow_partial_search_results=False,
                    query={"terms": {field: some}},
                    aggs={"held": {"terms": {"field": field, "size": len(some)}}},
                )
            )
            found |= {bucket["key"] for bucket in answer["aggregations"]["held"]["buckets"]}
        return found

    def stored_records(self, field: str, values: Sequence[str]) -> dict[str, list[StoredPassage]]:
        """Return the passages of records of the base by their values in an exact field, in order."""
        records: dict[str, list[StoredPassage]] = {}
        query = {"terms": {field: list(values)}}
        for passage in passages_of_index(self._cluster, self._base or self._index, query=query):
            records.setdefault(str(getattr(passage, field)), []).append(passage)
        return records

    def last_written(self) -> tuple[int, str | None]:
        """Return the highest committed sequence and the key of its record; (-1, None) in an empty index."""
        if self._note.exists():
            note = self._read_note()
            return note["sequence"], note["key"]
        if self._base is None:
            return -1, None
        answer = self._cluster.run(
            self._client.search(
                index=self._index,
                size=1,
                sort=[{"sequence": "desc"}],
                source_includes=["sequence"],
                allow_partial_search_results=False,
            )
        )
        hits = answer["hits"]["hits"]
        return (hits[0]["_source"]["sequence"], None) if hits else (-1, None)

    def commit(self) -> None:
        """Wait for the acknowledgement of all added passages, and store the progress."""
        self._forward.flush()
        self._send_batch()
        while self._pending:
            self._settle(self._pending.popleft())
        if self._newest[0] >= 0:
            sequence, key = self._newest
            note = {
                "sequence": sequence,
                "key": key,
                "passages": self._expected,
                "refused": [asdict(letter) for letter in self._refused],
            }
            write_durably(self._note, json.dumps(note, ensure_ascii=False))

    def finish(self) -> None:
        """Commit, merge, and compare the number of passages with the number sent."""
        self.commit()
        self._still_held()
        settle_s = self._settings.settle_s
        self._cluster.run_patiently(lambda: merge(self._client, self._index, settle_s=settle_s))
        found = self.passage_count
        if found != self._expected:
            write_durably(self._note.with_name(PLAN), "{}")  # cannot be resumed
            raise EngineRefused(
                f"the cluster contains {found:,} passages in {self._index} instead of the {self._expected:,} "
                "that it accepted; nothing was published: check the servers' logs, then repeat the command, "
                "which starts over"
            )

    def stored(self) -> Iterator[StoredPassage]:
        """Yield every stored passage in corpus order."""
        return passages_of_index(self._cluster, self._index)

    @property
    def terms(self) -> list[str]:
        """The terms of the version's lexicon, in the order of their numbers."""
        return self._forward.terms

    def without_vector(self, fingerprint: VectorFingerprint) -> Iterator[StoredPassage]:
        """Yield the passages without a vector; passages of the base version may have one."""
        vectors.prepare(self._cluster, self._index, fingerprint)
        refresh(self._cluster, self._index)
        return passages_of_index(self._cluster, self._index, query=vectors.WITHOUT)

    def place_vectors(self, sources: Sequence[VectorStore]) -> int:
        """Send the missing vectors; return the number of passages with a vector."""
        vectors.place(self._cluster, self._index, sources, self._still_held)
        return count(self._cluster, self._index, vectors.WITH)

    @property
    def passage_count(self) -> int:
        """The number of passages, including uncommitted ones."""
        return count(self._cluster, self._index)

    def _read_note(self) -> dict[str, Any]:
        note: dict[str, Any] = json.loads(self._note.read_text(encoding="utf-8"))
        return note

    def _send_batch(self) -> None:
        if not self._batch.documents and not self._batch.replaced:
            return
        if len(self._pending) >= self._settings.requests_at_once:
            self._settle(self._pending.popleft())
        batch, self._batch = self._batch, Batch()
        self._pending.append(self._cluster.start(self._deliver(batch)))

    def _settle(self, future: "Future[Outcome]") -> None:
        """Wait for a batch, count its result, and choose the size of the next."""
        with map_client_errors(self._settings):
            outcome = future.result()
        self._expected -= outcome.deleted
        self.replaced += outcome.replaced
        self._refused += outcome.refused
        for letter in outcome.refused:
            self._refuse(letter)
        if outcome.retried or outcome.seconds > SLOW_S:
            self._most_bytes = max(LEAST_BYTES, self._most_bytes // 2)
        elif outcome.seconds < QUICK_S:
            self._most_bytes = min(self._settings.request_bytes, self._most_bytes * 2)

    async def _deliver(self, batch: Batch) -> Outcome:
        """Send a batch until every document is accepted or refused, or the time limit ends."""
        started = time.monotonic()
        outcome = Outcome([], 0, 0, 0.0, retried=False)
        pauses = growing_pauses()
        superseded: list[str] | None = None
        while True:
            may_retry = is_transient
            try:
                await asyncio.to_thread(self._still_held)
                if superseded is None:
                    superseded, outcome.replaced = await self._superseded(batch)
                may_retry = _is_gone
                await self._bulk(batch, superseded, outcome)
            except (ApiError, TransportError, EngineUnreachable, EngineRefused) as error:
                described = isinstance(error, EngineUnreachable | EngineRefused)
                reason = error.__cause__ if described else error
                pause = next(pauses)
                late = time.monotonic() - started + pause > self._settings.patience_s
                if late or not may_retry(reason):
                    raise
                outcome.retried = True
                await asyncio.sleep(pause)
            else:
                outcome.seconds = time.monotonic() - started
                return outcome

    async def _superseded(self, batch: Batch) -> tuple[list[str], int]:
        """Return the ids of documents replaced by the batch's records, and the number of these records."""
        ids: list[str] = []
        records: set[str] = set()
        for name, values in batch.replaced.items():
            search: dict[str, Any] = {
                "query": {"terms": {name: values}},
                "sort": [{"passage_id": "asc"}],
                "source": False,
                "docvalue_fields": [{"field": name}],
            }
            base, after = str(self._base), None
            while hits := await page_of(self._client.options(max_retries=0), base, after=after, **search):
                ids += [hit["_id"] for hit in hits]
                records |= {hit["fields"][name][0] for hit in hits}
                after = hits[-1]["sort"]
        return ids, len(records)

    async def _bulk(self, batch: Batch, superseded: list[str], outcome: Outcome) -> None:
        """Send the batch, with retries of documents with transient failures."""
        sequences = {document_id(document["passage_id"]): sequence for document, sequence in batch.documents}
        actions: list[Any] = [{"_op_type": "delete", "_index": self._index, "_id": one} for one in superseded]
        actions += [
            {"_index": self._index, "_id": document_id(document["passage_id"]), "_source": document}
            for document, _ in batch.documents
        ]
        outcome.deleted, outcome.refused = len(superseded) - len(batch.documents), []
        async for answer in send_in_bulk(self._cluster, actions, at_once=len(actions)):
            if answer["status"] != BAD_REQUEST:
                raise EngineRefused(_describe_failure(answer, self._settings.url))
            outcome.deleted += 1
            outcome.refused.append(_dead_letter(answer, sequences[answer["_id"]]))


def _is_gone(error: BaseException | None) -> bool:
    """Check whether a server may be restarting; it then knows no users for some seconds."""
    if isinstance(error, ApiError):
        return error.status_code == UNAUTHORIZED
    return isinstance(error, TransportError)


def _dead_letter(answer: dict[str, Any], sequence: int) -> DeadLetter:
    return DeadLetter(
        file=f"(refused by the cluster) {answer['_id'][:HEAD_BYTES]}",
        line=sequence + 1,
        reason=cause_in(answer.get("error"))[1] or str(answer.get("status")),
        head="",
    )


def _describe_failure(answer: dict[str, Any], url: str) -> str:
    kind, reason = cause_in(answer.get("error"))
    if "block" in f"{kind} {reason}":
        cause = "its disk is nearly full, or the index is read-only"
    elif answer["status"] == FORBIDDEN:
        cause = "this user or key lacks the right"
    elif answer["status"] in TRANSIENT:
        cause = "it is overloaded, or a node is missing"
    else:
        cause = "see the servers' logs"
    return (
        f"Elasticsearch at {url} accepts no more documents ({answer['status']}: {reason}): {cause}. The "
        "published version remains in use; fix the cause and repeat the command, which resumes the build"
    )
