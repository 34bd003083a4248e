"""The screen that tables and colours are printed to."""

from rich.console import Console

WIDTH_OF_A_FILE = 160  # characters of a table's line where nobody's terminal bounds it


def console(*, stderr: bool = False) -> Console:
    """Make a console for tables and colours; colours only where a person looks, wide lines elsewhere.

    What is printed is text, never markup: titles and questions hold square brackets.
    """
    screen = Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False)
    if not screen.is_terminal:
        screen.width = WIDTH_OF_A_FILE
    return screen
