"""A service on the network as a source: its queries, pages and records, and the failures of its requests."""

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self, TypeVar

from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR
from indexer.settings import IndexerSettings
from retriever.errors import SourceFailed
from retriever.opening.worker_threads import WorkerThreads
from retriever.queries.boolean import And, Exact, Query, Range
from retriever.queries.filters import Filters, satisfies
from retriever.sources import LinkedPapers, Source, SourceAnswer, SourceFeatures, SourcePaper
from retriever.sources.settings import WebSettings
from retriever.sources.web.boolean import Syntax, WrittenQuery, write_query
from retriever.sources.web.client import Unanswered, WebClient, WebRequest
from retriever.sources.web.records import Unreadable

Result = TypeVar("Result")
Asker = TypeVar("Asker")
Direction = Literal["references", "citing"]
Page = Sequence[SourcePaper | None]  # None for an unusable record
DOIS = 50  # per request: an address has room for about a hundred
SENT_DOI = re.compile(r"10\.[^\s,|]{1,200}")  # commas and bars are syntax of filters
SHARE = 0.9  # of the time of a call; then the papers found so far are returned


def lift_filters(query: Query, filters: Filters) -> tuple[Query, Filters] | None:
    """Move years, language and journal that apply to a whole query into the filters.

    None if they contradict each other, so that nothing can be found.
    """
    words: list[Query] = []
    for clause in _conjuncts(query):
        match clause:
            case Range(low=low, high=high):
                years = _both(filters.years, Range(low, high))
                if years is None:
                    return None
                filters = replace(filters, years=years)
            case Exact(field="lang", values=(value,)) if filters.lang in {None, value}:
                filters = replace(filters, lang=value)
            case Exact(field="journal", values=(value,)) if filters.journal in {None, value}:
                filters = replace(filters, journal=value)
            case Exact(field="lang" | "journal", values=(_,)):
                return None
            case _:
                words.append(clause)
    return words[0] if len(words) == 1 else And(tuple(words)), filters


def _conjuncts(query: Query) -> Iterator[Query]:
    if isinstance(query, And):
        for clause in query.clauses:
            yield from _conjuncts(clause)
    else:
        yield query


def _both(one: Range | None, other: Range) -> Range | None:
    if one is None:
        return other
    low = max(one.low or FIRST_YEAR, other.low or FIRST_YEAR)
    high = min(one.high or LAST_YEAR, other.high or LAST_YEAR)
    return Range(low, high) if low <= high else None


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query in the service's syntax, and the number of papers wanted."""

    text: str
    filters: Filters
    k: int = field(compare=False)
    query: Query = field(compare=False)


class Conversation:
    """The requests of one call: their deadline and their number."""

    def __init__(self, client: WebClient, until: float) -> None:
        self._client, self._until = client, until
        self.requests = 0

    async def ask(self, request: WebRequest) -> bytes:
        """Send a request and return the answer; raises Unanswered as `WebClient.send`."""
        content = await self.ask_for(request)
        if content is None:
            raise Unanswered("it answers that the address does not exist")
        return content

    async def ask_for(self, request: WebRequest) -> bytes | None:
        """Send a request; None if the service answers that nothing was found."""
        try:
            content, sent = await self._client.send(request, self._until)
        except Unanswered as failure:
            self.requests += failure.requests
            raise
        self.requests += sent
        return content


class WebSource(Source, ABC):
    """A service, open until `close`."""

    service: ClassVar[str]  # its common name
    features: ClassVar[SourceFeatures]
    syntax: ClassVar[Syntax]
    identifiers: ClassVar[re.Pattern[str]]  # ids that do not match are never sent
    batch: ClassVar[int]  # records by id per request
    per_page: ClassVar[int]  # papers of a page
    whole_pages: ClassVar[bool] = False  # whether all pages of a search have one size

    def __init__(
        self,
        name: str,
        settings: WebSettings,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Create the source; the first question connects."""
        self.name = name
        self._seconds = settings.timeout_s * SHARE
        self.client = WebClient(settings, headers)
        self._threads = WorkerThreads(f"source-{name}", 2)

    @classmethod
    def open(cls, name: str, settings: Any, _: IndexerSettings) -> Self:
        """Open the source; the first question connects."""
        return cls(name, settings)

    async def pages(self, asked: AskedQuery, conversation: Conversation) -> AsyncIterator[Page]:
        """Yield pages of papers, best first, until there are enough or no more."""
        size = min(self.per_page, asked.k)
        for start in range(0, asked.k, size):
            found = await self.page(
                asked, start, size if self.whole_pages else min(size, asked.k - start), conversation
            )
            yield found
            if len(found) < size:
                break

    async def page(self, asked: AskedQuery, start: int, size: int, conversation: Conversation) -> Page:
        """Return at most `size` papers behind the first `start`."""
        raise NotImplementedError

    @abstractmethod
    async def fetch(self, ids: Sequence[str], conversation: Conversation) -> Page:
        """Return records by id, at most `batch`."""

    async def fetch_by_doi(self, dois: Sequence[str], conversation: Conversation) -> Page:
        """Return records by DOI, at most `DOIS`."""
        raise NotImplementedError

    async def follow(
        self, direction: Direction, ids: Sequence[str], limit: int, conversation: Conversation
    ) -> tuple[Mapping[str, Page], list[str]]:
        """Return the papers at the other end of references, and the failures."""
        raise NotImplementedError

    async def follow_by_id(
        self, linked: Mapping[str, Sequence[str]], conversation: Conversation
    ) -> tuple[Mapping[str, Page], list[str]]:
        """Return the records of linked papers, and the failures."""
        known, failures = await self.by_id((each for ids in linked.values() for each in ids), conversation)
        return {paper: [known.get(each) for each in ids] for paper, ids in linked.items()}, failures

    async def complete(
        self, found: list[list[SourcePaper]], conversation: Conversation
    ) -> tuple[list[list[SourcePaper]], list[str]]:
        """Replace ids by whole records if a search only returns ids; return also the failures."""
        del conversation
        return found, []

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer many queries; equal ones are sent once."""
        conversation = self._conversation()
        notes: list[str] = []
        asked: list[AskedQuery | None] = []
        for query, k in queries:
            written, wanted = self.write(query, k, filters)
            notes += written.notes
            asked.append(wanted)
        most: dict[AskedQuery, AskedQuery] = {}
        for each in filter(None, asked):
            if each not in most or each.k > most[each].k:
                most[each] = each
        collected = await asyncio.gather(*(self._collect(each, conversation) for each in most.values()))
        found, missing = await self.complete([papers for papers, _, _ in collected], conversation)
        failures = [failure for _, _, failure in collected if failure] + missing
        if failures and not any(found):
            raise self._failed(failures)
        notes += self._not_answered(failures, len(most))
        if unusable := sum(count for _, count, _ in collected):
            notes.append(f"{unusable} records could not be used")
        lists = {
            each: [paper for paper in papers if satisfies(paper.paper, each.filters)]
            for each, papers in zip(most, found, strict=True)
        }
        kept = tuple(tuple(lists[each][: each.k]) if each else () for each in asked)
        if unkept := sum(map(len, found)) - sum(map(len, lists.values())):
            notes.append(f"{unkept} papers found do not match the filters")
        return SourceAnswer(kept, tuple(dict.fromkeys(notes)), conversation.requests)

    def write(self, query: Query, k: int, filters: Filters) -> tuple[WrittenQuery, AskedQuery | None]:
        """Convert a query to the service's syntax; nothing to send if nothing can be found."""
        lifted = lift_filters(query, filters)
        if lifted is None or k < 1:
            return WrittenQuery(""), None
        words, filters = lifted
        written = write_query(words, self.syntax)
        return written, AskedQuery(written.text, filters, k, words) if written.text else None

    async def _collect(
        self, asked: AskedQuery, conversation: Conversation
    ) -> tuple[list[SourcePaper], int, str]:
        """Return a query's papers, the number of unusable records, and the failure, "" for none."""
        papers: dict[str, SourcePaper] = {}
        unusable = 0
        try:
            async for page in self.pages(asked, conversation):
                for paper in page:
                    unusable += paper is None
                    if paper is not None:
                        papers.setdefault(paper.paper.id, paper)
                if len(papers) >= asked.k or not page:
                    break
        except (Unanswered, Unreadable) as failure:
            return list(papers.values()), unusable, str(failure)
        return list(papers.values()), unusable, ""

    async def papers(self, ids: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by id; SourceFailed only if none were received."""
        papers, failures = await self.by_id(ids, self._conversation())
        if failures and not papers:
            raise self._failed(failures)
        return papers

    async def papers_by_doi(self, dois: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by DOI; SourceFailed only if none were received."""
        known = [each for each in dict.fromkeys(dois) if SENT_DOI.fullmatch(each)]
        if not self.features.dois or not known:
            return {}
        conversation = self._conversation()
        batches = [tuple(known[start : start + DOIS]) for start in range(0, len(known), DOIS)]
        fetched, failures = await answered(batches, lambda batch: self.fetch_by_doi(batch, conversation))
        papers = [paper for page in fetched.values() for paper in page if paper]
        if failures and not papers:
            raise self._failed(failures)
        return {paper.paper.doi: paper for paper in reversed(papers) if paper.paper.doi in known}

    async def by_id(
        self, ids: Iterable[str], conversation: Conversation
    ) -> tuple[dict[str, SourcePaper], list[str]]:
        """Return records by id, and the failures."""
        known = self.known(ids)
        batches = [tuple(known[start : start + self.batch]) for start in range(0, len(known), self.batch)]
        fetched, failures = await answered(batches, lambda batch: self.fetch(batch, conversation))
        asked = set(known)
        papers = (paper for page in fetched.values() for paper in page if paper)
        found = {paper.paper.id: paper for paper in papers if paper.paper.id in asked}
        return found, failures

    def known(self, ids: Iterable[str]) -> list[str]:
        """Return the ids in the form of the service, each once; no others are sent."""
        return [each for each in dict.fromkeys(ids) if self.identifiers.fullmatch(each)]

    async def references(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return for each paper at most `limit` papers that it refers to."""
        return await self._linked("references", ids, limit) if self.features.references else LinkedPapers()

    async def citing(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return for each paper at most `limit` papers that refer to it."""
        return await self._linked("citing", ids, limit) if self.features.citing else LinkedPapers()

    async def _linked(self, direction: Direction, ids: Sequence[str], limit: int) -> LinkedPapers:
        known = self.known(ids)
        if not known or limit < 1:
            return LinkedPapers()
        conversation = self._conversation()
        try:
            followed, failures = await self.follow(direction, known, limit, conversation)
        except (Unanswered, Unreadable) as failure:
            raise self._failed([str(failure)]) from None
        papers = {each: tuple(filter(None, linked))[:limit] for each, linked in followed.items()}
        if failures and not any(papers.values()):
            raise self._failed(failures)
        return LinkedPapers(papers, tuple(self._not_answered(failures, len(known))), conversation.requests)

    async def close(self) -> None:
        """Close connections."""
        await self.client.close()
        self._threads.close()

    async def read(self, reader: Callable[..., Result], *values: object) -> Result:
        """Parse an answer in a thread; raises Unreadable as the parser."""
        return await self._threads.run(reader, *values)

    def _conversation(self) -> Conversation:
        return Conversation(self.client, asyncio.get_running_loop().time() + self._seconds)

    def _failed(self, failures: Sequence[str]) -> SourceFailed:
        return SourceFailed(f"source {self.name!r} ({self.service}): {failures[0]}")

    def _not_answered(self, failures: Sequence[str], count: int) -> list[str]:
        how_many = f"{min(len(failures), count)} of {count} requests were not answered in full"
        return [f"{how_many}: {why}" for why in dict.fromkeys(failures)][:3]


async def answered(
    askers: Sequence[Asker], ask: Callable[[Asker], Awaitable[Result]]
) -> tuple[dict[Asker, Result], list[str]]:
    """Await several requests concurrently; return the answers and the failures."""
    outcomes = await asyncio.gather(*(_or_failure(ask(each)) for each in askers))
    found = {
        each: outcome for each, (outcome, _) in zip(askers, outcomes, strict=True) if outcome is not None
    }
    return found, [failure for _, failure in outcomes if failure]


async def _or_failure(awaitable: Awaitable[Result]) -> tuple[Result | None, str]:
    try:
        return await awaitable, ""
    except (Unanswered, Unreadable) as failure:
        return None, str(failure)
