"""The plan of a question: its named queries, which can be shown, edited and sent."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from retriever.keywords.choice import KeywordChoice
from retriever.opening.synonyms import SYNONYM
from retriever.queries.boolean import Or, Pattern, Phrase, Query, Term, or_query, pattern_clause, single
from retriever.queries.keywords import Keyword
from retriever.question.analysis import AnalysedQuestion
from retriever.question.compounds import is_syllable
from retriever.question.concepts import Concept

QUESTION = "question"  # the whole question
NOTHING_TO_SEARCH = "nothing to search for: only stop words, punctuation or signs"
ALL_LEFT_OUT = "all queries are left out: nothing is searched for"
EXPRESSION = "expression"  # of the expert language
FEEDBACK = "feedback"  # terms of the best passages
BRIDGES = "bridges"  # names in the best passages, and the words that these leave uncovered
NEAREST = "nearest"  # the passages nearest to the question's vector; not a query of words


def progressive_name(n: int) -> str:
    """Return the name of the progressive query of the first n keywords."""
    return f"SQ{n}"


def progressive_number(name: str) -> int | None:
    """Return the n of SQn; None for another query."""
    number = name.removeprefix("SQ")
    return int(number) if number != name and number.isdecimal() else None


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query with its name and its number of hits."""

    name: str
    query: Query
    k: int


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The queries of one question for one call to the engine, and the number of `nearest` passages by vector.

    The rows of the passages found by the first `read` queries are always needed, so an engine may return them
    with the hits.
    """

    queries: tuple[NamedQuery, ...] = ()
    nearest: int = 0
    read: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the queries, and of the nearest passages if there are any."""
        return (*(named.name for named in self.queries), *([NEAREST] if self.nearest else []))

    def query(self, name: str) -> Query | None:
        """Return the query of a name, or None."""
        return next((named.query for named in self.queries if named.name == name), None)

    def without(self, *names: str) -> "QueryPlan":
        """Return the plan without the queries of these names."""
        kept = tuple(named for named in self.queries if named.name not in names)
        read = sum(named.name not in names for named in self.queries[: self.read])
        return QueryPlan(kept, 0 if NEAREST in names else self.nearest, read)


def question_query(question: AnalysedQuestion, *, title_weight: float, count_repeats: bool = False) -> Or:
    """Join the question's distinct tokens; with `count_repeats` a token that occurs twice weighs twice."""
    terms: Sequence[Term] = question.terms
    if count_repeats:
        counts = Counter(token[0] for token in question.tokens)
        terms = [replace(term, weight=float(counts[term.tokens[0]])) for term in terms]
    return or_query([*terms, *_synonym_clauses(question)], title_weight=title_weight)


def concept_query(question: AnalysedQuestion, concepts: Sequence[Concept], *, title_weight: float) -> Or:
    """Join the words of all concepts, their spellings and their counterparts, in one weighted OR."""
    texts = {single(token): term.text for term in question.terms for token in term.tokens}
    weights: dict[Pattern, float] = {}
    for concept in concepts:
        found = [item for word in concept.words for item in word.spellings.items()]
        found += [(other.pattern, other.weight) for other in concept.counterparts if other.origin != SYNONYM]
        texts |= {other.pattern: other.text for other in concept.counterparts if other.pattern not in texts}
        for pattern, weight in found:
            weights[pattern] = max(weight, weights.get(pattern, 0.0))
    clauses = [
        pattern_clause(
            texts.get(pattern) or " ".join(token for _, token in pattern), pattern, round(weight, 4)
        )
        for pattern, weight in weights.items()
    ]
    return or_query([*clauses, *_synonym_clauses(question)], title_weight=title_weight)


def feedback_query(strengths: Mapping[str, float]) -> Or:
    """Join the terms of the best passages, weighted by their strengths relative to the strongest."""
    strongest = max(strengths.values())
    return or_query(
        [Term(term, (term,), weight=round(strength / strongest, 4)) for term, strength in strengths.items()]
    )


def progressive_queries(
    question: AnalysedQuestion, chosen: KeywordChoice, *, hits_per_query: int
) -> tuple[NamedQuery, ...]:
    """Make SQn = k1 OR … OR kn for n from all keywords down to 1 (SHRAG, section 3.2).

    The keywords come most important first, so each query drops the least important of the one before.
    """
    queries: list[NamedQuery] = []
    clauses: dict[Term | Phrase, None] = {}
    for n, keyword in enumerate(chosen.keywords, 1):
        clauses |= dict.fromkeys(_keyword_clauses(question, keyword))
        queries.append(NamedQuery(progressive_name(n), Or(tuple(clauses)), hits_per_query))
    return tuple(reversed(queries))


def keyword_query(question: AnalysedQuestion, keywords: Iterable[Keyword]) -> Or:
    """Join keywords and their synonyms."""
    clauses = [clause for keyword in keywords for clause in _keyword_clauses(question, keyword)]
    return Or(tuple(dict.fromkeys(clauses)))


def _keyword_clauses(question: AnalysedQuestion, keyword: Keyword) -> list[Term | Phrase]:
    """Return the clauses of a keyword and its synonyms, without tokens that do not match alone."""
    tokens = tuple(
        token
        for token in keyword.tokens
        if token not in question.patterns and (token in question.roles or not is_syllable(token))
    )
    patterns = {question.patterns.get(token) for token in keyword.tokens}
    clause: Term | Phrase = Term(keyword.text, tokens or keyword.tokens)
    if len(patterns) == 1 and (pattern := patterns.pop()):
        clause = pattern_clause(keyword.text, pattern)
    return [clause, *_synonym_clauses(question, keyword.tokens)]


def _synonym_clauses(question: AnalysedQuestion, tokens: Iterable[str] | None = None) -> list[Term | Phrase]:
    """Make the clauses of the synonyms of `tokens`, or of all the question's tokens."""
    if not question.synonyms:
        return []
    asked = None if tokens is None else set(tokens)
    clauses = [
        equivalent.clause()
        for expansion in question.synonyms
        if asked is None or asked & set(expansion.source)
        for equivalent in expansion.equivalents
    ]
    return list(dict.fromkeys(clauses))
