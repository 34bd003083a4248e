"""AutoScholarQuery and RealScholarQuery of PaSa (He et al. 2025): JSON lines.

    {"qid", "question", "answer": [title, …], "answer_arxiv_id": [id, …],
     "source_meta": {"published_time": "20240305"}}

Titles and ids are in the same order. The day is the publication of the paper that the question was made
from. The benchmark has no corpus; its papers are the relevant ones, identified by arXiv id or title.
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from pydantic import BaseModel, model_validator

from eval.experiments.benchmarks.answers import Answer, benchmark_of, question_of
from eval.experiments.benchmarks.benchmark import Benchmark, Day, Words, file_in
from eval.experiments.benchmarks.rows import rows_of


class Meta(BaseModel):
    """Origin of a question."""

    published_time: Day = None


class AutoScholarRow(BaseModel):
    """A line of the file."""

    qid: str | int
    question: Words
    answer: list[str]
    answer_arxiv_id: list[str] = []
    source_meta: Meta = Meta()

    @model_validator(mode="after")
    def _check_pairs(self) -> "AutoScholarRow":
        if self.answer_arxiv_id and len(self.answer_arxiv_id) != len(self.answer):
            raise ValueError(
                f"has {len(self.answer)} titles in answer, and {len(self.answer_arxiv_id)} in answer_arxiv_id"
            )
        return self


def read_autoscholar(path: Path, split: str) -> Benchmark:
    """Read a file, or SPLIT.jsonl or AutoScholarQuery_SPLIT.jsonl of a folder.

    Raises:
        BadBenchmark: with file and line; also if a line has different numbers of titles and ids.
    """
    names = (f"{split}.jsonl", f"AutoScholarQuery_{split}.jsonl", f"AutoScholarQuery/{split}.jsonl")
    rows = rows_of(file_in(path, *names), AutoScholarRow)
    return benchmark_of(
        question_of(
            where, str(row.qid), row.question, list(_answers(where, row)), row.source_meta.published_time
        )
        for where, row in rows
    )


def _answers(where: str, row: AutoScholarRow) -> Iterator[Answer]:
    for title, arxiv in zip_longest(row.answer, row.answer_arxiv_id, fillvalue=""):
        yield Answer(where, title=title, arxiv=arxiv)
