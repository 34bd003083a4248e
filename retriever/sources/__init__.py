"""Sources of papers: an index of this project, a foreign index, or a service on the network.

All sources have the same interface. A source answers Boolean queries in its own syntax and returns whole
records, so its papers need no index of this project. `merging.py` merges the papers of several sources, and
`gathered.py` makes them an index for one question, on which every method, way and check works.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from indexer.analysis import Decompound
from indexer.corpora.papers import Paper
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters

ANALYZER = "bilingual"  # for the tokens in queries, and for the papers found
DECOMPOUND: Decompound = "discard"
LinkKind = Literal["reference", "citing"]


@dataclass(frozen=True, slots=True)
class SourceFeatures:
    """The features of a source besides searching; callers work without the missing ones."""

    references: bool = False  # finds the papers that a paper refers to, and those that refer to it
    dois: bool = False  # finds papers by their DOIs
    frequencies: bool = False  # counts the papers that contain a word
    citation_counts: bool = False  # counts its own papers that refer to a paper
    private: bool = True  # questions stay within the institution; False: a third party sees them


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """The papers that a source found for each query, best first, and notes for the reader.

    A paper's `id` is the source's own, its `source` the source's name; `references` are ids of the same
    source, if it returns them. `notes` describe limitations: a missing filter, a shortened query, an answer
    that broke off. Papers found before are in the lists.
    """

    found: tuple[tuple[Paper, ...], ...]
    notes: tuple[str, ...] = ()
    requests: int = 0  # number of requests sent


@dataclass(frozen=True, slots=True)
class LinkedPapers:
    """The papers at the other end of references, by the id of the requested paper in this source."""

    papers: dict[str, tuple[Paper, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    requests: int = 0


class Source(Protocol):
    """The protocol of sources. All methods may be called concurrently, on one event loop.

    A source that fails raises `SourceFailed`. A partial result is returned with a note instead.
    """

    name: str  # in settings, notes and records

    @property
    def features(self) -> SourceFeatures:
        """The features that it supports."""
        ...

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer many queries with few requests: for each (query, k) at most k papers.

        Words are sent in their written form (`Term.text`, `Phrase.text`), because the source analyses them
        itself. Their tokens, if any, come from `ANALYZER`.
        """
        ...

    async def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Return records by id; unknown ids are left out."""
        ...

    async def papers_by_doi(self, dois: Sequence[str]) -> dict[str, Paper]:
        """Return records by DOI in small letters; unknown ones are left out; empty without the feature."""
        del dois
        return {}

    async def linked(self, kind: LinkKind, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return for each paper at most `limit` references, or citing papers; empty without the feature."""
        ...

    async def frequencies(self, words: Sequence[str]) -> tuple[dict[str, int], int] | None:
        """Return each word's document frequency, and the number of papers; None without the feature."""
        del words
        return None

    async def citation_counts(self, ids: Sequence[str]) -> dict[str, int]:
        """Count the source's papers that refer to each paper, in one request; empty without the feature."""
        del ids
        return {}

    async def wrongly_described(self) -> tuple[str, ...]:
        """Describe settings that match nothing in the source; empty if it cannot check them."""
        return ()

    async def close(self) -> None:
        """Close connections."""
        ...
