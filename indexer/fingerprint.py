"""What an index depends on, so that one built otherwise is refused instead of answering wrongly."""

import hashlib
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path

from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.schema import SCHEMA_VERSION
from indexer.settings import EngineName

FIXED_TEXTS = Path(__file__).with_name("analysis") / "fixed_texts.txt"
LIBRARIES: dict[EngineName, tuple[str, ...]] = {
    "tantivy": ("tantivy", "python-mecab-ko-dic"),
    "elasticsearch": ("python-mecab-ko-dic",),
}
CHUNKING_VERSION = 1

Fingerprint = dict[str, str]


@cache
def lexical_fingerprint(
    analyzer: str,
    decompound: Decompound,
    engine: EngineName = "tantivy",
    dictionary: UserDictionary | None = None,
) -> Fingerprint:
    """Return all that the tokens and fields of an index depend on, a value a cause.

    The last is a hash of the tokens of 200 fixed texts: it notices what no version number tells.
    """
    chain = make_analyzer(analyzer, decompound, dictionary)
    digest = hashlib.sha256()
    for text in fixed_texts():
        digest.update(json.dumps(chain.analyze(text), ensure_ascii=False).encode())
    return {
        "schema": str(SCHEMA_VERSION),
        "chunking": str(CHUNKING_VERSION),
        "analyzer": analyzer,
        "decompound": decompound,
        **({"dictionary": dictionary.hash} if dictionary else {}),
        **{library: version(library) for library in LIBRARIES[engine]},
        "tokens": digest.hexdigest()[:16],
    }


def fixed_texts() -> list[str]:
    """Return the texts whose tokens stand for an analysis."""
    return FIXED_TEXTS.read_text(encoding="utf-8").rstrip("\n").split("\n")


def differences(stored: Fingerprint, current: Fingerprint) -> list[str]:
    """List what differs, each as "name: stored, now current"."""
    return [
        f"{name}: {stored.get(name, 'none')}, now {current.get(name, 'none')}"
        for name in sorted(stored.keys() | current.keys())
        if stored.get(name) != current.get(name)
    ]
