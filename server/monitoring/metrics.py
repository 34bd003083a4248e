"""Counters and timings for Prometheus; labels are templates and names, never questions.

With several processes the numbers are in files of a shared folder (PROMETHEUS_MULTIPROC_DIR), which must be
set before this module is imported.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)

from generator.pipeline import AskResult
from generator.tracing import Step
from retriever.stages.hits import SearchResult
from server.access.callers import current_visit

SHORT = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

CALLS = Counter("shrag_calls", "Calls that were answered", ["route", "method", "status"])
SECONDS = Histogram("shrag_call_seconds", "From a call to the end of its answer", ["route"], buckets=SHORT)
FIRST_EVENT = Histogram(
    "shrag_first_event_seconds", "From a call to the first event of its stream", ["route"], buckets=SHORT
)
REFUSED = Counter("shrag_refused", "Calls refused before any work was done", ["work", "why"])
WAITED = Histogram("shrag_queue_wait_seconds", "Time spent waiting for a slot", ["work"], buckets=SHORT)
RUNNING = Gauge("shrag_running", "Running calls, by kind of work", ["work"], multiprocess_mode="livesum")
WAITING = Gauge("shrag_waiting", "Waiting calls, by kind of work", ["work"], multiprocess_mode="livesum")
STAGES = Histogram("shrag_search_stage_seconds", "Stages of searches", ["stage"], buckets=SHORT)
SEARCHES = Counter("shrag_searches", "Searches, including those for answers", ["index", "method"])
ANSWERS = Counter("shrag_answers", "Answers", ["index", "written_by", "abstained"])
FINDINGS = Counter("shrag_paper_searches", "Searches for papers", ["index", "judged_by", "complete"])
FALLBACKS = Counter("shrag_fallbacks", "Steps that continued after a model failed", ["step"])
TOKENS = Counter("shrag_model_tokens", "Tokens of the language model", ["kind"])
MODEL_CALLS = Counter("shrag_model_calls", "Calls of the language model", ["step", "outcome"])
VERSION = Gauge("shrag_index_version", "Version that answers", ["index"], multiprocess_mode="livemostrecent")
AUDIT_LOST = Counter("shrag_audit_lines_lost", "Lines that could not be written to the audit log")


def observe(found: object) -> None:
    """Record a question to an open index and its result: a search, an answer, or several values."""
    visit = current_visit()
    index = visit.index if visit else ""
    match found:
        case SearchResult():
            SEARCHES.labels(index, found.method).inc()
            for stage, spent_ms in found.milliseconds.items():
                STAGES.labels(stage).observe(spent_ms / 1_000)
            FALLBACKS.labels("search").inc(len(found.applied.failures) if found.applied else 0)
            if visit:
                visit.question = visit.question or found.question  # keeps the original question
                visit.counts["hits"] = len(found.hits)
        case AskResult():
            observe(found.result)
            answer = found.answer.as_record()
            written_by = "extractive" if answer["written_by"] == "extractive" else "model"
            ANSWERS.labels(index, written_by, str(answer["abstained"]).lower()).inc()
            if visit:
                visit.counts["sentences"] = len(answer["sentences"])
            _observe_steps(found.trace.record.get("steps", ()))
        case tuple():
            for each in found:
                observe(each)


def observe_finding(record: Mapping[str, Any], step: Step | None) -> None:
    """Record the result and the steps of a search for papers."""
    judged = {paper["judged_by"].partition(" ")[0] for paper in record["papers"]}
    by = "nobody" if not judged else "rules" if judged <= {"words", "cosine"} else "model"
    visit = current_visit()
    FINDINGS.labels(visit.index if visit else "", by, str(record["complete"]).lower()).inc()
    if visit:
        visit.counts |= {"papers": len(record["papers"]), "known": record["known"]}
    _observe_steps([step.as_record()] if step else [])


def _observe_steps(steps: Sequence[Mapping[str, Any]]) -> None:
    for step in steps:
        if step.get("fallback"):
            FALLBACKS.labels(step["name"]).inc()
        if call := step.get("model_call"):
            is_cached = "from_cache" in call.get("milliseconds", {})
            outcome = "failed" if step.get("error") else "cached" if is_cached else "answered"
            MODEL_CALLS.labels(step["name"], outcome).inc()
            for kind in () if is_cached else ("prompt", "completion"):
                TOKENS.labels(kind).inc(call.get(f"{kind}_tokens") or 0)
        _observe_steps(step.get("steps", ()))


def exposition() -> bytes:
    """Return all metrics, of all processes, in the text format of Prometheus."""
    return generate_latest(_of_all_processes())


def stage_times() -> dict[str, dict[str, float]]:
    """Return the number of searches in each stage, and their mean milliseconds."""
    found = _values("stage", {f"shrag_search_stage_seconds_{kind}": kind for kind in ("count", "sum")})
    return {
        stage: {"searches": of["count"], "mean_ms": round(1000 * of["sum"] / of["count"], 2)}
        for stage, of in found.items()
        if of.get("count")
    }


def running_and_waiting() -> dict[str, dict[str, int]]:
    """Return the numbers of running and waiting calls of all processes, by kind of work."""
    found = _values("work", {f"shrag_{state}": state for state in ("running", "waiting")})
    return {work: {state: int(number) for state, number in of.items()} for work, of in found.items()}


def _values(label: str, samples: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return the values of samples by the value of a label, and by the short names of the samples."""
    found: dict[str, dict[str, float]] = {}
    for metric in _of_all_processes().collect():
        for sample in metric.samples:
            if short := samples.get(sample.name):
                found.setdefault(sample.labels[label], {})[short] = sample.value
    return found


def _of_all_processes() -> CollectorRegistry:
    if FOLDER not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def forget_ended_processes() -> None:
    """Remove the running calls of ended workers from the sums."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return
    for path in Path(folder).glob("gauge_live*_*.db"):
        process = path.stem.rpartition("_")[2]
        if not Path("/proc", process).exists():
            with suppress(OSError):
                multiprocess.mark_process_dead(int(process))  # type: ignore[no-untyped-call]
