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
from base.net.plain_http import refuse_plain_http
from base.settings.sources import MODEL_OR_FOLDER, NAMED_FILE_ONLY, LayeredSettings

MOST_CERTIFICATES = 10_000_000  # bytes of a file; all public authorities take 300,000

EngineName = Literal["tantivy", "elasticsearch"]
StorageType = Literal["float32", "int8"]
VectorIndex = Literal["flat", "hnsw"]
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


def joined(value: object) -> object:
    """Join a list of texts from a file with commas, the format of a variable."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(each, str) and "," not in each for each in value):
        raise ValueError("must be a list of texts without commas")
    return ",".join(value)


CommaList = Annotated[str, BeforeValidator(joined)]


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
    Field(description="certificate authorities of the server; none = the public ones"),
]
AllowPlainHttp = Annotated[
    bool, Field(description="send the key or password over http:// to a host that is not this machine")
]


class ElasticsearchServer(BaseModel):
    """Address and credentials of an Elasticsearch server."""

    # A complaint never shows the value: it may be a key.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str
    user: str = Field(default="", description="user name; with a password")
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
        description="prefix of all names in the cluster",
    )
    timeout_s: float = Field(default=30, gt=0, le=3600, description="seconds for one request")
    patience_s: float = Field(
        default=60,
        ge=0,
        le=86_400,
        description="seconds that indexing waits for an unreachable or full cluster",
    )
    settle_s: float = Field(
        default=45,
        ge=0,
        le=3600,
        description="seconds that an update waits for deleted passages to be merged away",
    )
    shards: int = Field(default=1, ge=1, le=64, description="shards of a new version")
    replicas: str = Field(
        default="0-1", pattern=r"^(\d+|\d+-(\d+|all))$", description="replicas of each shard; a range expands"
    )
    vector_index: VectorIndex = Field(
        default="flat",
        description="nearest passages: exhaustive comparison, or graph search with re-scoring",
    )
    request_bytes: int = Field(
        default=5_000_000, ge=1_000, le=90_000_000, description="maximal bytes of a bulk request"
    )
    requests_at_once: int = Field(default=2, ge=1, le=16, description="concurrent bulk requests")
    answer_bytes: int = Field(
        default=64_000_000, ge=1_000_000, le=4_000_000_000, description="maximal bytes of a response"
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


class EncoderSettings(BaseModel):
    """The encoder of texts, and the storage of vectors."""

    # A complaint never shows the value: it may be a key.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    provider: Literal["none", "local", "endpoint"] = Field(
        default="none",
        description="none, local = a model in this process, endpoint = a server's /v1/embeddings",
    )
    model: NamedOrFolder = Field(
        default="alibaba-nlp-community/gte-multilingual-base",
        min_length=1,
        description="name on the model hub, or folder; for an endpoint, its name for the model",
    )
    revision: str = Field(default="", description="commit of the model on the hub; pin it")
    cache: OptionalPath = Field(default=None, description="folder of downloaded models; none = the hub's own")
    download: bool = Field(default=False, description="fetch a model that is not here from the hub")
    base_url: BaseUrl | None = Field(default=None, description="base address of an endpoint's API")
    api_key: HeaderKey = Field(default=SecretStr(""), description="key of the endpoint, if it requires one")
    allow_plain_http: AllowPlainHttp = False
    ca_certs: CaCerts = None
    query_prefix: str | None = Field(default=None, description="prefix of a question; none = the model's")
    passage_prefix: str | None = Field(default=None, description="prefix of a passage; none = the model's")
    dimensions: int | None = Field(
        default=None, ge=8, le=8192, description="keep the first dimensions; none = all"
    )
    max_tokens: int | None = Field(
        default=None, ge=8, le=131_072, description="maximal tokens of a text; none = the model's"
    )
    storage: StorageType = Field(default="float32", description="number format of stored vectors")
    device: str = Field(default="auto", description="auto, cpu, cuda, cuda:1, …")
    precision: Precision = Field(default="auto", description="auto = half on a GPU, float32 elsewhere")
    batch_tokens: int = Field(default=16_384, ge=128, description="tokens of a batch, padding included")
    timeout_s: float = Field(default=60, gt=0, le=3600, description="seconds for one request to an endpoint")
    requests_at_once: int = Field(default=4, ge=1, le=64, description="concurrent requests to an endpoint")
    encoding_format: Literal["base64", "float"] = Field(
        default="base64", description="requested format of an endpoint's numbers; both are read"
    )
    truncate: bool = Field(
        default=True, description="ask an endpoint to truncate texts too long for its model"
    )

    @model_validator(mode="after")
    def _check_endpoint_address(self) -> Self:
        if self.provider == "endpoint" and not self.base_url:
            raise ValueError("provider is endpoint and base_url is not set: set SHRAG_ENCODER__BASE_URL")
        return self

    @model_validator(mode="after")
    def _check_encryption(self) -> Self:
        if self.provider == "endpoint":
            refuse_plain_http(self.base_url, secret=bool(self.api_key), allowed=self.allow_plain_http)
            refuse_unused_certificates(self.base_url, self.ca_certs)
        return self


class CrossEncoderSettings(BaseModel):
    """A model in this process that reads two texts together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    revision: str = Field(default="", description="commit of the model on the hub; pin it")
    cache: OptionalPath = Field(default=None, description="folder of downloaded models; none = the hub's own")
    download: bool = Field(default=False, description="fetch a model that is not here from the hub")
    device: str = Field(default="auto", description="auto, cpu, cuda, cuda:1, …")
    precision: Precision = Field(default="auto", description="auto = half on a GPU, float32 elsewhere")
    max_tokens: int | None = Field(
        default=None,
        ge=8,
        le=131_072,
        description="maximal tokens of question and text together; none = the model's",
    )
    batch_tokens: int = Field(default=16_384, ge=128, description="tokens of a batch, padding included")


class RerankerSettings(CrossEncoderSettings):
    """The re-ranker, which scores question and text together."""

    provider: Literal["none", "local"] = Field(default="none", description="none, or a model in this process")
    model: NamedOrFolder = Field(
        default="BAAI/bge-reranker-v2-m3", min_length=1, description="name on the model hub, or folder"
    )
    scores: Literal["sigmoid", "raw"] = Field(
        default="sigmoid", description="scores between 0 and 1, or the model's raw scores"
    )


class CheckSettings(CrossEncoderSettings):
    """The judge of whether passages support a sentence of an answer, in addition to the rules."""

    judge: Literal["rules", "local", "model"] = Field(
        default="rules", description="rules, an entailment model in this process, or the language model"
    )
    model: NamedOrFolder = Field(
        default="", description="entailment model: name on the model hub, or folder; implies local"
    )

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

    name: str = Field(default="", description="the index for calls that name none")
    home: Home = Field(default="", validate_default=True, description="folder of the indexes")
    readable_by: Literal["owner", "group", "all"] = Field(
        default="group", description="who may read new indexes, limited by the umask"
    )
    engine: EngineName = Field(default="tantivy", description="embedded, or a cluster of servers")
    elasticsearch: ElasticsearchSettings = Field(default_factory=ElasticsearchSettings)
    encoder: EncoderSettings = Field(default_factory=EncoderSettings)
    reranker: RerankerSettings = Field(default_factory=RerankerSettings)
    check: CheckSettings = Field(default_factory=CheckSettings)
    workers: int = Field(default=0, ge=0, le=64, description="processes for analysis; 0 = one per core")
    general_glossary: bool = Field(
        default=True, description="add the general Korean-English glossary to the mined pairs"
    )
    grobid_url: Annotated[BaseUrl | None, BeforeValidator(unset_if_empty), NAMED_FILE_ONLY] = Field(
        default=None, description="address of a GROBID server for PDFs; none = the built-in reader only"
    )
    grobid_timeout_s: float = Field(default=60, gt=0, le=3600, description="seconds for one PDF in GROBID")
    writer_memory_mb: int = Field(default=256, ge=15, le=4096, description="memory of the index writer")
    keep_versions: int = Field(default=3, ge=1, le=100, description="published versions kept for rollback")
    backups: OptionalPath = Field(
        default=None, description="file or folder of backups; `shrag doctor` reports its age"
    )
    commit_every: int = Field(
        default=20_000, ge=1, description="records between two commits, from which a build can resume"
    )

    @model_validator(mode="after")
    def _set_default_workers(self) -> Self:
        if self.workers == 0:
            object.__setattr__(self, "workers", usable_cores())
        return self
