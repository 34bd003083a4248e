"""A question, analysed once: its tokens, their weights, names, terms and constraints."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from indexer.analysis.names import names_in
from indexer.analysis.tokens import TaggedToken, Token
from indexer.analysis.word_roles import Role, is_common, roles_of
from indexer.glossary.storage import Unit
from retriever.constraints.analysis import analyse_constraints
from retriever.constraints.parsing import Constraints
from retriever.index import SearchIndex
from retriever.opening.synonyms import Expansion
from retriever.queries.boolean import Pattern, Query, Term
from retriever.question.compounds import companion_patterns, compounds
from retriever.question.korean_words import with_whole_words
from retriever.question.plain_words import plain_word_expansions
from retriever.question.question_form import relates_things

ROLE_WEIGHTS: Mapping[Role, float] = {"noun": 1.0, "other": 1.0, "request": 0.5, "asking": 0.5}
SATURATION = 8  # of a repeated word, as k3 of BM25: it weighs at most nine times as much
# A text of more words is a passage: in any case, and if it asks nothing.
MOST_WORDS, MOST_WORDS_WITHOUT_MARK = 25, 20
QUESTION_MARKS = "?\uff1f"
POSSESSIVE = re.compile(r"(?<=\w['\u2019\uff07])[sS]\b")  # Parkinson's: the analysis makes it a token


def question_weights(tagged: Iterable[TaggedToken]) -> dict[str, float]:
    """Weigh each token by its role and its count n in the question: role · 9n / (8 + n)."""
    tagged = list(tagged)
    counts = Counter(token for (token, *_), _ in tagged)
    return {
        token: ROLE_WEIGHTS[role] * (SATURATION + 1) * counts[token] / (SATURATION + counts[token])
        for token, role in roles_of(tagged).items()
    }


def common_tokens(text: str, tagged: Iterable[TaggedToken]) -> frozenset[str]:
    """Return the tokens of a text that say little about its subject: since, 이후, effect."""
    return frozenset(token for (token, _, start, end), _ in tagged if is_common(text[start:end], token))


@dataclass(frozen=True, slots=True)
class AnalysedQuestion:
    """A question with its tokens, or for method `boolean` the parsed query of an expression."""

    text: str  # composed (NFC)
    tagged: tuple[TaggedToken, ...] = ()  # tokens with their parts of speech
    terms: tuple[Term, ...] = ()  # one for each distinct token
    synonyms: tuple[Expansion, ...] = ()
    expression: Query | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)  # the role of each token
    weights: Mapping[str, float] = field(default_factory=dict)  # of each token
    patterns: Mapping[str, Pattern] = field(default_factory=dict)  # of tokens that do not match alone
    parts: Mapping[str, Pattern] = field(default_factory=dict)  # of nouns that passages may contain as parts
    units: tuple[Unit, ...] = ()  # terms of several tokens: CO2
    names: tuple[tuple[str, ...], ...] = ()  # the tokens of each name in it
    is_passage: bool = False  # a text that was pasted in
    relates_names: bool = False  # whether it asks for a property of a named thing
    constraints: Constraints = field(default_factory=Constraints)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens in order."""
        return tuple(token for token, _ in self.tagged)

    @property
    def excluded_tokens(self) -> frozenset[str]:
        """Tokens of the excluded things, without the tokens of the question itself."""
        excluded = {
            token
            for exclusion in self.constraints.exclusions
            for name in (*exclusion.tokens, *exclusion.names)
            for token in name.split()
        }
        return frozenset(excluded - {token[0] for token in self.tokens})

    @property
    def is_empty(self) -> bool:
        """Whether it contains nothing to search for."""
        return not self.terms and self.expression is None


def analyse_question(
    index: SearchIndex,
    question: str,
    constraints: Constraints | None = None,
    *,
    synonyms: bool = True,
    plain_words: bool = False,
) -> AnalysedQuestion:
    """Analyse a question once.

    Args:
        index: its analyzer, glossary and synonyms are used.
        question: the question.
        constraints: their words are not searched for.
        synonyms: whether to look up the synonyms of the index's file.
        plain_words: whether to look up everyday words.
    """
    text = unicodedata.normalize("NFC", question)  # as in the index
    tagged, parts = with_whole_words(
        text, index.analyzer.tagged_tokens(text), index.analyzer, index.glossary.korean_words
    )
    asked, left = analyse_constraints(
        index, Constraints() if constraints is None else constraints, text, [token for token, _ in tagged]
    )
    kept = set(left)
    tagged = [(token, tag) for token, tag in tagged if token in kept]
    tokens = tuple(token for token, _ in tagged)
    if not any(map(str.isalnum, "".join(token[0] for token in tokens))):
        return AnalysedQuestion(text)  # an emoji is a token, but nothing to ask about
    texts = {token: text[start:end] for token, _, start, end in reversed(tokens)}
    asked_tokens = [token[0] for token in tokens if not _is_possessive(text, token)]
    terms = tuple(Term(texts[token], (token,)) for token in dict.fromkeys(asked_tokens))
    # For a compound at the position of its parts, the parts.
    by_position = {token[1]: token for token in tokens}
    found = index.synonyms.find([token[0] for token in by_position.values()]) if synonyms else []
    is_passage = len(by_position) > (
        MOST_WORDS if any(mark in text for mark in QUESTION_MARKS) else MOST_WORDS_WITHOUT_MARK
    )
    if plain_words:
        given = {place for each in found for place in range(each.start, each.end)}
        everyday = plain_word_expansions(index, text, list(by_position.values()))
        found += [each for each in everyday if given.isdisjoint(range(each.start, each.end))]
    units = tuple(compounds(text, tokens))
    names = () if is_passage else tuple(names_in(text, tagged))
    return AnalysedQuestion(
        text,
        tuple(tagged),
        terms=terms,
        synonyms=tuple(found),
        roles=roles_of(tagged),
        weights=question_weights(tagged),
        patterns=companion_patterns(tagged, units),
        parts=parts,
        units=units,
        names=names,
        is_passage=is_passage,
        relates_names=bool(names) and relates_things(text, index.analyzer),
        constraints=asked,
    )


def _is_possessive(text: str, token: Token) -> bool:
    return POSSESSIVE.fullmatch(text, token[2], token[3]) is not None
