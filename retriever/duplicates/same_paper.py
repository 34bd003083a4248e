"""Descriptions of records, to recognise records of one paper.

Two records are one paper if their texts are nearly equal. If they claim the same DOI, or the same title with
the same year or an author in common, it is enough that one text nearly contains the other. A claim alone is
never enough: records that claim one DOI and have different texts stay apart, and name each other.

Texts in different languages have no words in common, so records that have only such texts stay apart among
the hits of an index: whichever is older would hide the other one, although nothing but a claim speaks for it.
Where records of several sources are merged both texts are kept, and such records may be merged
(`Description.may_translate`).
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Self, TypeAlias

from indexer.corpora.normal_forms import SHORTEST_TITLE, normal_doi, normal_title, normal_words
from indexer.corpora.papers import Language
from retriever.duplicates.compared_texts import SHORTER_SHARE, Likeness, Text, known_language

MOST_ALIKE = 50  # records compared because of one claim, or because of marks; bounds the time of a flood

Claim: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Description:
    """What two records of one paper have in common; DOI and title in the form in which they are compared."""

    doi: str
    title: str
    year: int | None
    authors: tuple[str, ...]
    titles: tuple[str, ...]  # in both languages, as given
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
        titles = title, title2
        joined = " ".join(titles)
        main, *others = [Text.of(text, joined) if normal_words(text) else None for text in texts] or [None]
        known = tuple(filter(None, (main, *others)))
        return cls(normal_doi(doi), normal_title(title), year, tuple(authors), titles, known, main)

    @property
    def claims(self) -> list[Claim]:
        """The DOI and the title, one of which two records that claim to be one paper have in common."""
        return _named(self.doi, self.title)

    def is_same(self, other: "Description") -> bool:
        """Check whether two records are of one paper."""
        return self.likeness(other) == "same"

    def likeness(self, other: "Description") -> Likeness:
        """Compare two records: "same" paper, "alike" if only numbers of the abstracts differ, or "other".

        The same abstract is enough, also if the abstracts in the other language differ. Otherwise each text
        of the record with fewer texts must agree with a text of the other record.
        """
        found = self.main.likeness(other.main) if self.main and other.main else "other"
        return "same" if found == "same" or self._agrees_with(other) else found

    def may_translate(self, other: "Description") -> bool:
        """Check whether two records claim to be one paper, and have texts in different languages only.

        Their DOIs do not differ, and their titles agree in each language that both have a title in, at least
        one. This is still a claim, so it must not decide that one of the records is hidden.
        """
        languages, others = ({text.language for text in one.texts} for one in (self, other))
        if not (languages and others and languages.isdisjoint(others) and self._claims_to_be(other)):
            return False
        if self.doi and other.doi and self.doi != other.doi:
            return False
        titles, other_titles = _by_language(self.titles), _by_language(other.titles)
        common = titles.keys() & other_titles.keys()
        return bool(common) and all(_titles_agree(titles[one], other_titles[one]) for one in common)

    def _agrees_with(self, other: "Description") -> bool:
        claimed = self._claims_to_be(other)
        if not (self.texts and other.texts):
            titles = (normal_words(" ".join(one.titles)) for one in (self, other))
            return claimed and _titles_agree(*titles)
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


def claims_of(doi: str, title: str) -> list[Claim]:
    """Return the claims of a record: its normalised DOI and title."""
    return _named(normal_doi(doi), normal_title(title))


def _named(doi: str, title: str) -> list[Claim]:
    return [claim for claim in (("doi", doi), ("title", title)) if claim[1]]


def _by_language(titles: Iterable[str]) -> dict[Language, frozenset[str]]:
    return {known_language(title): words for title in titles if (words := normal_words(title))}


def _titles_agree(words: Set[str], others: Set[str]) -> bool:
    return len(words & others) >= SHORTER_SHARE * min(len(words), len(others))


def _names(authors: Iterable[str]) -> set[str]:
    return {normal_title(author) for author in authors} - {""}
