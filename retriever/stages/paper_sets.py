"""AND and NOT of an expression hold for papers: their words may be in different passages.

An engine's queries hold for passages, so the papers of each word are combined here, and the result is a query
for the passages of these papers that contain one of the words. Conditions on year, language and part hold for
passages.
"""

from collections.abc import Iterator, Mapping

from retriever.index import SearchIndex
from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Query, Range, Term

NOWHERE = Or(())
Papers = set[str]


def query_for_papers(index: SearchIndex, query: Query) -> Query:
    """Return a query for the passages of the papers that satisfy an expression.

    A query is returned as it is if it joins no words, if each paper has one passage or the units of the index
    are passages, and for sources, which cannot list their papers.
    """
    clauses = query.clauses if isinstance(query, And) else (query,)
    words = [
        clause for clause in clauses if any(isinstance(leaf, Term | Phrase) for leaf in _all_leaves(clause))
    ]
    joins = len(words) > 1 or any(map(_joins_words, words))
    manifest = index.manifest
    if not joins or manifest.unit == "passage" or manifest.papers == manifest.passages:
        return query
    if index.engine.lexicon is None:
        return query
    conditions = [clause for clause in clauses if clause not in words]
    leaves = list(dict.fromkeys(leaf for clause in words for leaf in _all_leaves(clause)))
    papers: Mapping[Query, Papers] = dict(zip(leaves, index.engine.doc_ids(leaves), strict=True))
    wanted = [clause for clause in words if not isinstance(clause, Not)]
    if not wanted:
        unwanted = Papers().union(*(_papers(each.clause, papers) for each in words if isinstance(each, Not)))
        return And((*conditions, Not(Exact("doc_id", tuple(sorted(unwanted))))))
    found = _papers(And(tuple(words)), papers)
    if not found:
        return NOWHERE
    matching = Or(tuple(dict.fromkeys(leaf for clause in wanted for leaf in _leaves(clause))))
    return And((matching, *conditions, Exact("doc_id", tuple(sorted(found)))))


def _joins_words(clause: Query) -> bool:
    match clause:
        case Or(clauses=clauses):
            return any(map(_joins_words, clauses))
        case And() | Not():
            return True
    return False


def _leaves(query: Query) -> Iterator[Term | Phrase]:
    """Yield the words and phrases that a query wants."""
    match query:
        case Term() | Phrase():
            yield query
        case Or(clauses=clauses) | And(clauses=clauses):
            for clause in clauses:
                yield from _leaves(clause)


def _all_leaves(query: Query) -> Iterator[Term | Phrase | Range | Exact]:
    match query:
        case Not(clause=clause):
            yield from _all_leaves(clause)
        case Or(clauses=clauses) | And(clauses=clauses):
            for clause in clauses:
                yield from _all_leaves(clause)
        case _:
            yield query


def _papers(query: Query, papers: Mapping[Query, Papers]) -> Papers:
    match query:
        case Or(clauses=clauses):
            return Papers().union(*(_papers(clause, papers) for clause in clauses))
        case And(clauses=clauses):
            wanted = [_papers(clause, papers) for clause in clauses if not isinstance(clause, Not)]
            unwanted = [_papers(each.clause, papers) for each in clauses if isinstance(each, Not)]
            return wanted[0].intersection(*wanted[1:]).difference(*unwanted)
        case Not():
            raise ValueError("NOT stands beside what is wanted")
    return papers[query]
