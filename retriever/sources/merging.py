"""Several sources asked at once, and what they found as one list of papers, each paper once.

Two records are merged if they have the DOI in common, or the title with year or an author, and their texts
agree (`retriever/duplicates/descriptions.py`). The record of the source that stands first is kept, and
what it lacks is taken from the others'.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from base.amounts import plain
from base.errors import RemediableError
from base.logs import get_logger
from base.untrusted import one_line
from indexer.corpora.papers import Paper
from retriever.duplicates.descriptions import Description
from retriever.errors import SourceFailed, SourceSilent
from retriever.queries.boolean import Filters, Query
from retriever.sources import LinkedPapers, Source, SourceAnswer
from retriever.stages.fusion import reciprocal_rank_fusion

FILLED = (
    "abstract",
    "title2",
    "abstract2",
    "authors",
    "year",
    "journal",
    "publisher",
    "keywords",
    "doi",
    "url",
)
FOUND_IN = "found_in"  # the key of a merged record that names its sources, and its id in each

T = TypeVar("T")
log = get_logger("sources")


@dataclass(slots=True)
class LimitedSource:
    """A source, and the seconds that it is waited for: once in vain, and it is asked no more."""

    source: Source
    seconds: float
    kind: str = "index"
    description: str = ""  # what it holds, in the words of whoever declared it
    silent: bool = False  # whether it did not answer in time
    failed: str = ""  # what was said when it last failed

    @property
    def name(self) -> str:
        """The source's name."""
        return self.source.name


@dataclass(frozen=True, slots=True)
class FromSources(Generic[T]):
    """What each source gave, by its name in the order of the sources; and why others gave nothing."""

    answers: Mapping[str, T]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergedPaper:
    """A paper with its id in each source that has it; `paper.id` tells papers of several sources apart."""

    paper: Paper
    ids: tuple[tuple[str, str], ...]  # (source, id there), in the order in which they were found

    def record(self) -> Paper:
        """Return the record with its sources in it."""
        found_in = [{"source": source, "id": paper_id} for source, paper_id in self.ids]
        return Paper.model_construct(
            _fields_set={*self.paper.model_fields_set, FOUND_IN},
            **{**dict(self.paper), **(self.paper.model_extra or {}), FOUND_IN: found_in},
        )


@dataclass(frozen=True, slots=True)
class Merged:
    """Papers by their ids, and what each query found: (id, score), best first."""

    papers: Mapping[str, MergedPaper] = field(default_factory=dict)
    found: tuple[tuple[tuple[str, float], ...], ...] = ()


async def ask_sources(
    sources: Sequence[LimitedSource], ask: Callable[[Source], Awaitable[T]]
) -> FromSources[T]:
    """Ask all sources at once, each for as long as it may take; what fails is told, and the others go on.

    Raises:
        SourceFailed: all of them failed.
    """

    async def asked(limited: LimitedSource) -> T | str:
        if limited.silent:
            return limited.failed
        try:
            async with asyncio.timeout(limited.seconds):
                return await ask(limited.source)
        except TimeoutError:
            limited.silent = True
            limited.failed = f"source {limited.name!r} did not answer within {plain(limited.seconds)} s"
        except RemediableError as error:
            limited.silent = isinstance(error, SourceSilent)
            limited.failed = one_line(str(error))
        except Exception as error:  # noqa: BLE001 - whatever a source answers, the others go on
            log.warning("source failed", source=limited.name, error=repr(error))
            limited.failed = f"source {limited.name!r} failed ({type(error).__name__})"
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
    """Send queries to all sources; return what they found beside what is `known`, and notes for a reader.

    Raises:
        SourceFailed: all of them failed.
    """
    given = await ask_sources(sources, lambda source: source.search(queries, filters=filters))
    return merge(given.answers, known or {}, several=len(sources) > 1), notes_of(given)


def notes_of(given: FromSources[SourceAnswer] | FromSources[LinkedPapers]) -> tuple[str, ...]:
    """Return what a reader should know of what sources gave, and of those that failed."""
    answers = given.answers.items()
    return (*given.failures, *(f"source {name!r}: {note}" for name, of in answers for note in of.notes))


async def summed_frequencies(
    sources: Sequence[LimitedSource], words: Sequence[str]
) -> tuple[dict[str, int], int]:
    """Return in how many papers of the sources that count each word stands, and of how many; {}, 0 of none.

    Raises:
        SourceFailed: all that count failed.
    """
    counting = [limited for limited in sources if limited.source.features.frequencies]
    if not counting:
        return {}, 0
    given = await ask_sources(counting, lambda source: source.frequencies(words))
    counts = [answer for answer in given.answers.values() if answer is not None]
    summed = {word: sum(found.get(word, 0) for found, _ in counts) for word in words} if counts else {}
    return summed, sum(total for _, total in counts)


def merge(answers: Mapping[str, SourceAnswer], known: Mapping[str, MergedPaper], *, several: bool) -> Merged:
    """Merge what sources found for the same queries with the papers known before.

    Ids are the source's own, with `several` sources behind their names (`library:B17`). A query's list is
    that of its source, with several sources fused by their ranks (reciprocal rank fusion, k = 60).
    """
    papers = dict(known)
    by_id = {identity: paper_id for paper_id, merged in papers.items() for identity in merged.ids}
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for paper_id, merged in papers.items():
        for mark in _described(merged.paper).marks:
            alike[mark].append(paper_id)
    lists: list[list[list[tuple[str, float]]]] = []
    for name, answer in answers.items():
        for place, found in enumerate(answer.found):
            ranked: dict[str, float] = {}
            for rank, each in enumerate(found, 1):
                identity = name, each.paper.id
                if identity not in by_id:
                    by_id[identity] = _add(papers, alike, identity, each.paper, several=several)
                score = 1 / rank if each.score is None else each.score
                ranked.setdefault(by_id[identity], score)
            while len(lists) <= place:
                lists.append([])
            lists[place].append(list(ranked.items()))
    return Merged(papers, tuple(map(_fused, lists)))


def _add(
    papers: dict[str, MergedPaper],
    alike: dict[tuple[str, str], list[str]],
    identity: tuple[str, str],
    paper: Paper,
    *,
    several: bool,
) -> str:
    """Put a record beside those of the same paper, else as a paper of its own; return the paper's id."""
    described = _described(paper)
    others = (other for mark in described.marks for other in alike[mark])
    same = next((other for other in others if described.is_same(_described(papers[other].paper))), None)
    if same is not None:
        merged = papers[same]
        papers[same] = replace(merged, paper=_filled(merged.paper, paper), ids=(*merged.ids, identity))
        return same
    paper_id = ":".join(identity) if several else paper.id
    papers[paper_id] = MergedPaper(paper.model_copy(update={"id": paper_id}), (identity,))
    for mark in described.marks:
        alike[mark].append(paper_id)
    return paper_id


def _filled(paper: Paper, other: Paper) -> Paper:
    missing = {name: value for name in FILLED if not getattr(paper, name) and (value := getattr(other, name))}
    if cited := max(filter(None, (paper.cited_by_count, other.cited_by_count)), default=None):
        missing["cited_by_count"] = cited
    return paper.model_copy(update=missing)


def _described(paper: Paper) -> Description:
    texts = paper.abstract, paper.abstract2
    return Description.of(paper.doi, paper.title, paper.year, paper.authors, texts, paper.title2)


def _fused(lists: Sequence[Sequence[tuple[str, float]]]) -> tuple[tuple[str, float], ...]:
    if len(lists) == 1:
        return tuple(lists[0])
    return tuple(reciprocal_rank_fusion([[paper_id for paper_id, _ in ranked] for ranked in lists]))
