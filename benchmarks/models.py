"""What the pipeline adds to a language model, measured against a running server.

    python -m benchmarks.models --url http://localhost:8000/v1 --model NAME

Two figures are held: the time of a question that is not the model's, and the throughput of many questions at
once beside the same prompts sent bare. Further settings of the model come from the variables `SHRAG_LLM__…`.
"""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import click
import httpx

from benchmarks.figures import Figure, machine, report, rounds_option, strict_option
from benchmarks.recorded_calls import UNLIMITED, Call, RecordingTransport, replaying_transport, tokens_of
from benchmarks.timing import latencies, measure_in_turn
from eval.progress import question_bar
from eval.topics import read_topics
from generator.llm import LanguageModel
from generator.pipeline import Settings, answer_question
from generator.settings import LanguageModelSettings
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.requests import Progress
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index

SAMPLE = Path("sample")
NAME = "bench-models"
ALONE, AT_ONCE = "pipeline", "at once"
OWN_TIME_BAR_MS, THROUGHPUT_BAR = 60.0, 0.9


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked, of which index, how often."""

    index: SearchIndex
    questions: Sequence[str]
    settings: Settings
    rounds: int
    progress: Progress

    def model(self, transport: httpx.AsyncBaseTransport) -> LanguageModel:
        """Return the model, reached by a transport."""
        return LanguageModel(self.settings.generator.llm, transport=transport)

    async def ask(self, question: str, model: LanguageModel) -> None:
        """Have one question answered."""
        await answer_question(self.index, self.settings.request(question), self.settings, model=model)


async def measure_overhead(plan: Plan) -> list[Figure]:
    """Ask one question after the other.

    What is left of a question's time without its chat calls, from sending to the last byte, is the
    pipeline's: what it does while the model still writes costs nobody time. Then the same questions with
    the recorded answers given at once, so that reading them is counted too.
    """
    recording = RecordingTransport()
    own, of_model = [], []
    async with plan.model(recording) as model:
        await plan.ask(plan.questions[0], model)
        for number, question in enumerate([*plan.questions] * plan.rounds):
            plan.progress("one by one", number, len(plan.questions) * plan.rounds)
            before, started = len(recording.calls), time.perf_counter()
            await plan.ask(question, model)
            spent = time.perf_counter() - started
            of_model.append(sum(call.seconds for call in recording.calls[before:] if call.is_chat))
            own.append(spent - of_model[-1])
    asked = [*plan.questions[:1], *list(plan.questions) * plan.rounds]
    processor = time.process_time()
    async with plan.model(replaying_transport(recording.calls)) as model:
        at_once = await measure_in_turn({"replayed": lambda question: plan.ask(question, model)}, asked)
    processor = time.process_time() - processor
    return [
        *latencies(ALONE, "own time of a question", own, OWN_TIME_BAR_MS),
        *latencies(ALONE, "answers given at once", at_once["replayed"][1:]),
        Figure(ALONE, "processor time of that, mean", 1000 * processor / len(asked), "ms"),
        Figure(ALONE, "the model's time of a question, mean", 1000 * fmean(of_model), "ms"),
    ]


@dataclass(frozen=True, slots=True)
class Round:
    """What one way brought: calls, tokens written, seconds."""

    calls: int
    tokens: int
    seconds: float

    @property
    def speed(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds


async def measure_throughput(plan: Plan) -> list[Figure]:
    """Ask all questions at once and send the prompts recorded of that, in turn; compare the medians.

    The bare client keeps as many requests under way as there are questions, the next one of the list as soon
    as one ends: it never waits for a search, nor for a question's keywords before its answer.
    """
    through, bare = [], []
    for number in range(plan.rounds + 1):
        plan.progress("at once", number, plan.rounds + 1)
        taken, recorded = await _through_the_pipeline(plan)
        through.append(taken)
        bare.append(await _sent_bare(recorded, plan))
    warm, *through = through  # the first round warms up
    bare = bare[1:]
    speed, bare_speed = (median(taken.speed for taken in rounds) for rounds in (through, bare))
    what = f"{len(plan.questions)} questions by their prompts, bare"
    return [
        Figure(AT_ONCE, what, speed / bare_speed, "×", THROUGHPUT_BAR, higher_is_better=True),
        Figure(AT_ONCE, "through the pipeline, median", speed, "tokens/s"),
        Figure(AT_ONCE, "sent bare, median", bare_speed, "tokens/s"),
        Figure(AT_ONCE, "seconds of a round, pipeline", median(taken.seconds for taken in through), "s"),
        Figure(AT_ONCE, "seconds of a round, bare", median(taken.seconds for taken in bare), "s"),
        Figure(AT_ONCE, "calls of a round", warm.calls),
        Figure(AT_ONCE, "tokens of a round", warm.tokens),
    ]


async def _through_the_pipeline(plan: Plan) -> tuple[Round, list[Call]]:
    """Ask all questions at once, with one open model."""
    recording = RecordingTransport()
    async with plan.model(recording) as model:
        started = time.perf_counter()
        await asyncio.gather(*(plan.ask(question, model) for question in plan.questions))
        seconds = time.perf_counter() - started
    calls = recording.chats
    return Round(len(calls), sum(call.tokens for call in calls), seconds), calls


async def _sent_bare(calls: Sequence[Call], plan: Plan) -> Round:
    """Send recorded calls with nothing but an HTTP client, and read their answers."""
    settings = plan.settings.generator.llm
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
        await asyncio.gather(*(send_the_next() for _ in plan.questions))
        seconds = time.perf_counter() - started
    return Round(len(answers), sum(map(tokens_of, answers)), seconds)


@click.command()
@click.option("--url", help="Where the API begins; SHRAG_LLM__BASE_URL by default.")
@click.option("--model", help="The model's name at that server; SHRAG_LLM__MODEL by default.")
@click.option("--corpus", type=click.Path(exists=True, path_type=Path), default=SAMPLE / "papers.jsonl")
@click.option("--topics", type=click.Path(exists=True, path_type=Path), default=SAMPLE / "topics.jsonl")
@click.option("--questions", type=click.IntRange(1), default=20, show_default=True, help="At once.")
@rounds_option(5)
@click.option("--max-tokens", type=click.IntRange(16), help="Tokens of an answer, at most.")
@strict_option
@json_option
def main(  # noqa: PLR0913 - as many options
    url: str | None,
    model: str | None,
    corpus: Path,
    topics: Path,
    questions: int,
    rounds: int,
    max_tokens: int | None,
    *,
    strict: bool,
    as_json: bool,
) -> None:
    """Measure what the pipeline adds to a language model."""
    given = {"base_url": url, "model": model, "max_tokens": max_tokens}
    settings = settings_with({name: value for name, value in given.items() if value is not None})
    facts = machine()
    asked = list(read_topics(topics).values())[:questions]
    with tempfile.TemporaryDirectory(prefix="shrag-bench-") as home, question_bar() as progress:
        indexer = IndexerSettings(home=Path(home))
        build_index(IngestRequest(name=NAME, paths=[str(corpus)]), indexer, progress)
        with open_index(indexer, NAME) as index:
            plan = Plan(index, asked, settings, rounds, progress)
            figures = [*asyncio.run(measure_overhead(plan)), *asyncio.run(measure_throughput(plan))]
    report(figures, facts, as_json=as_json, strict=strict)


def settings_with(changed: dict[str, object]) -> Settings:
    """Return the settings of the environment, with those of the language model changed.

    Raises:
        click.UsageError: they name no model.
    """
    settings = Settings.from_environment()
    llm = LanguageModelSettings.model_validate(settings.generator.llm.model_dump() | changed)
    if not llm.configured:
        raise click.UsageError("name a server: --url http://localhost:8000/v1 --model NAME")
    generator = settings.generator.model_copy(update={"llm": llm})
    return Settings(settings.indexer, settings.retriever, generator)


if __name__ == "__main__":
    main()
