"""The second search of `shrag`, by bridges: names in the best passages that lead to further passages.

"Where was the founder of X born?": a passage on X names the founder and does not answer the rest; the passage
on the founder does not contain X. Only a question with a name has a second search. Its sources are passages
that contain the name and leave a part of the question uncovered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from indexer.forward.rows import Numbers, PassageRows
from retriever.engines import NumberedRows
from retriever.engines.term_statistics import inverse_document_frequencies
from retriever.order.bm25 import Scale, Scores
from retriever.order.bridges import SECOND_SEARCH, Bridge
from retriever.order.patterns import TokenPlaces
from retriever.order.score_parts import ScoredCandidates
from retriever.queries.boolean import single
from retriever.query_plan import BRIDGES, NamedQuery
from retriever.question.analysis import AnalysedQuestion
from retriever.question.concepts import Concept

BEST = 5  # passages that may be sources
LEAST_UNCOVERED = 0.15  # of the question, by importance
# Gains (order/weights.py) grow with the share of the uncovered words that the candidate holds.
LEAST_SHARE, UNCOVERED_SHARE = 0.25, 2.0
WORDS_APART = 3  # positions from a word of a title to the next, where a source names it
# A bridge needs a token that the question does not have and that is a name, not an ordinary word.
LEAST_NAMED = 0.5  # share of the passages with the token that have it in a name
SHORTEST_LATIN, SHORTEST_HANGUL = 3, 2


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that bridges come from."""

    passage_id: str
    row: int  # among the candidates
    strength: float  # its share of the best score
    names: tuple[tuple[str, ...], ...]  # tokens of each name in it


@dataclass(frozen=True, slots=True)
class SecondSearch:
    """Bridges, their sources, and the words that the sources leave uncovered."""

    bridges: tuple[Bridge, ...]
    sources: tuple[Source, ...]
    uncovered: Mapping[str, float]  # weight of each token
    uncovered_idf: Mapping[str, float]

    def notes(self) -> list[str]:
        """Return a line for each passage whose names are searched for."""
        named: dict[str, list[str]] = {}
        for bridge in self.bridges:
            named.setdefault(bridge.passage_id, []).append(bridge.text or " ".join(bridge.tokens))
        return [f"also searched for {', '.join(texts)}, named in {source}" for source, texts in named.items()]

    def query(self, title_weight: float) -> NamedQuery:
        """Return the OR of the bridges' tokens and the uncovered words."""
        tokens = [bridge.tokens for bridge in self.bridges]
        return SECOND_SEARCH.query(BRIDGES, tokens, self.uncovered, title_weight)

    @property
    def tokens(self) -> set[str]:
        """All tokens that gains depend on."""
        named = {token for source in self.sources for name in source.names for token in name}
        return named | self.uncovered.keys()


def find_sources(
    question: AnalysedQuestion,
    concepts: Sequence[Concept],
    scored: ScoredCandidates,
    places: TokenPlaces,
) -> list[tuple[int, list[Concept]]]:
    """Return the best passages that may be sources, with the concepts that each leaves uncovered.

    Args:
        question: without a name in it there are none.
        concepts: of the question.
        scored: the candidates.
        places: of the tokens of the concepts and of the question's names in them.
    """
    if not question.names:
        return []
    total = sum(concept.importance for concept in concepts)
    held_tokens = places.texts > 0
    found = []
    for row in scored.order[:BEST]:
        held = {token for token, column in places.column.items() if held_tokens[row, column]}
        if not any(held.issuperset(name) for name in question.names):
            continue
        left = [concept for concept in concepts if held.isdisjoint(concept.tokens)]
        if sum(concept.importance for concept in left) >= LEAST_UNCOVERED * total:
            found.append((row, left))
    return found[: SECOND_SEARCH.sources]


def plan_second_search(
    question: AnalysedQuestion,
    found: Sequence[tuple[int, Sequence[Concept]]],
    scored: ScoredCandidates,
    read: NumberedRows,
    passages: int,
) -> SecondSearch | None:
    """Choose the bridges of the sources, the rarest of the strongest; None without any.

    Args:
        question: its words and the words that it excludes are no bridges.
        found: the sources, with the concepts that each leaves uncovered.
        scored, read: the candidates.
        passages: how many the index holds.
    """
    best = float(scored.scores.max(initial=0.0))
    if best <= 0 or not found:
        return None
    asked = {token[0] for token in question.tokens} | question.excluded_tokens
    strengths = [float(scored.scores[row]) / best for row, _ in found]
    sources, chosen = [], dict[tuple[str, ...], tuple[float, Bridge]]()
    for (row, _), strength in zip(found, strengths, strict=True):
        terms = _terms_of_names(read, row, passages)
        names = tuple(
            dict.fromkeys(
                tuple(terms[number].token for number in name.tolist()) for name in _names_of(read.rows, row)
            )
        )
        sources.append(Source(read.ids[row], row, strength, names))
        by_token = {term.token: term for term in terms.values()}
        for tokens in names:
            if not any(by_token[token].is_name for token in tokens if token not in asked):
                continue
            idf = {token: by_token[token].idf for token in tokens}
            rarity = strength * sum(idf.values())
            if rarity > chosen.get(tokens, (0.0,))[0]:
                chosen[tokens] = rarity, Bridge(tokens, read.ids[row], strength, idf)
    if not chosen:
        return None
    strongest = SECOND_SEARCH.choose({tokens: rarity for tokens, (rarity, _) in chosen.items()})
    bridges = tuple(chosen[tokens][1] for tokens in strongest)
    left = [(concepts, strength) for (_, concepts), strength in zip(found, strengths, strict=True)]
    return SecondSearch(bridges, tuple(sources), *_uncovered(left))


class NameTerm(NamedTuple):
    """A token of a name: its idf, and whether it can be a bridge."""

    token: str
    idf: float
    is_name: bool


def _terms_of_names(read: NumberedRows, row: int, passages: int) -> dict[int, NameTerm]:
    """Return the tokens of the names in a passage by number."""
    lexicon = read.lexicon
    numbers = np.unique(np.concatenate([np.zeros(0, np.int32), *_names_of(read.rows, row)]))
    frequency = lexicon.frequency[numbers]
    idf = inverse_document_frequencies(frequency * np.float64(passages / max(1, lexicon.passages)), passages)
    named = lexicon.named_share(numbers) >= LEAST_NAMED
    return {
        number: NameTerm(token, rarity, bool(often and _is_bridge(token)))
        for number, token, rarity, often in zip(
            numbers.tolist(), lexicon.terms(numbers.tolist()), idf.tolist(), named.tolist(), strict=True
        )
    }


def _uncovered(
    left: Iterable[tuple[Iterable[Concept], float]],
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the weights and the idf of the words that sources leave uncovered, by the sources' strengths."""
    weights: dict[str, float] = {}
    idf: dict[str, float] = {}
    words = (
        (word, pattern, weight * strength)
        for concepts, strength in left
        for concept in concepts
        for word in concept.words
        if word.is_known
        for pattern, weight in word.spellings.items()
        if len(pattern) == 1
    )
    for word, ((_, token),), weight in words:
        weights[token] = max(weights.get(token, 0.0), weight)
        idf[token] = word.importance / max(word.spellings.values())
    return weights, idf


def _is_bridge(token: str) -> bool:
    """Check whether a token is long enough for a name, and no formula."""
    if any(map(str.isdigit, token)):
        return False
    return len(token) >= (SHORTEST_LATIN if token.isascii() else SHORTEST_HANGUL)


def _names_of(rows: PassageRows, row: int) -> list[Numbers]:
    """Return the numbers of each name in a passage."""
    [own] = np.nonzero(rows.name_row == row)
    return [
        rows.body[place : place + length]
        for place, length in zip(rows.name_place[own].tolist(), rows.name_length[own].tolist(), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Gains:
    """Gains of each candidate by the second search."""

    bridges: Scores
    titles: Scores


def gains(
    search: SecondSearch,
    question: AnalysedQuestion,
    read: NumberedRows,
    places: TokenPlaces,
    scale: Scale,
) -> Gains:
    """Return the gains of candidates by bridges and by their titles, 0 to about 1, before they are weighted.

    Args:
        search: the sources are rows of the candidates.
        question: a title of its words alone gains nothing.
        read: the candidates.
        places: of the search's tokens in them.
        scale: of their BM25.
    """
    ids = read.ids
    idf = {token: value for bridge in search.bridges for token, value in bridge.idf.items()}
    idf |= search.uncovered_idf
    found = places.count(map(single, idf))
    columns = {pattern[0][1]: column for pattern, column in found.columns.items()}
    scores = scale.scores(found, {single(token): value for token, value in idf.items()})
    attainable = sum(weight * idf[token] for token, weight in search.uncovered.items())
    left = np.zeros(len(ids))
    for token, weight in search.uncovered.items():
        if token in columns:
            left += weight * scores[:, columns[token]]
    share = np.minimum(1.0, LEAST_SHARE + UNCOVERED_SHARE * (left / attainable if attainable else 0.0))
    by_bridge = np.zeros(len(ids))
    at = {passage_id: row for row, passage_id in enumerate(ids)}
    for bridge in search.bridges:
        held = [columns[token] for token in bridge.idf if token in columns]
        value = bridge.strength * scores[:, held].sum(axis=1) / sum(bridge.idf.values())
        value[at[bridge.passage_id]] = 0.0
        by_bridge = np.maximum(by_bridge, value)
    return Gains(by_bridge * share, _by_title(search, question, read, places) * share)


def _by_title(
    search: SecondSearch, question: AnalysedQuestion, read: NumberedRows, places: TokenPlaces
) -> Scores:
    """Return for each candidate the strength of the best source that names its title."""
    _, rows, lexicon = read
    strengths = np.zeros(len(rows))
    named = {lexicon.number(token) for source in search.sources for name in source.names for token in name}
    asked = {lexicon.number(token[0]) for token in question.tokens}
    before = np.searchsorted(rows.title_row, np.arange(len(rows)))
    in_name = np.arange(len(rows.title)) - before[rows.title_row] < rows.title_name[rows.title_row]
    known = np.isin(rows.title, list(named - {0})) & in_name
    complete = np.bincount(rows.title_row[known], minlength=len(rows)) == rows.title_name
    for row in np.flatnonzero(complete & (rows.title_name > 0)).tolist():
        title = rows.title[before[row] : before[row] + rows.title_name[row]].tolist()
        if asked.issuperset(title):
            continue
        terms = lexicon.terms(title)
        for source in search.sources:
            if source.row != row and source.strength > strengths[row] and _names(source, terms, places):
                strengths[row] = source.strength
    return strengths


def _names(source: Source, title: Sequence[str], places: TokenPlaces) -> bool:
    """Check whether a source names a title: one name has all words of the title, in order and nearby."""
    wanted = set(title)
    if not any(wanted.issubset(name) for name in source.names):
        return False
    rows = places.rows
    start = rows.body_start[source.row]
    body = places.body[start : start + len(rows.body_of(source.row))]
    ends = np.flatnonzero(body == places.column[title[0]])
    for token in title[1:]:
        found = np.flatnonzero(body == places.column[token])
        apart = found[:, None] - ends[None, :]
        ends = found[((apart >= 1) & (apart <= WORDS_APART)).any(axis=1)]
    return bool(ends.size)
