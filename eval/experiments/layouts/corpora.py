"""Benchmarks with a corpus: BEIR's layout, LitSearch, and MIRACL.

BEIR (Thakur et al. 2021), such as TREC-COVID and SciDocs: corpus.jsonl with _id, title, text and metadata
(authors, year, references, url), queries.jsonl with _id and text, qrels/SPLIT.tsv with query-id, corpus-id
and score, and a header. All may be gzipped. queries.jsonl contains the questions of all splits; only judged
ones are read.

LitSearch (Ajith et al. 2024): the folders query/ and corpus_clean/ with Parquet files, or query.jsonl and
corpus_clean.jsonl, optionally gzipped. query: query, corpusids, query_set (such as inline_acl), specificity
and quality. corpus_clean: corpusid, title, abstract, citations (corpusids of the papers that a paper refers
to). Questions are numbered from 0.

MIRACL (Zhang et al. 2023) in one language, or in both, in the layout of `miracl_files.py`. Both languages
have passages and questions with the same ids, so the ids of a joint corpus begin with the language, such as
ko:5#0.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter, ValidationError

from eval.errors import BadBenchmark
from eval.experiments.layouts.benchmark import (
    Benchmark,
    BenchmarkQuestion,
    PlacedPaper,
    Words,
    file_in,
    rows_of,
)
from eval.experiments.miracl_files import PASSAGES, corpus_name, find_files
from eval.qrels import read_qrels
from eval.topics import read_topics
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR

R = TypeVar("R", bound=BaseModel)
TEXTS: TypeAdapter[Any] = TypeAdapter(Annotated[list[StrictStr], Field(min_length=1)])
TEXT: TypeAdapter[Any] = TypeAdapter(Annotated[StrictStr, Field(min_length=1)])
YEAR: TypeAdapter[Any] = TypeAdapter(Annotated[StrictInt, Field(ge=FIRST_YEAR, le=LAST_YEAR)])
METADATA = {"authors": TEXTS, "references": TEXTS, "year": YEAR, "url": TEXT, "doi": TEXT}  # that are kept


class BeirPaper(BaseModel):
    """A paper of a corpus in BEIR's layout; metadata of other types than expected is left out."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = Field(validation_alias="_id")
    title: str | None = None
    text: str | None = None
    metadata: dict[str, Any] | None = None

    def record(self) -> dict[str, Any]:
        """Return the record with the keys of `Paper`."""
        record: dict[str, Any] = {"id": self.id, "title": self.title or "", "abstract": self.text or ""}
        for name, kind in METADATA.items():
            with suppress(ValidationError):
                record[name] = kind.validate_python((self.metadata or {}).get(name))
        return record


def read_beir(path: Path, split: str) -> Benchmark:
    """Read the folder of the benchmark.

    Raises:
        BadBenchmark, BadTopics, BadQrels: with file and line.
    """
    topics = read_topics(file_in(path, "queries.jsonl", "queries.jsonl.gz"))
    qrels_file = file_in(path, f"qrels/{split}.tsv", f"qrels/{split}.tsv.gz")
    qrels = read_qrels(qrels_file)
    if missing := [query_id for query_id in qrels if query_id not in topics]:
        raise BadBenchmark(f"{qrels_file}: {missing[0]} is not in queries.jsonl")
    corpus = file_in(path, "corpus.jsonl", "corpus.jsonl.gz")
    questions = (BenchmarkQuestion(query_id, topics[query_id], grades) for query_id, grades in qrels.items())

    def papers() -> Iterator[PlacedPaper]:
        for where, row in rows_of(corpus, BeirPaper):
            yield where, row.record()

    return Benchmark(tuple(questions), papers)


class LitSearchQuery(BaseModel):
    """A question: `specificity` is 0 (broad) or 1 (specific), `quality` 1 or 2 (Ajith et al., section 2)."""

    query: Words
    corpusids: list[int]
    query_set: str = ""
    specificity: int | None = None
    quality: int | None = None


class LitSearchPaper(BaseModel):
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
    for number, (where, row) in enumerate(_litsearch_rows(path, "query", LitSearchQuery)):
        if not row.corpusids:
            raise BadBenchmark(f"{where}: the question has no relevant paper")
        attributes = row.model_dump(include={"query_set", "specificity", "quality"})
        given = {name: value for name, value in attributes.items() if value not in (None, "")}
        grades = {str(corpusid): 1 for corpusid in row.corpusids}
        questions.append(BenchmarkQuestion(str(number), row.query, grades, attributes=given))

    def papers() -> Iterator[PlacedPaper]:
        for where, row in _litsearch_rows(path, "corpus_clean", LitSearchPaper):
            texts = {"title": row.title or "", "abstract": row.abstract or ""}
            references = list(map(str, row.citations or ()))
            yield where, {"id": str(row.corpusid), **texts, "references": references}

    return Benchmark(tuple(questions), papers)


def _litsearch_rows(path: Path, name: str, row: type[R]) -> Iterator[tuple[str, R]]:
    files = sorted((path / name).glob("*.parquet")) or sorted(path.glob(f"{name}.jsonl*"))
    if not files:
        raise BadBenchmark(f"{path} contains no {name}/*.parquet or {name}.jsonl")
    for file in files:
        yield from rows_of(file, row)


class MiraclPassage(BaseModel):
    """A passage of the corpus."""

    docid: str
    title: str
    text: str


def read_miracl(path: Path, split: str) -> Benchmark:
    """Read the languages whose corpora are in a folder; the split test is dev, whose judgements are public.

    Raises:
        BadBenchmark, BadTopics, BadQrels: with file and line.
        UnknownPath, UnknownFormat: as `find_files`.
    """
    languages = [each for each in PASSAGES if (path / corpus_name(each)).is_dir()]
    if not languages:
        raise BadBenchmark(f"{path} contains no {corpus_name('ko')} or {corpus_name('en')}")
    split = "dev" if split == "test" else split
    found = {each: find_files(each, split, folder=str(path)) for each in languages}
    prefixes = {each: f"{each}:" if len(languages) > 1 else "" for each in languages}
    questions = [
        BenchmarkQuestion(
            prefixes[language] + query_id,
            question,
            {prefixes[language] + passage: grade for passage, grade in qrels[query_id].items()},
        )
        for language, files in found.items()
        for qrels in (read_qrels(files.qrels),)
        for query_id, question in read_topics(files.topics).items()
        if query_id in qrels
    ]

    def papers() -> Iterator[PlacedPaper]:
        for language, files in found.items():
            for where, row in (each for file in files.corpus for each in rows_of(file, MiraclPassage)):
                passage_id = prefixes[language] + row.docid
                yield where, {"id": passage_id, "title": row.title, "abstract": row.text, "lang": language}

    return Benchmark(tuple(questions), papers)
