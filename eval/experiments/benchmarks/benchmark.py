"""A benchmark for finding papers: questions, graded papers, and records of papers."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, StringConstraints

from base.terminal.output import shortened
from eval.errors import BadBenchmark

DATE = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:[T ].*)?")

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """A question of a benchmark.

    Args:
        query_id: unique in the benchmark.
        question: as typed.
        grades: by the id of the paper; 0 is judged not relevant.
        day: date of the question; newer papers cannot be relevant. None if the benchmark has none.
        attributes: further values, which are kept with the topic.
    """

    query_id: str
    question: str
    grades: Mapping[str, int]
    day: date | None = None
    attributes: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BenchmarkPaper:
    """A record with the keys of `Paper`, and its place in the files: file and line."""

    where: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Questions in the order of the files, and papers, which are read when they are iterated.

    `has_corpus` states that the papers are the corpus to search; else they are only the relevant papers.
    """

    questions: tuple[BenchmarkQuestion, ...]
    papers: Callable[[], Iterator[BenchmarkPaper]]
    has_corpus: bool


def file_in(path: Path, *names: str) -> Path:
    """Return the path itself if it is a file, else the first file of these names in the folder.

    Raises:
        BadBenchmark: the folder has none of them.
    """
    if not path.is_dir():
        return path
    for name in names:
        if (path / name).exists():
            return path / name
    raise BadBenchmark(f"{path} contains no {' or '.join(names)}")


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
