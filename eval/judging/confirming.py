"""Papers that an assessor judges: which ones, in which order, and how they are shown.

An assessor sees no ranks, no grades of models, and no grades of other assessors. The order of the papers of a
question depends on the seed alone.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from base.errors import InvalidCall
from base.journal import Append
from base.terminal.columns import line_width, wrap
from base.terminal.output import echo, echo_lines, shortened, styled
from eval.judging.calls import ConfirmCall
from eval.judging.candidates import Candidate
from eval.judging.folder import assessments_file, now, writing
from eval.judging.funnel import automatic_stages
from eval.judging.keyboard import SKIP, typed_keys, work_through
from eval.judging.records import Assessment, Pair
from eval.judging.state import Benchmark

GRADES = {"0": "not relevant", "1": "related", "2": "relevant", "3": "highly relevant"}
CHOICES = {**GRADES, SKIP: "skip"}
WIDEST = 100  # columns of a text
SHOWN_ABSTRACT = 6_000  # characters

Part = Literal["passed", "dropped", "disputed"]


def confirm_papers(path: Path, call: ConfirmCall) -> "Session":
    """Run a session of an assessor at the terminal.

    Raises:
        BadBenchmark, FileBusy: the folder.
        InvalidCall: nothing is pooled yet, or contradictory options.
    """
    if call.dropped and call.disputed:
        raise InvalidCall("--dropped and --disputed exclude each other")
    part: Part = "dropped" if call.dropped else "disputed" if call.disputed else "passed"
    Benchmark(path)  # before a folder is made in it
    with writing(path, assessments_file(path, call.assessor), shared=True) as (append,):
        benchmark = Benchmark(path)
        pairs = pairs_to_confirm(benchmark, call.assessor, part, call.sample)
        session = Session(benchmark, pairs, dict(benchmark.assessments.get(call.assessor, {})))
        with typed_keys() as keys:
            session.run(keys, append)
    return session


def pairs_to_confirm(benchmark: Benchmark, assessor: str, part: Part, sample: int | None) -> list[Pair]:
    """Return the pairs that an assessor judges, by question.

    Args:
        benchmark: the benchmark.
        assessor: the name of the assessor.
        part: the pairs that passed all stages; or the pairs that a stage dropped, for an estimate of missed
            papers; or the pairs that other assessors graded differently.
        sample: a random sample of this size, the same for all assessors.

    Raises:
        InvalidCall: nothing is pooled yet.
    """
    if not benchmark.rankings:
        raise InvalidCall(
            f"{benchmark.path} has no pool yet", remedy="`shrag benchmark pool` searches for papers"
        )
    stages = automatic_stages(benchmark)
    if part == "passed":
        pairs = list(stages[-1].pairs)
    elif part == "dropped":
        passed = set(stages[-1].pairs)
        pairs = [pair for pair in stages[0].pairs if pair not in passed]
    else:
        pairs = _disputed(benchmark, assessor)
    seed = benchmark.marker.seed
    if sample is not None:
        pairs = sorted(pairs, key=lambda pair: _random(seed, "sample", pair))[:sample]
    places = {query_id: place for place, query_id in enumerate(benchmark.selected)}
    known = [pair for pair in pairs if pair[0] in places]
    return sorted(known, key=lambda pair: (places[pair[0]], _random(seed, "order", pair)))


def _disputed(benchmark: Benchmark, assessor: str) -> list[Pair]:
    grades: dict[Pair, set[int]] = {}
    for name, lines in benchmark.assessments.items():
        for pair, each in lines.items() if name != assessor else ():
            if each.grade is not None:
                grades.setdefault(pair, set()).add(each.grade)
    return [pair for pair, of in grades.items() if len(of) > 1]


def _random(seed: int, purpose: str, pair: Pair) -> bytes:
    """Return a random key of a pair, which depends on the seed and the pair alone."""
    query_id, (source, paper_id) = pair
    return hashlib.sha256("\0".join([str(seed), purpose, query_id, source, paper_id]).encode()).digest()


@dataclass(slots=True)
class Session:
    """A session of an assessor: the pairs, and the grades so far, of earlier sessions too."""

    benchmark: Benchmark
    pairs: list[Pair]
    known: dict[Pair, Assessment]

    @property
    def left(self) -> list[Pair]:
        """The pairs without a grade that were not skipped."""
        return [pair for pair in self.pairs if pair not in self.known]

    @property
    def skipped(self) -> list[Pair]:
        """The pairs that were skipped."""
        return [pair for pair in self.pairs if pair in self.known and self.known[pair].grade is None]

    def run(self, keys: Iterator[str], append: Append[Assessment]) -> None:
        """Show the pairs without a grade, then pairs that earlier sessions skipped; append each judgement."""
        again, left = set(self.skipped), len(self.left)

        def choose(pair: Pair, key: str) -> None:
            made = Assessment(pair[0], pair[1], None if key == SKIP else int(key), now())
            append(made)
            nonlocal left
            left -= pair not in self.known
            self.known[pair] = made
            again.discard(pair)

        def is_done(pair: Pair) -> bool:
            return pair in self.known and (left > 0 or pair not in again)

        work_through(self.pairs, is_done, self._show, CHOICES, choose, keys)

    def _show(self, pair: Pair, number: int) -> None:
        question = self.benchmark.selected[pair[0]]
        width = min(line_width(), WIDEST)
        echo()
        echo(styled(f"{number:,} of {len(self.pairs):,}, {len(self.left):,} left", dim=True))
        for line in wrap(f"{pair[0]}  {question}", width):
            echo(styled(line, bold=True))
        echo_lines(["", *_described(self.benchmark.pairs[pair], width), ""])
        if (known := self.known.get(pair)) and known.grade is not None:
            echo(f"your grade: {known.grade}")


def _described(candidate: Candidate, width: int) -> Iterator[str]:
    """Yield the lines of a paper: titles, year and journal, abstracts."""
    paper = candidate.paper
    for title in filter(None, (paper.title, paper.title2)):
        yield from wrap(shortened(title, 1_000), width)
    if details := ", ".join(filter(None, (str(paper.year or ""), paper.journal))):
        yield shortened(details)
    for abstract in filter(None, (paper.abstract, paper.abstract2)):
        yield ""
        yield from wrap(shortened(abstract, SHOWN_ABSTRACT), width)
    if not (paper.abstract or paper.abstract2):
        yield "(no abstract)"
