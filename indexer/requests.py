"""What `shrag index` is asked to do, and how it tells how far it is and how much there was."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from indexer.analysis import Decompound, UserDictionary
from indexer.glossary.given import Entry

# (stage, done, total): total is 0 where it is not known.
Progress = Callable[[str, int, int], None]


def no_progress(_stage: str, _done: int, _total: int) -> None:
    """Show nothing."""


def counted(number: int, thing: str) -> str:
    """Return how many there are of a thing: 1 record, 2,000 records."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def plain(number: float) -> str:
    """Return a number to six places that count, never with an exponent: 0.35, 1,800."""
    return f"{Decimal(f'{number:.6g}'):,f}"


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What `shrag index` was asked to do."""

    name: str
    paths: Sequence[str]
    format: str | None = None
    columns: Mapping[str, str] | None = None
    analyzer: str = "bilingual"
    decompound: Decompound = "discard"
    rebuild: bool = False
    strict: bool = False
    follow_links: bool = False  # out of the folders of the corpus
    dictionary: UserDictionary | None = None  # that of the version that answers, where none is given
    glossary: tuple[Entry, ...] | None = None  # likewise
