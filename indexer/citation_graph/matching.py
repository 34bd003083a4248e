"""Matching of references to papers: by id, then DOI, then title with year and authors.

Titles are compared in the form of `normal_title`. Known years may differ by at most one, and if both have
authors, they must share one. Without a year, a shared author is required. An ambiguous reference is not
matched.
"""

import re
from functools import lru_cache
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from indexer.citation_graph.gathering import AUTHOR_SEPARATOR, NONE, Gathered
from indexer.corpora.normal_forms import NOT_A_LETTER

Numbers = NDArray[np.int64]
# Codes instead of a paper's number: no paper, a paper cited before by the same record, itself, several.
UNMATCHED, DUPLICATE, ITSELF, AMBIGUOUS = -1, -2, -3, -4
PAPER_BITS = 31  # of a paper's number
MOST_ALIKE = 50  # compared papers of one title
NAME_WORD = re.compile(r"[^\W_]{2,}")


def match_references(gathered: Gathered) -> tuple[Numbers, Numbers]:
    """Return the citing paper of each reference, in record order, and the cited paper or the code for none.

    Papers are numbered by their first record: an article has several records if its passages are records.
    """
    column = gathered.column
    _, first, inverse = np.unique(column("hashes"), return_index=True, return_inverse=True)
    paper_of = first[inverse]
    citing = np.repeat(paper_of, column("reference_counts"))
    cited = np.full(len(citing), UNMATCHED)
    _match(cited, column("cited_ids"), column("hashes"), paper_of)
    dois = np.concatenate([column("dois"), column("id_dois")])
    _match(cited, column("cited_dois"), dois, np.tile(paper_of, 2))
    _match_by_title(gathered, paper_of, cited)
    cited[cited == citing] = ITSELF
    places = np.flatnonzero(cited >= 0)
    _, kept = np.unique(citing[places] << PAPER_BITS | cited[places], return_index=True)
    cited[np.delete(places, kept)] = DUPLICATE
    return citing, cited


def _match(cited: Numbers, wanted: Numbers, keys: Numbers, owners: Numbers) -> None:
    """Match the references to the owner of the wanted key."""
    owners, begin, end = _owners(wanted, keys, owners)
    found = (cited == UNMATCHED) & (wanted != NONE)
    one = found & (end - begin == 1)
    cited[one] = owners[begin[one]]
    cited[found & (end - begin > 1)] = AMBIGUOUS


def _owners(wanted: Numbers, keys: Numbers, owners: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the owners sorted by key, and for each wanted key the range of its owners, each once."""
    order = np.lexsort((owners, keys))
    keys, owners = keys[order], owners[order]
    new = np.ones(len(keys), bool)
    new[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
    keys = keys[new]
    return owners[new], np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")


def _match_by_title(gathered: Gathered, paper_of: Numbers, cited: Numbers) -> None:
    wanted = gathered.column("cited_titles")
    titles = np.concatenate([gathered.column("titles"), gathered.column("titles2")])
    owners, begin, end = _owners(wanted, titles, np.tile(paper_of, 2))
    for place in np.flatnonzero((cited == UNMATCHED) & (wanted != NONE) & (end > begin)).tolist():
        papers = owners[begin[place] : end[place]].tolist()
        few = len(papers) <= MOST_ALIKE
        fitting = [paper for paper in papers if _fits(gathered, place, paper)] if few else papers
        if fitting:
            cited[place] = fitting[0] if len(fitting) == 1 else AMBIGUOUS


def _fits(gathered: Gathered, reference: int, paper: int) -> bool:
    """Check whether a reference may be a paper of the same title."""
    year, paper_year = gathered.numbers["cited_years"][reference], gathered.numbers["years"][paper]
    authors, paper_authors = gathered.texts["cited_authors"][reference], gathered.texts["authors"][paper]
    has_years = bool(year and paper_year)
    if has_years and abs(year - paper_year) > 1:
        return False
    if authors and paper_authors:
        return not _name_words(authors).isdisjoint(_name_words(paper_authors))
    return has_years


@lru_cache(maxsize=10_000)
def _name_words(authors: str) -> frozenset[str]:
    """Return the words of names without initials; 김 철수 is also returned as 김철수."""
    text = normalize("NFKC", authors).casefold()
    words = NAME_WORD.findall(text)
    if not text.isascii():
        wholes = (NOT_A_LETTER.sub("", name) for name in text.split(AUTHOR_SEPARATOR))
        words += [whole for whole in wholes if len(whole) > 1]
    return frozenset(words)
