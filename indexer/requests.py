"""What `shrag index` is asked to do, and how it tells how far it is and how much there was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indexer.analysis import Decompound, UserDictionary
from indexer.glossary.given import Entry


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
