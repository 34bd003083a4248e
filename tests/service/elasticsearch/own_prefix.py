"""Indexes of a test's own in the shared server: settings with a prefix that nobody else has."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from elasticsearch import Elasticsearch
from pydantic import SecretStr

from indexer.settings import ElasticsearchSettings, IndexerSettings
from tests.service.elasticsearch.server import Access


@contextmanager
def own_prefix(access: Access) -> Iterator[Callable[..., IndexerSettings]]:
    """Give a function that makes settings for a home; what was indexed with them is deleted at the end."""
    prefix = f"test_{uuid4().hex[:12]}"

    def settings_for(home: Path, **options) -> IndexerSettings:
        cluster = ElasticsearchSettings(
            url=access.url,
            user=access.username,
            password=SecretStr(access.password),
            prefix=prefix,
            timeout_s=120,
            settle_s=float(os.environ.get("SHRAG_ELASTICSEARCH__SETTLE_S", "45")),
        )
        return IndexerSettings(home=home, engine="elasticsearch", elasticsearch=cluster, workers=1, **options)

    try:
        yield settings_for
    finally:
        delete_all(access, prefix)


def delete_all(access: Access, prefix: str) -> None:
    """Delete whatever bears the prefix; a server takes no pattern for that."""
    with Elasticsearch(access.url, basic_auth=access.basic_auth, request_timeout=240) as client:
        found = list(client.indices.get(index=f"{prefix}*", allow_no_indices=True))
        if found:
            client.indices.delete(index=found)


def environment_of(settings: IndexerSettings) -> dict[str, str]:
    """Return the settings as variables of a process."""
    cluster = settings.elasticsearch
    return {
        "SHRAG_HOME": str(settings.home),
        "SHRAG_ENGINE": settings.engine,
        "SHRAG_WORKERS": str(settings.workers),
        "SHRAG_COMMIT_EVERY": str(settings.commit_every),
        "SHRAG_ELASTICSEARCH__URL": cluster.url,
        "SHRAG_ELASTICSEARCH__USER": cluster.user,
        "SHRAG_ELASTICSEARCH__PASSWORD": cluster.password.get_secret_value(),
        "SHRAG_ELASTICSEARCH__PREFIX": cluster.prefix,
        "SHRAG_ELASTICSEARCH__SETTLE_S": str(cluster.settle_s),
    }
