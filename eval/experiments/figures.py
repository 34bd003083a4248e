"""Figures of an experiment as SVG and PNG, drawn by matplotlib, with Hangul if a font has it."""

import io
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from base.errors import LibraryMissing
from base.extras import extra_remedy
from eval.experiments.experiment import BarPanel, Figure, Panel

FONTS = ("Noto Sans CJK KR", "NanumGothic", "DejaVu Sans")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")  # Okabe and Ito, for colour-blind readers
MARKERS = "os^Dv"
WIDTH, HEIGHT, DPI = 5.2, 4.0, 150  # inches of a panel, dots per inch


def check_plots() -> None:
    """Raise LibraryMissing if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise LibraryMissing(
            "drawing figures requires the library matplotlib, which is not installed",
            remedy=extra_remedy("plots"),
        )


def _fonts() -> list[str]:
    from matplotlib import font_manager

    known = {font.name for font in font_manager.fontManager.ttflist}
    return [font for font in FONTS if font in known]


def drawn(figure: Figure) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a figure: name and content."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    options: dict[Any, Any] = {
        "font.family": _fonts(),
        "text.parse_math": False,  # a name of a model may contain $
        "svg.fonttype": "path",  # the page looks the same without the font
    }
    with mpl.rc_context(options):
        drawing = Drawing(figsize=(WIDTH * len(figure.panels), HEIGHT), layout="constrained")
        FigureCanvasAgg(drawing)
        for place, panel in enumerate(figure.panels, 1):
            axes = drawing.add_subplot(1, len(figure.panels), place)
            _draw_bars(axes, panel) if isinstance(panel, BarPanel) else _draw(axes, panel)
        for ending in ("svg", "png"):
            file = io.BytesIO()
            drawing.savefig(file, format=ending, dpi=DPI)
            yield f"{figure.name}.{ending}", file.getvalue()


def _draw(axes: Any, panel: Panel) -> None:
    for line, colour, marker in zip(panel.lines, COLOURS, MARKERS, strict=False):
        axes.plot(panel.places, line.values, color=colour, marker=marker, label=line.label)
        if line.low:
            axes.fill_between(panel.places, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    axes.set_xticks(panel.places)
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()


def _draw_bars(axes: Any, panel: BarPanel) -> None:
    values = [bar.value for bar in panel.bars]
    drawn_bars = axes.bar(
        range(len(values)), [max(value, 1) for value in values], color=COLOURS[0], width=0.6
    )
    axes.bar_label(drawn_bars, [bar.note for bar in panel.bars], padding=2, fontsize="small")
    axes.set_yscale("log")
    axes.set_ylim(1, 10 * max(1, *values))
    axes.set_xticks(range(len(values)), [bar.label for bar in panel.bars])
    axes.set_title(panel.title)
    axes.set_ylabel(panel.up)
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.set_axisbelow(True)
