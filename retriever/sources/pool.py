"""The papers that sources found for a question: searched in memory, with rows as in the forward index."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indexer.analysis import Analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.corpora.papers import LAST_YEAR, Paper
from indexer.encoders import Stored
from indexer.encoders.rounding import cosines
from indexer.files.keys import exact_terms
from indexer.files.schema import StoredPassage
from indexer.files.stored import stored_passages
from indexer.forward.building import packed_row
from indexer.forward.lexicon import Lexicon, LexiconBuilder, TokenCounts, lexicon_bytes
from indexer.forward.rows import PassageRows
from retriever.engines import EngineHit, NumberedRows, numbered_rows
from retriever.engines.explaining import leaves
from retriever.engines.ordering import BY_PAPER, SCORE_DECIMALS, by_score, first_of_each_paper, rounded_cosine
from retriever.engines.term_statistics import TermStatistics
from retriever.formula import Scores, TokenPlaces, bm25, weighted
from retriever.queries.boolean import (
    EVERYTHING,
    And,
    Exact,
    Not,
    Or,
    Phrase,
    Query,
    Range,
    Term,
    searched_tokens,
)
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
            chosen = allowed & matching.of(query) if found is None else allowed
            hits = first_of_each_paper(self._hits(chosen, matching.scores(query)), BY_PAPER)
            if found is not None:
                best = {hit.doc_id: hit for hit in hits}
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
        return [int((matching.of(query) & matching.allowed(filters)).sum()) for query, filters in asked]

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
    """The passages that queries match, and their scores: BM25 of all words that a query searches for."""

    def __init__(self, pool: Pool, queries: Iterable[Query], statistics: TermStatistics) -> None:
        words = [leaf for query in queries for leaf in leaves(query) if isinstance(leaf, Term | Phrase)]
        self._passages = list(pool.passages.values())
        read = pool.rows(pool.passages)
        self._places = TokenPlaces.of(read, [token for word in words for token in _tokens(word)])
        self._scores = bm25(self._places, statistics)

    def allowed(self, filters: Filters) -> Mask:
        """Return whether each passage satisfies the filters."""
        if filters.complete is None:
            return self.of(And(filters.clauses() or (EVERYTHING,)))
        complete = [passage.incomplete != filters.complete for passage in self._passages]
        return np.logical_and(self.allowed(replace(filters, complete=None)), complete)

    def scores(self, query: Query) -> Scores:
        """Return the score of each passage for a query, whether it matches or not."""
        return weighted(self._scores, self._places, searched_tokens(query))

    def of(self, query: Query) -> Mask:
        """Return whether each passage matches a query."""
        match query:
            case Term():
                return self._held_of(query) > 0
            case Phrase(tokens=tokens, slop=slop, field=field):
                if slop:  # a loose phrase matches wherever all of its words are
                    return np.equal(self._held_of(query), len(tokens))
                return self._places.pattern_counts(tokens, titles=field == "title") > 0
            case Range(low=low, high=high):
                years = np.array([passage.year or 0 for passage in self._passages], np.int64)
                return (years > 0) & (years >= (low or 0)) & (years <= (high or LAST_YEAR))
            case Exact(field=field, values=values):
                name, terms = exact_terms(field, values)
                own = (getattr(passage, name) for passage in self._passages)
                of = ((value,) if isinstance(value, str) else value for value in own)
                return np.array([not set(terms).isdisjoint(each) for each in of], np.bool_)
            case Not(clause=clause):
                return ~self.of(clause)
            case Or(clauses=clauses) | And(clauses=clauses):  # a Not beside others applies to all of them
                join = np.logical_or if isinstance(query, Or) else np.logical_and
                wanted = [self.of(clause) for clause in clauses if not isinstance(clause, Not)]
                unwanted = [self.of(clause) for clause in clauses if isinstance(clause, Not)]
                every = np.full(len(self._passages), bool(unwanted))
                matched: Mask = join.reduce(wanted) if wanted else every
                for others in unwanted:
                    matched = matched & others
                return matched

    def _held_of(self, word: Term | Phrase) -> NDArray[np.int64]:
        """Count the tokens of a word that each passage holds."""
        counts = self._places.titles if word.field == "title" else self._places.texts
        known = [self._places.column[token] for token in _tokens(word) if token in self._places.column]
        return np.asarray(np.count_nonzero(counts[:, known], axis=1))


def _tokens(word: Term | Phrase) -> Sequence[str]:
    return word.tokens if isinstance(word, Term) else [token for _, token in word.tokens]
