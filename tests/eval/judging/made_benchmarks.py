"""Benchmarks with a few papers, written by hand."""

from dataclasses import replace

from eval.judging.benchmark import (
    Assessment,
    Benchmark,
    CallRecord,
    Judged,
    Question,
    Ranked,
    create,
)
from indexer.corpora.papers import Paper

AT = "2025-01-01T00:00:00+00:00"


def pair(number, query_id="Q1"):
    """Return a question and a paper."""
    return query_id, ("papers", f"P{number}")


def append(folder, *records):
    """Add records."""
    Benchmark(folder).append(*records)


def pooled_benchmark(folder, papers=4, queries=("Q1",)):
    """Make a benchmark whose pool has the papers P1, P2, … by the method `or`."""
    create(folder)
    append(folder, *(Question(query_id, f"rice {query_id}?", "seed", 1) for query_id in queries))
    append(folder, CallRecord(1, "pool", AT, {"index": "papers", "sources": [], "places": ["papers"]}, {}))
    records = [Paper(id=f"P{number}", title=f"Title {number} of rice") for number in range(1, papers + 1)]
    found = tuple(("papers", each) for each in records)
    append(folder, *(Ranked(query_id, "papers", "or", 50, found, 1) for query_id in queries))


def judge(folder, stage, scores, *, threshold=0.5, by="rules", model="", version=0, reranker="none"):
    """Judge papers by number, with a call of the stage."""
    number = len(Benchmark(folder).calls) + 1
    options = {"stage": stage, "judge": by, "threshold": threshold}
    prompt = f"judgement_{by}.en" if model else ""
    made_with = {"model": model, "prompts": {prompt: version}, "reranker": {"model": reranker}}
    append(folder, CallRecord(number, f"judge {stage}", AT, options, made_with))
    judged = [
        Judged("Q1", pair(paper)[1], stage, by, model or "words", score, "because", number, prompt, version)
        for paper, score in scores.items()
    ]
    append(folder, *judged)


def grade(folder, assessor, grades):
    """Grade papers by number."""
    append(
        folder, *(Assessment("Q1", pair(paper)[1], assessor, given, AT) for paper, given in grades.items())
    )


def decide(folder, query_id, *, kept):
    """Keep or drop a question."""
    append(folder, replace(Benchmark(folder).questions[query_id], kept=kept, assessor="kim"))
