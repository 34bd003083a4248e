"""The output of `--export`, `--cite` and `--out`: the references of papers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from base.amounts import counted
from base.files.output_files import output_file, write_output, write_standard_output
from base.terminal.output import echo
from retriever.exports import export_named
from retriever.reference import Record

if TYPE_CHECKING:  # loaded where references are cited
    from base.documents.blocks import Document


def check_export(export: str | None, cite: str | None, out: Path | None, *, as_json: bool) -> None:
    """Check the options before the search.

    Raises:
        UsageError: options that exclude each other.
        InvalidCall: the file of --cite has another ending.
        LibraryMissing: the processor of citation styles is not installed.
    """
    given = {"--json": as_json, "--export": export, "--cite": cite}
    first, *others = [option for option, value in given.items() if value] or [""]
    if others:
        raise click.UsageError(f"{first} and {others[0]} exclude each other")
    if out and not (export or cite):
        raise click.UsageError("--out needs --export or --cite")
    if cite:
        from base.documents.formats import format_of
        from retriever.citing.reference_list import check_citeproc

        check_citeproc()
        if out:
            format_of(out)


def write_export(export: str | None, cite: str | None, records: Sequence[Record], out: Path | None) -> None:
    """Write the references of papers to a file, or to standard output."""
    count = counted(len(records), "reference")
    if cite:
        from retriever.citing.reference_list import list_document

        write_document(list_document(cite, records), out, count)
        return
    pieces = export_named(export or "").encoded(records)
    if out is None:
        write_standard_output(pieces)
        return
    with output_file(out) as file:
        file.writelines(pieces)
    echo(f"{count} written to {out}", err=True)


def write_document(document: "Document", out: Path | None, what: str) -> None:
    """Write a document to a file, in the format of its ending, or as text to standard output."""
    from base.documents.formats import DOCUMENT_FORMATS, format_of

    if out is None:
        write_standard_output([DOCUMENT_FORMATS["text"].encoded(document)])
        return
    write_output(out, format_of(out).encoded(document))
    echo(f"{what} written to {out}", err=True)
