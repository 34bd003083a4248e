"""Indexes of a test's own in the shared server: settings with a prefix, builds, and what came out of them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from elasticsearch import Elasticsearch
from pydantic import SecretStr

from base.progress import Progress, no_progress
from indexer.ingest import IngestReport, IngestRequest, build_index
from indexer.settings import ElasticsearchSettings, IndexerSettings
from indexer.versions.store.build_folder import GLOSSARY
from indexer.versions.store.engines import open_store
from tests.generator.sample_index import Done, shrag
from tests.indexer.made_corpora import answers, paper, write_jsonl
from tests.service.elasticsearch.server import Access

NAME = "papers"


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
    own = {name: getattr(settings, name) for name in ("home", "engine", "workers")}
    return {f"SHRAG_{name.upper()}": str(value) for name, value in own.items()} | {
        f"SHRAG_ELASTICSEARCH__{name.upper()}": str(value) for name, value in cluster.items()
    }


def some(first: int, last: int, version: int = 0) -> list[dict[str, Any]]:
    return [paper(number, version=version) for number in range(first, last)]


def corpus(folder: Path, records: list[Any], name: str = "papers") -> Path:
    return Path(write_jsonl(folder / f"{name}.jsonl", records))


def build(
    settings: IndexerSettings, path: Path, name: str = NAME, progress: Progress = no_progress, **options: Any
) -> IngestReport:
    return build_index(IngestRequest(name, [str(path)], **options), settings, progress)


def documents(settings: IndexerSettings, name: str = NAME) -> list[dict[str, Any]]:
    """Return all documents of the version that answers, by record and passage."""
    with open_store(settings, name) as store, client_of(settings.elasticsearch) as client:
        index = store.address(store.manifest())
        order = [{"sequence": "asc"}, {"passage_id": "asc"}]
        found = client.search(index=index, size=10_000, sort=order)
    return [hit["_source"] for hit in found["hits"]["hits"]]


def ids(settings: IndexerSettings, name: str = NAME) -> list[str]:
    return [document["passage_id"] for document in documents(settings, name)]


def state(settings: IndexerSettings, name: str = NAME) -> dict[str, Any]:
    """Return what should not depend on how an index came about."""
    with open_store(settings, name) as store:
        manifest = store.manifest()
        glossary = store.companion_path(manifest, GLOSSARY).read_bytes()
        letters = store.local.dead_letter_path(manifest.version)
        return {
            "documents": documents(settings, name),
            "counts": (manifest.papers, manifest.passages, manifest.unit, manifest.counts),
            "dead letters": letters.read_text("utf-8").splitlines() if letters.exists() else [],
            "glossary": glossary,
            "answers": answers(settings, name),
        }


def versions(settings: IndexerSettings, name: str = NAME) -> tuple[int | None, list[int]]:
    with open_store(settings, name) as store:
        return store.current(), store.versions()


def run(settings: IndexerSettings, *arguments: str | os.PathLike[str]) -> Done:
    """Run the `shrag` command in this process."""
    named = {name.removeprefix("SHRAG_").lower(): value for name, value in environment_of(settings).items()}
    done: Done = shrag(*arguments, home=named.pop("home"), **named)
    return done


def failure_of(settings: IndexerSettings, *arguments: str | os.PathLike[str], code: int = 1) -> str:
    """Return the one line in which a command told that it failed."""
    done = run(settings, *arguments)
    assert done.returncode == code, done.stderr
    [line] = done.stderr.splitlines()
    return line


class BrokenOff(Exception):
    """What ends a build that a test breaks off."""


def break_off(at: str, after: int = 0) -> Progress:
    """Return a progress that ends a build at so many calls of a stage."""
    calls: Iterator[int] = iter(range(after))

    def progress(stage: str, done: int, total: int) -> None:
        del done, total
        if stage == at and next(calls, None) is None:
            raise BrokenOff

    return progress
