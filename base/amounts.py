"""Numbers as messages give them."""

from decimal import Decimal


def counted(number: int, thing: str) -> str:
    """Return how many there are of a thing: 1 record, 2,000 records."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def plain(number: float) -> str:
    """Return a number to six places that count, never with an exponent: 0.35, 1,800."""
    return f"{Decimal(f'{number:.6g}'):,f}"
