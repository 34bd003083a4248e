"""An OAI-PMH repository on this machine with the faults of real ones, and harvests of it."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from base.progress import no_progress
from indexer.harvest import harvest, update
from indexer.harvesting.listing import HarvestOptions
from indexer.harvesting.protocol import Repository
from indexer.ingest import IngestRequest
from indexer.settings import HarvestSettings, IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.http_server import Handler, serving

OAI = "http://www.openarchives.org/OAI/2.0/"
DUBLIN_CORE = (
    'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
FORMATS = "<metadataFormat><metadataPrefix>oai_dc</metadataPrefix></metadataFormat>"


@dataclass(slots=True)
class Kept:
    """A record of the repository; without metadata it is deleted."""

    at: datetime
    metadata: str
    sets: tuple[str, ...] = ()


@dataclass(slots=True)
class Served:
    """A repository: its records, its habits, and a fault for the number of a request, counted from 1."""

    deletions: str = "persistent"
    page_size: int = 10
    now: datetime = datetime(2024, 5, 1, 9, 0, 0, tzinfo=UTC)
    records: dict[str, Kept] = field(default_factory=dict)
    faults: dict[int, Callable[["OaiHandler"], bool]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    expired: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def verbs(self) -> Counter[str]:
        return Counter(request["verb"] for request in self.asked)

    def pass_(self, **time: float) -> None:
        self.now += timedelta(**time)

    def put(self, identifier: str, metadata: str, sets: tuple[str, ...] = ()) -> None:
        self.records[identifier] = Kept(self.now, metadata, sets)

    def delete(self, identifier: str) -> None:
        """Delete a record; a repository without persistent deletions forgets it."""
        if self.deletions == "no":
            del self.records[identifier]
        else:
            self.put(identifier, "", self.records[identifier].sets)

    def answer(self, arguments: dict[str, str]) -> str:
        if arguments["verb"] == "Identify":
            return self.document(
                "<Identify><protocolVersion>2.0</protocolVersion>"
                "<earliestDatestamp>2000-01-01T00:00:00Z</earliestDatestamp>"
                f"<deletedRecord>{self.deletions}</deletedRecord>"
                "<granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>"
            )
        if arguments["verb"] == "ListMetadataFormats":
            return self.document(f"<ListMetadataFormats>{FORMATS}</ListMetadataFormats>")
        token = arguments.get("resumptionToken", "")
        if token in self.expired:
            return self.error("badResumptionToken", "expired")
        names = ("from", "set", "metadataPrefix")
        given = token or "|".join(["0", *(arguments.get(name, "") for name in names)])
        place, from_, set_, prefix = given.split("|")
        if prefix not in {"oai_dc", "other"}:
            return self.error("cannotDisseminateFormat", "unknown")
        return self.page(int(place), from_, set_, prefix)

    def page(self, place: int, from_: str, set_: str, prefix: str) -> str:
        """Return records in the order of their datestamps, as repositories with a database do."""
        chosen = [
            (kept.at, identifier)
            for identifier, kept in self.records.items()
            if stamp(kept.at) >= from_ and (not set_ or set_ in kept.sets)
        ]
        if not chosen:
            return self.error("noRecordsMatch", "none")
        after = place + self.page_size
        records = "".join(self.record(identifier) for _, identifier in sorted(chosen)[place:after])
        token = f"{after}|{from_}|{set_}|{prefix}" if after < len(chosen) else ""
        return self.document(
            f'<ListRecords>{records}<resumptionToken completeListSize="{len(chosen)}" cursor="{place}">'
            f"{token}</resumptionToken></ListRecords>"
        )

    def record(self, identifier: str) -> str:
        kept = self.records[identifier]
        header = (
            f"<identifier>{escape(identifier)}</identifier><datestamp>{stamp(kept.at)}</datestamp>"
            f"{''.join(f'<setSpec>{each}</setSpec>' for each in kept.sets)}</header>"
        )
        if not kept.metadata:
            return f'<record><header status="deleted">{header}</record>'
        return f"<record><header>{header}<metadata>{kept.metadata}</metadata></record>"

    def document(self, content: str) -> str:
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="{OAI}"><responseDate>{stamp(self.now)}'
            f"</responseDate><request>http://x</request>{content}</OAI-PMH>"
        )

    def error(self, code: str, message: str) -> str:
        return self.document(f'<error code="{code}">{message}</error>')


def stamp(date: datetime) -> str:
    return date.strftime("%Y-%m-%dT%H:%M:%SZ")


def dublin_core(**fields: str) -> str:
    elements = "".join(f"<dc:{name}>{escape(value)}</dc:{name}>" for name, value in fields.items())
    return f"<oai_dc:dc {DUBLIN_CORE}>{elements}</oai_dc:dc>"


class OaiHandler(Handler):
    """Answers by the repository of the server; a fault answers instead, and returns whether it did."""

    served: Served

    def get(self) -> None:
        served = self.served
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        with served.lock:
            served.asked.append({name: values[0] for name, values in query.items()})
            served.headers.append(dict(self.headers))
            fault = served.faults.get(len(served.asked))
            if not (fault and fault(self)):
                self.send(self.own_answer())

    def own_answer(self) -> str:
        return self.served.answer(self.served.asked[-1])

    def send(self, text: str | bytes, status: int = 200, **headers: str) -> bool:
        content = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/xml; charset=UTF-8")
        for name, value in ({"Content_Length": str(len(content))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)
        return True


@contextmanager
def repository(served: Served) -> Iterator[str]:
    """Serve a repository until the end of the block; yield its path `oai:…`."""
    with serving(type("OneRepository", (OaiHandler,), {"served": served})) as address:
        yield f"oai:{address}/oai"


# Faults of one request.


def reset(handler: OaiHandler) -> bool:
    handler.close_connection = True
    handler.connection.shutdown(2)
    return True


def truncated(handler: OaiHandler) -> bool:
    """Announce the whole answer, and send the first half."""
    content = handler.own_answer()
    handler.close_connection = True
    return handler.send(content[: len(content) // 2], Content_Length=str(len(content)))


def cut_xml(handler: OaiHandler) -> bool:
    content = handler.own_answer()
    return handler.send(content[: len(content) // 2])


def unavailable(wait: str = "0", status: int = 503) -> Callable[[OaiHandler], bool]:
    return lambda handler: handler.send("busy", status, Retry_After=wait)


def server_error(handler: OaiHandler) -> bool:
    return handler.send("<html>error</html>", 500)


def bad_token(handler: OaiHandler) -> bool:
    """Refuse the token of the request, if it has one."""
    if "resumptionToken" not in handler.served.asked[-1]:
        return False
    return handler.send(handler.served.error("badResumptionToken", "expired"))


def web_page(handler: OaiHandler) -> bool:
    return handler.send("<!DOCTYPE html><html><body>Maintenance</body></html>")


NAME = "repository"


@dataclass(slots=True)
class Pauses:
    """Lets pauses pass at once, and counts them by their seconds."""

    seconds: Counter[float] = field(default_factory=Counter)

    def __call__(self, seconds):
        self.seconds[seconds] += 1


def settings_of(home, **harvest_settings):
    given = {"delay_s": 0, "retries": 3} | harvest_settings
    return IndexerSettings(home=home, workers=1, harvest=HarvestSettings(**given))


def first_harvest(home, path, *, set_="", prefix="oai_dc", settings=None, progress=no_progress, **options):
    """Do what `shrag index oai:…` does."""
    repository = Repository.of(path, set_=set_, metadata_prefix=prefix)
    request = IngestRequest(NAME, (path,), **options)
    return harvest(
        repository, request, settings or settings_of(home), HarvestOptions(pause=Pauses()), progress
    )


def next_harvest(home, path, *, set_="", settings=None, **options):
    """Do what `shrag harvest` does."""
    options_ = HarvestOptions(pause=Pauses(), **options)
    return update(Repository.of(path, set_=set_), NAME, settings or settings_of(home), options_)


def published(home, name=NAME):
    """Return title and text of each paper of the current version by its id."""
    store = FolderStore(home, name)
    passages = store.stored_passages(store.manifest())
    return {each.passage_id: dublin_core(title=each.title, description=each.text) for each in passages}


def version(home):
    return FolderStore(home, NAME).current()


def filled(number, **habits):
    """Return a repository with records oai:t:0, oai:t:1 …, each a minute after the previous one."""
    served = Served(**habits)
    for each in range(number):
        put(served, each)
        served.pass_(minutes=1)
    return served


def put(served, number, text="measured", sets=()):
    fields = {"title": f"Paper {number}", "description": f"Methane {number} {text}"}
    served.put(f"oai:t:{number}", dublin_core(**fields), sets)


def expected(served):
    return {identifier: kept.metadata for identifier, kept in served.records.items() if kept.metadata}
