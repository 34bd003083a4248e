"""The output of `--export` and `--out`: the references of papers."""

from collections.abc import Sequence
from pathlib import Path

import click

from base.amounts import counted
from base.files.output_files import output_file, write_standard_output
from base.terminal.output import echo
from retriever.exports import Record, export_named


def check_export(export: str | None, out: Path | None, *, as_json: bool) -> None:
    """Raise UsageError for options that exclude each other."""
    if export and as_json:
        raise click.UsageError("--json and --export exclude each other")
    if out and not export:
        raise click.UsageError("--out needs --export")


def write_export(export: str, records: Sequence[Record], out: Path | None) -> None:
    """Write the references of papers to a file, or to standard output."""
    pieces = export_named(export).encoded(records)
    if out is None:
        write_standard_output(pieces)
        return
    with output_file(out) as file:
        file.writelines(pieces)
    echo(f"{counted(len(records), 'reference')} written to {out}", err=True)
