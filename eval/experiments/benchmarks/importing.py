"""The files of an experiment, made from a benchmark: topics, qrels and papers.

| file | content |
|---|---|
| topics.jsonl | query_id, question, date of the question if there is one, and values such as query_set |
| qrels.txt | TREC's four columns, with the ids of papers.jsonl |
| papers.jsonl | the corpus, for `shrag index`; without a corpus the relevant papers, for `--papers` |
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

from pydantic import ValidationError

from base.amounts import counted
from base.calls import reason
from base.files.output_files import check_output, not_written, output_file, write_output
from eval.errors import BadBenchmark
from eval.experiments.benchmarks import LAYOUTS
from eval.experiments.benchmarks.benchmark import Benchmark, BenchmarkPaper, BenchmarkQuestion
from indexer.corpora.papers import FORBIDDEN_IN_IDENTIFIERS, Paper

TOPICS, QRELS, PAPERS = "topics.jsonl", "qrels.txt", "papers.jsonl"


@dataclass(frozen=True, slots=True)
class ImportedBenchmark:
    """Numbers of what was written, and notes."""

    questions: int
    judgements: int
    papers: int
    notes: tuple[str, ...]


def import_benchmark(layout: str, path: Path, out: Path, split: str = "test") -> ImportedBenchmark:
    """Read a benchmark and write topics.jsonl, qrels.txt and papers.jsonl into the folder `out`.

    Raises:
        BadBenchmark, BadTopics, BadQrels: with file and line.
        InvalidCall, OutputNotWritten: the folder cannot be written, or is inside the benchmark.
        LibraryMissing: as the reader of the layout.
    """
    benchmark = LAYOUTS[layout](path, split)
    _check_ids(path, benchmark.questions)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(out, error) from None
    for name in (TOPICS, QRELS, PAPERS):
        check_output(out / name, (path,))
    written = _write_papers(out / PAPERS, benchmark.papers())
    qrels = [
        f"{question.query_id} 0 {_word(paper_id)} {grade}\n"
        for question in benchmark.questions
        for paper_id, grade in question.grades.items()
    ]
    write_output(out / TOPICS, "".join(_line(_topic(each)) for each in benchmark.questions).encode())
    write_output(out / QRELS, "".join(qrels).encode())
    return ImportedBenchmark(
        len(benchmark.questions), len(qrels), len(written), tuple(_notes(benchmark, written))
    )


def _check_ids(path: Path, questions: tuple[BenchmarkQuestion, ...]) -> None:
    seen = set[str]()
    for question in questions:
        if not question.query_id or FORBIDDEN_IN_IDENTIFIERS.search(question.query_id):
            raise BadBenchmark(
                f"{path}: {question.query_id!r} is not a query id: it is empty, or contains white space or "
                "control characters"
            )
        if question.query_id in seen:
            raise BadBenchmark(f"{path}: {question.query_id} occurs a second time; query ids must be unique")
        try:
            _line(_topic(question)).encode()
        except UnicodeEncodeError:
            raise BadBenchmark(f"{path}: {question.query_id!r}: the question has a lone surrogate") from None
        seen.add(question.query_id)
    if not questions:
        raise BadBenchmark(f"{path}: it contains no questions")


def _write_papers(path: Path, papers: Iterator[BenchmarkPaper]) -> set[str]:
    """Check and write the records; return their ids."""
    ids = set[str]()
    with output_file(path) as file:
        for paper in papers:
            try:
                checked = Paper.model_validate(paper.record)
            except ValidationError as error:
                raise BadBenchmark(f"{paper.where}: {reason(error)}") from None
            if checked.id in ids:
                raise BadBenchmark(f"{paper.where}: {checked.id} occurs a second time")
            ids.add(checked.id)
            file.write(_line({**paper.record, "id": checked.id}).encode())
    return ids


def _topic(question: BenchmarkQuestion) -> dict[str, Any]:
    day = {"date": question.day.isoformat()} if question.day else {}
    return {
        "query_id": question.query_id,
        "question": question.question,
        **day,
        **question.attributes,
    }


def _notes(benchmark: Benchmark, papers: set[str]) -> Iterator[str]:
    if not benchmark.has_corpus:
        yield (
            f"the benchmark has no corpus: {PAPERS} contains the relevant papers, "
            f"which the experiments identify with --papers {PAPERS}"
        )
    judged = {_word(paper_id) for question in benchmark.questions for paper_id in question.grades}
    if missing := judged - papers:
        yield f"{counted(len(missing), 'judged paper')} not in the corpus ({min(missing)}, …)"
    without = sum(max(question.grades.values(), default=0) <= 0 for question in benchmark.questions)
    if without:
        yield f"{counted(without, 'question')} without a relevant paper"


def _word(paper_id: str) -> str:
    """Return the normal form of an id, which `Paper` has too."""
    return normalize("NFC", paper_id)


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
