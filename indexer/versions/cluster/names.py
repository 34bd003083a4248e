"""Names of indexes and aliases in a cluster.

| name | content |
|---|---|
| PREFIX-NAME@000001 | an index: one version of the index NAME, or the one being built |
| PREFIX-NAME | an alias of the current version |
| PREFIX.glossaries | the glossaries and citation graphs of all versions, in pieces |
| PREFIX.leases | write leases of the indexes |
| PREFIX.readers | readers of versions |

An index's name in a cluster has no capitals and at most 255 bytes; names with capitals get a hash as suffix.
A matching name is not sufficient: indexes created by SHRAG are marked in the `_meta` of their mapping.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

from indexer.versions.store.build_folder import NAME

PUBLISHING = "publishing"  # in a version's `_meta` until the alias points to it


def alias_of(prefix: str, name: str) -> str:
    """Return the alias of an index."""
    small = name.lower()
    if small == name:
        return f"{prefix}-{name}"
    return f"{prefix}-{small}@{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def index_of(prefix: str, name: str, version: int) -> str:
    """Return the name of a version's index."""
    return f"{alias_of(prefix, name)}@{version:06}"


def every_index(prefix: str, name: str = "") -> str:
    """Return a pattern of all versions of an index, or of all indexes."""
    return f"{alias_of(prefix, name)}@*" if name else f"{prefix}-*@*"


def belongs_to(index: str, alias: str) -> bool:
    """Check whether an index is named as a version of the alias's index."""
    return version_of(index, alias) is not None


def version_of(index: str, alias: str) -> int | None:
    """Return the version number in an index's name; None if the name does not match the alias."""
    number = index.removeprefix(f"{alias}@")
    if not (number.isascii() and number.isdigit()):
        return None
    return int(number) if index == f"{alias}@{int(number):06}" else None


def is_version(prefix: str, index: str) -> bool:
    """Check whether an index is named as a version of any index."""
    return index.startswith(f"{prefix}-") and belongs_to(index, index.rpartition("@")[0])


def is_ours(meta: Mapping[str, Any]) -> bool:
    """Check by the `_meta` whether SHRAG created an index: it is published, or being built."""
    return "manifest" in meta or "built_by" in meta


def is_published(meta: Mapping[str, Any], version: int) -> bool:
    """Check by the `_meta` whether an index is a published version.

    A clone whose process was killed before it was marked still has the `_meta` of its source. A version whose
    process was killed before the alias pointed to it was never published.
    """
    if "manifest" not in meta or meta.get("superseded") or meta.get(PUBLISHING):
        return False
    manifest = meta["manifest"]
    return not isinstance(manifest, dict) or manifest.get("version", version) == version


def name_in(prefix: str, index: str, meta: Mapping[str, Any], aliases: Collection[str]) -> str | None:
    """Return the name whose published version an index is, by its `_meta`; None if it is not one.

    If the manifest is damaged, its alias determines the name.
    """
    manifest = meta.get("manifest")
    name = manifest.get("name") if isinstance(manifest, dict) else None
    if not isinstance(name, str):
        name = next(iter(aliases), "").removeprefix(f"{prefix}-")
    alias = alias_of(prefix, name)
    version = version_of(index, alias)
    if version is None or not is_ours(meta) or not NAME.fullmatch(name):  # possibly of a longer prefix
        return None
    return name if alias in aliases or is_published(meta, version) else None


def glossaries(prefix: str) -> str:
    """Return the index of glossaries and citation graphs."""
    return f"{prefix}.glossaries"


def leases(prefix: str) -> str:
    """Return the index of leases."""
    return f"{prefix}.leases"


def readers(prefix: str) -> str:
    """Return the index of readers."""
    return f"{prefix}.readers"
