"""Numbers in plain text: tables, never cut to the width of a screen, and counts of things."""

from collections.abc import Sequence


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    """Align columns: the first `words` to the left, the numbers after them to the right."""
    lines = [header, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def shown_p(p_value: float) -> str:
    """Return a p value to four places; what is smaller is not shown as 0."""
    return "<.0001" if p_value < 0.0001 else f"{p_value:.4f}"  # noqa: PLR2004 - the last place shown
