"""How things are called in a cluster.

| name | what |
|---|---|
| PREFIX-NAME@000001 | an index: one version of the index NAME, or the one being built |
| PREFIX-NAME | an alias: the version that answers |
| PREFIX.glossaries | the glossaries of all versions, in pieces |
| PREFIX.leases | who is writing to which index |

An index's name in a cluster has no capitals and at most 255 bytes; capitals are written with a hash behind.
"""

import hashlib


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
    return index.rpartition("@")[0] == alias


def version_of(index: str) -> int:
    """Return the version that an index holds."""
    return int(index.rpartition("@")[2])


def glossaries(prefix: str) -> str:
    """Name the index of glossaries."""
    return f"{prefix}.glossaries"


def leases(prefix: str) -> str:
    """Name the index of leases."""
    return f"{prefix}.leases"
