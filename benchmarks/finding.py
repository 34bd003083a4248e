"""Benefit and cost of following references, and the time of the finding loop.

    python -m benchmarks.finding [--papers 20000] [--questions 50] [--delay-ms 500] [--home DIR] [--strict]
                                 [--engine elasticsearch]

Uses the generated corpus with citations (`benchmarks/corpora/citations.py`). Measures recall and precision of
the papers found without a model, by the number of reference layers, in the mode of the SHRAG paper and with
the project's additions; requests per layer; and the time of the whole loop. Repeats this with a judge that
knows the topics and errs for one in twenty papers, and measures the share of the loop spent waiting for a
model with a fixed delay.
"""

import asyncio
import itertools
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import fmean
from typing import Any, get_args
from zlib import crc32

import click

from base.terminal.progress_bar import progress_bar
from benchmarks.corpora.citations import PAPERS, SEED, CitationCorpus, write_corpus
from benchmarks.figures import Figure, machine, report, strict_option
from benchmarks.timing import latencies
from generator.finding.agents import PURE
from generator.finding.finding import OpenedSources, find_in_sources, open_index_as_source
from generator.finding.request import FindRequest
from generator.finding.result import FoundPapers
from generator.request import Settings
from generator.settings import GeneratorSettings, LanguageModelSettings
from indexer.errors import UnknownIndex
from indexer.ingest import build_index
from indexer.options import json_option
from indexer.requests import IngestRequest
from indexer.settings import EngineName, IndexerSettings
from indexer.versions.store.engines import open_store
from retriever.settings import RetrieverSettings

NAME = "finding"
LOOP_BAR_MS, WAITING_BAR, REQUESTS_BAR = 1_500.0, 0.9, 2.0
FOUND = 100  # requested papers for recall
ASKED_OF_MODEL = 3  # questions
JUDGED_BY_TOPIC = 10  # questions
WRONG = 20  # one in this many judgements by topic is wrong
Answer = Callable[[str, str], dict[str, Any]]
# Answers of the stand-in model to each call; one object fits all schemas, which ignore other keys.
ANSWERS: dict[str, dict[str, Any]] = {
    "understanding": {
        "intent": "survey",
        "domain": "",
        "first_year": None,
        "last_year": None,
        "recent": False,
        "sources": [],
        "sources_reason": "",
        "needs_expansion": False,
        "expansion_reason": "",
        "queries": [],
    },
    "query-writing": {"sources": [{"source": "none", "terms": ["none"]}]},
    "judgement": {"reason": "It may be.", "score": 0.6},
    "evolver": {"method": "none", "application": "none", "limitation": "none"},
    "reranking": {"papers": []},
}


@click.command()
@click.option("--papers", type=click.IntRange(100), default=PAPERS, show_default=True)
@click.option("--questions", type=click.IntRange(1), default=50, show_default=True)
@click.option("--delay-ms", type=click.IntRange(1), default=500, show_default=True)
@click.option("--home", type=click.Path(path_type=Path), help="Folder of the index, kept for the next run.")
@click.option("--engine", type=click.Choice(get_args(EngineName)), default="tantivy", show_default=True)
@strict_option
@json_option
def main(
    papers: int,
    questions: int,
    delay_ms: int,
    home: Path | None,
    engine: EngineName,
    *,
    strict: bool,
    as_json: bool,
) -> None:
    """Measure finding papers in a generated corpus; a cluster is taken from the settings."""
    facts = machine()
    with ExitStack() as stack:
        folder = home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shrag-bench-")))
        corpus = CitationCorpus(papers, SEED)
        settings = Settings(
            IndexerSettings(home=folder / "home", engine=engine, workers=2),
            RetrieverSettings(),
            GeneratorSettings(),
        )
        _ensure_index(corpus, folder, settings.indexer)
        asked = [
            (record["question"], frozenset(corpus.relevant(topic)))
            for topic, record in enumerate(itertools.islice(corpus.questions(), questions))
        ]
        figures = asyncio.run(_by_layers(asked, settings))
        figures += asyncio.run(_judged_by_topic(asked[:JUDGED_BY_TOPIC], corpus, settings))
        figures += asyncio.run(_waiting(asked[:ASKED_OF_MODEL], settings, delay_ms / 1_000))
    report(figures, facts, as_json=as_json, strict=strict)


def _ensure_index(corpus: CitationCorpus, folder: Path, settings: IndexerSettings) -> None:
    try:
        with open_store(settings, NAME) as store:
            if store.manifest().papers == corpus.papers:
                return
    except UnknownIndex:
        pass
    path = write_corpus(folder / "corpus", corpus)
    with progress_bar() as progress:
        build_index(IngestRequest(NAME, [str(path)], rebuild=True), settings, progress)


async def _by_layers(asked: Sequence[tuple[str, frozenset[str]]], settings: Settings) -> list[Figure]:
    """Return recall, precision and requests for 0, 1 and 2 layers, and the time with the default."""
    figures: list[Figure] = []
    async with open_index_as_source(NAME, settings) as opened:
        for mode, without in (("pure", PURE), ("with additions", frozenset[str]())):
            for layers in (0, 1, 2):
                part = f"{mode}, {layers} layers"
                request = FindRequest("?", papers=FOUND, layers=layers, rounds=0, without=without)
                found = [await _find(opened, request, question, settings) for question, _ in asked]
                figures += _quality(part, found, [relevant for _, relevant in asked])
                if layers:
                    most = max(_requests(each) for each in found)
                    figures.append(
                        Figure(
                            part, "requests a layer, most", most, bar=REQUESTS_BAR if mode == "pure" else None
                        )
                    )
        seconds = []
        for question, _ in asked:
            begun = time.perf_counter()
            await _find(opened, FindRequest("?"), question, settings)
            seconds.append(time.perf_counter() - begun)
    return figures + latencies("whole loop, no model", "a question", seconds, LOOP_BAR_MS)


async def _find(
    opened: OpenedSources, request: FindRequest, question: str, settings: Settings
) -> FoundPapers:
    return await find_in_sources(opened, request.changed(question=question), settings)


def _quality(part: str, found: Sequence[FoundPapers], relevant: Sequence[frozenset[str]]) -> list[Figure]:
    lists = [{ranked.paper_id for ranked in each.papers} for each in found]
    pairs = list(zip(lists, relevant, strict=True))
    return [
        Figure(part, "recall", fmean(len(given & wanted) / len(wanted) for given, wanted in pairs)),
        Figure(
            part,
            "precision",
            fmean(len(given & wanted) / len(given) if given else 0.0 for given, wanted in pairs),
        ),
        Figure(part, "papers found", fmean(map(len, lists))),
        Figure(part, "papers judged", fmean(each.state.spent.papers for each in found)),
    ]


def _requests(found: FoundPapers) -> int:
    layers = [step.output["requests"] for step in found.step.walk() if step.name == "refchain"]
    return max(layers, default=0)


async def _judged_by_topic(
    asked: Sequence[tuple[str, frozenset[str]]], corpus: CitationCorpus, settings: Settings
) -> list[Figure]:
    """Return the benefit of layers in the paper's mode with a judge that knows the topics."""
    topics = {record["title"]: int(corpus.topic_of[n]) for n, record in enumerate(corpus.records())}
    topic_of = {question: topic for topic, (question, _) in enumerate(asked)}

    def answer(name: str, prompt: str) -> dict[str, Any]:
        if name != "judgement":
            return ANSWERS[name]
        title, question = (
            prompt.rpartition(f"<{tag}>\n")[2].partition("\n")[0] for tag in ("title", "question")
        )
        errs = crc32(f"{title}{question}".encode()) % WRONG == 0
        fits = topics.get(title) == topic_of[question]
        return {"reason": "By its topic.", "score": 0.9 if fits != errs else 0.1}

    figures: list[Figure] = []
    with slow_answers(0.0, answer) as server:
        with_model = _with_model(settings, server)
        async with open_index_as_source(NAME, with_model) as opened:
            for layers in (0, 1, 2):
                without = PURE | {"understanding", "query-writing", "evolver", "reranking"}
                request = FindRequest("?", papers=FOUND, layers=layers, rounds=0, without=without)
                found = [await _find(opened, request, question, with_model) for question, _ in asked]
                part = f"judged by topic, {layers} layers"
                figures += _quality(part, found, [relevant for _, relevant in asked])
    return figures


def _with_model(settings: Settings, server: "SlowAnswers") -> Settings:
    llm = LanguageModelSettings(base_url=server.url, model="stand-in", stream=False, dialect="openai")
    return replace(settings, generator=GeneratorSettings(llm=llm))


async def _waiting(
    asked: Sequence[tuple[str, frozenset[str]]], settings: Settings, delay: float
) -> list[Figure]:
    """Return the share of the loop with pending model calls, and their maximal number."""
    with slow_answers(delay) as server:
        with_model = _with_model(settings, server)
        total = 0.0
        async with open_index_as_source(NAME, with_model) as opened:
            for question, _ in asked:
                begun = time.perf_counter()
                await _find(opened, FindRequest("?", papers=FOUND), question, with_model)
                total += time.perf_counter() - begun
    part = f"with a model, {delay * 1_000:.0f} ms a call"
    share = server.busy_seconds / total
    return [
        Figure(part, "share of time waiting for it", share, bar=WAITING_BAR, higher_is_better=True),
        Figure(part, "calls under way, most", server.most),
        Figure(part, "calls a question", server.calls / len(asked)),
        Figure(part, "seconds a question", total / len(asked), "s"),
    ]


class SlowAnswers:
    """Statistics of a stand-in model: calls, maximal concurrency, and seconds with pending calls."""

    def __init__(self) -> None:
        """Start without calls."""
        self.url = ""
        self.calls = self.most = self._under_way = 0
        self.busy_seconds = self._since = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a pending call."""
        with self._lock:
            self.calls += 1
            self._under_way += 1
            self.most = max(self.most, self._under_way)
            if self._under_way == 1:
                self._since = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                if not self._under_way:
                    self.busy_seconds += time.perf_counter() - self._since


@contextmanager
def slow_answers(delay: float, answer: Answer = lambda name, _: ANSWERS[name]) -> Iterator[SlowAnswers]:
    """Run a server that answers each call after a delay; `answer` depends on the call's name and prompt."""
    counts = SlowAnswers()

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # otherwise the body waits for the acknowledgement of the head

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with counts.counted():
                time.sleep(delay)
                name = asked["response_format"]["json_schema"]["name"]
                content = json.dumps(answer(name, asked["messages"][0]["content"]))
                message = {"role": "assistant", "content": content}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                usage = {"prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340}
                body = json.dumps({"model": "stand-in", "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # with the default of 5, further connections wait a second
        daemon_threads = True

    with Server(("127.0.0.1", 0), Answering) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        counts.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        try:
            yield counts
        finally:
            server.shutdown()
            serving.join()


if __name__ == "__main__":
    main()
