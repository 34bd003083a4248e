"""Where indexes live and how they are built: environment variables `SHRAG_…`, read by the front ends."""

import os
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

EngineName = Literal["tantivy", "elasticsearch"]


def default_home() -> Path:
    """Return the folder for indexes after the XDG base directory rules."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "shrag"


class ElasticsearchSettings(BaseModel):
    """How a cluster is reached, and how indexes lie in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(
        default="http://127.0.0.1:9200", description="address; several nodes are separated by commas"
    )
    user: str = Field(default="", description="name to log in with; beside a password")
    password: SecretStr = Field(default=SecretStr(""), description="password of that user")
    api_key: SecretStr = Field(default=SecretStr(""), description="API key (encoded), instead of a user")
    ca_certs: Path | None = Field(default=None, description="certificates that the servers' are signed by")
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
    request_bytes: int = Field(
        default=5_000_000, ge=1_000, le=90_000_000, description="most bytes of one bulk request"
    )
    requests_at_once: int = Field(default=2, ge=1, le=16, description="bulk requests under way at a time")

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        for one in url.split(","):
            if not one.strip().startswith(("http://", "https://")):
                raise ValueError(
                    f"{one.strip()!r} is no address; write http://HOST:9200 or https://HOST:9200"
                )
        return url


class IndexerSettings(BaseSettings):
    """Settings of the indexer; built once at a front end and passed down."""

    model_config = SettingsConfigDict(env_prefix="SHRAG_", env_nested_delimiter="__", frozen=True)

    home: Path = Field(default_factory=default_home, description="folder that holds the indexes")
    engine: EngineName = Field(default="tantivy", description="embedded, or a cluster of servers")
    elasticsearch: ElasticsearchSettings = Field(default_factory=ElasticsearchSettings)
    workers: int = Field(default=0, ge=0, le=64, description="processes for analysis; 0 = one a core")
    writer_memory_mb: int = Field(default=256, ge=15, le=4096, description="memory of the index writer")
    keep_versions: int = Field(default=3, ge=1, le=100, description="published versions kept for rollback")
    commit_every: int = Field(default=20_000, ge=1, description="records between two points of resumption")

    @model_validator(mode="after")
    def _say_how_many_workers(self) -> Self:
        if self.workers == 0:
            object.__setattr__(self, "workers", os.cpu_count() or 1)
        return self
