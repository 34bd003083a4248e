"""Numbers formatted for messages."""

from decimal import Decimal


def counted(number: int, thing: str) -> str:
    """Format a count with its noun: 1 record, 2,000 records."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def plain(number: float) -> str:
    """Format a number with at most six significant digits and without an exponent: 0.35, 1,800."""
    return f"{Decimal(f'{number:.6g}'):,f}"
