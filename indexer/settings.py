"""Settings of indexes and their builds: variables `SHRAG_…` and `shrag.toml`, read by the front ends."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)
from pydantic_settings import SettingsConfigDict

from base.cores import usable_cores
from base.files.base_directories import base_directory, in_home
from base.files.regular_files import read_regular
from base.net.addresses import refuse_plain_http
from base.net.user_agent import valid_contact
from base.settings.fields import CommaList
from base.settings.sources import MODEL_OR_FOLDER, NAMED_FILE_ONLY, LayeredSettings

MOST_CERTIFICATES = 10_000_000  # bytes of a file; all public authorities take 300,000

EngineName = Literal["tantivy", "elasticsearch"]
StorageType = Literal["float32", "int8"]
VectorIndex = Literal["flat", "hnsw"]
ReadableBy = Literal["owner", "group", "all"]
Precision = Literal["auto", "float32", "float16", "bfloat16"]


def default_home() -> Path:
    """Return the default folder of indexes."""
    return base_directory("XDG_DATA_HOME", "~/.local/share") / "shrag"


def unset_if_empty(value: object) -> object:
    """Return None for an empty value, as an empty variable counts as unset."""
    return None if value == "" else value


def folder_for_indexes(value: object) -> object:
    """Return the default folder for an empty value; ValueError for a path that is a file or inside one."""
    if not isinstance(value, str | Path):
        return value
    path = in_home(Path(value)) if value != "" else default_home()
    # Unlike Path's methods, these do not raise for folders without permission.
    there = next(place for place in (path, *path.parents) if os.path.exists(place))  # noqa: PTH110
    if not os.path.isdir(there):  # noqa: PTH112
        raise ValueError(f"{there} is not a folder")
    return path


Home = Annotated[Path, BeforeValidator(folder_for_indexes)]
NamedOrFolder = Annotated[str, MODEL_OR_FOLDER]
GivenPath = Annotated[Path, AfterValidator(in_home)]
OptionalPath = Annotated[GivenPath | None, BeforeValidator(unset_if_empty)]


def plain_address(address: str) -> str:
    """Normalise an address: scheme in lower case, no trailing slash.

    Raises:
        ValueError: the address is invalid; the message does not quote it.
    """
    try:
        parts = urlsplit(address.strip())
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        whole = whole and address.strip().isprintable()
    except ValueError:
        whole = False
    if not whole or len(address.split()) != 1:
        raise ValueError("must begin with http:// or https://, like http://HOST:PORT/v1")
    if "@" in parts.netloc:
        raise ValueError("must not contain a name or password; use the settings for these")
    if parts.query or parts.fragment:
        raise ValueError("must not contain '?' or '#'")
    return parts.geturl().rstrip("/")


def key_for_a_header(value: SecretStr) -> SecretStr:
    """Return a key as a valid header value; keys read from files end with a line feed."""
    key = value.get_secret_value().strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("must be ASCII without white space")
    return SecretStr(key)


def file_of_certificates(path: Path | None) -> Path | None:
    """Return the path; ValueError if it contains no readable certificates."""
    if path is not None:
        import ssl

        try:
            read_regular(path, MOST_CERTIFICATES)
            ssl.create_default_context(cafile=path)
        except OSError as error:
            why = error.strerror or "none found"
            raise ValueError(f"{path} cannot be read as certificates ({why})") from None
    return path


def refuse_unused_certificates(addresses: str | None, ca_certs: Path | None) -> None:
    """Raise ValueError for certificates with a comma-separated address that is not https."""
    if (
        ca_certs
        and addresses
        and any(urlsplit(address).scheme != "https" for address in addresses.split(","))
    ):
        raise ValueError("ca_certs requires addresses that begin with https://")


BaseUrl = Annotated[str, AfterValidator(plain_address)]
HeaderKey = Annotated[SecretStr, AfterValidator(key_for_a_header)]
CaCerts = Annotated[
    OptionalPath,
    AfterValidator(file_of_certificates),
    Field(description="file with certificates of the server's authority; default is public authorities"),
]
AllowPlainHttp = Annotated[
    bool, Field(description="allow sending the key or password over http:// to another machine")
]


class ElasticsearchServer(BaseModel):
    """Address and credentials of an Elasticsearch server."""

    # A complaint never shows the value: it may be a key.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str
    user: str = Field(default="", description="user name; default is elastic if a password is set")
    password: SecretStr = Field(default=SecretStr(""), description="password of that user")
    api_key: HeaderKey = Field(default=SecretStr(""), description="API key (encoded), instead of a user")
    allow_plain_http: AllowPlainHttp = False
    ca_certs: CaCerts = None

    @field_validator("user")
    @classmethod
    def _check_user(cls, user: str) -> str:
        if ":" in user:
            raise ValueError("a user name cannot contain ':'")
        return user

    @property
    def sends_secret(self) -> bool:
        """Whether a key or a password is sent with each request."""
        return bool(self.api_key or self.password)

    @model_validator(mode="after")
    def _check_security(self) -> Self:
        refuse_plain_http(self.url, secret=self.sends_secret, allowed=self.allow_plain_http)
        refuse_unused_certificates(self.url, self.ca_certs)
        return self


class ElasticsearchSettings(ElasticsearchServer):
    """Access to a cluster, and the layout of indexes in it."""

    url: CommaList = Field(
        default="http://127.0.0.1:9200", description="address; several nodes are separated by commas"
    )
    prefix: str = Field(
        default="shrag",
        pattern=r"^[a-z0-9][a-z0-9_]{0,31}$",
        description="prefix of all names in the cluster: lowercase letters, digits, _",
    )
    timeout_s: float = Field(default=30, gt=0, le=3600, description="seconds for one request")
    patience_s: float = Field(
        default=60,
        ge=0,
        le=86_400,
        description="seconds that indexing waits for a cluster that is unreachable, overloaded or full",
    )
    settle_s: float = Field(
        default=45,
        ge=0,
        le=3600,
        description="seconds that an update waits until deleted passages no longer count in the "
        "scores; the cluster drops them every 30 seconds",
    )
    shards: int = Field(default=1, ge=1, le=64, description="shards of a new version")
    replicas: str = Field(
        default="0-1",
        pattern=r"^(\d+|\d+-(\d+|all))$",
        description="copies of each shard; a range expands with the number of nodes",
    )
    vector_index: VectorIndex = Field(
        default="flat",
        description="nearest passages of a new version: flat compares with all, exactly; hnsw uses "
        "a graph, for many millions of passages",
    )
    request_bytes: int = Field(
        default=5_000_000,
        ge=1_000,
        le=90_000_000,
        description="maximum bytes of one bulk request",
    )

    @field_validator("url")
    @classmethod
    def _check_addresses(cls, url: str) -> str:
        addresses = [plain_address(address) for address in url.split(",")]
        if not all(urlsplit(address).port for address in addresses):
            raise ValueError("must name the port, like http://HOST:9200 or https://HOST:9200")
        return ",".join(addresses)

    @field_validator("replicas")
    @classmethod
    def _check_range(cls, replicas: str) -> str:
        low, _, high = replicas.partition("-")
        if high.isdecimal() and int(low) > int(high):
            raise ValueError("a range starts with the lower number, such as 0-1")
        return replicas


class LocalModelSettings(BaseModel):
    """A model in this process; one that reads two texts together, unless a subclass says otherwise."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    revision: str = Field(default="", description="commit of the model on the hub")
    cache: OptionalPath = Field(
        default=None, description="folder of downloaded models; default is the folder of the hub's client"
    )
    download: bool = Field(default=False, description="download a model that is missing on this machine")
    device: str = Field(
        default="auto", description="auto (the first GPU, else the CPU), cpu, cuda, cuda:1, …"
    )
    precision: Precision = Field(
        default="auto", description="auto is bfloat16 or float16 on a GPU and float32 elsewhere"
    )
    max_tokens: int | None = Field(
        default=None,
        ge=8,
        le=131_072,
        description="tokens of question and text together; default is the model's limit",
    )
    batch_tokens: int = Field(
        default=16_384,
        ge=128,
        description="tokens of a batch, padding included; a batch that exceeds the memory of the "
        "GPU is halved",
    )


class EncoderSettings(LocalModelSettings):
    """The encoder of texts, and the storage of vectors."""

    # A complaint never shows the value: it may be a key.
    model_config = ConfigDict(hide_input_in_errors=True)

    provider: Literal["none", "local", "endpoint"] = Field(
        default="none",
        description="none: no vectors; local: a model in this process; endpoint: a server's /v1/embeddings",
    )
    model: NamedOrFolder = Field(
        default="alibaba-nlp-community/gte-multilingual-base",
        min_length=1,
        description="name on the model hub, or folder; for an endpoint, the model's name there",
    )
    revision: str = Field(
        default="",
        description="commit of the model on the hub; for an endpoint, a name that you choose for its weights",
    )
    base_url: BaseUrl | None = Field(
        default=None, description="base URL of the endpoint, like http://localhost:8001/v1"
    )
    api_key: HeaderKey = Field(default=SecretStr(""), description="key of the endpoint, if it needs one")
    allow_plain_http: AllowPlainHttp = False
    ca_certs: CaCerts = None
    query_prefix: str | None = Field(
        default=None,
        description="text before a question, may be empty; default is the model's, for endpoints none",
    )
    passage_prefix: str | None = Field(
        default=None,
        description="text before a passage, may be empty; default is the model's, for endpoints none",
    )
    dimensions: int | None = Field(
        default=None, ge=8, le=8192, description="number of leading dimensions kept; default is all"
    )
    max_tokens: int | None = Field(
        default=None,
        ge=8,
        le=131_072,
        description="tokens of a text that are read; the rest is cut; default is the model's limit",
    )
    storage: StorageType = Field(
        default="float32", description="number type of stored vectors; int8 takes a quarter of the space"
    )
    timeout_s: float = Field(
        default=60,
        gt=0,
        le=3600,
        description="seconds for one request to an endpoint; a question waits 30 at most",
    )
    requests_at_once: int = Field(default=4, ge=1, le=64, description="concurrent requests to an endpoint")
    encoding_format: Literal["base64", "float"] = Field(
        default="base64", description="number format requested from an endpoint; both are read"
    )
    truncate: bool = Field(
        default=True,
        description="ask an endpoint to cut texts that are too long for its model (vLLM); false for "
        "servers that refuse unknown fields",
    )

    @model_validator(mode="after")
    def _check_endpoint(self) -> Self:
        if self.provider == "endpoint" and not self.base_url:
            raise ValueError("provider is endpoint and base_url is not set: set SHRAG_ENCODER__BASE_URL")
        if self.provider == "endpoint":
            refuse_plain_http(self.base_url, secret=bool(self.api_key), allowed=self.allow_plain_http)
            refuse_unused_certificates(self.base_url, self.ca_certs)
        return self


class RerankerSettings(LocalModelSettings):
    """The re-ranker, which scores question and text together."""

    provider: Literal["none", "local"] = Field(
        default="none", description="none, or local: a cross-encoder in this process"
    )
    model: NamedOrFolder = Field(
        default="BAAI/bge-reranker-v2-m3", min_length=1, description="name on the model hub, or folder"
    )
    scores: Literal["sigmoid", "raw"] = Field(
        default="sigmoid", description="sigmoid: between 0 and 1; raw: as the model returns them"
    )


class CheckSettings(LocalModelSettings):
    """The judge of whether the cited passages say what a sentence of a written answer says."""

    judge: Literal["none", "local", "model"] = Field(
        default="model",
        description="judge of the sentences of a written answer: model, the language model; local, an "
        "entailment model in this process; none. local if a model is set",
    )
    model: NamedOrFolder = Field(default="", description="entailment model: name on the model hub, or folder")

    @model_validator(mode="before")
    @classmethod
    def _default_judge(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("model") and not values.get("judge"):
            return values | {"judge": "local"}
        return values

    @model_validator(mode="after")
    def _check_judge_model(self) -> Self:
        if self.judge == "local" and not self.model:
            raise ValueError(
                "judge is local and model is not set: set SHRAG_CHECK__MODEL to an entailment model"
            )
        return self


class HarvestSettings(BaseModel):
    """Harvesting of OAI-PMH repositories."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contact: Annotated[str, AfterValidator(lambda value: value and valid_contact(value))] = Field(
        default="", description="e-mail or web address of the operator; sent with every request"
    )
    delay_s: float = Field(default=1, ge=0, le=3600, description="seconds between two requests")
    timeout_s: float = Field(default=120, gt=0, le=3600, description="seconds for one answer")
    retries: int = Field(default=8, ge=0, le=100, description="further requests after one that failed")
    longest_pause_s: float = Field(
        default=900,
        ge=0,
        le=86_400,
        description="longest pause that a repository may request; a longer one ends the call, and the next "
        "call continues",
    )
    answer_bytes: int = Field(
        default=64_000_000, ge=10_000, le=1_000_000_000, description="maximum bytes of one answer"
    )
    record_bytes: int = Field(
        default=2_000_000,
        ge=1_000,
        le=64_000_000,
        description="maximum bytes of one record; a longer one becomes a dead letter",
    )
    most_records: int = Field(
        default=20_000_000, ge=1, description="records of a repository; a longer list is an error"
    )
    overlap_hours: float = Field(
        default=48,
        ge=0,
        le=8_760,
        description="hours before the previous harvest from which changes are listed again, as repositories "
        "publish some records later than their datestamp",
    )
    full_every_days: float = Field(
        default=30,
        ge=0,
        le=3_650,
        description="days between complete lists of a repository that does not keep records of its "
        "deletions; 0 = never",
    )
    most_missing: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="share of the known records that a complete list may lack; if it lacks more, none is "
        "removed",
    )


def named_paths(*settings: BaseModel) -> Iterator[Path]:
    """Yield the files and folders that settings name for reading, except the home of all indexes."""
    for each in settings:
        for name, value in each:
            if isinstance(value, BaseModel):
                yield from named_paths(value)
            elif isinstance(value, Path) and name not in {"home", "backups"}:
                yield value


class IndexerSettings(LayeredSettings):
    """Settings of the indexer; created once by a front end and passed down."""

    model_config = SettingsConfigDict(
        env_prefix="SHRAG_", env_nested_delimiter="__", frozen=True, hide_input_in_errors=True
    )

    name: str = Field(
        default="", description="index of commands and calls that name none; default is the only index"
    )
    home: Home = Field(
        default="",
        validate_default=True,
        description="folder of the indexes; default is $XDG_DATA_HOME/shrag, else ~/.local/share/shrag",
    )
    readable_by: ReadableBy = Field(
        default="group",
        description="readers of new indexes; the umask may allow fewer, existing indexes keep their "
        "permissions",
    )
    engine: EngineName = Field(
        default="tantivy", description="tantivy is embedded, elasticsearch is a cluster of servers"
    )
    elasticsearch: ElasticsearchSettings = Field(default_factory=ElasticsearchSettings)
    encoder: EncoderSettings = Field(default_factory=EncoderSettings)
    reranker: RerankerSettings = Field(default_factory=RerankerSettings)
    check: CheckSettings = Field(default_factory=CheckSettings)
    harvest: HarvestSettings = Field(default_factory=HarvestSettings)
    workers: int = Field(default=0, ge=0, le=64, description="analysis processes; 0 = one per core")
    general_glossary: bool = Field(
        default=True,
        description="add the general Korean-English glossary to the mined pairs of an index",
    )
    grobid_url: Annotated[BaseUrl | None, BeforeValidator(unset_if_empty), NAMED_FILE_ONLY] = Field(
        default=None, description="GROBID server that also reads PDFs; without it only the built-in reader"
    )
    grobid_timeout_s: float = Field(
        default=60, gt=0, le=3600, description="seconds for one PDF that GROBID reads"
    )
    keep_versions: int = Field(default=3, ge=1, le=100, description="published versions kept for rollback")
    backups: OptionalPath = Field(
        default=None, description="file or folder of backups; `shrag doctor` reports the age of the newest"
    )

    @model_validator(mode="after")
    def _set_default_workers(self) -> Self:
        if self.workers == 0:
            object.__setattr__(self, "workers", usable_cores())
        return self
