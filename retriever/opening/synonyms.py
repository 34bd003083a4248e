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

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from base.errors import InvalidCall
from indexer.analysis import Analyzer
from indexer.analysis.user_dictionary import decoded_lines, read_written
from retriever.errors import BadQuestion
from retriever.queries.boolean import (
    AnalysedField,
    Or,
    Pattern,
    Phrase,
    Query,
    Term,
    pattern_clause,
    tokens_of,
    with_words,
)
from retriever.queries.keywords import pattern_of

SYNONYM_WEIGHT = 0.8  # relative to the word itself, as for near spellings
MOST_EXPANSIONS = 2_000  # equivalents added to one question
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
    """Adjacent tokens of a question, a term of the file, and its equivalents."""

    source: tuple[str, ...]
    text: str
    equivalents: tuple[Equivalent, ...]


class Synonyms:
    """The rules of a file as the tokens of an index's analyzer."""

    def __init__(self, rules: Sequence[Rule], analyzer: Analyzer, source: str) -> None:
        """Analyse both sides; `source` is the name of the file in errors.

        Raises:
            InvalidCall: a term without tokens.
        """
        texts: dict[tuple[str, ...], str] = {}
        others: dict[tuple[str, ...], dict[Pattern, Equivalent]] = defaultdict(dict)
        for rule in rules:
            patterns = {text: _analysed(text, analyzer, rule, source) for text in rule.asked + rule.searched}
            for text in rule.asked:
                own = patterns[text]
                key = tuple(token for _, token in own)
                texts.setdefault(key, text)
                for other in rule.searched:
                    if patterns[other] != own:
                        others[key].setdefault(patterns[other], Equivalent(other, patterns[other]))
        self._known = {key: Expansion(key, texts[key], tuple(of.values())) for key, of in others.items()}
        self._lengths = sorted(set(map(len, self._known)), reverse=True)

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
            keys = (tuple(tokens[start : start + length]) for length in self._lengths)
            expansion = next((self._known[key] for key in keys if key in self._known), None)
            found += [expansion] if expansion else []
            start += len(expansion.source) if expansion else 1
        if sum(len(expansion.equivalents) for expansion in found) > MOST_EXPANSIONS:
            raise BadQuestion(f"the question's words have more than {MOST_EXPANSIONS:,} synonyms")
        return found

    def expanded(self, query: Query) -> Query:
        """Return a query in which every word and phrase that is a term may be replaced by its synonyms."""

        def with_synonyms(word: Term | Phrase) -> Query:
            expansion = self._known.get(tokens_of(word))
            if expansion is None:
                return word
            return Or((word, *(each.clause(word.field, word.weight) for each in expansion.equivalents)))

        return with_words(query, with_synonyms)


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
    rules = [_rule(number, line, source) for number, line in decoded_lines(data, source)]
    if not rules:
        raise InvalidCall(f"{source}: no rules in it; write equivalents in a line, separated by commas")
    return rules


def _rule(number: int, text: str, source: str) -> Rule:
    sides = [[" ".join(term.split()) for term in side.split(",")] for side in text.split(ARROW)]
    if len(sides) > 2:  # noqa: PLR2004 - the two sides of an arrow
        raise InvalidCall(f"{source}, line {number}: {ARROW} occurs in it more than once")
    if not all(term for side in sides for term in side):
        raise InvalidCall(f"{source}, line {number}: a term is missing beside a comma or an arrow")
    if len(sides) == len(sides[0]) == 1:
        written = f"write its equivalents behind it: {sides[0][0]}, OTHER"
        raise InvalidCall(f"{source}, line {number}: only one term; {written}")
    asked, searched = (tuple(dict.fromkeys(side)) for side in (sides[0], sides[-1]))
    return Rule(number, asked, searched)
