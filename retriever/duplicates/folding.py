"""Records of one paper and copies of one text among hits.

Two records are one paper if their texts are nearly equal. If they claim the same DOI, or the same title with
the same year or an author in common, it is enough that one text nearly contains the other. A claim alone is
never enough: records that claim one DOI and have different texts stay apart, and name each other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import chain
from math import ceil
from typing import NamedTuple, Self

from indexer.normal_forms import SHORTEST_TITLE, normal_doi, normal_title, normal_words, numbers_in
from retriever.searching.hits import Hit

SAME_TEXT = 0.85  # least share of common words among the words of both texts (Jaccard)
# Least shares of common words in the shorter and the longer text, if the records claim the same DOI or title.
SHORTER_SHARE, LONGER_SHARE = 0.8, 0.3
MOST_ALIKE = 50  # hits that are compared because of one DOI, title or rare word; bounds the time of a flood
FEWEST_WORDS = 20  # shorter texts ("No abstract available.") count only with the same DOI or title


class Text(NamedTuple):
    """A text with its distinct words, and its title."""

    text: str
    words: frozenset[str]
    title: str

    def is_nearly(self, other: "Text") -> bool:
        """Check whether texts are nearly equal.

        They are not if each has a word of its title that the other lacks, or a number that the other lacks or
        has before another word: such texts are made by one template, or one of them is forged.
        """
        shared, sizes = len(self.words & other.words), (len(self.words), len(other.words))
        if min(sizes) < FEWEST_WORDS or shared < SAME_TEXT * (sum(sizes) - shared):
            return False
        own, others = self.words - other.words, other.words - self.words
        if not own.isdisjoint(normal_words(self.title)) and not others.isdisjoint(normal_words(other.title)):
            return False
        return _agree(numbers_in(self.text), numbers_in(other.text))

    def is_version_of(self, other: "Text") -> bool:
        """Check whether one text nearly contains the other, and is not several times longer.

        They are not if each has a number that the other lacks.
        """
        shared, sizes = len(self.words & other.words), (len(self.words), len(other.words))
        if shared < SHORTER_SHARE * min(sizes) or shared < LONGER_SHARE * max(sizes):
            return False
        return _agree(*({number for number, _ in numbers_in(text)} for text in (self.text, other.text)))


def _agree(numbers: Set[object], others: Set[object]) -> bool:
    return numbers <= others or others <= numbers


@dataclass(frozen=True, slots=True)
class Description:
    """What two records of one paper have in common; DOI and title in the form in which they are compared."""

    doi: str
    title: str
    year: int | None
    authors: tuple[str, ...]
    titles: str  # in both languages, as given
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
        """Normalise the identifiers and texts of a record."""
        titles = f"{title} {title2}"
        return cls(
            normal_doi(doi),
            normal_title(title),
            year,
            tuple(authors),
            titles,
            tuple(Text(text, words, titles) for text in texts if (words := normal_words(text))),
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
        titles = normal_words(self.titles), normal_words(other.titles)
        return claimed and len(titles[0] & titles[1]) >= SHORTER_SHARE * min(map(len, titles))

    def _claims_to_be(self, other: "Description") -> bool:
        if self.doi and self.doi == other.doi:
            return True
        if len(self.title) < SHORTEST_TITLE or self.title != other.title:
            return False
        same_year = self.year is not None and self.year == other.year
        return same_year or bool(_names(self.authors) & _names(other.authors))


def _names(authors: Iterable[str]) -> set[str]:
    return {normal_title(author) for author in authors} - {""}


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
        if described[shown].doi:
            claims[described[shown].doi].append(hits[shown])
    return [
        _marked(hits[shown], [hits[place] for place in folded[shown]], claims[described[shown].doi])
        for shown in kept
    ]


def _marked(hit: Hit, folded: Sequence[Hit], claims: Sequence[Hit]) -> Hit:
    """Return a hit with the best score and the ids of its duplicates, and with the other hits of its DOI."""
    if len(folded) == 1 and len(claims) <= 1:
        return hit
    others = _others(hit, folded), _others(hit, claims)
    return replace(hit, score=folded[0].score, folded=others[0], same_doi=others[1])


def _others(hit: Hit, hits: Iterable[Hit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(other.doc_id for other in hits if other.doc_id != hit.doc_id))


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
    """Return the places of each paper's hits in order, by the place of the hit to show."""
    frequencies = Counter[str]()
    for text in chain.from_iterable(one.texts for one in described):
        frequencies.update(text.words)
    folded: dict[int, list[int]] = {}
    alike = defaultdict[str | tuple[str, str], list[int]](list)

    def by_age(place: int) -> tuple[bool, int, int]:
        return not described[place].texts, hits[place].passage.sequence, place

    for place in sorted(range(len(hits)), key=by_age):
        marks: list[str | tuple[str, str]] = [
            *described[place].marks,
            *_rarest(described[place], frequencies),
        ]
        others = dict.fromkeys(other for mark in marks for other in alike[mark][:MOST_ALIKE])
        shown = place
        for other in others:
            if hits[other].doc_id != hits[place].doc_id and described[other].is_same(described[place]):
                shown = other
                break
        if shown == place:
            for mark in marks:
                alike[mark].append(place)
        folded.setdefault(shown, []).append(place)
    return {shown: sorted(places) for shown, places in folded.items()}


def _rarest(described: Description, frequencies: Mapping[str, int]) -> Iterator[str]:
    """Yield the words by which nearly equal texts are found: one at least they have in common.

    Of words in one order for all texts, the first |x| - t|x| + 1 of each are enough (prefix filtering,
    Chaudhuri, Ganti & Kaushik, ICDE 2006). Words of one text alone are left out; most texts have
    enough of them to be unlike all others.
    """
    for _, words, _ in described.texts:
        enough = len(words) - ceil(SAME_TEXT * len(words)) + 1
        shared = [word for word in words if frequencies[word] > 1]
        alone = len(words) - len(shared)
        if alone < enough and len(words) >= FEWEST_WORDS:
            yield from nsmallest(enough - alone, shared, key=lambda word: (frequencies[word], word))
