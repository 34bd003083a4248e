"""Names of sources in place of an index: `source:NAME`, for several `source:NAME,NAME`."""

PREFIX = "source:"  # no index name contains a colon


def as_index(*names: str) -> str:
    """Return the name of sources in place of an index."""
    return f"{PREFIX}{','.join(names)}"


def sources_named(name: str) -> tuple[str, ...]:
    """Return the sources in a name; none if it is the name of an index."""
    return tuple(name.removeprefix(PREFIX).split(",")) if name.startswith(PREFIX) else ()
