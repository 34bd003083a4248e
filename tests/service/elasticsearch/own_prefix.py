"""Indexes of a test's own in the shared server: settings with a prefix that nobody else has."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from elasticsearch import Elasticsearch
from pydantic import SecretStr

from indexer.settings import ElasticsearchSettings, IndexerSettings
from tests.service.elasticsearch.server import Access


@contextmanager
def own_prefix(access: Access) -> Iterator[Callable[..., IndexerSettings]]:
    """Give a function that makes settings for a home; what was indexed with them is deleted at the end.

    Its options are settings of the indexer, and by `cluster` those of the cluster.
    """
    prefix = f"test_{uuid4().hex[:12]}"

    def settings_for(home: Path, *, cluster: dict[str, Any] | None = None, **options: Any) -> IndexerSettings:
        given: dict[str, Any] = {
            "url": access.url,
            "user": access.username,
            "password": SecretStr(access.password),
            "prefix": prefix,
            "timeout_s": 120,
            "settle_s": float(os.environ.get("SHRAG_ELASTICSEARCH__SETTLE_S", "45")),
        }
        made = ElasticsearchSettings(**given | (cluster or {}))
        return IndexerSettings(home=home, engine="elasticsearch", elasticsearch=made, workers=1, **options)

    try:
        yield settings_for
    finally:
        delete_all(access, prefix)


def delete_all(access: Access, prefix: str) -> None:
    """Delete whatever bears the prefix; a server takes no pattern for that."""
    with client_of(access) as client:
        found = list(client.indices.get(index=f"{prefix}*", expand_wildcards="open,closed"))
        if found:
            client.indices.delete(index=found)


def client_of(access: Access | ElasticsearchSettings) -> Elasticsearch:
    """Return the official client, as another tool would use it."""
    if isinstance(access, ElasticsearchSettings):
        access = Access(access.url, access.user, access.password.get_secret_value())
    return Elasticsearch(access.url, basic_auth=access.basic_auth, request_timeout=240)


def environment_of(settings: IndexerSettings) -> dict[str, str]:
    """Return the settings as variables of a process."""
    cluster = {
        name: value.get_secret_value() if isinstance(value, SecretStr) else value
        for name, value in settings.elasticsearch
        if value is not None
    }
    own = {name: getattr(settings, name) for name in ("home", "engine", "workers", "commit_every")}
    return {f"SHRAG_{name.upper()}": str(value) for name, value in own.items()} | {
        f"SHRAG_ELASTICSEARCH__{name.upper()}": str(value) for name, value in cluster.items()
    }
