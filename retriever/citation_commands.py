"""The command `citations`: references between the papers of an index."""

from collections.abc import Sequence
from unicodedata import normalize

import click

from base.amounts import counted
from base.terminal.output import echo, echo_json, shortened, styled, visible
from base.untrusted import one_line
from indexer.options import chosen_index, json_option, name_option
from indexer.settings import IndexerSettings
from retriever.errors import UnknownPaper
from retriever.index import SearchIndex, open_index
from retriever.papers.linked import PaperLinks, linked_papers
from retriever.papers.page import may_be_id
from retriever.papers.records import ListedPaper, listed_paper

MOST_ASKED = 1_000  # papers of one call
MOST_LISTED = 1_000_000  # papers of each list


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="PAPER_ID…")
@name_option
@click.option(
    "-k",
    "most",
    type=click.IntRange(0, MOST_LISTED),
    default=20,
    show_default=True,
    help="Maximum papers in each list.",
)
@json_option
def citations(ids: tuple[str, ...], name: str | None, most: int, as_json: bool) -> None:
    """List the papers of the index that PAPER_ID refers to, and the papers that refer to it."""
    settings = IndexerSettings()
    if len(ids) > MOST_ASKED:
        raise click.UsageError(f"{len(ids):,} papers were given; the maximum is {MOST_ASKED:,}")
    asked = list(dict.fromkeys(normalize("NFC", doc_id) for doc_id in ids))
    with open_index(settings, chosen_index(name, settings)) as index:
        found = _linked(index, asked, most)
        manifest = index.manifest
    absent = [doc_id for doc_id in asked if doc_id not in found]
    if not found:
        named = ", ".join(repr(one_line(doc_id)) for doc_id in absent[:5])
        raise UnknownPaper(f"index {manifest.name!r} contains none of these papers: {named}")
    if as_json:
        papers = [paper.as_record() | linked.as_record() for paper, linked in found.values()]
        echo_json({"name": manifest.name, "version": manifest.version, "papers": papers, "absent": absent})
        return
    for paper, linked in found.values():
        _show(paper, linked)
    if absent:
        echo(f"not in the index: {', '.join(map(shortened, absent))}", err=True)


def _linked(
    index: SearchIndex, doc_ids: Sequence[str], most: int
) -> dict[str, tuple[ListedPaper, PaperLinks]]:
    firsts = index.engine.papers(filter(may_be_id, doc_ids))
    there = [firsts[doc_id] for doc_id in doc_ids if doc_id in firsts]
    return {first.doc_id: (listed_paper(first), linked_papers(index, first, most)) for first in there}


def _show(paper: ListedPaper, linked: PaperLinks) -> None:
    echo(styled(_line(paper), bold=True))
    echo(f"  {counted(linked.reference_count, 'reference')}, {linked.cites_count:,} to papers of the index")
    for cited in linked.cites:
        echo(f"    {_line(cited)}")
    for label in linked.unknown:
        echo(f"    {visible(shortened(label))} (not in the index)")
    echo(f"  cited by {counted(linked.citing_count, 'paper')}")
    for citing in linked.cited_by:
        echo(f"    {_line(citing)}")


def _line(paper: ListedPaper) -> str:
    year = f" ({paper.year})" if paper.year else ""
    return visible(f"{paper.doc_id}  {shortened(paper.title)}{year}")
