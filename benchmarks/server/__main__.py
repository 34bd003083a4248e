"""Benchmark of the server: overhead of a search, load, and shutdown.

    python -m benchmarks.server [--home DIR] [--documents N] [--seconds S] [--overload-seconds S]
                                [--requests N] [--workers N] [--only PART] [--strict] [--json]

The server is `shrag serve` with one process, the client another process on the same machine. `search` and
`load` use the generated documents, `answer`, `busy`, `memory` and `stop` the sample. The load is open-loop:
calls are sent at scheduled times regardless of earlier ones, and latency counts from the scheduled time.
`busy` has two clients with separate keys: one keeps 128 connections busy and never backs off, the other calls
four times per second.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import click

from base.progress import Progress
from base.sample import SAMPLE_PAPERS
from base.terminal.output import echo
from benchmarks.corpora.generated import WARM_UP_STREAM
from benchmarks.corpora.generated import questions as generated_questions
from benchmarks.corpora.index import ensure_index
from benchmarks.figures import Figure, machine, report, strict_option
from benchmarks.server.busy import measure_busy_client
from benchmarks.server.clients import OK, REFUSED, send
from benchmarks.server.served import UNLIMITED, Served, serving
from benchmarks.server.slow_model import slow_model
from benchmarks.timing import latencies, percentile
from eval.progress import question_bar
from eval.topics import read_topics
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings

SAMPLE = "sample"
ASKED, WARM_UP = 200, 40  # searches timed sequentially
CAPACITY_S = 20.0
STREAMS = 50
FAILED = 500

ADDED_MS, EVIDENCE_MS, ANSWER_MS = 4.0, 20.0, 400.0
HALF_BY_UNLOADED, OVERLOAD_BY_UNLOADED, AGAIN_BY_UNLOADED = 5.0, 10.0, 1.5
OVERLOAD, THROUGHPUT, REFUSED_WITHIN_MS, AGAIN_WITHIN_S = 5.0, 0.8, 100.0, 5.0
GROWTH, STOPPED_WITHIN_S = 1.05, 5.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Calls and durations of the measurements."""

    home: Path
    documents: int
    seconds: float
    overload_seconds: float
    requests: int
    workers: int
    progress: Progress

    def generated(self) -> tuple[str, list[str], list[str]]:
        """Return the generated index, questions, and further questions for the warm-up."""
        settings = IndexerSettings(home=self.home, workers=2)
        name, _ = ensure_index(settings, self.documents, self.progress)
        asked = [" ".join(words) for words in generated_questions(ASKED)]
        return name, asked, [" ".join(words) for words in generated_questions(WARM_UP, WARM_UP_STREAM)]

    def sample(self) -> list[str]:
        """Build the index of the sample; return its questions."""
        settings = IndexerSettings(home=self.home, workers=1)
        build_index(IngestRequest(SAMPLE, [str(SAMPLE_PAPERS)], rebuild=True), settings)
        return list(read_topics(SAMPLE_PAPERS.with_name("topics.jsonl")).values())


def post(connection: HTTPConnection, path: str, **call: Any) -> bytes:
    """Make a call, and return the response's body."""
    connection.request("POST", path, json.dumps(call), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != OK:
        raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
    return body


def one_by_one(served: Served, questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """Search sequentially; return the seconds, and the server's processor seconds, of each search."""
    seconds, spent = [], []
    connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
    for question in questions:
        before, started = served.cpu_s(), time.perf_counter()
        post(connection, "/api/v1/search", question=question)
        seconds.append(time.perf_counter() - started)
        spent.append(served.cpu_s() - before)
    connection.close()
    return seconds, spent


async def _searched(version: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> object:
    return await search(version, request, settings)


async def _in_process(plan: Plan, name: str, questions: Sequence[str], warm_up: Sequence[str]) -> list[float]:
    """Search in this process like the server; return the processor seconds of each search."""
    spent, settings = [], RetrieverSettings()
    with open_index(IndexerSettings(home=plan.home), name, follow=True) as index:
        for number, question in enumerate([*warm_up, *questions]):
            plan.progress("in process", number, len(questions) + len(warm_up))
            request, started = SearchRequest(question), time.process_time()
            await index.ask(partial(_searched, request=request, settings=settings))
            spent.append(time.process_time() - started)
    return spent[len(warm_up) :]


def measure_search(plan: Plan) -> list[Figure]:
    """Compare searches over HTTP with the same searches in this process, by question."""
    name, questions, warm_up = plan.generated()
    own = asyncio.run(_in_process(plan, name, questions, warm_up))
    with serving(plan.home, name, **UNLIMITED) as served:
        one_by_one(served, warm_up)
        seconds, spent = one_by_one(served, questions)
    added = [1_000 * (there - here) for there, here in zip(spent, own, strict=True)]
    return [
        Figure("search", "processor time of a search, p50", 1_000 * median(own), "ms"),
        Figure("search", "the server adds, p50", median(added), "ms", ADDED_MS),
        *latencies("search", "over HTTP", seconds),
    ]


def measure_answer(plan: Plan) -> list[Figure]:
    """Time answers without a model: from the end of the search to the first evidence, and in total."""
    questions = plan.sample()
    behind, whole = [], []
    with serving(plan.home, SAMPLE, **UNLIMITED) as served:
        for round_ in range(3):  # the first round is a warm-up
            for question in questions:
                evidence_s, record = _streamed(served, question)
                started = time.perf_counter()
                connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
                post(connection, "/api/v1/ask", question=question)
                connection.close()
                if round_:
                    whole.append(time.perf_counter() - started)
                    stages = record["milliseconds"].items()
                    searched = sum(spent for stage, spent in stages if stage != "total")
                    behind.append(1_000 * evidence_s - searched)
    return [
        Figure("answer", "first evidence behind its search, p50", median(behind), "ms", EVIDENCE_MS),
        Figure("answer", "first evidence behind its search, p95", percentile(behind, 0.95), "ms"),
        Figure("answer", "whole without a model, p50", 1_000 * median(whole), "ms"),
        Figure("answer", "whole without a model, p95", 1_000 * percentile(whole, 0.95), "ms", ANSWER_MS),
    ]


def _streamed(served: Served, question: str) -> tuple[float, dict[str, Any]]:
    """Return the seconds until the evidence, and the complete record."""
    connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
    started, evidence_s, kind = time.perf_counter(), 0.0, ""
    connection.request(
        "GET", f"/api/v1/ask?question={quote(question)}", headers={"Accept": "text/event-stream"}
    )
    for line in connection.getresponse():
        if line.startswith(b"event: "):
            kind = line[7:].decode().strip()
        elif line.startswith(b"data: "):
            if kind == "evidence" and not evidence_s:
                evidence_s = time.perf_counter() - started
            if kind == "done":
                connection.close()
                record: dict[str, Any] = json.loads(line[6:])
                return evidence_s, record
    raise RuntimeError(f"the answer ended with {kind!r}")


def measure_load(plan: Plan) -> list[Figure]:
    """Measure the capacity, then the load at half and at five times of it."""
    name, questions, warm_up = plan.generated()
    with serving(plan.home, name, **UNLIMITED) as served:
        one_by_one(served, warm_up)
        unloaded = median(one_by_one(served, questions)[0])
        full = [call for call in send(served, 0, CAPACITY_S, questions) if call[2] == OK]
        capacity = len(full) / CAPACITY_S
        half = send(served, capacity / 2, plan.seconds, questions)
        over = send(served, capacity * OVERLOAD, plan.overload_seconds, questions)
        ends = time.monotonic() + AGAIN_WITHIN_S
        again: list[float] = []
        while time.monotonic() < ends:
            again += one_by_one(served, questions[len(again) : len(again) + 5] or questions[:5])[0]
    accepted = [took for _, took, status in over if status == OK]
    refused = [took for _, took, status in over if status == REFUSED]
    at_half = [took for _, took, status in half if status == OK]
    lasted = plan.overload_seconds
    return [
        Figure("load", "unloaded, p50", 1_000 * unloaded, "ms"),
        Figure("load", "capacity", capacity, "/s"),
        Figure("load", "half of it: errors", sum(status != OK for *_, status in half), "", 0),
        Figure(
            "load", "half of it, p95 by unloaded", percentile(at_half, 0.95) / unloaded, "×", HALF_BY_UNLOADED
        ),
        Figure(
            "load", "five times: failures", sum(status >= FAILED or not status for *_, status in over), "", 0
        ),
        Figure(
            "load",
            "five times: answered by capacity",
            len(accepted) / lasted / capacity,
            "×",
            THROUGHPUT,
            higher_is_better=True,
        ),
        Figure(
            "load",
            "five times, p95 by unloaded",
            percentile(accepted, 0.95) / unloaded,
            "×",
            OVERLOAD_BY_UNLOADED,
        ),
        *_refusals(refused),
        Figure(
            "load",
            "the last in 5 s after it by unloaded",
            median(again[-5:]) / unloaded,
            "×",
            AGAIN_BY_UNLOADED,
        ),
    ]


def _refusals(refused: Sequence[float]) -> list[Figure]:
    if not refused:
        return []
    times = [1_000 * took for took in refused]
    return [
        Figure("load", "five times: refused", len(times)),
        Figure("load", "five times: refused in, p99", percentile(times, 0.99), "ms", REFUSED_WITHIN_MS),
    ]


def measure_memory(plan: Plan) -> list[Figure]:
    """Compare the server's private memory after a tenth of the requests and after all."""
    questions = plan.sample()
    sizes = []
    with serving(plan.home, SAMPLE, **UNLIMITED) as served:
        connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
        for number in range(1, plan.requests + 1):
            if number % 100 == 0:
                plan.progress("requests", number, plan.requests)
            post(connection, "/api/v1/search", question=questions[number % len(questions)], method="or", k=5)
            if number in (plan.requests // 10, plan.requests):
                sizes.append(served.private_bytes())
    return [
        Figure("memory", f"after {plan.requests // 10:,} requests", sizes[0] / 1e6, "MB"),
        Figure("memory", f"after {plan.requests:,}, by that", sizes[-1] / sizes[0], "×", GROWTH),
    ]


def measure_stop(plan: Plan) -> list[Figure]:
    """Stop the server during fifty pending answers."""
    [question, *_] = plan.sample()
    with slow_model() as url, ExitStack() as readers:
        settings = {
            **UNLIMITED,
            "llm__base_url": url,
            "llm__model": "slow",
            "server__asks_at_once": 2 * STREAMS,
        }
        with serving(plan.home, SAMPLE, **settings) as served:
            streams = []
            for _ in range(STREAMS):
                connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
                readers.callback(connection.close)
                path = f"/api/v1/ask?question={quote(question)}"
                connection.request("GET", path, headers={"Accept": "text/event-stream"})
                streams.append(connection.getresponse())
            seconds = served.stop()
            ended = sum(b'"code": "stopping"' in stream.read() for stream in streams)
            code = served.process.returncode
    return [
        Figure("stop", "until the process has ended", seconds, "s", STOPPED_WITHIN_S),
        Figure("stop", f"of {STREAMS} streams ended by an event", ended, "", STREAMS, higher_is_better=True),
        Figure("stop", "exit code", code, "", 0),
    ]


def measure_busy(plan: Plan) -> list[Figure]:
    """Measure a client that never backs off, and its effect on another client."""
    questions = plan.sample()
    return measure_busy_client(plan.home / SAMPLE, questions, plan.workers)


PARTS: dict[str, Callable[[Plan], list[Figure]]] = {
    "search": measure_search,
    "answer": measure_answer,
    "load": measure_load,
    "busy": measure_busy,
    "memory": measure_memory,
    "stop": measure_stop,
}


@click.command()
@click.option(
    "--home", type=click.Path(path_type=Path), help="Folder of the indexes. Default: a temporary folder."
)
@click.option("--documents", type=click.IntRange(1), default=1_000_000, show_default=True)
@click.option(
    "--seconds", type=float, default=300, show_default=True, help="Duration at half of the capacity."
)
@click.option(
    "--overload-seconds",
    type=float,
    default=60,
    show_default=True,
    help="Duration at five times of the capacity.",
)
@click.option(
    "--requests",
    type=click.IntRange(10),
    default=100_000,
    show_default=True,
    help="Requests of the memory part.",
)
@click.option(
    "--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes of the busy part."
)
@click.option("--only", type=click.Choice(list(PARTS)), help="Run only this part.")
@strict_option
@json_option
def main(  # noqa: PLR0913 - one for each option
    home: Path | None,
    documents: int,
    seconds: float,
    overload_seconds: float,
    requests: int,
    workers: int,
    only: str | None,
    *,
    strict: bool,
    as_json: bool,
) -> None:
    """Measure the server, and compare the figures with their bars."""
    facts, figures = machine(), []
    with ExitStack() as stack:
        if home is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shrag-bench-")))
        progress = stack.enter_context(question_bar())
        plan = Plan(home.resolve(), documents, seconds, overload_seconds, requests, workers, progress)
        for part in [only] if only else PARTS:
            echo(f"{part} …", err=True)
            figures += PARTS[part](plan)
    report(figures, facts, as_json=as_json, strict=strict)


if __name__ == "__main__":
    main()
