"""The commands that keep indexes: `indexes …`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.cluster.commands import backup, backups, restore
from indexer.columns import table
from indexer.console import as_record, describe_counts, describe_vectors, size_of, terms_of
from indexer.errors import IndexDamaged, IndexMismatch, UnknownIndex
from indexer.options import interruptible, json_option, name_argument
from indexer.remedies import describe_error
from indexer.requests import counted
from indexer.settings import IndexerSettings
from indexer.terminal import echo, echo_json, echo_lines, escaped_json

if TYPE_CHECKING:
    from indexer.store import IndexStore


@click.group()
def indexes() -> None:
    """List, show, delete, roll back and prune indexes."""


@indexes.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the indexes."""
    from indexer.store.engines import index_names, open_store

    settings = IndexerSettings()
    manifests = []
    for name in index_names(settings):
        try:
            with open_store(settings, name) as store:
                manifests.append(store.manifest())
        except (IndexDamaged, IndexMismatch, UnknownIndex) as error:  # the others can be listed
            echo(f"{type(error).__name__}: {describe_error(error)}", err=True)
    if as_json:
        echo_json({"indexes": [as_record(manifest) for manifest in manifests]})
        return
    if not manifests:
        echo("no indexes yet; make one with: shrag index PATH --name NAME")
        return
    rows = [("name", "version", "engine", "papers", "passages", "analyzer", "published")]
    for manifest in manifests:
        sizes = f"{manifest.papers:,}", f"{manifest.passages:,}"
        names = manifest.name, str(manifest.version), manifest.engine
        rows.append((*names, *sizes, manifest.analyzer, manifest.published))
    echo_lines(table(rows))


@indexes.command()
@name_argument
@json_option
def show(name: str, as_json: bool) -> None:
    """Show what an index is made of, its versions, and whether a build of it is unfinished."""
    from indexer.store.engines import open_store

    with open_store(IndexerSettings(), name) as store:
        manifest = store.manifest()
        dead_letters = store.local.dead_letter_path(manifest.version)
        record = as_record(manifest) | {
            "analyzer": manifest.analyzer,
            "decompound": manifest.decompound,
            "dictionary": terms_of(store.dictionary(manifest)),
            "unit": manifest.unit,
            "vectors": manifest.vectors,
            "source": manifest.source,
            "fingerprint": manifest.fingerprint,
            "versions": store.versions(),
            "unfinished": store.local.is_unfinished(),
            "folder": str(store.local.path),
        }
    if dead_letters.exists():
        record["dead_letter_file"] = str(dead_letters)
    if as_json:
        echo_json(record)
        return
    rows = {
        "index": f"{manifest.name}, version {manifest.version}, published {manifest.published}",
        "holds": f"{size_of(manifest)}; a record is a {manifest.unit}",
        "analysis": f"{manifest.analyzer}, decompound {manifest.decompound}",
        "dictionary": counted(record["dictionary"], "term") if record["dictionary"] else "",
        "vectors": describe_vectors(manifest),
        "last build": "; ".join(describe_counts(manifest.counts)),
        "source": ", ".join(manifest.source.get("paths", ())),
        "dead letters": record.get("dead_letter_file", ""),
        "versions": ", ".join(map(str, record["versions"])),
        "unfinished": "a build is running or was interrupted" if record["unfinished"] else "",
        "engine": manifest.engine,
        "fingerprint": ", ".join(f"{key} {value}" for key, value in manifest.fingerprint.items()),
        "folder": record["folder"],
    }
    for key, value in rows.items():
        if value:
            echo(f"{key:12}  {value}")


@indexes.command()
@name_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete an index with all of its versions."""
    from indexer.store.engines import open_store

    with open_store(IndexerSettings(), name) as store:
        if not store.local.is_unfinished():
            store.require_current()
        if not yes:
            click.confirm(f"delete index {name!r} ({_content_of(store)})?", abort=True, err=True)
        store.delete()
    if as_json:
        echo_json({"name": name, "deleted": True})
        return
    echo(f"index {name!r} is deleted")


def _content_of(store: "IndexStore") -> str:
    if store.current() is None:
        return "an unfinished build"
    try:
        return counted(store.manifest().passages, "passage")
    except (IndexDamaged, IndexMismatch):  # it can be deleted all the same
        return "it cannot be read"


@indexes.command()
@name_argument
@json_option
def rollback(name: str, as_json: bool) -> None:
    """Let the version before the present one answer again."""
    from indexer.store.engines import open_store

    with open_store(IndexerSettings(), name) as store:
        version = store.rollback()
    if as_json:
        echo_json({"name": name, "version": version})
        return
    echo(f"index {name!r} answers from version {version} again")


@indexes.command()
@name_argument
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="A file; standard output by default."
)
def export(name: str, out: Path | None) -> None:
    """Write the passages of NAME as JSON lines, in corpus order."""
    from contextlib import ExitStack

    from indexer.output_files import check_output, output_file
    from indexer.progress import progress_bar
    from indexer.store.engines import open_store

    settings = IndexerSettings()
    if out:
        check_output(out, (settings.home / name,))
    with ExitStack() as stack:
        store = stack.enter_context(open_store(settings, name))
        manifest = store.manifest()
        progress = stack.enter_context(progress_bar())
        file = stack.enter_context(output_file(out)) if out else sys.stdout.buffer
        for done, passage in enumerate(store.stored_passages(manifest)):
            progress("exporting", done, manifest.passages)
            file.write(escaped_json(passage.to_json().decode()).encode() + b"\n")


@indexes.command()
@name_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@json_option
def remove(name: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Publish a version of NAME without the records of these ids."""
    from indexer.ingest import remove_records
    from indexer.progress import progress_bar

    with progress_bar() as progress, interruptible():
        manifest, absent = remove_records(name, ids, IndexerSettings(), progress)
    if as_json:
        echo_json(as_record(manifest) | {"absent": absent})
        return
    removed, left = counted(manifest.counts["removed"], "record"), counted(manifest.passages, "passage")
    echo(f"index {name!r}, version {manifest.version}: {removed} removed, {left} left")
    if absent:
        echo(f"not in the index: {', '.join(absent)}", err=True)


for command in (backup, backups, restore):
    indexes.add_command(command)
