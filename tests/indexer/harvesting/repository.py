"""An OAI-PMH repository on this machine, with the faults of real repositories."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from tests.http_server import Handler, serving

OAI = "http://www.openarchives.org/OAI/2.0/"
DC = "http://purl.org/dc/elements/1.1/"
OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"
START = datetime(2024, 5, 1, 9, 0, 0, tzinfo=UTC)


@dataclass(slots=True)
class Kept:
    """A record of the repository; without fields it is deleted."""

    identifier: str
    at: datetime
    fields: list[tuple[str, str]] | None
    sets: tuple[str, ...] = ()
    metadata: str = ""  # instead of the fields


@dataclass(slots=True)
class Served:
    """A repository: its records, its habits, and a fault for the number of a request, counted from 1."""

    page_size: int = 10
    granularity: str = "YYYY-MM-DDThh:mm:ssZ"
    deletions: str = "persistent"
    now: datetime = START
    records: dict[str, Kept] = field(default_factory=dict)
    faults: dict[int, Callable[["OaiHandler"], bool]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    expired: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def verbs(self) -> Counter[str]:
        return Counter(request.get("verb", "") for request in self.asked)

    def pass_(self, **time: float) -> None:
        """Let time pass."""
        self.now += timedelta(**time)

    def put(
        self, identifier: str, *fields: tuple[str, str], sets: tuple[str, ...] = (), metadata: str = ""
    ) -> None:
        """Add or change a record now."""
        self.records[identifier] = Kept(identifier, self.now, list(fields), sets, metadata)

    def delete(self, identifier: str) -> None:
        """Delete a record; a repository without persistent deletions forgets it."""
        if self.deletions == "no":
            del self.records[identifier]
        else:
            self.records[identifier] = Kept(identifier, self.now, None, self.records[identifier].sets)

    def alive(self) -> dict[str, list[tuple[str, str]]]:
        return {each.identifier: each.fields for each in self.records.values() if each.fields is not None}

    def stamp(self, date: datetime) -> str:
        return date.strftime("%Y-%m-%d" if len(self.granularity) == 10 else "%Y-%m-%dT%H:%M:%SZ")

    def listing(self, from_: str, set_: str) -> list[Kept]:
        """Return the records in the order of their datestamps, as repositories with a database do."""
        chosen = [
            each
            for each in self.records.values()
            if self.stamp(each.at) >= from_ and (not set_ or set_ in each.sets)
        ]
        return sorted(chosen, key=lambda each: (each.at, each.identifier))

    def answer(self, arguments: dict[str, str]) -> str:
        """Return the answer to a request as XML."""
        verb = arguments.get("verb")
        if verb == "Identify":
            return self.document(
                f"<Identify><repositoryName>Test</repositoryName><baseURL>http://x</baseURL>"
                f"<protocolVersion>2.0</protocolVersion><adminEmail>a@example.org</adminEmail>"
                f"<earliestDatestamp>{self.stamp(datetime(2000, 1, 1))}</earliestDatestamp>"  # noqa: DTZ001
                f"<deletedRecord>{self.deletions}</deletedRecord>"
                f"<granularity>{self.granularity}</granularity></Identify>"
            )
        if verb == "ListMetadataFormats":
            return self.document(
                "<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix></metadataFormat>"
                "</ListMetadataFormats>"
            )
        if verb != "ListRecords":
            return self.error("badVerb", "unknown verb")
        token = arguments.get("resumptionToken", "")
        if token in self.expired or (token and token.count("|") != 3):
            return self.error("badResumptionToken", "expired")
        if token:
            place, from_, set_, prefix = token.split("|")
        else:
            place, from_, set_ = "0", arguments.get("from", ""), arguments.get("set", "")
            prefix = arguments["metadataPrefix"]
        if prefix not in {"oai_dc", "other"}:
            return self.error("cannotDisseminateFormat", "unknown")
        return self.page(int(place), from_, set_, prefix)

    def page(self, place: int, from_: str, set_: str, prefix: str) -> str:
        listing = self.listing(from_, set_)
        if not listing:
            return self.error("noRecordsMatch", "none")
        records = "".join(map(self.record, listing[place : place + self.page_size]))
        after = place + self.page_size
        token = f"{after}|{from_}|{set_}|{prefix}" if after < len(listing) else ""
        return self.document(
            f'<ListRecords>{records}<resumptionToken completeListSize="{len(listing)}" cursor="{place}">'
            f"{escape(token)}</resumptionToken></ListRecords>"
        )

    def record(self, kept: Kept) -> str:
        sets = "".join(f"<setSpec>{escape(each)}</setSpec>" for each in kept.sets)
        status = ' status="deleted"' if kept.fields is None else ""
        header = (
            f"<header{status}><identifier>{escape(kept.identifier)}</identifier>"
            f"<datestamp>{self.stamp(kept.at)}</datestamp>{sets}</header>"
        )
        if kept.fields is None:
            return f"<record>{header}</record>"
        return f"<record>{header}<metadata>{kept.metadata or dublin_core(kept.fields)}</metadata></record>"

    def document(self, content: str) -> str:
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="{OAI}"><responseDate>'
            f"{self.now.strftime('%Y-%m-%dT%H:%M:%SZ')}</responseDate><request>http://x</request>{content}</OAI-PMH>"
        )

    def error(self, code: str, message: str) -> str:
        return self.document(f'<error code="{code}">{message}</error>')


def dublin_core(fields: list[tuple[str, str]]) -> str:
    """Write fields as oai_dc; `title@en` has a language."""
    elements = []
    for field_, value in fields:
        name, _, lang = field_.partition("@")
        attribute = f' xml:lang="{lang}"' if lang else ""
        elements.append(f"<dc:{name}{attribute}>{escape(value)}</dc:{name}>")
    return f'<oai_dc:dc xmlns:oai_dc="{OAI_DC}" xmlns:dc="{DC}">{"".join(elements)}</oai_dc:dc>'


class OaiHandler(Handler):
    """Answers by the repository of the server; a fault answers instead, and returns whether it did."""

    served: Served
    number: int

    def get(self) -> None:
        served = self.served
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        arguments = {name: values[0] for name, values in query.items()}
        with served.lock:
            served.asked.append(arguments)
            served.headers.append(dict(self.headers))
            self.number = len(served.asked)
            fault = served.faults.get(self.number)
            if fault and fault(self):
                return
            self.send(served.answer(arguments))

    def send(self, text: str | bytes, status: int = 200, **headers: str) -> None:
        content = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/xml; charset=UTF-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def repository(served: Served) -> Iterator[str]:
    """Serve a repository until the end of the block; yield its path `oai:…`."""
    handler = type("OneRepository", (OaiHandler,), {"served": served})
    with serving(handler) as address:
        yield f"oai:{address}/oai"


# Faults of one request.


def reset(handler: OaiHandler) -> bool:
    """Close the connection without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(2)
    return True


def truncated(handler: OaiHandler) -> bool:
    """Announce the whole answer, and send the first half."""
    content = handler.served.answer(handler.served.asked[-1]).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])
    handler.close_connection = True
    return True


def cut_xml(handler: OaiHandler) -> bool:
    """Send the first half as a whole answer."""
    content = handler.served.answer(handler.served.asked[-1])
    handler.send(content[: len(content) // 2])
    return True


def unavailable(wait: str = "0", status: int = 503) -> Callable[[OaiHandler], bool]:
    """Answer with a status and Retry-After."""

    def answer(handler: OaiHandler) -> bool:
        handler.send("busy", status, Retry_After=wait)
        return True

    return answer


def server_error(handler: OaiHandler) -> bool:
    handler.send("<html>error</html>", 500)
    return True


def bad_token(handler: OaiHandler) -> bool:
    """Refuse the token of the request, if it has one."""
    if "resumptionToken" not in handler.served.asked[-1]:
        return False
    handler.send(handler.served.error("badResumptionToken", "expired"))
    return True


def web_page(handler: OaiHandler) -> bool:
    handler.send("<!DOCTYPE html><html><body>Maintenance</body></html>")
    return True
