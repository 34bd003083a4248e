"""Where indexes live and how they are built: variables `SHRAG_…` and `shrag.toml`, read by the front ends."""

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

MOST_CERTIFICATES = 10_000_000  # bytes of a file; those of all public authorities take 300,000

EngineName = Literal["tantivy", "elasticsearch"]
StorageType = Literal["float32", "int8"]
VectorIndex = Literal["flat", "hnsw"]
Precision = Literal["auto", "float32", "float16", "bfloat16"]


def default_home() -> Path:
    """Return the folder for indexes."""
    return base_directory("XDG_DATA_HOME", "~/.local/share") / "shrag"


def unset_if_empty(value: object) -> object:
    """Return None for an empty value: an empty variable is as good as none."""
    return None if value == "" else value


def folder_for_indexes(value: object) -> object:
    """Return the default folder for an empty value; ValueError for one that is, or lies in, a file."""
    if not isinstance(value, str | Path):
        return value
    path = in_home(Path(value)) if value != "" else default_home()
    # Unlike those of Path these raise nothing where a folder may not be looked into.
    there = next(place for place in (path, *path.parents) if os.path.exists(place))  # noqa: PTH110
    if not os.path.isdir(there):  # noqa: PTH112
        raise ValueError(f"{there} is no folder")
    return path


Home = Annotated[Path, BeforeValidator(folder_for_indexes)]
NamedOrFolder = Annotated[str, MODEL_OR_FOLDER]
GivenPath = Annotated[Path, AfterValidator(in_home)]
OptionalPath = Annotated[GivenPath | None, BeforeValidator(unset_if_empty)]


def joined(value: object) -> object:
    """Return a list of texts, as a file can hold it, with commas between them, as a variable holds it."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(each, str) and "," not in each for each in value):
        raise ValueError("must be a list of texts without commas")
    return ",".join(value)


CommaList = Annotated[str, BeforeValidator(joined)]


def plain_address(address: str) -> str:
    """Return an address with its scheme in lower case and without a slash at its end.

    Raises:
        ValueError: it is none; the message shows nothing of it.
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
        raise ValueError("must not hold a name or password; there are settings of their own for these")
    if parts.query or parts.fragment:
        raise ValueError("must not hold '?' or '#'")
    return parts.geturl().rstrip("/")


def key_for_a_header(value: SecretStr) -> SecretStr:
    """Return a key as a header can hold it; a key that was read from a file ends in a new line."""
    key = value.get_secret_value().strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("must be ASCII without white space")
    return SecretStr(key)


def file_of_certificates(path: Path | None) -> Path | None:
    """Return a path; ValueError where no certificates can be read there."""
    if path is not None:
        import ssl

        try:
            read_regular(path, MOST_CERTIFICATES)
            ssl.create_default_context(cafile=path)
        except OSError as error:
            why = error.strerror or "it holds none"
            raise ValueError(f"{path} cannot be read as certificates ({why})") from None
    return path


def refuse_unused_certificates(addresses: str | None, ca_certs: Path | None) -> None:
    """Raise ValueError where one of the addresses, separated by commas, is reached without certificates."""
    if (
        ca_certs
        and addresses
        and any(urlsplit(address).scheme != "https" for address in addresses.split(","))
    ):
        raise ValueError("ca_certs goes with addresses that begin with https:// only")


BaseUrl = Annotated[str, AfterValidator(plain_address)]
HeaderKey = Annotated[SecretStr, AfterValidator(key_for_a_header)]
CaCerts = Annotated[
    OptionalPath,
    AfterValidator(file_of_certificates),
    Field(description="certificates that the server's is signed by; none = those of public authorities"),
]
AllowPlainHttp = Annotated[
    bool, Field(description="send the key or password over http:// to a host that is not this machine")
]


class ElasticsearchServer(BaseModel):
    """Where an Elasticsearch server is, and how one logs in there."""

    # A complaint never shows the value: it may be a key.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str
    user: str = Field(default="", description="name to log in with; beside a password")
    password: SecretStr = Field(default=SecretStr(""), description="password of that user")
    api_key: HeaderKey = Field(default=SecretStr(""), description="API key (encoded), instead of a user")
    allow_plain_http: AllowPlainHttp = False
    ca_certs: CaCerts = None

    @field_validator("user")
    @classmethod
    def _fit_to_log_in(cls, user: str) -> str:
        if ":" in user:
            raise ValueError("a user's name has no ':'")
        return user

    @property
    def sends_secret(self) -> bool:
        """Whether a key or a password goes with each request."""
        return bool(self.api_key or self.password)

    @model_validator(mode="after")
    def _is_safe_to_reach(self) -> Self:
        refuse_plain_http(self.url, secret=self.sends_secret, allowed=self.allow_plain_http)
        refuse_unused_certificates(self.url, self.ca_certs)
        return self


class ElasticsearchSettings(ElasticsearchServer):
    """How a cluster is reached, and how indexes lie in it."""

    url: CommaList = Field(
        default="http://127.0.0.1:9200", description="address; several nodes are separated by commas"
    )
    prefix: str = Field(
        default="shrag", pattern=r"^[a-z0-9][a-z0-9_]{0,31}$", description="of all names in the cluster"
    )
    timeout_s: float = Field(default=30, gt=0, le=3600, description="seconds that one request may take")
    patience_s: float = Field(
        default=60,
        ge=0,
        le=86_400,
        description="seconds that indexing waits for a cluster that is gone or full",
    )
    settle_s: float = Field(
        default=45,
        ge=0,
        le=3600,
        description="seconds that an update waits until deleted passages count no more",
    )
    shards: int = Field(default=1, ge=1, le=64, description="of a new version")
    replicas: str = Field(
        default="0-1", pattern=r"^(\d+|\d+-(\d+|all))$", description="copies of each shard; a range expands"
    )
    vector_index: VectorIndex = Field(
        default="flat",
        description="nearest passages: by comparing with all, or by a graph and comparing again",
    )
    request_bytes: int = Field(
        default=5_000_000, ge=1_000, le=90_000_000, description="most bytes of one bulk request"
    )
    requests_at_once: int = Field(default=2, ge=1, le=16, description="bulk requests under way at a time")
    answer_bytes: int = Field(
        default=64_000_000, ge=1_000_000, le=4_000_000_000, description="most bytes of one answer"
    )

    @field_validator("url")
    @classmethod
    def _are_addresses(cls, url: str) -> str:
        addresses = [plain_address(address) for address in url.split(",")]
        if not all(urlsplit(address).port for address in addresses):
            raise ValueError("must name the port, like http://HOST:9200 or https://HOST:9200")
        return ",".join(addresses)

    @field_validator("replicas")
    @classmethod
    def _is_a_range(cls, replicas: str) -> str:
        low, _, high = replicas.partition("-")
        if high.isdecimal() and int(low) > int(high):
            raise ValueError("a range begins with the lower number, like 0-1")
        return replicas


class EncoderSettings(BaseModel):
    """What makes vectors of texts, and how they are kept."""

    # A complaint never shows the value: it may be a key.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    provider: Literal["none", "local", "endpoint"] = Field(
        default="none", description="no vectors; a model in this process; a server's /v1/embeddings"
    )
    model: NamedOrFolder = Field(
        default="alibaba-nlp-community/gte-multilingual-base",
        min_length=1,
        description="name on the model hub, or folder; of an endpoint, the name there",
    )
    revision: str = Field(default="", description="commit of the model on the hub; pin it")
    cache: OptionalPath = Field(default=None, description="folder of downloaded models; none = the hub's own")
    download: bool = Field(default=False, description="fetch a model that is not here from the hub")
    base_url: BaseUrl | None = Field(default=None, description="where an endpoint's API begins")
    api_key: HeaderKey = Field(default=SecretStr(""), description="key, where the endpoint asks for one")
    allow_plain_http: AllowPlainHttp = False
    ca_certs: CaCerts = None
    query_prefix: str | None = Field(default=None, description="before a question; none = the model's own")
    passage_prefix: str | None = Field(default=None, description="before a passage; none = the model's own")
    dimensions: int | None = Field(default=None, ge=8, le=8192, description="first so many; none = all")
    max_tokens: int | None = Field(
        default=None, ge=8, le=131_072, description="of a text; none = the model's"
    )
    storage: StorageType = Field(default="float32", description="what a vector's numbers are kept as")
    device: str = Field(default="auto", description="auto, cpu, cuda, cuda:1, …")
    precision: Precision = Field(default="auto", description="auto = half on a GPU, float32 elsewhere")
    batch_tokens: int = Field(default=16_384, ge=128, description="tokens of a batch, padding included")
    timeout_s: float = Field(default=60, gt=0, le=3600, description="seconds for one request to an endpoint")
    requests_at_once: int = Field(default=4, ge=1, le=64, description="requests under way to an endpoint")
    encoding_format: Literal["base64", "float"] = Field(
        default="base64", description="how an endpoint is to write numbers; read either way"
    )
    truncate: bool = Field(default=True, description="ask an endpoint to cut texts too long for its model")

    @model_validator(mode="after")
    def _endpoint_has_an_address(self) -> Self:
        if self.provider == "endpoint" and not self.base_url:
            raise ValueError("provider is endpoint and base_url is not set: set SHRAG_ENCODER__BASE_URL")
        return self

    @model_validator(mode="after")
    def _key_and_certificates_go_with_the_address(self) -> Self:
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
        default=None, ge=8, le=131_072, description="of question and text together; none = the model's"
    )
    batch_tokens: int = Field(default=16_384, ge=128, description="tokens of a batch, padding included")


class RerankerSettings(CrossEncoderSettings):
    """What reads a question and a text together to put hits into a better order."""

    provider: Literal["none", "local"] = Field(default="none", description="none; a model in this process")
    model: NamedOrFolder = Field(
        default="BAAI/bge-reranker-v2-m3", min_length=1, description="name on the model hub, or folder"
    )
    scores: Literal["sigmoid", "raw"] = Field(
        default="sigmoid", description="between 0 and 1, or as the model gives them"
    )


class CheckSettings(CrossEncoderSettings):
    """What judges whether passages say what a sentence of an answer says, beside the rules."""

    judge: Literal["rules", "local", "model"] = Field(
        default="rules", description="rules; an entailment model in this process; the language model"
    )
    model: NamedOrFolder = Field(
        default="", description="entailment model: name on the model hub, or folder; sets local"
    )

    @model_validator(mode="before")
    @classmethod
    def _a_model_judges(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("model") and not values.get("judge"):
            return values | {"judge": "local"}
        return values

    @model_validator(mode="after")
    def _a_judge_has_a_model(self) -> Self:
        if self.judge == "local" and not self.model:
            raise ValueError(
                "judge is local and model is not set: set SHRAG_CHECK__MODEL to an entailment model"
            )
        return self


def named_paths(*settings: BaseModel) -> Iterator[Path]:
    """Yield the files and folders that settings name to be read, without the home of all indexes."""
    for each in settings:
        for name, value in each:
            if isinstance(value, BaseModel):
                yield from named_paths(value)
            elif isinstance(value, Path) and name not in {"home", "backups"}:
                yield value


class IndexerSettings(LayeredSettings):
    """Settings of the indexer; built once at a front end and passed down."""

    model_config = SettingsConfigDict(
        env_prefix="SHRAG_", env_nested_delimiter="__", frozen=True, hide_input_in_errors=True
    )

    name: str = Field(default="", description="the index that is meant where a call names none")
    home: Home = Field(default="", validate_default=True, description="folder that holds the indexes")
    readable_by: Literal["owner", "group", "all"] = Field(
        default="group", description="who may read the indexes that are made, as far as the umask lets them"
    )
    engine: EngineName = Field(default="tantivy", description="embedded, or a cluster of servers")
    elasticsearch: ElasticsearchSettings = Field(default_factory=ElasticsearchSettings)
    encoder: EncoderSettings = Field(default_factory=EncoderSettings)
    reranker: RerankerSettings = Field(default_factory=RerankerSettings)
    check: CheckSettings = Field(default_factory=CheckSettings)
    workers: int = Field(default=0, ge=0, le=64, description="processes for analysis; 0 = one a core")
    general_glossary: bool = Field(
        default=True, description="give an index the general Korean-English glossary beside the pairs mined"
    )
    grobid_url: Annotated[BaseUrl | None, BeforeValidator(unset_if_empty), NAMED_FILE_ONLY] = Field(
        default=None, description="a GROBID server that reads PDFs too; none = the own reader alone"
    )
    grobid_timeout_s: float = Field(
        default=60, gt=0, le=3600, description="seconds for one PDF that GROBID reads"
    )
    writer_memory_mb: int = Field(default=256, ge=15, le=4096, description="memory of the index writer")
    keep_versions: int = Field(default=3, ge=1, le=100, description="published versions kept for rollback")
    backups: OptionalPath = Field(
        default=None, description="file or folder of backups, whose age `shrag doctor` reports"
    )
    commit_every: int = Field(default=20_000, ge=1, description="records between two points of resumption")

    @model_validator(mode="after")
    def _say_how_many_workers(self) -> Self:
        if self.workers == 0:
            object.__setattr__(self, "workers", usable_cores())
        return self
