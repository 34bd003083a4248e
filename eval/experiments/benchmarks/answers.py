"""Relevant papers that a benchmark lists with each question, without a corpus."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from eval.errors import BadBenchmark
from eval.experiments.benchmarks.benchmark import Benchmark, BenchmarkPaper, BenchmarkQuestion
from eval.experiments.finding.paper_identity import arxiv_id
from indexer.corpora.normal_forms import normal_title, whole_doi

HASH_CHARACTERS = 16  # of a title, in an id
ARXIV_ADDRESS = "https://arxiv.org/abs/"


@dataclass(frozen=True, slots=True)
class Answer:
    """A relevant paper: at least an arXiv id, a DOI or a title; `others` are further fields of `Paper`."""

    where: str
    title: str = ""
    arxiv: str = ""
    doi: str = ""
    others: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The arXiv id without version, else the DOI, else a hash of the normal form of the title.

        Raises:
            BadBenchmark: the paper has none of them.
        """
        if arxiv := arxiv_id(self.arxiv):
            return f"arxiv:{arxiv}"
        if doi := whole_doi(self.doi):
            return f"doi:{doi}"
        if title := normal_title(self.title):
            return f"title:{hashlib.sha256(title.encode()).hexdigest()[:HASH_CHARACTERS]}"
        raise BadBenchmark(f"{self.where}: a relevant paper has no title, arXiv id or DOI")

    def record(self) -> dict[str, Any]:
        """Return the record of the paper with the keys of `Paper`."""
        arxiv = arxiv_id(self.arxiv)
        known = {
            "title": self.title.strip(),
            "doi": whole_doi(self.doi),
            "url": f"{ARXIV_ADDRESS}{arxiv}" if arxiv else "",
        }
        return {"id": self.id, **{name: value for name, value in known.items() if value}, **self.others}


def question_of(
    where: str, query_id: str, question: str, answers: Sequence[Answer], day: date | None
) -> tuple[BenchmarkQuestion, Sequence[Answer]]:
    """Return a question with its relevant papers, each of grade 1; raises BadBenchmark without any."""
    if not answers:
        raise BadBenchmark(f"{where}: {query_id} has no relevant paper")
    return BenchmarkQuestion(query_id, question, {answer.id: 1 for answer in answers}, day), answers


def benchmark_of(questions: Iterable[tuple[BenchmarkQuestion, Sequence[Answer]]]) -> Benchmark:
    """Join questions; a paper that several of them list occurs once, as it is listed first."""
    listed: list[BenchmarkQuestion] = []
    papers: dict[str, Answer] = {}
    for question, answers in questions:
        listed.append(question)
        for answer in answers:
            papers.setdefault(answer.id, answer)

    def records() -> Iterator[BenchmarkPaper]:
        for answer in papers.values():
            yield BenchmarkPaper(answer.where, answer.record())

    return Benchmark(tuple(listed), records, has_corpus=False)
