"""A benchmark for finding papers: questions, graded papers and records, and the files of an experiment.

| file | content |
|---|---|
| topics.jsonl | query_id, question, date of the question if there is one, and values such as query_set |
| qrels.txt | TREC's four columns, with the ids of papers.jsonl |
| papers.jsonl | the corpus, for `shrag index`; without a corpus the relevant papers, for `--papers` |
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar
from unicodedata import normalize

from pydantic import BaseModel, BeforeValidator, StringConstraints, ValidationError

from base.amounts import counted
from base.calls import reason
from base.errors import LibraryMissing
from base.extras import extra_remedy
from base.files.output_files import check_output, not_written, output_file, write_output
from base.files.regular_files import open_regular
from base.terminal.output import shortened
from eval.errors import BadBenchmark
from eval.experiments.folder import json_lines
from eval.files import Digest, numbered_lines
from indexer.corpora.papers import FORBIDDEN_IN_IDENTIFIERS, Paper
from indexer.corpora.readers.json_records import DECODER

R = TypeVar("R", bound=BaseModel)
# The place of a record in the files, file and line, and a record with the keys of `Paper`.
PlacedPaper: TypeAlias = tuple[str, Mapping[str, Any]]

TOPICS, QRELS, PAPERS = "topics.jsonl", "qrels.txt", "papers.jsonl"
DATE = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:[T ].*)?")
BATCH = 100  # rows of a Parquet file in memory; a row may contain a full text

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """A question of a benchmark."""

    query_id: str  # unique in the benchmark
    question: str  # as typed
    grades: Mapping[str, int]  # by the id of the paper; 0 is judged not relevant
    # Date of the question; newer papers cannot be relevant. None if the benchmark has none.
    day: date | None = None
    # Further values, which are kept with the topic.
    attributes: Mapping[str, str | int] = field(default_factory=dict)

    def topic(self) -> dict[str, Any]:
        """Return the line of topics.jsonl."""
        day = {"date": self.day.isoformat()} if self.day else {}
        return {"query_id": self.query_id, "question": self.question, **day, **self.attributes}


class Benchmark(NamedTuple):
    """Questions in the order of the files, and papers, which are read when they are iterated.

    `has_corpus` states that the papers are the corpus to search; else they are only the relevant papers.
    """

    questions: tuple[BenchmarkQuestion, ...]
    papers: Callable[[], Iterable[PlacedPaper]]
    has_corpus: bool = True


def file_in(path: Path, *names: str) -> Path:
    """Return the path itself if it is a file, else the first file of these names in the folder.

    Raises:
        BadBenchmark: the folder has none of them.
    """
    found = next((path / name for name in names if (path / name).exists()), None)
    if path.is_dir() and found is None:
        raise BadBenchmark(f"{path} contains no {' or '.join(names)}")
    return found or path


def day_of(value: object) -> date | None:
    """Parse a day: 20240305, 2024-03-05, with or without a time; "" is None.

    Raises:
        ValueError: it is no day.
    """
    if value is None or value == "":
        return None
    if isinstance(value, date):
        return value
    found = DATE.fullmatch(str(value).strip()) if isinstance(value, str | int) else None
    if not found:
        raise ValueError(f"{shortened(repr(value))} is not a day, such as 2024-03-05")
    try:
        return date(*map(int, found.groups()))
    except ValueError as error:
        raise ValueError(f"{value!r} is not a day: {error}") from None


Day = Annotated[date | None, BeforeValidator(day_of)]


def rows_of(path: Path, row: type[R], digest: Digest | None = None) -> Iterator[tuple[str, R]]:
    """Yield (place, row) for each row of a file: JSON lines, optionally gzipped, or Parquet.

    Other columns are ignored. A place is `FILE:LINE`. `digest` hashes the bytes of JSON lines.

    Raises:
        BadBenchmark: with file and line; not JSON, a missing field, or a wrong type.
        LibraryMissing: for Parquet, without pyarrow.
    """
    given = _parquet_rows(path, row) if path.suffix == ".parquet" else _json_rows(path, digest)
    for number, values in given:
        where = f"{path}:{number}"
        try:
            yield where, row.model_validate(values)
        except ValidationError as error:
            raise BadBenchmark(f"{where}: {reason(error)}") from None


def _json_rows(path: Path, digest: Digest | None) -> Iterator[tuple[int, Any]]:
    for number, line in numbered_lines(path, BadBenchmark, digest):
        try:
            yield number, DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            raise BadBenchmark(f"{path}:{number}: not JSON ({error})") from None


def _parquet_rows(path: Path, row: type[BaseModel]) -> Iterator[tuple[int, Any]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        remedy = extra_remedy("hub")
        raise LibraryMissing(f"{path}: reading Parquet needs the library pyarrow", remedy=remedy) from None
    try:
        with open_regular(path) as opened, ParquetFile(opened) as file:
            columns = [name for name in row.model_fields if name in file.schema_arrow.names]
            batches: Iterable[Any] = file.iter_batches(BATCH, columns=columns)
            yield from enumerate((values for batch in batches for values in batch.to_pylist()), 1)
    except (ArrowException, OSError) as error:
        raise BadBenchmark(f"{path} cannot be read as Parquet: {error}") from None


def write_benchmark(benchmark: Benchmark, path: Path, out: Path) -> tuple[str, list[str]]:
    """Write topics.jsonl, qrels.txt and papers.jsonl of a benchmark at `path` into the folder `out`.

    Returns the numbers of questions, judgements and papers as text, and notes.

    Raises:
        BadBenchmark: with file and line; an id that occurs twice, or that the files cannot represent.
        InvalidCall, OutputNotWritten: the folder cannot be written, or is inside the benchmark.
    """
    questions, seen = benchmark.questions, set[str]()
    for query_id in (question.query_id for question in questions):
        if not query_id or FORBIDDEN_IN_IDENTIFIERS.search(query_id):
            raise BadBenchmark(
                f"{path}: {query_id!r} is not a query id: it is empty, or contains white space or "
                "control characters"
            )
        if query_id in seen:
            raise BadBenchmark(f"{path}: {query_id} occurs a second time; query ids must be unique")
        seen.add(query_id)
    if not questions:
        raise BadBenchmark(f"{path}: it contains no questions")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(out, error) from None
    for name in (TOPICS, QRELS, PAPERS):
        check_output(out / name, (path,))
    papers = _write_papers(out / PAPERS, benchmark.papers())
    judged = [
        (question.query_id, normalize("NFC", paper_id), grade)  # the normal form of `Paper`
        for question in questions
        for paper_id, grade in question.grades.items()
    ]
    write_output(out / TOPICS, json_lines(question.topic() for question in questions))
    lines = (f"{query_id} 0 {paper_id} {grade}\n" for query_id, paper_id, grade in judged)
    write_output(out / QRELS, "".join(lines).encode())
    notes = []
    if not benchmark.has_corpus:
        notes.append(
            f"the benchmark has no corpus: {PAPERS} contains the relevant papers, "
            f"which the experiments identify with --papers {PAPERS}"
        )
    if missing := {paper_id for _, paper_id, _ in judged} - papers:
        notes.append(f"{counted(len(missing), 'judged paper')} not in the corpus ({min(missing)}, …)")
    if without := sum(max(question.grades.values(), default=0) <= 0 for question in questions):
        notes.append(f"{counted(without, 'question')} without a relevant paper")
    numbers = {"question": len(questions), "judgement": len(judged), "paper": len(papers)}
    return ", ".join(counted(number, name) for name, number in numbers.items()), notes


def _write_papers(path: Path, papers: Iterable[PlacedPaper]) -> set[str]:
    """Check and write the records; return their ids."""
    ids = set[str]()
    with output_file(path) as file:
        for where, record in papers:
            try:
                paper_id = Paper.model_validate(record).id
            except ValidationError as error:
                raise BadBenchmark(f"{where}: {reason(error)}") from None
            if paper_id in ids:
                raise BadBenchmark(f"{where}: {paper_id} occurs a second time")
            ids.add(paper_id)
            file.write(json_lines([{**record, "id": paper_id}]))
    return ids
