"""The indexes: whether each opens with today's analysis, and what vectors it has."""

from collections.abc import Iterator

from indexer.errors import IndexDamaged, IndexerError, IndexMismatch, UnknownIndex
from indexer.manifest import Manifest
from indexer.settings import EncoderSettings
from indexer.store import CAPABILITIES
from indexer.store.engines import index_names
from retriever.index import open_index
from stack.doctor.findings import Examined, Finding

REMEDIES: dict[type[IndexerError], str] = {  # of other errors the message tells it
    UnknownIndex: "shrag index PATH --name NAME makes one; shrag indexes list shows those there are",
    IndexMismatch: "shrag index PATH --name {name} --rebuild",
    IndexDamaged: "shrag index PATH --name {name} --rebuild",
}


def check_index(examined: Examined) -> Iterator[Finding]:
    """Open the index that is named, or all there are."""
    settings = examined.settings.indexer
    try:
        names = [examined.index] if examined.index else index_names(settings)
    except IndexerError as error:
        yield Finding("list", "wrong", str(error), mend="mend the engine first; the rest follows from it")
        return
    if not names:
        yield Finding(
            "list", "not configured", "there is none", mend="shrag index PATH --name NAME makes one"
        )
    for name in names:
        yield from _opened(examined, name)


def _opened(examined: Examined, name: str) -> Iterator[Finding]:
    try:
        with open_index(examined.settings.indexer, name) as index:
            manifest = index.manifest
    except IndexerError as error:
        mend = REMEDIES.get(type(error), "what is found tells it; the index itself need not be made anew")
        mend = mend.replace("{name}", name)
        yield Finding(name, "wrong", f"{type(error).__name__}: {error}", mend=mend)
        return
    yield Finding(
        name,
        "ok",
        f"version {manifest.version}, {manifest.passages:,} passages of {manifest.papers:,} papers, "
        f"fingerprint {manifest.fingerprint['tokens']} as today's",
        configured=f"{manifest.engine}, {manifest.analyzer}",
    )
    yield _vectors(manifest, name, examined.settings.indexer.encoder)


def _vectors(manifest: Manifest, name: str, encoder: EncoderSettings) -> Finding:
    """Compare the vectors of an index with the encoder of the settings, without loading it."""
    subject, mark = f"{name}, vectors", manifest.vector_fingerprint
    again = f"shrag index --vectors-only --name {name} makes them anew"
    if mark and CAPABILITIES[manifest.engine].holds_vectors:
        again = f"shrag index PATH --name {name} --rebuild makes them anew"
    if mark is None:
        return Finding(subject, "not configured", "none", mend="" if encoder.provider == "none" else again)
    held = f"{manifest.vector_count:,} of {manifest.passages:,} passages, {mark.dimensions} dimensions"
    made_by = f"{mark.model}{'@' + mark.revision if mark.revision else ''}"
    if encoder.provider == "none":
        mend = f"set SHRAG_ENCODER__PROVIDER and SHRAG_ENCODER__MODEL={mark.model}"
        found = f"{held}, by {made_by}; unused, as no encoder is configured"
        return Finding(subject, "warning", found, mend=mend)
    wanted = {"model": encoder.model, "storage": encoder.storage}
    wanted |= {"revision": encoder.revision} if encoder.revision else {}
    other = [
        f"{key} {getattr(mark, key)}, not {value}"
        for key, value in wanted.items()
        if getattr(mark, key) != value
    ]
    if other:
        found = f"{held}; made otherwise: {'; '.join(other)}"
        return Finding(subject, "warning", found, configured=encoder.model, mend=again)
    if manifest.vector_count < manifest.passages:
        return Finding(subject, "warning", held, configured=encoder.model, mend=again)
    return Finding(subject, "ok", held, configured=encoder.model)
