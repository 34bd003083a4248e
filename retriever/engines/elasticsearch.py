"""The engine of a cluster: searches of one version's index by analysed tokens, never by text.

Many searches are sent in one request, and each must succeed on all shards.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from base.errors import Remedy
from indexer.encoders import Stored
from indexer.errors import EngineRefused, IndexDamaged
from indexer.files.schema import StoredPassage
from indexer.forward.lexicon import Lexicon
from indexer.forward.rows import PassageRows
from indexer.settings import ElasticsearchSettings
from indexer.versions.cluster.connection import (
    TRANSPORT_RETRIES,
    cause_in,
    connect,
    growing_pauses,
    version_gone,
)
from indexer.versions.cluster.documents import from_document, row_of
from retriever.engines import Engine, EngineHit, NumberedRows, numbered_rows
from retriever.engines.ordering import MARGIN, SCORE_DECIMALS, by_score, rounded_cosine, settled, surely_first
from retriever.engines.requests import (
    count_body,
    doc_ids_body,
    filtered,
    first_passages_body,
    nearest_body,
    passages_body,
    rows_body,
    search_body,
    similarity_body,
    vectors_body,
)
from retriever.opening.worker_threads import check_cancelled
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters

# Errors of a search whose node died: the cluster tries another copy, but not in the middle of a search.
NODE_LOST = {"node_disconnected_exception", "node_not_connected_exception", "connect_transport_exception"}
MISSING = {"no_shard_available_action_exception", *NODE_LOST}


class ManySearches:
    """Sends searches of one index, and retries searches whose node was lost."""

    def __init__(self, settings: ElasticsearchSettings, index: str, options: Mapping[str, Any]) -> None:
        """Take the options for the header of each search; sends no request."""
        self._url, self._index = settings.url, index
        self._header = {**options, "allow_partial_search_results": False}
        self._client = connect(settings)

    def send(self, bodies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers to the bodies, in their order.

        Raises:
            EngineUnreachable: no server answers.
            EngineRefused: it does not answer one of the searches.
            VersionGone: the index was deleted.
        """
        answers: dict[int, dict[str, Any]] = {}
        left, pauses = list(range(len(bodies))), growing_pauses()
        for attempt in range(TRANSPORT_RETRIES + 1 if bodies else 0):
            check_cancelled()
            searches = [part for place in left for part in (self._header, bodies[place])]
            found = self._client.msearch(index=self._index, searches=searches)
            answers |= dict(zip(left, found["responses"], strict=True))
            left = [place for place in left if cause_in(answers[place].get("error"))[0] in NODE_LOST]
            if not left or attempt == TRANSPORT_RETRIES:
                break
            time.sleep(next(pauses))
        for answer in answers.values():
            if "error" in answer:
                self._refuse(answer)
        return [answers[place] for place in range(len(bodies))]

    def _refuse(self, answer: dict[str, Any]) -> NoReturn:
        kind, reason = cause_in(answer["error"])
        # An index that is deleted in the middle of a search is reported as missing shards.
        if kind == "index_not_found_exception" or not self._client.indices.exists(index=self._index):
            raise version_gone(self._index)
        where = f"Elasticsearch at {self._url}"
        if kind in MISSING or answer.get("status") in {429, 503}:
            what = (
                f"{where} cannot search all of {self._index} now ({reason}): shards are missing or starting"
            )
            raise EngineRefused(what, remedy="see GET /_cluster/health, and try again")
        raise EngineRefused(f"{where} refused a search: {reason}")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


Body = dict[str, Any]
WINDOW = 10_000  # maximum documents of one search
# Copies of a shard may differ in the deleted documents they count, so the same copy answers each time.
PREFERENCE = "shrag"
REMEMBERED_ROWS = 2_000


class ElasticsearchEngine(Engine):
    """One published version in a cluster, open for reading; later versions do not affect it."""

    def __init__(
        self, settings: ElasticsearchSettings, index: str, *, passages: int, shards: int, lexicon: Lexicon
    ) -> None:
        """Create the engine of one version with its numbers of passages and shards; sends no request."""
        self._count = passages
        self._lexicon = lexicon
        self._rows: dict[str, bytes] = {}  # sent with the hits of searches
        options = {"preference": PREFERENCE}
        if shards > 1:  # else idf is that of a single shard
            options["search_type"] = "dfs_query_then_fetch"
        self._searches = ManySearches(settings, index, options)
        self._msearch = self._searches.send

    @property
    def passage_count(self) -> int:
        """The number of passages in the index."""
        return self._count

    def close(self) -> None:
        """Close the connections."""
        self._searches.close()

    def search(
        self, queries: Sequence[tuple[Query, int]], *, filters: Filters, collapse: bool, read: int = 0
    ) -> list[list[EngineHit]]:
        """Answer many queries in one call: for each (query, k) at most k hits by score, then passage_id."""
        answers: list[list[EngineHit]] = [[] for _ in queries]
        limits = {number: k + MARGIN for number, (_, k) in enumerate(queries) if k > 0}
        while limits:
            bodies = [
                search_body(queries[number][0], filters, min(limit, WINDOW), rows=number < read)
                for number, limit in limits.items()
            ]
            found = self._msearch(bodies)
            further = {}
            for (number, limit), answer, body in zip(limits.items(), found, bodies, strict=True):
                raw = answer["hits"]["hits"]
                if limit > WINDOW and len(raw) == WINDOW:
                    raw = self._read_on(body, raw, limit)
                if number < read:
                    self._keep({hit["sort"][1]: row_of(hit["_source"]) for hit in raw})
                hits = settled([_hit(hit) for hit in raw], limit, queries[number][1], collapse=collapse)
                if hits is None:
                    further[number] = limit * 4
                else:
                    answers[number] = hits
            limits = further
        return answers

    def _read_on(self, body: Body, read: list[Body], limit: int) -> list[Body]:
        """Read a search with more hits than the window of one answer."""
        while len(read) < limit:
            page = body | {"search_after": read[-1]["sort"], "size": min(WINDOW, limit - len(read))}
            [answer] = self._msearch([page])
            if not answer["hits"]["hits"]:
                break
            read = [*read, *answer["hits"]["hits"]]
        return read

    def records(
        self, passage_ids: Iterable[str], doc_ids: Iterable[str] = ()
    ) -> tuple[dict[str, StoredPassage], dict[str, StoredPassage]]:
        """Return stored passages by passage_id, and by doc_id each paper's first, in one request."""
        wanted, asked = dict.fromkeys(passage_ids), dict.fromkeys(doc_ids)
        # A paper's first passage has the id of the paper, so passages that are wanted anyway are sent once.
        others = [doc_id for doc_id in asked if doc_id not in wanted]
        passages_asked = [passages_body(some) for some in _windows(list(wanted))]
        answers = self._msearch([*passages_asked, *map(first_passages_body, _windows(others))])
        read = [
            [from_document(hit["_source"], self._lexicon.terms) for hit in answer["hits"]["hits"]]
            for answer in answers
        ]
        passages = {passage.passage_id: passage for some in read[: len(passages_asked)] for passage in some}
        papers = {passage.doc_id: passage for some in read[len(passages_asked) :] for passage in some}
        papers |= {doc_id: passages[doc_id] for doc_id in asked if doc_id in passages}
        return passages, papers

    @property
    def lexicon(self) -> Lexicon:
        """The numbers and document frequencies of the terms."""
        return self._lexicon

    def rows(self, passage_ids: Sequence[str]) -> NumberedRows:
        """Return the rows of passages in the order given; rows not sent by a search are requested."""
        known = {name: row for name in passage_ids if (row := self._rows.get(name)) is not None}
        missing = [name for name in passage_ids if name not in known]
        for answer in self._msearch([rows_body(some) for some in _windows(missing)]):
            for hit in answer["hits"]["hits"]:
                known[hit["fields"]["passage_id"][0]] = row_of(hit["_source"])
        self._keep(known)
        ids = tuple(name for name in passage_ids if name in known)
        try:
            return numbered_rows(ids, PassageRows.of([known[name] for name in ids]), self._lexicon)
        except ValueError as error:
            raise IndexDamaged(f"the cluster: {error}", remedy=Remedy.REBUILD) from error

    def _keep(self, rows: Mapping[str, bytes]) -> None:
        """Keep rows for later calls of `rows`, in a new dictionary, as other threads may read the old one."""
        room = len(self._rows) + len(rows) <= REMEMBERED_ROWS
        self._rows = {**self._rows, **rows} if room else dict(rows)

    def counts(self, asked: Sequence[tuple[Query, Filters]]) -> list[int]:
        """Count in one call the passages that each query matches under its filters."""
        answers = self._msearch([count_body(filtered(query, filters)) for query, filters in asked])
        return [int(answer["hits"]["total"]["value"]) for answer in answers]

    def doc_ids(self, queries: Sequence[Query]) -> list[set[str]]:
        """Return for each query the papers with a passage that matches it, in windows of an answer."""
        found: list[set[str]] = [set() for _ in queries]
        bodies = {number: doc_ids_body(query, WINDOW) for number, query in enumerate(queries)}
        while bodies:
            answers = dict(zip(bodies, self._msearch(list(bodies.values())), strict=True))
            bodies = {}
            for number, answer in answers.items():
                papers = answer["aggregations"]["papers"]
                found[number] |= {bucket["key"]["doc_id"] for bucket in papers["buckets"]}
                if len(papers["buckets"]) == WINDOW:
                    bodies[number] = doc_ids_body(queries[number], WINDOW, papers["after_key"])
        return found

    def aggregate(self, query: Query, filters: Filters, aggregations: Mapping[str, Any]) -> dict[str, Any]:
        """Aggregate the passages that a query matches under filters."""
        body = {"query": filtered(query, filters), "size": 0, "track_total_hits": False, "aggs": aggregations}
        [answer] = self._msearch([body])
        return answer.get("aggregations", {})  # type: ignore[no-any-return]

    def document_frequencies(self, tokens: Iterable[str], texts: Iterable[str] = ()) -> dict[str, int]:
        """Return the number of passages that contain each token."""
        del texts  # the index holds tokens
        return self._lexicon.frequencies(tokens)

    def similarities(self, vector: Stored, passage_ids: Sequence[str]) -> dict[str, float]:
        """Return the exact cosines of a vector with the given passages; skips passages without a vector."""
        asked = list(dict.fromkeys(passage_ids))
        if not asked:
            return {}
        [answer] = self._msearch([similarity_body(vector.tolist(), asked, len(asked))])
        hits = answer["hits"]["hits"]
        return {hit["fields"]["passage_id"][0]: _cosine(float(hit["_score"])) for hit in hits}

    def vectors(self, passage_ids: Iterable[str]) -> dict[str, Stored]:
        """Return the stored vectors of passages; skips passages without a vector."""
        import numpy as np

        asked = _windows(list(dict.fromkeys(passage_ids)))
        answers = self._msearch([vectors_body(some) for some in asked])
        found: dict[str, Stored] = {}
        for hit in (hit for answer in answers for hit in answer["hits"]["hits"]):
            [name], values = hit["fields"]["passage_id"], hit["fields"]["vector"]
            of_bytes = isinstance(values[0], int)
            found[name] = np.array(values, np.int8) if of_bytes else np.array(values, np.float32)
        return found

    def nearest(self, vector: Stored, k: int, *, filters: Filters) -> list[EngineHit]:
        """Return the k nearest passages with their cosines, by cosine, then passage_id; 10,000 at most."""
        limit = k + MARGIN
        while k > 0:
            limit = min(limit, WINDOW)
            [answer] = self._msearch([nearest_body(vector.tolist(), filters, limit)])
            hits = [_hit(one, _cosine) for one in answer["hits"]["hits"]]
            first = surely_first(hits, whole=len(hits) < limit)
            if len(first) >= k or len(hits) < limit or limit == WINDOW:
                return (first if len(first) >= k else by_score(hits))[:k]
            limit *= 4
        return []


def _windows(values: list[str]) -> list[list[str]]:
    """Split ids into batches of the size of one search's window."""
    return [values[start : start + WINDOW] for start in range(0, len(values), WINDOW)]


def _cosine(score: float) -> float:
    """Return the cosine of the cluster's score (1 + cosine) / 2."""
    return rounded_cosine(2 * score - 1)


def _score(score: float) -> float:
    return round(score, SCORE_DECIMALS)


def _hit(raw: Body, scored: Callable[[float], float] = _score) -> EngineHit:
    score, passage_id = raw["sort"]
    return EngineHit(passage_id, raw["fields"]["doc_id"][0], scored(float(score)))
