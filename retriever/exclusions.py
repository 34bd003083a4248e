"""Exclusions of a strategy: a paper about an excluded thing loses nearly all of its score.

A paper is about a thing if its title or its keywords name it. Names are compared as adjacent tokens: the
words of the exclusion in each language, and their counterparts in the index's glossary.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.analysis import Analyzer
from indexer.glossary.storage import Glossary
from retriever.engines import EngineHit, NumberedRows
from retriever.formula import TokenPlaces
from retriever.queries.boolean import Pattern
from retriever.queries.keywords import pattern_of, translations
from retriever.strategy import LANGUAGES, Strategy

LOSS = 0.9  # share of the score lost by a paper about an excluded thing

RankedHits = Sequence[tuple[EngineHit, float]]


@dataclass(frozen=True, slots=True)
class Excluded:
    """An excluded thing as written, and its names as patterns of adjacent tokens."""

    text: str
    names: tuple[Pattern, ...]

    def mentions(self, text: str, analyzer: Analyzer) -> bool:
        """Check whether a name of the thing occurs in a text, such as a keyword."""
        tokens = [token[0] for token in analyzer.analyze(text)] if self.names else []
        names = [[token for _, token in name] for name in self.names]
        return any(tokens[at : at + len(name)] == name for name in names for at in range(len(tokens)))


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


def demote(
    hits: RankedHits,
    excluded: Sequence[Excluded],
    read: NumberedRows,
    records: Mapping[str, str],
    analyzer: Analyzer,
) -> tuple[RankedHits, dict[str, float]]:
    """Reorder hits by their exclusions; return them, and the lost scores by passage_id.

    Args:
        hits: best first.
        excluded: what they should not be about.
        read: rows of their passages.
        records: the papers' records as JSON, by doc_id.
        analyzer: of the index, for keywords.
    """
    names = [name for each in excluded for name in each.names]
    places = TokenPlaces.of(read, {token for name in names for _, token in name})
    titled = np.zeros(len(read.ids), np.bool_)
    for name in names:
        titled |= places.pattern_counts(name, titles=True) > 0
    about = {passage_id for passage_id, named in zip(read.ids, titled.tolist(), strict=True) if named}
    about |= {
        hit.passage_id for hit, _ in hits if _in_keywords(excluded, records.get(hit.doc_id, ""), analyzer)
    }
    # A cross-encoder's raw score can be negative.
    losses = {hit.passage_id: LOSS * abs(score) for hit, score in hits if hit.passage_id in about}
    kept = [(hit, score - losses.get(hit.passage_id, 0.0)) for hit, score in hits]
    return sorted(kept, key=lambda pair: (-pair[1], pair[0].passage_id)), losses


def _in_keywords(excluded: Sequence[Excluded], record: str, analyzer: Analyzer) -> bool:
    if '"keywords"' not in record:
        return False
    keywords = json.loads(record).get("keywords") or ()
    return any(each.mentions(str(keyword), analyzer) for keyword in keywords for each in excluded)


def loss_of_text(
    excluded: Sequence[Excluded], title: str, keywords: Sequence[str], analyzer: Analyzer
) -> float:
    """Return the share of its relevance that a paper outside an index loses to exclusions."""
    is_about = any(each.mentions(named, analyzer) for each in excluded for named in (title, *keywords))
    return LOSS if is_about else 0.0
