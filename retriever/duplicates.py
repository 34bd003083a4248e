"""Records of one paper and copies of one text among hits.

Two records are one paper if their texts are nearly equal. If they claim the same DOI, or the same title with
the same year or an author in common, it is enough that one text nearly contains the other. A claim alone is
never enough: records that claim one DOI and have different texts stay apart, and name each other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from math import ceil
from typing import NamedTuple, Self

from indexer.normal_forms import SHORTEST_TITLE, normal_doi, normal_title, normal_words
from retriever.hits import Hit

# Texts are nearly equal if they share so much of the words of both (Jaccard).
SAME_TEXT = 0.85
# Of records of the same DOI or title, if they share so much of the words of the shorter one.
SAME_PAPER = 0.8
# A text of fewer words ("No abstract available.") says nothing without the same DOI or title.
FEWEST_WORDS = 20


class Text(NamedTuple):
    """The words of a text, the numbers among them, and the words that its title has too."""

    words: frozenset[str]
    numbers: frozenset[str]
    subject: frozenset[str]

    @classmethod
    def of(cls, text: str, title: str = "") -> Self:
        """Take the words in the form in which they are compared."""
        words = normal_words(text)
        return cls(words, frozenset(word for word in words if word[0].isdigit()), words & normal_words(title))

    def is_nearly(self, other: "Text") -> bool:
        """Check whether texts are nearly equal.

        They are not if each has a number, or a word of its title, that the other lacks: such texts are made
        by one template, or one of them is forged.
        """
        shared, sizes = len(self.words & other.words), (len(self.words), len(other.words))
        if min(sizes) < FEWEST_WORDS or shared < SAME_TEXT * (sum(sizes) - shared):
            return False
        return not (_lacks(self.subject, other) and _lacks(other.subject, self)) and self._agrees(other)

    def is_version_of(self, other: "Text") -> bool:
        """Check whether one text nearly contains the other, where not each has a number of its own."""
        shared, shorter = len(self.words & other.words), min(len(self.words), len(other.words))
        return shared >= SAME_PAPER * shorter and self._agrees(other)

    def _agrees(self, other: "Text") -> bool:
        return not (_lacks(self.numbers, other) and _lacks(other.numbers, self))


def _lacks(words: frozenset[str], text: Text) -> bool:
    return not words <= text.words


@dataclass(frozen=True, slots=True)
class Description:
    """What two records of one paper have in common, in the form in which it is compared."""

    doi: str
    title: str
    year: int | None
    authors: frozenset[str]
    title_words: Text
    texts: tuple[Text, ...]  # the abstract, and the one in the other language

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
        """Take what a record says."""
        return cls(
            normal_doi(doi),
            normal_title(title),
            year,
            frozenset(map(normal_title, authors)) - {""},
            Text.of(f"{title} {title2}"),
            tuple(words for text in texts if (words := Text.of(text, title)).words),
        )

    @property
    def marks(self) -> list[tuple[str, str]]:
        """The DOI and the title, one of which two records that claim to be one paper have in common."""
        return [mark for mark in (("doi", self.doi), ("title", self.title)) if mark[1]]

    def is_same(self, other: "Description") -> bool:
        """Check whether two records are of one paper.

        If both have an abstract in two languages, both must agree.
        """
        claimed = self._claims_to_be(other)
        if self.texts and other.texts:
            fewer, more = sorted((self.texts, other.texts), key=len)
            is_same = Text.is_version_of if claimed else Text.is_nearly
            return all(any(is_same(one, text) for text in more) for one in fewer)
        return claimed and self.title_words.is_version_of(other.title_words)

    def _claims_to_be(self, other: "Description") -> bool:
        if self.doi and self.doi == other.doi:
            return True
        if len(self.title) < SHORTEST_TITLE or self.title != other.title:
            return False
        same_year = self.year is not None and self.year == other.year
        return same_year or not self.authors.isdisjoint(other.authors)


def without_duplicates(hits: Sequence[Hit], abstracts: Mapping[str, str] | None = None) -> list[Hit]:
    """Fold the hits of one paper into one, at the place and with the score of the best.

    The record that was indexed first is shown, one with a text before one without: records that are added
    later cannot take its place. Hits of one record are never folded. Hits that claim the same DOI and are not
    folded name each other.

    Args:
        hits: best first.
        abstracts: by doc_id, of papers whose hit is a chunk or the abstract in the other language.
    """
    described = [_described(hit, abstracts or {}) for hit in hits]
    folded = _folded(hits, described)
    kept = sorted(folded, key=lambda shown: folded[shown][0])
    claims = defaultdict[str, list[Hit]](list)
    for shown in kept:
        claims[described[shown].doi].append(hits[shown])
    return [
        replace(
            hits[shown],
            score=hits[folded[shown][0]].score,
            folded=_others(hits[shown], [hits[place] for place in folded[shown]]),
            same_doi=_others(hits[shown], claims[described[shown].doi]) if described[shown].doi else (),
        )
        for shown in kept
    ]


def _described(hit: Hit, abstracts: Mapping[str, str]) -> Description:
    passage, paper = hit.passage, hit.paper
    abstract = passage.text if passage.record else abstracts.get(hit.doc_id, "")
    texts = abstract, paper.get("abstract2") or ""
    return Description.of(
        paper.get("doi") or "",
        passage.title,
        passage.year,
        paper.get("authors") or (),
        texts if any(map(str.strip, texts)) else (passage.text,),
        paper.get("title2") or passage.title2,
    )


def _folded(hits: Sequence[Hit], described: Sequence[Description]) -> dict[int, list[int]]:
    """Return by the place of each hit to show the places of all hits that it stands for, in order."""
    frequencies = Counter(word for one in described for text in one.texts for word in text.words)
    folded: dict[int, list[int]] = {}
    alike = defaultdict[tuple[str, str], list[int]](list)
    for place in sorted(
        range(len(hits)), key=lambda place: (not described[place].texts, hits[place].passage.sequence, place)
    ):
        marks = [
            *described[place].marks,
            *(("word", word) for word in _rarest(described[place], frequencies)),
        ]
        candidates = dict.fromkeys(other for mark in marks for other in alike[mark])
        shown = next(
            (
                other
                for other in candidates
                if hits[other].doc_id != hits[place].doc_id and described[other].is_same(described[place])
            ),
            place,
        )
        folded.setdefault(shown, []).append(place)
        if shown == place:
            for mark in marks:
                alike[mark].append(place)
    return {shown: sorted(places) for shown, places in folded.items()}


def _rarest(described: Description, frequencies: Mapping[str, int]) -> Iterable[str]:
    """Yield the words by which nearly equal texts are found: one at least they have in common.

    Of words in one order for all texts, the first |x| - t|x| + 1 of each are enough (prefix filtering,
    Chaudhuri, Ganti & Kaushik, ICDE 2006). Words of one text alone are left out; most texts have so many of
    them that they cannot be nearly equal to another.
    """
    for text in described.texts:
        shared = [word for word in text.words if frequencies[word] > 1]
        alone = len(text.words) - len(shared)
        enough = len(text.words) - ceil(SAME_TEXT * len(text.words)) + 1
        if alone < enough and len(text.words) >= FEWEST_WORDS:
            yield from nsmallest(enough - alone, shared, key=lambda word: (frequencies[word], word))


def _others(hit: Hit, hits: Iterable[Hit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(other.doc_id for other in hits if other.doc_id != hit.doc_id))
