"""A service on the network as a source: its queries, pages and records, and the failures of its requests."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeVar

from base.net.user_agent import user_agent
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR
from indexer.settings import IndexerSettings
from retriever.errors import SourceFailed
from retriever.opening.worker_threads import WorkerThreads
from retriever.queries.boolean import And, Exact, Query, Range
from retriever.queries.filters import Filters, satisfies
from retriever.sources import LinkedPapers, Source, SourceAnswer, SourceFeatures, SourcePaper
from retriever.sources.settings import SourceSettings, WebSettings
from retriever.sources.web.boolean import Syntax, WrittenQuery, write_query
from retriever.sources.web.client import Call, Unanswered, WebClient, WebRequest
from retriever.sources.web.records import Unreadable

Result = TypeVar("Result")
Asker = TypeVar("Asker")
Direction = Literal["references", "citing"]
Page = Sequence[SourcePaper | None]  # None for an unusable record
Linked = tuple[Mapping[str, Page], list[str]]  # by id, and the failures
DOIS = 50  # per request: an address has room for about a hundred
SENT_DOI = re.compile(r"10\.[^\s,|]{1,200}")  # commas and bars are syntax of filters
SHARE = 0.9  # of the time of a call; then the papers found so far are returned
MOST_NOTES = 3


def lift_filters(query: Query, filters: Filters) -> tuple[Query, Filters] | None:
    """Move years, language and journal that apply to a whole query into the filters.

    None if they contradict each other, so that nothing can be found.
    """
    words: list[Query] = []
    for clause in _conjuncts(query):
        match clause:
            case Range(low=low, high=high):
                low = max(low or FIRST_YEAR, (filters.years and filters.years.low) or FIRST_YEAR)
                high = min(high or LAST_YEAR, (filters.years and filters.years.high) or LAST_YEAR)
                if low > high:
                    return None
                filters = replace(filters, years=Range(low, high))
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


def bounds(filters: Filters, low: object = "", high: object = "") -> tuple[Any, Any] | None:
    """Return the first and the last year of filters, or what stands for an open end; None for all years."""
    years = filters.years
    return (years.low or low, years.high or high) if years and (years.low or years.high) else None


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query in the service's syntax, and the number of papers wanted."""

    text: str
    filters: Filters
    k: int = field(compare=False)
    query: Query = field(compare=False)


class WebSource(Source):
    """A service, open until `close`.

    A kind sets the class variables and defines `_read`, `_page_request` and `_id_request`; `dois` needs
    `_doi_request`, and `references` and `citing` need `_follow`.
    """

    service: str  # its common name
    features = SourceFeatures(private=False)
    settings: SourceSettings
    syntax: ClassVar[Syntax]
    identifiers: ClassVar[re.Pattern[str]]  # ids that do not match are never sent
    batch: ClassVar[int]  # records by id per request
    per_page: ClassVar[int]  # papers of a page
    whole_pages: ClassVar[bool] = False  # whether all pages of a search have one size

    def __init__(self, name: str, settings: Any, client: WebClient | None = None) -> None:
        self.name, self.settings = name, settings
        self.client = client or self._client(settings)
        self._threads = WorkerThreads(f"source-{name}", 2)

    @classmethod
    def open(cls, name: str, settings: Any, _: IndexerSettings | None = None) -> Self:
        """Open the source; the first question connects."""
        return cls(name, settings)

    @classmethod
    def _client(cls, settings: WebSettings) -> WebClient:
        return WebClient(
            settings.url,
            request_s=settings.request_timeout_s,
            per_second=settings.requests_per_second,
            at_once=settings.at_once,
            retries=settings.retries,
            headers={"User-Agent": user_agent(settings.contact), **cls._headers(settings)},
            secrets=[secret.get_secret_value() for secret in settings.secrets()],
        )

    @staticmethod
    def _headers(_: Any) -> dict[str, str]:
        """Return the headers of all requests."""
        return {}

    def _read(self, content: bytes) -> Page:
        """Parse an answer with records; Unreadable for any other answer."""
        raise NotImplementedError

    def _page_request(self, asked: AskedQuery, start: int, size: int) -> WebRequest:
        """Return the request for at most `size` papers behind the first `start`, by relevance."""
        raise NotImplementedError

    def _id_request(self, ids: Sequence[str]) -> WebRequest:
        """Return the request for records by id, at most `batch`."""
        raise NotImplementedError

    def _doi_request(self, dois: Sequence[str]) -> WebRequest:
        """Return the request for records by DOI, at most `DOIS`."""
        raise NotImplementedError

    async def _follow(self, direction: Direction, ids: Sequence[str], limit: int, call: Call) -> Linked:
        """Return the papers at the other end of references."""
        raise NotImplementedError

    async def ask(self, request: WebRequest, call: Call, read: Callable[[bytes], Result]) -> Result:
        """Send a request, and parse the answer in a thread."""
        return await self._threads.run(read, await self.client.send(request, call))

    async def _pages(self, asked: AskedQuery, call: Call) -> AsyncIterator[Page]:
        """Yield pages of papers, best first, until there are enough or no more."""
        size = min(self.per_page, asked.k)
        for start in range(0, asked.k, size):
            most = size if self.whole_pages else min(size, asked.k - start)
            found = await self.ask(self._page_request(asked, start, most), call, self._read)
            yield found
            if len(found) < size:
                break

    async def _complete(
        self, found: list[list[SourcePaper]], call: Call
    ) -> tuple[list[list[SourcePaper]], list[str]]:
        """Replace ids by whole records if a search only returns ids; return also the failures."""
        del call
        return found, []

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer many queries; equal ones are sent once."""
        call, notes, asked = self._call(), list[str](), list[AskedQuery | None]()
        for query, k in queries:
            written, wanted = self._write(query, k, filters)
            notes += written.notes
            asked.append(wanted)
        most = {each: each for each in sorted(filter(None, asked), key=lambda each: each.k)}
        sent = [most[each] for each in dict.fromkeys(filter(None, asked))]
        failures: list[str] = []
        pages = await self._answers(sent, call, failures)
        distinct = [_distinct(page) for page in pages]
        found, missing = await self._complete(distinct, call)
        failures += missing
        if failures and not any(found) and self._none_answered(failures, len(sent)):
            raise self._failed(failures)
        notes += self._not_answered(failures, len(sent))
        if unusable := sum(each is None for page in pages for each in page):
            notes.append(f"{unusable} records could not be used")
        lists = {
            each: [paper for paper in papers if satisfies(paper.paper, each.filters)]
            for each, papers in zip(sent, found, strict=True)
        }
        if unkept := sum(map(len, found)) - sum(map(len, lists.values())):
            notes.append(f"{unkept} papers found do not match the filters")
        kept = tuple(tuple(lists[each][: each.k]) if each else () for each in asked)
        return SourceAnswer(kept, tuple(dict.fromkeys(notes)), call.requests)

    def _write(self, query: Query, k: int, filters: Filters) -> tuple[WrittenQuery, AskedQuery | None]:
        """Convert a query to the service's syntax; nothing to send if nothing can be found."""
        lifted = lift_filters(query, filters)
        if lifted is None or k < 1:
            return WrittenQuery(""), None
        words, filters = lifted
        written = write_query(words, self.syntax)
        return written, AskedQuery(written.text, filters, k, words) if written.text else None

    async def _answers(self, sent: Sequence[AskedQuery], call: Call, failures: list[str]) -> list[Page]:
        """Return the records of each query, and add the failures to `failures`."""
        return await asyncio.gather(*(self._collect(each, call, failures) for each in sent))

    def _none_answered(self, failures: Sequence[str], count: int) -> bool:
        """Check whether failures without a paper fail the search of `count` queries."""
        del failures, count
        return True

    async def _collect(self, asked: AskedQuery, call: Call, failures: list[str]) -> Page:
        """Return the records of a query's pages until there are enough, and add a failure to `failures`."""
        found: list[SourcePaper | None] = []
        try:
            async for page in self._pages(asked, call):
                found += page
                if len({each.paper.id for each in found if each}) >= asked.k or not page:
                    break
        except (Unanswered, Unreadable) as error:
            failures.append(str(error))
        return found

    async def papers(self, ids: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by id; SourceFailed only if none were received."""
        papers, failures = await self.by_id(ids, self._call())
        if failures and not papers:
            raise self._failed(failures)
        return papers

    async def papers_by_doi(self, dois: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by DOI; SourceFailed only if none were received."""
        known = [each for each in dict.fromkeys(dois) if SENT_DOI.fullmatch(each)]
        if not self.features.dois:
            return {}
        papers, failures = await self._fetch(self._doi_request, known, DOIS, self._call())
        if failures and not papers:
            raise self._failed(failures)
        return {paper.paper.doi: paper for paper in reversed(papers) if paper.paper.doi in known}

    async def by_id(self, ids: Iterable[str], call: Call) -> tuple[dict[str, SourcePaper], list[str]]:
        """Return records by id, and the failures."""
        known = self._known(ids)
        papers, failures = await self._fetch(self._id_request, known, self.batch, call)
        return {paper.paper.id: paper for paper in papers if paper.paper.id in known}, failures

    async def _fetch(
        self, request: Callable[[Sequence[str]], WebRequest], names: Iterable[str], size: int, call: Call
    ) -> tuple[list[SourcePaper], list[str]]:
        known = list(names)
        batches = [tuple(known[start : start + size]) for start in range(0, len(known), size)]
        pages, failures = await answered(batches, lambda batch: self.ask(request(batch), call, self._read))
        return [paper for page in pages.values() for paper in page if paper], failures

    async def follow_by_id(self, linked: Mapping[str, Sequence[str]], call: Call) -> Linked:
        """Return the records of linked papers, and the failures."""
        known, failures = await self.by_id((each for ids in linked.values() for each in ids), call)
        return {paper: [known.get(each) for each in ids] for paper, ids in linked.items()}, failures

    async def follow_references(self, ids: Sequence[str], limit: int, call: Call) -> Linked:
        """Return the papers that the records of papers refer to, in two rounds for all papers."""
        citing, failures = await self.by_id(ids, call)
        references = {each: paper.paper.references[:limit] for each, paper in citing.items()}
        followed, more = await self.follow_by_id(references, call)
        return followed, [*failures, *more]

    async def references(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return for each paper at most `limit` papers that it refers to."""
        return await self._linked("references", ids, limit) if self.features.references else LinkedPapers()

    async def citing(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return for each paper at most `limit` papers that refer to it."""
        return await self._linked("citing", ids, limit) if self.features.citing else LinkedPapers()

    async def _linked(self, direction: Direction, ids: Sequence[str], limit: int) -> LinkedPapers:
        known, call = list(self._known(ids)), self._call()
        if not known or limit < 1:
            return LinkedPapers()
        try:
            followed, failures = await self._follow(direction, known, limit, call)
        except (Unanswered, Unreadable) as failure:
            raise self._failed([str(failure)]) from None
        papers = {each: tuple(filter(None, linked))[:limit] for each, linked in followed.items()}
        if failures and not any(papers.values()):
            raise self._failed(failures)
        return LinkedPapers(papers, tuple(self._not_answered(failures, len(known))), call.requests)

    async def close(self) -> None:
        """Close connections."""
        await self.client.close()
        self._threads.close()

    def _known(self, ids: Iterable[str]) -> dict[str, None]:
        """Return the ids in the form of the service, each once; no others are sent."""
        return dict.fromkeys(filter(self.identifiers.fullmatch, ids))

    def _call(self) -> Call:
        return Call(asyncio.get_running_loop().time() + self.settings.timeout_s * SHARE)

    def _failed(self, failures: Sequence[str]) -> SourceFailed:
        return SourceFailed(f"source {self.name!r} ({self.service}): {failures[0]}")

    def _not_answered(self, failures: Sequence[str], count: int) -> list[str]:
        how_many = f"{min(len(failures), count)} of {count} requests were not answered in full"
        return [f"{how_many}: {why}" for why in dict.fromkeys(failures)][:MOST_NOTES]


def _distinct(page: Page) -> list[SourcePaper]:
    """Return the first record of each paper."""
    papers: dict[str, SourcePaper] = {}
    for each in filter(None, page):
        papers.setdefault(each.paper.id, each)
    return list(papers.values())


async def answered(
    askers: Sequence[Asker], ask: Callable[[Asker], Awaitable[Result]]
) -> tuple[dict[Asker, Result], list[str]]:
    """Await several requests concurrently; return the answers and the failures."""
    outcomes = await asyncio.gather(*map(ask, askers), return_exceptions=True)
    found: dict[Asker, Result] = {}
    failures = []
    for each, outcome in zip(askers, outcomes, strict=True):
        if isinstance(outcome, Unanswered | Unreadable):
            failures.append(str(outcome))
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            found[each] = outcome
    return found, failures
