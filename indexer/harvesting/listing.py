"""One list of a repository, read from page to page into its mirror.

Every page is stored with the token of the next one before that is requested. Repositories deviate from the
protocol as follows:

| deviation | consequence |
|---|---|
| a token expires, is refused, or causes an HTTP error | the list is read again from its start |
| the last page repeats its own token (DSpace) | the list has ended |
| new tokens without new records | an error after `MOST_IDLE_PAGES` pages |
| a clock is ahead, records become visible late | the list starts `overlap_hours` before the previous one |
| deletions are not listed | a complete list every `full_every_days`; what it lacks is deleted |
| a complete list lacks many records, or some that it announced | they are kept, with a note |
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from base.amounts import counted
from base.logs import get_logger
from base.progress import Progress
from base.untrusted import one_line
from indexer.corpora.readers.formats import read_metadata
from indexer.corpora.readers.items import DeadLetter
from indexer.errors import RepositoryFailed, UnknownFormat
from indexer.harvesting.mirror import ListState, Mirror
from indexer.harvesting.protocol import OAI_DC, Answer, RepositoryClient, RequestFailed

log = get_logger("harvest")

FIRST_RETRIES = 2  # of the first request to a new repository
MOST_RESTARTS = 5  # of a list, in one call
MOST_IDLE_PAGES = 100  # consecutive pages without a new record
BAD_TOKEN = "badResumptionToken"  # noqa: S105 - a code of the protocol
CODES_OF_BAD_TOKENS = frozenset({BAD_TOKEN, "badArgument", "badVerb"})
STATUSES_OF_BAD_TOKENS = frozenset({400, 404, 410, 500})
FIRST_YEAR = 1900  # of a datestamp


@dataclass(frozen=True, slots=True)
class HarvestOptions:
    """Options of a harvest."""

    complete: bool = False  # list everything, although the changes would do
    remove_missing: bool = False  # however many records a complete list lacks
    partial: bool = False  # index the harvested records even if the list was interrupted
    pause: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class ListReport:
    """Numbers of one call, and notes for the reader."""

    from_: str = ""  # start of the listed changes, "" for a complete list
    pages: int = 0
    records: int = 0
    restarts: int = 0
    missing_removed: int = 0
    requests: int = 0
    retries: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Listing:
    """A list in progress; `report` is filled page by page, and therefore also valid after an error."""

    client: RepositoryClient
    mirror: Mirror
    options: HarvestOptions
    progress: Progress
    report: ListReport = field(default_factory=ListReport)

    def run(self) -> None:
        """Read the records that changed since the last list, or continue an interrupted list.

        Raises:
            RepositoryFailed: the repository fails, or its list has no end; the pages so far are stored.
            UnknownFormat: the repository does not have the metadata format, or no reader for it exists.
        """
        try:
            identity = self._identify()
            list_ = self.mirror.state.list
            if list_ is None or (self.options.complete and list_.from_):
                list_ = self.mirror.begin_list(self._from(identity))
            self.report.from_ = list_.from_
            idle_pages = 0  # without a new record
            while not list_.ended:
                if page := self._next_page(list_):
                    list_, new = self._store(page, list_)
                    idle_pages = 0 if new else idle_pages + 1
                else:
                    list_, idle_pages = self.mirror.begin_list(list_.from_), 0
                if idle_pages > MOST_IDLE_PAGES:
                    raise self._stopped(f"its list has no end: {idle_pages} pages without a new record")
            self._complete(list_)
        except RequestFailed as failure:
            raise self._stopped(str(failure)) from None
        finally:
            self.report.requests, self.report.retries = self.client.requests, self.client.retries

    def _stopped(self, why: str) -> RepositoryFailed:
        return RepositoryFailed(
            f"{self.client.repository.name}: {why} ({counted(self.mirror.alive, 'harvested record')} so far)",
            remedy="repeat the command later, which continues",
        )

    def _identify(self) -> Answer:
        # The address of a new repository may be wrong, which need not take minutes to find out.
        retries = None if self.mirror.state.lists else FIRST_RETRIES
        answer = self.client.ask({"verb": "Identify"}, retries=retries)
        if answer.errors:
            raise self._stopped(f"it does not identify itself as a repository ({answer.error})")
        if (version := answer.value("protocolVersion")) != "2.0":
            raise self._stopped(f"it has version {one_line(version) or 'none'} of the protocol, not 2.0")
        return answer

    def _from(self, identity: Answer) -> str:
        """Return `from` of a new list, "" for a complete one."""
        state, settings = self.mirror.state, self.client.settings
        complete, days = parse_datestamp(state.complete_at), settings.full_every_days
        is_old = complete is None or (days and datetime.now(UTC) - complete >= timedelta(days=days))
        keeps_deletions = identity.value("deletedRecord") == "persistent"
        if self.options.complete or complete is None or (is_old and not keeps_deletions):
            return ""
        return start_of_list(state.listed_at, identity.value("earliestDatestamp"), settings.overlap_hours)

    def _next_page(self, list_: ListState) -> Answer | None:
        """Request the next page; None if its token is refused. Raises the errors of the protocol."""
        repository = self.client.repository
        try:
            answer = self.client.ask(repository.list_arguments(from_=list_.from_, token=list_.token))
        except RequestFailed as failure:
            if not list_.token or failure.status not in STATUSES_OF_BAD_TOKENS:
                raise
            self.client.ask({"verb": "Identify"}, retries=0)  # the repository answers, so it is the token
            answer = Answer(errors={BAD_TOKEN: str(failure)})
        codes = answer.errors.keys()
        if not codes or "noRecordsMatch" in codes:
            return answer
        if list_.token and codes & CODES_OF_BAD_TOKENS:
            self.report.restarts += 1
            if self.report.restarts > MOST_RESTARTS:
                why = f"its resumption tokens failed {self.report.restarts} times ({answer.error})"
                raise self._stopped(why)
            log.info("list restarted", repository=repository.name, reason=answer.error)
            return None
        if "cannotDisseminateFormat" in codes:
            formats = repository.request({"verb": "ListMetadataFormats"})
            raise UnknownFormat(
                f"{repository.name} does not have the metadata format {repository.metadata_prefix!r}",
                remedy=f"name one of its formats ({formats})",
            )
        raise self._stopped(answer.error)

    def _store(self, page: Answer, list_: ListState) -> tuple[ListState, int]:
        """Store a page, and count it; return the state after it and the number of new records."""
        report, token = self.report, page.value("resumptionToken")
        if not list_.pages and self.client.repository.metadata_prefix != OAI_DC:
            self._check_format(page)
        started = list_.started or earlier_date(page.value("responseDate"), datetime.now(UTC))
        size = max(page.size, list_.size)
        later = replace(list_, token=token, started=started, pages=list_.pages + 1, size=size)
        later, new = self.mirror.store(page.records, later)
        report.pages += 1
        report.records += len(page.records)
        self.progress("harvesting", report.records, size)
        if later.listed > (most := self.client.settings.most_records):
            raise self._stopped(f"its list has more than {most:,} records, the limit of the settings")
        is_repeated = token == list_.token and not new
        return (replace(later, token="") if is_repeated else later), new

    def _check_format(self, page: Answer) -> None:
        """Raise UnknownFormat if there is no reader for the records of the first page."""
        repository = self.client.repository
        given = [record for record in page.records if record.metadata]
        read = [read_metadata(record.metadata, record.identifier, repository.host) for record in given]
        letters = [item for item in read if isinstance(item, DeadLetter)]
        if letters and len(letters) == len(given):
            raise UnknownFormat(
                f"{repository.name} in the metadata format {repository.metadata_prefix!r}: "
                f"no record can be read ({letters[0].reason})"
            )

    def _complete(self, list_: ListState) -> None:
        """End the list; mark the records that a complete one lacks as deleted, unless that is doubtful."""
        report, mirror, complete_at = self.report, self.mirror, self.mirror.state.complete_at
        if not list_.from_:
            complete_at, known, missing = list_.started, mirror.alive, mirror.missing(list_)
            # A page that moves while the list is read skips records.
            doubtful = list_.listed < list_.size or missing > self.client.settings.most_missing * known
            if missing and doubtful and not self.options.remove_missing:
                report.notes.append(
                    f"its complete list lacks {missing:,} of {counted(known, 'known record')}, which are "
                    "kept; if they are deleted: shrag harvest NAME --full --remove-missing"
                )
            else:
                mirror.delete_missing(list_)
                report.missing_removed = missing
        mirror.save(list=None, listed_at=list_.started, complete_at=complete_at)


def parse_datestamp(text: str) -> datetime | None:
    """Parse a datestamp or the date of a response (section 3.3) in UTC; None if it is neither."""
    try:
        date = datetime.fromisoformat(text.strip())
        date = date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return date if date.year >= FIRST_YEAR else None


def start_of_list(listed_at: str, earliest: str, overlap_hours: float) -> str:
    """Return `from` of an incremental list, a day, "" if everything must be listed.

    Args:
        listed_at: start of the previous complete list, by the clock of the repository.
        earliest: earliest datestamp of the repository; some refuse an earlier `from`.
        overlap_hours: hours that are listed again, besides the rest of their day. Every repository accepts
            days, also one with datestamps in seconds (section 2.7.1).
    """
    listed, first = parse_datestamp(listed_at), parse_datestamp(earliest)
    if listed is None:
        return ""
    start = listed - timedelta(hours=overlap_hours)
    return f"{max(start, first or start):%Y-%m-%d}"


def earlier_date(date: str, now: datetime) -> str:
    """Return the date of a response, or the own time if that is earlier, or if there is no date."""
    return f"{min(parse_datestamp(date) or now, now):%Y-%m-%dT%H:%M:%SZ}"
