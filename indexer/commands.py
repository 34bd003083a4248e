"""The commands `index` and `analyze`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from base.amounts import counted
from base.terminal.output import echo, echo_json, echo_lines
from indexer.analysis import Decompound, make_analyzer
from indexer.console import (
    as_record,
    counts_by_name,
    describe_counts,
    describe_glossary,
    size_of,
)
from indexer.options import (
    analyzer_option,
    chosen_index,
    decompound_option,
    dictionary_of,
    dictionary_option,
    glossary_of,
    glossary_option,
    interruptible,
    json_option,
    name_option,
)
from indexer.settings import IndexerSettings

SHOWN_LETTERS = 3  # dead letters in the output


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH…")
@name_option
@click.option(
    "--format",
    "corpus_format",
    metavar="FORMAT",
    help="jsonl, csv, ris, bibtex, endnote, csl-json, crossref, openalex, arxiv, pubmed, jats, dublin-core, "
    "marcxml, scienceon, miracl, beir, pdf, markdown or text. Default: detected per file.",
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
@click.option("--workers", type=click.IntRange(1, 64), help="Analysis processes. Default: one per core.")
@json_option
def index(  # noqa: PLR0913, PLR0917 - a command takes what its options give
    paths: tuple[str, ...],
    name: str | None,
    corpus_format: str | None,
    rebuild: bool,
    analyzer: str,
    decompound: Decompound,
    dictionary_file: Path | None,
    glossary_file: Path | None,
    columns: str | None,
    follow_links: bool,
    strict: bool,
    vectors_only: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Index the corpora at PATH… and publish the result as index NAME.

    Without --name, the index SHRAG_NAME or the only existing index gets a new version.

    PATH is a file, a folder, an archive (gzip, zip), or hub:OWNER/NAME/FOLDER. Repeating an interrupted
    command resumes it; another corpus is added to the index, replacing records with the same id.
    """
    from base.terminal.progress_bar import progress_bar
    from indexer.corpora.readers import parse_columns
    from indexer.ingest import IngestRequest, build_index

    settings = IndexerSettings()
    if bool(paths) == vectors_only:
        raise click.UsageError("give a PATH to index, or --vectors-only")
    if name is None and rebuild:
        raise click.UsageError("--rebuild replaces an index: name it (--name)")
    if name is None:
        name = chosen_index(name, settings)
        echo(f"no --name given; using index {name!r}", err=True)
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
        follow_links=follow_links,
        dictionary=dictionary_of(dictionary_file),
        glossary=glossary_of(glossary_file),
    )
    with progress_bar() as progress, interruptible():
        report = build_index(request, settings, progress)
    manifest = report.manifest
    if as_json:
        record = as_record(manifest) | {"seconds": round(report.seconds, 3)}
        record["dead_letters"] = [
            {"file": letter.file, "line": letter.line, "reason": letter.reason}
            for letter in report.dead_letters
        ]
        if report.dead_letter_file:
            record["dead_letter_file"] = str(report.dead_letter_file)
        record["formats"] = report.formats
        record["left_out"] = report.left_out.as_record()
        echo_json(record)
        return
    rate = manifest.counts["records"] / report.seconds if report.seconds else 0
    read = counted(manifest.counts["records"], "record")
    echo(
        f"index {name!r}, version {manifest.version}: {size_of(manifest)}, {read} read in "
        f"{report.seconds:.1f} s ({rate:,.0f} per second)"
    )
    for line in [*describe_counts(manifest.counts)[1:], describe_glossary(manifest)]:
        echo(f"  {line}")
    if sum(report.formats.values()) > 1:
        echo(f"  files: {counts_by_name(report.formats)}")
    echo_lines((f"  {line}" for line in report.left_out.described()), err=True)
    if letters := report.dead_letters:
        written = report.dead_letters_written
        share = "all" if written == manifest.counts["dead_letters"] else f"the first {written:,}"
        *others, last = [f"  {letter.described}" for letter in letters[:SHOWN_LETTERS]]
        echo_lines([*others, f"{last}; {share} in {report.dead_letter_file}"], err=True)


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
def analyze(analyzer: str, decompound: Decompound, dictionary_file: Path | None) -> None:
    r"""Turn texts into tokens.

    Input: JSON lines {"text": …}. Output: JSON lines {"tokens": [[token, position, start, end], …]}. The text
    is neither stripped nor normalised. Positions keep the gaps of dropped words; start and end are code point
    offsets.
    """
    chain = make_analyzer(analyzer, decompound, dictionary_of(dictionary_file))
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
