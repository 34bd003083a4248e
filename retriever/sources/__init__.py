"""Sources of papers: an index of this project, somebody else's, a service on the network.

Whoever holds a source cannot tell which it is. A source answers Boolean queries in its own syntax, and brings
whole records, so what it finds needs no index of this project: `merging.py` joins what several sources found,
and `gathered.py` makes of it an index for one question, on which every method, way and check works.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from indexer.analysis import Decompound
from indexer.corpora.papers import Paper
from retriever.queries.boolean import Filters, Query

ANALYZER = "bilingual"  # of the tokens in queries, and of what is made of the papers found
DECOMPOUND: Decompound = "discard"


@dataclass(frozen=True, slots=True)
class SourceFeatures:
    """What a source can do beyond searching; a caller goes without what it cannot."""

    references: bool = False  # it knows the papers that a paper refers to
    citing: bool = False  # it knows the papers that refer to a paper
    dois: bool = False  # it finds papers by their DOIs
    frequencies: bool = False  # it counts the papers that hold a word
    citation_counts: bool = False  # it counts its papers that refer to one, whatever the records say
    private: bool = True  # questions stay within the institution; False: they go to somebody else


@dataclass(frozen=True, slots=True)
class SourcePaper:
    """A record as a source has it; `paper.id` is the source's own, `paper.source` the source's name.

    `paper.references` are ids of the same source, as far as it tells them.
    """

    paper: Paper
    score: float | None = None  # of a search, as the source counts; only comparable within one list


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """What a source found for each query, best first, and what a reader should know of it.

    `notes` tell what it could not do: a filter that it lacks, a query that was shortened, an answer that
    was broken off. What was found before stands in the lists.
    """

    found: tuple[tuple[SourcePaper, ...], ...]
    notes: tuple[str, ...] = ()
    requests: int = 0  # that were sent for it


@dataclass(frozen=True, slots=True)
class LinkedPapers:
    """For each paper asked for, by its id in this source, the papers at the other end of its references."""

    papers: dict[str, tuple[SourcePaper, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    requests: int = 0


class Source(Protocol):
    """What every source does. All of it may be called many times at once, on one event loop.

    A source that fails raises `SourceFailed`; what it found in part it returns with a note instead.
    """

    @property
    def name(self) -> str:
        """How settings, notes and records name it."""
        ...

    @property
    def features(self) -> SourceFeatures:
        """What it can do."""
        ...

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer many queries, for each (query, k) at most k papers; few requests, politely.

        Words are sent as they are written (`Term.text`, `Phrase.text`): the source analyses them itself.
        Tokens beside them, where there are any, are those of `ANALYZER`.
        """
        ...

    async def papers(self, ids: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by id; ids that it does not know are left out."""
        ...

    async def papers_by_doi(self, dois: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by DOI, in small letters; unknown ones are left out; empty without that feature."""
        del dois
        return {}

    async def references(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return for each paper at most `limit` of those that it refers to; empty without that feature."""
        ...

    async def citing(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return for each paper at most `limit` of those that refer to it; empty without that feature."""
        ...

    async def frequencies(self, words: Sequence[str]) -> tuple[dict[str, int], int] | None:
        """Return in how many papers each word stands, and of how many; None without that feature."""
        del words
        return None

    async def citation_counts(self, ids: Sequence[str]) -> dict[str, int]:
        """Return how many papers of the source refer to each, in one request; empty without that feature."""
        del ids
        return {}

    async def wrongly_described(self) -> tuple[str, ...]:
        """Say which parts of the settings fit nothing that it holds; none where it cannot tell."""
        return ()

    async def close(self) -> None:
        """Let go of connections."""
        ...
