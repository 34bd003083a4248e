"""MIRACL for one language, or for Korean and English together (Zhang et al. 2023).

The folder has the layout of `eval/experiments/miracl/files.py`. Both languages have passages and questions
with the same ids, so the ids of a joint corpus begin with the language, such as ko:5#0; those of one
language are unchanged.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from eval.errors import BadBenchmark
from eval.experiments.benchmarks.benchmark import Benchmark, BenchmarkPaper, BenchmarkQuestion
from eval.experiments.benchmarks.rows import rows_of
from eval.experiments.miracl_files import PASSAGES, MiraclFiles, corpus_name, find_files
from eval.qrels import read_qrels
from eval.topics import read_topics


class PassageRow(BaseModel):
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
    return Benchmark(tuple(questions), lambda: _passages(found, prefixes), has_corpus=True)


def _passages(found: dict[str, MiraclFiles], prefixes: dict[str, str]) -> Iterator[BenchmarkPaper]:
    for language, files in found.items():
        for path in files.corpus:
            for where, row in rows_of(path, PassageRow):
                record = {"title": row.title, "abstract": row.text, "lang": language}
                yield BenchmarkPaper(where, {"id": prefixes[language] + row.docid, **record})
