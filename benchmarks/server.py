"""Benchmark of the server: overhead of a search, answers, load, a client without back-off, memory, shutdown.

    python -m benchmarks.server [--home DIR] [--documents N] [--seconds S] [--requests N] [--only PART]

The server is `shrag serve` with one process, the client another process on the same machine. `search` and
`load` use the generated documents, the other parts the sample.
"""

import asyncio
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

import click

from base.progress import Progress
from base.sample import SAMPLE_PAPERS
from base.terminal.output import echo
from benchmarks.corpora.generated import WARM_UP_STREAM
from benchmarks.corpora.generated import questions as generated_questions
from benchmarks.corpora.index import ensure_index
from benchmarks.figures import Figure, benchmark, count_option, home_option, latencies, percentile
from benchmarks.served import OK, REFUSED, UNLIMITED, Measured, Served, calls_of, serving
from eval.collection import read_topics
from eval.progress import question_bar
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from server.access.keys import Keys, make_key
from server.store import Store

SAMPLE = "sample"
ASKED, WARM_UP, STREAMS = 200, 40, 50
CAPACITY_S, AGAIN_WITHIN_S, OVERLOAD, FAILED = 20.0, 5.0, 5.0, 500
# Of the client without back-off and the other one: connections, rounds of seconds, calls a second.
CONNECTIONS, ROUNDS, SLICE_S, ALLOWED_RATE, OTHER_RATE = 128, 4, 6.0, 10, 4


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes and durations of the measurements."""

    home: Path
    documents: int
    seconds: float
    requests: int
    progress: Progress

    def generated(self) -> tuple[str, list[str], list[str]]:
        """Return the generated index, questions, and further questions for the warm-up."""
        name = ensure_index(IndexerSettings(home=self.home, workers=2), self.documents, self.progress)
        asked = [" ".join(words) for words in generated_questions(ASKED)]
        return name, asked, [" ".join(words) for words in generated_questions(WARM_UP, WARM_UP_STREAM)]

    def sample(self) -> list[str]:
        """Build the index of the sample; return its questions."""
        request = IngestRequest(SAMPLE, [str(SAMPLE_PAPERS)], rebuild=True)
        build_index(request, IndexerSettings(home=self.home, workers=1))
        return list(read_topics(SAMPLE_PAPERS.with_name("topics.jsonl")).values())


def one_by_one(served: Served, questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """Search sequentially; return the seconds, and the server's processor seconds, of each search."""
    seconds, spent = [], []
    for question in questions:
        before, started = served.cpu_s(), time.perf_counter()
        served.client.post("/api/v1/search", json={"question": question}).raise_for_status()
        seconds.append(time.perf_counter() - started)
        spent.append(served.cpu_s() - before)
    return seconds, spent


def measure_search(plan: Plan) -> list[Figure]:
    """Compare searches over HTTP with the same searches in this process, by question."""
    name, questions, warm_up = plan.generated()

    async def searched(index: SearchIndex, question: str) -> object:
        return await search(index, SearchRequest(question), RetrieverSettings())

    async def in_process() -> list[float]:
        spent = []
        with open_index(IndexerSettings(home=plan.home), name, follow=True) as index:
            for question in (*warm_up, *questions):
                started = time.process_time()
                await index.ask(partial(searched, question=question))
                spent.append(time.process_time() - started)
        return spent[len(warm_up) :]

    own = asyncio.run(in_process())
    with serving(plan.home, name, **UNLIMITED) as served:
        one_by_one(served, warm_up)
        seconds, spent = one_by_one(served, questions)
    added = [1_000 * (there - here) for there, here in zip(spent, own, strict=True)]
    return [
        Figure("search", "processor time of a search, p50", 1_000 * median(own), "ms"),
        Figure("search", "the server adds, p50", median(added), "ms", 4),
        *latencies("search", "over HTTP", seconds),
    ]


def measure_answer(plan: Plan) -> list[Figure]:
    """Time answers without a model: from the end of the search to the first evidence, and in total."""
    questions, after, whole = plan.sample(), [], []
    with serving(plan.home, SAMPLE, **UNLIMITED) as served:
        for round_ in range(3):  # the first round is a warm-up
            for question in questions:
                evidence_s, record = _streamed(served, question)
                started = time.perf_counter()
                served.client.post("/api/v1/ask", json={"question": question}).raise_for_status()
                if round_:
                    whole.append(time.perf_counter() - started)
                    stages = record["milliseconds"].items()
                    searched = sum(spent for stage, spent in stages if stage != "total")
                    after.append(1_000 * evidence_s - searched)
    return [
        Figure("answer", "first evidence after its search, p50", median(after), "ms", 20),
        *latencies("answer", "whole without a model", whole, None, 400),
    ]


def _streamed(served: Served, question: str) -> tuple[float, dict[str, Any]]:
    """Return the seconds until the evidence, and the complete record."""
    started, evidence_s, kind = time.perf_counter(), 0.0, ""
    headers = {"Accept": "text/event-stream"}
    with served.client.stream("GET", "/api/v1/ask", params={"question": question}, headers=headers) as answer:
        for line in answer.iter_lines():
            kind = line.removeprefix("event: ") if line.startswith("event: ") else kind
            if line.startswith("data: ") and kind == "evidence" and not evidence_s:
                evidence_s = time.perf_counter() - started
            if line.startswith("data: ") and kind == "done":
                return evidence_s, json.loads(line[6:])
    raise RuntimeError(f"the answer ended with {kind!r}")


def measure_load(plan: Plan) -> list[Figure]:
    """Measure the capacity, then the load at half and at five times of it."""
    name, questions, warm_up = plan.generated()
    with serving(plan.home, name, **UNLIMITED) as served:

        def sent(rate: float, seconds: float) -> Measured:
            return calls_of(served.start_client(rate, seconds, questions))

        one_by_one(served, warm_up)
        unloaded = median(one_by_one(served, questions)[0])
        capacity = sum(status == OK for *_, status in sent(0, CAPACITY_S)) / CAPACITY_S
        half, over = sent(capacity / 2, plan.seconds), sent(capacity * OVERLOAD, plan.seconds)
        ends, again = time.monotonic() + AGAIN_WITHIN_S, [0.0]
        while time.monotonic() < ends:
            again += one_by_one(served, questions[:5])[0]
    answered = [took for _, took, status in over if status == OK]
    refused = [1_000 * took for _, took, status in over if status == REFUSED] or [0.0]
    at_half = [took for _, took, status in half if status == OK]
    failures = sum(status >= FAILED or not status for *_, status in over)
    share = len(answered) / plan.seconds / capacity
    return [
        Figure("load", "unloaded, p50", 1_000 * unloaded, "ms"),
        Figure("load", "capacity", capacity, "/s"),
        Figure("load", "half of it: errors", sum(status != OK for *_, status in half), "", 0),
        Figure("load", "half of it, p95 by unloaded", percentile(at_half, 0.95) / unloaded, "×", 5),
        Figure("load", "five times: failures", failures, "", 0),
        Figure("load", "five times: answered by capacity", share, "×", 0.8, higher_is_better=True),
        Figure("load", "five times, p95 by unloaded", percentile(answered, 0.95) / unloaded, "×", 10),
        Figure("load", "five times: refused in, p99", percentile(refused, 0.99), "ms", 100),
        Figure("load", "the last in 5 s after it by unloaded", median(again[-5:]) / unloaded, "×", 1.5),
    ]


def measure_busy(plan: Plan) -> list[Figure]:
    """Measure a client with 128 connections that never backs off, and its effect on another client.

    Three situations alternate: the other client alone, beside a client that sends at the allowed rate, and
    beside the same client without back-off. Without a rate, backing off is a pause after each refusal.
    """
    questions, index = plan.sample(), plan.home / SAMPLE
    rated = {"server__searches_per_minute": 60 * ALLOWED_RATE, "server__search_burst": ALLOWED_RATE}
    return [
        figure
        for name, rate, settings in (
            ("with a rate", ALLOWED_RATE, {**UNLIMITED, **rated}),
            ("without a rate", 0, UNLIMITED),
        )
        for figure in _beside_a_busy_client(name, index, questions, rate, settings)
    ]


def _beside_a_busy_client(
    name: str, index: Path, questions: Sequence[str], rate: float, settings: dict[str, int]
) -> Iterator[Figure]:
    (busy_key, busy_record), (other_key, other_record) = make_key("busy"), make_key("other")
    alone, polite, busy, beside = Measured(), Measured(), Measured(), Measured()
    with tempfile.TemporaryDirectory(prefix="shrag-bench-") as home:
        Path(home, index.name).symlink_to(index)  # separate keys for this server
        for record in (busy_record, other_record):
            Keys(Store(Path(home))).add(record)
        with serving(Path(home), index.name, **settings) as served:

            def other() -> "subprocess.Popen[str]":
                return served.start_client(OTHER_RATE, SLICE_S, questions, other_key)

            for _ in range(ROUNDS):
                alone += calls_of(other())
                others = other()
                polite += calls_of(served.start_client(rate, SLICE_S, questions, busy_key))
                calls_of(others)
                others = other()
                busy += calls_of(served.start_client(0, SLICE_S, questions, busy_key, CONNECTIONS, 0))
                beside += calls_of(others)
    before, after = (median(took for _, took, status in calls if status == OK) for calls in (alone, beside))
    allowed, without = (sum(status == OK for *_, status in calls) for calls in (polite, busy))
    yield Figure("busy", f"{name}: another client alone, p50", 1_000 * before, "ms")
    yield Figure("busy", f"{name}: beside the busy one, p50 by alone", after / before, "×", 3)
    yield Figure("busy", f"{name}: answers at the allowed rate", allowed / ROUNDS / SLICE_S, "/s")
    what = f"{name}: answers without back-off, by that"
    yield Figure("busy", what, without / allowed, "×", 0.8, higher_is_better=True)


def measure_memory(plan: Plan) -> list[Figure]:
    """Compare the server's private memory after a tenth of the requests and after all."""
    questions, sizes = plan.sample(), []
    with serving(plan.home, SAMPLE, **UNLIMITED) as served:
        for number in range(1, plan.requests + 1):
            call = {"question": questions[number % len(questions)], "method": "or", "k": 5}
            served.client.post("/api/v1/search", json=call).raise_for_status()
            if number in (plan.requests // 10, plan.requests):
                sizes.append(served.private_bytes())
            if number % 100 == 0:
                plan.progress("requests", number, plan.requests)
    return [
        Figure("memory", f"after {plan.requests // 10:,} requests", sizes[0] / 1e6, "MB"),
        Figure("memory", f"after {plan.requests:,}, by that", sizes[-1] / sizes[0], "×", 1.05),
    ]


def measure_stop(plan: Plan) -> list[Figure]:
    """Stop the server during fifty pending answers."""
    [question, *_] = plan.sample()
    with slow_model() as url, ExitStack() as streams:
        model = {"llm__base_url": url, "llm__model": "slow", "server__asks_at_once": 2 * STREAMS}
        with serving(plan.home, SAMPLE, **UNLIMITED, **model) as served:
            request = partial(served.client.stream, "GET", "/api/v1/ask", params={"question": question})
            headers = {"Accept": "text/event-stream"}
            answers = [streams.enter_context(request(headers=headers)) for _ in range(STREAMS)]
            seconds = served.stop()
            ended = sum('"code": "stopping"' in answer.read().decode() for answer in answers)
    return [
        Figure("stop", "until the process has ended", seconds, "s", 5),
        Figure("stop", f"of {STREAMS} streams ended by an event", ended, "", STREAMS, higher_is_better=True),
        Figure("stop", "exit code", served.process.returncode, "", 0),
    ]


class _EndlessModel(BaseHTTPRequestHandler):
    """A language model that starts an endless response."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.send_response(OK)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b'data: {"choices": [{"index": 0, "delta": {"content": "word "}}]}\n\n')
                time.sleep(0.1)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def slow_model() -> Iterator[str]:
    """Run the endless model on a free port; yield the base address of its API."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _EndlessModel)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


PARTS: dict[str, Callable[[Plan], list[Figure]]] = {
    "search": measure_search,
    "answer": measure_answer,
    "load": measure_load,
    "busy": measure_busy,
    "memory": measure_memory,
    "stop": measure_stop,
}


@benchmark
@home_option
@count_option("--documents", 1_000_000)
@click.option("--seconds", type=float, default=60, show_default=True, help="Duration of each load.")
@count_option("--requests", 100_000, least=10)
@click.option("--only", type=click.Choice(list(PARTS)), help="Run only this part.")
def main(home: Path, documents: int, seconds: float, requests: int, only: str | None) -> list[Figure]:
    """Measure the server, and compare the figures with their bars."""
    figures: list[Figure] = []
    with question_bar() as progress:
        plan = Plan(home, documents, seconds, requests, progress)
        for part in [only] if only else PARTS:
            echo(f"{part} …", err=True)
            figures += PARTS[part](plan)
    return figures


if __name__ == "__main__":
    main()
