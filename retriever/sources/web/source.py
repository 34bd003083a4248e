"""A service on the network as a source: its queries, pages and records, and the failures of its requests."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, TypeVar

from base.net.user_agent import user_agent
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, Paper
from indexer.settings import IndexerSettings
from retriever.errors import SourceFailed
from retriever.queries.boolean import And, Exact, Query, Range
from retriever.queries.filters import Filters, satisfies
from retriever.sources import LinkedPapers, LinkKind, Source, SourceAnswer, SourceFeatures
from retriever.sources.settings import SourceSettings, WebSettings
from retriever.sources.web.boolean import Syntax, write_query
from retriever.sources.web.client import Call, NoAnswer, WebClient, WebRequest
from retriever.sources.web.records import paper_of

Result = TypeVar("Result")
Page = Sequence[Paper | None]  # None for an unusable record
Linked = Mapping[str, Page]  # by id
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
                low = max(low or FIRST_YEAR, (filters.years and filters.years.low) or FIRST_YEAR)
                high = min(high or LAST_YEAR, (filters.years and filters.years.high) or LAST_YEAR)
                if low > high:
                    return None
                filters = replace(filters, years=Range(low, high))
            case Exact(field="lang" | "journal" as name, values=(value,)):
                if getattr(filters, name) not in {None, value}:
                    return None
                filters = replace(filters, lang=value) if name == "lang" else replace(filters, journal=value)
            case _:
                words.append(clause)
    return words[0] if len(words) == 1 else And(tuple(words)), filters


def _conjuncts(query: Query) -> Iterator[Query]:
    if isinstance(query, And):
        yield from chain.from_iterable(map(_conjuncts, query.clauses))
    else:
        yield query


def bounds(filters: Filters, low: object = "", high: object = "") -> tuple[Any, Any] | None:
    """Return the first and the last year of filters, or what stands for an open end; None for all years."""
    years = filters.years
    return (years.low or low, years.high or high) if years and (years.low or years.high) else None


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query in the service's syntax."""

    text: str
    filters: Filters
    query: Query = field(compare=False)


class WebSource(Source):
    """A service, open until `close`.

    A kind sets the class variables and defines `_read`, which raises NoAnswer for an answer without records,
    `_page_request` (a query, and at most `size` papers behind the first `start`, by relevance) and
    `_id_request`; the feature `dois` needs `_doi_request`, and `references` needs `_follow`.
    """

    _read: Callable[[bytes], Page]
    _page_request: Callable[[AskedQuery, int, int], WebRequest]
    _id_request: Callable[[Sequence[str]], WebRequest]  # at most `batch` ids
    _doi_request: Callable[[Sequence[str]], WebRequest]  # at most `DOIS`
    _follow: Callable[[LinkKind, Sequence[str], int, Call], Awaitable[Linked]]

    service: str  # its common name
    features = SourceFeatures(private=False)
    settings: SourceSettings
    syntax: ClassVar[Syntax]
    identifiers: ClassVar[re.Pattern[str]]  # ids that do not match are never sent
    batch: ClassVar[int]  # records by id per request
    per_page: ClassVar[int]  # papers of a page
    key_header: ClassVar[str] = ""  # the header with the key, if the service takes it there

    def __init__(
        self, name: str, settings: Any, _: IndexerSettings | None = None, client: WebClient | None = None
    ) -> None:
        """Connect to nothing yet."""
        self.name, self.settings = name, settings
        self.client = client or web_client(settings, self.key_header)

    def _paper(self, record: Mapping[str, Any]) -> Paper | None:
        """Return a record as a paper of this source; None for one that is not usable, or has no text."""
        paper = paper_of(self.name, self.identifiers, record)
        return paper if paper and (paper.title or paper.abstract) else None

    @contextmanager
    def _calling(self) -> Iterator[Call]:
        """Yield a call; SourceFailed if it ends without an answer."""
        try:
            yield Call(asyncio.get_running_loop().time() + self.settings.timeout_s * SHARE)
        except NoAnswer as failure:
            raise SourceFailed(f"source {self.name!r} ({self.service}): {failure}") from None

    async def ask(self, request: WebRequest, call: Call, read: Callable[[bytes], Result]) -> Result:
        """Send a request, and parse the answer in a thread."""
        return await asyncio.to_thread(read, await self.client.send(request, call))

    async def ask_all(self, requests: Iterable[WebRequest], call: Call) -> list[Page | None]:
        """Send requests for records concurrently; one that fails gives None, and a failure of the call."""

        async def ask(request: WebRequest) -> Page | None:
            try:
                return await self.ask(request, call, self._read)
            except NoAnswer as failure:
                call.failures.append(str(failure))
                return None

        return await asyncio.gather(*map(ask, requests))

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer many queries; equal ones are sent once."""
        with self._calling() as call:
            asked = [(self._write(query, filters, call) if k > 0 else None, k) for query, k in queries]
            sent: dict[AskedQuery, int] = {}
            for each, k in asked:
                if each:
                    sent[each] = max(k, sent.get(each, 0))
            pages = await self._find(sent, call)
            call.require(any(map(any, pages)), len(sent))
        if unusable := sum(each is None for page in pages for each in page):
            call.notes.append(f"{unusable} records could not be used")
        found = dict(zip(sent, map(_distinct, pages), strict=True))
        kept = {
            each: [paper for paper in papers if satisfies(paper, each.filters)]
            for each, papers in found.items()
        }
        if unkept := sum(len(papers) - len(kept[each]) for each, papers in found.items()):
            call.notes.append(f"{unkept} papers found do not match the filters")
        lists = tuple(tuple(kept[each][:k]) if each else () for each, k in asked)
        return SourceAnswer(lists, call.all_notes(len(sent)), call.requests)

    def _write(self, query: Query, filters: Filters, call: Call) -> AskedQuery | None:
        """Convert a query to the service's syntax; None if there is nothing to send or to find."""
        lifted = lift_filters(query, filters)
        if lifted is None:
            return None
        written = write_query(lifted[0], self.syntax)
        call.notes += written.notes
        return AskedQuery(written.text, lifted[1], lifted[0]) if written.text else None

    async def _find(self, sent: Mapping[AskedQuery, int], call: Call) -> Sequence[Page]:
        """Return the records of each query."""
        return await asyncio.gather(*(self._collect(each, k, call) for each, k in sent.items()))

    async def _collect(self, asked: AskedQuery, k: int, call: Call) -> Page:
        """Return the records of a query's pages until there are k papers; a failure is one of the call."""
        found: list[Paper | None] = []
        try:
            async for page in self._pages(asked, k, call):
                found += page
                if len({each.id for each in found if each}) >= k or not page:
                    break
        except NoAnswer as failure:
            call.failures.append(str(failure))
        return found

    async def _pages(self, asked: AskedQuery, k: int, call: Call) -> AsyncIterator[Page]:
        """Yield pages of papers, best first, until there are k or no more."""
        size = min(self.per_page, k)
        for start in range(0, k, size):
            found = await self.ask(self._page_request(asked, start, size), call, self._read)
            yield found
            if len(found) < size:
                break

    async def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Return records by id; SourceFailed only if none were received."""
        with self._calling() as call:
            papers = await self._by_id(ids, call)
            call.require(papers)
        return papers

    async def papers_by_doi(self, dois: Sequence[str]) -> dict[str, Paper]:
        """Return records by DOI; SourceFailed only if none were received."""
        if not self.features.dois:
            return {}
        known = [each for each in dict.fromkeys(dois) if SENT_DOI.fullmatch(each)]
        with self._calling() as call:
            papers = await self._fetch(self._doi_request, known, DOIS, call)
            call.require(papers)
        return {paper.doi: paper for paper in reversed(papers) if paper.doi in known}

    async def _by_id(self, ids: Iterable[str], call: Call) -> dict[str, Paper]:
        """Return records by id; no ids of another form are sent."""
        known = self._known(ids)
        papers = await self._fetch(self._id_request, known, self.batch, call)
        return {paper.id: paper for paper in papers if paper.id in known}

    async def _fetch(
        self, request: Callable[[Sequence[str]], WebRequest], names: Sequence[str], size: int, call: Call
    ) -> list[Paper]:
        batches = (names[start : start + size] for start in range(0, len(names), size))
        pages = await self.ask_all(map(request, batches), call)
        return [paper for page in pages for paper in page or () if paper]

    async def linked(self, kind: LinkKind, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return for each paper at most `limit` references, or citing papers."""
        known = self._known(ids)
        if not known or not self.features.references:
            return LinkedPapers()
        with self._calling() as call:
            followed = await self._follow(kind, known, limit, call)
            papers = {each: tuple(filter(None, linked))[:limit] for each, linked in followed.items()}
            call.require(any(papers.values()))
        return LinkedPapers(papers, call.all_notes(len(known)), call.requests)

    async def follow_requests(
        self, ids: Sequence[str], request: Callable[[str], WebRequest], call: Call
    ) -> Linked:
        """Return the linked papers that a request for each paper finds."""
        pages = await self.ask_all(map(request, ids), call)
        return {each: page for each, page in zip(ids, pages, strict=True) if page is not None}

    async def follow_ids(self, linked: Mapping[str, Sequence[str]], call: Call) -> Linked:
        """Return the records of linked papers."""
        known = await self._by_id(chain.from_iterable(linked.values()), call)
        return {paper: [known.get(each) for each in ids] for paper, ids in linked.items()}

    async def follow_references(self, ids: Sequence[str], limit: int, call: Call) -> Linked:
        """Return the papers that the records of papers refer to, in two rounds for all papers."""
        citing = await self._by_id(ids, call)
        return await self.follow_ids({each: paper.references[:limit] for each, paper in citing.items()}, call)

    async def close(self) -> None:
        """Close connections."""
        await self.client.close()

    def _known(self, ids: Iterable[str]) -> list[str]:
        """Return the ids in the form of the service, each once; no others are sent."""
        return list(dict.fromkeys(filter(self.identifiers.fullmatch, ids)))


def web_client(settings: WebSettings, key_header: str) -> WebClient:
    """Return a client of a service."""
    key = getattr(settings, "api_key", None) if key_header else None
    return WebClient(
        settings.url,
        request_s=settings.request_timeout_s,
        per_second=settings.requests_per_second,
        at_once=settings.at_once,
        retries=settings.retries,
        headers={"User-Agent": user_agent(settings.contact)}
        | ({key_header: key.get_secret_value()} if key else {}),
        secrets=[secret.get_secret_value() for secret in settings.secrets()],
    )


def _distinct(page: Page) -> list[Paper]:
    """Return the first record of each paper."""
    papers: dict[str, Paper] = {}
    for each in filter(None, page):
        papers.setdefault(each.id, each)
    return list(papers.values())
