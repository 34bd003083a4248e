"""Settings of the server's address and limits: `SHRAG_SERVER__…` or [server]."""

import re
from collections.abc import Callable
from ipaddress import ip_network
from typing import Annotated, Literal, Self, TypeAlias, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_settings import SettingsConfigDict

from base.net.addresses import is_loopback
from base.settings.fields import CommaList, listed
from base.settings.sources import NAMED_FILE_ONLY, LayeredSettings
from indexer.settings import OptionalPath, plain_address

# A reader searches, asks, finds papers and exports, on the allowed indexes and sources. A librarian also
# exports without a rate limit, and sees statistics and, with all indexes, judgements. An operator may do
# everything.
Role: TypeAlias = Literal["reader", "librarian", "operator"]
ROLES: tuple[Role, ...] = get_args(Role)  # each role includes the rights of the earlier ones
PerMinute = Annotated[float, Field(ge=0, le=1_000_000)]
Burst = Annotated[int, Field(ge=1, le=100_000)]
HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,100}")


def _address_or_none(value: str) -> str:
    return plain_address(value) if value else ""


def _host_or_none(value: str) -> str:
    """Refuse a path: the page's files and links start at the root of the host."""
    address = _address_or_none(value)
    if urlsplit(address).path:
        raise ValueError("must have no path: the page needs a host name of its own, like search.example.org")
    return address


def _each(is_right: Callable[[str], bool], what: str) -> AfterValidator:
    """Check each item of a list separated by commas."""

    def checked(value: str) -> str:
        if not all(map(is_right, listed(value))):
            raise ValueError(f"must be {what}, separated by commas")
        return value

    return AfterValidator(checked)


def _is_network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_origin(text: str) -> bool:
    parts = urlsplit(text)
    return (
        text == f"{parts.scheme}://{parts.netloc}" and parts.scheme in {"http", "https"} and "*" not in text
    )


NETWORKS = _each(_is_network, "addresses or networks, like 10.0.0.0/8")
ORIGINS = _each(_is_origin, "origins, like https://portal.example.org")
HOST_NAMES = _each(lambda each: not set(each) & set("/*: "), "host names, without port")


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
    local_operator: Annotated[bool, NAMED_FILE_ONLY] = Field(
        default=False,
        description="callers from this machine are the operator until a key is made; not behind a proxy",
    )
    public_url: Annotated[str, AfterValidator(_host_or_none)] = Field(
        default="",
        description="address at which readers reach the server, without a path, like "
        "https://search.example.org; default is the address of the request",
    )
    sources: Annotated[CommaList, NAMED_FILE_ONLY] = Field(
        default="", description="sources that callers may search, like library,openalex"
    )
    files: Annotated[CommaList, NAMED_FILE_ONLY] = Field(
        default="", description="folders whose PDFs and texts readers may open, if an index was made of them"
    )
    sources_at_once: int = Field(
        default=0, ge=0, le=1_000, description="concurrent questions to sources per process; 0 = 4 per core"
    )
    open_indexes: int = Field(default=8, ge=1, le=1_000, description="open indexes per process")
    stop_s: float = Field(
        default=4.0, gt=0, le=600, description="seconds that open calls get when the server stops"
    )
    allowed_hosts: Annotated[CommaList, HOST_NAMES] = Field(
        default="",
        description="further host names of the server, besides localhost and the host of public_url",
    )
    proxies: Annotated[CommaList, NETWORKS] = Field(
        default="", description="addresses or networks of trusted proxies (X-Forwarded-…)"
    )
    origins: Annotated[CommaList, ORIGINS] = Field(
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
    report_only: bool = Field(
        default=False, description="report calls beyond their caller's limits instead of refusing them"
    )
    searches_at_once: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="concurrent searches per process; 0 = 4 with the embedded engine, else 4 per "
        "core of its share; a caller has at most half of them",
    )
    asks_at_once: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="concurrent answers per process; 0 = 8 divided among the processes, at least 4 "
        "each; without a language model as many as searches",
    )
    waiting: int = Field(
        default=8,
        ge=0,
        le=100,
        description="waiting calls per running call",
    )
    search_s: float = Field(default=60, gt=0, le=3_600, description="seconds for a search")
    ask_s: float = Field(default=600, gt=0, le=86_400, description="seconds for an answer")
    kept_searches: int = Field(
        default=50,
        ge=0,
        le=10_000,
        description="kept searches for papers per key or person, else per address; as many feeds; 0 = none",
    )
    kept_searches_mb: int = Field(
        default=200, ge=1, le=1_000_000, description="megabytes of a caller's kept searches"
    )
    all_kept_searches: int = Field(
        default=1_000, ge=0, le=100_000, description="kept searches for papers of all callers; as many feeds"
    )
    all_kept_searches_mb: int = Field(
        default=2_000, ge=1, le=1_000_000, description="megabytes of the kept searches of all callers"
    )
    kept_searches_days: float = Field(
        default=30,
        gt=0,
        le=36_500,
        description="days for which an unused search, or a person's feed, is kept",
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
    connections: int = Field(
        default=2_000, ge=10, le=100_000, description="open connections per process; further ones get 503"
    )
    audit_file: OptionalPath = Field(
        default=None,
        description="audit log: sign-ins, refusals, changes, calls of keys; one JSON line each",
    )
    audit_file_mb: int = Field(
        default=100, ge=1, le=100_000, description="megabytes above which the audit log is renamed"
    )
    audit_days: float = Field(
        default=90, ge=0, le=36_500, description="days for which renamed audit logs are kept; 0 = no limit"
    )
    statistics: bool = Field(
        default=False, description="count searches by day, index and words, without their callers"
    )
    statistics_days: int = Field(default=730, ge=1, le=36_500, description="days for which counts are kept")
    statistics_callers: int = Field(
        default=3,
        ge=1,
        le=1_000,
        description="callers who must ask a question without results before its words are stored",
    )

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


class GroupRights(BaseModel):
    """The rights of a group: its role, and the indexes and sources; without both all of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role = "reader"
    indexes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _operators_are_not_limited(self) -> Self:
        if self.role == "operator" and (self.indexes or self.sources):
            raise ValueError("the role operator has all indexes and sources; omit both")
        return self


# The name of a role alone is accepted too.
RIGHTS = BeforeValidator(lambda value: {"role": value} if isinstance(value, str) else value)


def _header_name(value: str) -> str:
    if value and not HEADER_NAME.fullmatch(value):
        raise ValueError("must be the name of a header, like X-Remote-User")
    return value


def _secure_address(value: str) -> str:
    """Accept https, and plain http only for this machine."""
    address = _address_or_none(value)
    host = urlsplit(address).hostname or ""
    if address.startswith("http://") and host != "localhost" and not is_loopback(host):
        raise ValueError("must begin with https://")
    return address


class SignInSettings(LayeredSettings):
    """Settings of sign-in: an OpenID Connect provider, or a header of a trusted proxy."""

    model_config = SettingsConfigDict(
        env_prefix="SHRAG_SERVER__SIGN_IN__", frozen=True, hide_input_in_errors=True
    )

    issuer: Annotated[str, NAMED_FILE_ONLY, AfterValidator(_secure_address)] = Field(
        default="", description="address of the OpenID Connect provider, exactly as in its metadata"
    )
    client_id: str = Field(default="", description="name of this server at the provider")
    client_secret_file: OptionalPath = Field(
        default=None, description="file with the secret of the client; none for a public client"
    )
    scopes: str = Field(default="openid profile", description="scopes to request, separated by spaces")
    groups_claim: str = Field(
        default="groups", description="claim with the groups of a person, like realm_access.roles"
    )
    name_claim: str = Field(default="name", description="claim with the name to display")
    user_header: Annotated[str, NAMED_FILE_ONLY, AfterValidator(_header_name)] = Field(
        default="", description="header in which a trusted proxy names the person, like X-Remote-User"
    )
    groups_header: Annotated[str, AfterValidator(_header_name)] = Field(
        default="", description="header with the groups of this person, separated by commas or semicolons"
    )
    header_from: Annotated[CommaList, NAMED_FILE_ONLY, NETWORKS] = Field(
        default="", description="addresses or networks of the proxies that set these headers"
    )
    sign_out_url: str = Field(
        default="", description="address at which a person leaves the session of the proxy"
    )
    groups: Annotated[dict[str, Annotated[GroupRights, RIGHTS]], NAMED_FILE_ONLY] = Field(
        default={},
        description="rights of each group: a role (reader, librarian, operator), or a table with role, "
        "indexes and sources; * = everybody who signs in",
    )
    hours: float = Field(default=12, gt=0, le=720, description="hours after which a session ends")
    idle_minutes: float = Field(
        default=60, gt=0, le=43_200, description="minutes without a call after which a session ends"
    )

    @property
    def is_used(self) -> bool:
        """Whether persons can sign in."""
        return bool(self.issuer or self.user_header)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.issuer and not self.client_id:
            raise ValueError("issuer needs client_id")
        if "openid" not in self.scopes.split():
            raise ValueError("scopes must include openid")
        if self.user_header and not self.header_from:
            raise ValueError("user_header needs header_from, the addresses of the proxy")
        if any(ip_network(each, strict=False).prefixlen == 0 for each in listed(self.header_from)):
            raise ValueError("header_from must not include every address")
        if self.groups_header and not self.user_header:
            raise ValueError("groups_header needs user_header")
        if self.is_used and not self.groups:
            raise ValueError("groups must name at least one group, or *, with its role")
        return self
