"""Sheets for persons: CSV files of questions to select and of papers to grade, and their import.

A sheet of papers has no ranks, no scores of judges and no grades of other assessors, and the order of the
papers of a question depends on their ids alone. Files of spreadsheet programs are read: UTF-8 or CP949, with
commas, semicolons or tabs.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from base.errors import InvalidCall
from base.files.durable import cause_of
from base.files.output_files import write_output
from base.files.regular_files import read_regular
from eval.errors import BadBenchmark
from eval.judging.benchmark import HIGHEST_GRADE, Assessment, Benchmark, Pair, now
from eval.judging.stages import automatic_stages
from indexer.corpora.own_exports import FORMULA
from retriever.reference import one_line

Part = Literal["passed", "dropped", "disputed"]

GRADES = tuple(map(str, range(HIGHEST_GRADE + 1)))
KEPT = {"y": True, "n": False}
TEXTS = ("title", "title2", "year", "journal", "abstract", "abstract2")
PAPERS = ("grade", "query_id", "question", "paper", *TEXTS)
QUESTIONS = ("keep", "query_id", "question", "seed")
MOST_BYTES = 256_000_000  # of a sheet


def write_questions(benchmark: Benchmark, out: Path, *, seeds: bool) -> int:
    """Write a sheet of derived questions, each with its seed, and the decisions so far.

    With `seeds` the seeds are to be selected too. Returns the number of questions.
    """
    questions, shown, rows = benchmark.questions, {kept: key for key, kept in KEPT.items()}, []
    for each in questions.values():
        if seeds or each.origin == "extended":
            seed = questions[each.seed].question if each.seed else ""
            kept = "" if each.kept is None else shown[each.kept]
            rows.append([kept, each.query_id, one_line(each.question), one_line(seed)])
    _write(out, QUESTIONS, rows)
    return len(rows)


def import_selections(benchmark: Benchmark, sheet: Path, assessor: str) -> int:
    """Add the decisions of a sheet that are new or changed; return their number.

    Raises:
        BadBenchmark: the sheet cannot be read, with file and line; nothing is added.
    """
    made = []
    for where, kept, query_id in _read(sheet, "keep", "query_id"):
        if query_id not in benchmark.questions:
            raise BadBenchmark(f"{where}: the benchmark has no question {query_id!r}")
        if kept.lower() not in KEPT:
            raise BadBenchmark(f"{where}: keep is {kept!r}, not y or n")
        question, decision = benchmark.questions[query_id], KEPT[kept.lower()]
        if question.kept != decision:
            made.append(replace(question, kept=decision, assessor=assessor))
    benchmark.append(*made)
    return len(made)


def pairs_to_confirm(benchmark: Benchmark, assessor: str, part: Part, sample: int | None) -> list[Pair]:
    """Return the pairs that an assessor grades, by question.

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
    passed = automatic_stages(benchmark)[-1].pairs
    if part == "passed":
        pairs = list(passed)
    elif part == "dropped":
        pairs = list(dict.fromkeys(benchmark.pooled).keys() - set(passed))
    else:
        others = [lines for name, lines in benchmark.assessments.items() if name != assessor]
        graded = dict.fromkeys(pair for lines in others for pair in lines)
        pairs = [pair for pair in graded if len({of[pair].grade for of in others if pair in of}) > 1]

    def random(purpose: str, pair: Pair) -> bytes:
        """Return a random key of a pair, which depends on the pair alone."""
        query_id, identity = pair
        return hashlib.sha256("\0".join((purpose, query_id, *identity)).encode()).digest()

    if sample is not None:
        pairs = sorted(pairs, key=lambda pair: random("sample", pair))[:sample]
    places = {query_id: place for place, query_id in enumerate(benchmark.selected)}
    known = [pair for pair in pairs if pair[0] in places]
    return sorted(known, key=lambda pair: (places[pair[0]], random("order", pair)))


def write_papers(benchmark: Benchmark, out: Path, assessor: str, pairs: Sequence[Pair]) -> None:
    """Write a sheet of papers with the assessor's own grades so far."""
    known = benchmark.assessments.get(assessor, {})
    rows = []
    for pair in pairs:
        query_id, identity = pair
        paper = benchmark.pairs[pair].paper
        texts = [one_line(str(getattr(paper, name) or "")) for name in TEXTS]
        grade = str(known[pair].grade) if pair in known else ""
        rows.append([grade, query_id, one_line(benchmark.selected[query_id]), ":".join(identity), *texts])
    _write(out, PAPERS, rows)


def import_grades(benchmark: Benchmark, sheet: Path, assessor: str) -> int:
    """Add the grades of a sheet that are new or changed; return their number.

    Raises:
        BadBenchmark: the sheet cannot be read, with file and line; nothing is added.
    """
    known = benchmark.assessments.get(assessor, {})
    made = []
    for where, grade, query_id, paper in _read(sheet, "grade", "query_id", "paper"):
        source, _, paper_id = paper.partition(":")
        if (query_id, (source, paper_id)) not in benchmark.pairs:
            raise BadBenchmark(f"{where}: the pool has no paper {paper!r} for {query_id!r}")
        if grade not in GRADES:
            raise BadBenchmark(f"{where}: the grade is {grade!r}, not 0 to {HIGHEST_GRADE}")
        record = Assessment(query_id, (source, paper_id), assessor, int(grade), now())
        before = known.get(benchmark.key(record))
        if before is None or before.grade != record.grade:
            made.append(record)
    benchmark.append(*made)
    return len(made)


def _write(out: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a sheet, unless the file exists: it may have grades that are not imported yet."""
    if out.exists():
        raise InvalidCall(f"{out} exists", remedy=("import its labels (--labels)", "name another file"))
    text = io.StringIO()
    lines = csv.writer(text, quoting=csv.QUOTE_ALL)
    lines.writerow(columns)
    lines.writerows([f"'{cell}" if FORMULA.match(cell) else cell for cell in row] for row in rows)
    write_output(out, text.getvalue().encode("utf-8-sig", "replace"))


def _read(path: Path, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield place and cells of the rows of a sheet whose first named cell is filled in."""
    try:
        content = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise BadBenchmark(f"{path} cannot be read: {cause_of(error)}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp949", "replace")
    header = text.partition("\n")[0]
    csv.field_size_limit(MOST_BYTES)  # an abstract may be longer than the default
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count))
    if missing := [name for name in names if name not in (rows.fieldnames or ())]:
        raise BadBenchmark(f"{path}: the first line has no column {missing[0]!r}")
    try:
        for row in rows:
            cells = [(row[name] or "").strip() for name in names]
            if cells[0]:
                own = [cell[1:] if cell[:1] == "'" and FORMULA.match(cell[1:]) else cell for cell in cells]
                yield f"{path}:{rows.line_num}", *own
    except csv.Error as error:
        raise BadBenchmark(f"{path}:{rows.line_num}: {error}") from None
