"""The papers that sources found for a question: searched in memory, with rows as in the forward index."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indexer.analysis import Analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.corpora.papers import Paper
from indexer.encoders import Stored
from indexer.encoders.rounding import cosines
from indexer.files.keys import exact_terms
from indexer.files.schema import StoredPassage
from indexer.files.stored import stored_passages
from indexer.forward.building import packed_row
from indexer.forward.lexicon import Lexicon, LexiconBuilder, TokenCounts, lexicon_bytes
from indexer.forward.rows import PassageRows
from retriever.engines import EngineHit, NumberedRows, numbered_rows
from retriever.engines.ordering import BY_PAPER, SCORE_DECIMALS, by_score, first_of_each_paper, rounded_cosine
from retriever.engines.term_statistics import TermStatistics
from retriever.formula import Scores, TokenPlaces, bm25
from retriever.queries.boolean import EVERYTHING, And, Exact, Not, Or, Phrase, Query, Range, Term, leaves
from retriever.queries.filters import Filters

Mask = NDArray[np.bool_]


class Pool:
    """The passages of papers; vectors are added by the caller."""

    def __init__(self, analyzer: Analyzer) -> None:
        """Hold no passages yet."""
        self._analyzer = analyzer
        self._terms, self._counts = LexiconBuilder(), TokenCounts()
        self._lexicon = Lexicon(lexicon_bytes([], self._counts))
        self.passages: dict[str, StoredPassage] = {}  # by passage_id, in the order of addition
        self.firsts: dict[str, StoredPassage] = {}  # the first passage of each paper, by doc_id
        self.vectors: dict[str, Stored] = {}  # by passage_id

    def add(self, papers: Iterable[Paper]) -> list[StoredPassage]:
        """Analyse the passages of new papers, number their terms, and return them."""
        new = []
        for passage in (passage for paper in papers for passage in stored_passages(paper, "paper")):
            analysed = AnalysedPassage.of(passage.title, passage.text, passage.title2, self._analyzer)
            row = packed_row(passage, analysed, self._terms)
            self._counts.add(row)
            new.append(replace(passage, tokens=analysed.tokens, row=row))
        self._lexicon = Lexicon(lexicon_bytes(self._terms.terms, self._counts))
        for passage in new:
            self.passages[passage.passage_id] = passage
            self.firsts.setdefault(passage.doc_id, passage)
        return new

    def rows(self, passage_ids: Iterable[str]) -> NumberedRows:
        """Return the rows of passages; unknown ids are left out."""
        known = [name for name in passage_ids if name in self.passages]
        rows = PassageRows.of([self.passages[name].row for name in known])
        return numbered_rows(tuple(known), rows, self._lexicon)

    def search(
        self,
        queries: Sequence[tuple[Query, int, Sequence[str] | None]],
        filters: Filters,
        statistics: TermStatistics,
    ) -> list[list[EngineHit]]:
        """Return at most k papers for each query, by their best passages under the filters.

        A query that was sent to the sources has the ids of the papers that they found. These keep their
        order, also if their passages lack the words; their scores are the reciprocals of their ranks.
        """
        matching = Matching(self, [query for query, _, _ in queries], statistics)
        allowed = matching.allowed(filters)
        answers = []
        for query, k, found in queries:
            matched, scores = matching.of(query)
            hits = first_of_each_paper(self._hits(matched & allowed, scores), BY_PAPER)
            if found is not None:
                best = {hit.doc_id: hit for hit in reversed([*hits, *self._hits(allowed, scores * matched)])}
                ranked = ((best.get(doc_id), 1 / rank) for rank, doc_id in enumerate(found, 1))
                hits = [hit._replace(score=round(score, SCORE_DECIMALS)) for hit, score in ranked if hit]
            answers.append(hits[:k])
        return answers

    def _hits(self, chosen: Mask, scores: Scores) -> list[EngineHit]:
        passages = list(self.passages.values())
        rows = ((passages[row], float(scores[row])) for row in np.flatnonzero(chosen).tolist())
        return by_score(
            EngineHit(of.passage_id, of.doc_id, round(score, SCORE_DECIMALS)) for of, score in rows
        )

    def counts(self, asked: Sequence[tuple[Query, Filters]]) -> list[int]:
        """Count the passages that each query matches under its filters."""
        matching = Matching(self, [query for query, _ in asked], TermStatistics(len(self.passages)))
        return [int((matching.of(query)[0] & matching.allowed(filters)).sum()) for query, filters in asked]

    def similarities(self, vector: Stored, passage_ids: Iterable[str]) -> dict[str, float]:
        """Return the cosines of a vector with passages; skips passages without a vector."""
        known = {name: self.vectors[name] for name in passage_ids if name in self.vectors}
        return similarities(vector, known)

    def nearest(self, vector: Stored, k: int, filters: Filters) -> list[EngineHit]:
        """Return the k nearest passages under the filters, by cosine, then passage_id."""
        allowed = Matching(self, [], TermStatistics(len(self.passages))).allowed(filters)
        ids = [name for name, is_allowed in zip(self.passages, allowed.tolist(), strict=True) if is_allowed]
        found = self.similarities(vector, ids)
        return by_score(EngineHit(name, self.passages[name].doc_id, found[name]) for name in found)[:k]


def similarities(vector: Stored, vectors: Mapping[str, Stored]) -> dict[str, float]:
    """Return the cosine of a vector with each of several."""
    if not vectors:
        return {}
    rows: Stored = np.stack(list(vectors.values()))  # type: ignore[assignment]
    return dict(zip(vectors, map(rounded_cosine, cosines(rows, vector).tolist()), strict=True))


class Matching:
    """The passages that queries match, and their scores by BM25, as in the engines."""

    def __init__(self, pool: Pool, queries: Iterable[Query], statistics: TermStatistics) -> None:
        words = [leaf for query in queries for leaf in leaves(query) if isinstance(leaf, Term | Phrase)]
        self._passages = list(pool.passages.values())
        read = pool.rows(pool.passages)
        self._places = TokenPlaces.of(read, [token for word in words for token in _tokens(word)])
        self._scores = bm25(self._places, statistics)

    def allowed(self, filters: Filters) -> Mask:
        """Return whether each passage satisfies the filters."""
        if filters.complete is None:
            return self.of(And(filters.clauses() or (EVERYTHING,)))[0]
        complete = [passage.incomplete != filters.complete for passage in self._passages]
        return np.logical_and(self.allowed(replace(filters, complete=None)), complete)

    def of(self, query: Query) -> tuple[Mask, Scores]:
        """Return whether each passage matches a query, and its score."""
        nothing = np.zeros(len(self._passages))
        match query:
            case Term():
                return self._word(query, any_of=True)
            case Phrase(tokens=tokens, slop=slop):
                matched, scores = self._word(query, any_of=False)
                if not slop:  # a loose phrase matches wherever all of its words are
                    matched &= self._places.pattern_counts(tokens, titles=query.field == "title") > 0
                return matched, scores * matched
            case Range(low=low, high=high):
                years = np.array([passage.year or 0 for passage in self._passages], np.int64)
                return (years > 0) & (years >= (low or 0)) & (years <= (high or years)), nothing
            case Exact(field=field, values=values):
                name, terms = exact_terms(field, values)
                own = (getattr(passage, name) for passage in self._passages)
                of = ((value,) if isinstance(value, str) else value for value in own)
                return np.array([not set(terms).isdisjoint(each) for each in of], np.bool_), nothing
            case Not(clause=clause):
                return ~self.of(clause)[0], nothing
            case Or(clauses=clauses) | And(clauses=clauses):
                return self._joined(clauses, np.logical_or if isinstance(query, Or) else np.logical_and)

    def _word(self, word: Term | Phrase, *, any_of: bool) -> tuple[Mask, Scores]:
        counts = self._places.titles if word.field == "title" else self._places.texts
        tokens = _tokens(word)
        known = [self._places.column[token] for token in tokens if token in self._places.column]
        held = counts[:, known] > 0
        matched = np.greater_equal(held.sum(axis=1), 1 if any_of else max(1, len(tokens)))
        return matched, word.weight * (self._scores[:, known] * held).sum(axis=1)

    def _joined(self, clauses: Sequence[Query], join: np.ufunc) -> tuple[Mask, Scores]:
        """Join clauses; a Not beside others applies to all of them."""
        wanted = [self.of(clause) for clause in clauses if not isinstance(clause, Not)]
        unwanted = [self.of(clause)[0] for clause in clauses if isinstance(clause, Not)]
        everything = np.full(len(self._passages), bool(unwanted))
        matched: Mask = join.reduce([of for of, _ in wanted]) if wanted else everything
        for others in unwanted:
            matched = matched & others
        return matched, sum((scores for _, scores in wanted), np.zeros(len(self._passages))) * matched


def _tokens(word: Term | Phrase) -> Sequence[str]:
    return word.tokens if isinstance(word, Term) else [token for _, token in word.tokens]
