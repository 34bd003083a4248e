"""Settings of the server's address and limits: `SHRAG_SERVER__…` or [server]."""

from ipaddress import ip_network
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic_settings import SettingsConfigDict

from base.net.networks import is_loopback
from base.settings.sources import NAMED_FILE_ONLY, LayeredSettings
from indexer.settings import CommaList, OptionalPath, plain_address

PerMinute = Annotated[float, Field(ge=0, le=1_000_000)]
Burst = Annotated[int, Field(ge=1, le=100_000)]


def listed(value: str) -> list[str]:
    """Split a comma-separated setting."""
    return [part for each in value.split(",") if (part := each.strip())]


def _address_or_none(value: str) -> str:
    return plain_address(value) if value else ""


def _networks(value: str) -> str:
    for each in listed(value):
        try:
            ip_network(each, strict=False)
        except ValueError:
            raise ValueError("must be addresses or networks, like 10.0.0.0/8, separated by commas") from None
    return value


def _origins(value: str) -> str:
    for each in listed(value):
        parts = urlsplit(each)
        if each != f"{parts.scheme}://{parts.netloc}" or parts.scheme not in {"http", "https"} or "*" in each:
            raise ValueError("must be origins, like https://portal.example.org, separated by commas")
    return value


def _host_names(value: str) -> str:
    if any(set(each) & set("/*: ") for each in listed(value)):
        raise ValueError("must be host names, without port, separated by commas")
    return value


def _folders(value: str) -> str:
    if not all(each.startswith("/") and each.strip("/") for each in listed(value)):
        raise ValueError("must be absolute paths of folders, separated by commas, and not /")
    return value


class ServerSettings(LayeredSettings):
    """Settings of the server; created once by `shrag serve`."""

    model_config = SettingsConfigDict(env_prefix="SHRAG_SERVER__", frozen=True, hide_input_in_errors=True)

    host: str = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(default=8080, ge=0, le=65_535, description="port; 0 = a free one")
    workers: int = Field(
        default=0,
        ge=0,
        le=64,
        description="processes; 0 = one per core, a single one with local models or services on the network",
    )
    open: Annotated[bool, NAMED_FILE_ONLY] = Field(
        default=False, description="answer everybody at any address, without keys"
    )
    public_url: Annotated[str, AfterValidator(_address_or_none)] = Field(
        default="",
        description="address at which readers reach the server, like https://search.example.org; "
        "default is the address of the request",
    )
    sources: Annotated[CommaList, NAMED_FILE_ONLY] = Field(
        default="", description="sources that callers may search, like library,openalex"
    )
    corpora: Annotated[CommaList, AfterValidator(_folders), NAMED_FILE_ONLY] = Field(
        default="",
        description="folders whose files may be indexed on /operator, like /srv/papers; none = no builds",
    )
    sources_at_once: int = Field(
        default=0, ge=0, le=1_000, description="concurrent questions to sources per process; 0 = 4 per core"
    )
    open_indexes: int = Field(default=8, ge=1, le=1_000, description="open indexes per process")
    stop_s: float = Field(
        default=4.0, gt=0, le=600, description="seconds that open calls get when the server stops"
    )
    allowed_hosts: Annotated[CommaList, AfterValidator(_host_names)] = Field(
        default="",
        description="further host names of the server, besides localhost and the host of public_url",
    )
    proxies: Annotated[CommaList, AfterValidator(_networks)] = Field(
        default="", description="addresses or networks of trusted proxies (X-Forwarded-…)"
    )
    origins: Annotated[CommaList, AfterValidator(_origins)] = Field(
        default="", description="origins whose pages may call the API (CORS); default is the server's own"
    )
    searches_per_minute: PerMinute = Field(
        default=300, description="searches, facets and exports of a key, else of an address; 0 = no limit"
    )
    search_burst: Burst = Field(default=100, description="searches in a burst")
    asks_per_minute: PerMinute = Field(
        default=60, description="questions of a key, else of an address; 0 = no limit"
    )
    ask_burst: Burst = Field(default=20, description="questions in a burst")
    reads_per_minute: PerMinute = Field(
        default=1_200,
        description="papers, passages, lists and messages to /mcp of a key, else of an address; 0 = no limit",
    )
    read_burst: Burst = Field(default=300, description="such calls in a burst")
    connections_of_caller: int = Field(
        default=64,
        ge=0,
        le=1_000,
        description="open calls of a key, else of an address; 0 = no limit",
    )
    report_only: bool = Field(
        default=False, description="report calls beyond their caller's limits instead of refusing them"
    )
    searches_at_once: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="concurrent searches per process; 0 = 2 with the embedded engine, else 4 per "
        "core of its share",
    )
    asks_at_once: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="concurrent answers per process; 0 = 8 divided among the processes, at least 2 "
        "each; without a language model as many as searches",
    )
    waiting: int = Field(
        default=2,
        ge=0,
        le=100,
        description="waiting calls per running call under sustained load",
    )
    search_s: float = Field(default=60, gt=0, le=3_600, description="seconds for a search")
    ask_s: float = Field(default=600, gt=0, le=86_400, description="seconds for an answer")
    kept_searches: int = Field(
        default=50,
        ge=0,
        le=10_000,
        description="kept searches for papers per key, else per address; 0 = none",
    )
    kept_searches_mb: int = Field(
        default=200, ge=1, le=1_000_000, description="megabytes of a caller's kept searches"
    )
    all_kept_searches: int = Field(
        default=1_000, ge=0, le=100_000, description="kept searches for papers of all callers"
    )
    all_kept_searches_mb: int = Field(
        default=2_000, ge=1, le=1_000_000, description="megabytes of the kept searches of all callers"
    )
    kept_searches_days: float = Field(
        default=30, gt=0, le=36_500, description="days for which an unused search is kept"
    )
    judgements: bool = Field(
        default=False,
        description="keep readers' judgements of papers, sentences and answers, with question and day",
    )
    judgements_mb: int = Field(
        default=100, ge=1, le=100_000, description="megabytes at which no further judgement is kept"
    )
    body_bytes: int = Field(
        default=1_000_000, ge=1_000, le=100_000_000, description="maximum bytes of a call"
    )
    body_s: float = Field(default=10, gt=0, le=3_600, description="seconds in which a call must arrive")
    connections: int = Field(default=2_000, ge=10, le=100_000, description="open connections per process")
    audit_file: OptionalPath = Field(
        default=None, description="audit log: caller, route, status and time of each call, one JSON line each"
    )
    audit_questions: bool = Field(default=False, description="include the questions in the audit log")

    @property
    def processes(self) -> int:
        """Number of processes: chosen by `serve`; an application that runs without it is a single one."""
        return max(1, self.workers)

    @property
    def only_local(self) -> bool:
        """Whether the server is reachable only from this machine, directly and not through a proxy."""
        named = urlsplit(self.public_url).hostname if self.public_url else "localhost"
        is_loopback_only = all(name == "localhost" or is_loopback(name or "") for name in (self.host, named))
        return is_loopback_only and not self.allowed_hosts and not self.proxies

    @property
    def behind_https(self) -> bool:
        """Whether readers reach the server by https, which a proxy terminates."""
        return self.public_url.startswith("https://")
