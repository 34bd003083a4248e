"""The commands that answer: `ask` and `trace`."""

import json
from pathlib import Path

import click

from indexer.options import INTERRUPTED, json_option, name_option
from retriever.commands import filter_options, show_trace, synonyms_option


@click.command()
@click.argument("question")
@name_option
@filter_options
@synonyms_option
@click.option(
    "--trace", "trace_file", type=click.Path(path_type=Path), help="Save all that happened as JSON."
)
@json_option
def ask(
    question: str,
    name: str,
    year: str | None,
    lang: str | None,
    journal: str | None,
    synonyms: Path | None,
    trace_file: Path | None,
    as_json: bool,
) -> None:
    """Answer QUESTION from the five best papers, every sentence cited and checked.

    With a language model (SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL) it writes keywords and answer; without
    one keywords come from statistics and the answer is quoted from the papers.
    """
    from generator.growing import shown_growth
    from generator.pipeline import Settings, answer_question, run
    from retriever.filters import make_filters
    from retriever.index import open_index

    settings = Settings.from_environment()
    filters = make_filters(year, lang, journal)
    try:
        with open_index(settings.indexer, name, synonyms) as index, shown_growth() as on_text:
            answered = run(answer_question(index, question, settings, filters, on_text=on_text))
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        raise SystemExit(INTERRUPTED) from None
    if trace_file:
        answered.trace.save(trace_file)
    if as_json:
        click.echo(json.dumps(answered.as_record(), ensure_ascii=False))
        return
    from generator.showing import show_answer

    show_trace(answered.result)
    show_answer(answered)


@click.group()
def trace() -> None:
    """Show a saved trace, or compare two."""


@trace.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def show(file: Path) -> None:
    """Show what FILE, made with --trace, holds."""
    from generator.showing import show_saved
    from generator.trace import Trace

    try:
        show_saved(Trace.load(file))
    except ValueError as error:
        raise click.UsageError(str(error)) from None


@trace.command()
@click.argument("one", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("other", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def compare(one: Path, other: Path) -> None:
    """List where two traces differ, times aside; exit 1 where they do."""
    from generator.trace import Trace, differences

    try:
        found = differences(Trace.load(one), Trace.load(other))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    click.echo("\n".join(found) if found else "no difference but for times")
    if found:
        raise SystemExit(1)
