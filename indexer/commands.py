"""The commands that make and keep indexes: `index`, `indexes …` and `analyze`."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.analysis import ANALYZERS, DECOMPOUND_MODES, Decompound, UserDictionary, make_analyzer
from indexer.analysis.user_dictionary import read_user_dictionary
from indexer.cluster.commands import backup, backups, restore
from indexer.errors import IndexDamaged, UnknownIndex
from indexer.requests import counted
from indexer.settings import IndexerSettings

if TYPE_CHECKING:
    from indexer.manifest import Manifest

INTERRUPTED = 130  # 128 and the number of the signal, as shells say

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
name_option = click.option("--name", required=True, help="The index's name.")
dictionary_option = click.option(
    "--dictionary",
    "dictionary_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="One's own terms, one a line, behind it its parts if it is to be cut: 세종시 세종 시",
)


def _dictionary_of(file: Path | None) -> UserDictionary | None:
    return read_user_dictionary(file) if file else None


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH…")
@name_option
@click.option(
    "--format",
    "corpus_format",
    metavar="FORMAT",
    help="miracl, beir, scienceon, jsonl or csv; else told by the file.",
)
@click.option("--rebuild", is_flag=True, help="Start from empty instead of adding to what is there.")
@click.option("--analyzer", type=click.Choice(list(ANALYZERS)), default="bilingual", show_default=True)
@click.option(
    "--decompound",
    type=click.Choice(DECOMPOUND_MODES),
    default="discard",
    show_default=True,
    help="Korean compounds: their parts, the compound stacked on its parts, or the compound.",
)
@dictionary_option
@click.option("--columns", help="For csv: id=COLUMN,title=COLUMN,…")
@click.option("--strict", is_flag=True, help="Stop at the first record that cannot be read; publish nothing.")
@click.option(
    "--vectors-only",
    is_flag=True,
    help="Read no PATH: give the passages that the index holds the vectors which they lack.",
)
@click.option("--workers", type=click.IntRange(1, 64), help="Processes for analysis; one a core by default.")
@json_option
def index(  # noqa: PLR0913, PLR0917 - a command takes what its options give
    paths: tuple[str, ...],
    name: str,
    corpus_format: str | None,
    rebuild: bool,
    analyzer: str,
    decompound: Decompound,
    dictionary_file: Path | None,
    columns: str | None,
    strict: bool,
    vectors_only: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Index the corpora at PATH… and publish the result under NAME.

    PATH is a file, a folder, an archive (gzip, zip), or hub:OWNER/NAME/FOLDER. Given again, the same command
    goes on where a broken-off one stopped; another corpus adds to the index, replacing records by id.
    """
    from indexer.ingest import IngestRequest, build_index
    from indexer.progress import progress_bar
    from indexer.readers import parse_columns

    settings = IndexerSettings()
    if bool(paths) == vectors_only:
        raise click.UsageError("name a PATH to index, or --vectors-only without one")
    if vectors_only:
        _encode(name, settings, as_json=as_json)
        return
    if workers:
        settings = settings.model_copy(update={"workers": workers})
    request = IngestRequest(
        name=name,
        paths=paths,
        format=corpus_format,
        columns=parse_columns(columns) if columns else None,
        analyzer=analyzer,
        decompound=decompound,
        rebuild=rebuild,
        strict=strict,
        dictionary=_dictionary_of(dictionary_file),
    )
    with progress_bar() as progress, _interruptible():
        report = build_index(request, settings, progress)
    manifest = report.manifest
    if as_json:
        record = _as_record(manifest) | {"seconds": round(report.seconds, 3)}
        record["dead_letters"] = [
            {"file": one.file, "line": one.line, "reason": one.reason} for one in report.dead_letters
        ]
        if report.dead_letter_file:
            record["dead_letter_file"] = str(report.dead_letter_file)
        _echo_json(record)
        return
    rate = manifest.counts["records"] / report.seconds if report.seconds else 0
    read = counted(manifest.counts["records"], "record")
    click.echo(
        f"index {name!r}, version {manifest.version}: {_size(manifest)}, {read} read in "
        f"{report.seconds:.1f} s ({rate:,.0f} a second)"
    )
    for line in _told_counts(manifest.counts)[1:]:
        click.echo(f"  {line}")
    if report.dead_letters:
        first = report.dead_letters[0]
        click.echo(
            f"  {first.file}, line {first.line}: {first.reason}; all in {report.dead_letter_file}", err=True
        )


@contextmanager
def _interruptible() -> Iterator[None]:
    """End on Ctrl-C with one line."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("interrupted; the same command goes on where it stopped", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def _told_vectors(manifest: "Manifest") -> str:
    """Say by what the passages were encoded, and how many were."""
    built = manifest.vector_fingerprint
    if not built:
        return ""
    revision = f"@{built.revision}" if built.revision else ""
    return (
        f"{counted(manifest.vector_count, 'passage')} encoded by {built.model}{revision}, "
        f"{built.dimensions} dimensions, {built.storage}"
    )


def _encode(name: str, settings: IndexerSettings, *, as_json: bool) -> None:
    from indexer.ingest import encode_passages
    from indexer.progress import progress_bar

    with progress_bar() as progress, _interruptible():
        manifest, encoded = encode_passages(name, settings, progress)
    if as_json:
        _echo_json(_as_record(manifest) | {"encoded": encoded})
        return
    if not encoded:
        click.echo(f"index {name!r}: every passage has its vector")
        return
    click.echo(
        f"index {name!r}, version {manifest.version}: {counted(encoded, 'passage')} encoded by "
        f"{settings.encoder.model}"
    )


@click.group()
def indexes() -> None:
    """List, show, delete, roll back and prune indexes."""


@indexes.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the indexes."""
    from indexer.places import index_names, the_index

    settings = IndexerSettings()
    manifests = []
    for name in index_names(settings):
        try:
            with the_index(settings, name) as folder:
                manifests.append(folder.manifest())
        except (IndexDamaged, UnknownIndex) as error:  # the others can be listed
            click.echo(f"{type(error).__name__}: {error}", err=True)
    if as_json:
        _echo_json({"indexes": [_as_record(one) for one in manifests]})
        return
    if not manifests:
        click.echo("no indexes yet; make one with: shrag index PATH --name NAME")
        return
    from rich.table import Table

    from indexer.progress import console

    table = Table("name", "version", "engine", "papers", "passages", "analyzer", "published", box=None)
    for one in manifests:
        sizes = f"{one.papers:,}", f"{one.passages:,}"
        table.add_row(one.name, str(one.version), one.engine, *sizes, one.analyzer, one.published)
    console().print(table)


@indexes.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show what an index is made of, its versions, and whether a build of it is unfinished."""
    from indexer.places import the_index

    with the_index(IndexerSettings(), name) as folder:
        manifest = folder.manifest()
        dead_letters = folder.dead_letter_path(manifest.version)
        record = _as_record(manifest) | {
            "analyzer": manifest.analyzer,
            "decompound": manifest.decompound,
            "dictionary": _terms_of(folder.dictionary(manifest)),
            "unit": manifest.unit,
            "vectors": manifest.vectors,
            "fingerprint": manifest.fingerprint,
            "versions": folder.versions(),
            "unfinished": folder.is_broken_off(),
            "folder": str(folder.path),
        }
    if dead_letters.exists():
        record["dead_letter_file"] = str(dead_letters)
    if as_json:
        _echo_json(record)
        return
    rows = {
        "index": f"{manifest.name}, version {manifest.version}, published {manifest.published}",
        "holds": f"{_size(manifest)}; a record is a {manifest.unit}",
        "analysis": f"{manifest.analyzer}, decompound {manifest.decompound}",
        "dictionary": counted(record["dictionary"], "term") if record["dictionary"] else "",
        "vectors": _told_vectors(manifest),
        "last build": "; ".join(_told_counts(manifest.counts)),
        "dead letters": record.get("dead_letter_file", ""),
        "versions": ", ".join(map(str, record["versions"])),
        "unfinished": "a build is running or broke off" if record["unfinished"] else "",
        "engine": manifest.engine,
        "fingerprint": ", ".join(f"{key} {value}" for key, value in manifest.fingerprint.items()),
        "folder": record["folder"],
    }
    for key, value in rows.items():
        if value:
            click.echo(f"{key:12}  {value}")


@indexes.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete an index with all of its versions."""
    from indexer.places import the_index

    with the_index(IndexerSettings(), name) as folder:
        if not folder.is_broken_off():
            folder.require_current()
        if not yes:
            published = folder.current() is not None
            holds = counted(folder.manifest().passages, "passage") if published else "an unfinished build"
            click.confirm(f"delete index {name!r} ({holds})?", abort=True, err=True)
        folder.delete()
    if as_json:
        _echo_json({"name": name, "deleted": True})
        return
    click.echo(f"index {name!r} is deleted")


@indexes.command()
@click.argument("name")
@json_option
def rollback(name: str, as_json: bool) -> None:
    """Let the version before the present one answer again."""
    from indexer.places import the_index

    with the_index(IndexerSettings(), name) as folder:
        version = folder.rollback()
    if as_json:
        _echo_json({"name": name, "version": version})
        return
    click.echo(f"index {name!r} answers from version {version} again")


@indexes.command()
@click.argument("name")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="A file; standard output by default."
)
def export(name: str, out: Path | None) -> None:
    """Write the passages of NAME as JSON lines, in corpus order."""
    from contextlib import ExitStack

    from indexer.places import the_index
    from indexer.progress import progress_bar

    with ExitStack() as stack:
        folder = stack.enter_context(the_index(IndexerSettings(), name))
        manifest = folder.manifest()
        progress = stack.enter_context(progress_bar())
        file = stack.enter_context(out.open("wb")) if out else sys.stdout.buffer
        for done, passage in enumerate(folder.stored(manifest)):
            progress("exporting", done, manifest.passages)
            file.write(passage.to_json() + b"\n")


@indexes.command()
@click.argument("name")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@json_option
def remove(name: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Publish a version of NAME without the records of these ids."""
    from indexer.ingest import remove_records
    from indexer.progress import progress_bar

    with progress_bar() as progress, _interruptible():
        manifest, absent = remove_records(name, ids, IndexerSettings(), progress)
    if as_json:
        _echo_json(_as_record(manifest) | {"absent": absent})
        return
    removed, left = counted(manifest.counts["removed"], "record"), counted(manifest.passages, "passage")
    click.echo(f"index {name!r}, version {manifest.version}: {removed} removed, {left} left")
    if absent:
        click.echo(f"not in the index: {', '.join(absent)}", err=True)


for command in (backup, backups, restore):
    indexes.add_command(command)


@click.command()
@click.option("--analyzer", type=click.Choice(list(ANALYZERS)), default="bilingual", show_default=True)
@click.option("--decompound", type=click.Choice(DECOMPOUND_MODES), default="discard", show_default=True)
@dictionary_option
def analyze(analyzer: str, decompound: Decompound, dictionary_file: Path | None) -> None:
    r"""Turn texts into tokens.

    JSON lines in, {"text": …}; JSON lines out, {"tokens": [[token, position, start, end], …]}. The text is
    taken as it is, neither stripped nor normalised; positions keep the gaps of dropped words, start and end
    are code points.
    """
    chain = make_analyzer(analyzer, decompound, _dictionary_of(dictionary_file))
    for number, text in _texts(sys.stdin.buffer):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise click.UsageError(f"line {number}: a lone surrogate in the text") from None
        sys.stdout.write(json.dumps({"tokens": chain.analyze(text)}, ensure_ascii=False) + "\n")


def _texts(lines: Any) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            text = json.loads(line)["text"]
        except (ValueError, TypeError, KeyError, RecursionError):
            text = None
        if not isinstance(text, str):
            raise click.UsageError(f'line {number} is not a JSON object with a "text"')
        yield number, text


def _terms_of(dictionary: UserDictionary | None) -> int:
    return len(dictionary.entries) if dictionary else 0


def _as_record(manifest: "Manifest") -> dict[str, Any]:
    names = ("name", "version", "engine", "papers", "passages", "published", "counts")
    return {name: getattr(manifest, name) for name in names}


def _size(manifest: "Manifest") -> str:
    return f"{counted(manifest.passages, 'passage')} of {counted(manifest.papers, 'paper')}"


def _echo_json(record: dict[str, Any]) -> None:
    click.echo(json.dumps(record, ensure_ascii=False))


TOLD = {
    "records": "read",
    "removed": "removed",
    "replaced": "replaced by newer ones of the same id",
    "duplicates": "left out, the id stands again further on",
    "incomplete": "without an abstract, marked incomplete",
    "cut": "cut at 1,000,000 characters",
    "dead_letters": "that could not be read (dead letters)",
}


def _told_counts(counts: dict[str, int]) -> list[str]:
    told = [f"{counted(counts[key], 'record')} {words}" for key, words in TOLD.items() if counts.get(key)]
    return told + ([f"{counted(encoded, 'passage')} encoded"] if (encoded := counts.get("encoded")) else [])
