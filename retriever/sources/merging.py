"""Concurrent search of several sources, with their papers merged into one list without duplicates.

The record of a paper (`retriever/duplicates.py`) from the first source is kept, and its missing fields are
taken from the others: a record with a Korean abstract gets the English one.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Generic, TypeVar

from base.amounts import plain
from base.errors import RemediableError
from base.logs import get_logger
from base.notes import Note, note_in
from base.untrusted import one_line
from indexer.corpora.papers import Paper, language_of
from retriever.duplicates import MOST_COMPARED, PaperClaims, paper_claims
from retriever.engines.ordering import reciprocal_rank_fusion
from retriever.errors import SourceFailed
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.sources import LinkedPapers, Source, SourceAnswer

FILLED = "abstract title2 abstract2 authors year journal publisher keywords doi url".split()
FOUND_IN = "found_in"  # key of a merged record: its sources, and its id in each

SILENT_SHARE = 0.3  # of the time limit: a source that fails after longer is not asked again

T = TypeVar("T")
log = get_logger("sources")


@dataclass(slots=True)
class LimitedSource:
    """A source with a time limit in seconds; disabled after a failure that took long."""

    source: Source
    seconds: float
    kind: str = "index"
    description: str = ""  # of its content, from its settings
    silent: bool = False  # whether it is not asked again
    failed: str = ""  # message of its last failure

    @property
    def name(self) -> str:
        """The source's name."""
        return self.source.name


@dataclass(frozen=True, slots=True)
class FromSources(Generic[T]):
    """The answer of each source by name, in the order of the sources, and the failures of others."""

    answers: Mapping[str, T]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergedPaper:
    """A paper with its id in each source that has it; `paper.id` is unique across sources."""

    paper: Paper
    ids: tuple[tuple[str, str], ...]  # (source, id in the source), in order of discovery

    def record(self) -> Paper:
        """Return the record, including its sources."""
        found_in = [{"source": source, "id": paper_id} for source, paper_id in self.ids]
        return Paper.model_construct(
            _fields_set={*self.paper.model_fields_set, FOUND_IN},
            **{**dict(self.paper), **(self.paper.model_extra or {}), FOUND_IN: found_in},
        )


@dataclass(frozen=True, slots=True)
class Merged:
    """Papers by id, and the ids of the papers that each query found, best first."""

    papers: Mapping[str, MergedPaper] = field(default_factory=dict)
    found: tuple[tuple[str, ...], ...] = ()


async def ask_sources(
    sources: Sequence[LimitedSource], ask: Callable[[Source], Awaitable[T]]
) -> FromSources[T]:
    """Call all sources concurrently, each within its time limit; a failure does not stop the others.

    Raises:
        SourceFailed: all of them failed.
    """

    async def asked(limited: LimitedSource) -> T | str:
        if limited.silent:
            return limited.failed
        clock = asyncio.get_running_loop().time
        begun = clock()
        try:
            async with asyncio.timeout(limited.seconds):
                return await ask(limited.source)
        except TimeoutError:
            limited.silent = True
            limited.failed = Note("source_silent", source=limited.name, seconds=plain(limited.seconds))
        except RemediableError as error:
            limited.silent = clock() - begun > limited.seconds * SILENT_SHARE
            limited.failed = note_in(error, one_line(str(error)))
        except Exception as error:  # noqa: BLE001 - no error of a source affects the other sources
            log.warning("source failed", source=limited.name, error=repr(error))
            limited.failed = Note("source_failed", source=limited.name, error=type(error).__name__)
        return limited.failed

    outcomes = await asyncio.gather(*map(asked, sources))
    answers = {
        limited.name: outcome
        for limited, outcome in zip(sources, outcomes, strict=True)
        if not isinstance(outcome, str)
    }
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, str))
    if not answers:
        raise SourceFailed("; ".join(failures) or "there is no source to ask")
    return FromSources(answers, failures)


async def search_sources(
    sources: Sequence[LimitedSource],
    queries: Sequence[tuple[Query, int]],
    filters: Filters,
    known: Mapping[str, MergedPaper] | None = None,
) -> tuple[Merged, tuple[str, ...]]:
    """Send queries to all sources; return their papers merged with the `known` ones, and notes for a reader.

    Raises:
        SourceFailed: all of them failed.
    """
    given = await ask_sources(sources, lambda source: source.search(queries, filters=filters))
    return merge(given.answers, known or {}, several=len(sources) > 1), notes_of(given)


def notes_of(given: FromSources[SourceAnswer] | FromSources[LinkedPapers]) -> tuple[str, ...]:
    """Return the notes of the answers, and the failures."""
    answers = given.answers.items()
    return (
        *given.failures,
        *(Note("source_notes", source=name, note=note) for name, of in answers for note in of.notes),
    )


async def summed_frequencies(
    sources: Sequence[LimitedSource], words: Sequence[str]
) -> tuple[dict[str, int], int]:
    """Sum the document frequencies and the numbers of papers of the sources that count; {}, 0 without any.

    Raises:
        SourceFailed: all sources that count failed.
    """
    counting = [limited for limited in sources if limited.source.features.frequencies]
    if not counting:
        return {}, 0
    given = await ask_sources(counting, lambda source: source.frequencies(words))
    counts = [answer for answer in given.answers.values() if answer is not None]
    summed = {word: sum(found.get(word, 0) for found, _ in counts) for word in words} if counts else {}
    return summed, sum(total for _, total in counts)


def merge(answers: Mapping[str, SourceAnswer], known: Mapping[str, MergedPaper], *, several: bool) -> Merged:
    """Merge the answers of sources to the same queries with the papers known before.

    Ids are the source's own, with the source's name before them if there are `several` sources
    (`library:B17`). The hit lists of several sources are fused by reciprocal rank fusion (k = 60).
    """
    papers = dict(known)
    by_id = {identity: paper_id for paper_id, merged in papers.items() for identity in merged.ids}
    claims: dict[str, PaperClaims] = {}
    by_claim = defaultdict[str, dict[str, None]](dict)  # ids in the order of their papers

    def note(paper_id: str) -> None:
        claims[paper_id] = _claims_of(papers[paper_id].paper)
        for key in claims[paper_id].keys:
            by_claim[key].setdefault(paper_id)

    def added(identity: tuple[str, str], paper: Paper) -> str:
        """Merge a record into the first paper that it is a record of, or add it as a new one."""
        own = _claims_of(paper)
        others = dict.fromkeys(chain.from_iterable(islice(by_claim[key], MOST_COMPARED) for key in own.keys))
        paper_id = next((other for other in others if own.is_same(claims[other])), "")
        if merged := papers.get(paper_id):
            papers[paper_id] = MergedPaper(_filled(merged.paper, paper), (*merged.ids, identity))
        else:
            paper_id = ":".join(identity) if several else paper.id
            papers[paper_id] = MergedPaper(paper.model_copy(update={"id": paper_id}), (identity,))
        note(paper_id)
        return paper_id

    for paper_id in known:
        note(paper_id)
    lists = defaultdict[int, list[list[str]]](list)  # of each query, one per source
    for name, answer in answers.items():
        for place, found in enumerate(answer.found):
            for paper in found:
                identity = name, paper.id
                if identity not in by_id:
                    by_id[identity] = added(identity, paper)
            lists[place].append(list(dict.fromkeys(by_id[name, paper.id] for paper in found)))
    fused = (
        tuple(each.item for each in reciprocal_rank_fusion(of)) if len(of) > 1 else tuple(of[0])
        for _, of in sorted(lists.items())
    )
    return Merged(papers, tuple(fused))


def _filled(paper: Paper, other: Paper) -> Paper:
    given = {name: getattr(other, name) for name in FILLED}
    for name in ("title", "abstract"):
        if own := getattr(paper, name):
            texts = getattr(other, name), getattr(other, f"{name}2")
            others = (text for text in texts if text and language_of(text) != language_of(own))
            given[f"{name}2"] = next(others, "")
    missing = {name: value for name, value in given.items() if value and not getattr(paper, name)}
    if cited := max(filter(None, (paper.cited_by_count, other.cited_by_count)), default=None):
        missing["cited_by_count"] = cited
    return paper.model_copy(update=missing)


def _claims_of(paper: Paper) -> PaperClaims:
    texts = paper.abstract, paper.abstract2
    return paper_claims(paper.doi, paper.title, paper.year, paper.authors, texts, paper.title2)
