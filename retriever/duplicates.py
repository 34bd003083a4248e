"""Different records of one paper among hits: the same DOI, or title with year or author in common."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

from retriever.hits import Hit

NOT_A_LETTER = re.compile(r"[\W_]+")
SHORTEST_TITLE = 8  # letters; "Editorial" and its like stand over many papers
DOI_PREFIX = re.compile(r"^(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def without_duplicates(hits: Sequence[Hit]) -> list[Hit]:
    """Keep the best hit of every paper that has several ids.

    Passages of one record never count as duplicates of each other.
    """
    kept: list[Hit] = []
    alike: dict[tuple[str, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        marks = _marks(hit)
        others = (other for mark in marks for other in alike[mark])
        if not any(other.doc_id != hit.doc_id and same_paper(other, hit) for other in others):
            kept.append(hit)
            for mark in marks:
                alike[mark].append(hit)
    return kept


def _marks(hit: Hit) -> list[tuple[str, str]]:
    """Return what two records of one paper have in common at least: the DOI or the title."""
    marks = [("doi", normal_doi(hit.paper.get("doi", ""))), ("title", normal_title(hit.passage.title))]
    return [mark for mark in marks if mark[1]]


def same_paper(one: Hit, other: Hit) -> bool:
    """Tell whether two records are of one paper."""
    doi = normal_doi(one.paper.get("doi", ""))
    if doi and doi == normal_doi(other.paper.get("doi", "")):
        return True
    title = normal_title(one.passage.title)
    if len(title) < SHORTEST_TITLE or title != normal_title(other.passage.title):
        return False
    same_year = one.passage.year is not None and one.passage.year == other.passage.year
    return same_year or bool(_names(one.paper.get("authors", ())) & _names(other.paper.get("authors", ())))


def normal_title(title: str) -> str:
    """Return the title's letters and digits alone, in one case."""
    return NOT_A_LETTER.sub("", unicodedata.normalize("NFKC", title).casefold())


def normal_doi(doi: str) -> str:
    """Return a DOI without resolver and in one case."""
    return DOI_PREFIX.sub("", doi.strip()).casefold()


def _names(authors: Iterable[str]) -> set[str]:
    return {normal_title(author) for author in authors} - {""}
