"""What a run was made with, written beside it, so that another person can make it again to the digit."""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.terminal.output import json_text
from base.versions import installed_version
from generator.finding.finding import year_of
from generator.prompts import prompt_versions
from generator.request import Settings
from generator.settings import LanguageModelSettings
from indexer.settings import IndexerSettings
from indexer.versions.manifest import Manifest
from retriever.sources.configuration import DeclaredSource
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource

SUFFIX = ".manifest.json"
MOST_BYTES = 256_000_000  # of one that is read
# What a run's order may depend on.
LIBRARIES = ("tantivy", "python-mecab-ko", "python-mecab-ko-dic", "regex", "rapidfuzz", "pyspellchecker")
MODEL_LIBRARIES = (
    "numpy",
    "sentence-transformers",
    "transformers",
    "torch",
)  # where vectors or a re-ranker order
HOW_REACHED = frozenset(
    "base_url allow_plain_http ca_certs api_key user contact private retries concurrency at_once "
    "requests_at_once requests_per_second circuit_failures stream answer_bytes cache download".split()
)
ENCODER_STATE = ("provider", "model", "revision", "device", "precision", "dimensions", "max_tokens")
RERANKER_STATE = ("provider", "model", "revision", "device", "precision", "max_tokens", "scores")


@dataclass(frozen=True, slots=True)
class RunManifest:
    """What a run was made with. Two runs of the same differ in `started` and `seconds` only."""

    shrag: str
    index: dict[str, Any]
    method: str
    k: int
    unit: str
    keywords: dict[str, Any]
    applied: dict[str, Any]  # the configuration that took effect
    models: dict[str, dict[str, Any]]  # those of `encoder` and `reranker` that had a part in the order
    deviations: dict[str, dict[str, Any]]  # {query_id: what was different for this question}
    failed: dict[str, str]  # {query_id: why it is not in the run}
    topics: dict[str, Any]
    run: dict[str, Any]
    python: str
    libraries: dict[str, str]
    started: str
    seconds: float

    def write(self, run_path: Path) -> Path:
        """Write RUN.manifest.json beside the run; return its path."""
        path = manifest_path(run_path)
        write_output(path, (json_text(asdict(self), indent=1) + "\n").encode())
        return path


class _Sum(BaseModel):
    sha256: str


class _Asked(_Sum):
    questions: int


class ReadManifest(BaseModel):
    """What scores and comparisons go by of a run's manifest."""

    run: _Sum
    topics: _Asked
    unit: str = ""
    failed: dict[str, str] = {}


def manifest_path(run_path: Path) -> Path:
    """Return where the manifest of a run stands."""
    return run_path.with_name(run_path.name + SUFFIX)


def read_manifest(run_path: Path, digest: str) -> ReadManifest | None:
    """Return the manifest beside a run of these bytes (SHA-256); None where none is of it."""
    try:
        read = ReadManifest.model_validate_json(read_regular(manifest_path(run_path), MOST_BYTES))
    except (OSError, ValueError):
        return None
    return read if read.run.sha256 == digest else None


def index_record(manifest: Manifest) -> dict[str, Any]:
    """Return what of an index a run depends on."""
    names = (
        "name",
        "version",
        "engine",
        "analyzer",
        "decompound",
        "papers",
        "passages",
        "fingerprint",
        "vectors",
    )
    return {name: getattr(manifest, name) for name in names}


def sources_record(declared: Sequence[DeclaredSource], opened: Sequence[LimitedSource]) -> dict[str, Any]:
    """Return what of sources a run depends on, as far as this side knows; no key is in it."""
    sources = {each.name: asked_with(each.settings) for each in declared}
    for each in opened:
        if isinstance(each.source, IndexSource):
            sources[each.name] |= index_record(each.source.manifest)
    return {"name": ",".join(sources), "sources": sources}


def asked_with(settings: BaseModel) -> dict[str, Any]:
    """Return what of settings an answer depends on: no keys, nor how long and where it is waited for."""
    return {
        name: value
        for name, value in settings.model_dump(mode="json").items()
        if not name.endswith("_s")
        and name not in HOW_REACHED
        and not isinstance(getattr(settings, name), SecretStr)
    }


def file_record(path: Path) -> dict[str, Any]:
    """Return a file's path as it was given, and the SHA-256 of its bytes."""
    with path.open("rb") as file:
        return {"path": str(path), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def project_version() -> str:
    """Return the version of what is installed; "not installed" where it runs from a bare checkout."""
    return installed_version("shrag")


def made_with(
    index: Mapping[str, Any],
    request: Mapping[str, Any],
    inputs: Mapping[str, str | None],
    settings: Settings,
    llm: LanguageModelSettings | None,
) -> dict[str, Any]:
    """Return all that the rankings of a run depend on, as far as this side knows.

    Args:
        index: what is asked, by `index_record` or `sources_record`.
        request: how.
        inputs: sums of the files that are read.
        settings: of all stages.
        llm: those of the language model, where it is asked.
    """
    indexer = settings.indexer
    return {
        **software(models={indexer.encoder.provider, indexer.reranker.provider} != {"none"}),
        "index": dict(index),
        "request": dict(request),
        "inputs": dict(inputs),
        "settings": settings.retriever.model_dump(mode="json", exclude={"synonyms"}),
        "this year": year_of(settings),
        **{name: asked_with(getattr(indexer, name)) for name in ("encoder", "reranker", "check")},
        "language model": {**asked_with(llm), "prompts": prompt_versions()} if llm else None,
    }


def models_record(settings: IndexerSettings, applied: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return how the models were run that had a part in the order; none of a run without them."""
    states = {
        "encoder": (applied.get("vectors"), settings.encoder, ENCODER_STATE),
        "reranker": (applied.get("reranker"), settings.reranker, RERANKER_STATE),
    }
    return {
        name: {field: getattr(model, field) for field in fields}
        for name, (used, model, fields) in states.items()
        if used
    }


def software(*, models: bool) -> dict[str, Any]:
    """Return the versions that a run may depend on, with `models` those of the libraries that run them."""
    libraries = LIBRARIES + MODEL_LIBRARIES if models else LIBRARIES
    return {
        "shrag": project_version(),
        "python": platform.python_version(),
        "libraries": {library: installed_version(library) for library in libraries},
    }
