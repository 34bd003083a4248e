"""Where indexes live and how they are built: environment variables `SHRAG_…`, read by the front ends."""

import os
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_home() -> Path:
    """Return the folder for indexes after the XDG base directory rules."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "shrag"


class IndexerSettings(BaseSettings):
    """Settings of the indexer; built once at a front end and passed down."""

    model_config = SettingsConfigDict(env_prefix="SHRAG_", frozen=True)

    home: Path = Field(default_factory=default_home, description="folder that holds the indexes")
    workers: int = Field(default=0, ge=0, le=64, description="processes for analysis; 0 = one a core")
    writer_memory_mb: int = Field(default=256, ge=15, le=4096, description="memory of the index writer")
    keep_versions: int = Field(default=3, ge=1, le=100, description="published versions kept for rollback")
    commit_every: int = Field(default=20_000, ge=1, description="records between two points of resumption")

    @model_validator(mode="after")
    def _say_how_many_workers(self) -> Self:
        if self.workers == 0:
            object.__setattr__(self, "workers", os.cpu_count() or 1)
        return self
