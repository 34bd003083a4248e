"""Bridges of a passage: names, terms and rare nouns that the question does not contain."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from indexer.analysis.names import LONGEST_READ, names_in
from indexer.analysis.tokens import as_indexed
from indexer.analysis.word_roles import role_of
from indexer.files.schema import StoredPassage
from retriever.engines.term_statistics import TermStatistics
from retriever.index import SearchIndex
from retriever.queries.boolean import Or, Term, or_query
from retriever.question.analysis import AnalysedQuestion

MOST_BRIDGES = 10  # of a passage, the rarest
BRIDGE_WEIGHT = 0.5  # of a bridge's tokens, relative to an uncovered word of the question
RARE_SHARE = 0.01  # maximum share of passages with a rare noun
NOUNS = frozenset({"NNG", "SL", ""})  # English tokens have no tag


@dataclass(frozen=True, slots=True)
class Entities:
    """Possible bridges of a passage, by their tokens, with their first written form."""

    passage_id: str
    held: frozenset[str]  # all tokens of the passage
    names: Mapping[tuple[str, ...], str]
    terms: Mapping[tuple[str, ...], str]  # of the glossary
    nouns: Mapping[tuple[str, ...], str]

    def tokens(self) -> set[str]:
        """Return the tokens whose document frequencies are needed."""
        return {token for found in (self.names, self.terms, self.nouns) for key in found for token in key}


@dataclass(frozen=True, slots=True)
class Lead:
    """The written bridges of a passage, and the uncovered words of the question."""

    passage_id: str
    bridges: Mapping[tuple[str, ...], str]
    uncovered: tuple[str, ...]

    def query(self, title_weight: float) -> Or:
        """Make the OR of bridges and uncovered words."""
        weights = {token: BRIDGE_WEIGHT for tokens in self.bridges for token in tokens}
        weights |= dict.fromkeys(self.uncovered, 1.0)
        terms = [Term(token, (token,), weight=weight) for token, weight in weights.items()]
        return or_query(terms, title_weight=title_weight)


def read_entities(index: SearchIndex, passage: StoredPassage, question: AnalysedQuestion) -> Entities:
    """Analyse a passage for possible bridges; call it in a thread, since analysis is slow."""
    whole, title = as_indexed(passage.title, passage.text)
    text = whole[:LONGEST_READ]
    tagged = index.analyzer.tagged_tokens(text)
    asked = {token[0] for token in question.tokens}
    tokens = [token for token, _ in tagged]
    matches = index.glossary.translations([token[0] for token in tokens])
    terms = {
        tuple(token[0] for token in tokens[match.start : match.end]): text[
            tokens[match.start][2] : tokens[match.end - 1][3]
        ]
        for match in matches
    }
    nouns: dict[tuple[str, ...], str] = {
        (token[0],): text[token[2] : token[3]]
        for token, tag in reversed(tagged)
        if tag in NOUNS and role_of(token[0], tag) == "noun"
    }
    return Entities(
        passage.passage_id,
        frozenset(token[0] for token in tokens),
        *(_new(found, asked) for found in (names_in(text, tagged, title_end=len(title)), terms, nouns)),
    )


def _new(found: Mapping[tuple[str, ...], str], asked: set[str]) -> dict[tuple[str, ...], str]:
    return {tokens: text for tokens, text in found.items() if not asked.issuperset(tokens)}


def lead_from(entities: Entities, question: AnalysedQuestion, statistics: TermStatistics) -> Lead | None:
    """Choose the rarest names; without names, glossary terms and rare nouns; None without any."""
    most = RARE_SHARE * statistics.passages
    rare = {
        tokens: text
        for tokens, text in entities.nouns.items()
        if 1 < statistics.frequencies.get(tokens[0], 0) <= max(most, 2)
    }
    found = entities.names or {**rare, **entities.terms}
    chosen = {tokens: found[tokens] for tokens in _rarest(found, statistics)[:MOST_BRIDGES]}
    if not chosen:
        return None
    uncovered = tuple(
        token
        for token, role in question.roles.items()
        if role in {"noun", "other"} and token not in entities.held
    )
    return Lead(entities.passage_id, chosen, uncovered)


def _rarest(found: Iterable[tuple[str, ...]], statistics: TermStatistics) -> list[tuple[str, ...]]:
    """Order bridges by the summed idf of their tokens, rarest first."""
    return sorted(found, key=lambda tokens: (-sum(map(statistics.idf, dict.fromkeys(tokens))), tokens))
