"""The indexes: whether each opens with the current analysis, and its vectors."""

from collections.abc import Callable, Iterator
from functools import partial

from base.amounts import counted
from base.errors import ResourceError
from indexer.settings import EncoderSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store import LOCAL_ENGINES
from indexer.versions.store.engines import index_names, open_store
from retriever.index import open_index
from stack.doctor.findings import Examined, Finding, failed, without_engine

SHOWN_DIFFERENCES = 3


def check_index(examined: Examined) -> Iterator[Finding]:
    """Open the named index, or all of them, and compare the files of their versions with the checksums."""
    settings = examined.settings.indexer
    if not examined.engine_answers:
        yield without_engine("list")
        return
    try:
        names = [examined.index] if examined.index else index_names(settings)
    except (ResourceError, OSError) as error:
        yield failed(
            "list", error, str(settings.home), mend="let this user read the folder, or set SHRAG_HOME"
        )
        return
    if not names:
        mend = "create one: shrag index PATH --name NAME"
        yield Finding("list", "not configured", "there is none", mend=mend)
    for name in names:
        yield from _looked_at(name, partial(_opened, examined, name))
        if not examined.quick:
            yield from _looked_at(f"{name}, files", partial(_verified, examined, name))


def _looked_at(subject: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield the findings of a check, or its error as a finding."""
    try:
        yield from look()
    except (ResourceError, OSError) as error:
        yield failed(subject, error, mend="see the message; the index need not be rebuilt")


def _opened(examined: Examined, name: str) -> Iterator[Finding]:
    with open_index(examined.settings.indexer, name, follow=True) as index:
        manifest = index.manifest
    yield Finding(
        name,
        "ok",
        f"version {manifest.version}, {manifest.passages:,} passages of {manifest.papers:,} papers, "
        "analysis as now",
        configured=f"{manifest.engine}, {manifest.analyzer}",
    )
    yield _vectors(manifest, name, examined.settings.indexer.encoder)


def _verified(examined: Examined, name: str) -> Iterator[Finding]:
    """Read every file of every version; a rollback may need older versions."""
    subject = f"{name}, files"
    with open_store(examined.settings.indexer, name) as store:
        versions = store.versions()
        if not versions:
            return
        found = {}
        for done, version in enumerate(versions):
            examined.progress(f"reading the files of {name}", done, len(versions))
            found[version] = store.verify_files(version)
    damaged = [f"version {version}: {line}" for version, lines in found.items() for line in lines]
    if damaged:
        more = len(damaged) - SHOWN_DIFFERENCES
        shown = [*damaged[:SHOWN_DIFFERENCES], *([f"and {more} more"] if more > 0 else [])]
        mend = (
            f"shrag indexes rollback {name} to a whole version, or shrag index PATH --name {name} --rebuild"
        )
        yield Finding(subject, "wrong", "; ".join(shown), mend=mend)
    else:
        yield Finding(subject, "ok", f"{counted(len(versions), 'version')}, as written")


def _vectors(manifest: Manifest, name: str, encoder: EncoderSettings) -> Finding:
    """Compare the vectors of an index with the configured encoder, without loading it."""
    subject, mark = f"{name}, vectors", manifest.vector_fingerprint
    again = f"shrag index --vectors-only --name {name} makes them again"
    if mark and manifest.engine not in LOCAL_ENGINES:
        again = f"shrag index PATH --name {name} --rebuild makes them again"
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
        found = f"{held}; made with other settings: {'; '.join(other)}"
        return Finding(subject, "warning", found, configured=encoder.model, mend=again)
    if manifest.vector_count < manifest.passages:
        return Finding(subject, "warning", held, configured=encoder.model, mend=again)
    return Finding(subject, "ok", held, configured=encoder.model)
