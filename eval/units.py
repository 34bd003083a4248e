"""The units of judgements and runs, passages or papers, and their conversion to papers.

A passage is recognised by its id: 1234#5 in MIRACL, and X#1 or X@en of a paper X. A paper scores as its best
passage, and its grade is the highest grade of its passages, as in `eval run --unit paper`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from eval.collection import Qrels
from eval.runs import Ranking

PASSAGE = re.compile(r"(.+?)(?:#\d+|@ko|@en)", re.ASCII)
LOOKED_AT = 1_000  # judged questions


def in_one_unit(
    qrels: Qrels, runs: Sequence[Mapping[str, Ranking]]
) -> tuple[Qrels, list[Mapping[str, Ranking]], tuple[str, str] | None]:
    """Return judgements and runs by paper if some have passages of the papers of others, else unchanged.

    The last value is a ranked and a judged id that show the conversion; None without one.
    """
    different = next((pair for run in runs for pair in _different(qrels, run)), None)
    if different is None:
        return qrels, list(runs), None
    by_paper: list[Mapping[str, Ranking]] = [
        {query_id: _ranked_papers(ranking) for query_id, ranking in run.items()} for run in runs
    ]
    return {query_id: grades_of_papers(grades) for query_id, grades in qrels.items()}, by_paper, different


def _different(qrels: Qrels, run: Mapping[str, Ranking]) -> Iterator[tuple[str, str]]:
    """Yield a ranked id and a judged one, of which one is a paper and the other its passage."""
    for query_id, grades in islice(qrels.items(), LOOKED_AT):
        papers = {paper_of(judged): judged for judged in grades}
        for found, _ in run.get(query_id, ()) if grades else ():
            paper = paper_of(found)
            if found not in grades and paper in papers and (paper in grades or paper == found):
                yield found, papers[paper]


def paper_of(passage_id: str) -> str:
    """Return the paper or article of a passage, by the form of its id; other ids are unchanged."""
    found = PASSAGE.fullmatch(passage_id) if "#" in passage_id or "@" in passage_id else None
    return found[1] if found else passage_id


def grades_of_papers(grades: Mapping[str, int]) -> dict[str, int]:
    """Return the grades of papers or articles: the highest of their passages."""
    papers: dict[str, int] = {}
    for passage_id, grade in grades.items():
        paper = paper_of(passage_id)
        papers[paper] = max(grade, papers.get(paper, grade))
    return papers


def _ranked_papers(ranking: Ranking) -> Ranking:
    papers: dict[str, float] = {}
    for passage_id, score in ranking:
        papers.setdefault(paper_of(passage_id), score)
    return list(papers.items())
