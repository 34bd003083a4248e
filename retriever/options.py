"""Options of the commands that search, answer and find papers."""

from typing import TYPE_CHECKING

import click

from base.terminal.call_options import field_options
from base.terminal.parameters import PathParameter
from indexer.options import chosen_index, index_names
from retriever.calls import CitedCall
from retriever.exports import EXPORTS

if TYPE_CHECKING:
    from indexer.settings import IndexerSettings

synonyms_option = click.option(
    "--synonyms",
    type=PathParameter(),
    metavar="FILE",
    help="Synonyms for the question, one rule per line: 딥러닝, 심층학습, deep learning; "
    "one-way: R&D => 연구개발",
)

strategy_option = click.option(
    "--strategy",
    "strategy_file",
    type=PathParameter(dir_okay=False),
    metavar="FILE",
    help="Search by the strategy in FILE: JSON as printed by --show-strategy.",
)


def _declared_names() -> list[str]:
    from retriever.sources.configuration import read_tables

    return list(read_tables())


# Names that the shell completes, by the field of a call.
COMPLETIONS = {"index": index_names, "sources": _declared_names}


def chosen_place(index: str | None, sources: tuple[str, ...], settings: "IndexerSettings") -> str:
    """Return the name of the index to search, or "" for sources; raises the errors of `chosen_index`."""
    if sources and index:
        raise click.UsageError("--source excludes --name")
    return "" if sources else chosen_index(index, settings)


(cite_option,) = field_options(CitedCall, ["cite"])
out_option = click.option(
    "--out",
    type=PathParameter(),
    metavar="FILE",
    help="Output file of --export, or of --cite (.txt, .md or .docx); default: standard output.",
)
export_options = (
    click.option("--export", type=click.Choice(list(EXPORTS)), help="Format for the papers' references."),
    cite_option,
    out_option,
)
