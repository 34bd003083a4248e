"""The results of an experiment for readers: Markdown, one HTML page that needs no other file, and figures.

Figures are SVG and PNG, drawn by matplotlib, with Hangul if a font has it.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib.util import find_spec
from typing import Any

from markdown_it import MarkdownIt

from base.extras import extra_remedy
from base.terminal.columns import table as aligned
from base.terminal.output import visible
from eval.experiments.comparing import Cell, Figure, Outcome, Panel, Table

FONTS = ("Noto Sans CJK KR", "NanumGothic", "DejaVu Sans")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")  # Okabe and Ito, for colour-blind readers
MARKERS = "os^Dv"
WIDTH, HEIGHT, DPI = 5.2, 4.0, 150  # inches of a panel, dots per inch
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
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{style}</style></head>
<body>{body}</body></html>
"""


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


def as_markdown(paragraphs: Sequence[str], outcome: Outcome) -> str:
    """Format paragraphs, tables without times, the files of figures, and notes."""
    parts = [*paragraphs]
    for table in outcome.tables:
        if table.timed:  # differs in a repetition
            continue
        rows = [[_in_cell(formatted(cell)) for cell in row] for row in table.rows]
        judge = [f"Judged by {_in_markdown(table.judge)}."] if table.judge else []
        parts += [f"## {_in_markdown(table.title)}", *judge]
        parts.append(markdown_table(list(map(_in_cell, table.columns)), rows))
    parts += [f"![{figure.title}](figures/{figure.name}.png)" for figure in outcome.figures]
    if outcome.notes:
        parts.append("\n".join(f"- {_in_markdown(note)}" for note in outcome.notes))
    return "\n\n".join(parts) + "\n"


def _in_markdown(text: str) -> str:
    """Escape names and titles in Markdown: no HTML, links, images, further lines or control characters."""
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace("[", "\\[")


def _in_cell(text: str) -> str:
    return _in_markdown(text).replace("|", "\\|")


def as_page(paragraphs: Sequence[str], outcome: Outcome, drawings: Mapping[str, bytes]) -> str:
    """Return the report as a page, with the figures as inline SVG."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    body = markdown.render(as_markdown(paragraphs, outcome))
    for figure in outcome.figures:
        title = escape(figure.title)
        drawing = drawings[f"{figure.name}.svg"].decode().partition("?>")[2].partition(">")[2]
        image = f'<img src="figures/{figure.name}.png" alt="{title}" />'
        body = body.replace(image, f"<figure>{drawing}<figcaption>{title}</figcaption></figure>")
    return PAGE.format(title=escape(paragraphs[0].removeprefix("# ")), style=STYLE, body=body)


def drawable(outcome: Outcome) -> Outcome:
    """Return an outcome without its figures, and with a note, if matplotlib is not installed."""
    if find_spec("matplotlib") is not None or not outcome.figures:
        return outcome
    note = f"figures are not drawn, as matplotlib is missing: {extra_remedy('plots')}"
    return replace(outcome, figures=(), notes=(*outcome.notes, note))


def drawn(figure: Figure) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a figure: name and content."""
    import matplotlib as mpl
    from matplotlib import font_manager
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    known = {font.name for font in font_manager.fontManager.ttflist}
    options: dict[Any, Any] = {
        "font.family": [font for font in FONTS if font in known],
        "text.parse_math": False,  # a name of a model may contain $
        "svg.fonttype": "path",  # the page looks the same without the font
    }
    with mpl.rc_context(options):
        drawing = Drawing(figsize=(WIDTH * len(figure.panels), HEIGHT), layout="constrained")
        FigureCanvasAgg(drawing)
        for place, panel in enumerate(figure.panels, 1):
            axes = drawing.add_subplot(1, len(figure.panels), place)
            axes.set_title(panel.title)
            axes.set_ylabel(panel.up)
            _draw_bars(axes, panel) if panel.bars else _draw_lines(axes, panel)
        for ending in ("svg", "png"):
            file = io.BytesIO()
            drawing.savefig(file, format=ending, dpi=DPI)
            yield f"{figure.name}.{ending}", file.getvalue()


def _draw_lines(axes: Any, panel: Panel) -> None:
    for line, colour, marker in zip(panel.lines, COLOURS, MARKERS, strict=False):
        axes.plot(panel.places, line.values, color=colour, marker=marker, label=line.label)
        if line.low:
            axes.fill_between(panel.places, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
    axes.set_xlabel(panel.across)
    axes.set_xticks(panel.places)
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()


def _draw_bars(axes: Any, panel: Panel) -> None:
    labels, values, notes = zip(*panel.bars, strict=True)
    places = range(len(values))
    bars = axes.bar(places, [max(value, 1) for value in values], color=COLOURS[0], width=0.6)
    axes.bar_label(bars, notes, padding=2, fontsize="small")
    axes.set_yscale("log")
    axes.set_ylim(1, 10 * max(1, *values))
    axes.set_xticks(places, labels)
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.set_axisbelow(True)
