"""Command `explain`, and the output of a search."""

import asyncio
from pathlib import Path

import click

from base.amounts import counted
from base.calls import Section
from base.terminal.call_options import call_options
from base.terminal.columns import display_width, line_width, table, wrap, wrapped_table
from base.terminal.output import echo, echo_json, echo_lines, shortened, styled, time_with_start, visible
from base.terminal.parameters import SectionedCommand, option_section
from indexer.corpora.papers import language_of
from indexer.options import chosen_index, json_option
from indexer.settings import IndexerSettings
from retriever.calls import ExplainedSearch
from retriever.options import COMPLETIONS, strategy_option, synonyms_option
from retriever.query_plan import BRIDGES, EXPRESSION, FEEDBACK, NOTHING_TO_SEARCH
from retriever.stages.hits import SearchResult, unknown_words_note
from retriever.strategy import read_strategy

LEFT_OUT = {
    "incomplete": "incomplete paper",
    "duplicates": "duplicate",
    "low_scores": "paper of a low score",
}  # in the singular
OR = " OR "
LONGEST_QUERY = 1_000  # characters that are shown
TERMS_SHOWN = 12  # of a query of the second search, which may have dozens


@click.command(cls=SectionedCommand)
@call_options(ExplainedSearch, COMPLETIONS, without={"k", "strategist"})
@option_section(Section.SEARCHING, strategy_option, synonyms_option)
@option_section(Section.OUTPUT, json_option)
def explain(
    call: ExplainedSearch, *, strategy_file: Path | None, synonyms: Path | None, as_json: bool
) -> None:
    """Explain the score of PASSAGE_ID for QUESTION, part by part and word by word.

    The score of a search with a model's strategy is explained with the strategy that --show-strategy printed.
    """
    from retriever.explaining import explain as run
    from retriever.explaining import explanation_lines
    from retriever.index import open_index
    from retriever.settings import RetrieverSettings

    settings, places = RetrieverSettings(), IndexerSettings()
    if strategy_file:
        call = call.changed(strategy=read_strategy(strategy_file))
    request, synonyms = call.request(), synonyms or settings.synonyms
    with open_index(places, chosen_index(call.index, places), synonyms, follow=True) as index:
        account = asyncio.run(index.run(run, request, call.passage_id, settings))
    if as_json:
        echo_json(account.as_record())
        return
    echo_lines(explanation_lines(account))


def show_search(result: SearchResult) -> None:
    """Print keywords, queries and hits for a person."""
    show_trace(result)
    if not result.listed:
        echo(NOTHING_TO_SEARCH if NOTHING_TO_SEARCH in result.notes else "no hits")
    else:
        _show_hits(result)
    order = f"ordered by {result.order}" if result.hits else ""
    left_out = ", ".join(counted(count, LEFT_OUT[kind]) for kind, count in result.filtered.items() if count)
    if said := "; ".join(filter(None, (order, left_out and f"left out: {left_out}"))):
        echo(said, err=True)
    if result.listed:
        echo(f"{result.milliseconds['total']:,.0f} ms, {time_with_start()}", err=True)


def _show_hits(result: SearchResult) -> None:
    header = ("", "score", "passage", "year", "title and text")
    rows = [
        (str(hit.rank).rjust(2), f"{hit.score:.4f}", hit.passage_id, str(hit.passage.year or ""), "")
        for hit in result.listed
    ]
    first, *begun = table([header, *rows])
    indent = display_width(first) - len(header[-1])
    echo(first)
    for hit, begin in zip(result.listed, begun, strict=True):
        title, *more = wrap(visible(shortened(hit.passage.title)), line_width() - indent) or ["(no title)"]
        echo(begin + " " * (indent - display_width(begin)), styled(title, bold=True))
        below: list[str] = [styled(line, bold=True) for line in more]
        below += [styled(line, dim=True) for line in wrap(visible(hit.snippet), line_width() - indent)]
        below += [line for one in hit.remarks() for line in wrap(visible(one), line_width() - indent)]
        for line in below:
            echo(" " * indent, line)


def show_trace(result: SearchResult) -> None:
    """Print the keywords, and the queries with their numbers of hits."""
    if result.keywords:
        shown = ", ".join(f"{shortened(keyword.text)} ({keyword.weight:.2f})" for keyword in result.keywords)
        echo(styled("keywords", bold=True), f"  {shown}")
    rows = [("query", "hits")]
    for query in result.queries:
        words, titles, _ = query.query.partition(" OR title:")
        in_titles = titles and query.name != EXPRESSION
        text = words if in_titles else query.query
        shown = shortened(_first_terms(text) if query.name in (FEEDBACK, BRIDGES) else text, LONGEST_QUERY)
        rows.append((f"{shown} (and in titles)" if in_titles else shown, str(query.hits)))
    for lines in wrapped_table(rows) if result.queries else ():
        echo_lines(f" {line}" for line in lines)
    unknown = unknown_words_note(language_of(result.question), result.unknown_words)
    for note in filter(None, (*result.notes, unknown)):
        echo(f"note: {note}", err=True)


def _first_terms(query: str) -> str:
    """Shorten a query of the second search; `--json` and `--record` have all of its terms."""
    terms = query.split(OR)
    more = [f"… ({len(terms) - TERMS_SHOWN} more)"] if len(terms) > TERMS_SHOWN else []
    return OR.join([*terms[:TERMS_SHOWN], *more])
