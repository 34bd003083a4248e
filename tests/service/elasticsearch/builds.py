"""Builds in a cluster, and what came out of them; the command as a user gives it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from base.progress import Progress, no_progress
from indexer.ingest import IngestReport, IngestRequest, build_index
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import GLOSSARY
from indexer.versions.store.engines import open_store
from tests.generator.sample_index import Done, shrag
from tests.indexer.made_corpora import answers, paper, write_jsonl
from tests.service.elasticsearch.own_prefix import client_of, environment_of

NAME = "papers"


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
        index = store.address(store.manifest()).index
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
