"""Options of the commands that search, answer and find papers."""

from typing import TYPE_CHECKING

import click

from base.terminal.completion import completing
from base.terminal.option_sections import option_section
from base.terminal.path_parameter import PathParameter
from indexer.options import chosen_index, name_option
from retriever.exports import export_names
from retriever.methods import method_names

if TYPE_CHECKING:
    from indexer.settings import IndexerSettings

# Headings of the help.
SEARCHING = "How to search"
LIMITS = "Limits"
OUTPUT = "Output"

method_option = click.option(
    "--method",
    type=click.Choice(method_names()),
    default="shrag",
    show_default=True,
    help="shrag: tuned; or: one OR query; paper: the paper's ten queries; boolean: the expert language; "
    "dense: nearest vectors.",
)

synonyms_option = click.option(
    "--synonyms",
    type=PathParameter(),
    metavar="FILE",
    help="Synonyms for the question, one rule per line: 딥러닝, 심층학습, deep learning; "
    "one-way: R&D => 연구개발",
)

plan_options = (
    click.option(
        "--keyword",
        "keywords",
        metavar="TEXT",
        multiple=True,
        help="Search by these keywords instead, the most important first; repeatable.",
    ),
    click.option(
        "--skip", metavar="QUERY", multiple=True, help="Leave a query out: question, SQ9, …; repeatable."
    ),
    synonyms_option,
)


def source_names(values: tuple[str, ...]) -> tuple[str, ...]:
    """Split the names of sources; options without any name are an error."""
    names = tuple(filter(None, map(str.strip, ",".join(values).split(","))))
    if values and not names:
        raise click.BadParameter("no source is named")
    return names


def _declared_names() -> list[str]:
    from retriever.sources.configuration import read_tables

    return list(read_tables())


place_options = option_section(
    "Where to search",
    name_option,
    click.option(
        "--source",
        "sources",
        metavar="NAME[,NAME]",
        multiple=True,
        callback=lambda _, __, values: source_names(values),
        shell_complete=completing(_declared_names, files=True),
        help="Search these sources instead of an index: [sources.NAME] of shrag.toml, or a file NAME.toml.",
    ),
)


def chosen_place(name: str | None, sources: tuple[str, ...], settings: "IndexerSettings") -> str:
    """Return the name of the index to search, or "" for sources; raises the errors of `chosen_index`."""
    if sources and name:
        raise click.UsageError("--source excludes --name")
    return "" if sources else chosen_index(name, settings)


filter_options = (
    click.option("--year", metavar="Y|Y..Y", help="Year of publication: 2019, 2019..2024, ..2024, 2019.."),
    click.option("--lang", metavar="LANG", help="Language of the passage: ko, en or other."),
    click.option("--journal", help="Exact name of the journal."),
)

constraint_options = (
    click.option(
        "--exclude", metavar="TERM", multiple=True, help="Rank papers about TERM lower; repeatable."
    ),
    click.option("--strict-time", is_flag=True, help="Keep only papers of the years that QUESTION names."),
    click.option(
        "--no-constraints", is_flag=True, help="Treat exclusions and years in QUESTION as ordinary words."
    ),
)

export_options = (
    click.option("--export", type=click.Choice(export_names()), help="Format for the papers' references."),
    click.option(
        "--out",
        type=PathParameter(),
        metavar="FILE",
        help="Output file of --export; default: standard output.",
    ),
)
