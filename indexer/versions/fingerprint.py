"""Fingerprint of an index's dependencies, to refuse an index built with others."""

import hashlib
import json
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from base.files.durable import write_durably
from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.analysis.sources import analysis_sources
from indexer.files.schema import SCHEMA_VERSIONS
from indexer.settings import EngineName

FIXED_TEXTS = Path(__file__).parents[1] / "analysis" / "fixed_texts.txt"
LIBRARIES: dict[EngineName, tuple[str, ...]] = {
    "tantivy": ("tantivy", "python-mecab-ko-dic"),
    "elasticsearch": ("python-mecab-ko-dic",),
}
CHUNKING_VERSION = 1
KEPT_HASHES = ".analysis-hashes.json"  # in the home: {hash of chain and files: hash of tokens}
MOST_HASHES = 32

REMEMBERED = 16  # fingerprints cached per process, each with its dictionary

Fingerprint = dict[str, str]


def lexical_fingerprint(
    analyzer: str,
    decompound: Decompound,
    engine: EngineName = "tantivy",
    dictionary: UserDictionary | None = None,
    home: Path | None = None,
) -> Fingerprint:
    """Return the dependencies of an index's tokens and fields, by name.

    The last value is a hash of the tokens of 200 fixed texts, which detects changes without a version number.
    With `home` it is cached there, and recomputed when a file that analysis depends on changes. A process
    caches the last results; the caller owns the returned copy.
    """
    return dict(_lexical_fingerprint(analyzer, decompound, engine, dictionary, home))


def forget_fingerprints(home: Path | None = None) -> None:
    """Clear the cache of this process, and with `home` the cache there."""
    _lexical_fingerprint.cache_clear()
    if home:
        with suppress(OSError):
            (home / KEPT_HASHES).unlink(missing_ok=True)


@lru_cache(REMEMBERED)
def _lexical_fingerprint(
    analyzer: str,
    decompound: Decompound,
    engine: EngineName,
    dictionary: UserDictionary | None,
    home: Path | None,
) -> Fingerprint:
    return {
        "schema": str(SCHEMA_VERSIONS[engine]),
        "chunking": str(CHUNKING_VERSION),
        "analyzer": analyzer,
        "decompound": decompound,
        **({"dictionary": dictionary.hash} if dictionary else {}),
        **{library: version(library) for library in LIBRARIES[engine]},
        "tokens": _token_hash(analyzer, decompound, dictionary, home),
    }


def _token_hash(
    analyzer: str, decompound: Decompound, dictionary: UserDictionary | None, home: Path | None
) -> str:
    """Return the hash of the fixed texts' tokens, cached in `home` or computed."""
    chain = [analyzer, decompound, dictionary.hash if dictionary else "", *analysis_sources()]
    key = hashlib.sha256(json.dumps(chain).encode()).hexdigest()
    kept = _kept_hashes(home) if home else {}
    if key not in kept:
        kept[key] = _computed_hash(analyzer, decompound, dictionary)
        if home and home.is_dir():
            with suppress(OSError):  # without a cache in a read-only home
                write_durably(home / KEPT_HASHES, json.dumps(dict(list(kept.items())[-MOST_HASHES:])))
    return kept[key]


def _kept_hashes(home: Path) -> dict[str, str]:
    try:
        kept = json.loads((home / KEPT_HASHES).read_text(encoding="ascii"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(kept, dict):
        return {}
    return {key: tokens for key, tokens in kept.items() if isinstance(tokens, str)}


def _computed_hash(analyzer: str, decompound: Decompound, dictionary: UserDictionary | None) -> str:
    chain = make_analyzer(analyzer, decompound, dictionary)
    digest = hashlib.sha256()
    for text in fixed_texts():
        digest.update(json.dumps(chain.analyze(text), ensure_ascii=False).encode())
    return digest.hexdigest()[:16]


def fixed_texts() -> list[str]:
    """Return the texts whose tokens represent an analysis."""
    return FIXED_TEXTS.read_text(encoding="utf-8").rstrip("\n").split("\n")


def differences(stored: Fingerprint, current: Fingerprint) -> list[str]:
    """List the differences in the form "name: stored, now current"."""
    return [
        f"{name}: {stored.get(name, 'none')}, now {current.get(name, 'none')}"
        for name in sorted(stored.keys() | current.keys())
        if stored.get(name) != current.get(name)
    ]
