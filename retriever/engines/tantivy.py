"""The embedded engine: tantivy's inverted index, read in threads, no server."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import ENOENT
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import tantivy
from tantivy import Occur

from indexer.encoders.arrays import Stored
from indexer.errors import IndexDamaged, Remedy
from indexer.schema import StoredPassage, tantivy_schema
from indexer.stored import read_passage
from retriever.engines import Engine, EngineHit, Explanation, TermScore
from retriever.engines.explaining import contributions, in_order, value_in
from retriever.engines.ordering import BY_PAPER, MARGIN, SCORE_DECIMALS, first_of_each_paper, settled
from retriever.engines.pruning import (
    WORTHWHILE,
    Floors,
    Word,
    is_sure,
    needed,
    postings_of,
    words_of,
)
from retriever.engines.tantivy_queries import SCHEMA, any_token, compiled, filtered, with_lookups
from retriever.errors import UnknownPassage
from retriever.queries import Exact, Filters, Phrase, Query, Term
from retriever.worker_threads import Arguments, Result, WorkerThreads

if TYPE_CHECKING:
    from indexer.vectors.store import VectorStore
    from retriever.engines.nearest import NearestPassages

REMEMBERED_IDS = 200_000
REMEMBERED_CHARACTERS = 10_000_000  # of passages, their tokens and records: some 30 MB
LEAST_SIZE = 500  # characters that a passage counts for besides
FEW = 5_000  # passages that filters let through, which are listed; of more the nearest are looked for
LONG_TIE = 200  # hits of one score; reading more ids than this takes as long as another search

Found = tuple[float, tantivy.DocAddress]  # a hit with its score, not yet known by name
SEGMENT_FILES = ("term", "idx", "pos", "fast", "fieldnorm", "store")


class TantivyEngine(Engine):
    """One published version, open for reading; what is published later does not show."""

    def __init__(self, folder: Path, vectors: "VectorStore | None" = None) -> None:
        """Open the index in `folder`, with its vectors if there are any, which are closed with it.

        Raises:
            FileNotFoundError: it is gone.
            IndexDamaged: it is broken.
        """
        if not (folder / "meta.json").exists():
            raise FileNotFoundError(ENOENT, "no such file", str(folder / "meta.json"))
        try:
            self._documents = _check_segments(folder)
            self._index = tantivy.Index(tantivy_schema(), str(folder))
            self._searcher = self._index.searcher()
        except FileNotFoundError:
            raise
        except (ValueError, OSError, LookupError, TypeError) as error:
            if not folder.exists():
                raise FileNotFoundError(folder) from error
            raise IndexDamaged(
                f"the index in {folder} cannot be opened ({error})",
                remedy=(Remedy.REBUILD, Remedy.ROLL_BACK),
            ) from error
        self._ids: dict[tuple[int, int], tuple[str, str]] = {}
        self._passages: dict[str, StoredPassage] = {}
        self._kept = 0  # characters of these, of their tokens and records
        self._lock = Lock()
        self._vectors = _nearest_passages(vectors) if vectors else None
        self._threads = WorkerThreads("engine")

    @property
    def passage_count(self) -> int:
        """How many passages the index holds."""
        return int(self._searcher.num_docs)

    async def search(
        self, queries: Sequence[tuple[Query, int]], *, filters: Filters, collapse: bool, read: int = 0
    ) -> list[list[EngineHit]]:
        """Answer many queries in one call: for each (query, k) at most k hits by score, then passage_id."""
        del read  # what is found is read for its ids, and kept
        return await self._in_thread(self._search_all, queries, filters, collapse)

    async def records(
        self, passage_ids: Iterable[str], doc_ids: Iterable[str] = ()
    ) -> tuple[dict[str, StoredPassage], dict[str, StoredPassage]]:
        """Return stored passages by passage_id, and by doc_id each paper's first."""
        wanted, papers = list(passage_ids), list(doc_ids)
        found = {one: known for one in wanted if (known := self._passages.get(one))}
        if len(found) == len(wanted) and not papers:  # no need for a thread
            return found, {}
        return await self._in_thread(self._records, wanted, papers)

    async def document_frequencies(self, tokens: Iterable[str]) -> dict[str, int]:
        """Return in how many passages each token stands."""
        return await self._in_thread(self._document_frequencies, list(tokens))

    async def terms_near(self, token: str, limit: int) -> list[tuple[str, int]]:
        """Return (term, document frequency) of the text's terms that begin with the same letter."""
        found = await self._in_thread(self._searcher.terms_with_prefix, "text", token[0], None, limit)
        return [(str(term), int(frequency)) for term, frequency in found]

    async def term_frequencies(self, token: str, sample: int) -> list[int]:
        """Return how often the token stands in each of the first `sample` passages that hold it."""
        return await self._in_thread(self._term_frequencies, token, sample)

    async def explain(self, query: Query, passage_id: str) -> Explanation:
        """Say what each token of a query adds to the score of one passage."""
        return await self._in_thread(self._explain, query, passage_id)

    async def similarities(self, vector: Stored, passage_ids: Sequence[str]) -> dict[str, float]:
        """Return the exact cosine of a vector with that of each given passage; none where none is stored."""
        if self._vectors is None:
            return {}
        return await self._in_thread(self._vectors.similarities, vector, passage_ids)

    async def nearest(self, vector: Stored, k: int, *, filters: Filters) -> list[EngineHit]:
        """Return the k passages whose vectors are nearest, with their cosines; by cosine, then passage_id."""
        if self._vectors is None or k <= 0:
            return []
        allowed = None if filters == Filters() else _Satisfying(self._searcher, filters)
        return await self._in_thread(self._vectors.nearest, vector, k, allowed)

    def close(self) -> None:
        """Wait for what is under way, and close the vectors."""
        self._threads.close()
        if self._vectors:
            self._vectors.close()

    async def _in_thread(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a function in one of the engine's threads; IndexDamaged where a file proves broken."""
        with _as_damage():
            return await self._threads.run(function, *args, **kwargs)

    def _document_frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        frequency = self._searcher.doc_freq
        return {token: frequency("text", token) for token in tokens}

    def _search_all(
        self, queries: Sequence[tuple[Query, int]], filters: Filters, collapse: bool
    ) -> list[list[EngineHit]]:
        """Answer the short queries first: what they find bounds the longer ones that hold their words."""
        answers: list[list[EngineHit]] = [[] for _ in queries]
        floors = Floors()
        words = [words_of(query) or () for query, _ in queries]
        for number in sorted(range(len(queries)), key=lambda one: len(words[one])):
            query, k = queries[number]
            answers[number] = self._search(query, words[number], filters, k, collapse, floors)
        return answers

    def _search(
        self,
        asked: Query,
        words: Sequence[Word],
        filters: Filters,
        k: int,
        collapse: bool,
        floors: Floors,
    ) -> list[EngineHit]:
        """Read on until the tie at k ends, and until k papers are found."""
        if k <= 0:
            return []
        limit = k + MARGIN
        query = filtered(compiled(asked), filters)
        while True:
            found = self._best_of_words(words, filters, limit, floors)
            if found is None:
                found = self._searcher.search(query, limit, count=False).hits
                if words and len(found) == limit:
                    floors.note(words, limit, float(found[-1][0]))
            if found and found[0][0] == 0 and len(found) == limit:  # only filters: all tie
                sure = settled(self._in_id_order(query, limit), limit, k, collapse=collapse)
            else:
                sure = self._settled(query, found, limit, k, collapse)
            if sure is not None:
                return sure
            limit *= 4

    def _settled(
        self, query: tantivy.Query, found: Sequence[Found], limit: int, k: int, collapse: bool
    ) -> list[EngineHit] | None:
        """Return the first k of what was found, or None where more must be read to be sure of them.

        What a hit is called stands in the store, and reading there takes as long as searching: it is read for
        no more hits than are needed.
        """
        wanted = k
        while True:
            first = self._first(query, found, limit, wanted)
            if first is None:
                return None
            kept = first_of_each_paper(first, BY_PAPER) if collapse else first
            if len(kept) >= k or len(first) < wanted:  # enough, or there are no more
                return kept[:k]
            wanted *= 2

    def _first(
        self, query: tantivy.Query, found: Sequence[Found], limit: int, wanted: int
    ) -> list[EngineHit] | None:
        """Return the first hits by score, then passage_id; None where their last tie goes on unread."""
        scores = [round(score, SCORE_DECIMALS) for score, _ in found]
        if len(found) <= wanted:
            return self._by_id(found) if len(found) < limit else None
        last = scores[wanted - 1]
        if scores[-1] == last and len(found) == limit:
            return None
        above, tied = scores.index(last), scores.count(last)
        ties = found[above : above + tied]
        # Of a long tie only the first ids are wanted, and they may be read in their order.
        if tied > LONG_TIE:
            places = {_place(address) for _, address in ties}
            ordered = self._ordered_by_id(query, 2 * wanted)
            first = [(found[above][0], address) for _, address in ordered if _place(address) in places]
            if len(first) >= wanted - above:
                ties = first[: wanted - above]
        return self._by_id([*found[:above], *ties])[:wanted]

    def _by_id(self, found: Iterable[Found]) -> list[EngineHit]:
        hits = [self._hit(score, address) for score, address in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))

    def _best_of_words(
        self, words: Sequence[Word], filters: Filters, limit: int, floors: Floors
    ) -> list[Found] | None:
        """Return the best hits of an OR of words without reading all postings, None where all must be."""
        postings = postings_of(words, self._searcher.doc_freq, self._documents)
        if sum(posting.passages for posting in postings) < WORTHWHILE:
            return None
        floor = floors.of(words, limit)
        read = needed(postings, floor, limit)
        while read < len(postings):
            query = filtered(with_lookups(postings, read), filters)
            found = self._searcher.search(query, limit, count=False).hits
            worst = float(found[-1][0]) if len(found) == limit else 0.0
            if is_sure(postings, read, max(worst, floor)):
                floors.note(words, limit, worst)
                return found
            floor = max(floor, worst)
            read = max(read + 1, needed(postings, floor, limit))
        return None

    def _in_id_order(self, query: tantivy.Query, limit: int) -> list[EngineHit]:
        return [self._hit(0.0, address) for _, address in self._ordered_by_id(query, limit)]

    def _ordered_by_id(self, query: tantivy.Query, limit: int) -> list[tuple[str, tantivy.DocAddress]]:
        return self._searcher.search(
            query, limit, count=False, order_by_field="passage_id", order=tantivy.Order.Asc
        ).hits

    def _hit(self, score: float, address: tantivy.DocAddress) -> EngineHit:
        place = _place(address)
        ids = self._ids.get(place)
        if ids is None:
            passage = self._read(address)
            ids = (passage.passage_id, passage.doc_id)
            if len(self._ids) >= REMEMBERED_IDS:
                self._ids.clear()
            self._ids[place] = ids
        return EngineHit(*ids, round(score, SCORE_DECIMALS))

    def _read(self, address: tantivy.DocAddress) -> StoredPassage:
        """Read a passage, and keep it: what was found is as a rule what is asked for next."""
        passage = read_passage(self._searcher, address)
        size = 2 * len(passage.text) + len(passage.title) + len(passage.record) + LEAST_SIZE
        with self._lock:
            if passage.passage_id not in self._passages:
                self._kept += size
            if self._kept > REMEMBERED_CHARACTERS:
                self._passages = {}
                self._kept = size
            self._passages[passage.passage_id] = passage
        return passage

    def _records(
        self, passage_ids: list[str], doc_ids: list[str]
    ) -> tuple[dict[str, StoredPassage], dict[str, StoredPassage]]:
        found = {one: known for one in passage_ids if (known := self._passages.get(one))}
        missing = tuple(one for one in passage_ids if one not in found)
        found |= {one.passage_id: one for one in self._stored(compiled(Exact("passage_id", missing)))}
        if not doc_ids:
            return found, {}
        first = tantivy.Query.term_query(SCHEMA, "first", True, index_option="basic")  # noqa: FBT003
        both = [(Occur.Must, compiled(Exact("doc_id", tuple(doc_ids)))), (Occur.Must, first)]
        papers: dict[str, StoredPassage] = {}
        for passage in self._stored(tantivy.Query.boolean_query(both)):
            papers.setdefault(passage.doc_id, passage)
        return found, papers

    def _stored(self, query: tantivy.Query) -> list[StoredPassage]:
        """Read the passages that a query finds, in corpus order."""
        count = self._searcher.search(query, 1, count=True).count  # type: ignore[attr-defined]  # not in its stub
        if not count:
            return []
        hits = self._searcher.search(
            query, count, count=False, order_by_field="sequence", order=tantivy.Order.Asc
        ).hits
        return [self._read(address) for _, address in hits]

    def _term_frequencies(self, token: str, sample: int) -> list[int]:
        term = Term(token, (token,))
        query = compiled(term)
        first = tantivy.Order.Asc
        hits = self._searcher.search(query, sample, count=False, order_by_field="sequence", order=first).hits
        return [int(score.frequency) for _, address in hits for score in self._term_scores(term, address)]

    def _explain(self, query: Query, passage_id: str) -> Explanation:
        target = tantivy.Query.term_query(SCHEMA, "passage_id", passage_id, index_option="basic")
        hits = self._searcher.search(target, 1, count=False).hits
        if not hits:
            raise UnknownPassage(
                f"no passage {passage_id!r} in this index; take a passage_id from the hits of a search"
            )
        address = hits[0][1]
        whole = self._explained(compiled(query), address)
        if whole is None:
            return Explanation(passage_id, 0.0, ())
        terms = contributions(
            query,
            lambda leaf: self._term_scores(leaf, address),
            lambda part: self._explained(compiled(part), address) is not None,
        )
        score = round(float(whole["value"]), SCORE_DECIMALS)
        return Explanation(passage_id, score, in_order(terms or ()))

    def _term_scores(self, query: Term | Phrase, address: tantivy.DocAddress) -> list[TermScore]:
        """Explain the tokens of a word, or a phrase as one; what the passage does not hold is left out.

        The document frequency of a phrase is the number of passages that hold it; its idf is the sum of its
        tokens', as tantivy scores it.
        """
        if isinstance(query, Phrase) and len(query.tokens) > 1:
            parts = [(" ".join(token for _, token in query.tokens), compiled(query))]
        else:
            tokens = query.tokens if isinstance(query, Term) else [token for _, token in query.tokens]
            parts = [(token, any_token(query.field, (token,), query.weight)) for token in tokens]
        scores = []
        for token, part in parts:
            explained = self._explained(part, address)
            if explained is None:
                continue
            document_frequency = value_in(explained, "n, number of docs")
            if document_frequency is None:
                counted = self._searcher.search(part, 1, count=True)
                document_frequency = counted.count  # type: ignore[attr-defined]  # not in its stub
            scores.append(
                TermScore(
                    token=token,
                    field=query.field,
                    weight=query.weight,
                    frequency=value_in(explained, "freq, occurrences") or 0.0,
                    document_frequency=int(document_frequency),
                    idf=value_in(explained, "idf") or 0.0,
                    score=float(explained["value"]),
                )
            )
        return scores

    def _explained(self, query: tantivy.Query, address: tantivy.DocAddress) -> dict[str, Any] | None:
        """Return tantivy's tree of value, description and details; None where the passage does not match."""
        try:
            explanation: dict[str, Any] = json.loads(query.explain(self._searcher, address).to_json())
        except ValueError as error:
            if "does not match" in str(error):
                return None
            raise
        return explanation


class _Satisfying:
    """The passages that satisfy filters."""

    def __init__(self, searcher: tantivy.Searcher, filters: Filters) -> None:
        self._searcher = searcher
        self._filters = filters

    def among(self, passage_ids: Sequence[str]) -> set[str]:
        """Return those of the passages that satisfy the filters."""
        return set(self._ids(compiled(Exact("passage_id", tuple(passage_ids))), len(passage_ids)))

    def all_if_few(self) -> list[str] | None:
        """Return all passages that satisfy the filters; None where to list them would take long."""
        found = self._ids(tantivy.Query.all_query(), FEW + 1)
        return found if len(found) <= FEW else None

    def _ids(self, query: tantivy.Query, most: int) -> list[str]:
        narrowed = filtered(query, self._filters)
        found = self._searcher.search(
            narrowed, max(1, most), count=False, order_by_field="passage_id", order=tantivy.Order.Asc
        ).hits
        return [passage_id for passage_id, _ in found]


@contextmanager
def _as_damage() -> Iterator[None]:
    """Say IndexDamaged of a file that proves broken only when a query reads in it."""
    try:
        yield
    except ValueError as error:
        if "corrupt" not in str(error).lower():
            raise
        raise IndexDamaged(
            f"a file of the index is broken ({error})", remedy=(Remedy.REBUILD, Remedy.ROLL_BACK)
        ) from error


def _place(address: tantivy.DocAddress) -> tuple[int, int]:
    return address.segment_ord, address.doc


def _nearest_passages(vectors: "VectorStore") -> "NearestPassages":
    from retriever.engines.nearest import NearestPassages

    return NearestPassages(vectors)


def _check_segments(folder: Path) -> int:
    """Return how many documents there are, deleted ones included.

    Raises:
        FileNotFoundError: a file is missing that tantivy would open only when a query asks for it.
    """
    documents = 0
    for segment in json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]:
        documents += segment["max_doc"]
        name = segment["segment_id"].replace("-", "")
        for suffix in SEGMENT_FILES:
            path = folder / f"{name}.{suffix}"
            if not path.exists():
                raise FileNotFoundError(ENOENT, "no such file", str(path))
    return documents
