"""What is read of a text once, for all signs by which it is compared."""

from dataclasses import dataclass

from generator.checking.belonging import Placed, placed
from generator.checking.clauses import Text, read_text
from generator.checking.denials import Statement, statements
from generator.checking.opposites import Direction, directions
from generator.checking.quantities import Quantity
from generator.checking.reversed_changes import changes
from indexer.analysis.tokens import Analyzer


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with what its signs are: quantities and their places, changes, directions, what is denied."""

    text: Text
    places: tuple[Placed, ...]
    changes: tuple[tuple[Quantity, Quantity], ...]
    directions: tuple[Direction, ...]
    statements: tuple[Statement, ...]


def read(text: str, analyzer: Analyzer) -> Reading:
    """Read a composed (NFC) text."""
    parts = read_text(text, analyzer)
    return Reading(
        parts, tuple(placed(parts)), tuple(changes(parts)), tuple(directions(parts)), tuple(statements(parts))
    )
