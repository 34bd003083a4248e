"""One list of a repository, read from page to page into its mirror.

Every page is stored with the token of the next one before that is requested. If a token has expired or is
refused, another pass through the same list starts; records of earlier passes are kept and updated.

A repository that counts pages by offset skips a record if an earlier one leaves the list during the harvest.
If the announced size of the list exceeds the number of listed records, another pass looks for such records.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from base.amounts import counted
from base.logs import get_logger
from base.progress import Progress
from base.untrusted import one_line
from indexer.corpora.readers.items import DeadLetter
from indexer.corpora.readers.metadata_records import read_metadata
from indexer.errors import RepositoryFailed, UnknownFormat
from indexer.harvesting.answers import Identity, Page, parse_identity, parse_page, parse_prefixes
from indexer.harvesting.client import RepositoryClient, RequestFailed
from indexer.harvesting.datestamps import earlier_date, parse_datestamp, start_of_list
from indexer.harvesting.mirror import ListState, Mirror
from indexer.harvesting.repository import OAI_DC

log = get_logger("harvest")

FIRST_RETRIES = 2  # of the first request to a new repository
MOST_RESTARTS = 5  # of a list, in one call
MOST_IDLE_PAGES = 100  # consecutive pages without a new record
MOST_CHECKS = 2  # further passes, if fewer records were listed than announced
BAD_TOKEN = "badResumptionToken"  # noqa: S105 - a code of the protocol
CODES_OF_BAD_TOKENS = frozenset({BAD_TOKEN, "badArgument", "badVerb"})


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Options of a list."""

    now: datetime
    complete: bool = False  # everything, although the changes would do
    remove_missing: bool = False  # however many records a complete list lacks


@dataclass(slots=True)
class ListReport:
    """Numbers of one call, and notes for the reader."""

    from_: str = ""  # start of the listed changes, "" for a complete list
    pages: int = 0
    records: int = 0
    restarts: int = 0
    missing_removed: int = 0
    repaired: int = 0  # pages
    nameless: int = 0  # records without an identifier
    notes: list[str] = field(default_factory=list)


async def list_changes(
    client: RepositoryClient, mirror: Mirror, options: ListOptions, report: ListReport, progress: Progress
) -> None:
    """Read the records that changed since the last list into the mirror, or continue an interrupted list.

    The report is filled page by page, and therefore also valid after an error.

    Raises:
        RepositoryFailed: the repository fails, or its list has no end; the pages so far are stored.
        UnknownFormat: the repository does not have the metadata format, or no reader for it exists.
    """
    try:
        # The address of a new repository may be wrong, which need not take minutes to find out.
        retries = None if mirror.state.passes else FIRST_RETRIES
        identity = await client.ask({"verb": "Identify"}, parse_identity, retries=retries)
        await _Listing(client, mirror, options, identity, report, progress).run()
    except RequestFailed as failure:
        raise _stopped(client, mirror, str(failure)) from None


def _stopped(client: RepositoryClient, mirror: Mirror, why: str) -> RepositoryFailed:
    kept = counted(mirror.count("deleted = 0"), "harvested record")
    return RepositoryFailed(
        f"{client.repository.name}: {why} ({kept} so far)",
        remedy="repeat the command later, which continues",
    )


@dataclass(slots=True)
class _Listing:
    client: RepositoryClient
    mirror: Mirror
    options: ListOptions
    identity: Identity
    report: ListReport
    progress: Progress
    idle_pages: int = 0

    async def run(self) -> None:
        list_ = self.mirror.state.list
        if list_ is None or (self.options.complete and list_.from_):
            self._start()
        self.report.from_ = self._list.from_
        while True:
            while not self._list.ended:
                page = await self._request()
                if page.errors:
                    await self._handle_errors(page)
                else:
                    self._store(page)
            if not self._is_short():
                break
            self._restart(checks=self._list.checks + 1)
        self._complete()

    @property
    def _list(self) -> ListState:
        if self.mirror.state.list is None:
            raise ValueError("no list is in progress")
        return self.mirror.state.list

    def _start(self) -> None:
        """Start a new list."""
        number = self.mirror.state.passes + 1
        list_ = ListState(self._from(), first_pass=number, pass_=number)
        self.mirror.save(replace(self.mirror.state, passes=number, list=list_))

    def _from(self) -> str:
        """Return `from` of a new list, "" for a complete one."""
        state, settings, identity = self.mirror.state, self.client.settings, self.identity
        complete, days = parse_datestamp(state.complete_at), settings.full_every_days
        if self.options.complete or complete is None:
            return ""
        if days and not identity.keeps_deletions and self.options.now - complete >= timedelta(days=days):
            return ""
        hours = settings.overlap_hours
        return start_of_list(state.listed_at, identity.earliest, identity.granularity, overlap_hours=hours)

    def _restart(self, **changes: Any) -> None:
        """Start another pass through the list."""
        number = self.mirror.state.passes + 1
        self.idle_pages = 0
        list_ = replace(self._list, pass_=number, token="", pages=0, size=0, new_in_pass=0)
        list_ = replace(list_, **changes)
        self.mirror.save(replace(self.mirror.state, passes=number, list=list_))

    async def _request(self) -> Page:
        """Request the next page. A token whose request fails counts as refused if the repository answers."""
        list_, parse = self._list, partial(parse_page, record_bytes=self.client.settings.record_bytes)
        arguments = self.client.repository.list_arguments(from_=list_.from_, token=list_.token)
        try:
            return await self.client.ask(arguments, parse)
        except RequestFailed as failure:
            if list_.token and failure.kind in {"server", "refused"} and await self.client.answers():
                return Page(errors=((BAD_TOKEN, str(failure)),))
            raise

    async def _handle_errors(self, page: Page) -> None:
        """Continue after an error of the protocol, or raise it."""
        list_, codes = self._list, {code for code, _ in page.errors}
        said = "; ".join(f"{one_line(code)}: {message}" for code, message in page.errors)
        if "noRecordsMatch" in codes:
            self._store(Page(date=page.date))
        elif list_.token and codes & CODES_OF_BAD_TOKENS:
            self.report.restarts += 1
            if self.report.restarts > MOST_RESTARTS:
                raise self._stopped(f"its resumption tokens failed {self.report.restarts} times ({said})")
            log.info("list restarted", repository=self.client.repository.name, reason=said)
            self._restart()
        elif "badArgument" in codes and "T" in list_.from_:  # it does not accept its own granularity
            self._restart(from_=list_.from_[:10])
        elif "cannotDisseminateFormat" in codes:
            prefix = self.client.repository.metadata_prefix
            known = ", ".join(await self.client.ask({"verb": "ListMetadataFormats"}, parse_prefixes))
            raise UnknownFormat(
                f"{self.client.repository.name} does not have the metadata format {prefix!r}, but {known}"
            )
        else:
            raise self._stopped(said)

    def _stopped(self, why: str) -> RepositoryFailed:
        return _stopped(self.client, self.mirror, why)

    def _store(self, page: Page) -> None:
        """Store a page, and count it."""
        list_, report = self._list, self.report
        if not list_.pages and self.client.repository.metadata_prefix != OAI_DC:
            self._check_format(page)
        later = replace(
            list_,
            token=page.token,
            started=list_.started or earlier_date(page.date or self.identity.date, self.options.now),
            pages=list_.pages + 1,
            size=page.size or list_.size,
        )
        new_in_pass = self.mirror.store(page, later)
        if page.token and page.token == list_.token and not new_in_pass:  # as DSpace ends some lists
            self.mirror.save(replace(self.mirror.state, list=replace(self._list, token="")))
        report.pages += 1
        report.records += len(page.records)
        report.repaired += page.repaired
        report.nameless += page.nameless
        self.progress("harvesting", report.records, later.size)
        self.idle_pages = 0 if new_in_pass else self.idle_pages + 1
        if self.idle_pages > MOST_IDLE_PAGES:
            raise self._stopped(f"its list has no end: {self.idle_pages} pages without a new record")
        if self._list.listed > (most := self.client.settings.most_records):
            raise self._stopped(f"its list has more than {most:,} records, the limit of the settings")

    def _check_format(self, page: Page) -> None:
        """Raise UnknownFormat if there is no reader for the records of the first page."""
        name = self.client.repository.name
        given = [record for record in page.records if record.metadata]
        read = [read_metadata(record.metadata, record.identifier, name) for record in given]
        if given and all(isinstance(item, DeadLetter) for item in read):
            prefix, first = self.client.repository.metadata_prefix, read[0]
            why = first.reason if isinstance(first, DeadLetter) else ""
            raise UnknownFormat(f"{name} in the metadata format {prefix!r}: no record can be read ({why})")

    def _is_short(self) -> bool:
        """Check whether the list needs another pass, because it has fewer records than announced."""
        list_, state = self._list, self.mirror.state
        if not state.sizes_are_exact or list_.listed >= list_.size:
            return False
        if list_.checks and not list_.new_in_pass:
            self.mirror.save(replace(state, sizes_are_exact=False))
            self.report.notes.append("it announces more records than it lists")
            return False
        return list_.checks < MOST_CHECKS

    def _complete(self) -> None:
        """End the list; of a complete one, mark the records that it lacks as deleted."""
        list_, report = self._list, self.report
        if not list_.from_:
            report.missing_removed = self._without_missing()
        if report.repaired:
            report.notes.append(f"{counted(report.repaired, 'page')} with invalid XML repaired")
        if report.nameless:
            report.notes.append(f"{counted(report.nameless, 'record')} without an identifier left out")
        state = self.mirror.state
        complete_at = state.complete_at if list_.from_ else list_.started
        self.mirror.save(replace(state, list=None, listed_at=list_.started, complete_at=complete_at))

    def _without_missing(self) -> int:
        """Mark the known records that a complete list lacks as deleted, unless they are suspiciously many."""
        missing = self.mirror.count("deleted = 0 AND pass < ?", self._list.first_pass)
        known = self.mirror.count("deleted = 0")
        if not self.options.remove_missing and missing > self.client.settings.most_missing * known:
            self.report.notes.append(
                f"its complete list lacks {missing:,} of {counted(known, 'known record')}, which are kept; "
                "if they are deleted: shrag harvest NAME --full --remove-missing"
            )
            return 0
        if missing:
            self.mirror.delete_missing(self._list)
        return missing
