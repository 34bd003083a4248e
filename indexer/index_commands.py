"""The commands `indexes …`, which manage indexes."""

import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from base.amounts import counted
from base.errors import Remedy
from base.files.durable import describe_error
from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines, escaped_json
from base.terminal.parameters import PathParameter
from base.terminal.progress_bar import progress_bar
from indexer.backups import backup_command, backups_command
from indexer.console import (
    as_record,
    describe_citations,
    describe_counts,
    describe_glossary,
    describe_vectors,
    size_of,
    terms_of,
)
from indexer.errors import IndexDamaged, IndexMismatch, UnknownIndex
from indexer.files.sums import unsealed
from indexer.options import (
    chosen_index,
    interruptible,
    json_option,
    name_argument,
    optional_name_argument,
    raise_last,
)
from indexer.settings import IndexerSettings, named_paths
from indexer.versions.store.engines import index_names, open_store

if TYPE_CHECKING:
    from base.progress import Progress

LISTED = ("name", "version", "engine", "papers", "passages", "published", "counts", "analyzer")
COLUMNS = ("name", "version", "engine", "papers", "passages", "analyzer", "published")


@click.group()
def indexes() -> None:
    """List, show, verify, upgrade, delete, roll back and back up indexes."""


for command in (backup_command, backups_command):
    indexes.add_command(command)


def _show(as_json: bool, record: dict[str, Any], line: str) -> None:
    """Print the result of a command as JSON or as a line."""
    if as_json:
        echo_json(record)
    else:
        echo(line)


@indexes.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the indexes."""
    settings = IndexerSettings()
    records: list[dict[str, Any]] = []
    for name in index_names(settings):
        try:
            with open_store(settings, name) as store:
                manifest = store.manifest()
            records.append(as_record(manifest) | {"analyzer": manifest.analyzer})
        except UnknownIndex:  # deleted in the meantime
            continue
        except (IndexDamaged, IndexMismatch, OSError) as error:  # list the others
            described = f"{type(error).__name__}: {describe_error(error)}"
            records.append(dict.fromkeys(LISTED) | {"name": name, "error": described})
            echo(described, err=True)
    if as_json:
        echo_json({"indexes": records})
    elif records:
        echo_lines(table([COLUMNS, *map(_row, records)]))
    else:
        echo("no indexes yet; make one with: shrag index PATH --name NAME")


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    if "error" in record:
        return (record["name"], record["error"].partition(":")[0], *[""] * (len(COLUMNS) - 2))
    counts = {name: f"{record[name]:,}" for name in ("papers", "passages")}
    return tuple(counts.get(name) or str(record[name]) for name in COLUMNS)


@indexes.command()
@optional_name_argument
@json_option
def show(name: str | None, as_json: bool) -> None:
    """Show the content of an index, its versions, and whether a build is unfinished.

    NAME is optional if there is only one index.
    """
    from indexer.harvesting.mirror import states_in

    settings = IndexerSettings()
    with open_store(settings, chosen_index(name, settings)) as store:
        manifest = store.manifest()
        fields = ("glossary", "citations", "unit", "vectors", "source", "fingerprint")
        record = as_record(manifest) | {
            "analyzer": manifest.analyzer,
            "decompound": manifest.decompound,
            "dictionary": terms_of(store.dictionary(manifest)),
            **{field: getattr(manifest, field) for field in fields},
            "versions": store.versions(),
            "unfinished": store.local.is_unfinished(),
            "folder": str(store.local.path),
        }
        harvests = states_in(store.local.harvest)
        dead_letters = store.local.dead_letter_path(manifest.version)
    if harvests:
        record["harvests"] = [state.as_record() for state in harvests]
    if dead_letters.exists():
        record["dead_letter_file"] = str(dead_letters)
    rows = {
        "index": f"{manifest.name}, version {manifest.version}, published {manifest.published}",
        "holds": f"{size_of(manifest)}; a record is a {manifest.unit}",
        "analysis": f"{manifest.analyzer}, decompound {manifest.decompound}",
        "dictionary": counted(record["dictionary"], "term") if record["dictionary"] else "",
        "glossary": describe_glossary(manifest),
        "citations": describe_citations(manifest),
        "vectors": describe_vectors(manifest),
        "last build": "; ".join(describe_counts(manifest.counts)),
        "source": ", ".join(manifest.source.get("paths", ())),
        "harvests": "; ".join(state.described for state in harvests),
        "dead letters": record.get("dead_letter_file", ""),
        "versions": ", ".join(map(str, record["versions"])),
        "unfinished": "a build is running or was interrupted" if record["unfinished"] else "",
        "engine": manifest.engine,
        "fingerprint": ", ".join(f"{key} {value}" for key, value in manifest.fingerprint.items()),
        "folder": record["folder"],
    }
    if as_json:
        echo_json(record)
    else:
        echo_lines(f"{key:12}  {value}" for key, value in rows.items() if value)


@indexes.command()
@name_argument
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete an index with all of its versions."""
    with open_store(IndexerSettings(), name) as store:
        try:
            is_begun = store.current() is None and store.local.is_begun()
            content = "an unfinished build" if is_begun else counted(store.manifest().passages, "passage")
        except (IndexDamaged, IndexMismatch):  # it can still be deleted
            content = "unreadable"
        if not yes:
            click.confirm(f"delete index {name!r} ({content})?", abort=True, err=True)
        store.delete()
    _show(as_json, {"name": name, "deleted": True}, f"index {name!r} is deleted")


@indexes.command()
@name_argument
@click.argument("version", type=click.IntRange(min=1), required=False)
@json_option
def rollback(name: str, version: int | None, as_json: bool) -> None:
    """Make VERSION the current version; without VERSION, the previous one.

    With VERSION, it also repairs an index without a record of its current version.
    """
    with open_store(IndexerSettings(), name) as store:
        version = store.rollback(version)
    line = f"index {name!r}: version {version} is the current version again"
    _show(as_json, {"name": name, "version": version}, line)


@indexes.command()
@name_argument
@json_option
def upgrade(name: str, as_json: bool) -> None:
    """Rewrite NAME for the installed analysis and libraries, from its stored passages.

    The corpus is not needed. If NAME is up to date, nothing is published.
    """
    from indexer.upgrade import upgrade_index

    with progress_bar() as progress, interruptible():
        manifest, is_new = upgrade_index(name, IndexerSettings(), progress)
    record = {"name": name, "version": manifest.version, "is_published": is_new}
    state = "is published" if is_new else "is up to date"
    _show(as_json, record, f"index {name!r}: version {manifest.version} {state}")


@indexes.command()
@optional_name_argument
@click.option("--all", "every", is_flag=True, help="Verify all indexes.")
@json_option
def verify(name: str | None, every: bool, as_json: bool) -> None:
    """Verify every byte of each version of NAME by checksums; exit 1 if one is damaged.

    NAME is optional if there is only one index. In a cluster, whose servers check their own files, passages
    are counted, and glossary and citations are verified.
    """
    settings = IndexerSettings()
    if every and name:
        raise click.UsageError("NAME and --all exclude each other")
    names = index_names(settings) if every else [chosen_index(name, settings)]
    records, damaged = [], []
    for each in names:
        with progress_bar() as progress:
            found, lost = _verify(settings, each, progress)
        versions = [{"version": version, "differs": lines} for version, lines in found.items()]
        records.append({"name": each, "versions": versions, "pointer": lost.what if lost else None})
        for version, lines in {} if as_json else found.items():
            echo(f"index {each!r}, version {version}: {'damaged' if lines else 'intact'}")
            echo_lines(f"  {line}" for line in lines)
        wrong = [str(version) for version, lines in found.items() if lines]
        if lost:
            damaged.append(lost)
        elif wrong:
            of = f"{counted(len(wrong), 'version')} of {len(found)} damaged ({', '.join(wrong)})"
            remedies = (Remedy.POINT_TO, Remedy.REBUILD)
            damaged.append(IndexDamaged(f"index {each!r}: {of}", remedy=remedies, index=each))
    if as_json:
        echo_json({"indexes": records} if every else records[0])
    raise_last(damaged)


def _verify(
    settings: IndexerSettings, name: str, progress: "Progress"
) -> tuple[dict[int, list[str]], IndexDamaged | None]:
    """Return the differences of each version of an index, and the error of its pointer."""
    lost = current = None
    with open_store(settings, name) as store:
        try:
            current = store.require_current()
        except IndexDamaged as error:  # the versions can still be verified
            lost = error
        compared = {}
        for version in store.versions():
            with ExitStack() as held:
                with suppress(OSError):  # its manifest is unreadable, or it was pruned
                    held.enter_context(store.holding(version))
                compared[version] = store.verify_files(version, progress)
        sources = store.local.sources
        if current in compared and sources.exists() and unsealed(sources.read_bytes()) is None:
            compared[current].append(f"{sources.name} has a wrong checksum: all files will be read again")
        there = store.versions()  # others were pruned in the meantime
    return {version: lines for version, lines in compared.items() if version in there}, lost


@indexes.command()
@name_argument
@click.option("--out", type=PathParameter(dir_okay=False), help="Output file. Default: standard output.")
def export(name: str, out: Path | None) -> None:
    """Write the passages of NAME as JSON lines, in corpus order."""
    from base.files.output_files import check_output, output_file

    settings = IndexerSettings()
    if out:
        check_output(out, (settings.home / name, *named_paths(settings)))
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
    """Publish a version of NAME without the records with these ids."""
    from indexer.ingest import remove_records

    with progress_bar() as progress, interruptible():
        manifest, absent = remove_records(name, ids, IndexerSettings(), progress)
    removed, left = counted(manifest.counts["removed"], "record"), counted(manifest.passages, "passage")
    line = f"index {name!r}, version {manifest.version}: {removed} removed, {left} left"
    _show(as_json, as_record(manifest) | {"absent": absent}, line)
    if absent and not as_json:
        echo(f"not in the index: {', '.join(absent)}", err=True)
