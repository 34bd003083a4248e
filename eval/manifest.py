"""Records of everything that affects a run or an experiment, for its manifest."""

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from base.versions import installed_version
from generator.prompts import Prompt, prompt_versions
from generator.request import Settings
from generator.settings import LanguageModelSettings
from indexer.versions.manifest import Manifest
from retriever.sources.configuration import DeclaredSource
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource

# Libraries that may affect the order of a run.
LIBRARIES = ("tantivy", "python-mecab-ko", "python-mecab-ko-dic", "regex", "rapidfuzz", "pyspellchecker")
# The same if vectors or a re-ranker are used.
MODEL_LIBRARIES = ("numpy", "sentence-transformers", "transformers", "torch")
HOW_REACHED = frozenset(
    "base_url allow_plain_http ca_certs api_key user contact private retries concurrency at_once "
    "requests_at_once requests_per_second circuit_failures stream answer_bytes cache download".split()
)
LONGEST_VALUE = 80  # characters of a printed value


def index_record(manifest: Manifest) -> dict[str, Any]:
    """Return the properties of an index that affect a run."""
    names = "name version engine analyzer decompound papers passages fingerprint vectors".split()
    return {name: getattr(manifest, name) for name in names}


def sources_record(declared: Sequence[DeclaredSource], opened: Sequence[LimitedSource]) -> dict[str, Any]:
    """Return the properties of sources that affect a run, as far as they are known here; without keys."""
    sources = {each.name: asked_with(each.settings) for each in declared}
    for each in opened:
        if isinstance(each.source, IndexSource):
            sources[each.name] |= index_record(each.source.manifest)
    return {"name": ",".join(sources), "sources": sources}


def asked_with(settings: BaseModel) -> dict[str, Any]:
    """Return the settings that affect an answer: without keys, addresses and time limits."""
    return {
        name: value
        for name, value in settings.model_dump(mode="json").items()
        if not name.endswith("_s")
        and name not in HOW_REACHED
        and not isinstance(getattr(settings, name), SecretStr)
    }


def file_record(path: Path) -> dict[str, Any]:
    """Return a file's path as given, and the SHA-256 of its content."""
    with path.open("rb") as file:
        return {"path": str(path), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def made_with(
    index: Mapping[str, Any], settings: Settings, llm: LanguageModelSettings | None, **more: Any
) -> dict[str, Any]:
    """Return everything that affects the results of a run, as far as it is known here.

    `index` is the result of `index_record` or `sources_record`; `llm` are the settings of the language model,
    if it is used; `more` are further values, such as the SHA-256 of input files.
    """
    indexer = settings.indexer
    return {
        **software(models={indexer.encoder.provider, indexer.reranker.provider} != {"none"}),
        "index": dict(index),
        **more,
        **search_record(settings),
        "check": asked_with(indexer.check),
        "language model": {**asked_with(llm), "prompts": prompt_versions()} if llm else None,
    }


def model_record(llm: LanguageModelSettings, prompts: Iterable[Prompt]) -> dict[str, Any]:
    """Return the language model and the versions of its prompts."""
    versions = {f"{prompt.name}.{prompt.language}": prompt.version for prompt in prompts}
    return {"model": llm.model, "language model": asked_with(llm), "prompts": versions}


def search_record(settings: Settings) -> dict[str, Any]:
    """Return the settings of searches."""
    indexer = settings.indexer
    return {
        "settings": settings.retriever.model_dump(mode="json", exclude={"synonyms"}),
        **{name: asked_with(getattr(indexer, name)) for name in ("encoder", "reranker")},
    }


def differences(
    first: Mapping[str, Any], second: Mapping[str, Any], *, tolerance: float = 0.0, place: str = ""
) -> Iterator[str]:
    """Yield the differences of two records, one line each: `call.seed: 0 ≠ 1`.

    Numbers may differ by the tolerance. `place` is the name of the records.
    """
    for name in dict.fromkeys([*first, *second]):
        one, other = first.get(name), second.get(name)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from differences(one, other, tolerance=tolerance, place=f"{place}{name}.")
        elif one != other and not (
            isinstance(one, float | int) and isinstance(other, float | int) and abs(one - other) <= tolerance
        ):
            yield f"{place}{name}: {_shown(one)} ≠ {_shown(other)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def software(*, models: bool) -> dict[str, Any]:
    """Return the versions that may affect a run; `models` adds the libraries that run models."""
    libraries = LIBRARIES + MODEL_LIBRARIES if models else LIBRARIES
    return {
        "shrag": installed_version("shrag"),
        "python": platform.python_version(),
        "libraries": {library: installed_version(library) for library in libraries},
    }
