"""Sheets for persons: CSV files of questions to select and of papers to grade, and their import.

A sheet of papers has no ranks, no scores of judges and no grades of other assessors, and the order of the
papers of a question depends on the seed alone. Files of spreadsheet programs are read: UTF-8 or CP949, with
commas, semicolons or tabs.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from base.errors import InvalidCall
from base.files.durable import cause_of
from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.journal import appending
from eval.errors import BadBenchmark
from eval.judging.folder import SELECTIONS, Benchmark, adding_grades, now
from eval.judging.records import HIGHEST_GRADE, Assessment, Pair, Question, Selection
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


def questions_to_select(benchmark: Benchmark, *, seeds: bool) -> list[Question]:
    """Return the derived questions, and the seeds if they are to be selected too; each after its seed."""
    questions = list(benchmark.questions.values())
    places = {each.query_id: place for place, each in enumerate(questions)}
    ordered = sorted(questions, key=lambda each: (places.get(each.seed or each.query_id, 0), bool(each.seed)))
    return [each for each in ordered if seeds or each.origin == "extended"]


def write_questions(benchmark: Benchmark, out: Path, *, seeds: bool) -> int:
    """Write a sheet of questions with the decisions so far; return their number."""
    questions = questions_to_select(benchmark, seeds=seeds)
    shown = {kept: key for key, kept in KEPT.items()}
    rows = []
    for each in questions:
        decision = benchmark.selections.get(each.query_id)
        seed = benchmark.questions.get(each.seed)
        kept = shown[decision.kept] if decision else ""
        rows.append([kept, each.query_id, one_line(each.question), one_line(seed.question if seed else "")])
    _write(out, QUESTIONS, rows)
    return len(questions)


def import_selections(benchmark: Benchmark, sheet: Path, assessor: str) -> int:
    """Add the decisions of a sheet that are new or changed; return their number.

    Raises:
        BadBenchmark: the sheet cannot be read, with file and line; nothing is added.
        FileBusy: another process adds selections.
    """
    made = []
    for where, kept, query_id in _read(sheet, "keep", "query_id"):
        if query_id not in benchmark.questions:
            raise BadBenchmark(f"{where}: the benchmark has no question {query_id!r}")
        if kept.lower() not in KEPT:
            raise BadBenchmark(f"{where}: keep is {kept!r}, not y or n")
        decision = Selection(query_id, KEPT[kept.lower()], assessor, now())
        known = benchmark.selections.get(query_id)
        if known is None or known.kept != decision.kept:
            made.append(decision)
    with appending(benchmark.path / SELECTIONS, Selection) as append:
        for each in made:
            append(each)
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
            grades.setdefault(pair, set()).add(each.grade)
    return [pair for pair, of in grades.items() if len(of) > 1]


def _random(seed: int, purpose: str, pair: Pair) -> bytes:
    """Return a random key of a pair, which depends on the seed and the pair alone."""
    query_id, (source, paper_id) = pair
    return hashlib.sha256("\0".join([str(seed), purpose, query_id, source, paper_id]).encode()).digest()


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
        FileBusy: another process adds grades of this assessor.
    """
    known = benchmark.assessments.get(assessor, {})
    made = []
    for where, grade, query_id, paper in _read(sheet, "grade", "query_id", "paper"):
        source, _, paper_id = paper.partition(":")
        if (query_id, (source, paper_id)) not in benchmark.pairs:
            raise BadBenchmark(f"{where}: the pool has no paper {paper!r} for {query_id!r}")
        if grade not in GRADES:
            raise BadBenchmark(f"{where}: the grade is {grade!r}, not 0 to {HIGHEST_GRADE}")
        line = Assessment(query_id, (source, paper_id), int(grade), now())
        before = known.get(benchmark.key(line))
        if before is None or before.grade != line.grade:
            made.append(line)
    with adding_grades(benchmark.path, assessor) as append:
        for each in made:
            append(each)
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
