"""AND and NOT of an expression hold for papers: their words may be in different passages.

An engine's queries hold for passages, so the papers of each word are combined here, and the result is a query
for the passages of these papers that contain one of the words. A condition beside the whole expression holds
for passages, one within brackets for papers.
"""

from collections.abc import Sequence

from indexer.forward.lexicon import Lexicon
from retriever.engines import Engine
from retriever.index import SearchIndex
from retriever.queries.boolean import (
    And,
    Exact,
    Not,
    Or,
    Phrase,
    Query,
    Term,
    leaves,
    searched_tokens,
)

NOWHERE = Or(())
FEW_PAPERS = 10_000  # among these the next words are looked up, instead of all their papers
Papers = set[str]


def query_for_papers(index: SearchIndex, query: Query) -> Query:
    """Return a query for the passages of the papers that satisfy an expression.

    A query is returned as it is if it joins no words, if each paper has one passage or the units of the index
    are passages, and for sources, which cannot list their papers.
    """
    manifest, lexicon = index.manifest, index.engine.lexicon
    clauses = query.clauses if isinstance(query, And) else (query,)
    words = [clause for clause in clauses if any(isinstance(leaf, Term | Phrase) for leaf in leaves(clause))]
    joins = len(words) > 1 or any(map(_joins_words, words))
    single = manifest.unit == "passage" or manifest.papers == manifest.passages
    if not joins or single or lexicon is None:
        return query
    conditions = [clause for clause in clauses if clause not in words]
    sets = _PaperSets(index.engine, lexicon)
    wanted = [clause for clause in words if not isinstance(clause, Not)]
    if not wanted:
        unwanted = sets.of(Or(tuple(each.clause for each in words if isinstance(each, Not))))
        return And((*conditions, Not(_papers(unwanted))))
    found = sets.of(And(tuple(words)))
    if not found:
        return NOWHERE
    matching = dict.fromkeys(leaf for clause in wanted for leaf in leaves(clause, negated=False))
    return And((Or(tuple(matching)), *conditions, _papers(found)))


def _papers(doc_ids: Papers) -> Exact:
    return Exact("doc_id", tuple(sorted(doc_ids)))


def _joins_words(clause: Query) -> bool:
    match clause:
        case Or(clauses=clauses):
            return any(map(_joins_words, clauses))
        case And() | Not():
            return True
    return False


class _PaperSets:
    """The papers of the parts of an expression, the rarest words first."""

    def __init__(self, engine: Engine, lexicon: Lexicon) -> None:
        self._engine, self._lexicon = engine, lexicon

    def of(self, query: Query, within: Papers | None = None) -> Papers:
        """Return the papers, of those `within` if given."""
        match query:
            case Or(clauses=clauses):
                return Papers().union(*(self.of(clause, within) for clause in clauses))
            case And(clauses=clauses):
                return self._all_of(clauses, within)
        if within is not None and not within:
            return within
        few = within is not None and len(within) <= FEW_PAPERS
        [found] = self._engine.doc_ids([And((query, _papers(within))) if within and few else query])
        return found if within is None or few else found & within

    def _all_of(self, clauses: Sequence[Query], within: Papers | None) -> Papers:
        wanted = [clause for clause in clauses if not isinstance(clause, Not)]
        for clause in sorted(wanted, key=self._size):
            within = self.of(clause, within)
        assert within is not None  # noqa: S101 - the parser refuses what only excludes
        for unwanted in (clause.clause for clause in clauses if isinstance(clause, Not)):
            within = within - self.of(unwanted, within)
        return within

    def _size(self, query: Query) -> int:
        """Estimate the number of passages of a query; conditions come last."""
        tokens = list(searched_tokens(query))
        found = self._lexicon.frequencies(tokens)
        sizes = [found.get(token, 0) for token in tokens]
        if not sizes:
            return self._engine.passage_count
        return min(sizes) if isinstance(query, Phrase | And) else sum(sizes)
