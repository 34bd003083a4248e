"""The results of an experiment for readers: Markdown, and one HTML page that needs no other file."""

from collections.abc import Mapping, Sequence
from typing import Any

from base.markup import Markup, element, html
from base.terminal.columns import table as aligned
from base.terminal.output import visible
from eval.experiments.experiment import Cell, Experiment, Outcome, Table

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, "Noto Sans KR", sans-serif; max-width: 72rem; margin: 2rem auto; }
body { padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #8886; text-align: right; }
td { font-variant-numeric: tabular-nums; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; background: #fff; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dd { margin: 0; }
"""


def as_markdown(experiment: Experiment, outcome: Outcome) -> str:
    """Format the tables, the figures' files and the notes."""
    return markdown_of(experiment.title, [f"Source: {experiment.source}.", experiment.description], outcome)


def markdown_of(title: str, paragraphs: Sequence[str], outcome: Outcome) -> str:
    """Format a title, paragraphs, the tables, the figures' files and the notes."""
    parts = [f"# {title}", *paragraphs]
    for table in _lasting(outcome):
        rows = [
            list(map(_in_cell, table.columns)),
            ["---"] * len(table.columns),
            *([_in_cell(formatted(cell)) for cell in row] for row in table.rows),
        ]
        judge = [f"Judged by {_in_markdown(table.judge)}."] if table.judge else []
        lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        parts += [f"## {_in_markdown(table.title)}", *judge, lines]
    parts += [f"![{figure.title}](figures/{figure.name}.png)" for figure in outcome.figures]
    if outcome.notes:
        parts.append("\n".join(f"- {_in_markdown(note)}" for note in outcome.notes))
    return "\n\n".join(parts) + "\n"


def _in_markdown(text: str) -> str:
    """Escape names and titles in Markdown: no HTML, further lines or control characters."""
    return visible(text).replace("&", "&amp;").replace("<", "&lt;")


def _in_cell(text: str) -> str:
    return _in_markdown(text).replace("|", "\\|")


def as_page(
    experiment: Experiment, outcome: Outcome, drawings: Mapping[str, bytes], manifest: Mapping[str, Any]
) -> str:
    """Return the page: tables, figures as inline SVG, notes, and the inputs of the results."""
    paragraphs = [f"Source: {experiment.source}.", *experiment.description.split("\n\n")]
    return page_of(experiment.title, paragraphs, outcome, drawings, _made_from(manifest))


def page_of(
    title: str,
    paragraphs: Sequence[str],
    outcome: Outcome,
    drawings: Mapping[str, bytes],
    made: Mapping[str, str],
) -> str:
    """Return a page; `made` names the inputs of the results."""
    figures = [
        element(
            "figure",
            None,
            Markup(drawings[f"{figure.name}.svg"].decode().partition("?>")[2].partition(">")[2]),
            element("figcaption", None, figure.title),
        )
        for figure in outcome.figures
        if f"{figure.name}.svg" in drawings
    ]
    listed = [
        html(element("dt", None, visible(name)), element("dd", None, visible(value)))
        for name, value in made.items()
    ]
    body = html(
        element("h1", None, title),
        [element("p", None, _with_code(part)) for part in paragraphs],
        figures,
        [_table(table) for table in _lasting(outcome)],
        element("h2", None, "Notes"),
        element("ul", None, [element("li", None, visible(note)) for note in outcome.notes]),
        element("h2", None, "Made from"),
        element("dl", None, listed),
    )
    head = html(
        element("meta", {"charset": "utf-8"}),
        element("meta", {"name": "viewport", "content": "width=device-width"}),
        element("title", None, title),
        element("style", None, Markup(STYLE)),
    )
    page = element("html", {"lang": "en"}, element("head", None, head), element("body", None, body))
    return f"<!doctype html>\n{page}\n"


def _with_code(text: str) -> Markup:
    """Return a paragraph with its words between backticks as code."""
    parts = text.split("`")
    return html(element("code", None, part) if place % 2 else part for place, part in enumerate(parts))


def _made_from(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the inputs of the results by name; paths differ between repetitions and are left out."""
    index, llm = manifest["index"], manifest["language model"]
    given = {name: value for name, value in manifest["call"].items() if name != "index" and _is_given(value)}
    encoder = manifest["encoder"]
    papers = f", {index['papers']:,} papers, {index['engine']}" if "papers" in index else ""
    return {
        "index": f"{index['name']}{papers}",
        **{
            option: f"{given['copied_to'] or 'not copied'} (SHA-256 {given['sha256'][:12]}…)"
            for option, given in manifest["inputs"].items()
        },
        "options": ", ".join(name if value is True else f"{name} {value}" for name, value in given.items()),
        "language model": f"{llm['model']}, revision {llm['revision']}" if llm else "none",
        "encoder": "none" if encoder["provider"] == "none" else str(encoder["model"]),
        "shrag": manifest["shrag"],
        "repeat": "shrag experiment repeat FOLDER",
    }


def _is_given(value: object) -> bool:
    return value is not False and value not in (None, "", [])


def formatted(cell: Cell) -> str:
    """Format a cell: floats with two decimals, up to 1 with four; integers with separators; None as –."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.4f}" if abs(cell) <= 1 else f"{cell:,.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def table_lines(table: Table) -> list[str]:
    """Return the lines of a table for the terminal: its title, and aligned columns."""
    rows = [table.columns, *([formatted(cell) for cell in row] for row in table.rows)]
    return [table.title, *aligned(rows, words=1)]


def _lasting(outcome: Outcome) -> list[Table]:
    """Return the tables that are the same in a repetition."""
    return [table for table in outcome.tables if not table.timed]


def _table(table: Table) -> Markup:
    def row(tag: str, cells: Sequence[str]) -> Markup:
        return element("tr", None, [element(tag, None, visible(cell)) for cell in cells])

    title = f"{table.title} (judged by {table.judge})" if table.judge else table.title
    rows = element(
        "table",
        None,
        element("caption", None, visible(title)),
        row("th", table.columns),
        [row("td", list(map(formatted, cells))) for cells in table.rows],
    )
    return element("div", {"class": "wide"}, rows)
