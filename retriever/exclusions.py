"""Exclusions of a strategy: a paper about an excluded thing loses most of its score.

A paper is about a thing if its title or its keywords name it. Names are compared as adjacent tokens: the
words of the exclusion in each language, and their counterparts in the index's glossary.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indexer.analysis import Analyzer
from indexer.glossary.storage import Glossary
from retriever.engines import EngineHit, NumberedRows
from retriever.formula import TokenPlaces
from retriever.queries.boolean import Pattern
from retriever.queries.keywords import pattern_of, translations
from retriever.strategy import LANGUAGES, Strategy

ABOUT_LOSS = 0.9  # share of the score lost by a paper about an excluded thing
MENTION_LOSS = 0.8  # maximum share of the score lost by a text that mentions an excluded thing
MENTIONS = 2  # mentions that cost half of MENTION_LOSS

RankedHits = Sequence[tuple[EngineHit, float]]


@dataclass(frozen=True, slots=True)
class Excluded:
    """An excluded thing as written, and its names as patterns of adjacent tokens."""

    text: str
    names: tuple[Pattern, ...]

    def mentions(self, text: str, analyzer: Analyzer) -> int:
        """Count how often the most frequent name of the thing occurs in a text, such as a keyword."""
        tokens = [token[0] for token in analyzer.analyze(text)] if self.names else []
        names = [[token for _, token in name] for name in self.names]
        counts = (sum(tokens[at : at + len(name)] == name for at in range(len(tokens))) for name in names)
        return max(counts, default=0)


def analyse_exclusions(
    strategy: Strategy, asked: Iterable[str], analyzer: Analyzer, glossary: Glossary
) -> tuple[Excluded, ...]:
    """Return the exclusions of a strategy with their names.

    A thing whose words are all keywords of the strategy, or tokens that are `asked` for, excludes nothing.
    """
    wanted = set(asked)
    found = []
    for exclusion in strategy.exclude:
        texts = [exclusion[language] for language in LANGUAGES if language in exclusion]
        names = dict.fromkeys(name for text in texts for name in _names(text, wanted, analyzer, glossary))
        kept = tuple(name for name in names if not wanted.issuperset(token for _, token in name))
        found.append(Excluded(texts[0], kept))
    return tuple(found)


def _names(text: str, wanted: set[str], analyzer: Analyzer, glossary: Glossary) -> Iterator[Pattern]:
    tokens = analyzer.analyze(text)
    own = pattern_of(tokens)
    if wanted.issuperset(token for _, token in own):
        return
    yield own
    words = {token[0] for token in tokens}
    for other in translations(tokens, glossary, analyzer):
        if other.source == words:  # of the whole thing
            yield other.pattern


@dataclass(frozen=True, slots=True)
class Demoted:
    """Hits with the scores that remain; doc_ids of papers about an excluded thing, or mentioning one."""

    hits: tuple[tuple[EngineHit, float], ...]
    losses: dict[str, float] = field(default_factory=dict)  # by passage_id
    about: frozenset[str] = frozenset()
    mentioning: frozenset[str] = frozenset()


def demote(
    hits: RankedHits,
    excluded: Sequence[Excluded],
    read: NumberedRows,
    records: dict[str, str],
    analyzer: Analyzer,
) -> Demoted:
    """Reorder hits by their exclusions.

    Args:
        hits: best first.
        excluded: what they should not be about.
        read: rows of their passages.
        records: the papers' records as JSON, by doc_id.
        analyzer: of the index, for keywords.
    """
    titles, mentions = _counts(excluded, read)
    of_passage = {passage_id: row for row, passage_id in enumerate(read.ids)}
    kept: list[tuple[EngineHit, float]] = []
    about, mentioning = set[str](), set[str]()
    for hit, score in hits:
        row = of_passage.get(hit.passage_id)
        times = float(mentions[row]) if row is not None else 0.0
        share = _mention_loss(times)
        named = row is not None and titles[row]
        if named or _in_keywords(excluded, records.get(hit.doc_id, ""), analyzer):
            about.add(hit.doc_id)
            share = ABOUT_LOSS
        elif times:
            mentioning.add(hit.doc_id)
        kept.append((hit, score - share * abs(score)))  # a cross-encoder's raw score can be negative
    kept.sort(key=lambda pair: (-pair[1], pair[0].passage_id))
    before = dict(hits)
    losses = {hit.passage_id: before[hit] - score for hit, score in kept if score != before[hit]}
    return Demoted(tuple(kept), losses, frozenset(about), frozenset(mentioning))


def _counts(excluded: Sequence[Excluded], read: NumberedRows) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return for each passage whether its title names an excluded thing, and its most mentions of one."""
    names = [name for each in excluded for name in each.names]
    places = TokenPlaces.of(read, {token for name in names for _, token in name})
    titles, mentions = np.zeros(len(read.ids), np.bool_), np.zeros(len(read.ids), np.int64)
    for name in names:
        titles |= places.pattern_counts(name, titles=True) > 0
        mentions = np.maximum(mentions, places.pattern_counts(name))
    return titles, mentions


def _in_keywords(excluded: Sequence[Excluded], record: str, analyzer: Analyzer) -> bool:
    if '"keywords"' not in record:
        return False
    keywords = json.loads(record).get("keywords") or ()
    return any(each.mentions(str(keyword), analyzer) for keyword in keywords for each in excluded)


def loss_of_text(
    excluded: Sequence[Excluded], title: str, text: str, keywords: Sequence[str], analyzer: Analyzer
) -> float:
    """Return the share of its relevance that a paper outside an index loses to exclusions."""
    if any(each.mentions(named, analyzer) for each in excluded for named in (title, *keywords)):
        return ABOUT_LOSS
    return _mention_loss(max((each.mentions(text, analyzer) for each in excluded), default=0))


def _mention_loss(times: float) -> float:
    return MENTION_LOSS * times / (times + MENTIONS)
