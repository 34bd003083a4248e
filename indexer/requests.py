"""The request of `shrag index`, and the types of its progress and counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexer.analysis import Decompound, UserDictionary
from indexer.glossary.given import Entry


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Arguments of `shrag index`."""

    name: str
    paths: Sequence[str]
    format: str | None = None
    columns: Mapping[str, str] | None = None
    analyzer: str = "bilingual"
    decompound: Decompound = "discard"
    rebuild: bool = False
    strict: bool = False
    follow_links: bool = False  # also out of the folders of the corpus
    dictionary: UserDictionary | None = None  # default: that of the current version
    glossary: tuple[Entry, ...] | None = None  # default: that of the current version
    removed: Sequence[str] = ()  # ids of records to remove; unknown ones are ignored
    harvests: Mapping[str, Any] | None = None  # the state of harvested repositories, kept in the manifest
