"""An institution's synonyms, applied to questions and never to the index.

A file of UTF-8 text with one rule per line:

    # equivalents, in both directions
    딥러닝, 심층학습, deep learning
    # one direction: questions with the left side also search for the right side
    KISTI => 한국과학기술정보연구원

A # at the start of a line, or after white space, starts a comment. Both sides are analysed like the index, so
inflected forms are found. If a question contains the tokens of a term in a row, its equivalents are also
searched for, with a weight.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from base.errors import InvalidCall
from indexer.analysis import Analyzer
from indexer.analysis.user_dictionary import decoded_lines, read_written
from retriever.errors import BadQuestion
from retriever.queries.boolean import (
    AnalysedField,
    And,
    Or,
    Pattern,
    Phrase,
    Query,
    Term,
    pattern_clause,
    with_words,
)
from retriever.queries.keywords import pattern_of

SYNONYM_WEIGHT = 0.8  # relative to the word itself, as for near spellings
MOST_RULES = 100_000
MOST_TERMS = 50  # of one rule
MOST_EQUIVALENTS = 200  # of one term, by all rules together
MOST_EXPANSIONS = 2_000  # equivalents added to one question
LONGEST_TERM = 200  # characters
ARROW = "=>"


class Rule(NamedTuple):
    """Terms, and the equivalents of each of them; with the line of the file."""

    line: int
    asked: tuple[str, ...]
    searched: tuple[str, ...]


class Equivalent(NamedTuple):
    """A term to be searched for: as written, and its tokens with their positions, from 0."""

    text: str
    tokens: Pattern

    def clause(self, field: AnalysedField = "text", weight: float = 1.0) -> Term | Phrase:
        """Make the clause that searches for it: a term, or the phrase of its tokens."""
        return pattern_clause(self.text, self.tokens, field, weight * SYNONYM_WEIGHT)


@dataclass(frozen=True, slots=True)
class Expansion:
    """Tokens start … end of a question, and their equivalents."""

    start: int
    end: int
    source: tuple[str, ...]
    text: str
    equivalents: tuple[Equivalent, ...]


class Synonyms:
    """The rules of a file as the tokens of an index's analyzer."""

    def __init__(self, rules: Sequence[Rule], analyzer: Analyzer, source: str) -> None:
        """Analyse both sides; `source` is the name of the file in errors.

        Raises:
            InvalidCall: a term without tokens, or with too many equivalents.
        """
        self._known: dict[tuple[str, ...], tuple[str, dict[Pattern, str]]] = {}
        for rule in rules:
            searched = [(text, _analysed(text, analyzer, rule, source)) for text in rule.searched]
            for text in rule.asked:
                own = _analysed(text, analyzer, rule, source)
                key = tuple(token for _, token in own)
                _, others = self._known.setdefault(key, (text, {}))
                for other, tokens in searched:
                    if tokens != own:
                        others.setdefault(tokens, other)
                if len(others) > MOST_EQUIVALENTS:
                    raise InvalidCall(
                        f"{source}, line {rule.line}: {text!r} has more than {MOST_EQUIVALENTS} equivalents"
                    )
        self._lengths: dict[str, tuple[int, ...]] = {}
        for key in self._known:
            lengths = {*self._lengths.get(key[0], ()), len(key)}
            self._lengths[key[0]] = tuple(sorted(lengths, reverse=True))

    def __bool__(self) -> bool:
        return bool(self._known)

    def find(self, tokens: Sequence[str]) -> list[Expansion]:
        """Return the terms with synonyms in a row of tokens; of overlapping terms, the earlier, then longer.

        Raises:
            BadQuestion: the tokens have too many synonyms.
        """
        found: list[Expansion] = []
        start = 0
        while start < len(tokens):
            sources = (
                tuple(tokens[start : start + length]) for length in self._lengths.get(tokens[start], ())
            )
            source = next((source for source in sources if self._known.get(source, ("", {}))[1]), ())
            if source:
                text, others = self._known[source]
                equivalents = tuple(Equivalent(other, own) for own, other in others.items())
                found.append(Expansion(start, start + len(source), source, text, equivalents))
            start += len(source) or 1
        if sum(len(expansion.equivalents) for expansion in found) > MOST_EXPANSIONS:
            raise BadQuestion(f"the question's words have more than {MOST_EXPANSIONS:,} synonyms")
        return found

    def expanded(self, query: Query) -> Query:
        """Return a query in which every word and phrase may be replaced by its synonyms."""

        def change(word: Term | Phrase) -> Query:
            others = tuple(self._others(word))
            return Or((word, *others)) if others else word

        def flat(query: Query) -> Query:
            match query:
                case Or(clauses=clauses):
                    sides = (side.clauses if isinstance(side, Or) else (side,) for side in map(flat, clauses))
                    return Or(tuple(chain.from_iterable(sides)))
                case And(clauses=clauses):
                    return And(tuple(map(flat, clauses)))
                case _:
                    return query

        return flat(with_words(query, change))

    def _others(self, query: Term | Phrase) -> Iterator[Term | Phrase]:
        """Yield the word or phrase with each of its synonyms substituted."""
        own = query.tokens if isinstance(query, Phrase) else tuple(enumerate(query.tokens))
        tokens: list[tuple[int, str]] = list(own)
        for found in self.find([token for _, token in tokens]):
            first, last = tokens[found.start][0], tokens[found.end - 1][0]
            for one in found.equivalents:
                moved = one.tokens[-1][0] - (last - first)
                new = (
                    *tokens[: found.start],
                    *((first + place, token) for place, token in one.tokens),
                    *((place + moved, token) for place, token in tokens[found.end :]),
                )
                whole = found.end - found.start == len(tokens)
                text = one.text if whole else " ".join(token for _, token in new)
                clause = Equivalent(text, new).clause(query.field, query.weight)
                slop = query.slop if isinstance(query, Phrase) else 0
                yield replace(clause, slop=slop) if isinstance(clause, Phrase) else clause


def _analysed(text: str, analyzer: Analyzer, rule: Rule, source: str) -> Pattern:
    tokens = analyzer.analyze(text)
    if not tokens:
        raise InvalidCall(
            f"{source}, line {rule.line}: nothing is left of {text!r} to search for "
            f"(the analyzer {analyzer.name} drops it)"
        )
    return pattern_of(tokens)


def read_synonyms(path: Path, analyzer: Analyzer) -> Synonyms:
    """Read a file of synonyms for an index's analyzer.

    Raises:
        InvalidCall: no such file, or an invalid line; with file and line.
    """
    return Synonyms(parse_synonyms(read_written(path, "synonyms"), str(path)), analyzer, str(path))


def parse_synonyms(data: bytes, source: str) -> list[Rule]:
    """Parse the bytes of a file of synonyms; `source` is its name in errors.

    Raises:
        InvalidCall: an invalid line, or no rule at all.
    """
    rules = []
    for number, line in decoded_lines(data, source):
        try:
            rules.append(_rule(number, line))
        except ValueError as error:
            raise InvalidCall(f"{source}, line {number}: {error}") from None
        if len(rules) > MOST_RULES:
            raise InvalidCall(f"{source}, line {number}: more than {MOST_RULES:,} rules")
    if not rules:
        raise InvalidCall(f"{source}: no rules in it; write equivalents in a line, separated by commas")
    return rules


def _rule(number: int, text: str) -> Rule:
    first, arrow, second = text.partition(ARROW)
    if ARROW in second:
        raise ValueError(f"{ARROW} occurs in it more than once")
    asked = _terms(first)
    if arrow:
        return Rule(number, asked, _terms(second))
    if len(asked) == 1:
        raise ValueError(f"only one term; write its equivalents behind it: {asked[0]}, OTHER")
    return Rule(number, asked, asked)


def _terms(side: str) -> tuple[str, ...]:
    terms = [" ".join(term.split()) for term in side.split(",")]
    if not all(terms):
        raise ValueError("a term is missing beside a comma or an arrow")
    if len(terms) > MOST_TERMS:
        raise ValueError(f"{len(terms)} terms, {MOST_TERMS} are allowed")
    longest = max(map(len, terms))
    if longest > LONGEST_TERM:
        raise ValueError(f"a term of {longest} characters, {LONGEST_TERM} are allowed")
    return tuple(dict.fromkeys(terms))
