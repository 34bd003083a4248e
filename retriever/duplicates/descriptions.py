"""Records described such that those of one paper are recognised.

Two records are one paper if their texts are nearly equal. If they claim the same DOI, or the same title with
the same year or an author in common, it is enough that one text nearly contains the other. A claim alone is
never enough: records that claim one DOI and have different texts stay apart, and name each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from indexer.corpora.normal_forms import SHORTEST_TITLE, normal_doi, normal_title, normal_words
from retriever.duplicates.compared_texts import SHORTER_SHARE, Likeness, Text


@dataclass(frozen=True, slots=True)
class Description:
    """What two records of one paper have in common; DOI and title in the form in which they are compared."""

    doi: str
    title: str
    year: int | None
    authors: tuple[str, ...]
    titles: str  # in both languages, as given
    texts: tuple[Text, ...]  # the abstract, and the one in the other language
    main: Text | None  # the first of them, if it is the abstract

    @classmethod
    def of(
        cls,
        doi: str,
        title: str,
        year: int | None,
        authors: Iterable[str],
        texts: Iterable[str] = (),
        title2: str = "",
    ) -> Self:
        """Normalise the identifiers and texts of a record."""
        titles = f"{title} {title2}"
        main, *others = [Text.of(text, titles) if normal_words(text) else None for text in texts] or [None]
        known = tuple(filter(None, (main, *others)))
        return cls(normal_doi(doi), normal_title(title), year, tuple(authors), titles, known, main)

    @property
    def marks(self) -> list[tuple[str, str]]:
        """The DOI and the title, one of which two records that claim to be one paper have in common."""
        return [mark for mark in (("doi", self.doi), ("title", self.title)) if mark[1]]

    def is_same(self, other: "Description") -> bool:
        """Check whether two records are of one paper."""
        return self.likeness(other) == "same"

    def likeness(self, other: "Description") -> Likeness:
        """Compare two records: "same" of one paper, "alike" if their abstracts differ in numbers, or "other".

        The same abstract is enough, whatever the abstracts in the other language are. Else all texts of the
        record with fewer texts must agree with one of the other.
        """
        found = self.main.likeness(other.main) if self.main and other.main else "other"
        return "same" if found == "same" or self._agrees_with(other) else found

    def _agrees_with(self, other: "Description") -> bool:
        claimed = self._claims_to_be(other)
        if not (self.texts and other.texts):
            titles = normal_words(self.titles), normal_words(other.titles)
            return claimed and len(titles[0] & titles[1]) >= SHORTER_SHARE * min(map(len, titles))
        if not claimed and len(self.texts) == len(other.texts) == 1 and self.main and other.main:
            return False  # compared before
        fewer, more = sorted((self.texts, other.texts), key=len)
        return all(
            any(one.is_version_of(text) if claimed else one.likeness(text) == "same" for text in more)
            for one in fewer
        )

    def _claims_to_be(self, other: "Description") -> bool:
        if self.doi and self.doi == other.doi:
            return True
        if len(self.title) < SHORTEST_TITLE or self.title != other.title:
            return False
        same_year = self.year is not None and self.year == other.year
        return same_year or bool(_names(self.authors) & _names(other.authors))


def _names(authors: Iterable[str]) -> set[str]:
    return {normal_title(author) for author in authors} - {""}
