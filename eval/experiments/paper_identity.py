"""Identity of papers across benchmarks, indexes and sources: DOI, arXiv id without version, or title.

Two records are one paper if they have an identifier in common. Titles are compared by their letters and
digits. Texts are not compared, unlike in `retriever/duplicates`, since a benchmark lists titles and ids only.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Self, TypeAlias

from indexer.corpora.normal_forms import SHORTEST_TITLE, normal_doi, normal_title, whole_doi
from indexer.corpora.papers import Paper
from retriever.sources.kinds.arxiv import PREPRINT

Identifier: TypeAlias = tuple[str, str]  # its kind, and its normal form

ARXIV_ID = re.compile(
    rf"(?:(?:https?://)?(?:[\w.]+\.)?arxiv\.org/(?:abs|pdf|html)/|10\.48550/arxiv\.|arxiv:\s*)?"
    rf"({PREPRINT.pattern})(?:v[0-9]+)?(?:\.pdf)?",
    re.IGNORECASE,
)
MONTH = re.compile(r"([0-9]{2})([0-9]{2})\.[0-9]{4,5}")  # of arXiv ids since April 2007
CENTURY = 2000


def arxiv_id(text: str) -> str:
    """Return the arXiv id in an id, an address or a DOI, in lower case and without version; "" if none."""
    found = ARXIV_ID.fullmatch(text.strip())
    return found[1].lower() if found else ""


def arxiv_id_of(paper: Paper) -> str:
    """Return the arXiv id of a record by its id, DOI or address; "" if none."""
    return next(filter(None, map(arxiv_id, (paper.id, normal_doi(paper.doi), paper.url))), "")


def identifiers_of(paper: Paper) -> tuple[Identifier, ...]:
    """Return the identifiers of a record, the most reliable first."""
    titles = (normal_title(title) for title in (paper.title, paper.title2))
    ids = [("doi", whole_doi(paper.doi)), ("arxiv", arxiv_id_of(paper))]
    ids += [("title", title) for title in titles if len(title) >= SHORTEST_TITLE]
    return tuple(each for each in ids if each[1])


@dataclass(frozen=True, slots=True)
class JudgedPapers:
    """The judged papers of a question."""

    grades: Mapping[str, int]  # by id
    ids: Mapping[Identifier, str] = field(default_factory=dict)

    @classmethod
    def of(cls, grades: Mapping[str, int], records: Mapping[str, Paper]) -> Self:
        """Take grades by id, and the records of these papers as far as they are known."""
        ids: dict[Identifier, str] = {}
        for paper_id in grades:
            for identifier in identifiers_of(records[paper_id]) if paper_id in records else ():
                ids.setdefault(identifier, paper_id)
        return cls(grades, ids)

    @property
    def relevant(self) -> frozenset[str]:
        """Ids of the relevant papers."""
        return frozenset(paper_id for paper_id, grade in self.grades.items() if grade > 0)

    def judged_id(self, paper: Paper) -> str | None:
        """Return the id under which a record was judged; None if it was not."""
        if paper.id in self.grades:
            return paper.id
        return next(filter(None, map(self.ids.get, identifiers_of(paper))), None)

    def known_ids(self, papers: Iterable[Paper]) -> list[str]:
        """Return the ids of records in their order: the judged id, else the record's own.

        Further records of a paper are left out.
        """
        return list(dict.fromkeys(self.judged_id(paper) or paper.id for paper in papers))


def is_after(paper: Paper, day: date | None) -> bool:
    """Whether a paper is newer than a question.

    The month of an arXiv id counts, else the year. A paper without either, or of the same year or month, is
    not newer.
    """
    if day is None:
        return False
    if found := MONTH.fullmatch(arxiv_id_of(paper)):
        return (CENTURY + int(found[1]), int(found[2])) > (day.year, day.month)
    return paper.year is not None and paper.year > day.year
