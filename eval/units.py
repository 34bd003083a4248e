"""The units of judgements and runs, passages or papers, and their conversion to papers.

A passage is recognised by its id: 1234#5 in MIRACL, and X#1 or X@en of a paper X. A paper scores as its best
passage, and its grade is the highest grade of its passages, as in `eval run --unit paper`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval.collection import Qrels
from eval.errors import UnitsDiffer
from eval.runs import Ranking, ReadRun

JUDGED_PASSAGE = re.compile(r"(.+?)#\d+", re.ASCII)
RANKED_PASSAGE = re.compile(r"(.+?)(?:#\d+|@ko|@en)", re.ASCII)


@dataclass(frozen=True, slots=True)
class MadeRun:
    """A run, its name for messages, and the unit in its manifest; "" without a manifest."""

    name: str
    run: Mapping[str, Ranking]
    unit: str = ""

    @property
    def ids(self) -> Iterable[str]:
        """The ids in all rankings."""
        return (found for ranking in self.run.values() for found, _ in ranking)

    @property
    def holds_passages(self) -> bool:
        """Whether passages of papers or articles are ranked; ids of papers may look the same."""
        if self.unit == "paper" or (isinstance(self.run, ReadRun) and not self.run.has_sign("#@")):
            return False
        return any(map(RANKED_PASSAGE.fullmatch, self.ids))


def in_one_unit(
    qrels: Qrels, runs: Sequence[MadeRun]
) -> tuple[Qrels, list[Mapping[str, Ranking]], list[str]]:
    """Return judgements and runs in the same unit, and notes about conversions to papers.

    Raises:
        UnitsDiffer: their units differ, and no paper is in common.
    """
    judged = {passage for grades in qrels.values() for passage in grades}
    papers = [made for made in runs if made.run and not made.holds_passages]
    notes: list[str] = []
    only_passages = all(map(JUDGED_PASSAGE.fullmatch, judged))
    if only_passages and papers and not any(judged.intersection(made.ids) for made in papers):
        qrels = {query_id: grades_of_papers(grades) for query_id, grades in qrels.items()}
        notes.append(
            f"{papers[0].name} ranks papers, the qrels judge passages: scored by paper, best passage"
        )
    elif any(map(RANKED_PASSAGE.fullmatch, judged)):
        return qrels, [made.run for made in runs], notes
    converted: list[Mapping[str, Ranking]] = []
    for made in runs:
        run = made.run
        if made.holds_passages:
            run = {query_id: _ranked_papers(ranking) for query_id, ranking in run.items()}
            notes.append(f"{made.name} ranks passages, the qrels judge papers: scored by paper, best passage")
        if notes and run:
            _check_common(made, run, qrels, judged)
        converted.append(run)
    return qrels, converted, notes


def _check_common(made: MadeRun, run: Mapping[str, Ranking], qrels: Qrels, judged: Iterable[str]) -> None:
    """Raise `UnitsDiffer` if no judged paper is ranked for any question."""
    if any(found in grades for query_id, grades in qrels.items() for found, _ in run.get(query_id, ())):
        return
    unit = "passages" if made.holds_passages else "papers"
    judged_id = min(judged)
    judges = "passages" if JUDGED_PASSAGE.fullmatch(judged_id) else "papers"
    raise UnitsDiffer(
        f"{made.name} ranks {unit} ({next(iter(made.ids))}, …), the qrels judge {judges} ({judged_id}, …), "
        "and they have no paper in common; make the run from the judged corpus, in its unit (--unit)"
    )


def paper_of(passage_id: str) -> str:
    """Return the paper or article of a passage, by the form of its id; other ids are unchanged."""
    found = RANKED_PASSAGE.fullmatch(passage_id)
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
