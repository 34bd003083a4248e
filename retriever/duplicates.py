"""Records of one paper, among the hits of a search and among the records of several sources.

Two records claim to be one paper by the same DOI, or by the same title with the same year or an author in
common. They are one paper if one text has nearly all words of the other or, without texts in one language, if
their titles agree. A claim alone is never enough. Records without a common claim are one paper if their texts
have nearly the same words (Jaccard), and neither has a number or a word of its title that the other lacks:
such texts come from one template.

Only records that share a claim or a rare word are compared. If the words of all texts are in one order, here
the rarest first, two texts with a Jaccard index of at least t share one of the first (1 - t) n + 1 of the n
words of each (Bayardo, Ma and Srikant, Scaling Up All Pairs Similarity Search, WWW 2007).
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from math import ceil

from indexer.corpora.normal_forms import SHORTEST_TITLE, normal_doi, normal_title
from indexer.corpora.papers import Language, language_of
from retriever.stages.hits import Hit

SAME_TEXT = 0.85  # least share of common words among the words of two texts
FEWEST_WORDS = 20  # of a text that is compared without a claim, unlike "No abstract available."
SHORTER_SHARE, LONGER_SHARE = 0.8, 0.3  # least shares of common words in the texts of records with one claim
MOST_COMPARED = 50  # papers with one claim or rare word that a record is compared with
READ_CHARACTERS = 4_000  # of a text
WORD = re.compile(r"\w+")


def words_of(text: str) -> frozenset[str]:
    """Return the distinct words at the beginning of a text in one case."""
    return frozenset(WORD.findall(unicodedata.normalize("NFKC", text[:READ_CHARACTERS]).casefold()))


@dataclass(frozen=True)  # without slots, for cached properties
class PaperClaims:
    """What a record claims about its paper, in the forms that are compared.

    Args:
        doi: normalised; "" if unknown.
        title: its letters and digits; "" if it is shorter than SHORTEST_TITLE.
        year: None if unknown.
        authors: their letters.
        titles: in both languages, as given.
        texts: the abstracts in both languages, the main one first.
    """

    doi: str
    title: str
    year: int | None
    authors: frozenset[str]
    titles: tuple[str, ...]
    texts: tuple[str, ...]

    @cached_property
    def words(self) -> tuple[tuple[Language, frozenset[str]], ...]:
        """The language and the words of each text."""
        return tuple((language_of(text), words_of(text)) for text in self.texts)

    @property
    def main(self) -> frozenset[str]:
        """The words of the main text; none without a text."""
        return self.words[0][1] if self.words else frozenset()

    @property
    def keys(self) -> list[str]:
        """The DOI and the title, one of which records with a claim in common share."""
        return [f"{name}:{value}" for name, value in (("doi", self.doi), ("title", self.title)) if value]

    def is_same(self, other: "PaperClaims") -> bool:
        """Check whether two records are of one paper."""
        same_year = self.year is not None and self.year == other.year
        same_title = self.title and self.title == other.title
        same_doi = self.doi and self.doi == other.doi
        if not (same_doi or (same_title and (same_year or self.authors & other.authors))):
            return self._has_text_of(other)
        comparable = [
            _is_part(words, others)
            for (language, words), (other_language, others) in product(self.words, other.words)
            if language == other_language
        ]
        return any(comparable) if comparable else self._has_title_of(other)

    def rare_words(self, frequency: Mapping[str, int]) -> list[str]:
        """Return the rarest words of the main text: one of them is in any text with nearly the same words."""
        if len(self.main) < FEWEST_WORDS:
            return []
        in_order = sorted(self.main, key=lambda word: (frequency[word], word))
        return in_order[: len(in_order) - ceil(SAME_TEXT * len(in_order)) + 1]

    def _has_title_of(self, other: "PaperClaims") -> bool:
        if self.doi and other.doi and self.doi != other.doi:
            return False
        words, others = (words_of(" ".join(each.titles)) for each in (self, other))
        if not (words and others):
            return not (self.texts and other.texts)
        return len(words & others) >= SHORTER_SHARE * min(len(words), len(others))

    def _has_text_of(self, other: "PaperClaims") -> bool:
        words, others = self.main, other.main
        shared = len(words & others)
        if min(len(words), len(others)) < FEWEST_WORDS or shared < SAME_TEXT * len(words | others):
            return False
        numbers, other_numbers = ({word for word in each if word.isdecimal()} for each in (words, others))
        if not (numbers <= other_numbers or other_numbers <= numbers):
            return False
        own, others_own = words - others, others - words
        return not (own & words_of(self.titles[0]) and others_own & words_of(other.titles[0]))


def paper_claims(
    doi: str, title: str, year: int | None, authors: Iterable[str], texts: Iterable[str], title2: str = ""
) -> PaperClaims:
    """Normalise the identifiers of a record, and keep its texts that have words."""
    names, letters = frozenset(map(normal_title, authors)) - {""}, normal_title(title)
    known = tuple(text for text in texts if WORD.search(text))
    claimed = letters if len(letters) >= SHORTEST_TITLE else ""
    return PaperClaims(normal_doi(doi), claimed, year, names, (title, title2), known)


def _is_part(words: frozenset[str], others: frozenset[str]) -> bool:
    shared, sizes = len(words & others), (len(words), len(others))
    return shared >= SHORTER_SHARE * min(sizes) and shared >= LONGER_SHARE * max(sizes)


def without_duplicates(hits: Sequence[Hit], abstracts: Mapping[str, str] | None = None) -> list[Hit]:
    """Fold the hits of one paper into one, at the place and with the score of the best.

    The best hit with a text is shown. Hits of one record are never folded. Hits with the same DOI that are
    not folded name each other.

    Args:
        hits: best first.
        abstracts: by doc_id, of papers whose hit is a chunk or the abstract in the other language.
    """
    claims = [_claims_of(hit, abstracts or {}) for hit in hits]
    folded: list[tuple[str, Hit]] = []
    by_doi = defaultdict[str, list[Hit]](list)
    for places in _papers(hits, claims):
        first = next((place for place in places if claims[place].texts), places[0])
        hit, doi = hits[first], claims[first].doi
        others = _others(hit, (hits[place] for place in places))
        hit = replace(hit, score=hits[places[0]].score, folded=others) if others else hit
        folded.append((doi, hit))
        by_doi[doi].append(hit)
    same = ((hit, _others(hit, by_doi[doi]) if doi else ()) for doi, hit in folded)
    return [replace(hit, same_doi=others) if others else hit for hit, others in same]


def _claims_of(hit: Hit, abstracts: Mapping[str, str]) -> PaperClaims:
    passage, paper = hit.passage, hit.paper
    abstract = passage.text if passage.record else abstracts.get(hit.doc_id, "")
    texts = [text for text in (abstract, paper.get("abstract2") or "") if text.strip()]
    return paper_claims(
        paper.get("doi") or "",
        passage.title,
        passage.year,
        paper.get("authors") or (),
        texts or [passage.text],
        paper.get("title2") or passage.title2,
    )


def _papers(hits: Sequence[Hit], claims: Sequence[PaperClaims]) -> list[list[int]]:
    """Return the places of the hits of each paper, best first; each hit is compared with the first ones."""
    frequency = Counter(chain.from_iterable(each.main for each in claims))
    papers: list[list[int]] = []
    by_key = defaultdict[str, list[int]](list)
    for place, own in enumerate(claims):
        keys = [*own.keys, *own.rare_words(frequency)]
        for number in dict.fromkeys(chain.from_iterable(by_key[key][:MOST_COMPARED] for key in keys)):
            first = papers[number][0]
            if hits[first].doc_id != hits[place].doc_id and own.is_same(claims[first]):
                papers[number].append(place)
                break
        else:
            for key in keys:
                by_key[key].append(len(papers))
            papers.append([place])
    return papers


def _others(hit: Hit, hits: Iterable[Hit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(other.doc_id for other in hits if other.doc_id != hit.doc_id))
