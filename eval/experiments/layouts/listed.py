"""Benchmarks that list the relevant papers with each question, without a corpus, as JSON lines.

AutoScholarQuery and RealScholarQuery of PaSa (He et al. 2025), titles and ids in the same order; the day is
the publication of the paper that the question was made from:

    {"qid", "question", "answer": [title, …], "answer_arxiv_id": [id, …],
     "source_meta": {"published_time": "20240305"}}

SPARBench (Shi et al. 2025, section 4 and appendix B); the day is that of the search:

    {"question", "answer": [title or paper, …],
     "source_meta": {"published_time" or "search_time", "answers": [paper, …]}}

The papers may also be in `data_result_add_score`. Records in `source_meta.answers` add the abstracts of
papers of the same title or id; without `answer` they are the relevant papers. A paper has a title, and may
have paper_id (an address, an arXiv id or a DOI), abstract, authors and year; its scores are ignored. Lines
without `qid` are numbered.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from eval.errors import BadBenchmark
from eval.experiments.layouts.benchmark import (
    Benchmark,
    BenchmarkQuestion,
    Day,
    PlacedPaper,
    Words,
    file_in,
    rows_of,
)
from eval.experiments.paper_identity import arxiv_id
from indexer.corpora.normal_forms import DOI, normal_doi, normal_title, whole_doi
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR

HASH_CHARACTERS = 16  # of a title, in an id
YEAR = re.compile(r"\d{4}")
ADDRESS = re.compile(r"https?://\S+")


class ListedPaper(BaseModel):
    """A relevant paper: at least a title, an arXiv id or a DOI."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    title: str = ""
    paper_id: str = Field(default="", validation_alias=AliasChoices("paper_id", "paperId", "id", "url"))
    arxiv: str = Field(default="", validation_alias=AliasChoices("arxivId", "arxiv_id", "arxiv"))
    doi: str = ""
    abstract: str | None = None
    authors: list[str] | str | None = None
    year: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, values: Any) -> Any:
        return {k: v for k, v in values.items() if v is not None} if isinstance(values, dict) else values

    @property
    def arxiv_id(self) -> str:
        """The arXiv id without version, or ""."""
        return arxiv_id(self.arxiv or self.paper_id)

    @property
    def keys(self) -> list[str]:
        """The normal forms of id and title, by which records are recognised."""
        return [key for key in (self.arxiv_id, normal_title(self.title)) if key]

    def with_record(self, record: "ListedPaper") -> "ListedPaper":
        """Return the paper with the values that only a record has."""
        own = {name: value for name, value in self.model_dump().items() if value}
        return ListedPaper.model_construct(**record.model_dump() | own)

    def as_paper(self, where: str) -> PlacedPaper:
        """Return the record with the keys of `Paper`.

        Its id is the arXiv id, else the DOI, else a hash of the normal form of the title.

        Raises:
            BadBenchmark: the paper has none of them.
        """
        in_id = DOI.search(normal_doi(self.paper_id))
        doi, title = whole_doi(self.doi or (in_id[0] if in_id else "")), normal_title(self.title)
        if not (self.arxiv_id or doi or title):
            raise BadBenchmark(f"{where}: a relevant paper has no title, arXiv id or DOI")
        year, address = YEAR.match(self.year or ""), ADDRESS.fullmatch(self.paper_id)
        known = {
            "title": self.title.strip(),
            "doi": doi,
            "url": f"https://arxiv.org/abs/{self.arxiv_id}" if self.arxiv_id else address and address[0],
            "abstract": self.abstract,
            "authors": self.authors if isinstance(self.authors, list) else None,
            "year": int(year[0]) if year and FIRST_YEAR <= int(year[0]) <= LAST_YEAR else None,
        }
        title_id = f"title:{hashlib.sha256(title.encode()).hexdigest()[:HASH_CHARACTERS]}"
        paper_id = f"arxiv:{self.arxiv_id}" if self.arxiv_id else f"doi:{doi}" if doi else title_id
        return where, {"id": paper_id, **{name: each for name, each in known.items() if each}}


Listed: TypeAlias = tuple[str, str, str, Sequence[ListedPaper], date | None]


def _benchmark_of(listed: Iterable[Listed]) -> Benchmark:
    """Make a benchmark of place, query_id, question, papers and day of each line.

    A paper that several questions list occurs once, as it is listed first.
    """
    questions: list[BenchmarkQuestion] = []
    papers: dict[str, PlacedPaper] = {}
    for where, query_id, question, answers, day in listed:
        if not answers:
            raise BadBenchmark(f"{where}: {query_id} has no relevant paper")
        read = {paper[1]["id"]: paper for paper in (answer.as_paper(where) for answer in answers)}
        questions.append(BenchmarkQuestion(query_id, question, dict.fromkeys(read, 1), day))
        papers = read | papers
    return Benchmark(tuple(questions), papers.values, has_corpus=False)


class AutoScholarMeta(BaseModel):
    """Origin of a question."""

    published_time: Day = None


class AutoScholarRow(BaseModel):
    """A line of AutoScholarQuery."""

    qid: str | int
    question: Words
    answer: list[str]
    answer_arxiv_id: list[str] = []
    source_meta: AutoScholarMeta = AutoScholarMeta()

    @model_validator(mode="after")
    def _check_pairs(self) -> "AutoScholarRow":
        if self.answer_arxiv_id and len(self.answer_arxiv_id) != len(self.answer):
            raise ValueError(
                f"has {len(self.answer)} titles in answer, and {len(self.answer_arxiv_id)} in answer_arxiv_id"
            )
        return self

    def papers(self) -> list[ListedPaper]:
        """Return the relevant papers."""
        pairs = zip_longest(self.answer, self.answer_arxiv_id, fillvalue="")
        return [ListedPaper(title=title, arxiv=arxiv) for title, arxiv in pairs]


def read_autoscholar(path: Path, split: str) -> Benchmark:
    """Read a file, or SPLIT.jsonl or AutoScholarQuery_SPLIT.jsonl of a folder.

    Raises:
        BadBenchmark: with file and line; also if a line has different numbers of titles and ids.
    """
    names = (f"{split}.jsonl", f"AutoScholarQuery_{split}.jsonl", f"AutoScholarQuery/{split}.jsonl")
    rows = rows_of(file_in(path, *names), AutoScholarRow)
    return _benchmark_of(
        (where, str(row.qid), row.question, row.papers(), row.source_meta.published_time)
        for where, row in rows
    )


class SparMeta(BaseModel):
    """Origin of a question, and records of its papers."""

    answers: list[ListedPaper] = []
    day: Day = Field(default=None, validation_alias=AliasChoices("published_time", "search_time"))


class SparRow(BaseModel):
    """A line of SPARBench."""

    qid: str | int | None = None
    question: Words = Field(validation_alias=AliasChoices("question", "query"))
    answer: list[str | ListedPaper] = Field(
        default=[], validation_alias=AliasChoices("answer", "data_result_add_score")
    )
    source_meta: SparMeta = SparMeta()

    def papers(self) -> list[ListedPaper]:
        """Return the relevant papers, each with the record that `source_meta` has of it."""
        listed = [ListedPaper(title=each) if isinstance(each, str) else each for each in self.answer]
        records = {key: record for record in self.source_meta.answers for key in record.keys}
        found = ((each, next(filter(None, map(records.get, each.keys)), None)) for each in listed)
        joined = [each.with_record(record) if record else each for each, record in found]
        return joined or self.source_meta.answers


def read_sparbench(path: Path, split: str) -> Benchmark:
    """Read a file, or spar_bench.jsonl or SPLIT.jsonl of a folder.

    Raises:
        BadBenchmark: with file and line.
    """
    rows = rows_of(file_in(path, "spar_bench.jsonl", "SPARBench.jsonl", f"{split}.jsonl"), SparRow)
    return _benchmark_of(
        (
            where,
            str(row.qid) if row.qid is not None else f"SPARBench_{where.rpartition(':')[2]}",
            row.question,
            row.papers(),
            row.source_meta.day,
        )
        for where, row in rows
    )
