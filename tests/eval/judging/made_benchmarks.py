"""Folders of benchmarks with a few papers, written by hand."""

from base.journal import appending
from eval.judging.folder import (
    ASSESSMENTS,
    CALLS,
    JUDGEMENTS,
    KINDS,
    POOL,
    QUESTIONS,
    SELECTIONS,
    Benchmark,
    create,
)
from eval.judging.records import (
    Assessment,
    CallRecord,
    Judged,
    MadeWith,
    Options,
    Question,
    Ranked,
    Selection,
)
from indexer.corpora.papers import Paper

AT = "2025-01-0{}T00:00:00+00:00"


def pair(number, query_id="Q1"):
    """Return a question and a paper."""
    return query_id, ("papers", f"P{number}")


def append(folder, name, *records):
    """Append records to a file of a folder."""
    with appending(folder / name, KINDS.get(name, Assessment)) as write:
        for record in records:
            write(record)


def pooled_benchmark(folder, papers=4, queries=("Q1",)):
    """Make a benchmark whose pool has the papers P1, P2, … by the method `or`."""
    create(folder, 7)
    append(folder, QUESTIONS, *(Question(query_id, f"rice {query_id}?", "seed", 1) for query_id in queries))
    options = Options(index="papers", places=["papers"])
    append(folder, CALLS, CallRecord(1, "pool", AT.format(1), options, MadeWith()))
    records = [Paper(id=f"P{number}", title=f"Title {number} of rice") for number in range(1, papers + 1)]
    ids = tuple(("papers", each.id) for each in records)
    found = tuple(("papers", each) for each in records)
    append(folder, POOL, *(Ranked(query_id, "papers", "or", 50, ids, found, 1) for query_id in queries))
    return Benchmark(folder)


def judge(folder, stage, scores, *, threshold=0.5, by="rules", model="", version=0, reranker="none"):
    """Judge papers by number, with a call of the stage."""
    number = len(Benchmark(folder).calls) + 1
    options = Options(stage=stage, judge=by, threshold=threshold)
    prompt = f"judgement_{by}.en" if model else ""
    made_with = MadeWith(model=model, prompts={prompt: version}, reranker={"model": reranker})
    append(folder, CALLS, CallRecord(number, f"judge {stage}", AT.format(2), options, made_with))
    judged = [
        Judged("Q1", pair(paper)[1], stage, by, model or "words", score, "because", number, prompt, version)
        for paper, score in scores.items()
    ]
    append(folder, JUDGEMENTS, *judged)


def grade(folder, assessor, grades, *, day=3):
    """Grade papers by number."""
    (folder / ASSESSMENTS).mkdir(exist_ok=True)
    lines = [Assessment("Q1", pair(paper)[1], given, AT.format(day)) for paper, given in grades.items()]
    append(folder, f"{ASSESSMENTS}/{assessor}.jsonl", *lines)


def decide(folder, query_id, *, kept):
    """Keep or drop a question."""
    append(folder, SELECTIONS, Selection(query_id, kept, "kim", AT.format(1)))
