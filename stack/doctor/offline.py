"""The checks and a whole question, with all addresses refused except the configured ones.

Python's name look-ups and connections are checked, in any library. Native code that opens sockets itself and
child processes are not; `unshare --net` isolates them too.
"""

import socket
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from generator.pipeline import Settings, answer_question, run
from generator.ways import make_request
from indexer.ingest import IngestRequest, build_index
from retriever.index import open_index
from stack.doctor.checks import engine_answers, examine
from stack.doctor.findings import Examined, Finding, failed
from stack.doctor.serving import server_settings

RECORDS = Path(__file__).with_name("rehearsal.jsonl")
NAME = "rehearsal"
QUESTION = "회복탄력성은 간호사의 이직 의도를 얼마나 낮추는가?"
STACK_LINES = 12  # innermost lines shown per attempt
PORTS = {"http": 80, "https": 443}


class AddressRefused(ConnectionRefusedError):
    """An address that is not in the settings."""


@dataclass(slots=True)
class Watch:
    """Refused addresses with their stacks, and the number of allowed connections."""

    attempts: list[tuple[str, str]] = field(default_factory=list)
    passed: int = 0

    def refuse(self, host: str, port: object) -> None:
        """Record an attempt, and raise AddressRefused."""
        target = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
        self.attempts.append((target, "".join(traceback.format_stack()[-STACK_LINES - 2 : -2])))
        raise AddressRefused(f"{target} is not in the settings; refused by shrag doctor --offline")


@contextmanager
def only(urls: Iterable[str]) -> Iterator[Watch]:
    """Allow connections to these addresses only, and yield a record of other attempts.

    Names are resolved before, as connections have numeric addresses. Local sockets are allowed.
    """
    allowed = {address for url in urls for address in _addresses_of(url)}
    watch, look_up, sock = Watch(), socket.getaddrinfo, socket.socket

    def checked_look_up(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if name not in {"", *(each for each, _ in allowed)}:
            watch.refuse(name, port)
        return look_up(host, port, *arguments, **options)

    def checked(real: Callable[[socket.socket, Any], Any]) -> Callable[[socket.socket, Any], Any]:
        def connect(own: socket.socket, address: Any) -> Any:
            if own.family in {socket.AF_INET, socket.AF_INET6}:
                if address[:2] not in allowed:
                    watch.refuse(*address[:2])
                watch.passed += 1
            return real(own, address)

        return connect

    with (
        patch.object(socket, "getaddrinfo", checked_look_up),
        patch.object(sock, "connect", checked(sock.connect)),
        patch.object(sock, "connect_ex", checked(sock.connect_ex)),
    ):
        yield watch


def _addresses_of(url: str) -> Iterator[tuple[str, int]]:
    """Yield host and port of an address, with its name and each of its numeric addresses."""
    parts = urlsplit(url.strip())
    host, port = parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    yield host, port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:  # a connection to it will raise the error
        return
    yield from ((str(to[0]), int(to[1])) for *_, to in found)


def addresses(settings: Settings) -> list[str]:
    """Return every address in the settings, to which data may be sent."""
    named = [settings.generator.llm.base_url, server_settings()["public_url"]]
    if settings.indexer.engine == "elasticsearch":
        named += map(str.strip, settings.indexer.elasticsearch.url.split(","))
    if settings.indexer.encoder.provider == "endpoint":
        named.append(settings.indexer.encoder.base_url)
    return [address for address in named if address]


def examine_offline(examined: Examined) -> list[Finding]:
    """Run the checks and one question under guard; each other connection attempt is a finding."""
    named = addresses(examined.settings)
    with only(named) as watch:
        findings = examine(examined)
        if not examined.index or engine_answers(findings):
            findings.append(_rehearse(examined))
    shown = ", ".join(named) or "no address"
    for target, stack in watch.attempts:
        found = f"a connection was tried and refused, from:\n{stack}"
        remedy = "the stack shows the caller; SHRAG itself uses only configured addresses"
        findings.append(Finding(target, "wrong", found, shown, remedy, "offline"))
    if not watch.attempts:
        found = f"no other address was tried; {watch.passed} connections to configured addresses"
        findings.append(Finding("addresses", "ok", found, shown, check="offline"))
    return findings


def _rehearse(examined: Examined) -> Finding:
    """Ask one question of the index, or of records in a temporary one; a model that fails is wrong here."""
    settings, name = examined.settings, examined.index or NAME
    try:
        with tempfile.TemporaryDirectory(prefix="shrag-doctor-") as folder:
            if not examined.index:
                embedded = {"home": Path(folder), "engine": "tantivy", "workers": 1}
                settings = replace(settings, indexer=settings.indexer.model_copy(update=embedded))
                build_index(IngestRequest(name=NAME, paths=(str(RECORDS),)), settings.indexer)
            with open_index(settings.indexer, name, settings.retriever.synonyms, follow=True) as index:
                answered = run(answer_question(index, make_request(settings, QUESTION), settings))
    except Exception as error:  # noqa: BLE001 - the attempts are shown after any error
        return replace(failed("a question", error, remedy="fix the findings above first"), check="offline")
    has_failed = any(step.get("fallback") for step in answered.trace.steps())
    remedy = "fix the language model first; the note has the reason" if has_failed else ""
    answer = f"{len(answered.evidence)} passages of evidence, answer {answered.answer.written_by}"
    found, configured = "; ".join((answer, *answered.result.notes)), examined.index or "sample records"
    return Finding("a question", "wrong" if has_failed else "ok", found, configured, remedy, "offline")
