"""Figures of an experiment as SVG and PNG, drawn by matplotlib, with Hangul if a font has it."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from base.errors import LibraryMissing
from base.extras import extra_remedy

FONTS = ("Noto Sans CJK KR", "NanumGothic", "DejaVu Sans")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")  # Okabe and Ito, for colour-blind readers
MARKERS = "os^Dv"
WIDTH, HEIGHT, DPI = 5.2, 4.0, 150  # inches of a panel, dots per inch


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a panel: a value for each place, and the bounds of its interval if there is one."""

    label: str
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel of a figure: at most five lines over the same places (ticks) of the horizontal axis.

    `across` and `up` are the labels of the axes.
    """

    title: str
    across: str
    up: str
    places: tuple[float, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a panel, with its value and a note above it."""

    label: str
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class BarPanel:
    """A panel of a figure with bars on a logarithmic scale; values below 1 have no bar."""

    title: str
    up: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, saved as `figures/NAME.svg` and `figures/NAME.png`."""

    name: str
    title: str
    panels: tuple[Panel | BarPanel, ...]


def check_plots() -> None:
    """Raise LibraryMissing if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise LibraryMissing(
            "drawing figures requires the library matplotlib, which is not installed",
            remedy=extra_remedy("plots"),
        )


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
            _draw_bars(axes, panel) if isinstance(panel, BarPanel) else _draw_lines(axes, panel)
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


def _draw_bars(axes: Any, panel: BarPanel) -> None:
    values, places = [bar.value for bar in panel.bars], range(len(panel.bars))
    bars = axes.bar(places, [max(value, 1) for value in values], color=COLOURS[0], width=0.6)
    axes.bar_label(bars, [bar.note for bar in panel.bars], padding=2, fontsize="small")
    axes.set_yscale("log")
    axes.set_ylim(1, 10 * max(1, *values))
    axes.set_xticks(places, [bar.label for bar in panel.bars])
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.set_axisbelow(True)
