"""The pool of a question: the papers of all rankings, each paper once, with its ranks."""

from collections.abc import Sequence
from dataclasses import dataclass

from eval.judging.records import Identity, Ranked
from indexer.corpora.papers import Paper
from retriever.sources import SourceAnswer, SourcePaper
from retriever.sources.merging import MergedPaper, merge


@dataclass(frozen=True, slots=True)
class FoundAt:
    """The rank of a paper in a ranking, from 1."""

    place: str
    method: str
    rank: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paper to judge; records of the same paper are one candidate (`retriever/sources/merging.py`)."""

    merged: MergedPaper
    found: tuple[FoundAt, ...]

    @property
    def key(self) -> Identity:
        """The first identity of the paper."""
        return self.merged.ids[0]

    @property
    def paper(self) -> Paper:
        """The record, with missing fields from the other records."""
        return self.merged.paper

    @property
    def best_rank(self) -> int:
        """The best rank in any ranking."""
        return min(each.rank for each in self.found)

    def judged_ids(self, index: str, *, several: bool) -> list[str]:
        """Return the ids of the paper in judgements, as a run has them (`shrag eval run`).

        These are the ids of all its records in the index, if the index has any. Otherwise it is the id of the
        first record, after the name of its source if there are `several` places.
        """
        of_index = [paper_id for source, paper_id in self.merged.ids if source == index]
        source, paper_id = self.key
        return of_index or [f"{source}:{paper_id}" if several else paper_id]


def candidates_of(rankings: Sequence[Ranked], places: Sequence[str]) -> list[Candidate]:
    """Merge the papers of the rankings of a question; best rank first, ties in the order of the places.

    If a ranking was repeated with a larger depth, the ranks of the last one count. Papers of earlier ones are
    kept.
    """
    records: dict[str, dict[str, Paper]] = {place: {} for place in places}
    found: dict[Identity, dict[tuple[str, str], FoundAt]] = {}
    for each in rankings:
        for source, paper in each.papers:
            records.setdefault(source, {}).setdefault(paper.id, paper)
        for rank, identity in enumerate(each.ranked, 1):
            at = FoundAt(each.place, each.method, rank)
            found.setdefault(identity, {})[each.place, each.method] = at
    answers = {
        source: SourceAnswer((tuple(map(SourcePaper, papers.values())),))
        for source, papers in records.items()
        if papers
    }
    merged = merge(answers, {}, several=True).papers.values()
    candidates = [Candidate(paper, _ranks(paper, found)) for paper in merged]
    return sorted((each for each in candidates if each.found), key=lambda each: each.best_rank)


def _ranks(merged: MergedPaper, found: dict[Identity, dict[tuple[str, str], FoundAt]]) -> tuple[FoundAt, ...]:
    """Return the ranks of a paper, of each ranking the best."""
    best: dict[tuple[str, str], FoundAt] = {}
    for identity in merged.ids:
        for ranking, at in found.get(identity, {}).items():
            if ranking not in best or at.rank < best[ranking].rank:
                best[ranking] = at
    return tuple(best.values())
