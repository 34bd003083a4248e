"""Benchmarks in BEIR's layout (Thakur et al. 2021), such as TREC-COVID and SciDocs.

corpus.jsonl: _id, title, text and metadata (authors, year, references, url). queries.jsonl: _id and text.
qrels/SPLIT.tsv: query-id, corpus-id and score, with a header. All may be gzipped. Only judged questions are
read, because queries.jsonl contains the questions of all splits.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from eval.errors import BadBenchmark
from eval.experiments.benchmarks.benchmark import Benchmark, BenchmarkPaper, BenchmarkQuestion, file_in
from eval.experiments.benchmarks.rows import rows_of
from eval.qrels import read_qrels
from eval.topics import read_topics
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR


class CorpusRow(BaseModel):
    """A paper of the corpus."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = Field(validation_alias="_id")
    title: str | None = None
    text: str | None = None
    metadata: dict[str, Any] | None = None


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
    return Benchmark(tuple(questions), lambda: _papers(corpus), has_corpus=True)


def _papers(corpus: Path) -> Iterator[BenchmarkPaper]:
    for where, row in rows_of(corpus, CorpusRow):
        record = {"id": row.id, "title": row.title or "", "abstract": row.text or ""}
        yield BenchmarkPaper(where, record | _described(row.metadata or {}))


def _described(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that `Paper` has too; values of other types are left out."""
    found: dict[str, Any] = {}
    for name in ("authors", "references"):
        values = metadata.get(name)
        if isinstance(values, list) and values and all(isinstance(value, str) for value in values):
            found[name] = values
    year = metadata.get("year")
    if isinstance(year, int) and FIRST_YEAR <= year <= LAST_YEAR:
        found["year"] = year
    for name in ("url", "doi"):
        if isinstance(metadata.get(name), str) and metadata[name]:
            found[name] = metadata[name]
    return found
