"""What the tests of faults share: builds, what came out of them, and the command as a user gives it."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

import shrag
from base.progress import Progress, no_progress
from indexer.ingest import IngestReport, IngestRequest, build_index
from indexer.settings import ElasticsearchSettings, IndexerSettings
from indexer.versions.cluster.connection import Cluster
from indexer.versions.cluster.names import every_index, index_of
from indexer.versions.store.engines import open_store
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from tests.indexer.made_corpora import QUESTIONS, paper, write_jsonl
from tests.service.elasticsearch.server import Access

NAME = "papers"
WAITED_S = 240  # for another thread, however slow the machine; below the time that a test may take


def settings_for(
    access: Access, home: Path, prefix: str = "faults", *, commit_every: int = 20_000, **changed: Any
) -> IndexerSettings:
    """Return settings with small requests and little patience; `changed` are those of the cluster."""
    given: dict[str, Any] = {
        "url": access.url,
        "user": access.username,
        "password": SecretStr(access.password),
        "prefix": prefix,
        "patience_s": 3,
        "timeout_s": 60,
        "request_bytes": 20_000,
    }
    return IndexerSettings(
        engine="elasticsearch",
        elasticsearch=ElasticsearchSettings(**(given | changed)),
        home=home,
        workers=1,
        commit_every=commit_every,
    )


def corpus(folder: Path, count: int, *, version: int = 0, name: str = "papers.jsonl") -> Path:
    """Write a corpus of so many papers."""
    path = folder / name
    write_jsonl(path, [paper(number, version=version) for number in range(count)])
    return path


def build(
    settings: IndexerSettings, path: Path, progress: Progress = no_progress, name: str = NAME, **options: Any
) -> IngestReport:
    return build_index(IngestRequest(name=name, paths=[str(path)], **options), settings, progress)


def contents(settings: IndexerSettings, name: str = NAME) -> dict[str, Any]:
    """Return all that can be asked of the version that answers, but its number and time."""
    with open_store(settings, name) as folder:
        manifest = folder.manifest()
    index = index_of(settings.elasticsearch.prefix, name, manifest.version)
    with Cluster(settings.elasticsearch) as cluster:
        order = [{"sequence": "asc"}, {"passage_id": "asc"}]
        found = cluster.run(cluster.client.search(index=index, size=10_000, sort=order))
        meta = cluster.run(cluster.client.indices.get_mapping(index=index))[index]["mappings"]["_meta"]
    return {
        "counts": (manifest.papers, manifest.passages, manifest.counts),
        "documents": [(hit["_id"], hit["_source"]) for hit in found["hits"]["hits"]],
        "glossary": meta["glossary"],
        "answers": answers(settings, name),
    }


def answers(settings: IndexerSettings, name: str = NAME) -> list[list[tuple[str, float]]]:
    """Return (passage_id, score) of every hit of some questions."""

    async def ask() -> list[list[tuple[str, float]]]:
        with open_index(settings, name) as index:
            found = [
                await search(index, SearchRequest(question, "shrag"), RetrieverSettings())
                for question in QUESTIONS
            ]
        return [[(hit.passage_id, hit.score) for hit in one.hits] for one in found]

    return asyncio.run(ask())


def clean(settings: IndexerSettings) -> None:
    """Delete what a test wrote under its prefix."""
    prefix = settings.elasticsearch.prefix
    with Cluster(settings.elasticsearch) as cluster:
        client = cluster.client.options(ignore_status=404)
        there = cluster.run(client.indices.get(index=[every_index(prefix), f"{prefix}.*"]))
        for index in there:
            cluster.run(client.indices.delete(index=index))


@contextmanager
def in_background(work: Callable[[], Any]) -> Iterator[Future[Any]]:
    """Do something in a thread, since a server dies with the thread that launched it."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work)


class Signal:
    """Progress of a build that lets the test act at a record of it, and waits until that is done."""

    def __init__(self, stage: str, after: int = 0) -> None:
        self.stage = stage
        self.after = after
        self.reached = threading.Event()
        self.acted = threading.Event()
        self._seen = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage == self.stage:
            self._seen += 1
            if self._seen == self.after + 1:
                self.reached.set()
                assert self.acted.wait(WAITED_S)

    @contextmanager
    def here(self) -> Iterator[None]:
        """Wait until the build is there; it goes on behind the block."""
        assert self.reached.wait(WAITED_S)
        try:
            yield
        finally:
            self.acted.set()


def environment(settings: IndexerSettings) -> dict[str, str]:
    """Return settings as the variables that say the same."""
    cluster = {
        name: value.get_secret_value() if isinstance(value, SecretStr) else value
        for name, value in settings.elasticsearch
        if value is not None
    }
    own = {name: getattr(settings, name) for name in ("home", "engine", "workers", "commit_every")}
    return {f"SHRAG_{name.upper()}": str(value) for name, value in own.items()} | {
        f"SHRAG_ELASTICSEARCH__{name.upper()}": str(value) for name, value in cluster.items()
    }


class Command:
    """The `shrag` command in this process: what it wrote, and its exit code."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, settings: IndexerSettings, *arguments: str | os.PathLike[str]) -> tuple[int, str, str]:
        for name, value in environment(settings).items():
            self._monkeypatch.setenv(name, value)
        self._monkeypatch.setattr(sys, "argv", ["shrag", *map(str, arguments)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            shrag.main()
        written = self._capsys.readouterr()
        return int(ended.value.code or 0), written.out, written.err

    def told(self, settings: IndexerSettings, *arguments: str | os.PathLike[str], code: int = 1) -> str:
        """Return the one line in which a command told that it failed."""
        ended, _, told = self(settings, *arguments)
        assert ended == code, told
        lines = [line for line in told.splitlines() if line.strip()]
        assert len(lines) == 1, told
        return lines[0]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)
