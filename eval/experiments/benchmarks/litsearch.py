"""LitSearch (Ajith et al. 2024), as it is published: the folders query/ and corpus_clean/ with Parquet files.

query: query, corpusids, query_set (such as inline_acl), specificity and quality. corpus_clean: corpusid,
title, abstract, citations (corpusids of the papers that a paper refers to), full_paper (ignored). Both may
also be JSON lines: query.jsonl and corpus_clean.jsonl, optionally gzipped. Questions are numbered from 0.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from eval.errors import BadBenchmark
from eval.experiments.benchmarks.benchmark import Benchmark, BenchmarkPaper, BenchmarkQuestion, Words
from eval.experiments.benchmarks.rows import rows_of

R = TypeVar("R", bound=BaseModel)
ENDINGS = (".jsonl", ".jsonl.gz")


class QueryRow(BaseModel):
    """A question: `specificity` is 0 (broad) or 1 (specific), `quality` 1 or 2 (Ajith et al., section 2)."""

    query: Words
    corpusids: list[int]
    query_set: str = ""
    specificity: int | None = None
    quality: int | None = None


class CorpusRow(BaseModel):
    """A paper of the corpus."""

    corpusid: int
    title: str | None = None
    abstract: str | None = None
    citations: list[int] | None = None


def read_litsearch(path: Path, split: str) -> Benchmark:
    """Read the folder of the benchmark; its only split is `full`, which is read for any `split`.

    Raises:
        BadBenchmark: with file and line.
        LibraryMissing: for Parquet, without pyarrow.
    """
    del split
    questions = []
    for number, (where, row) in enumerate(_rows(path, "query", QueryRow)):
        if not row.corpusids:
            raise BadBenchmark(f"{where}: the question has no relevant paper")
        attributes: dict[str, str | int | None] = {
            "query_set": row.query_set,
            "specificity": row.specificity,
            "quality": row.quality,
        }
        questions.append(
            BenchmarkQuestion(
                str(number),
                row.query,
                {str(corpusid): 1 for corpusid in row.corpusids},
                attributes={name: value for name, value in attributes.items() if value not in (None, "")},
            )
        )
    return Benchmark(tuple(questions), lambda: _papers(path), has_corpus=True)


def _papers(path: Path) -> Iterator[BenchmarkPaper]:
    for where, row in _rows(path, "corpus_clean", CorpusRow):
        record = {
            "id": str(row.corpusid),
            "title": row.title or "",
            "abstract": row.abstract or "",
            "references": list(map(str, row.citations or ())),
        }
        yield BenchmarkPaper(where, record)


def _rows(path: Path, name: str, row: type[R]) -> Iterator[tuple[str, R]]:
    files = sorted((path / name).glob("*.parquet")) or [
        path / f"{name}{ending}" for ending in ENDINGS if (path / f"{name}{ending}").exists()
    ]
    if not files:
        raise BadBenchmark(f"{path} contains no {name}/*.parquet or {name}.jsonl")
    for file in files:
        yield from rows_of(file, row)
