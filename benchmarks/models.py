"""Overhead of the pipeline over a language model, measured with a running server.

    python -m benchmarks.models --url http://localhost:8000/v1 --model NAME

Two figures have bars: the time of a question outside of the model, and the throughput of many concurrent
questions relative to the bare prompts. Further model settings are read from the variables `SHRAG_LLM__…`.
"""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import click
import httpx

from base.progress import Progress
from base.sample import SAMPLE, SAMPLE_PAPERS
from benchmarks.figures import Figure, machine, report, rounds_option, strict_option
from benchmarks.recorded_calls import UNLIMITED, Call, RecordingTransport, replaying_transport, tokens_of
from benchmarks.timing import latencies, measure_in_turn
from eval.progress import question_bar
from eval.topics import read_topics
from generator.llm import LanguageModel
from generator.pipeline import Settings, answer_question
from generator.settings import LanguageModelSettings
from generator.ways import make_request
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index

NAME = "bench-models"
ALONE, AT_ONCE = "pipeline", "at once"
OWN_TIME_BAR_MS, THROUGHPUT_BAR = 60.0, 0.9


@dataclass(frozen=True, slots=True)
class Load:
    """Questions, index and number of repetitions."""

    index: SearchIndex
    questions: Sequence[str]
    settings: Settings
    rounds: int
    progress: Progress

    def model(self, transport: httpx.AsyncBaseTransport) -> LanguageModel:
        """Return the model with a transport."""
        return LanguageModel(self.settings.generator.llm, transport=transport)

    async def ask(self, question: str, model: LanguageModel) -> None:
        """Have one question answered."""
        await answer_question(self.index, make_request(self.settings, question), self.settings, model=model)


async def measure_overhead(load: Load) -> list[Figure]:
    """Answer the questions sequentially.

    The pipeline's time is the time of a question without its chat calls, from sending to the last byte; work
    during the model's output does not count. The questions are then repeated with recorded answers returned
    immediately, which includes the time of reading them.
    """
    recording = RecordingTransport()
    own, of_model = [], []
    async with load.model(recording) as model:
        await load.ask(load.questions[0], model)
        for number, question in enumerate([*load.questions] * load.rounds):
            load.progress("one by one", number, len(load.questions) * load.rounds)
            before, started = len(recording.calls), time.perf_counter()
            await load.ask(question, model)
            spent = time.perf_counter() - started
            of_model.append(sum(call.seconds for call in recording.calls[before:] if call.is_chat))
            own.append(spent - of_model[-1])
    asked = [*load.questions[:1], *list(load.questions) * load.rounds]
    processor = time.process_time()
    async with load.model(replaying_transport(recording.calls)) as model:
        at_once = await measure_in_turn({"replayed": lambda question: load.ask(question, model)}, asked)
    processor = time.process_time() - processor
    return [
        *latencies(ALONE, "own time of a question", own, OWN_TIME_BAR_MS),
        *latencies(ALONE, "answers given at once", at_once["replayed"][1:]),
        Figure(ALONE, "processor time of that, mean", 1000 * processor / len(asked), "ms"),
        Figure(ALONE, "the model's time of a question, mean", 1000 * fmean(of_model), "ms"),
    ]


class Round(NamedTuple):
    """Result of one measurement."""

    calls: int
    tokens: int
    seconds: float


async def measure_throughput(load: Load) -> list[Figure]:
    """Alternate concurrent questions with bare requests of their recorded prompts; compare the medians.

    The bare client keeps as many requests pending as there are questions, and sends the next when one ends:
    it never waits for a search, or for a question's keywords before its answer.
    """
    rounds: list[tuple[Round, Round]] = []
    for number in range(load.rounds + 1):
        load.progress("at once", number, load.rounds + 1)
        recording = RecordingTransport()
        async with load.model(recording) as model:
            started = time.perf_counter()
            await asyncio.gather(*(load.ask(question, model) for question in load.questions))
            seconds = time.perf_counter() - started
        calls = [call for call in recording.calls if call.is_chat]
        through = Round(len(calls), sum(tokens_of(call.content) for call in calls), seconds)
        rounds.append((through, await _sent_bare(calls, load)))
    (warm, _), *measured = rounds  # the first round is a warm-up
    figures, speeds = [], []
    for way, taken in zip(("pipeline", "bare"), zip(*measured, strict=True), strict=True):
        speeds.append(median(turn.tokens / turn.seconds for turn in taken))
        figures.append(Figure(AT_ONCE, f"{way}, median", speeds[-1], "tokens/s"))
        figures.append(Figure(AT_ONCE, f"{way}, a round", median(turn.seconds for turn in taken), "s"))
    what = f"{len(load.questions)} questions by their prompts, bare"
    return [
        Figure(AT_ONCE, what, speeds[0] / speeds[1], "×", THROUGHPUT_BAR, higher_is_better=True),
        *figures,
        Figure(AT_ONCE, "calls of a round", warm.calls),
        Figure(AT_ONCE, "tokens of a round", warm.tokens),
    ]


async def _sent_bare(calls: Sequence[Call], load: Load) -> Round:
    """Send recorded calls with a plain HTTP client, and read their responses."""
    settings = load.settings.generator.llm
    headers = {"Content-Type": "application/json"}
    if settings.api_key:
        headers["Authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
    left = list(reversed(calls))
    answers: list[bytes] = []

    async def send_the_next() -> None:
        while left:
            call = left.pop()
            async with client.stream("POST", call.url, content=call.body) as response:
                answers.append(b"".join([piece async for piece in response.aiter_raw()]))

    async with httpx.AsyncClient(
        headers=headers, timeout=settings.deadline_s, limits=UNLIMITED, trust_env=False
    ) as client:
        started = time.perf_counter()
        await asyncio.gather(*(send_the_next() for _ in load.questions))
        seconds = time.perf_counter() - started
    return Round(len(answers), sum(map(tokens_of, answers)), seconds)


@click.command()
@click.option("--url", help="Base address of the API. Default: SHRAG_LLM__BASE_URL.")
@click.option("--model", help="Name of the model on that server. Default: SHRAG_LLM__MODEL.")
@click.option("--questions", type=click.IntRange(1), default=20, show_default=True, help="At once.")
@rounds_option(5)
@click.option("--max-tokens", type=click.IntRange(16), help="Maximal tokens of an answer.")
@strict_option
@json_option
def main(
    url: str | None,
    model: str | None,
    questions: int,
    rounds: int,
    max_tokens: int | None,
    *,
    strict: bool,
    as_json: bool,
) -> None:
    """Measure the overhead of the pipeline over a language model."""
    given = {"base_url": url, "model": model, "max_tokens": max_tokens}
    settings = Settings.from_environment()
    changed = {name: value for name, value in given.items() if value is not None}
    llm = LanguageModelSettings.model_validate(settings.generator.llm.model_dump() | changed)
    if not llm.configured:
        raise click.UsageError("name a server: --url http://localhost:8000/v1 --model NAME")
    settings = replace(settings, generator=settings.generator.model_copy(update={"llm": llm}))
    facts = machine()
    asked = list(read_topics(SAMPLE / "topics.jsonl").values())[:questions]
    with tempfile.TemporaryDirectory(prefix="shrag-bench-") as home, question_bar() as progress:
        indexer = IndexerSettings(home=Path(home))
        build_index(IngestRequest(name=NAME, paths=[str(SAMPLE_PAPERS)]), indexer, progress)
        with open_index(indexer, NAME) as index:
            load = Load(index, asked, settings, rounds, progress)
            figures = [*asyncio.run(measure_overhead(load)), *asyncio.run(measure_throughput(load))]
    report(figures, facts, as_json=as_json, strict=strict)


if __name__ == "__main__":
    main()
