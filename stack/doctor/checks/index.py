"""The indexes: whether each opens with today's analysis, and what vectors it has."""

from collections.abc import Iterator

from indexer.errors import IndexerError, UnknownIndex
from indexer.places import index_names
from retriever.index import open_index
from stack.doctor.findings import Examined, Finding


def check_index(examined: Examined) -> Iterator[Finding]:
    """Open the index that is named, or all there are."""
    settings = examined.settings.indexer
    try:
        names = [examined.index] if examined.index else index_names(settings)
    except IndexerError as error:
        yield Finding(
            "index", "list", "wrong", str(error), mend="mend the engine first; the rest follows from it"
        )
        return
    if not names:
        yield Finding(
            "index", "list", "not configured", "there is none", mend="shrag index PATH --name NAME makes one"
        )
    for name in names:
        yield from _opened(examined, name)


def _opened(examined: Examined, name: str) -> Iterator[Finding]:
    try:
        with open_index(examined.settings.indexer, name) as index:
            manifest = index.manifest
    except IndexerError as error:
        again = "shrag index PATH --name NAME makes one; shrag indexes list shows those there are"
        mend = again if isinstance(error, UnknownIndex) else f"shrag index PATH --name {name} --rebuild"
        yield Finding("index", name, "wrong", f"{type(error).__name__}: {error}", mend=mend)
        return
    yield Finding(
        "index",
        name,
        "ok",
        f"version {manifest.version}, {manifest.passages:,} passages of {manifest.papers:,} papers, "
        f"fingerprint {manifest.fingerprint['tokens']} as today's",
        configured=f"{manifest.engine}, {manifest.analyzer}",
    )
