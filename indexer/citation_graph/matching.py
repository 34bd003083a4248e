"""Matching of references to papers: by id, then DOI, then title with year and authors.

Titles are compared in the form of `normal_title`. Known years may differ by at most one, and if both have
authors, they must share one. Without a year, a shared author is required. An ambiguous reference is not
matched.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from indexer.citation_graph.gathering import AUTHOR_SEPARATOR, NONE, Gathered
from indexer.citation_graph.graph import AMBIGUOUS, DUPLICATE, ITSELF, UNMATCHED
from indexer.corpora.normal_forms import ASCII_LOWERCASE, ASCII_NO_LETTERS, NOT_A_LETTER

Numbers = NDArray[np.int64]
OUTCOMES = {"duplicates": DUPLICATE, "itself": ITSELF, "ambiguous": AMBIGUOUS}
YEARS_APART = 1
MOST_ALIKE = 50  # compared papers of one title
PAPER_BITS = 31  # of a paper's number
NAME_WORD = re.compile(r"[^\W_]{2,}")
ASCII_WORDS = bytes(ord(" ") if code in ASCII_NO_LETTERS else code for code in ASCII_LOWERCASE)


@dataclass(frozen=True, slots=True)
class Matched:
    """The citing paper of each reference, in record order, and the cited paper or the reason for none.

    Papers are numbered by their first record.
    """

    citing: Numbers
    cited: Numbers

    def counts(self) -> dict[str, int]:
        """Return the number of references, of papers with references, and of each outcome."""
        outcomes = {name: int(np.count_nonzero(self.cited == code)) for name, code in OUTCOMES.items()}
        return {
            "references": len(self.cited),
            "citing": int(np.count_nonzero(np.bincount(self.citing))),
            "matched": int(np.count_nonzero(self.cited >= 0)),
            **outcomes,
        }


def match_references(gathered: Gathered) -> Matched:
    """Match all references."""
    hashes, first, inverse = np.unique(_column(gathered.hashes), return_index=True, return_inverse=True)
    paper_of = first[inverse]  # an article has several records if its passages are records
    citing = np.repeat(paper_of, _column(gathered.reference_counts))
    cited = np.full(len(citing), UNMATCHED)
    if len(citing):
        wanted = _column(gathered.reference_ids)
        places = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
        found = (hashes[places] == wanted) & (wanted != NONE)
        cited[found] = first[places[found]]
        _match_by_doi(gathered, paper_of, cited)
        _match_by_title(gathered, paper_of, cited)
        cited[cited == citing] = ITSELF
        cited[_repeated(citing, cited)] = DUPLICATE
    return Matched(citing, cited)


def _match_by_doi(gathered: Gathered, paper_of: Numbers, cited: Numbers) -> None:
    dois, owners = _pairs(gathered.doi_keys, paper_of[_column(gathered.doi_owners)])
    places, wanted = _column(gathered.cited_doi_places), _column(gathered.cited_dois)
    unmatched = cited[places] == UNMATCHED
    places, wanted = places[unmatched], wanted[unmatched]
    begin, end = np.searchsorted(dois, wanted), np.searchsorted(dois, wanted, side="right")
    one = end - begin == 1
    cited[places[one]] = owners[begin[one]]
    cited[places[end - begin > 1]] = AMBIGUOUS


def _match_by_title(gathered: Gathered, paper_of: Numbers, cited: Numbers) -> None:
    titles, owners = _pairs(gathered.titles, paper_of[_column(gathered.title_owners)])
    places, wanted = _column(gathered.cited_title_places), _column(gathered.cited_titles)
    begin, end = np.searchsorted(titles, wanted), np.searchsorted(titles, wanted, side="right")
    candidates = np.flatnonzero((cited[places] == UNMATCHED) & (end > begin))
    columns = np.stack((candidates, places[candidates], begin[candidates], end[candidates]), axis=1)
    papers = owners.tolist()
    for number, place, first, last in columns.tolist():
        if last - first > MOST_ALIKE:
            cited[place] = AMBIGUOUS
            continue
        year, authors = gathered.cited_years[number], gathered.cited_authors.encoded(number)
        fitting = [
            owner
            for owner in papers[first:last]
            if _fits(year, authors, gathered.years[owner], gathered.authors.encoded(owner))
        ]
        if fitting:
            cited[place] = fitting[0] if len(fitting) == 1 else AMBIGUOUS


def _fits(year: int, authors: bytes, paper_year: int, paper_authors: bytes) -> bool:
    """Check whether a reference may be a paper with the same title."""
    years_told, authors_told = bool(year and paper_year), bool(authors and paper_authors)
    if years_told and abs(year - paper_year) > YEARS_APART:
        return False
    return _share_an_author(authors, paper_authors) if authors_told else years_told


def _share_an_author(authors: bytes, others: bytes) -> bool:
    common = _name_words(authors) & _name_words(others)
    return any(len(word) > 1 for word in common)  # initials are not distinctive


def _name_words(authors: bytes) -> Set[bytes]:
    """Return the words of names in UTF-8; 김 철수 is also returned as 김철수."""
    if authors.isascii():
        return set(authors.translate(ASCII_WORDS).split())
    return _words_of_any_script(authors)


@lru_cache(maxsize=10_000)
def _words_of_any_script(authors: bytes) -> frozenset[bytes]:
    text = normalize("NFKC", authors.decode()).casefold()
    words = NAME_WORD.findall(text)
    if not text.isascii():
        wholes = (NOT_A_LETTER.sub("", name) for name in text.split(AUTHOR_SEPARATOR))
        words += [whole for whole in wholes if len(whole) > 1]
    return frozenset(word.encode() for word in words)


def _repeated(citing: Numbers, cited: Numbers) -> Numbers:
    """Return the places of repeated references of a paper to the same paper."""
    places = np.flatnonzero(cited >= 0)
    _, first = np.unique(citing[places] << PAPER_BITS | cited[places], return_index=True)
    is_first = np.zeros(len(places), dtype=bool)
    is_first[first] = True
    repeated: Numbers = places[~is_first]
    return repeated


def _pairs(keys: Sequence[int], owners: Numbers) -> tuple[Numbers, Numbers]:
    """Return the distinct pairs (key, owner), sorted."""
    column = _column(keys)
    order = np.lexsort((owners, column))
    column, owners = column[order], owners[order]
    new = np.ones(len(column), dtype=bool)
    new[1:] = (column[1:] != column[:-1]) | (owners[1:] != owners[:-1])
    return column[new], owners[new]


def _column(values: Sequence[int]) -> Numbers:
    return np.asarray(values, dtype=np.int64)
