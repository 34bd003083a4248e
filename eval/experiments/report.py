"""The results of an experiment for readers: Markdown, and one HTML page that needs no other file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from markdown_it import MarkdownIt

from base.markup import Markup, element, html
from base.terminal.columns import table as aligned
from base.terminal.output import visible
from eval.experiments.experiment import Cell, Outcome, Table

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, "Noto Sans KR", sans-serif; max-width: 72rem; margin: 2rem auto; }
body { padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #8886; text-align: right; }
td { font-variant-numeric: tabular-nums; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; background: #fff; }
"""


@dataclass(frozen=True, slots=True)
class Report:
    """The title of a report, its paragraphs, and the inputs of the results by name."""

    title: str
    paragraphs: Sequence[str]
    made_from: Mapping[str, str]


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


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (columns, ["---"] * len(columns), *rows))


def as_markdown(report: Report, outcome: Outcome) -> str:
    """Format title, paragraphs, tables without times, the files of figures, and notes."""
    parts = [f"# {report.title}", *report.paragraphs]
    for table in _lasting(outcome):
        rows = [[_in_cell(formatted(cell)) for cell in row] for row in table.rows]
        judge = [f"Judged by {_in_markdown(table.judge)}."] if table.judge else []
        parts += [f"## {_in_markdown(table.title)}", *judge]
        parts.append(markdown_table(list(map(_in_cell, table.columns)), rows))
    parts += [f"![{figure.title}](figures/{figure.name}.png)" for figure in outcome.figures]
    if outcome.notes:
        parts.append("\n".join(f"- {_in_markdown(note)}" for note in outcome.notes))
    return "\n\n".join(parts) + "\n"


def _lasting(outcome: Outcome) -> list[Table]:
    """Return the tables that are the same in a repetition."""
    return [table for table in outcome.tables if not table.timed]


def _in_markdown(text: str) -> str:
    """Escape names and titles in Markdown: no HTML, links, images, further lines or control characters."""
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace("[", "\\[")


def _in_cell(text: str) -> str:
    return _in_markdown(text).replace("|", "\\|")


def as_page(report: Report, outcome: Outcome, drawings: Mapping[str, bytes]) -> str:
    """Return the report as a page, with the figures as inline SVG, and the inputs of the results."""
    made_from = [f"- {_in_markdown(name)}: {_in_markdown(value)}" for name, value in report.made_from.items()]
    text = "\n\n".join((as_markdown(report, outcome), "## Made from", "\n".join(made_from)))
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    for figure in outcome.figures:
        image = f'<img src="figures/{figure.name}.png" alt="{escape(figure.title)}" />'
        drawing = drawings[f"{figure.name}.svg"].decode().partition("?>")[2].partition(">")[2]
        body = body.replace(
            image, f"<figure>{drawing}<figcaption>{escape(figure.title)}</figcaption></figure>"
        )
    head = html(
        element("meta", {"charset": "utf-8"}),
        element("meta", {"name": "viewport", "content": "width=device-width"}),
        element("title", None, report.title),
        element("style", None, Markup(STYLE)),
    )
    page = element("html", {"lang": "en"}, element("head", None, head), element("body", None, Markup(body)))
    return f"<!doctype html>\n{page}\n"
