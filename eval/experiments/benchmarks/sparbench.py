"""SPARBench (Shi et al. 2025, section 4 and appendix B): JSON lines, one for each question.

    {"question", "answer": [title or paper, …],
     "source_meta": {"published_time" or "search_time", "answers": [paper, …]}}

The papers may also be in `data_result_add_score`. Records in `source_meta.answers` add the abstracts of
papers of the same title or id; without `answer` they are the relevant papers. A paper has a title, and may
have paper_id (an address, an arXiv id or a DOI), abstract, authors and year; its scores are ignored. The day
is that of the search. Benchmarks in this layout without `qid` number their questions by line. There is no
corpus.
"""

import re
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from eval.experiments.benchmarks.answers import Answer, benchmark_of, question_of
from eval.experiments.benchmarks.benchmark import Benchmark, Day, Words, file_in
from eval.experiments.benchmarks.rows import rows_of
from eval.experiments.finding.paper_identity import arxiv_id
from indexer.corpora.normal_forms import DOI, normal_doi, normal_title
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR

YEAR = re.compile(r"\d{4}")
ADDRESS = re.compile(r"https?://\S+")


class SparPaper(BaseModel):
    """A relevant paper."""

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
    def keys(self) -> list[str]:
        """The normal forms of id and title, by which records are recognised."""
        return [key for key in (arxiv_id(self.arxiv or self.paper_id), normal_title(self.title)) if key]

    def with_record(self, record: "SparPaper") -> "SparPaper":
        """Return the paper with the values that only a record has."""
        own = {name: value for name, value in self.model_dump().items() if value}
        return SparPaper.model_construct(**record.model_dump() | own)


class SparMeta(BaseModel):
    """Origin of a question, and records of its papers."""

    answers: list[SparPaper] = []
    day: Day = Field(default=None, validation_alias=AliasChoices("published_time", "search_time"))


class SparRow(BaseModel):
    """A line of the file."""

    qid: str | int | None = None
    question: Words = Field(validation_alias=AliasChoices("question", "query"))
    answer: list[str | SparPaper] = Field(
        default=[], validation_alias=AliasChoices("answer", "data_result_add_score")
    )
    source_meta: SparMeta = SparMeta()

    def papers(self) -> list[SparPaper]:
        """Return the relevant papers, each with the record that `source_meta` has of it."""
        listed = [SparPaper(title=each) if isinstance(each, str) else each for each in self.answer]
        records = {key: record for record in self.source_meta.answers for key in record.keys}
        found = ((each, next(filter(None, map(records.get, each.keys)), None)) for each in listed)
        return [
            each.with_record(record) if record else each for each, record in found
        ] or self.source_meta.answers


def read_sparbench(path: Path, split: str) -> Benchmark:
    """Read a file, or spar_bench.jsonl or SPLIT.jsonl of a folder.

    Raises:
        BadBenchmark: with file and line.
    """
    rows = rows_of(file_in(path, "spar_bench.jsonl", "SPARBench.jsonl", f"{split}.jsonl"), SparRow)
    return benchmark_of(
        question_of(
            where,
            str(row.qid) if row.qid is not None else f"SPARBench_{where.rpartition(':')[2]}",
            row.question,
            [_answer(where, paper) for paper in row.papers()],
            row.source_meta.day,
        )
        for where, row in rows
    )


def _answer(where: str, paper: SparPaper) -> Answer:
    others: dict[str, Any] = {}
    if paper.abstract:
        others["abstract"] = paper.abstract
    if isinstance(paper.authors, list):
        others["authors"] = paper.authors
    if (found := YEAR.match(paper.year or "")) and FIRST_YEAR <= int(found[0]) <= LAST_YEAR:
        others["year"] = int(found[0])
    if ADDRESS.fullmatch(paper.paper_id) and not arxiv_id(paper.paper_id):
        others["url"] = paper.paper_id
    doi = DOI.search(normal_doi(paper.paper_id))
    return Answer(
        where,
        title=paper.title,
        arxiv=paper.arxiv or paper.paper_id,
        doi=paper.doi or (doi[0] if doi else ""),
        others=others,
    )
