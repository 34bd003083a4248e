"""The parts of a document, without a format."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a paragraph in one kind of type, on one line."""

    text: str
    italic: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the title."""

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; an entry of a reference list has a hanging indent, an item a bullet."""

    runs: tuple[Run, ...]
    kind: Literal["text", "item", "reference"] = "text"

    @property
    def text(self) -> str:
        """The text without types."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block: TypeAlias = Heading | Paragraph | Table
Document: TypeAlias = Sequence[Block]


def plain(text: str, kind: Literal["text", "item", "reference"] = "text") -> Paragraph:
    """Make a paragraph of one run."""
    return Paragraph((Run(text),), kind)


def table(header: Sequence[object], rows: Sequence[Sequence[object]]) -> Table:
    """Make a table of values, which are converted to text."""
    return Table(tuple(map(str, header)), tuple(tuple(map(str, row)) for row in rows))
