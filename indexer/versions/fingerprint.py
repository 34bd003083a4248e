"""Fingerprint of an index's dependencies, to refuse an index built with others."""

from importlib.metadata import version

from indexer.analysis import Decompound, UserDictionary
from indexer.files.schema import SCHEMA_VERSIONS
from indexer.settings import EngineName

# The number of the tokens: it changes when any analyzer makes other tokens of a text.
ANALYSIS_VERSION = 2
CHUNKING_VERSION = 1

Fingerprint = dict[str, str]


def lexical_fingerprint(
    analyzer: str,
    decompound: Decompound,
    engine: EngineName = "tantivy",
    dictionary: UserDictionary | None = None,
) -> Fingerprint:
    """Return the dependencies of an index's tokens and fields, by name.

    A patch version of tantivy changes no file of an index; the minor version may.
    """
    return {
        "schema": str(SCHEMA_VERSIONS[engine]),
        "chunking": str(CHUNKING_VERSION),
        "analysis": str(ANALYSIS_VERSION),
        "analyzer": analyzer,
        "decompound": decompound,
        **({"dictionary": dictionary.hash} if dictionary else {}),
        **({"tantivy": ".".join(version("tantivy").split(".")[:2])} if engine == "tantivy" else {}),
        "python-mecab-ko-dic": version("python-mecab-ko-dic"),
    }


def differences(stored: Fingerprint, current: Fingerprint) -> list[str]:
    """List the differences in the form "name: stored, now current"."""
    return [
        f"{name}: {stored.get(name, 'none')}, now {current.get(name, 'none')}"
        for name in sorted(stored.keys() | current.keys())
        if stored.get(name) != current.get(name)
    ]
