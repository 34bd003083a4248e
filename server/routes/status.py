"""What an operator looks at once a day: indexes, what is being indexed, work, times, keys."""

import asyncio
import os
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter

from indexer.console import as_record, describe_vectors
from indexer.errors import IndexerError
from indexer.remedies import describe_error
from indexer.settings import IndexerSettings
from indexer.store.engines import index_names, open_store
from indexer.versions import installed_version
from server.gate import Admin
from server.key_store import KeyStore
from server.metrics import stage_times
from server.services import Shared
from server.shapes import Shaped
from server.shapes.operation import Status

router = APIRouter(prefix="/api/v1", tags=["operation"])

STARTED = datetime.now(UTC)


@router.get("/status")
async def status(services: Shared, _: Admin) -> Annotated[dict[str, Any], Shaped(Status)]:
    """Tell the operator how the server is."""
    settings, server = services.settings.indexer, services.server
    indexes, keys, times = await asyncio.gather(
        asyncio.to_thread(_indexes, settings),
        asyncio.to_thread(_keys, KeyStore(settings.home)),
        asyncio.to_thread(stage_times),
    )
    llm = services.settings.generator.llm
    return {
        "server": {
            "shrag": installed_version("shrag"),
            "started": STARTED.isoformat(timespec="seconds"),
            "process": os.getpid(),
            "workers": server.workers,
            "engine": settings.engine,
            "language_model": llm.model if llm.configured else None,
        },
        "indexes": indexes,
        "work": {
            work: {"running": places.running, "places": places.at_once, "waiting": places.waiting}
            for work, places in services.gate.places.items()
        },
        "times": times,
        "keys": keys,
    }


def _indexes(settings: IndexerSettings) -> list[dict[str, Any]]:
    return [_index(settings, name) for name in index_names(settings)]


def _index(settings: IndexerSettings, name: str) -> dict[str, Any]:
    try:
        with open_store(settings, name) as store:
            manifest = store.manifest()
            found = as_record(manifest)
            return {
                **{key: found[key] for key in ("name", "version", "papers", "passages", "published")},
                "vectors": describe_vectors(manifest) or None,
                "versions": store.versions(),
                "being_indexed": store.local.is_unfinished(),
                "dead_letters": manifest.counts.get("dead_letters", 0),
            }
    except (IndexerError, OSError) as error:
        return {"name": name, "error": describe_error(error)}


def _keys(store: KeyStore) -> list[dict[str, Any]]:
    now = datetime.now(UTC)
    return [key.as_record(now) for key in store.read().keys.values()]
