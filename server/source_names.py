"""Sources where else the name of an index stands: `source:NAME`, several at once `source:NAME,NAME`."""

PREFIX = "source:"  # no index can be called so


def as_index(*names: str) -> str:
    """Name sources where else the name of an index stands."""
    return f"{PREFIX}{','.join(names)}"


def sources_named(name: str) -> tuple[str, ...]:
    """Return the sources that such a name means; none where it is that of an index."""
    return tuple(name.removeprefix(PREFIX).split(",")) if name.startswith(PREFIX) else ()
