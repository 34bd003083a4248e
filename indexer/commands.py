"""The commands `index` and `analyze`."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from base.amounts import counted
from base.terminal.output import echo, echo_json
from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.console import as_record
from indexer.options import (
    analyzer_option,
    chosen_index,
    decompound_option,
    dictionary_option,
    glossary_option,
    interruptible,
    json_option,
    name_option,
    partial_option,
    repository_of,
)
from indexer.settings import IndexerSettings

if TYPE_CHECKING:
    from indexer.harvest import HarvestReport


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH…")
@name_option
@click.option(
    "--format",
    metavar="FORMAT",
    help="jsonl, csv, ris, bibtex, endnote, medline, wos, refworks, csl-json, crossref, openalex, arxiv, "
    "pubmed, jats, dublin-core, marcxml, scienceon, miracl, beir, pdf, markdown or text. "
    "Default: detected per file.",
)
@click.option("--rebuild", is_flag=True, help="Start from empty instead of adding to what is there.")
@analyzer_option
@decompound_option
@dictionary_option
@glossary_option
@click.option("--columns", help="For csv: id=COLUMN,title=COLUMN,…")
@click.option(
    "--follow-links",
    is_flag=True,
    help="Follow symbolic links that lead out of a folder; otherwise they are skipped and reported.",
)
@click.option("--strict", is_flag=True, help="Stop at the first invalid record; publish nothing.")
@click.option(
    "--vectors-only",
    is_flag=True,
    help="Read no PATH; encode the passages of the index that have no vector.",
)
@click.option("--set", "set_", metavar="SET", help="For oai: only this set of the repository.")
@click.option(
    "--metadata-prefix",
    metavar="PREFIX",
    help="For oai: the metadata format of the records. Default: oai_dc.",
)
@partial_option
@click.option("--workers", type=click.IntRange(1, 64), help="Analysis processes. Default: one per core.")
@json_option
def index(  # noqa: PLR0913, PLR0917 - a command takes what its options give
    paths: tuple[str, ...],
    name: str | None,
    columns: str | None,
    vectors_only: bool,
    set_: str | None,
    metadata_prefix: str | None,
    partial: bool,
    workers: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Index the corpora at PATH… and publish the result as index NAME.

    Without --name, the index SHRAG_NAME or the only existing index gets a new version.

    PATH is a file, a folder, an archive (gzip, zip), hub:OWNER/NAME/FOLDER, or oai:URL, an OAI-PMH
    repository, which `shrag harvest` keeps up to date. Repeating an interrupted command resumes it; another
    corpus is added to the index, replacing records with the same id.
    """
    from base.terminal.progress_bar import progress_bar
    from indexer.console import report_record, show_report
    from indexer.corpora.readers import parse_columns
    from indexer.harvest import harvest
    from indexer.harvesting.listing import HarvestOptions
    from indexer.ingest import IngestRequest, build_index

    settings = IndexerSettings()
    if bool(paths) == vectors_only:
        raise click.UsageError("give a PATH to index, or --vectors-only")
    repository = repository_of(paths, set_, metadata_prefix)
    if (repository and (options["format"] or columns or options["follow_links"])) or (
        partial and not repository
    ):
        raise click.UsageError(
            "--format, --columns and --follow-links are for files, --partial is for oai:URL"
        )
    if name is None and options["rebuild"]:
        raise click.UsageError("--rebuild replaces an index: name it (--name)")
    if name is None:
        name = chosen_index(name, settings)
        echo(f"no --name given; using index {name!r}", err=True)
    if vectors_only:
        _encode(name, settings, as_json=as_json)
        return
    if workers:
        settings = settings.model_copy(update={"workers": workers})
    request = IngestRequest(name, paths, columns=parse_columns(columns) if columns else None, **options)
    with progress_bar() as progress, interruptible():
        if repository:
            harvested = harvest(repository, request, settings, HarvestOptions(partial=partial), progress)
        else:
            report = build_index(request, settings, progress)
    if repository:
        if not settings.harvest.contact:
            echo("note: set SHRAG_HARVEST__CONTACT, which tells repositories whom to ask", err=True)
        _show_harvest(name, harvested, as_json=as_json)
    elif as_json:
        echo_json(report_record(report))
    else:
        show_report(report)


def _show_harvest(name: str, report: "HarvestReport", *, as_json: bool) -> None:
    from indexer.console import harvest_record, show_harvest

    if as_json:
        echo_json(harvest_record(name, report))
    else:
        show_harvest(name, report)
    if report.failure:
        raise report.failure


def _encode(name: str, settings: IndexerSettings, *, as_json: bool) -> None:
    from base.terminal.progress_bar import progress_bar
    from indexer.ingest import encode_passages

    with progress_bar() as progress, interruptible():
        manifest, encoded = encode_passages(name, settings, progress)
    if as_json:
        echo_json(as_record(manifest) | {"encoded": encoded})
        return
    if not encoded:
        echo(f"index {name!r}: every passage already has a vector")
        return
    echo(
        f"index {name!r}, version {manifest.version}: {counted(encoded, 'passage')} encoded by "
        f"{settings.encoder.model}"
    )


@click.command()
@analyzer_option
@decompound_option
@dictionary_option
def analyze(analyzer: str, decompound: Decompound, dictionary: UserDictionary | None) -> None:
    r"""Turn texts into tokens.

    Input: JSON lines {"text": …}. Output: JSON lines {"tokens": [[token, position, start, end], …]}. The text
    is neither stripped nor normalised. Positions keep the gaps of dropped words; start and end are code point
    offsets.
    """
    chain = make_analyzer(analyzer, decompound, dictionary)
    if sys.stdin is None:
        raise click.UsageError("standard input is closed")
    for number, text in _texts(sys.stdin.buffer):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise click.UsageError(f"line {number}: a lone surrogate in the text") from None
        echo_json({"tokens": chain.analyze(text)})


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
