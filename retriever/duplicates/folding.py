"""Records of one paper, and copies of one text, among hits.

Records of one paper are folded into one hit (`same_paper.py`). Of records whose texts agree except for
their figures, one is forged, or all are made by one template. A list shows them all, and they name each
other. As evidence of an answer one text takes one place, and the record that was indexed first keeps it.

Hits that have a text in common are grouped without comparing each hit with each other one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from itertools import chain
from typing import NamedTuple

from indexer.corpora.normal_forms import normal_doi
from retriever.duplicates.compared_texts import Likeness, Text
from retriever.duplicates.same_paper import MOST_ALIKE, Claim, Description
from retriever.stages.hits import Hit

# Marks that two hits have in common, for a comparison: least number, since common phrases give one or two,
# and least share of the marks of one of them, which may have a second text.
LEAST_SHARED, SHARE_SHARED = 3, 0.2


class Compared(NamedTuple):
    """Claims and texts of a hit, for comparison with others."""

    claims: Sequence[Claim]
    texts: Sequence[Text]

    @property
    def marks(self) -> frozenset[str]:
        """The marks of all texts."""
        return frozenset[str]().union(*(text.marks for text in self.texts))


@dataclass(frozen=True, slots=True)
class Groups:
    """Hits by their places, in order of age.

    Args:
        same: the places of one paper's hits in order, by the place of the hit that was indexed first.
        alike: the places of first hits with one text in order, by the place of the oldest.
    """

    same: Mapping[int, list[int]]
    alike: Mapping[int, list[int]]


@dataclass(frozen=True, slots=True)
class _FirstHits:
    """The places of the first hit of each paper, by what another hit may have in common with it."""

    claims: defaultdict[Claim, list[int]] = field(default_factory=lambda: defaultdict(list))
    marks: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    sizes: dict[int, int] = field(default_factory=dict)  # number of marks of each

    def add(self, place: int, claims: Sequence[Claim], marks: Sequence[str], size: int) -> None:
        for claim in claims:
            self.claims[claim].append(place)
        for mark in marks:
            self.marks[mark].append(place)
        self.sizes[place] = size

    def near(self, claims: Sequence[Claim], marks: Sequence[str], size: int) -> Iterator[int]:
        """Yield the places that have a claim or several marks in common, each once."""
        claimed = (self.claims.get(claim, ())[:MOST_ALIKE] for claim in claims)
        yield from dict.fromkeys(chain(*claimed, self._with_marks(marks, size)))

    def _with_marks(self, marks: Sequence[str], size: int) -> list[int]:
        """Return the places with the most marks in common."""
        if len(marks) < LEAST_SHARED:
            return []
        shared = Counter(chain.from_iterable(self.marks.get(mark, ())[:MOST_ALIKE] for mark in marks))
        enough = (
            (-count, place)
            for place, count in shared.items()
            if count >= max(LEAST_SHARED, SHARE_SHARED * min(size, self.sizes[place]))
        )
        return [place for _, place in nsmallest(MOST_ALIKE, enough)]


def grouped(
    hits: Sequence[Hit], compared: Sequence[Compared], likeness: Callable[[int, int], Likeness]
) -> Groups:
    """Group hits by paper, and papers by text.

    A hit with a text counts as older than one without. Hits of one record are never compared.

    Args:
        hits: best first.
        compared: of each hit.
        likeness: of the hits at two places, the older one first.
    """
    marks = [one.marks for one in compared]
    frequencies = Counter(chain.from_iterable(marks))
    same: dict[int, list[int]] = {}
    oldest: dict[int, int] = {}
    first = _FirstHits()

    def by_age(place: int) -> tuple[bool, int, int]:
        return not compared[place].texts, hits[place].passage.sequence, place

    for place in sorted(range(len(hits)), key=by_age):
        claims, size = compared[place].claims, len(marks[place])
        shared = [mark for mark in marks[place] if frequencies[mark] > 1]
        paper, text = place, place
        for other in first.near(claims, shared, size):
            if hits[other].doc_id == hits[place].doc_id:
                continue
            found = likeness(other, place)
            if found == "same":
                paper = other
                break
            if found == "alike" and text == place:
                text = oldest[other]
        if paper == place:
            first.add(place, claims, shared, size)
            oldest[place] = text
        same.setdefault(paper, []).append(place)
    alike: dict[int, list[int]] = {}
    for place, text in oldest.items():
        alike.setdefault(text, []).append(place)
    return Groups(_in_order(same), _in_order(alike))


def _in_order(groups: Mapping[int, list[int]]) -> dict[int, list[int]]:
    return {first: sorted(places) for first, places in groups.items()}


class _Described(NamedTuple):
    """A hit's record, and the text of its passage."""

    record: Description
    shown: Text

    @property
    def compared(self) -> Compared:
        """Claims and texts, which others may have in common with it."""
        texts = self.record.texts if self.shows_abstract else (*self.record.texts, self.shown)
        return Compared(self.record.claims, texts)

    @property
    def shows_abstract(self) -> bool:
        """Whether its passage is one of the record's abstracts."""
        return any(text is self.shown for text in self.record.texts)

    def likeness(self, other: "_Described") -> Likeness:
        """Compare the records, and the texts of the passages if these are others than the records'."""
        found = self.record.likeness(other.record)
        abstracts = self.shows_abstract and other.shows_abstract
        if found == "same" or (found == "alike" and abstracts):
            return found
        if self.shown is self.record.main and other.shown is other.record.main:
            return "other"
        return "other" if self.shown.likeness(other.shown) == "other" else "alike"


def without_duplicates(
    hits: Sequence[Hit], abstracts: Mapping[str, str] | None = None, *, evidence: bool = False
) -> list[Hit]:
    """Fold the hits of one paper into one, at the place and with the score of the best.

    The record that was indexed first is shown, one with a text before one without: records that are added
    later cannot take its place. Hits of one record are never folded. Hits that claim the same DOI and are not
    folded name each other. So do hits of one text with other figures, of which equal scores are ordered by
    age; as evidence they are folded, too.

    Args:
        hits: best first.
        abstracts: by doc_id, of papers whose hit is a chunk or the abstract in the other language.
        evidence: whether the hits are evidence of an answer.
    """
    described = [_described(hit, abstracts or {}) for hit in hits]
    compared = [one.compared for one in described]
    groups = grouped(hits, compared, lambda one, other: described[one].likeness(described[other]))
    kept = {first: _folded(hits, first, places) for first, places in groups.same.items()}
    best = {first: places[0] for first, places in groups.same.items()}
    if evidence:
        shown = _one_of_each_text(kept, best, groups, described)
    else:
        shown = _all_of_each_text(kept, best, groups)
    return _with_same_doi([shown[place] for place in sorted(shown)])


def _described(hit: Hit, abstracts: Mapping[str, str]) -> _Described:
    passage, paper = hit.passage, hit.paper
    abstract = passage.text if passage.record else abstracts.get(hit.doc_id, "")
    texts = abstract, paper.get("abstract2") or ""
    record = Description.of(
        paper.get("doi") or "",
        passage.title,
        passage.year,
        paper.get("authors") or (),
        texts if any(map(str.strip, texts)) else (passage.text,),
        paper.get("title2") or passage.title2,
    )
    for text in record.texts:
        if text.text == passage.text:
            return _Described(record, text)
    return _Described(record, Text.of(passage.text, " ".join(record.titles)))


def _folded(hits: Sequence[Hit], first: int, places: Sequence[int]) -> Hit:
    """Return the first hit of a paper with the best score and the ids of its duplicates."""
    if len(places) == 1:
        return hits[first]
    folded = _others(hits[first], (hits[place] for place in places))
    return replace(hits[first], score=hits[places[0]].score, folded=folded)


def _one_of_each_text(
    kept: Mapping[int, Hit], best: Mapping[int, int], groups: Groups, described: Sequence[_Described]
) -> dict[int, Hit]:
    """Return the oldest hit of each text by its place, with the best score and the ids of the others."""
    shown: dict[int, Hit] = {}
    for oldest, places in groups.alike.items():
        first = min(places, key=lambda place: best[place])
        others = [place for place in places if place != oldest]
        hit = kept[oldest]
        if others:
            hit = replace(_instead_of(others, oldest, kept, described), score=kept[first].score)
        shown[best[first]] = hit
    return shown


def _instead_of(
    others: Iterable[int], oldest: int, kept: Mapping[int, Hit], described: Sequence[_Described]
) -> Hit:
    """Return the oldest hit of a text with the ids of its copies, and of hits with other numbers."""
    ids: dict[bool, list[str]] = {True: list(kept[oldest].folded), False: []}
    for place in others:
        has_numbers = described[place].shown.has_numbers_of(described[oldest].shown)
        ids[has_numbers] += [kept[place].doc_id, *kept[place].folded]
    folded, other_figures = (tuple(dict.fromkeys(ids[same])) for same in (True, False))
    return replace(kept[oldest], folded=folded, other_figures=other_figures)


def _all_of_each_text(kept: Mapping[int, Hit], best: Mapping[int, int], groups: Groups) -> dict[int, Hit]:
    """Return all hits by place; hits of one text name each other, and are sorted by score and age."""
    shown = {best[first]: hit for first, hit in kept.items()}
    for firsts in groups.alike.values():
        if len(firsts) > 1:
            by_age = sorted(firsts, key=lambda first: (-kept[first].score, kept[first].passage.sequence))
            places = sorted(best[first] for first in firsts)
            group = [kept[first] for first in firsts]
            for place, first in zip(places, by_age, strict=True):
                shown[place] = replace(kept[first], other_figures=_others(kept[first], group))
    return shown


def _with_same_doi(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with the ids of the others that claim their DOI."""
    claims = defaultdict[str, list[Hit]](list)
    dois = [normal_doi(hit.paper.get("doi") or "") for hit in hits]
    for doi, hit in zip(dois, hits, strict=True):
        if doi:
            claims[doi].append(hit)
    return [
        replace(hit, same_doi=_others(hit, claims[doi])) if len(claims[doi]) > 1 else hit
        for doi, hit in zip(dois, hits, strict=True)
    ]


def _others(hit: Hit, hits: Iterable[Hit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(other.doc_id for other in hits if other.doc_id != hit.doc_id))
