"""How things are called in a cluster.

| name | what |
|---|---|
| PREFIX-NAME@000001 | an index: one version of the index NAME, or the one being built |
| PREFIX-NAME | an alias: the version that answers |
| PREFIX.glossaries | the glossaries and citation graphs of all versions, in pieces |
| PREFIX.leases | who is writing to which index |
| PREFIX.readers | who keeps which version open |

An index's name in a cluster has no capitals and at most 255 bytes; capitals are written with a hash behind.
A name alone makes no index ours: what SHRAG made says so in its mapping's `_meta`.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

from indexer.versions.store.build_folder import NAME

PUBLISHING = "publishing"  # in what a version says of itself until the alias stands on it


def alias_of(prefix: str, name: str) -> str:
    """Name the alias of an index."""
    small = name.lower()
    if small == name:
        return f"{prefix}-{name}"
    return f"{prefix}-{small}@{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def index_of(prefix: str, name: str, version: int) -> str:
    """Name the index that holds a version."""
    return f"{alias_of(prefix, name)}@{version:06}"


def every_index(prefix: str, name: str = "") -> str:
    """Return a pattern of all versions of an index, or of all indexes."""
    return f"{alias_of(prefix, name)}@*" if name else f"{prefix}-*@*"


def belongs_to(index: str, alias: str) -> bool:
    """Tell whether an index holds a version of what the alias names."""
    return version_of(index, alias) is not None


def version_of(index: str, alias: str) -> int | None:
    """Return the version that an index holds of what the alias names; None where it is called otherwise."""
    number = index.removeprefix(f"{alias}@")
    if not (number.isascii() and number.isdigit()):
        return None
    return int(number) if index == f"{alias}@{int(number):06}" else None


def is_version(prefix: str, index: str) -> bool:
    """Tell whether an index is called as a version of any index."""
    return index.startswith(f"{prefix}-") and belongs_to(index, index.rpartition("@")[0])


def is_ours(meta: Mapping[str, Any]) -> bool:
    """Tell by its mapping's `_meta` whether SHRAG made an index: it is published, or being built."""
    return "manifest" in meta or "built_by" in meta


def is_published(meta: Mapping[str, Any], version: int) -> bool:
    """Tell by its mapping's `_meta` whether an index is a published version that may answer.

    One that was cloned, and not marked anew when the process was killed, still says what the other said. One
    whose process was killed before the alias stood on it never answered.
    """
    if "manifest" not in meta or meta.get("superseded") or meta.get(PUBLISHING):
        return False
    manifest = meta["manifest"]
    return not isinstance(manifest, dict) or manifest.get("version", version) == version


def name_in(prefix: str, index: str, meta: Mapping[str, Any], aliases: Collection[str]) -> str | None:
    """Return whose published version an index of the cluster is, by its `_meta`; None where it is nobody's.

    Where the manifest is broken, its alias names it.
    """
    manifest = meta.get("manifest")
    name = manifest.get("name") if isinstance(manifest, dict) else None
    if not isinstance(name, str):
        name = next(iter(aliases), "").removeprefix(f"{prefix}-")
    alias = alias_of(prefix, name)
    version = version_of(index, alias)
    if version is None or not is_ours(meta) or not NAME.fullmatch(name):  # perhaps of a longer prefix
        return None
    return name if alias in aliases or is_published(meta, version) else None


def glossaries(prefix: str) -> str:
    """Name the index of glossaries and citation graphs."""
    return f"{prefix}.glossaries"


def leases(prefix: str) -> str:
    """Name the index of leases."""
    return f"{prefix}.leases"


def readers(prefix: str) -> str:
    """Name the index of those who keep a version open."""
    return f"{prefix}.readers"
